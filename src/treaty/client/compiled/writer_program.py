"""Python programs are generated that encode the values of one Avro schema; what they can't encode is left to the slow writer.

A program accepts values of exact Python types and encodes them as fastavro does. Any exception means that the slower
function is called, which describes the error or accepts the value (a subclass, a missing field with a default).
"""

import datetime as dt
import decimal
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from struct import Struct
from typing import Any

from treaty.client.compiled.logical import find_writer
from treaty.client.compiled.names import branch_of, find_definition, kind_of, logical_of
from treaty.client.compiled.program import NotCompilableError, ProgramBuilder, SlowPathError

Write = Callable[[bytearray, Any], None]
"""A function that appends a value to bytes. Raises any exception if it does not accept the value; the bytes are invalid
then.
"""


def make_writer(schema: Any, named: Mapping[str, Any], *, lossy: bool = False) -> Write | None:
    """Return the program for a schema parsed by fastavro; None if none can be generated.

    `lossy`: times are truncated to the milliseconds of their types; otherwise `LossError` is raised.
    """
    try:
        return _WriterProgram(named, lossy=lossy).program(schema)
    except (NotCompilableError, RecursionError, SyntaxError, MemoryError, KeyError):
        return None


def write_varint(out: bytearray, number: int) -> None:
    """Append a zig-zag varint of at most 64 bits."""
    if number >> 64:
        raise SlowPathError
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def write_int32(out: bytearray, number: int) -> None:
    """Append a zig-zag varint of at most 32 bits."""
    if number >> 32:
        raise SlowPathError
    write_varint(out, number)


class _WriterProgram:
    def __init__(self, named: Mapping[str, Any], *, lossy: bool) -> None:
        self._named = named
        self._lossy = lossy
        self._code = ProgramBuilder()
        self._functions: dict[str, str] = {}
        self._waiting: list[tuple[str, Any]] = []
        self._code.constants.update(
            long=write_varint, int32=write_int32, wrong=SlowPathError, float_=Struct("<f").pack, double_=Struct("<d").pack,
            date_=dt.date, datetime_=dt.datetime, time_=dt.time, decimal_=decimal.Decimal, uuid_=uuid.UUID,
        )  # fmt: skip

    def program(self, schema: Any) -> Write:
        code = self._code
        with code.block("def write(o, v):"):
            code.add("a = o.append")
            self._value(schema, "v")
        while self._waiting:
            self._function(*self._waiting.pop())
        write: Write = code.compile_function("write")
        return write

    def _function(self, name: str, schema: Any) -> None:
        code = self._code
        fields = schema["fields"]
        with code.block(f"def {name}(o, a, v):"):
            code.add(f"if type(v) is not dict or len(v) != {len(fields)}: raise wrong")
            for field in fields:
                variable = code.fresh_name("f")
                code.add(f"{variable} = v[{field['name']!r}]")
                self._value(field["type"], variable)

    def _value(self, schema: Any, of: str) -> None:
        """Generate the lines that encode the value of a variable."""
        kind = kind_of(schema)
        code = self._code
        logical = find_writer(logical_of(schema), lossy=self._lossy)
        if logical is not None:
            prepared = code.fresh_name("l")
            code.add(f"{prepared} = {code.add_constant(logical)}({of}, {code.add_constant(schema)})")
            of = prepared
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            code.add(*(line.replace("@", of) for line in scalar))
        elif kind == "union":
            self._union(schema, of)
        elif kind in {"record", "error"}:
            code.add(f"{self._record(schema)}(o, a, {of})")
        elif kind == "array":
            code.add(f"if type({of}) is not list and type({of}) is not tuple: raise wrong")
            item = code.fresh_name("i")
            with self._items(of, f"for {item} in {of}:"):
                self._value(schema["items"], item)
        elif kind == "map":
            code.add(f"if type({of}) is not dict: raise wrong")
            key, item = code.fresh_name("n"), code.fresh_name("i")
            with self._items(of, f"for {key}, {item} in {of}.items():"):
                self._value("string", key)
                self._value(schema["values"], item)
        elif kind == "enum":
            places = {symbol: at for at, symbol in enumerate(schema["symbols"])}
            code.add(f"n = {code.add_constant(places)}[{of}] << 1", *_LENGTH)
        elif kind == "fixed":
            code.add(f"if type({of}) is not bytes or len({of}) != {int(schema['size'])}: raise wrong", f"o += {of}")
        else:
            self._value(self._named[kind], of)

    def _record(self, schema: Any) -> str:
        name = schema["name"]
        if name not in self._functions:
            self._functions[name] = self._code.fresh_name("w")
            self._waiting.append((self._functions[name], schema))
        return self._functions[name]

    @contextmanager
    def _items(self, of: str, head: str) -> Iterator[None]:
        """Generate the lines for one block with all items, and the end marker."""
        code = self._code
        code.add(f"n = len({of}) << 1")
        with code.block("if n:"):
            code.add(*_LENGTH)
        with code.loop(head):
            yield
        code.add("a(0)")

    def _union(self, branches: list[Any], of: str) -> None:
        if not branches:
            raise NotCompilableError("a union without branches")
        non_null = [at for at, branch in enumerate(branches) if branch != "null"]
        if len(non_null) == 1 and len(branches) == 2:
            with self._code.block(f"if {of} is None:"):
                self._branch(branches, 1 - non_null[0], of)
            if kind_of(branches[non_null[0]]) == "array":  # a pair may be a branch's name and a value
                self._code.add(f"elif type({of}) is tuple: raise wrong")
            with self._code.block("else:"):
                self._branch(branches, non_null[0], of)
        else:
            self._choice(branches, of)

    def _choice(self, branches: list[Any], of: str) -> None:
        """Generate the lines that choose a branch by the value's type, if unambiguous, or by the branch in a tuple."""
        code, word = self._code, "if"
        for test, index in _tests(branches, self._named):
            with code.block(f"{word} {test.replace('@', of)}:"):
                self._branch(branches, index, of)
            word = "elif"
        with code.block(f"{word} type({of}) is tuple:"):
            name, inner = code.fresh_name("n"), code.fresh_name("t")
            code.add(f"{name}, {inner} = {of}")
            for at, branch in enumerate(branches):
                with code.block(f"{'elif' if at else 'if'} {name} == {code.add_constant(branch_of(branch))}:"):
                    self._branch(branches, at, inner)
            code.add("else: raise wrong")
        code.add("else: raise wrong")

    def _branch(self, branches: list[Any], index: int, of: str) -> None:
        self._code.add(f"a({index * 2})" if index < 64 else f"long(o, {index * 2})")
        if branches[index] != "null":
            self._value(branches[index], of)


