"""An Avro schema with other tags."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import cast

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
)
from treaty.formats.avro.tags.reading import MEMBER
from treaty.formats.json_printer import Json

Tags = Mapping[Hashable, tuple[str, ...]]


def write(schema: AvroSchema, tags: Tags) -> str:
    """The canonical text in which these places have these tags: where the member stood, else as the last one."""
    names = dict(schema.names)
    root = _retagged(schema.root, tags, names)
    return print_schema(replace(schema, root=root, names=names), schema.outside)


def _retagged(node: AvroType, tags: Tags, names: dict[str, NamedType]) -> AvroType:
    """A type with its tags, and those of all that it defines; definitions are put into `names` too."""
    match node:
        case AvroRecord():
            fields = tuple(_field(node, index, tags, names) for index in range(len(node.fields)))
            record = replace(node, fields=fields, props=_props(node.props, tags.get((node.full, -1))))
            names[node.full] = record
            return record
        case AvroArray():
            return replace(node, items=_retagged(node.items, tags, names))
        case AvroMap():
            return replace(node, values=_retagged(node.values, tags, names))
        case AvroUnion():
            return replace(node, branches=tuple(_retagged(one, tags, names) for one in node.branches))
    return node


def _field(record: AvroRecord, index: int, tags: Tags, names: dict[str, NamedType]) -> Field:
    field = record.fields[index]
    props = _props(field.props, tags.get((record.full, index)))
    return replace(field, type=_retagged(field.type, tags, names), props=props)


def _props(props: Props, tags: tuple[str, ...] | None) -> Props:
    if tags is None:
        return props
    if not tags:
        return tuple(one for one in props if one[0] != MEMBER)
    value = cast("list[Json]", list(tags))
    if any(name == MEMBER for name, _ in props):
        return tuple((name, value if name == MEMBER else old) for name, old in props)
    return (*props, (MEMBER, value))
