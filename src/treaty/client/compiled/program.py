"""A program being generated: lines with their indentation, constants by name, and new names for variables.

A program contains only identifiers generated here, and field names as quoted strings; everything else from a schema is
passed in as a constant. No text of a schema is executed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MAX_NESTED = 6
"""The most nested loops in one function; Python allows twenty blocks, and an array needs two."""


MAX_LINES = 20_000
"""The most lines of a program: some thousand fields. Python compiles a line in about 10 us."""


class NotCompilableError(ValueError):
    """No program can be generated for a schema."""


class SlowPathError(ValueError):
    """A program does not handle a value or payload; the slower function is called."""


class ProgramBuilder:
    """The lines of a program's functions, and their constants."""

    def __init__(self, limit: int = MAX_LINES) -> None:
        """Start an empty program of at most `limit` lines."""
        self.most = limit
        self.constants: dict[str, Any] = {}
        self._lines: list[str] = []
        self._depth = 0
        self._count = 0
        self._loops = 0

    def add(self, *lines: str) -> None:
        """Add lines at the current indentation. Raises `NotCompilableError` if the program is too long."""
        if len(self._lines) > self.most:
            raise NotCompilableError(f"a program of more than {self.most} lines")
        self._lines += ["    " * self._depth + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Add a block under a line that ends in a colon."""
        self.add(head)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """Add a loop. Raises `NotCompilableError` if too many are nested."""
        self._loops += 1
        if self._loops > MAX_NESTED:
            raise NotCompilableError(f"more than {MAX_NESTED} nested arrays or maps")
        try:
            with self.block(head):
                yield
        finally:
            self._loops -= 1

    @contextmanager
    def or_else(self, error: type[Exception], line: str) -> Iterator[None]:
        """Replace the lines of the block by one line if generating them fails with this error."""
        before = len(self._lines)
        try:
            yield
        except error:
            del self._lines[before:]
            self.add(line)

    def fresh_name(self, prefix: str) -> str:
        """Return a new name."""
        self._count += 1
        return f"{prefix}{self._count}"

    def add_constant(self, value: Any) -> str:
        """Return the name of a constant with this value."""
        name = self.fresh_name("c")
        self.constants[name] = value
        return name

    def compile_function(self, function: str) -> Any:
        """Compile the program and return one of its functions."""
        code = compile("\n".join(self._lines), "<avro>", "exec")
        exec(code, self.constants)  # noqa: S102 (the lines are this package's own; of a schema they hold quoted texts alone)
        return self.constants[function]
