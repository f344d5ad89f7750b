"""What in an Avro schema can have tags, and which it has."""

from collections.abc import Iterator

from treaty.core.limits import ENTITY_PATH
from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    Props,
)
from treaty.formats.format import TaggableEntity
from treaty.formats.json_printer import Json

MEMBER = "confluent:tags"
"""The member that holds the tags, a list of names."""
MALFORMED = f"its member {MEMBER} is no list of names"


def entities(schema: AvroSchema) -> Iterator[TaggableEntity]:
    """Records of the own text by full name (``acme.Order``), and their fields by name after it (``acme.Order.id``)."""
    for record in records(schema.root):
        if len(record.full) > ENTITY_PATH:
            continue
        yield _entity(record.full, "sr_record", (record.full, -1), record.props)
        for index, field in enumerate(record.fields):
            path = f"{record.full}.{field.name}"
            if len(path) <= ENTITY_PATH:
                yield _entity(path, "sr_field", (record.full, index), field.props)


def _entity(path: str, kind: str, place: tuple[str, int], props: Props) -> TaggableEntity:
    told = value_of(props)
    names = names_of(told)
    return TaggableEntity(path, kind, names or (), place, MALFORMED if names is None else "")


def value_of(props: Props) -> Json:
    """The member's value; an empty list where there is none."""
    return next((value for name, value in props if name == MEMBER), [])


def names_of(value: Json) -> tuple[str, ...] | None:
    """The names in a value, or None for one that is no list of names."""
    if not isinstance(value, list):
        return None
    names = [one for one in value if isinstance(one, str)]
    return tuple(names) if len(names) == len(value) else None


def records(root: AvroType) -> Iterator[AvroRecord]:
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
