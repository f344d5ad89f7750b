"""Values and payloads: what a schema makes of both, for every protocol."""

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from treaty.formats.format import BadPayloadError, PayloadEncoding
from treaty_thrift.model import (
    NUMBERS,
    Container,
    Enum,
    Field,
    Primitive,
    Record,
    Resolved,
    ThriftSchema,
    Type,
    Value,
    resolve_type,
)
from treaty_thrift.protocols import (
    BOOL,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    MAP,
    NESTING,
    SET,
    STRING,
    STRUCT,
    WORDS,
    PayloadReader,
    malformed,
    skip,
)
from treaty_thrift.validation import find_constant
from treaty_thrift.writers import PROTOCOLS, PayloadWriter

Read = Callable[[PayloadReader, int], Any]
"""A function from a reader and a depth to a value."""
Write = Callable[[PayloadWriter, Any], bytes]
"""A function from a writer and a value to bytes. It raises `ValueError` without the path."""
_TYPES = {
    "bool": BOOL,
    "i8": BYTE,
    "i16": I16,
    "i32": I32,
    "i64": I64,
    "double": DOUBLE,
    "string": STRING,
    "binary": STRING,
}
_CONTAINERS = {"list": LIST, "set": SET, "map": MAP}


class MisfitError(ValueError):
    """A value that its type can't hold; `path` grows on the way out."""

    def __init__(self, path: str, message: str) -> None:
        """Say what was found and at which path."""
        super().__init__(f"at {path or '/'}: {message}")
        self.path = path
        self.message = message

    def under(self, step: object) -> "MisfitError":
        """The same below a member."""
        return MisfitError(f"/{step}{self.path}", self.message)


def make_encoding(protocol: str) -> PayloadEncoding[ThriftSchema]:
    """One protocol as a way to write values."""
    make_reader, writer = PROTOCOLS[protocol]

    def write(schema: ThriftSchema) -> Callable[[Any], bytes]:
        made = ValueShapes().of_root(schema)

        def write_payload(value: Any) -> bytes:
            try:
                return made.write(writer, value)
            except RecursionError:
                raise MisfitError("", "the value has too many levels") from None

        return write_payload

    def read(written: ThriftSchema, schema: ThriftSchema) -> Callable[[bytes], Any]:
        del written  # payloads say the ids and types of their fields
        made = ValueShapes().of_root(schema)

        def read_payload(payload: bytes) -> Any:
            reader = make_reader(payload)
            value = made.read(reader, 0)
            if reader.left:
                raise BadPayloadError("TRAILING", f"{reader.left} bytes follow the record")
            return value

        return read_payload

    return PayloadEncoding(write, read)


@dataclass(frozen=True, slots=True)
class Shape:
    """A type made ready: its number in payloads, and the ways between values and bytes."""

    number: int
    read: Read
    write: Write


@dataclass(slots=True)
class ValueShapes:
    """Makes shapes; those of records are made once, so that a record may hold itself."""

    known: dict[tuple[bytes, str], Shape] = field(default_factory=dict)

    def of_root(self, schema: ThriftSchema) -> Shape:
        """The shape of the record that payloads hold. Raises `ValueError` for a schema without one."""
        if schema.root is None:
            raise ValueError("the schema has no struct, union or exception, so no payload is one of it")
        return self._of_record(schema, schema.root)

    def of(self, schema: ThriftSchema, type_: Type) -> Shape:
        """The shape of a type."""
        found = resolve_type(schema, type_)
        match found.type:
            case Primitive(name):
                return PRIMITIVES[name]
            case Enum():
                return _make_enum(found.type)
            case Record():
                return self._of_record(found.schema, found.type)
        return self._of_container(found)

    def _of_container(self, found: Resolved) -> Shape:
        assert isinstance(found.type, Container)
        parts = [self.of(found.schema, one) for one in found.type.parts]
        if found.type.kind == "map":
            key = resolve_type(found.schema, found.type.parts[0]).type
            return _make_map(parts[0], parts[1], pairs=isinstance(key, Container | Record))
        return _make_list(_CONTAINERS[found.type.kind], parts[0])

    def _of_record(self, schema: ThriftSchema, record: Record) -> Shape:
        """A shape whose fields are made when it is first used: a record may hold itself, and chains of records are long."""
        key = (schema.digest, record.name)
        if key not in self.known:
            made: list[_RecordShape] = []

            def find() -> _RecordShape:
                if not made:
                    fields = tuple(
                        _FieldShape(one, self.of(schema, one.type), _default(schema, one)) for one in record.fields
                    )
                    made.append(_RecordShape(record, fields, {one.field.id: one for one in fields}))
                return made[0]

            self.known[key] = Shape(
                STRUCT,
                lambda reader, depth: find().read(reader, depth),
                lambda writer, value: find().write(writer, value),
            )
        return self.known[key]


@dataclass(frozen=True, slots=True)
class _FieldShape:
    field: Field
    shape: Shape
    default: Any


