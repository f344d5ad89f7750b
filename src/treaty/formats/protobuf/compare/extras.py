"""What the fields of messages do not show: enums, what is set aside, and extensions."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from treaty.formats.protobuf.compare.rules import harmless
from treaty.formats.protobuf.compare.side import MessageBody, get_local_name
from treaty.formats.protobuf.model import Enum, Field, Message, ProtoSchema, ReservedStatement
from treaty.formats.protobuf.well_known import PATHS
from treaty.formats.rule import CompatibilityRule

RuleMatches = Iterator[tuple[CompatibilityRule, str]]
"""Harmless rules and where they apply."""

Key = tuple[str, int]
"""An extension: the extended message's name without package, and a number."""

FieldPlace = tuple[MessageBody, Field]
"""A field and its parent."""

MAX = 2**31
"""A number that no range reaches."""

DESCRIPTOR = "google/protobuf/descriptor.proto"
"""The file whose messages are options of definitions, which no data holds."""


def compare_messages(reader: Message, writer: Message, path: str) -> RuleMatches:
    """Harmless differences of two messages beside their fields."""
    yield from compare_enums(reader.enums, writer.enums, path)
    new, old = (_list_extension_ranges(side) for side in (reader, writer))
    if new != old:
        yield harmless.EXTENSION_RANGE_CHANGED, path
    used = [(one.name, one.number) for one in reader.all_fields]
    yield from _find_reserved_use(used, writer.reserved, path)


def _list_extension_ranges(node: Message) -> list[tuple[int, int]]:
    return sorted((one.start, one.end) for each in node.extensions for one in each.ranges)


def compare_enums(reader: Iterable[Enum], writer: Iterable[Enum], path: str) -> RuleMatches:
    """Harmless differences of the enums of two messages or files."""
    new, old = ({one.name: one for one in side} for side in (reader, writer))
    for name in (*old, *(name for name in new if name not in old)):
        where = f"{path}/{name}"
        if name not in new or name not in old:
            yield harmless.ENUM_ADDED if name in new else harmless.ENUM_REMOVED, where
        else:
            yield from _values(new[name], old[name], where)


def _values(reader: Enum, writer: Enum, path: str) -> RuleMatches:
    new, old = ({one.number: one.name for one in side.values} for side in (reader, writer))
    for number in sorted(new.keys() | old.keys()):
        where = f"{path}/{number}"
        if number not in new or number not in old:
            yield harmless.ENUM_CONST_ADDED if number in new else harmless.ENUM_CONST_REMOVED, where
        elif new[number] != old[number]:
            yield harmless.ENUM_CONST_CHANGED, where
    yield from _find_reserved_use([(one.name, one.number) for one in reader.values], writer.reserved, path)


def _find_reserved_use(
    used: Iterable[tuple[str, int]], reserved: Sequence[ReservedStatement], path: str
) -> RuleMatches:
    if reserved:
        ranges = sorted((one.start, one.end) for each in reserved for one in each.ranges)
        names = {name for each in reserved for name in each.names}
        for name, number in used:
            at = bisect_right(ranges, (number, MAX))
            if at and ranges[at - 1][1] >= number:  # ranges of one definition do not overlap
                yield harmless.RESERVED_NUMBER_USED, f"{path}/{number}"
            if name in names:
                yield harmless.RESERVED_NAME_USED, f"{path}/{number}"


def list_extensions(schema: ProtoSchema) -> Mapping[Key, FieldPlace]:
    """The extensions that a schema and its references define, but for options of definitions."""
    extensions: dict[Key, FieldPlace] = {}
    for path, home in schema.files.items():
        if path not in PATHS:
            _extends(home, extensions)
    return extensions


def _extends(home: ProtoSchema, extensions: dict[Key, FieldPlace]) -> None:
    waiting: list[tuple[str, Message]] = [
        (home.file.package, Message("", (), (), home.file.messages, (), home.file.extends))
    ]
    while waiting:
        scope, node = waiting.pop()
        for extend in node.extends:
            symbol = home.resolve(scope, extend.extendee)
            if symbol is not None and symbol.path != DESCRIPTOR:
                body = MessageBody(home, scope, node)
                name = get_local_name(symbol.full, home.files.get(symbol.path, home))
                extensions.update({(name, field.number): (body, field) for field in extend.fields})
        inner = [*node.messages, *(one.group for one in node.all_fields if one.group is not None)]
        waiting += ((f"{scope}.{one.name}" if scope else one.name, one) for one in inner)


def list_members(schema: ProtoSchema, name: str) -> Mapping[Key, FieldPlace]:
    """The fields of a message by its name without package, in whichever file it is."""
    members: dict[Key, FieldPlace] = {}
    for home in schema.files.values():
        package = home.file.package
        full = f"{package}.{name}" if package else name
        symbol = home.symbols.get(full)
        if symbol is not None and isinstance(symbol.node, Message):
            body = MessageBody(home, full, symbol.node)
            for field in symbol.node.all_fields:
                members.setdefault((name, field.number), (body, field))
    return members
