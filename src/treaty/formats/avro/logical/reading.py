"""An Avro schema read as logical types."""

from collections.abc import Mapping

from treaty.core.limits import LOGICAL_DEPTH
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
from treaty.formats.avro.normal import logical_of
from treaty.formats.logical import model
from treaty.formats.logical.defaults import default_of
from treaty.formats.logical.faults import fault
from treaty.formats.logical.model import Member, Scalar, Struct
from treaty.formats.logical.printing import show

LENGTHS = ("flink.minLength", "flink.maxLength")
"""Members for the least and the greatest length of a text or of bytes."""
PRECISION = "flink.precision"
"""The member for digits after the seconds, where the unit has more."""
DECIMAL_DIGITS = 38
"""The longest decimal of logical types."""

_PLAIN: Mapping[str, str] = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BYTES",
    "string": "STRING",
}
_SMALL = {"int8": "TINYINT", "int16": "SMALLINT"}
_CLOCKS: Mapping[str, tuple[str, int]] = {
    f"{word}-{unit}": (name, digits)
    for word, name in (("time", "TIME"), ("timestamp", "TIMESTAMP_LTZ"), ("local-timestamp", "TIMESTAMP"))
    for unit, digits in (("millis", 3), ("micros", 6), ("nanos", 9))
}

Made = tuple[model.Type, bool]
"""A type, and whether it may be null."""


def logical_view(schema: AvroSchema) -> str:
    """The text of the logical types of a schema; raises `InvalidSchemaError` for one that they can't say."""
    root = schema.resolve(schema.root)
    if not isinstance(root, AvroRecord):
        raise fault("LOGICAL_UNSUPPORTED", "", f"the top-level type is {root.kind}", "a record")
    return show(_Reader(schema, root.full.rpartition(".")[0]).struct(root, "", root.full))


class _Reader:
    """Reads types; what has a name is read once. `_open` are the records around a place."""

    __slots__ = ("_depth", "_known", "_open", "_schema", "_space")

    def __init__(self, schema: AvroSchema, space: str) -> None:
        self._schema = schema
        self._space = space
        self._known: dict[str, Struct] = {}
        self._open: set[str] = set()
        self._depth = 0

    def _name(self, full: str, path: str) -> str:
        space, _, short = full.rpartition(".")
        if self._space and not space:
            raise fault("LOGICAL_NAME", path, f"{full} has no namespace, but the top-level type has one")
        return short if space == self._space else full

    def struct(self, record: AvroRecord, path: str, name: str) -> Struct:
        """The struct of a record."""
        if record.full in self._known:
            return self._known[record.full]
        if record.full in self._open:
            raise fault("LOGICAL_RECURSIVE", path, f"{record.full} is used inside itself")
        self._open.add(record.full)
        members = tuple(self._member(one, f"{path}/{one.name}") for one in record.fields)
        self._open.discard(record.full)
        return self._known.setdefault(record.full, Struct(name, members))

    def _member(self, field: Field, path: str) -> Member:
        kind, nullable = self._type(field.type, path)
        default = None
        if field.default is not ABSENT:
            default = default_of(kind, nullable=nullable, value=field.default)
        return Member(field.name, kind, nullable, default, field.doc or "")

    def _type(self, node: AvroType, path: str) -> Made:
        self._depth += 1
        if self._depth > LOGICAL_DEPTH:
            raise fault("LOGICAL_DEPTH", path, f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}")
        made = self._made(node, path)
        self._depth -= 1
        return made

    def _made(self, node: AvroType, path: str) -> Made:
        found = self._schema.resolve(node)
        match found:
            case AvroArray(items):
                return model.Array(*self._type(items, path)), False
            case AvroMap(values):
                return model.Map(Scalar("STRING"), *self._type(values, path)), False
            case AvroUnion(branches):
                parts = [one for one in branches if self._schema.resolve(one).kind != "null"]
                if len(parts) != 1:
                    raise fault(
                        "LOGICAL_UNSUPPORTED", path, f"a union of {len(parts)} types", "one type, or one and null"
                    )
                return self._made(parts[0], path)[0], len(branches) > 1
            case AvroRecord():
                return self.struct(found, path, self._name(found.full, path)), False
            case AvroEnum():
                return model.Enum(self._name(found.full, path), found.symbols), False
        return _leaf(found, path), False


def _leaf(node: AvroPrimitive | AvroFixed, path: str) -> Scalar:
    members = dict(node.props)
    logical = logical_of(node) or ""
    if logical == "decimal":
        precision, scale = members["precision"], members.get("scale", 0)
        assert isinstance(precision, int)
        assert isinstance(scale, int)
        if precision <= DECIMAL_DIGITS:
            return Scalar("DECIMAL", (precision, scale))
    if logical == "date":
        return Scalar("DATE")
    if logical in _CLOCKS:
        name, digits = _CLOCKS[logical]
        asked = members.get(PRECISION)
        return Scalar(name, (asked if type(asked) is int and digits - 3 <= asked <= digits else digits,))
    if isinstance(node, AvroFixed):
        return Scalar("BINARY", (node.size,)) if node.size else Scalar("BYTES")
    if node.kind == "null":
        raise fault("LOGICAL_UNSUPPORTED", path, "a place that is always null")
    if node.kind == "int" and (small := _SMALL.get(str(members.get("connect.type")))):
        return Scalar(small)
    if node.kind in ("string", "bytes"):
        least, most = members.get(LENGTHS[0]), members.get(LENGTHS[1])
        if type(most) is int and 0 < most < model.LONGEST:
            names = ("CHAR", "VARCHAR") if node.kind == "string" else ("BINARY", "VARBINARY")
            return Scalar(names[least != most], (most,))
    return Scalar(_PLAIN[node.kind])