@dataclass(frozen=True, slots=True)
class _RecordShape:
    record: Record
    fields: tuple[_FieldShape, ...]
    by_id: Mapping[int, _FieldShape]

    def read(self, reader: PayloadReader, depth: int) -> dict[str, Any]:
        if depth > NESTING:
            raise malformed(f"more than {NESTING} levels")
        value = {one.field.name: copy.deepcopy(one.default) for one in self.fields}
        there: set[int] = set()
        last = 0
        while head := reader.read_field(last):
            type_, last = head
            found = self.by_id.get(last)
            if found is None:
                skip(reader, type_, depth + 1)
                continue
            if type_ != found.shape.number:
                said = f"field {last} ({found.field.name}) is {WORDS[type_]}, not {WORDS[found.shape.number]}"
                raise malformed(said)
            value[found.field.name] = found.shape.read(reader, depth + 1)
            there.add(last)
        self._check(there)
        return value

    def _check(self, there: set[int]) -> None:
        missing = [
            one.field.name for one in self.fields if one.field.requiredness == "required" and one.field.id not in there
        ]
        if missing:
            raise BadPayloadError(
                "INVALID", f"required fields of {self.record.name} are missing: {', '.join(missing[:3])}"
            )
        if self.record.kind == "union" and len(there) != 1:
            raise BadPayloadError("INVALID", f"the union {self.record.name} has {len(there)} of its fields, not one")

    def write(self, writer: PayloadWriter, value: Any) -> bytes:
        if not isinstance(value, Mapping):
            raise MisfitError("", f"{_show(value)} is no object of {self.record.name}")
        names = {one.field.name for one in self.fields}
        strange = next((name for name in value if name not in names), None)
        if strange is not None:
            raise MisfitError(
                f"/{strange}", f"{self.record.name} has no such field; it has {', '.join(sorted(names)) or 'none'}"
            )
        parts: list[bytes] = []
        last = 0
        for one in self.fields:
            held = value.get(one.field.name)
            if held is None and self.record.kind != "union" and one.field.requiredness != "optional":
                held = one.default
            if held is None:
                if one.field.requiredness == "required":
                    raise MisfitError(f"/{one.field.name}", "the field is required")
                continue
            try:
                parts.append(_write_field(writer, one, held, last))
            except MisfitError as wrong:
                raise wrong.under(one.field.name) from None
            last = one.field.id
        if self.record.kind == "union" and len(parts) != 1:
            raise MisfitError("", f"a value of the union {self.record.name} has one field, and this one {len(parts)}")
        return b"".join((*parts, b"\0"))


def _write_field(writer: PayloadWriter, one: _FieldShape, held: Any, last: int) -> bytes:
    if one.shape.number == BOOL:
        return writer.bool_field(one.field.id, last, value=_take_bool(held))
    return writer.field_head(one.shape.number, one.field.id, last) + one.shape.write(writer, held)


def _show(value: Any) -> str:
    return repr(value)[:60]


# ---------------------------------------------------------------------------------------------------------- primitives


def _take_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):  # the key of a map in JSON
        return bool(value == "true")
    raise MisfitError("", f"{_show(value)} is no boolean")


def _take_number(value: Any, bits: int) -> int:
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) <= 20:  # the key of a map in JSON
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise MisfitError("", f"{_show(value)} is no whole number")
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise MisfitError("", f"{_show(value)} has more than {bits} bits")
    return value


