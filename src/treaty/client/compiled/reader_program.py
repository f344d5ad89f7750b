"""Generated programs that read payloads of a writer's schema as values of a reader's, which may be the same schema.

A program accepts valid payloads only; any exception means that the slower function is called, which describes the error.
So does what a program leaves to it: a branch without a match, an unknown enum symbol. Lengths are not checked one by one:
if one exceeds the payload, so does the final position, which the caller checks. Logical types are converted as in `conversions`.
"""

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any

from treaty.client.compiled.conversions import UnmatchedError, check_roots, conversion_of
from treaty.client.compiled.defaults import default_maker
from treaty.client.compiled.logical import name_branch
from treaty.client.compiled.program import NotCompilableError, ProgramBuilder, SlowPathError
from treaty.formats.avro.data.free_values import ALLOWED, FreeValues, weigh_missing
from treaty.formats.avro.model import (
    ABSENT,
    PRIMITIVES,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    ResolvedType,
    is_null,
)
from treaty.formats.avro.resolution import AvroResolution, find_contested, may_read, pair_fields

MAX_DEPTH = 100
"""The deepest nesting of values in a payload."""

ALLOWANCE = f"left[0] = {ALLOWED}"
"""The free values of a payload."""

Read = Callable[[bytes], Any]
"""A function from a payload to its value. Raises any exception for a payload that is not exactly one value."""
UNWRITABLE = (
    NotCompilableError,
    UnmatchedError,
    RecursionError,
    SyntaxError,
    MemoryError,
    LookupError,
    ValueError,
    ArithmeticError,
    AttributeError,
    TypeError,
)
"""Errors that prevent a program: schemas that are too large or do not match, or an invalid default."""


