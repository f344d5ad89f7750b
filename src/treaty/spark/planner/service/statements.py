"""Statements with a query planned: what a body reads is looked up in a registry, and what comes out becomes a plan of the metastore."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from treaty.core.column_types import lower_name, parse_column_type, print_column_type
from treaty.core.column_types.tokens import print_name
from treaty.core.refusals import Invalid, Unavailable
from treaty.core.registry import Exchange
from treaty.core.sources import SourceColumn
from treaty.metastore.definitions import connector_of
from treaty.metastore.execution.planner import PlannedQuery
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.diagnostics import LineIndex, SqlDiagnostic
from treaty.metastore.sql.statements import CreateSourceStatement
from treaty.metastore.sql.values import HeadColumn
from treaty.spark.planner.questions import BodyPlan, BodyRefusedError, PlannerEndedError, QueryBody, ReadableSource
from treaty.spark.planner.registry_sources import find_columns, find_readable_source


class AnswersBodies(Protocol):
    """What plans bodies: `BodyPlanner` in this process, or `PlannerProcess`."""

    def list_reads(self, body: str) -> Sequence[str]:
        """Return the names that a body reads."""
        ...

    def plan(self, query: QueryBody) -> BodyPlan:
        """Return the plan of a body."""
        ...


class StatementPlanner:
    """Plans statements; it is a `Planner` of the metastore."""

    def __init__(self, bodies: AnswersBodies) -> None:
        """Plan bodies by `bodies`."""
        self._bodies = bodies

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        """Return the plan of the query of a statement.

        Raises `InvalidStatementError` with the places of errors in the body, `Unavailable` where the planner does not start, and what
        the registry refuses.
        """
        try:
            names = self._bodies.list_reads(statement.body)
            sources = []
            for name in names:
                if (source := (yield from find_readable_source(name))) is not None:
                    sources.append(source)
            planned = self._bodies.plan(_query_of(statement, tuple(sources)))
        except BodyRefusedError as refused:
            raise InvalidStatementError.by([_diagnostic(refused, statement.body)]) from None
        except PlannerEndedError as ended:
            raise Unavailable(str(ended)) from None
        reads = tuple(replace(read, source=lower_name(read.source)) for read in planned.plan.reads)
        columns = _head_columns(statement, planned)
        before = (yield from find_columns(statement.name)) if statement.or_replace else None
        if before is not None:
            columns = _loosen_new(columns, before)
        notes = (*planned.notes, *_note_lost_key(statement, sources, columns))
        return PlannedQuery(replace(planned.plan, reads=reads), columns, notes)


def _note_lost_key(
    statement: CreateSourceStatement, sources: Sequence[ReadableSource], columns: Sequence[HeadColumn]
) -> tuple[str, ...]:
    """A note on a stream in Kafka without a key whose columns have the key of what it reads: ksqlDB would keep that key."""
    in_kafka = statement.property("SINK", connector_of(statement)) == "kafka"
    if statement.kind == "TABLE" or not in_kafka or any(column.role == "key" for column in columns):
        return ()
    types = {lower_name(column.name): (print_name(column.name), print_column_type(column.type)) for column in columns}
    for source in sources:
        keys = [lower_name(column.name) for column in source.columns if column.role == "key"]
        if keys and all(key in types for key in keys):
            names = " and ".join(types[key][0] for key in keys)
            head = ", ".join(f"{' '.join(types[key])} KEY" for key in keys)
            return (f"its records have no key, and {names} is the key of {source.name}: ({head}) before AS keeps it",)
    return ()


def _query_of(statement: CreateSourceStatement, sources: tuple[ReadableSource, ...]) -> QueryBody:
    key = tuple(one.name for one in statement.columns if one.role == "key")
    unbounded = statement.property("ALLOW_UNBOUNDED_STATE") == "true"
    kind = statement.kind or "STREAM"
    return QueryBody(statement.name, kind, statement.body, sources, key, statement.final, unbounded)


def _head_columns(statement: CreateSourceStatement, planned: BodyPlan) -> tuple[HeadColumn, ...]:
    """The columns that come out, with the roles and comments that the head declares for them.

    Raises `Invalid` where the head declares what does not come out, or comes out otherwise.
    """
    declared = {lower_name(column.name): column for column in statement.columns}
    _refuse_other_columns(statement, planned)
    columns = []
    for column in planned.columns:
        own = declared.get(lower_name(column.name))
        role = column.role if own is None or own.role == "value" else own.role
        comment = column.comment if own is None else own.comment or column.comment
        columns.append(
            HeadColumn(column.name, parse_column_type(column.type), role, nullable=column.nullable, comment=comment)
        )
    return tuple(columns)


def _loosen_new(columns: tuple[HeadColumn, ...], before: Sequence[SourceColumn]) -> tuple[HeadColumn, ...]:
    """The columns of a replacing query: those that the source has not yet may be null, as records before them have none, and those that could
    be null before can be.
    """
    required = {lower_name(column.name) for column in before if not column.nullable}
    return tuple(
        column if lower_name(column.name) in required else replace(column, nullable=True) for column in columns
    )


def _refuse_other_columns(statement: CreateSourceStatement, planned: BodyPlan) -> None:
    results: dict[str, SourceColumn] = {lower_name(column.name): column for column in planned.columns}
    for column in statement.columns:
        result = results.get(lower_name(column.name))
        if result is None:
            message = f"the head has a column {column.name}, and the query gives {', '.join(column.name for column in planned.columns)}"
            raise Invalid.of("COLUMN_ABSENT", message, path="/sql", new=column.name, allowed=f"{column.name} in SELECT")
        declared = print_column_type(column.type)
        if declared != result.type:
            message = f"the head has {column.name} as {declared}, and the query gives {result.type}"
            raise Invalid.of(
                "COLUMN_CLASH",
                message,
                path="/sql",
                old=result.type,
                new=declared,
                allowed=f"CAST({column.name} AS {declared}) in the query",
            )
    key = tuple(lower_name(column.name) for column in statement.columns if column.role == "key")
    grouped = tuple(map(lower_name, planned.plan.key))
    if key and grouped and set(key) != set(grouped):
        message = f"the head has the key {', '.join(key)}, and the query has rows by {', '.join(planned.plan.key)}"
        raise Invalid.of(
            "KEY_DIFFERS",
            message,
            path="/sql",
            old=", ".join(grouped),
            new=", ".join(key),
            allowed="the key of the query, or no key in the head",
        )


def _diagnostic(refused: BodyRefusedError, body: str) -> SqlDiagnostic:
    """The error of a body with its place; one without a place is about all of it."""
    start, end = (refused.start, max(refused.end, refused.start + 1)) if refused.start >= 0 else (0, len(body))
    line, column = LineIndex(body).find(start)
    return SqlDiagnostic(refused.code, refused.message, start, end, line, column, hint=refused.hint)
