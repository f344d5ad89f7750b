"""Typed calls of the metastore as exchanges: `Metastore` has a method for each, `AsyncMetastore` a coroutine.

A call makes the statement that says the same, so that names, types and properties are checked by the parser, and errors are its.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from treaty.core.column_types import lower_name, print_column_type
from treaty.core.column_types.tokens import print_name, split_tokens
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateType,
    Dependents,
    DescribeSource,
    DescribeType,
    DropSource,
    DropType,
    ListDependents,
    SetSourceState,
    SourceColumnChange,
    SourceFound,
    SourcesDropped,
    SourceStored,
    TypeDropped,
    TypeFound,
    TypeStored,
    UndropSource,
)
from treaty.core.refusals import Invalid
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema import Pairs
from treaty.core.sources import PAUSED, RUNNING, Source, StoredType
from treaty.metastore.columns.source_refresh import refresh_source
from treaty.metastore.definitions import create_source, source_column
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.cursor import StatementCursor
from treaty.metastore.sql.diagnostics import LineIndex, SqlDiagnostic, StatementError
from treaty.metastore.sql.heads import read_column
from treaty.metastore.sql.keywords import QUOTED_WORDS
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import (
    AddColumnsStatement,
    CreateSourceStatement,
    CreateTypeStatement,
    SetPropertiesStatement,
    SqlStatement,
)
from treaty.metastore.sql.values import HeadColumn

Columns = Mapping[str, str]
"""Names of columns and their types as in SQL, with what may follow: ``{"id": "BIGINT NOT NULL", "carrier": "STRING"}``."""
_PROPERTY = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,200}")


def create_stream(
    name: str,
    columns: Columns | None = None,
    *,
    key: Sequence[str] = (),
    query: str = "",
    comment: str = "",
    or_replace: bool = False,
    if_not_exists: bool = False,
    dry_run: bool = False,
    **properties: str | float,
) -> Exchange[SourceStored]:
    """Create a stream: ``create_stream("flights", {"id": "BIGINT", "carrier": "STRING"}, key=["id"], kafka_topic="flights",
    value_format="AVRO")``.

    Without columns they are those of the newest schema of the topic's subject. `key` names the columns of the key, `query` is
    what fills the stream, and `properties` are those of WITH, in any case. With `dry_run` nothing is written. Raises
    `InvalidStatementError` for what is no name, type or property.
    """
    head = _head("STREAM", name, columns or {}, key, properties)
    statement = replace(head, body=query, comment=comment, or_replace=or_replace, if_not_exists=if_not_exists)
    return (yield from _create(statement, dry_run=dry_run))


def create_table(
    name: str,
    columns: Columns | None = None,
    *,
    key: Sequence[str] = (),
    query: str = "",
    comment: str = "",
    or_replace: bool = False,
    if_not_exists: bool = False,
    dry_run: bool = False,
    **properties: str | float,
) -> Exchange[SourceStored]:
    """Create a table, the newest value of each key, as `create_stream` creates a stream."""
    head = _head("TABLE", name, columns or {}, key, properties)
    statement = replace(head, body=query, comment=comment, or_replace=or_replace, if_not_exists=if_not_exists)
    return (yield from _create(statement, dry_run=dry_run))


def create_type(
    name: str, definition: str, *, comment: str = "", label: str = "", if_not_exists: bool = False
) -> Exchange[TypeStored]:
    """Name a type: ``create_type("address", "STRUCT<street: STRING, zip: INT>")``. `label` is the project that it belongs to."""
    kind = read_columns({name: definition})[0].type
    _parse_again(CreateTypeStatement(name, kind, if_not_exists, comment, label))
    request = CreateType(name, print_column_type(kind), if_not_exists, comment, label=label)
    return (yield from request_answer(request))


# ------------------------------------------------------------------------------------------------------------- changes


def add_columns(name: str, columns: Columns, *, dry_run: bool = False) -> Exchange[SourceStored]:
    """Add columns to a stream or table."""
    statement = AddColumnsStatement("STREAM", name, read_columns(columns))
    changes = tuple(SourceColumnChange("add", source_column(column)) for column in statement.columns)
    return (yield from request_answer(ChangeSource(name, print_statement(statement), columns=changes, dry_run=dry_run)))


def rename(name: str, new_name: str, *, dry_run: bool = False) -> Exchange[SourceStored]:
    """Rename a stream or table; the queries that read it go along."""
    return (yield from request_answer(ChangeSource(name, rename=new_name, dry_run=dry_run)))


def set_properties(name: str, *, dry_run: bool = False, **properties: str | float) -> Exchange[SourceStored]:
    """Change properties of a stream or table: ``set_properties("flights", retention_ms=86_400_000)``."""
    statement = _parse_again(SetPropertiesStatement("STREAM", name, _pairs(properties)))
    assert isinstance(statement, SetPropertiesStatement)
    request = ChangeSource(name, print_statement(statement), properties=statement.properties, dry_run=dry_run)
    return (yield from request_answer(request))


def set_comment(name: str, comment: str) -> Exchange[SourceStored]:
    """Change the comment of a stream or table."""
    return (yield from request_answer(ChangeSource(name, comment=comment)))


def protect(name: str, is_protected: bool = True) -> Exchange[SourceStored]:  # noqa: FBT001, FBT002 (as SET PROTECTED = true)
    """Refuse to drop a stream or table, also with those that it reads; with False let it be dropped again."""
    return (yield from request_answer(ChangeSource(name, protect=is_protected)))


def refresh_schema(name: str, *, dry_run: bool = False) -> Exchange[SourceStored]:
    """Bind a stream or table to the newest version of its subject, and take its columns."""
    stored, _ = yield from refresh_source(name, f"ALTER STREAM {name} REFRESH SCHEMA", dry_run=dry_run)
    return stored


def drop(
    name: str, *, cascade: bool = False, if_exists: bool = False, delete_topic: bool = False, dry_run: bool = False
) -> Exchange[SourcesDropped]:
    """Drop a stream or table, and with `cascade` all that read it: those that are there when this is called.

    `names` of the answer are what was dropped, or with `dry_run` would be. Without `cascade` readers refuse it.
    """
    request = DropSource(name, if_exists=if_exists, cascade=cascade, delete_topic=delete_topic, dry_run=True)
    going: SourcesDropped = yield from request_answer(request)
    if dry_run:
        return going
    return (yield from request_answer(replace(request, digest=going.digest if cascade else "", dry_run=False)))


def undrop(name: str) -> Exchange[SourceStored]:
    """Bring a dropped stream or table back, within DROP_GRACE."""
    return (yield from request_answer(UndropSource(name)))


def drop_type(name: str, *, if_exists: bool = False) -> Exchange[TypeDropped]:
    """Drop a type that nothing uses."""
    return (yield from request_answer(DropType(name, if_exists)))


def pause(name: str) -> Exchange[SourceStored]:
    """Stop the query of a source; its state stays."""
    return (yield from request_answer(SetSourceState(name, PAUSED)))


def resume(name: str) -> Exchange[SourceStored]:
    """Let the query of a source continue."""
    return (yield from request_answer(SetSourceState(name, RUNNING)))


def rollback(name: str, *, cascade: bool = False, dry_run: bool = False) -> Exchange[SourceStored]:
    """Go back to the query that the last replacement of a stream or table replaced, within DROP_GRACE; with `cascade` the queries that
    follow its rows read all again.
    """
    return (yield from request_answer(ChangeSource(name, restart="ROLLBACK", cascade=cascade, dry_run=dry_run)))


def reset_checkpoint(name: str, *, cascade: bool = False, dry_run: bool = False) -> Exchange[SourceStored]:
    """Let a query read from the beginning again, into the rows that are there; with `cascade` the queries that follow its rows do so too."""
    return (yield from request_answer(ChangeSource(name, restart="RESET", cascade=cascade, dry_run=dry_run)))


def refresh(name: str, *, cascade: bool = False, dry_run: bool = False) -> Exchange[SourceStored]:
    """Let a query read all again into a new table, which takes the place of the old one once it is complete; with `cascade` the queries
    that follow its rows do so too.
    """
    return (yield from request_answer(ChangeSource(name, restart="REFRESH", cascade=cascade, dry_run=dry_run)))


# ----------------------------------------------------------------------------------------------------------- questions


def describe(name: str) -> Exchange[SourceFound]:
    """Return a stream or table with its columns and readers. Raises `SourceNotFound`."""
    return (yield from request_answer(DescribeSource(name)))


def describe_type(name: str) -> Exchange[TypeFound]:
    """Return a type, expanded, with its users. Raises `TypeNotFound`."""
    return (yield from request_answer(DescribeType(name)))


def sources(kind: str = "") -> Exchange[tuple[Source, ...]]:
    """Return all streams and tables by name; with `kind` STREAM or TABLE only those."""
    return (yield from list_sources(kind.upper()))


def queries() -> Exchange[tuple[Source, ...]]:
    """Return the streams and tables that a query fills."""
    return (yield from list_sources(queries=True))


def types() -> Exchange[tuple[StoredType, ...]]:
    """Return all named types by name."""
    return (yield from list_types())


def dependencies(name: str, *, recursive: bool = False) -> Exchange[Dependents]:
    """Return who needs a stream or table, and what it needs itself."""
    return (yield from request_answer(ListDependents(name, recursive=recursive)))


# ---------------------------------------------------------------------------------------------------------- statements


def read_columns(columns: Columns, key: Sequence[str] = ()) -> tuple[HeadColumn, ...]:
    """Return columns from their names and types. Raises `InvalidStatementError` with the errors of all types that are none,
    at their places in these types, and where a name in `key` is no column.
    """
    read, errors = [], []
    for name, text in columns.items():
        try:
            read.append(_read_column(name, text))
        except StatementError as error:
            errors.append(_diagnostic(error, name, text))
    names = {lower_name(column.name) for column in read}
    missing = [name for name in key if lower_name(name) not in names]
    if missing and not errors:
        message = f"there is no column {missing[0]} for the key"
        errors.append(SqlDiagnostic("NAME_REFUSED", message, 0, 0, 1, 1, tuple(columns)[:20]))
    if errors:
        raise InvalidStatementError.by(errors)
    keys = {lower_name(name) for name in key}
    return tuple(replace(column, role="key") if lower_name(column.name) in keys else column for column in read)


def _read_column(name: str, text: str) -> HeadColumn:
    text_of_column = f"{print_name(name, QUOTED_WORDS)} {text}"
    cursor = StatementCursor(text_of_column, split_tokens(text_of_column))
    column = read_column(cursor, "")
    cursor.need_end()
    if cursor.errors:
        raise cursor.errors[0]
    return column


def _diagnostic(error: StatementError, name: str, text: str) -> SqlDiagnostic:
    before = len(print_name(name, QUOTED_WORDS)) + 1
    start, end = max(0, error.start - before), max(0, error.end - before)
    line, place = LineIndex(text).find(start)
    message = f"column {name}: {error.message}"
    return SqlDiagnostic(error.code, message, start, end, line, place, error.expected, error.hint)


def _head(
    kind: str, name: str, columns: Columns, key: Sequence[str], properties: Mapping[str, str | float]
) -> CreateSourceStatement:
    return CreateSourceStatement(kind, name, read_columns(columns, key), _pairs(properties))


def _pairs(properties: Mapping[str, str | float]) -> Pairs:
    """Return properties as a statement has them. Raises `Invalid` for a name that can be none."""
    for name in properties:
        if not _PROPERTY.fullmatch(name):
            raise Invalid.of(
                "PROPERTY_UNKNOWN",
                f"{name!r} is no name of a property",
                path="/sql",
                new=name,
                allowed="SHOW PROPERTIES",
            )
    return tuple(
        (name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in properties.items()
    )


def _create(statement: CreateSourceStatement, *, dry_run: bool) -> Exchange[SourceStored]:
    parsed = _parse_again(statement)
    assert isinstance(parsed, CreateSourceStatement)
    stored, notes = yield from create_source(parsed, print_statement(parsed), dry_run=dry_run)
    return replace(stored, notes=(*stored.notes, *notes))


def _parse_again(statement: SqlStatement) -> SqlStatement:
    """Return a statement as its text is parsed. Raises `InvalidStatementError` with the errors of the text."""
    script = parse_script(print_statement(statement))
    if script.diagnostics:
        raise InvalidStatementError.by(script.diagnostics)
    (parsed,) = script.statements
    return parsed.value
