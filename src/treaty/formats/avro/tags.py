"""Tags of Avro schemas, the member ``confluent:tags`` of records and fields: which there are, and a schema with others."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from treaty.core.limits import ENTITY_PATH
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
)
from treaty.formats.format import TaggableEntity
from treaty.formats.json_text import Json

MEMBER = "confluent:tags"
"""The member that holds the tags, a list of names."""
MALFORMED = f"its member {MEMBER} is no list of names"


def list_entities(schema: AvroSchema) -> Iterator[TaggableEntity]:
    """Records of the own text by full name (``acme.Order``), and their fields by name after it (``acme.Order.id``)."""
    for record in list_records(schema.root):
        if len(record.full) > ENTITY_PATH:
            continue
        yield _entity(record.full, "sr_record", (record.full, -1), record.props)
        for index, field in enumerate(record.fields):
            path = f"{record.full}.{field.name}"
            if len(path) <= ENTITY_PATH:
                yield _entity(path, "sr_field", (record.full, index), field.props)


def _entity(path: str, kind: str, place: tuple[str, int], props: Props) -> TaggableEntity:
    value = get_tag_value(props)
    names = parse_names(value)
    return TaggableEntity(path, kind, names or (), place, MALFORMED if names is None else "")


def get_tag_value(props: Props) -> Json:
    """The member's value; an empty list where there is none."""
    return next((value for name, value in props if name == MEMBER), [])


def parse_names(value: Json) -> tuple[str, ...] | None:
    """The names in a value, or None for one that is no list of names."""
    if not isinstance(value, list):
        return None
    names = [one for one in value if isinstance(one, str)]
    return tuple(names) if len(names) == len(value) else None


def list_records(root: AvroType) -> Iterator[AvroRecord]:
    """Records that the text defines, an outer one before those inside it."""
    waiting: list[AvroType | Field] = [root]
    while waiting:
        node = waiting.pop()
        match node:
            case AvroRecord():
                yield node
                waiting += reversed(node.fields)
            case Field():
                waiting.append(node.type)
            case AvroArray():
                waiting.append(node.items)
            case AvroMap():
                waiting.append(node.values)
            case AvroUnion():
                waiting += reversed(node.branches)
            case AvroReference() | _:
                continue


Tags = Mapping[Hashable, tuple[str, ...]]


def write_tags(schema: AvroSchema, tags: Tags) -> str:
    """The canonical text in which these places have these tags: where the member stood, else as the last one."""
    names = dict(schema.names)
    root = _retag_type(schema.root, tags, names)
    return print_schema(replace(schema, root=root, names=names), schema.outside)


def _retag_type(node: AvroType, tags: Tags, names: dict[str, NamedType]) -> AvroType:
    """A type with its tags, and those of all that it defines; definitions are put into `names` too."""
    match node:
        case AvroRecord():
            fields = tuple(_retag_field(node, index, tags, names) for index in range(len(node.fields)))
            record = replace(node, fields=fields, props=_retag_props(node.props, tags.get((node.full, -1))))
            names[node.full] = record
            return record
        case AvroArray():
            return replace(node, items=_retag_type(node.items, tags, names))
        case AvroMap():
            return replace(node, values=_retag_type(node.values, tags, names))
        case AvroUnion():
            return replace(node, branches=tuple(_retag_type(one, tags, names) for one in node.branches))
    return node


def _retag_field(record: AvroRecord, index: int, tags: Tags, names: dict[str, NamedType]) -> Field:
    field = record.fields[index]
    props = _retag_props(field.props, tags.get((record.full, index)))
    return replace(field, type=_retag_type(field.type, tags, names), props=props)


def _retag_props(props: Props, tags: tuple[str, ...] | None) -> Props:
    if tags is None:
        return props
    if not tags:
        return tuple(one for one in props if one[0] != MEMBER)
    value = cast("list[Json]", list(tags))
    if any(name == MEMBER for name, _ in props):
        return tuple((name, value if name == MEMBER else old) for name, old in props)
    return (*props, (MEMBER, value))