def _tests(branches: list[Any], named: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Return tests of a value (``@``) that identify its branch unambiguously and as fastavro does."""
    kinds = [kind_of(find_definition(branch, named)) for branch in branches]
    logical = {logical_of(branch): at for at, branch in enumerate(branches)}

    def places(*names: str) -> list[int]:
        return [at for at, kind in enumerate(kinds) if kind in names]

    numbers, texts = places("int", "long", "float", "double"), places("string", "enum")
    if "null" in kinds:
        yield "@ is None", kinds.index("null")
    if len(texts) == 1 and "int-date" not in logical:
        yield "type(@) is str", texts[0]
    if numbers and kinds[numbers[0]] == "int" and len(numbers) > 1:
        yield "type(@) is int and -2147483648 <= @ < 2147483648", numbers[0]
    elif numbers and (len(numbers) == 1 or kinds[numbers[0]] == "long"):
        yield "type(@) is int", numbers[0]
    for test, positions in (
        ("type(@) is float", places("float", "double")),
        ("type(@) is dict", places("record", "error", "map")),
        ("type(@) is list", places("array")),
        ("@ is True or @ is False", places("boolean")),
        ("type(@) is bytes", places("bytes", "fixed")),
    ):
        if len(positions) == 1:
            yield test, positions[0]
    for kind, words in _LOGICAL.items():
        at = [logical[word] for word in words if word in logical]
        if len(at) == 1 and not (kind == "datetime_" and "int-date" in logical):
            yield f"type(@) is {kind}", at[0]


_LOGICAL: Mapping[str, tuple[str, ...]] = {
    "date_": ("int-date",),
    "datetime_": (
        "long-timestamp-micros",
        "long-timestamp-millis",
        "long-local-timestamp-micros",
        "long-local-timestamp-millis",
    ),
    "time_": ("int-time-millis", "long-time-micros"),
    "decimal_": ("bytes-decimal", "fixed-decimal"),
    "uuid_": ("string-uuid",),
}
_LENGTH = ("if n < 128: a(n)", "else: long(o, n)")
_SLICE = ("n = len(b) << 1", *_LENGTH, "o += b")
_NUMBER = ("if type(@) is not int: raise wrong", "n = @ << 1 if @ >= 0 else ~(@ << 1)", "if n < 128: a(n)")
_REAL = "if type(@) is not float and type(@) is not int: raise wrong"
_SCALARS: Mapping[str, tuple[str, ...]] = {
    "null": ("if @ is not None: raise wrong",),
    "boolean": ("if @ is True: a(1)", "elif @ is False: a(0)", "else: raise wrong"),
    "int": (*_NUMBER, "else: int32(o, n)"),
    "long": (*_NUMBER, "else: long(o, n)"),
    "float": (_REAL, "o += float_(@)"),
    "double": (_REAL, "o += double_(@)"),
    "bytes": ("if type(@) is not bytes: raise wrong", "b = @", *_SLICE),
    "string": ("if type(@) is not str: raise wrong", "b = @.encode()", *_SLICE),
}
"""``@`` is the variable, `o` the bytes, `a` adds one of them."""