def make_reader(writer: AvroSchema, reader: AvroSchema, *, tagged: bool = False) -> Read | None:
    """Return the program that reads the writer's payloads as the reader's values; None if none can be generated.

    `tagged`: a value of a union with several branches other than null is returned as ``(branch, value)``, and fields that
    the writer lacks are left out, because the class has the defaults. Otherwise such fields have their defaults, as new
    objects in each record.
    """
    try:
        return ReaderProgram(writer, reader, tagged=tagged).program()
    except UNWRITABLE:
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
    """A decoding program being generated: a function for each pair of records, all else in line."""

    def __init__(
        self, writer: AvroSchema, reader: AvroSchema, *, tagged: bool, code: ProgramBuilder | None = None
    ) -> None:
        """Start a program, or add to the one of `code`."""
        self._writer = writer
        self._reader = reader
        self._tagged = tagged
        self._resolution = AvroResolution(writer, reader)
        self._free = FreeValues(writer)
        self._functions: dict[tuple[str, str], str] = {}
        self._waiting: list[tuple[str, AvroRecord, AvroRecord]] = []
        self._code = code or ProgramBuilder()
        self._skipping = self
        """What reads the values that the reader has no field for: the same program for the writer's own schema."""
        if code is None:
            # Threads share the count: one that takes from another's is wrong, and the slower function has a count for each call.
            self._code.constants.update(
                left=[0], long=read_varint, length=read_length, int32=read_int32, count=read_count, wrong=SlowPathError,
                float_=Struct("<f").unpack_from, double_=Struct("<d").unpack_from,
            )  # fmt: skip
            if writer is not reader:
                self._skipping = ReaderProgram(writer, writer, tagged=False, code=self._code)

    def program(self) -> Read:
        """Generate the program. Raises `UnmatchedError` if no value of the writer can be read."""
        check_roots(self._writer, self._reader)
        code = self._code
        with code.block("def read(d):"):
            code.add("z = len(d)", "k = 0", "p = 0", ALLOWANCE)
            self._value(self._writer.root, self._reader.root, "v", 0)
            code.add("if p != z: raise wrong", "return v")
        self.add_functions()
        self._skipping.add_functions()
        read: Read = code.compile_function("read")
        return read

    def add_functions(self) -> None:
        """Generate the functions that have been named."""
        while self._waiting:
            self._function(*self._waiting.pop())

    def _function(self, name: str, old: AvroRecord, new: AvroRecord) -> None:
        code, pairs = self._code, pair_fields(old, new)
        filled = {field.name for field in pairs.values()}
        missing = [field for field in new.fields if field.name not in filled]
        with code.block(f"def {name}(d, p, z, k):"):
            code.add(f"if k > {MAX_DEPTH}: raise wrong")
            self._charge(self._free.charge_record(old, 0 if self._tagged else weigh_missing(missing)))
            variables: dict[str, str] = {}
            for field in old.fields:
                variable, target = code.fresh_name("f"), pairs.get(field.name)
                if target is None:
                    self._skipping.value(field.type, variable, 1)
                else:
                    variables[target.name] = variable
                    self._or_wrong(field.type, target.type, variable, 1)
            if find_contested(old, new) is not None:
                code.add("raise wrong")
            for field in missing:
                if field.default is ABSENT:
                    code.add("raise wrong")
                elif not self._tagged:
                    variables[field.name] = self._default(field)
            parts = [f"{field.name!r}: {variables[field.name]}" for field in new.fields if field.name in variables]
            code.add(f"return {{{', '.join(parts)}}}, p")

    def value(self, node: AvroType, to: str, depth: int) -> None:
        """Generate the lines that read a value of the writer as it is."""
        self._value(node, node, to, depth)

    def _default(self, field: Field) -> str:
        make = default_maker(field, self._reader)
        default = make()
        is_mutable = isinstance(default, list | dict)
        return f"{self._code.add_constant(make)}()" if is_mutable else self._code.add_constant(default)

    def _charge(self, free: int | str) -> None:
        """Generate the lines that count free values; none where there are none."""
        if free:
            self._code.add(f"left[0] -= {free}", "if left[0] < 0: raise wrong")

    def _or_wrong(self, writer: AvroType, reader: AvroType, to: str, depth: int) -> None:
        """Generate the lines that read a value, or a line that leaves it to the slower function if no value matches."""
        with self._code.or_else(UnmatchedError, "raise wrong"):
            self._value(writer, reader, to, depth)

    def _value(self, writer: AvroType, reader: AvroType, to: str, depth: int) -> None:
        """Generate the lines that read a value of the writer into a variable as the reader's; `depth` is the nesting inside
        the function. Raises `UnmatchedError`.
        """
        old, new = self._writer.resolve(writer), self._reader.resolve(reader)
        if isinstance(new, AvroUnion):
            self._into_union(writer, new, to, depth)
        elif isinstance(old, AvroUnion):
            self._branches(len(old.branches), lambda at: self._or_wrong(old.branches[at], reader, to, depth))
        elif not may_read(old, new):
            raise UnmatchedError
        elif isinstance(old, AvroPrimitive | AvroFixed):
            assert isinstance(new, AvroPrimitive | AvroFixed)
            self._leaf(old, new, to)
        else:
            self._add_compound(old, new, to, depth)

    def _into_union(self, writer: AvroType, new: AvroUnion, to: str, depth: int) -> None:
        old, places = self._writer.resolve(writer), self._resolution.find_places(writer, new)
        is_tagged = self._tagged and sum(not is_null(one) for one in new.branches) > 1

        def add(part: AvroType, place: int | None) -> None:
            if place is None:
                raise UnmatchedError
            self._value(part, new.branches[place], to, depth)
            if is_tagged and not is_null(new.branches[place]):
                name = name_branch(self._reader.resolve(new.branches[place]))
                self._code.add(f"{to} = ({self._code.add_constant(name)}, {to})")

        def add_or_refuse(at: int) -> None:
            with self._code.or_else(UnmatchedError, "raise wrong"):
                assert isinstance(old, AvroUnion)
                add(old.branches[at], places[at])

        if isinstance(old, AvroUnion):
            self._branches(len(old.branches), add_or_refuse)
        else:
            add(writer, places[0])

    def _leaf(self, old: AvroPrimitive | AvroFixed, new: AvroPrimitive | AvroFixed, to: str) -> None:
        code = self._code
        if isinstance(old, AvroFixed):
            code.add(f"e = p + {old.size}", f"{to} = d[p:e]", "p = e")
        else:
            code.add(*(line.replace("@", to) for line in _SCALARS[old.kind]))
        convert = conversion_of(old, new)
        if convert is not None:
            function, *more = map(code.add_constant, (convert[0], *convert[1]))
            code.add(f"{to} = {function}({', '.join([to, *more])})")

    def _add_compound(self, old: ResolvedType, new: ResolvedType, to: str, depth: int) -> None:
        code = self._code
        match old, new:
            case (AvroRecord(), AvroRecord()):
                code.add(f"{to}, p = {self._record(old, new)}(d, p, z, k + {depth})")
            case (AvroArray(), AvroArray()):
                code.add(f"{to} = []")
                item = code.fresh_name("i")
                free = self._free.charge_item(old.items)
                keep = f"{to}.append({item})"
                self._blocks(lambda: self._or_wrong(old.items, new.items, item, depth + 1), keep, depth, free=free)
            case (AvroMap(), AvroMap()):
                code.add(f"{to} = {{}}")
                key, item = code.fresh_name("n"), code.fresh_name("i")

                def pair() -> None:
                    self._leaf(PRIMITIVES["string"], PRIMITIVES["string"], key)
                    self._or_wrong(old.values, new.values, item, depth + 1)

                self._blocks(pair, f"{to}[{key}] = {item}", depth)
            case (AvroEnum(), AvroEnum()):
                reader_symbols = frozenset(new.symbols)
                symbols = tuple(symbol if symbol in reader_symbols else new.default for symbol in old.symbols)
                code.add(*LENGTH, f"{to} = {code.add_constant(symbols)}[n]")
                if None in symbols:
                    code.add(f"if {to} is None: raise wrong")

    def _record(self, old: AvroRecord, new: AvroRecord) -> str:
        key = (old.full, new.full)
        if key not in self._functions:
            self._functions[key] = self._code.fresh_name("r")
            self._waiting.append((self._functions[key], old, new))
        return self._functions[key]

    def _blocks(self, item: Callable[[], None], keep: str, depth: int, *, free: int = 0) -> None:
        """Generate the lines for blocks of items, each charged with so many free values. More items than bytes are left to
        the slower function.
        """
        code = self._code
        left = code.fresh_name("m")
        code.add(f"if k + {depth} > {MAX_DEPTH}: raise wrong")
        with code.loop("while True:"):
            code.add(f"{left} = d[p]")
            with code.block(f"if {left} & 129:"):
                code.add(f"{left}, p = count(d, p)")
            with code.block("else:"):
                code.add(f"{left} >>= 1", "p += 1")
            code.add(f"if not {left}: break", f"if {left} > z: raise wrong")
            self._charge(left if free else 0)
            with code.block(f"for _ in range({left}):"):
                item()
                code.add(keep)

    def _branches(self, count: int, branch: Callable[[int], None]) -> None:
        """Generate the lines for a union. The branch index is one byte; branches from 64 on are left to the slower
        function.
        """
        code = self._code
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
