"""Each kind of statement as an exchange: the requests that it makes, and its result."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from treaty.core.column_types import print_column_type
from treaty.core.limits import RESULT_ROWS
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateType,
    DropSource,
    DropType,
    SourcesDropped,
    UndropSource,
)
from treaty.core.refusals import Incompatible, Invalid
from treaty.core.registry import Exchange, request_answer
from treaty.metastore.execution import query_changes
from treaty.metastore.execution.answers import (
    Answer,
    describe_dropped,
    describe_dropped_type,
    describe_setting,
    describe_stored,
    describe_swap,
    describe_type,
)
from treaty.metastore.execution.context import StatementContext
from treaty.metastore.execution.listings import describe, show, show_create
from treaty.metastore.execution.results import Cell, ResultRows
from treaty.metastore.sql import statements as s


def _create_source(statement: s.CreateSourceStatement, context: StatementContext) -> Exchange[Answer]:
    if statement.body:
        from treaty.metastore.execution.planned import create_planned  # noqa: PLC0415 (what plans queries)

        stored, notes = yield from create_planned(
            statement, context.text, context.planning, dry_run=context.dry_run, expected=context.expected
        )
    else:
        from treaty.metastore.definitions import create_source  # noqa: PLC0415 (it derives schemas and columns)

        stored, notes = yield from create_source(
            statement, context.text, dry_run=context.dry_run, expected=context.expected
        )
    return describe_stored(stored, context, notes)


def _drop_source(statement: s.DropSourceStatement, context: StatementContext) -> Exchange[Answer]:
    request = DropSource(
        statement.name, statement.kind, statement.if_exists, statement.cascade, statement.digest, statement.delete_topic,
        context.expected, context.dry_run,
    )  # fmt: skip
    dropped: SourcesDropped = yield from request_answer(request)
    return describe_dropped(statement, dropped, context)


def _undrop(statement: s.UndropStatement, context: StatementContext) -> Exchange[Answer]:
    request = UndropSource(statement.name, statement.kind, context.dry_run)
    return describe_stored((yield from request_answer(request)), context, created="restored")


def _create_type(statement: s.CreateTypeStatement, context: StatementContext) -> Exchange[Answer]:
    request = CreateType(
        statement.name,
        print_column_type(statement.type),
        statement.if_not_exists,
        statement.comment,
        context.dry_run,
        label=statement.label,
    )
    stored = yield from request_answer(request)
    return describe_type(stored, context)


def _drop_type(statement: s.DropTypeStatement, context: StatementContext) -> Exchange[Answer]:
    dropped = yield from request_answer(DropType(statement.name, statement.if_exists, context.dry_run))
    return describe_dropped_type(dropped, context)


# --------------------------------------------------------------------------------------------------------- changes


def _change(request: ChangeSource, context: StatementContext) -> Exchange[Answer]:
    return describe_stored((yield from request_answer(replace(request, expected=context.expected))), context)


def _add_columns(statement: s.AddColumnsStatement, context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.added_columns import plan_columns  # noqa: PLC0415 (it derives schemas)

    change, notes = yield from plan_columns(statement, context.text)
    expected = context.expected or change.expected
    try:
        stored = yield from request_answer(replace(change, expected=expected, dry_run=context.dry_run))
    except Incompatible as refused:
        strict = ", ".join(column.name for column in statement.columns if not column.nullable)
        if not strict:
            raise
        allowed = f"{strict} without NOT NULL: records that are there have no such value, and SQL says no default"
        raise Incompatible(replace(refused.reason, allowed=allowed, details=()), refused.findings) from refused
    return describe_stored(stored, context, notes)


def _rename(statement: s.RenameStatement, context: StatementContext) -> Exchange[Answer]:
    request = ChangeSource(
        statement.name, context.text, rename=statement.new_name, kind=statement.kind, dry_run=context.dry_run
    )
    return (yield from _change(request, context))


def _set_properties(statement: s.SetPropertiesStatement, context: StatementContext) -> Exchange[Answer]:
    request = ChangeSource(
        statement.name, context.text, properties=statement.properties, kind=statement.kind, dry_run=context.dry_run
    )
    return (yield from _change(request, context))


def _swap(statement: s.SwapStatement, context: StatementContext) -> Exchange[Answer]:
    request = ChangeSource(
        statement.name, context.text, kind=statement.kind, swap=statement.other, dry_run=context.dry_run
    )
    stored = yield from request_answer(replace(request, expected=context.expected))
    return describe_swap(stored, context)


def _protect(statement: s.ProtectStatement, context: StatementContext) -> Exchange[Answer]:
    request = ChangeSource(
        statement.name, context.text, protect=statement.protect, kind=statement.kind, dry_run=context.dry_run
    )
    return (yield from _change(request, context))


def _comment(statement: s.CommentStatement, context: StatementContext) -> Exchange[Answer]:
    request = ChangeSource(
        statement.name, context.text, comment=statement.comment, kind=statement.kind, dry_run=context.dry_run
    )
    return (yield from _change(request, context))


def _refresh_schema(statement: s.RefreshSchemaStatement, context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.columns.refresh import REFRESH_COLUMNS  # noqa: PLC0415 (these read schemas)
    from treaty.metastore.columns.source_refresh import refresh_source  # noqa: PLC0415 (as above)

    stored, effect = yield from refresh_source(
        statement.name, context.text, dry_run=context.dry_run, kind=statement.kind
    )
    name, message, _, notes = describe_stored(stored, context)
    return name, message, ResultRows(REFRESH_COLUMNS, list(effect.rows)), notes


# ------------------------------------------------------------------------------------------------------- questions


def _show(statement: s.ShowStatement, _context: StatementContext) -> Exchange[Answer]:
    return _rows((yield from show(statement)), statement.of)


def _describe(statement: s.DescribeStatement, _context: StatementContext) -> Exchange[Answer]:
    return _rows((yield from describe(statement)), statement.name)


def _explain(statement: s.ExplainStatement, context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.execution.explanation import explain  # noqa: PLC0415 (what plans queries)

    name, listing, notes = yield from explain(statement, context.text, context.planning)
    return name, "", listing, notes


def _show_create(statement: s.ShowCreateStatement, _context: StatementContext) -> Exchange[Answer]:
    return _rows((yield from show_create(statement)), statement.name)


def _select(statement: s.SelectStatement, _context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.execution.system_tables import select  # noqa: PLC0415 (tables, which most statements do not ask for)

    return _rows((yield from select(statement)), statement.table)


def _rows(listing: ResultRows, name: str) -> Answer:
    """Return the first RESULT_ROWS rows, with a warning where there are more."""
    if len(listing.rows) <= RESULT_ROWS:
        return name, "", listing, ()
    warning = f"only the first {RESULT_ROWS} of {len(listing.rows)} rows are here: SELECT … WHERE … LIMIT narrows them"
    return name, "", ResultRows(listing.columns, listing.rows[:RESULT_ROWS]), (warning,)


def _assert_schema(statement: s.AssertSchemaStatement, context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.execution.assertions import assert_schema  # noqa: PLC0415 (as below)

    return (yield from assert_schema(statement, context))


def _assert_topic(statement: s.AssertTopicStatement, _context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.execution.assertions import AssertFailedError  # noqa: PLC0415 (few statements assert)
    from treaty.metastore.execution.topic_statements import AwaitTopic, describe_assertion  # noqa: PLC0415 (a client of Kafka)

    what = describe_assertion(statement)
    if not (yield from request_answer(AwaitTopic(statement))):
        raise AssertFailedError.of(
            "ASSERT_FAILED",
            f"A {what} {'does not exist' if statement.exists else 'exists'}",
            path="/sql",
            new=what,
            allowed="SHOW TOPICS EXTENDED, which says what there is",
        )
    return statement.topic, f"A {what} {'exists' if statement.exists else 'does not exist'}", None, ()


def _insert(statement: s.InsertStatement, context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.records import writes  # noqa: PLC0415 (encoders of all formats)

    name, message = yield from writes.insert(statement, dry_run=context.dry_run)
    return name, message, None, ()


def _update(statement: s.UpdateStatement, context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.records import writes  # noqa: PLC0415 (encoders of all formats)

    name, message = yield from writes.update(statement, dry_run=context.dry_run)
    return name, message, None, ()


def _delete(statement: s.DeleteStatement, context: StatementContext) -> Exchange[Answer]:
    from treaty.metastore.records import writes  # noqa: PLC0415 (encoders of all formats)

    name, message = yield from writes.delete(statement, dry_run=context.dry_run)
    return name, message, None, ()


def _set(statement: Any, _context: StatementContext) -> Exchange[Answer]:
    """DEFINE, UNDEFINE, SET and UNSET: the parser has carried them out; the message says what holds in the rest of the script."""
    yield from ()
    return describe_setting(statement)


def _of_client(statement: Any, _context: StatementContext) -> Exchange[Answer]:
    """PRINT and SELECT FROM STREAM: records come from Kafka, and not from the registry."""
    yield from ()
    raise Invalid.of(
        "STATEMENT_OF_CLIENT", f"{EXECUTORS[type(statement)][0]} reads records, which a registry does not", path="/sql",
        allowed="`treaty sql --cluster main=FILE`, which reads the topic itself, and for rows of a table --files ROOT",
    )  # fmt: skip


def _later(statement: Any, _context: StatementContext) -> Exchange[Answer]:
    words = LATER_STATEMENTS[type(statement)]
    yield from ()
    raise Invalid.of("STATEMENT_LATER", f"{words[0]} is not there yet", path="/sql", new=words[0], allowed=words[1])


LATER_STATEMENTS: Mapping[type, tuple[str, str]] = {
    s.RefreshTypeStatement: ("REFRESH TYPE", "columns keep the name of a type, so they follow it")
}
"""Statements that are parsed and not carried out yet, and what does the same until then."""
EXECUTORS: Mapping[type, tuple[str, Callable[[Any, StatementContext], Exchange[Answer]]]] = {
    s.CreateSourceStatement: ("CREATE", _create_source),
    s.DropSourceStatement: ("DROP", _drop_source),
    s.UndropStatement: ("UNDROP", _undrop),
    s.CreateTypeStatement: ("CREATE TYPE", _create_type),
    s.DropTypeStatement: ("DROP TYPE", _drop_type),
    s.AddColumnsStatement: ("ALTER", _add_columns),
    s.RenameStatement: ("ALTER", _rename),
    s.SwapStatement: ("ALTER", _swap),
    s.SetPropertiesStatement: ("ALTER", _set_properties),
    s.ProtectStatement: ("ALTER", _protect),
    s.CommentStatement: ("ALTER", _comment),
    s.RefreshSchemaStatement: ("ALTER", _refresh_schema),
    s.PauseStatement: ("PAUSE", query_changes.pause),
    s.ResumeStatement: ("RESUME", query_changes.resume),
    s.RestartStatement: ("RESTART", query_changes.restart),
    s.OnceStatement: ("INSERT INTO ONCE", query_changes.insert_once),
    s.ShowStatement: ("SHOW", _show),
    s.ShowCreateStatement: ("SHOW CREATE", _show_create),
    s.DescribeStatement: ("DESCRIBE", _describe),
    s.ExplainStatement: ("EXPLAIN", _explain),
    s.SelectStatement: ("SELECT", _select),
    s.PrintStatement: ("PRINT", _of_client),
    s.SelectRecordsStatement: ("SELECT FROM STREAM", _of_client),
    s.SelectRowsStatement: ("SELECT FROM TABLE", _of_client),
    s.AssertSchemaStatement: ("ASSERT SCHEMA", _assert_schema),
    s.InsertStatement: ("INSERT", _insert),
    s.UpdateStatement: ("UPDATE", _update),
    s.DeleteStatement: ("DELETE", _delete),
    s.AssertTopicStatement: ("ASSERT TOPIC", _assert_topic),
    s.DefineStatement: ("DEFINE", _set),
    s.UndefineStatement: ("UNDEFINE", _set),
    s.SetStatement: ("SET", _set),
    s.UnsetStatement: ("UNSET", _set),
    **{kind: (words[0], _later) for kind, words in LATER_STATEMENTS.items()},
}
"""By class of statement: its first words, and what carries it out."""


def kind_of(statement: s.SqlStatement) -> str:
    """Return the first words of a statement, with STREAM, TABLE or TYPE where it says so."""
    words = EXECUTORS[type(statement)][0]
    if isinstance(statement, s.ShowStatement):
        return f"{words} {statement.listing}"
    if isinstance(statement, s.RestartStatement):
        return statement.way
    kind = getattr(statement, "kind", "")
    return f"{words} {kind}" if kind and words in {"CREATE", "DROP", "ALTER", "UNDROP"} else words


def cells_of(listing: ResultRows | None) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Return columns and rows of a listing; none without one."""
    return ((), ()) if listing is None else (listing.columns, tuple(listing.rows))


EXPECTING = (
    s.CreateSourceStatement,
    s.DropSourceStatement,
    s.AddColumnsStatement,
    s.RenameStatement,
    s.SwapStatement,
    s.SetPropertiesStatement,
    s.ProtectStatement,
    s.CommentStatement,
    s.RestartStatement,
    s.OnceStatement,
)
"""Statements that can say which generation and revision they expect."""
