"""Tags of Protobuf schemas, in Confluent's options ``message_meta`` and ``field_meta``: which there are, and a file with others."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from treaty.core.limits import ENTITY_PATH
from treaty.formats.format import TaggableEntity
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Field,
    ImportStatement,
    Message,
    ProtoFile,
    ProtoOption,
    ProtoSchema,
)
from treaty.formats.protobuf.printer.text import print_file

MESSAGE = "confluent.message_meta"
FIELD = "confluent.field_meta"
TAGS = "tags"


def list_entities(schema: ProtoSchema) -> Iterator[TaggableEntity]:
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
        yield _entity(path, "sr_record", (way, ""), _collect_tags(message.options, MESSAGE), package)
        groups = []
        for field in message.all_fields:
            full = f"{path}.{field.name}"
            if len(full) <= ENTITY_PATH:
                yield _entity(full, "sr_field", (way, field.name), _collect_tags(field.options, FIELD), package)
            if field.group is not None:
                groups.append(field.group)
        waiting += ((way, one) for one in reversed((*groups, *message.messages)))


def _entity(
    path: str, kind: str, place: tuple[tuple[str, ...], str], tags: tuple[str, ...], package: str
) -> TaggableEntity:
    return TaggableEntity(path, kind, tags, place, also=(f"{package}.{path}",) if package else ())


def _collect_tags(options: Iterable[ProtoOption], meta: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in options if is_meta(one, meta) for name in list_tags(one)))


def is_meta(option: ProtoOption, meta: str) -> bool:
    """Return whether an option is Confluent's of this name, or about a part of it; with or without the leading point."""
    return option.name[0] in (f"({meta})", f"(.{meta})")


def list_tags(option: ProtoOption) -> Iterator[str]:
    """The tags in one of Confluent's options: as a member of a message, or set by itself."""
    if option.name[1:] == (TAGS,):
        yield from _decode_names(option.value)
    elif len(option.name) == 1 and isinstance(option.value, AggregateValue):
        for member, value in option.value.members:
            if member == TAGS:
                yield from _decode_names(value)


def _decode_names(value: Constant) -> Iterator[str]:
    for name in value if isinstance(value, tuple) else (value,):
        if isinstance(name, bytes):
            yield name.decode("utf-8", "replace")


META = "confluent/meta.proto"
"""The file that defines the options. It is known to every compiler here; a text names it all the same."""
_USED = re.compile(r"(?<![\w.])\.?confluent\.(?:Meta|\w+_meta)\b")

Tags = Mapping[Hashable, tuple[str, ...]]
MessagePath = tuple[str, ...]


def write_tags(schema: ProtoSchema, tags: Tags) -> str:
    """The canonical text in which these places have these tags.

    The file that defines the options is imported where it was not, and its import goes with the last thing that uses
    it.
    """
    file = schema.file
    editor = _Editor(tags, "." if _is_name_hidden(schema) else "")
    changed = replace(file, messages=tuple(editor.message(one, ()) for one in file.messages))
    return print_file(_adjust_imports(changed, editor))


def _is_name_hidden(schema: ProtoSchema) -> bool:
    """Whether ``confluent`` may mean something else than the package of that name, where a name is looked up."""
    return "confluent" in schema.file.package.split(".") or any(one.endswith(".confluent") for one in schema.visible)


def _adjust_imports(file: ProtoFile, editor: "_Editor") -> ProtoFile:
    is_imported = any(one.path == META for one in file.imports)
    if editor.set and not is_imported:
        return replace(file, imports=(*file.imports, ImportStatement(META)))
    if is_imported and editor.emptied and not editor.set and not _uses(file):
        return replace(file, imports=tuple(one for one in file.imports if one.path != META or one.kind))
    return file


def _uses(file: ProtoFile) -> bool:
    """Whether anything still needs what the file of the options defines; in doubt it does."""
    bare = replace(file, package="", imports=())
    return file.package.split(".")[0] == "confluent" or _USED.search(print_file(bare)) is not None


class _Editor:
    """Sets tags in messages and fields, and remembers whether it set or took away any."""

    __slots__ = ("_point", "_tags", "emptied", "set")

    def __init__(self, tags: Tags, point: str) -> None:
        self._tags = tags
        self._point = point
        self.set = False
        self.emptied = False

    def message(self, message: Message, outer: MessagePath) -> Message:
        """A message with its tags, and those of all that is in it."""
        way = (*outer, message.name)
        return replace(
            message,
            options=self._options(message.options, self._tags.get((way, "")), MESSAGE),
            fields=tuple(self._field(field, way) for field in message.fields),
            oneofs=tuple(
                replace(oneof, fields=tuple(self._field(field, way) for field in oneof.fields))
                for oneof in message.oneofs
            ),
            messages=tuple(self.message(nested, way) for nested in message.messages),
        )

    def _field(self, field: Field, way: MessagePath) -> Field:
        options = self._options(field.options, self._tags.get((way, field.name)), FIELD)
        group = self.message(field.group, way) if field.group is not None else None
        return replace(field, options=options, group=group)

    def _options(
        self, options: tuple[ProtoOption, ...], tags: tuple[str, ...] | None, meta: str
    ) -> tuple[ProtoOption, ...]:
        """Options with these tags, written as the first of those that were there; as one message where none was."""
        if tags is None:
            return options
        names = tuple(one.encode() for one in tags)
        untagged: list[ProtoOption] = []
        at, parts, written = -1, False, False
        for option in options:
            if not is_meta(option, meta):
                untagged.append(option)
            elif option.name[1:] == (TAGS,):
                at, parts = len(untagged) if at < 0 else at, True
            elif len(option.name) == 1 and isinstance(option.value, AggregateValue):
                value = _with_tags(option.value, () if written else names)
                written = written or bool(names)
                if value.members or option.value.members == value.members:
                    untagged.append(replace(option, value=value))
            else:
                untagged.append(option)
                parts = True
        self.set = self.set or bool(names)
        self.emptied = self.emptied or (not names and len(untagged) < len(options))
        if written or not names:
            return tuple(untagged)
        name = next((one.name[0] for one in options if is_meta(one, meta)), f"({self._point}{meta})")
        message_option = ProtoOption((name,), AggregateValue(((TAGS, names),)))
        fresh = [ProtoOption((name, TAGS), one) for one in names] if parts else [message_option]
        at = len(untagged) if at < 0 else at
        return (*untagged[:at], *fresh, *untagged[at:])


def _with_tags(value: AggregateValue, names: tuple[bytes, ...]) -> AggregateValue:
    """A message with these tags where it had some, else as its last member."""
    members: list[tuple[str, Constant]] = []
    is_written = not names
    for member, constant in value.members:
        if member != TAGS:
            members.append((member, constant))
        elif not is_written:
            members.append((TAGS, names))
            is_written = True
    return AggregateValue(tuple(members if is_written else [*members, (TAGS, names)]))
