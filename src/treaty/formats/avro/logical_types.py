"""Logical types of an Avro schema, and the Avro schema of logical types."""

import json
from collections.abc import Mapping

from treaty.core.limits import DECIMAL_DIGITS, LOGICAL_DEPTH
from treaty.formats.avro.model import (
    ABSENT,
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
)
from treaty.formats.avro.normal_form import get_logical_type
from treaty.formats.json_text import Json
from treaty.formats.logical import model
from treaty.formats.logical.defaults import make_default, to_json
from treaty.formats.logical.model import (
    LogicalArray,
    LogicalEnum,
    LogicalMap,
    LogicalScalar,
    LogicalStruct,
    LogicalType,
    StructMember,
    logical_error,
)
from treaty.formats.logical.parser import parse_struct
from treaty.formats.logical.printer import print_struct

LENGTHS = ("flink.minLength", "flink.maxLength")
"""Members for the least and the greatest length of a text or of bytes."""
PRECISION = "flink.precision"
"""The member for digits after the seconds, where the unit has more."""

_LOGICAL_NAMES: Mapping[str, str] = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BYTES",
    "string": "STRING",
}
_SMALL = {"int8": "TINYINT", "int16": "SMALLINT"}
_LOGICAL_CLOCKS: Mapping[str, tuple[str, int]] = {
    f"{word}-{unit}": (name, digits)
    for word, name in (("time", "TIME"), ("timestamp", "TIMESTAMP_LTZ"), ("local-timestamp", "TIMESTAMP"))
    for unit, digits in (("millis", 3), ("micros", 6), ("nanos", 9))
}

NullableLogicalType = tuple[model.LogicalType, bool]
"""A type, and whether it may be null."""


def to_logical(schema: AvroSchema) -> str:
    """The text of the logical types of a schema; raises `InvalidSchemaError` for one that they can't say."""
    root = schema.resolve(schema.root)
    if not isinstance(root, AvroRecord):
        raise logical_error("LOGICAL_UNSUPPORTED", "", f"the top-level type is {root.kind}", "a record")
    return print_struct(_LogicalTypeReader(schema, root.full.rpartition(".")[0]).struct(root, "", root.full))


class _LogicalTypeReader:
    """Reads types; what has a name is read once. `_open` are the records around a place."""

    __slots__ = ("_depth", "_known", "_open", "_schema", "_space")

    def __init__(self, schema: AvroSchema, space: str) -> None:
        self._schema = schema
        self._space = space
        self._known: dict[str, LogicalStruct] = {}
        self._open: set[str] = set()
        self._depth = 0

    def _name(self, full: str, path: str) -> str:
        space, _, short = full.rpartition(".")
        if self._space and not space:
            raise logical_error("LOGICAL_NAME", path, f"{full} has no namespace, but the top-level type has one")
        return short if space == self._space else full

    def struct(self, record: AvroRecord, path: str, name: str) -> LogicalStruct:
        """The struct of a record."""
        if record.full in self._known:
            return self._known[record.full]
        if record.full in self._open:
            raise logical_error("LOGICAL_RECURSIVE", path, f"{record.full} is used inside itself")
        self._open.add(record.full)
        members = tuple(self._member(one, f"{path}/{one.name}") for one in record.fields)
        self._open.discard(record.full)
        return self._known.setdefault(record.full, LogicalStruct(name, members))

    def _member(self, field: Field, path: str) -> StructMember:
        kind, nullable = self._type(field.type, path)
        default = None
        if field.default is not ABSENT:
            default = make_default(kind, nullable=nullable, value=field.default)
        return StructMember(field.name, kind, nullable, default, field.doc or "")

    def _type(self, node: AvroType, path: str) -> NullableLogicalType:
        self._depth += 1
        if self._depth > LOGICAL_DEPTH:
            raise logical_error(
                "LOGICAL_DEPTH", path, f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}"
            )
        logical_type = self._convert_type(node, path)
        self._depth -= 1
        return logical_type

    def _convert_type(self, node: AvroType, path: str) -> NullableLogicalType:
        resolved = self._schema.resolve(node)
        match resolved:
            case AvroArray(items):
                return model.LogicalArray(*self._type(items, path)), False
            case AvroMap(values):
                return model.LogicalMap(LogicalScalar("STRING"), *self._type(values, path)), False
            case AvroUnion(branches):
                parts = [one for one in branches if self._schema.resolve(one).kind != "null"]
                if len(parts) != 1:
                    raise logical_error(
                        "LOGICAL_UNSUPPORTED", path, f"a union of {len(parts)} types", "one type, or one and null"
                    )
                return self._convert_type(parts[0], path)[0], len(branches) > 1
            case AvroRecord():
                return self.struct(resolved, path, self._name(resolved.full, path)), False
            case AvroEnum():
                return model.LogicalEnum(self._name(resolved.full, path), resolved.symbols), False
        return _read_leaf(resolved, path), False


