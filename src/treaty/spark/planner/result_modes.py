"""In which mode a query gives its rows, what their key is, and what is refused since no mode is right."""

from collections.abc import Sequence
from dataclasses import dataclass

from treaty.core.column_types.tokens import print_name, split_tokens
from treaty.spark.planner.analyzed_check import has_filter_above, is_streaming, list_aggregates
from treaty.spark.planner.errors import refuse
from treaty.spark.planner.keys import find_group_key, find_table_key
from treaty.spark.planner.parsed_check import find_source
from treaty.spark.planner.pseudo_columns import PSEUDO
from treaty.spark.planner.questions import BodyRefusedError, QueryBody, ReadableSource
from treaty.spark.planner.stream_checks import StreamChecks
from treaty.spark.planner.trees import TreeNode

APPEND, UPDATE = "append", "update"


@dataclass(frozen=True, slots=True)
class ResultMode:
    """The output mode of Spark, the key's columns, whether the body has a table's changes as its rows, and notes for the user."""

    output: str
    key: tuple[str, ...] = ()
    is_table: bool = False
    notes: tuple[str, ...] = ()


def choose_mode(checks: StreamChecks, query: QueryBody, columns: Sequence[str]) -> ResultMode:
    """Return the mode of a body. Raises `BodyRefusedError` where none is right."""
    if not is_streaming(checks.tree):
        return ResultMode(UPDATE, find_table_key(checks.tree, query.sources[0], columns), is_table=True)
    if not query.is_unbounded and checks.has_endless_join():
        raise _refuse_endless(checks, query)
    aggregates = list_aggregates(checks.tree)
    if aggregates:
        return _choose_grouped(checks, query, aggregates[0], columns)
    _refuse_impossible(checks, query, APPEND)
    note = ("EMIT FINAL changes nothing: the query does not group, so each row comes once",) if query.is_final else ()
    if query.kind == "TABLE":
        return ResultMode(APPEND, _declared_key(query, columns), notes=note)
    return ResultMode(APPEND, notes=note)


def _refuse_endless(checks: StreamChecks, query: QueryBody) -> BodyRefusedError:
    """The refusal of a join of streams that keeps all rows of a side: it lacks watermarks, else a bound."""
    tokens = split_tokens(query.text)
    lacking_names = checks.list_without_watermark()
    lacking = [source for source in query.sources if source.name.lower() in lacking_names]
    if lacking:
        names = " and ".join(source.name for source in lacking)
        forms = ", ".join(
            f"STREAM {print_name(source.name)} WATERMARK {_name_time(source)} DELAY OF INTERVAL 10 MINUTES AS …"
            for source in lacking
        )
        hint = f"FROM or JOIN {forms}: before the alias, and with b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR in ON; or ALLOW_UNBOUNDED_STATE = true"
        message = f"{names} {'has' if len(lacking) == 1 else 'have'} no WATERMARK: a join of two streams keeps all their rows for ever without one on both"
        return BodyRefusedError("STATE_UNBOUNDED", message, hint, *find_source(tokens, lacking[0].name))
    joins = [token for token in tokens if token.keyword == "JOIN"]
    return BodyRefusedError(
        "STATE_UNBOUNDED",
        "a join of two streams without a bound in time keeps all their rows for ever",
        "b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR in ON, of the columns that the WATERMARK of both sides names; or ALLOW_UNBOUNDED_STATE = true",
        *((joins[0].start, joins[0].end) if len(joins) == 1 else (-1, -1)),
    )


def _name_time(source: ReadableSource) -> str:
    """The column of a source that can be a watermark: the first time, else that of its records."""
    times = [
        column.name
        for column in source.columns
        if column.type.upper().startswith("TIMESTAMP") and column.role != PSEUDO
    ]
    return print_name(times[0]) if times else "_timestamp"


def _choose_grouped(checks: StreamChecks, query: QueryBody, aggregate: TreeNode, columns: Sequence[str]) -> ResultMode:
    """Groups come each time they change, or once when the watermark has passed them."""
    can_append = checks.find_error(APPEND) is None
    can_update = checks.find_error(UPDATE) is None
    if not can_append and not can_update:
        _refuse_impossible(checks, query, UPDATE)
    if query.is_final and not can_append:
        raise BodyRefusedError(
            "FINAL_WITHOUT_WATERMARK",
            "EMIT FINAL gives a group when it can't change any more, and no watermark says when that is",
            "WATERMARK ts DELAY OF INTERVAL 10 SECONDS behind the stream, and window(ts, '1 minute') in GROUP BY",
        )
    notes: tuple[str, ...] = ()
    append = query.is_final or not can_update
    if has_filter_above(checks.tree, aggregate) and not append:
        if not can_append:
            raise BodyRefusedError(
                "HAVING_TAKEN_BACK",
                "a row that HAVING, or a condition above the groups, takes away later would stay in the table",
                "the condition where the table is read, or in a second query over it",
            )
        append = True
        notes = ("groups come once, when the watermark has passed them: a condition above them could take rows back",)
    if query.kind != "TABLE" and not append:
        raise BodyRefusedError(
            "GROUPS_CHANGE",
            "the groups of the query change, so it makes a table",
            f"CREATE TABLE {query.name} AS …; or EMIT FINAL with a watermark",
        )
    key = find_group_key(checks.tree, aggregate, columns) if query.kind == "TABLE" else ()
    if not can_append:
        notes = (*notes, "the state has a group for each key that ever came: it grows with the number of keys")
    return ResultMode(APPEND if append else UPDATE, key, notes=notes)


def _declared_key(query: QueryBody, columns: Sequence[str]) -> tuple[str, ...]:
    if not query.key:
        raise BodyRefusedError(
            "KEY_MISSING",
            f"{query.name} is a table, and nothing says what its key is",
            f"CREATE TABLE {query.name} ({columns[0]} … PRIMARY KEY) AS …; GROUP BY; or CREATE STREAM",
        )
    return query.key


def _refuse_impossible(checks: StreamChecks, query: QueryBody, mode: str) -> None:
    error = checks.find_error(mode)
    if error is not None:
        raise refuse(error, query.text, "STREAM_REFUSED")
