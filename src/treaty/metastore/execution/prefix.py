"""Which commands of a script a question depends on: those that name what it asks for, and what these name in turn."""

from collections.abc import Iterator, Sequence
from typing import Any

from treaty.core.column_types import list_type_names, parse_column_type
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import ScriptMember
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.sources import SourcePart
from treaty.core.state.metastore.keys import key_of_name

ANYTHING = "*"
"""What a command names that may change any source: every question depends on it."""
QUESTION_NAMES: dict[type, str] = {
    m.DescribeSource: "source",
    m.DescribeType: "type",
    GetPin: "pin",
    GetVersion: "version",
    GetSchema: "schema",
}
"""By class of question, the member of `PreviewScript` that asks it."""


def names_asked(question: Any) -> frozenset[str]:
    """Return what a question is about."""
    match question:
        case m.DescribeSource(name=name):
            return frozenset({f"source {key_of_name(name)}"})
        case m.DescribeType(name=name):
            return frozenset({f"type {key_of_name(name)}"})
        case GetPin(subject=subject) | GetVersion(subject=subject):
            return frozenset({f"subject {subject}"})
        case _:
            return frozenset()


def names_in(member: ScriptMember) -> frozenset[str]:
    """Return what the command of a script may change, and what it needs."""
    return frozenset(name for one in member.commands for name in _names(one))


def list_needed(named: Sequence[frozenset[str]], question: Any) -> tuple[int, ...]:
    """Return the places of the commands that a question depends on, from the first to the last; `named` has `names_in` each.

    The answer about a version has its schema id, which depends on all that was registered before: all commands up to the last one.
    """
    needed_names, places = set(names_asked(question)), list[int]()
    for place in range(len(named) - 1, -1, -1):
        names = named[place]
        if not names.isdisjoint(needed_names) or ANYTHING in names:
            places.append(place)
            needed_names |= names - {ANYTHING}
    if places and isinstance(question, GetPin | GetVersion):
        return tuple(range(places[0] + 1))
    return tuple(reversed(places))


def _names(command: Any) -> Iterator[str]:
    """Yield what a command may change, and what it needs."""
    match command:
        case m.CreateSource(definition=defined):
            yield from _source_names(defined.name)
            yield from _schema_names(defined.key, defined.value, command.key_schema, command.value_schema)
            yield from (name for column in defined.columns for name in _type_names(column.type))
        case m.ChangeSource():
            for name in filter(None, (command.name, command.rename, command.swap)):
                yield from _source_names(name)
            yield from _schema_names(command.key, command.value, command.key_schema, command.value_schema)
            yield from (name for change in command.columns for name in _type_names(change.column.type))
        case m.DropSource(name=name, cascade=cascade):
            yield from _source_names(name)
            yield from (ANYTHING,) * cascade
        case m.UndropSource(name=name):
            yield from (*_source_names(name), ANYTHING)
        case m.SetSourceState(name=name):
            yield from _source_names(name)
        case m.CreateType(name=name, definition=definition):
            yield f"type {key_of_name(name)}"
            yield from _type_names(definition)
        case m.DropType(name=name):
            yield f"type {key_of_name(name)}"


def _source_names(name: str) -> tuple[str, str]:
    key = key_of_name(name)
    return f"source {key}", f"source {key}_bad"


def _schema_names(*parts: SourcePart | Register | None) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Register):
            yield f"subject {part.subject}"
        elif part is not None and part.pin is not None:
            yield f"subject {Subject(part.pin.context, part.pin.subject)}"


def _type_names(text: str) -> Iterator[str]:
    yield from (f"type {name}" for name in list_type_names(parse_column_type(text)))
