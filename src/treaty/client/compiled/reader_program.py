"""Generated programs that decode payloads of one schema.

A program accepts valid payloads only; any exception means that the slower function is called. Lengths are not checked
one by one: if one exceeds the payload, so does the final position, which the caller checks.
"""

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

from treaty.client.compiled.free_types import FreeTypes
from treaty.client.compiled.logical import READERS
from treaty.client.compiled.names import branch_of, kind_of, logical_of
from treaty.client.compiled.program import NotCompilableError, ProgramBuilder, SlowPathError
from treaty.formats.avro.data.free_values import ALLOWED

MAX_DEPTH = 100
"""The deepest nesting of values in a payload."""

ALLOWANCE = f"left[0] = {ALLOWED}"
"""The free values of a payload."""

Read = Callable[[bytes], Any]
"""A function from a payload to its value. Raises any exception for a payload that is not exactly one value."""


def make_reader(schema: Any, named: Mapping[str, Any], *, tagged: bool = False) -> Read | None:
    """Return the program for a schema parsed by fastavro; None if none can be generated.

    `tagged`: a value of a union with several branches other than null is returned as ``(branch, value)``.
    """
    try:
        return ReaderProgram(named, tagged=tagged).program(schema)
    except (NotCompilableError, RecursionError, SyntaxError, MemoryError, KeyError):
        return None


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a varint without zig-zag decoding; return number and next position."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> 64:
                raise SlowPathError
            return value, at
        shift += 7
        if shift > 63:
            raise SlowPathError


def read_length(data: bytes, at: int) -> tuple[int, int]:
    """Read a length, which must not be negative."""
    value, at = read_varint(data, at)
    if value & 1:
        raise SlowPathError
    return value >> 1, at


def read_int32(data: bytes, at: int) -> tuple[int, int]:
    """Read a zig-zag int of 32 bits."""
    value, at = read_varint(data, at)
    if value >> 32:
        raise SlowPathError
    return (value >> 1) ^ -(value & 1), at


def read_count(data: bytes, at: int) -> tuple[int, int]:
    """Read the header of a block: its number of items."""
    value, at = read_varint(data, at)
    if value & 1:
        return (value + 1) >> 1, read_varint(data, at)[1]
    return value >> 1, at


