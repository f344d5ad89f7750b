"""Schemas in the form that the planner works on: every named type by reference, no text for people, no strange members."""

from dataclasses import replace

from treaty.formats.avro.model import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Props,
    Record,
    Reference,
    Schema,
    Type,
    Union,
)

MEANT = frozenset({"logicalType", "precision", "scale"})
"""The members beside Avro's own that change what a value is."""


def flat(schema: Schema) -> Schema:
    """The same schema with named types only in `names`, without docs, orders and properties that mean nothing here."""
    return Schema(_node(schema.root), {full: _named(one) for full, one in schema.names.items()})


def _node(node: Type) -> Type:
    match node:
        case Array():
            return Array(_node(node.items))
        case Map():
            return Map(_node(node.values))
        case Union():
            return Union(tuple(map(_node, node.branches)))
        case Primitive():
            return Primitive(node.kind, _props(node.props))
    return Reference(node.full)


def _named(node: Named) -> Named:
    match node:
        case Record():
            fields = tuple(
                Field(one.name, _node(one.type), None, one.default, aliases=one.aliases) for one in node.fields
            )
            return Record(node.full, fields, None, node.aliases)
        case Enum():
            return replace(node, doc=None, props=())
        case Fixed():
            return replace(node, doc=None, props=_props(node.props))


def _props(props: Props) -> Props:
    return tuple((name, value) for name, value in props if name in MEANT)


def is_null(node: Type) -> bool:
    """Whether this is the null type."""
    return isinstance(node, Primitive) and node.kind == "null"
