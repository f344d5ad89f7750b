"""Values and payloads: what a schema makes of both, for every protocol."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.formats.format import BadPayloadError, PayloadEncoding
from treaty_thrift.constants import find_constant
from treaty_thrift.model import (
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
from treaty_thrift.protocols import BOOL, NESTING, STRUCT, WORDS, PayloadReader, malformed, skip
from treaty_thrift.shapes import (
    CONTAINERS,
    PRIMITIVES,
    MisfitError,
    Shape,
    make_enum,
    make_list,
    make_map,
    show_value,
    take_bool,
)
from treaty_thrift.writers import PROTOCOLS, PayloadWriter


def make_encoding(protocol: str) -> PayloadEncoding[ThriftSchema]:
    """One protocol as a way to write values."""
    make_reader, writer = PROTOCOLS[protocol]

    def write(schema: ThriftSchema) -> Callable[[Any], bytes]:
        shape = ValueShapes().of_root(schema)

        def write_payload(value: Any) -> bytes:
            try:
                return shape.write(writer, value)
            except RecursionError:
                raise MisfitError("", "the value has too many levels") from None

        return write_payload

    def read(written: ThriftSchema, schema: ThriftSchema) -> Callable[[bytes], Any]:
        del written  # payloads say the ids and types of their fields
        shape = ValueShapes().of_root(schema)

        def read_payload(payload: bytes) -> Any:
            reader = make_reader(payload)
            value = shape.read(reader, 0)
            if reader.left:
                raise BadPayloadError("TRAILING", f"{reader.left} bytes follow the record")
            return value

        return read_payload

    return PayloadEncoding(write, read)


@dataclass(slots=True)
class ValueShapes:
    """Makes shapes, each once: a record may hold itself, and typedefs may name one type many times."""

    known: dict[tuple[bytes, str], Shape] = field(default_factory=dict)
    types: dict[tuple[bytes, Type], Shape] = field(default_factory=dict)

    def of_root(self, schema: ThriftSchema) -> Shape:
        """The shape of the record that payloads hold. Raises `ValueError` for a schema without one."""
        if schema.root is None:
            raise ValueError("the schema has no struct, union or exception, so no payload is one of it")
        return self._of_record(schema, schema.root)

    def of(self, schema: ThriftSchema, type_: Type) -> Shape:
        """The shape of a type."""
        resolved = resolve_type(schema, type_)
        match resolved.type:
            case Primitive(name):
                return PRIMITIVES[name]
            case Enum(name=name):
                key = (resolved.schema.digest, name)
                if key not in self.known:
                    self.known[key] = make_enum(resolved.type)
                return self.known[key]
            case Record():
                return self._of_record(resolved.schema, resolved.type)
        held = (resolved.schema.digest, resolved.type)
        if held not in self.types:
            self.types[held] = self._of_container(resolved)
        return self.types[held]

    def _of_container(self, resolved: Resolved) -> Shape:
        assert isinstance(resolved.type, Container)
        parts = [self.of(resolved.schema, part) for part in resolved.type.parts]
        if resolved.type.kind == "map":
            key = resolve_type(resolved.schema, resolved.type.parts[0]).type
            return make_map(parts[0], parts[1], pairs=isinstance(key, Container | Record))
        return make_list(CONTAINERS[resolved.type.kind], parts[0])

    def _of_record(self, schema: ThriftSchema, record: Record) -> Shape:
        """A shape whose fields are made when it is first used: a record may hold itself, and chains of records are long."""
        key = (schema.digest, record.name)
        if key not in self.known:
            shapes: list[_RecordShape] = []

            def find() -> _RecordShape:
                if not shapes:
                    fields = tuple(
                        _FieldShape(field, self.of(schema, field.type), _default(schema, field))
                        for field in record.fields
                    )
                    shapes.append(_RecordShape.make(record, fields))
                return shapes[0]

            self.known[key] = Shape(
                STRUCT,
                lambda reader, depth: find().read(reader, depth),
                lambda writer, value: find().write(writer, value),
            )
        return self.known[key]


TEXT_SIGNS = 32
"""Characters of a default that count as one value."""


def _weigh_value(value: Any) -> int:
    """The values that a default is, itself included."""
    if isinstance(value, dict):
        return 1 + sum(_weigh_value(key) + _weigh_value(member) for key, member in value.items())
    if isinstance(value, list | set | tuple):
        return 1 + sum(map(_weigh_value, value))
    return 1 + (len(value) // TEXT_SIGNS if isinstance(value, str | bytes) else 0)


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
    plain: Mapping[str, Any]
    """What a record has before its fields are read: defaults, and None for fields without one."""
    copied: tuple[tuple[str, Any], ...]
    """The fields whose defaults are lists and maps, which each record has of its own."""
    weight: int
    """What a record without any field is charged with."""

    @staticmethod
    def make(record: Record, fields: tuple[_FieldShape, ...]) -> "_RecordShape":
        """The shape of a record with these fields."""
        plain = {shape.field.name: shape.default for shape in fields}
        copied = tuple((name, value) for name, value in plain.items() if isinstance(value, list | set | dict))
        by_id = {shape.field.id: shape for shape in fields}
        return _RecordShape(record, fields, by_id, plain, copied, sum(map(_weigh_value, plain.values())))

    def read(self, reader: PayloadReader, depth: int) -> dict[str, Any]:
        if depth > NESTING:
            raise malformed(f"more than {NESTING} levels")
        reader.charge_absent(self.weight)
        value = dict(self.plain)
        for name, default in self.copied:
            value[name] = copy.deepcopy(default)
        there: set[int] = set()
        last = 0
        while head := reader.read_field(last):
            type_, last = head
            shape = self.by_id.get(last)
            if shape is None:
                skip(reader, type_, depth + 1)
                continue
            if type_ != shape.shape.number:
                said = f"field {last} ({shape.field.name}) is {WORDS[type_]}, not {WORDS[shape.shape.number]}"
                raise malformed(said)
            value[shape.field.name] = shape.shape.read(reader, depth + 1)
            there.add(last)
        self._check(there)
        return value

    def _check(self, there: set[int]) -> None:
        missing = [
            shape.field.name
            for shape in self.fields
            if shape.field.requiredness == "required" and shape.field.id not in there
        ]
        if missing:
            raise BadPayloadError(
                "INVALID", f"required fields of {self.record.name} are missing: {', '.join(missing[:3])}"
            )
        if self.record.kind == "union" and len(there) != 1:
            raise BadPayloadError("INVALID", f"the union {self.record.name} has {len(there)} of its fields, not one")

    def write(self, writer: PayloadWriter, value: Any) -> bytes:
        if not isinstance(value, Mapping):
            raise MisfitError("", f"{show_value(value)} is no object of {self.record.name}")
        names = {shape.field.name for shape in self.fields}
        strange = next((name for name in value if name not in names), None)
        if strange is not None:
            raise MisfitError(
                f"/{strange}", f"{self.record.name} has no such field; it has {', '.join(sorted(names)) or 'none'}"
            )
        parts: list[bytes] = []
        last = 0
        for shape in self.fields:
            held = value.get(shape.field.name)
            if held is None and self.record.kind != "union" and shape.field.requiredness != "optional":
                held = shape.default
            if held is None:
                if shape.field.requiredness == "required":
                    raise MisfitError(f"/{shape.field.name}", "the field is required")
                continue
            try:
                parts.append(_write_field(writer, shape, held, last))
            except MisfitError as wrong:
                raise wrong.under(shape.field.name) from None
            last = shape.field.id
        if self.record.kind == "union" and len(parts) != 1:
            raise MisfitError("", f"a value of the union {self.record.name} has one field, and this one {len(parts)}")
        return b"".join((*parts, b"\0"))


def _write_field(writer: PayloadWriter, shape: _FieldShape, held: Any, last: int) -> bytes:
    if shape.shape.number == BOOL:
        return writer.bool_field(shape.field.id, last, value=take_bool(held))
    return writer.field_head(shape.shape.number, shape.field.id, last) + shape.shape.write(writer, held)


def _default(schema: ThriftSchema, field: Field) -> Any:
    return None if field.default is None else value_of(schema, field.type, schema, field.default)


def value_of(schema: ThriftSchema, type_: Type, home: ThriftSchema, constant: Value) -> Any:
    """The value of a constant, whose names are looked up in `home`, as a field has it."""
    if constant.kind == "name":
        named = find_constant(home, str(constant.value))
        return None if named is None else value_of(schema, type_, *named)
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
        case Enum():
            return inner.schema.members(inner.type).names.get(held)
        case Record():
            types = inner.schema.members(inner.type).types
            return {
                key.value: value_of(inner.schema, types[key.value], home, member)
                for key, member in held
                if key.value in types
            }
        case Container(kind="map", parts=(key, value)):
            pairs = [
                (value_of(inner.schema, key, home, member_key), value_of(inner.schema, value, home, member))
                for member_key, member in held
            ]
            if isinstance(resolve_type(inner.schema, key).type, Container | Record):
                return [{"key": key, "value": member} for key, member in pairs]
            return dict(pairs)
    return [value_of(inner.schema, inner.type.parts[0], home, part) for part in held]
