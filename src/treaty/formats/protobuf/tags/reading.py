"""What in a Protobuf file can have tags, and which it has."""

from collections.abc import Iterable, Iterator

from treaty.core.limits import ENTITY_PATH
from treaty.formats.format import TaggableEntity
from treaty.formats.protobuf.model import AggregateValue, Constant, Message, ProtoOption, ProtoSchema

MESSAGE = "confluent.message_meta"
FIELD = "confluent.field_meta"
TAGS = "tags"


def entities(schema: ProtoSchema) -> Iterator[TaggableEntity]:
    """Messages by their names inside each other (``Order.Line``), and their fields (``Order.Line.id``).

    The package is left out, as Confluent leaves it out; paths that begin with it are understood too.
    """
    package = schema.file.package
    waiting: list[tuple[tuple[str, ...], Message]] = [((), one) for one in reversed(schema.file.messages)]
    while waiting:
        outer, message = waiting.pop()
        way = (*outer, message.name)
        path = ".".join(way)
        if len(path) > ENTITY_PATH:
            continue
        yield _entity(path, "sr_record", (way, ""), _tags(message.options, MESSAGE), package)
        groups = []
        for field in message.all_fields:
            full = f"{path}.{field.name}"
            if len(full) <= ENTITY_PATH:
                yield _entity(full, "sr_field", (way, field.name), _tags(field.options, FIELD), package)
            if field.group is not None:
                groups.append(field.group)
        waiting += ((way, one) for one in reversed((*groups, *message.messages)))


def _entity(
    path: str, kind: str, place: tuple[tuple[str, ...], str], tags: tuple[str, ...], package: str
) -> TaggableEntity:
    return TaggableEntity(path, kind, tags, place, also=(f"{package}.{path}",) if package else ())


def _tags(options: Iterable[ProtoOption], meta: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in options if is_meta(one, meta) for name in tags_of(one)))


def is_meta(option: ProtoOption, meta: str) -> bool:
    """Tell whether an option is Confluent's of this name, or about a part of it; with or without the leading point."""
    return option.name[0] in (f"({meta})", f"(.{meta})")


def tags_of(option: ProtoOption) -> Iterator[str]:
    """The tags in one of Confluent's options: as a member of a message, or set by itself."""
    if option.name[1:] == (TAGS,):
        yield from _names(option.value)
    elif len(option.name) == 1 and isinstance(option.value, AggregateValue):
        for member, value in option.value.members:
            if member == TAGS:
                yield from _names(value)


def _names(value: Constant) -> Iterator[str]:
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, bytes):
            yield one.decode("utf-8", "replace")
