"""A Protobuf file with other tags."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import replace

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
from treaty.formats.protobuf.printing.text import text
from treaty.formats.protobuf.tags.reading import FIELD, MESSAGE, TAGS, is_meta

META = "confluent/meta.proto"
"""The file that defines the options. It is known to every compiler here; a text names it all the same."""
_USED = re.compile(r"(?<![\w.])\.?confluent\.(?:Meta|\w+_meta)\b")

Tags = Mapping[Hashable, tuple[str, ...]]
Way = tuple[str, ...]


def write(schema: ProtoSchema, tags: Tags) -> str:
    """The canonical text in which these places have these tags.

    The file that defines the options is imported where it was not, and its import goes with the last thing that uses
    it.
    """
    file = schema.file
    editor = _Editor(tags, "." if _hidden(schema) else "")
    changed = replace(file, messages=tuple(editor.message(one, ()) for one in file.messages))
    return text(_imported(changed, editor))


def _hidden(schema: ProtoSchema) -> bool:
    """Whether ``confluent`` may mean something else than the package of that name, where a name is looked up."""
    return "confluent" in schema.file.package.split(".") or any(one.endswith(".confluent") for one in schema.visible)


def _imported(file: ProtoFile, editor: "_Editor") -> ProtoFile:
    there = any(one.path == META for one in file.imports)
    if editor.set and not there:
        return replace(file, imports=(*file.imports, ImportStatement(META)))
    if there and editor.emptied and not editor.set and not _uses(file):
        return replace(file, imports=tuple(one for one in file.imports if one.path != META or one.kind))
    return file


def _uses(file: ProtoFile) -> bool:
    """Whether anything still needs what the file of the options defines; in doubt it does."""
    bare = replace(file, package="", imports=())
    return file.package.split(".")[0] == "confluent" or _USED.search(text(bare)) is not None


class _Editor:
    """Sets tags in messages and fields, and remembers whether it set or took away any."""

    __slots__ = ("_point", "_tags", "emptied", "set")

    def __init__(self, tags: Tags, point: str) -> None:
        self._tags = tags
        self._point = point
        self.set = False
        self.emptied = False

    def message(self, message: Message, outer: Way) -> Message:
        """A message with its tags, and those of all that is in it."""
        way = (*outer, message.name)
        return replace(
            message,
            options=self._options(message.options, self._tags.get((way, "")), MESSAGE),
            fields=tuple(self._field(one, way) for one in message.fields),
            oneofs=tuple(
                replace(one, fields=tuple(self._field(each, way) for each in one.fields)) for one in message.oneofs
            ),
            messages=tuple(self.message(one, way) for one in message.messages),
        )

    def _field(self, field: Field, way: Way) -> Field:
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
        kept: list[ProtoOption] = []
        at, parts, written = -1, False, False
        for option in options:
            if not is_meta(option, meta):
                kept.append(option)
            elif option.name[1:] == (TAGS,):
                at, parts = len(kept) if at < 0 else at, True
            elif len(option.name) == 1 and isinstance(option.value, AggregateValue):
                value = _with(option.value, () if written else names)
                written = written or bool(names)
                if value.members or option.value.members == value.members:
                    kept.append(replace(option, value=value))
            else:
                kept.append(option)
                parts = True
        self.set = self.set or bool(names)
        self.emptied = self.emptied or (not names and len(kept) < len(options))
        if written or not names:
            return tuple(kept)
        name = next((one.name[0] for one in options if is_meta(one, meta)), f"({self._point}{meta})")
        whole = ProtoOption((name,), AggregateValue(((TAGS, names),)))
        fresh = [ProtoOption((name, TAGS), one) for one in names] if parts else [whole]
        at = len(kept) if at < 0 else at
        return (*kept[:at], *fresh, *kept[at:])


def _with(value: AggregateValue, names: tuple[bytes, ...]) -> AggregateValue:
    """A message with these tags where it had some, else as its last member."""
    members: list[tuple[str, Constant]] = []
    done = not names
    for member, one in value.members:
        if member != TAGS:
            members.append((member, one))
        elif not done:
            members.append((TAGS, names))
            done = True
    return AggregateValue(tuple(members if done else [*members, (TAGS, names)]))
