"""A program under construction: lines with their depth, constants by name, and fresh names for variables.

Only names made here stand in a program, and names of fields as quoted texts; everything else that a schema says comes
in through the constants. So nothing that a schema says is ever run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MAX_NESTED = 6
"""Loops inside each other in one function; Python allows twenty blocks, an array takes two."""


MAX_LINES = 20_000
"""Lines of one program: some thousand fields. Python takes about 10 us for each, once."""


class NotCompilableError(ValueError):
    """A schema that no program is written for."""


class SlowPathError(ValueError):
    """A value or bytes that a program does not handle: the slower function is called."""


class ProgramBuilder:
    """Lines of functions, and the constants that they use."""

    def __init__(self, most: int = MAX_LINES) -> None:
        """Begin with nothing; `most` is the number of lines that it may get."""
        self.most = most
        self.constants: dict[str, Any] = {}
        self._lines: list[str] = []
        self._depth = 0
        self._count = 0
        self._loops = 0

    def add(self, *lines: str) -> None:
        """Add lines at the current depth. Raises `UnsuitedError` where the program gets too long."""
        if len(self._lines) > self.most:
            raise NotCompilableError(f"a program of more than {self.most} lines")
        self._lines += ["    " * self._depth + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A block under a line that ends in a colon."""
        self.add(head)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @contextmanager
    def loop(self, head: str) -> Iterator[None]:
        """The same for a loop. Raises `UnsuitedError` where too many stand inside each other."""
        self._loops += 1
        if self._loops > MAX_NESTED:
            raise NotCompilableError(f"more than {MAX_NESTED} arrays or maps inside each other")
        try:
            with self.block(head):
                yield
        finally:
            self._loops -= 1

    @contextmanager
    def or_else(self, error: type[Exception], line: str) -> Iterator[None]:
        """Lines that one line takes the place of, where writing them fails with this error."""
        before = len(self._lines)
        try:
            yield
        except error:
            del self._lines[before:]
            self.add(line)

    def fresh_name(self, prefix: str) -> str:
        """A name that nothing else has."""
        self._count += 1
        return f"{prefix}{self._count}"

    def add_constant(self, value: Any) -> str:
        """A name for a value."""
        name = self.fresh_name("c")
        self.constants[name] = value
        return name

    def compile_function(self, function: str) -> Any:
        """Run the program, and return one of its functions."""
        code = compile("\n".join(self._lines), "<avro>", "exec")
        exec(code, self.constants)  # noqa: S102 (the lines are this package's own; of a schema they hold quoted texts alone)
        return self.constants[function]