def _read_leaf(node: AvroPrimitive | AvroFixed, path: str) -> LogicalScalar:
    members = dict(node.props)
    logical = get_logical_type(node) or ""
    if logical == "decimal":
        precision, scale = members["precision"], members.get("scale", 0)
        assert isinstance(precision, int)
        assert isinstance(scale, int)
        if precision <= DECIMAL_DIGITS:
            return LogicalScalar("DECIMAL", (precision, scale))
    if logical == "date":
        return LogicalScalar("DATE")
    if logical in _LOGICAL_CLOCKS:
        name, digits = _LOGICAL_CLOCKS[logical]
        stated_precision = members.get(PRECISION)
        return LogicalScalar(
            name,
            (
                stated_precision
                if type(stated_precision) is int and digits - 3 <= stated_precision <= digits
                else digits,
            ),
        )
    if isinstance(node, AvroFixed):
        return LogicalScalar("BINARY", (node.size,)) if node.size else LogicalScalar("BYTES")
    if node.kind == "null":
        raise logical_error("LOGICAL_UNSUPPORTED", path, "a place that is always null")
    if node.kind == "int" and (small := _SMALL.get(str(members.get("connect.type")))):
        return LogicalScalar(small)
    if node.kind in ("string", "bytes"):
        min_length, max_length = members.get(LENGTHS[0]), members.get(LENGTHS[1])
        if type(max_length) is int and 0 < max_length < model.LONGEST:
            names = ("CHAR", "VARCHAR") if node.kind == "string" else ("BINARY", "VARBINARY")
            return LogicalScalar(names[min_length != max_length], (max_length,))
    return LogicalScalar(_LOGICAL_NAMES[node.kind])


_AVRO_TYPES: Mapping[str, Json] = {
    "BOOLEAN": "boolean",
    "TINYINT": {"type": "int", "connect.type": "int8"},
    "SMALLINT": {"type": "int", "connect.type": "int16"},
    "INT": "int",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "STRING": "string",
    "BYTES": "bytes",
    "DATE": {"type": "int", "logicalType": "date"},
}
_TEXTS = {"CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes"}
_AVRO_CLOCKS = {"TIME": "time", "TIMESTAMP": "local-timestamp", "TIMESTAMP_LTZ": "timestamp"}
_UNITS = ((3, "millis"), (6, "micros"), (9, "nanos"))


def from_logical(text: str) -> str:
    """The Avro schema that a text of logical types describes. What has no name there is named after where it stands.

    Raises `InvalidSchemaError` for a text that is none, and for what Avro does not have.
    """
    struct = parse_struct(text)
    if not struct.name:
        raise logical_error(
            "LOGICAL_NAME", "", "the STRUCT has no name, and an Avro record needs one", "STRUCT Name (...)"
        )
    writer = _LogicalTypeWriter(struct.name.rpartition(".")[0])
    return json.dumps(writer.struct(struct, "", struct.name), ensure_ascii=False)


class _LogicalTypeWriter:
    """Writes types; names that were defined already stand alone. `_space` is the namespace of names without one."""

    __slots__ = ("_known", "_space")

    def __init__(self, space: str) -> None:
        self._space = space
        self._known: set[str] = set()

    def _full_name(self, name: str) -> str:
        return name if "." in name or not self._space else f"{self._space}.{name}"

    def _write_name(self, name: str) -> dict[str, Json]:
        full = self._full_name(name)
        self._known.add(full)
        space, _, short = full.rpartition(".")
        return {"name": short, "namespace": space}

    def struct(self, struct: LogicalStruct, path: str, name: str) -> Json:
        """The record of a struct, under a name."""
        if struct.name and self._full_name(struct.name) in self._known:
            return self._full_name(struct.name)
        named = self._write_name(name)
        short = name.rpartition(".")[2]
        fields: list[Json] = [self._field(one, f"{path}/{one.name}", f"{short}_{one.name}") for one in struct.members]
        return {"type": "record", **named, "fields": fields}

    def _field(self, member: StructMember, path: str, name: str) -> Json:
        kind = self._type(member.type, path, name)
        default = member.default
        first = default is None or default.value is None
        if member.nullable:
            kind = ["null", kind] if first else [kind, "null"]
        field: dict[str, Json] = {"name": member.name, "type": kind}
        if member.comment:
            field["doc"] = member.comment
        if default is not None:
            field["default"] = to_json(default.value, member.type)
        return field

    def _type(self, kind: LogicalType, path: str, name: str) -> Json:
        match kind:
            case LogicalArray(element, nullable):
                items = self._type(element, path, name)
                return {"type": "array", "items": ["null", items] if nullable else items}
            case LogicalMap(key, value, nullable):
                if key.name != "STRING":
                    raise logical_error(
                        "LOGICAL_UNSUPPORTED", path, f"a MAP with keys of type {key.name}", "keys of type STRING"
                    )
                values = self._type(value, path, name)
                return {"type": "map", "values": ["null", values] if nullable else values}
            case LogicalStruct():
                return self.struct(kind, path, kind.name or name)
            case LogicalEnum(own, symbols):
                if own and self._full_name(own) in self._known:
                    return self._full_name(own)
                return {"type": "enum", **self._write_name(own or name), "symbols": list(symbols)}
        return _write_scalar(kind, path)


def _write_scalar(kind: LogicalScalar, path: str) -> Json:
    if kind.name in _AVRO_TYPES:
        return _AVRO_TYPES[kind.name]
    if kind.name == "DECIMAL":
        return {"type": "bytes", "logicalType": "decimal", "precision": kind.numbers[0], "scale": kind.numbers[1]}
    number = kind.numbers[0]
    if kind.name in _TEXTS:
        exact = {LENGTHS[0]: number} if kind.name in ("CHAR", "BINARY") else {}
        return {"type": _TEXTS[kind.name], **exact, LENGTHS[1]: number}
    natural, unit = next(one for one in _UNITS if number <= one[0])
    if kind.name == "TIME" and natural == 9:
        raise logical_error("LOGICAL_UNSUPPORTED", path, f"a TIME of {number} digits", "TIME(6) or less")
    base = "int" if kind.name == "TIME" and natural == 3 else "long"
    more: dict[str, Json] = {} if number == natural else {PRECISION: number}
    return {"type": base, "logicalType": f"{_AVRO_CLOCKS[kind.name]}-{unit}", **more}
