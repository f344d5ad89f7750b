"""Named types are created, dropped, described and listed."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.column_types import (
    SQL_TYPE_WORDS,
    ColumnTypeError,
    SqlType,
    expand_type,
    list_type_names,
    parse_column_type,
    print_column_type,
)
from treaty.core.column_types.tokens import print_name
from treaty.core.command import Command, Decision
from treaty.core.handlers.metastore.closure import describe_step, may_see, source_used, walk_closure
from treaty.core.handlers.metastore.definitions import column_type
from treaty.core.handlers.metastore.names import find_type, refuse_bad_name, refuse_taken_type, type_key, type_not_found
from treaty.core.handlers.metastore.places.topics import expired_rows
from treaty.core.messages.metastore import (
    CreateType,
    DescribeType,
    DropType,
    ExpectedType,
    ListTypes,
    TypeDropped,
    TypeFound,
    Types,
    TypeStored,
)
from treaty.core.refusals import InvalidSource, NotLatest, SourceExists, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import DroppedSource, Source, SourceColumn, StoredType
from treaty.core.state.metastore.keys import TypeKey
from treaty.core.state.metastore.tables import TYPE
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.view import ALL_KEYS, View, after


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
    rows = () if request.dry_run else (make_row(TYPE, key, row), *expired_rows(view, command.time))
    return Decision(rows, TypeStored(request.name, generation, created=True))


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
    rows = () if request.dry_run else (make_tombstone(TYPE, key), *expired_rows(view, command.time))
    return Decision(rows, TypeDropped(stored.name, dropped=True))


def describe_type(view: View, command: Command[DescribeType], engine: SchemaEngine) -> Decision[TypeFound]:
    """Return a type with its expanded definition and its users."""
    base = without_filter(view)[0]
    key, stored = find_type(view, command.request.name)
    steps = list(walk_closure(base, TYPE, key, recursive=False))
    readable = sorted({describe_step(base, step).name for step in steps if may_see(command.access, step)})
    hidden = sum(not may_see(command.access, step) for step in steps)
    return Decision(
        (), TypeFound(replace(stored, extra=()), expand_text(base, stored.definition), tuple(readable), hidden)
    )


def list_types(view: View, command: Command[ListTypes], engine: SchemaEngine) -> Decision[Types]:
    """List types by key."""
    request = command.request
    base, limit = without_filter(view)[0], max(1, min(request.limit, limits.SOURCES_PAGE))
    low, high = ALL_KEYS
    rows: list[StoredType] = []
    size, last = 0, ""
    for key in base.walk(TYPE, after((request.after,)) if request.after else low, high):
        row = base.get(TYPE, key)
        if row is None:
            continue
        size += len(row.definition) + len(row.comment) + len(row.name) + len(row.label)
        if len(rows) == limit or (rows and size > limits.SOURCES_PAGE_CHARACTERS):
            return Decision((), Types(tuple(rows), last))
        rows.append(replace(row, extra=()))
        last = key.name
    return Decision((), Types(tuple(rows)))


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


def expand_text(view: View, definition: str, path: str = "/definition") -> str:
    """Return the text of a type without named types; raises `TooLarge` where it is too deep, or has too many parts."""

    def definition_of(key: str) -> SqlType | None:
        row = view.get(TYPE, TypeKey(key))
        return None if row is None else parse_column_type(row.definition)

    try:
        return print_column_type(expand_type(parse_column_type(definition), definition_of))
    except ColumnTypeError as error:
        raise TooLarge.of(
            error.code, error.message, path=path, new=definition, allowed=", ".join(error.expected) or error.hint
        ) from None


def _refuse_built_in(name: str) -> None:
    if name.upper() in SQL_TYPE_WORDS:
        raise InvalidSource.of(
            "TYPE_NAME", f"{name} is a word of SQL's own types", path="/name", new=name, allowed="another name"
        )