class ReaderProgram:
    """A decoding program being generated."""

    def __init__(self, named: Mapping[str, Any], *, tagged: bool) -> None:
        """Start a program for schemas with these named types."""
        self._named = named
        self._tagged = tagged
        self.free = FreeTypes(named)
        self.code = ProgramBuilder()
        self._functions: dict[str, str] = {}
        self._waiting: list[tuple[str, Any]] = []
        # Threads share the count: one that takes from another's is wrong, and the slower function has a count for each call.
        self.code.constants.update(
            left=[0], long=read_varint, length=read_length, int32=read_int32, count=read_count, wrong=SlowPathError,
            float_=Struct("<f").unpack_from, double_=Struct("<d").unpack_from,
        )  # fmt: skip

    def program(self, schema: Any) -> Read:
        """Generate the program for a schema."""
        return self.compile(lambda to: self.value(schema, to, 0))

    def compile(self, value: Callable[[str], None], functions: Callable[[], None] = lambda: None) -> Read:
        """Generate a program that reads one value into a variable; `functions` generates the functions that its lines
        call.
        """
        code = self.code
        with code.block("def read(d):"):
            code.add("z = len(d)", "k = 0", "p = 0", ALLOWANCE)
            value("v")
            code.add("if p != z: raise wrong", "return v")
        functions()
        while self._waiting:
            self._function(*self._waiting.pop())
        read: Read = code.compile_function("read")
        return read

    def _function(self, name: str, schema: Any) -> None:
        code = self.code
        with code.block(f"def {name}(d, p, z, k):"):
            code.add(f"if k > {MAX_DEPTH}: raise wrong")
            self.charge(self.free.charge_record(schema))
            parts = []
            for field in schema["fields"]:
                variable = code.fresh_name("f")
                self.value(field["type"], variable, 1)
                parts.append(f"{field['name']!r}: {variable}")
            code.add(f"return {{{', '.join(parts)}}}, p")

    def charge(self, free: int | str) -> None:
        """Generate the lines that count free values; none where there are none."""
        if free:
            self.code.add(f"left[0] -= {free}", "if left[0] < 0: raise wrong")

    def value(self, schema: Any, to: str, depth: int) -> None:
        """Generate the lines that read a value into a variable; `depth` is the nesting inside the function."""
        self.raw(schema, to, depth)
        self.logical(schema, to)

    def logical(self, schema: Any, to: str) -> None:
        """Generate the line that converts a plain value by its logical type, if there is one."""
        convert = READERS.get(logical_of(schema))
        if convert is not None:
            self.code.add(f"{to} = {self.code.add_constant(convert)}({to}, {self.code.add_constant(schema)})")

    def raw(self, schema: Any, to: str, depth: int) -> None:
        """Generate the lines that read a plain value."""
        kind = kind_of(schema)
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            self.code.add(*(line.replace("@", to) for line in scalar))
        else:
            self._add_compound(schema, kind, to, depth)

    def _add_compound(self, schema: Any, kind: str, to: str, depth: int) -> None:
        code = self.code
        if kind == "union":
            self._union(schema, to, depth)
        elif kind in {"record", "error"}:
            code.add(f"{to}, p = {self._record(schema)}(d, p, z, k + {depth})")
        elif kind == "array":
            code.add(f"{to} = []")
            item = code.fresh_name("i")
            free = self.free.charge_item(schema["items"])
            self.blocks(lambda: self.value(schema["items"], item, depth + 1), f"{to}.append({item})", depth, free=free)
        elif kind == "map":
            code.add(f"{to} = {{}}")
            key, item = code.fresh_name("n"), code.fresh_name("i")

            def pair() -> None:
                self.value("string", key, depth + 1)
                self.value(schema["values"], item, depth + 1)

            self.blocks(pair, f"{to}[{key}] = {item}", depth)
        elif kind == "enum":
            code.add(*LENGTH, f"{to} = {code.add_constant(tuple(schema['symbols']))}[n]")
        elif kind == "fixed":
            code.add(f"e = p + {int(schema['size'])}", f"{to} = d[p:e]", "p = e")
        else:
            self.value(self._named[kind], to, depth)

    def _record(self, schema: Any) -> str:
        name = schema["name"]
        if name not in self._functions:
            self._functions[name] = self.code.fresh_name("r")
            self._waiting.append((self._functions[name], schema))
        return self._functions[name]

    def blocks(self, item: Callable[[], None], keep: str, depth: int, *, free: int = 0) -> None:
        """Generate the lines for blocks of items, each charged with so many free values. More items than bytes are left to
        the slower function.
        """
        code = self.code
        left = code.fresh_name("m")
        code.add(f"if k + {depth} > {MAX_DEPTH}: raise wrong")
        with code.loop("while True:"):
            code.add(f"{left} = d[p]")
            with code.block(f"if {left} & 129:"):
                code.add(f"{left}, p = count(d, p)")
            with code.block("else:"):
                code.add(f"{left} >>= 1", "p += 1")
            code.add(f"if not {left}: break", f"if {left} > z: raise wrong")
            self.charge(left if free else 0)
            with code.block(f"for _ in range({left}):"):
                item()
                code.add(keep)

    def _union(self, branches: list[Any], to: str, depth: int) -> None:
        tagged = self._tagged and len([each for each in branches if each != "null"]) > 1

        def branch(at: int) -> None:
            self.value(branches[at], to, depth)
            if tagged and branches[at] != "null":
                self.code.add(f"{to} = ({self.code.add_constant(branch_of(branches[at]))}, {to})")

        self.branches(len(branches), branch)

    def branches(self, count: int, branch: Callable[[int], None]) -> None:
        """Generate the lines for a union. The branch index is one byte; branches from 64 on are left to the slower
        function.
        """
        code = self.code
        index = code.fresh_name("u")
        code.add(f"{index} = d[p]", "p += 1")
        for at in range(min(count, 64)):
            with code.block(f"{'elif' if at else 'if'} {index} == {at * 2}:"):
                branch(at)
        code.add("else: raise wrong" if count else "raise wrong")


LENGTH = ("n = d[p]", "if n & 129: n, p = length(d, p)", "else:", "    n >>= 1", "    p += 1")
_SLICE = (*LENGTH, "e = p + n")
_SCALARS: Mapping[str, tuple[str, ...]] = {
    "null": ("@ = None",),
    "boolean": ("n = d[p]", "p += 1", "if n > 1: raise wrong", "@ = n == 1"),
    "int": ("n = d[p]", "if n < 128:", "    @ = (n >> 1) ^ -(n & 1)", "    p += 1", "else: @, p = int32(d, p)"),
    "long": ("n = d[p]", "if n < 128: p += 1", "else: n, p = long(d, p)", "@ = (n >> 1) ^ -(n & 1)"),
    "float": ("@ = float_(d, p)[0]", "p += 4"),
    "double": ("@ = double_(d, p)[0]", "p += 8"),
    "bytes": (*_SLICE, "@ = d[p:e]", "p = e"),
    "string": (*_SLICE, "@ = d[p:e].decode()", "p = e"),
}
"""``@`` is the variable, `d` the bytes, `p` the position."""
