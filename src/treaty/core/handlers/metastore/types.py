"""Named types are created and dropped, and what uses them is held to them."""

import hashlib
from collections.abc import Sequence

from treaty.core import limits
from treaty.core.column_types import SQL_TYPE_WORDS, list_type_names, parse_column_type, print_column_type
from treaty.core.column_types.tokens import print_name
from treaty.core.command import Command, Decision
from treaty.core.handlers.metastore.closure import describe_step, may_see, source_used, walk_closure
from treaty.core.handlers.metastore.definitions import column_type
from treaty.core.handlers.metastore.names import (
    expand_text,
    find_type,
    refuse_bad_name,
    refuse_taken_type,
    type_key,
    type_not_found,
)
from treaty.core.handlers.metastore.places.topics import expired_rows
from treaty.core.messages.metastore.sources import CreateType, DropType, ExpectedType, TypeDropped, TypeStored
from treaty.core.refusals import InvalidSource, NotLatest, SourceExists, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import DroppedSource, Source, SourceColumn, StoredType
from treaty.core.state.metastore.keys import TypeKey
from treaty.core.state.metastore.tables import TYPE
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.view import View


def create_type(view: View, command: Command[CreateType], engine: SchemaEngine) -> Decision[TypeStored]:
    """Name a SQL type."""
    request = command.request
    refuse_bad_name(request.name, "TYPE_NAME", "/name")
    _refuse_built_in(request.name)
    if len(request.label) > limits.NAME_LENGTH:
        allowed = f"at most {limits.NAME_LENGTH} characters"
        raise TooLarge.of(
            "NAME_LENGTH", "The label is too long", path="/label", new=request.label[:100], allowed=allowed
        )
    type_ = column_type(request.definition, "TYPE_TEXT", "/definition")
    key = type_key(request.name)
    stored = view.get(TYPE, key)
    if stored is not None:
        if request.if_not_exists:
            return Decision((), TypeStored(stored.name, stored.generation))
        raise SourceExists.of(
            "TYPE_EXISTS",
            f"There is a type {stored.name} already",
            path="/name",
            old=f"{stored.name} AS {stored.definition}",
            new=request.name,
            allowed="another name, or IF NOT EXISTS",
        )
    refuse_taken_type(view, request.name)
    if view.count(TYPE, ()) >= limits.TYPES:
        raise TooLarge.of("TYPES", "There are too many types", allowed=f"at most {limits.TYPES}; drop unused ones")
    used = tuple(sorted(list_type_names(type_)))
    if key.name in used:
        raise InvalidSource.of(
            "TYPE_ITSELF",
            f"The type {request.name} contains itself",
            path="/definition",
            new=request.definition,
            allowed="a type that exists already",
        )
    for name in used:
        if view.get(TYPE, TypeKey(name)) is None:
            raise type_not_found(name, "/definition")
    definition = print_column_type(type_)
    expand_text(view, definition)
    generation = view.sequence + 1
    row = StoredType(
        request.name, definition, generation, used, request.comment, command.principal, command.time, request.label
    )
    rows = (make_row(TYPE, key, row), *expired_rows(view, command.time))
    return Decision(rows, TypeStored(request.name, generation, created=True), rehearsal=request.dry_run)


def drop_type(view: View, command: Command[DropType], engine: SchemaEngine) -> Decision[TypeDropped]:
    """Drop a type that nothing uses."""
    request = command.request
    if request.if_exists and view.get(TYPE, type_key(request.name)) is None:
        return Decision((), TypeDropped(request.name))
    key, stored = find_type(view, request.name)
    steps = list(walk_closure(view, TYPE, key, recursive=False))
    if steps:
        readable = sorted({describe_step(view, step).name for step in steps if may_see(command.access, step)})
        raise source_used(
            "TYPE_USED",
            f"The type {stored.name} is used by",
            readable,
            sum(not may_see(command.access, step) for step in steps),
            old=stored.name,
            allowed="drop or change what uses it first",
        )
    rows = (make_tombstone(TYPE, key), *expired_rows(view, command.time))
    return Decision(rows, TypeDropped(stored.name, dropped=True), rehearsal=request.dry_run)


def refuse_unfit_columns(view: View, columns: Sequence[SourceColumn]) -> None:
    """Raise `TypeNotFound` for a named type that does not exist, and `TooLarge` for columns that are too deep with it."""
    types: set[str] = set()
    for place, column in enumerate(columns):
        if column.type in types:
            continue
        types.add(column.type)
        path = f"/definition/columns/{place}/type"
        for name in list_type_names(parse_column_type(column.type)):
            if view.get(TYPE, TypeKey(name)) is None:
                raise type_not_found(name, path)
        expand_text(view, column.type, path)


def refuse_other_types(view: View, types: Sequence[ExpectedType]) -> None:
    """Raise `TypeNotFound` or `NotLatest` for a user type that is gone, or another one, since a request was made with it."""
    for place, expected in enumerate(types):
        stored = view.get(TYPE, type_key(expected.name))
        if stored is None:
            raise type_not_found(expected.name, f"/types/{place}")
        if stored.generation != expected.generation:
            raise NotLatest.of(
                "TYPE_GENERATION",
                f"The type {stored.name} was dropped and created again since the statement was read",
                path=f"/types/{place}",
                old=str(stored.generation),
                new=str(expected.generation),
                allowed="send the statement again, and plan its query again",
            )


def digest_types(view: View, source: Source) -> tuple[str, ...]:
    """Return a digest for each named type of a source: the first 16 hex digits of the SHA-256 over its text, written out. Empty
    for one that is missing.
    """
    rows = (view.get(TYPE, TypeKey(name)) for name in source.types)
    texts = (None if row is None else expand_text(view, row.definition) for row in rows)
    return tuple("" if text is None else hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts)


def refuse_replaced_types(view: View, gone: DroppedSource) -> None:
    """Raise `NotLatest` for a named type that means another thing than when a source was dropped."""
    for name, then, now in zip(gone.source.types, gone.types, digest_types(view, gone.source), strict=True):
        if then != now:
            stored = view.get(TYPE, TypeKey(name))
            assert stored is not None, f"type {name} is missing"
            raise NotLatest.of(
                "TYPE_GENERATION",
                f"The type {stored.name} is another one since {gone.source.name} was dropped",
                path="/name",
                old=f"digest {then}",
                new=f"{stored.name} AS {stored.definition}",
                allowed=f"DROP TYPE {print_name(stored.name)} and create it as it was; or CREATE {print_name(gone.source.name)} again",
            )


def _refuse_built_in(name: str) -> None:
    if name.upper() in SQL_TYPE_WORDS:
        raise InvalidSource.of(
            "TYPE_NAME", f"{name} is a word of SQL's own types", path="/name", new=name, allowed="another name"
        )
