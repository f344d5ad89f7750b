"""Schemas in the form that the planner works on: every named type by reference, no text for people, no strange members."""

from collections.abc import Callable
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


Keep = Callable[[Primitive | Fixed], Props]
"""Which properties of a leaf are kept."""


def meant(leaf: Primitive | Fixed) -> Props:
    """The properties that change what a value is."""
    return tuple((name, value) for name, value in leaf.props if name in MEANT)


def flat(schema: Schema, keep: Keep = meant) -> Schema:
    """The same schema with named types only in `names`, without orders and properties that mean nothing here."""
    return Schema(_node(schema.root, keep), {full: _named(one, keep) for full, one in schema.names.items()})


def _node(node: Type, keep: Keep) -> Type:
    match node:
        case Array():
            return Array(_node(node.items, keep))
        case Map():
            return Map(_node(node.values, keep))
        case Union():
            return Union(tuple(_node(one, keep) for one in node.branches))
        case Primitive():
            return Primitive(node.kind, keep(node))
    return Reference(node.full)


def _named(node: Named, keep: Keep) -> Named:
    match node:
        case Record():
            fields = tuple(
                Field(one.name, _node(one.type, keep), one.doc, one.default, aliases=one.aliases) for one in node.fields
            )
            return Record(node.full, fields, None, node.aliases)
        case Enum():
            return replace(node, doc=None, props=())
        case Fixed():
            return replace(node, doc=None, props=keep(node))


def is_null(node: Type) -> bool:
    """Whether this is the null type."""
    return isinstance(node, Primitive) and node.kind == "null"