def _take_double(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise MisfitError("", f"{_show(value)} is no number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise MisfitError("", f"{_show(value)} is no number that a double holds") from None


def _take_text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise MisfitError("", f"{_show(value)} is no text")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise MisfitError("", f"{_show(value)} has no form in UTF-8") from None


def _take_bytes(value: Any) -> bytes:
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, str):  # JSON has no bytes: a character for each
        try:
            return value.encode("latin-1")
        except UnicodeEncodeError:
            pass
    raise MisfitError("", f"{_show(value)} is neither bytes nor characters up to U+00FF")


def _read_text(reader: PayloadReader, depth: int) -> str:
    del depth
    found = reader.read_bytes()
    try:
        return found.decode()
    except UnicodeDecodeError as wrong:
        raise BadPayloadError("INVALID", f"a string is no UTF-8: {wrong}") from None


def _make_number(name: str, number: int) -> Shape:
    bits = NUMBERS[name]
    return Shape(
        number,
        lambda reader, _: reader.read_number(number),
        lambda writer, value: writer.number(number, _take_number(value, bits)),
    )


PRIMITIVES: Mapping[str, Shape] = {
    **{name: _make_number(name, _TYPES[name]) for name in ("i8", "i16", "i32", "i64")},
    "bool": Shape(
        BOOL, lambda reader, _: reader.read_bool(), lambda writer, value: writer.boolean(value=_take_bool(value))
    ),
    "double": Shape(
        DOUBLE, lambda reader, _: reader.read_double(), lambda writer, value: writer.double(_take_double(value))
    ),
    "string": Shape(STRING, _read_text, lambda writer, value: writer.text(_take_text(value))),
    "binary": Shape(
        STRING, lambda reader, _: reader.read_bytes(), lambda writer, value: writer.text(_take_bytes(value))
    ),
}


def _make_enum(enum: Enum) -> Shape:
    names = {one.number: one.name for one in reversed(enum.symbols)}
    numbers = {one.name: one.number for one in enum.symbols}

    def read(reader: PayloadReader, _: int) -> str:
        number = reader.read_number(I32)
        if number not in names:
            raise BadPayloadError("INVALID", f"{number} is no symbol of the enum {enum.name}")
        return names[number]

    def write(writer: PayloadWriter, value: Any) -> bytes:
        number = numbers.get(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int) or number not in names:
            raise MisfitError("", f"{_show(value)} is no symbol of {enum.name}; it has {', '.join(numbers)[:200]}")
        return writer.number(I32, number)

    return Shape(I32, read, write)


# ---------------------------------------------------------------------------------------------------------- containers


def _make_list(number: int, element: Shape) -> Shape:
    def read(reader: PayloadReader, depth: int) -> list[Any]:
        if depth > NESTING:
            raise malformed(f"more than {NESTING} levels")
        type_, count = reader.read_list()
        if count and type_ != element.number:
            raise malformed(f"the elements are {WORDS[type_]}, not {WORDS[element.number]}")
        return [element.read(reader, depth + 1) for _ in range(count)]

    def write(writer: PayloadWriter, value: Any) -> bytes:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | set | frozenset):
            raise MisfitError("", f"{_show(value)} is no {WORDS[number]}")
        parts = [writer.list_head(element.number, len(value))]
        for at, one in enumerate(value):
            try:
                parts.append(element.write(writer, one))
            except MisfitError as wrong:
                raise wrong.under(at) from None
        return b"".join(parts)

    return Shape(number, read, write)


def _make_map(key: Shape, held: Shape, *, pairs: bool) -> Shape:
    """With `pairs` a map is a list of keys and values, because its keys are no names."""

    def read(reader: PayloadReader, depth: int) -> Any:
        if depth > NESTING:
            raise malformed(f"more than {NESTING} levels")
        key_type, value_type, count = reader.read_map()
        if count and (key_type, value_type) != (key.number, held.number):
            raise malformed(
                f"the map has {WORDS[key_type]} and {WORDS[value_type]}, not {WORDS[key.number]} and {WORDS[held.number]}"
            )
        found = [(key.read(reader, depth + 1), held.read(reader, depth + 1)) for _ in range(count)]
        return [{"key": one, "value": two} for one, two in found] if pairs else dict(found)

    def write(writer: PayloadWriter, value: Any) -> bytes:
        items = _list_pairs(value) if pairs else value.items() if isinstance(value, Mapping) else None
        if items is None:
            raise MisfitError("", f"{_show(value)} is no map")
        parts = [writer.map_head(key.number, held.number, len(items))]
        for one, two in items:
            try:
                parts += (key.write(writer, one), held.write(writer, two))
            except MisfitError as wrong:
                raise wrong.under(one if isinstance(one, Hashable) else "key") from None
        return b"".join(parts)

    return Shape(MAP, read, write)


def _list_pairs(value: Any) -> list[tuple[Any, Any]] | None:
    if not isinstance(value, list) or not all(
        isinstance(one, Mapping) and one.keys() == {"key", "value"} for one in value
    ):
        return None
    return [(one["key"], one["value"]) for one in value]


# ------------------------------------------------------------------------------------------------------------ defaults


def _default(schema: ThriftSchema, one: Field) -> Any:
    return None if one.default is None else value_of(schema, one.type, schema, one.default)


def value_of(schema: ThriftSchema, type_: Type, home: ThriftSchema, constant: Value) -> Any:
    """The value of a constant, whose names are looked up in `home`, as a field has it."""
    if constant.kind == "name":
        found = find_constant(home, str(constant.value))
        return None if found is None else value_of(schema, type_, *found)
    inner = resolve_type(schema, type_)
    held: Any = constant.value
    match inner.type:
        case Primitive(name="bool"):
            return bool(held)
        case Primitive(name="double"):
            return float(held)
        case Primitive(name="binary"):
            return str(held).encode()
        case Primitive():
            return held
        case Enum(symbols=symbols):
            return next((one.name for one in symbols if one.number == held), None)
        case Record(fields=fields):
            types = {one.name: one.type for one in fields}
            return {
                one.value: value_of(inner.schema, types[one.value], home, two)
                for one, two in held
                if one.value in types
            }
        case Container(kind="map", parts=(key, value)):
            made = [
                (value_of(inner.schema, key, home, one), value_of(inner.schema, value, home, two)) for one, two in held
            ]
            if isinstance(resolve_type(inner.schema, key).type, Container | Record):
                return [{"key": one, "value": two} for one, two in made]
            return dict(made)
    return [value_of(inner.schema, inner.type.parts[0], home, one) for one in held]
