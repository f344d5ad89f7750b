"""Normal form: one schema for all texts that differ only in the order of properties, aliases and the like; and which logical types count.

What Confluent's ``normalize`` does, except where it loses something: it drops the default of a union's second branch,
and it moves a type without a namespace into the one around it.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import is_

from treaty.formats.avro.model import (
    AbsentDefault,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
    ResolvedType,
)
from treaty.formats.json_text import Json

LOGICAL: Mapping[str, frozenset[str]] = {
    "int": frozenset({"date", "time-millis"}),
    "long": frozenset(
        f"{word}-{unit}"
        for word, units in (
            ("time", ("micros",)),
            ("timestamp", ("millis", "micros", "nanos")),
            ("local-timestamp", ("millis", "micros", "nanos")),
        )
        for unit in units
    ),
    "string": frozenset({"uuid"}),
    "bytes": frozenset({"decimal", "big-decimal"}),
    "fixed": frozenset({"decimal", "uuid", "duration"}),
}
"""By the underlying type, the logical types that the Java library knows (1.12)."""

_SIZES: Mapping[str, int] = {"uuid": 16, "duration": 12}


def to_normal_form(schema: AvroSchema) -> AvroSchema:
    """The schema in normal form: properties and aliases sorted, numbers of the field's type, no empty docs.

    What is in normal form already is the same object, the schema itself too.
    """
    maker = _NormalFormBuilder(schema)
    root = maker.type(schema.root)
    names = {full: maker.find_named(node) for full, node in schema.names.items()}
    if root is schema.root and all(names[full] is node for full, node in schema.names.items()):
        return schema
    return AvroSchema(root, names, schema.outside)


class _NormalFormBuilder:
    """Makes each named type once, so that a definition stays one object."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._made: dict[int, NamedType] = {}

    def type(self, node: AvroType) -> AvroType:
        """The normal form of a type."""
        if isinstance(node, AvroPrimitive):
            return replace(node, props=_props(node.props, get_logical_type(node))) if node.props else node
        match node:
            case AvroReference():
                return node
            case AvroArray():
                items = self.type(node.items)
                return node if items is node.items and not node.props else AvroArray(items, _props(node.props))
            case AvroMap():
                values = self.type(node.values)
                return node if values is node.values and not node.props else AvroMap(values, _props(node.props))
            case AvroUnion():
                branches = tuple(map(self.type, node.branches))
                return node if _are_same(branches, node.branches) else AvroUnion(branches)
        return self.find_named(node)

    def find_named(self, node: NamedType) -> NamedType:
        """The normal form of a definition."""
        if id(node) not in self._made:
            self._made[id(node)] = self._build_named(node)
        return self._made[id(node)]

    def _build_named(self, node: NamedType) -> NamedType:
        aliases = _words(node.aliases)
        doc = node.doc or None
        if isinstance(node, AvroFixed):
            return replace(node, doc=doc, aliases=aliases, props=_props(node.props, get_logical_type(node)))
        props = _props(node.props)
        if isinstance(node, AvroEnum):
            return replace(node, doc=doc, aliases=aliases, props=props)
        fields = tuple(map(self._field, node.fields))
        if _are_same(fields, node.fields) and not (props or len(aliases) > 1 or node.error or node.doc == ""):
            return node
        return AvroRecord(node.full, fields, doc, aliases, props)

    def _field(self, field: Field) -> Field:
        default, type_ = field.default, self.type(field.type)
        if default is None or isinstance(default, AbsentDefault | bool | str):  # these are as they are
            if type_ is field.type and not field.props and len(field.aliases) < 2:
                return field
        else:
            default = self._value(field.type, default)
        props = _props(field.props)
        return replace(field, type=type_, default=default, aliases=_words(field.aliases), props=props)

    def _value(self, node: AvroType, value: Json) -> Json:
        """A default with its numbers as the type has them, and its members sorted."""
        resolved = self._schema.resolve(node)
        if isinstance(resolved, AvroUnion) and resolved.branches:
            resolved = self._schema.resolve(resolved.branches[0])
        match value:
            case bool() | None | str():
                return value
            case int() | float():
                return _number(resolved, value)
            case list():
                items: AvroType = resolved.items if isinstance(resolved, AvroArray) else AvroPrimitive("null")
                return [self._value(items, item) for item in value]
        return {name: self._value(self._member(resolved, name), value[name]) for name in _words(tuple(value))}

    def _member(self, node: ResolvedType, name: str) -> AvroType:
        if isinstance(node, AvroMap):
            return node.values
        fields = node.fields if isinstance(node, AvroRecord) else ()
        return next((field.type for field in fields if field.name == name), AvroPrimitive("null"))


def _are_same(new: Sequence[object], old: Sequence[object]) -> bool:
    return all(map(is_, new, old))


def _number(node: ResolvedType, value: float) -> Json:
    if node.kind not in {"float", "double"}:
        return value
    try:
        return _shorten_float(float(value)) if node.kind == "float" else float(value)
    except OverflowError:
        return value  # beyond the type's range, which is no reason to lose it


def _shorten_float(value: float) -> float:
    """The shortest number that is the same one in 32 bits; raises `OverflowError` beyond them."""
    packed = struct.pack("<f", value)
    (narrow,) = struct.unpack("<f", packed)
    for digits in range(1, 9):
        short = float(f"{narrow:.{digits}g}")
        if _pack_float(short) == packed:
            return short
    return float(f"{narrow:.9g}")


def _pack_float(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return b""


def _words(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda word: word.encode("utf-16-be")))


def _by_name(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _by_name(value[name]) for name in _words(tuple(value))}
    return [_by_name(item) for item in value] if isinstance(value, list) else value


def get_logical_type(node: AvroPrimitive | AvroFixed) -> str | None:
    """The logical type in force: known, on a type that can carry it, with parameters that fit; None for any other.

    The Java library ignores a logical type that is not valid; it stays a property of the schema.
    """
    members = dict(node.props)
    name = members.get("logicalType")
    if not isinstance(name, str) or name not in LOGICAL.get(node.kind, ()):
        return None
    if name == "decimal":
        return name if _is_decimal(members, node) else None
    if isinstance(node, AvroFixed) and node.size != _SIZES[name]:
        return None
    return name


def _is_decimal(members: Mapping[str, Json], node: AvroPrimitive | AvroFixed) -> bool:
    precision, scale = members.get("precision"), members.get("scale", 0)
    if type(precision) is not int or type(scale) is not int:
        return False
    return 0 < precision <= _count_digits(node) and 0 <= scale <= precision


def _count_digits(node: AvroPrimitive | AvroFixed) -> int:
    """The most decimal digits that fit: floor(log10(2^(8n-1) - 1))."""
    if isinstance(node, AvroPrimitive):
        return 2**31 - 1
    return int((8 * node.size - 1) * 0.30102999566398119521) if node.size else 0


def _props(props: Props, logical: str | None = None) -> Props:
    """Properties by name; those of a logical type in force come first."""
    first = ("logicalType", "precision", "scale") if logical == "decimal" else ("logicalType",) if logical else ()
    rank = {name: at for at, name in enumerate(first)}
    by_rank = sorted(props, key=lambda member: (rank.get(member[0], len(rank)), member[0].encode("utf-16-be")))
    return tuple((name, _by_name(value)) for name, value in by_rank)
