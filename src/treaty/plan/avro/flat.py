"""Schemas in the form that the planner works on: every named type by reference, no text for people, no strange members."""

from collections.abc import Callable
from dataclasses import replace

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.model import (
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
    is_null,
)
from treaty.formats.avro.parser import parse_schema

MEANINGFUL = frozenset({"logicalType", "precision", "scale"})
"""The members beside Avro's own that change what a value is."""


Keep = Callable[[AvroPrimitive | AvroFixed], Props]
"""Which properties of a leaf are kept."""


def find_meaningful(leaf: AvroPrimitive | AvroFixed) -> Props:
    """The properties that change what a value is."""
    return tuple((name, value) for name, value in leaf.props if name in MEANINGFUL)


def parse_avro(text: str) -> AvroSchema:
    """An Avro text as the planner works on it. Raises `InvalidSchemaError`."""
    return flatten_schema(parse_schema(ResolvedSchema("AVRO", text), False))


def flatten_schema(schema: AvroSchema, keep: Keep = find_meaningful) -> AvroSchema:
    """The same schema with named types only in `names`, without orders and properties that mean nothing here."""
    return AvroSchema(
        _flatten(schema.root, keep), {full: _flatten_named(one, keep) for full, one in schema.names.items()}
    )


def _flatten(node: AvroType, keep: Keep) -> AvroType:
    match node:
        case AvroArray():
            return AvroArray(_flatten(node.items, keep))
        case AvroMap():
            return AvroMap(_flatten(node.values, keep))
        case AvroUnion():
            return AvroUnion(tuple(_flatten(one, keep) for one in node.branches))
        case AvroPrimitive():
            return AvroPrimitive(node.kind, keep(node))
    return AvroReference(node.full)


def _flatten_named(node: NamedType, keep: Keep) -> NamedType:
    match node:
        case AvroRecord():
            fields = tuple(
                Field(field.name, _flatten(field.type, keep), field.doc, field.default, aliases=field.aliases)
                for field in node.fields
            )
            return AvroRecord(node.full, fields, None, node.aliases)
        case AvroEnum():
            return replace(node, doc=None, props=())
        case AvroFixed():
            return replace(node, doc=None, props=keep(node))


def put_nulls_first(schema: AvroSchema) -> AvroSchema:
    """The same schema with null as the first type of every union that has it.

    Avro's reader for Java takes a record, an enum, an array or a map for what any default is made of, unless a type
    before it takes that; null takes nothing else. The members of a column don't count null.
    """
    names: dict[str, NamedType] = {}
    for full, named in schema.names.items():
        names[full] = named
        if isinstance(named, AvroRecord):
            names[full] = replace(
                named, fields=tuple(replace(field, type=_put_null_first(field.type)) for field in named.fields)
            )
    return AvroSchema(_put_null_first(schema.root), names)


def _put_null_first(node: AvroType) -> AvroType:
    match node:
        case AvroArray():
            return replace(node, items=_put_null_first(node.items))
        case AvroMap():
            return replace(node, values=_put_null_first(node.values))
        case AvroUnion():
            return AvroUnion(tuple(sorted(map(_put_null_first, node.branches), key=lambda branch: not is_null(branch))))
    return node
