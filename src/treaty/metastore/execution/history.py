"""Where rows come from: the queries that have filled a source, by the number that their rows and checkpoints carry."""

from collections.abc import Iterator
from datetime import UTC, datetime

from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import Invalid, NotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Incarnation, Source, SourcePart, SourceRead
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.results import Cell, ResultRows

HISTORY_COLUMNS = ("incarnation", "revision", "state", "start", "author", "time", "schema_ids", "reads", "statement")
"""`incarnation` is the number of rows and checkpoints, `schema_ids` are those of key and value, `reads` the sources with the schema ids
that they were read by.
"""


def show_history(name: str) -> Exchange[ResultRows]:
    """Return the query of a source and those before it, the newest first, as far as they are kept. Raises `Invalid` without a query."""
    listing = ResultRows(HISTORY_COLUMNS)
    for row in _list_rows((yield from _find_source(name))):
        listing.add(*row)
    return listing


def list_history(name: str) -> Exchange[list[dict[str, Cell]]]:
    """Return the rows of `show_history` by the names of their columns, with times in ISO 8601."""
    return [_name_cells(row) for row in _list_rows((yield from _find_source(name)))]


def find_incarnation(name: str, number: int) -> Exchange[dict[str, Cell]]:
    """Return the newest row of the history of a source that is of an incarnation. Raises `NotFound` where it is not kept any more."""
    source = yield from _find_source(name)
    for row in _list_rows(source):
        if row[0] == number:
            return _name_cells(row)
    numbers = ", ".join(sorted({str(row[0]) for row in _list_rows(source)}))
    raise NotFound.of(
        "INCARNATION_NOT_FOUND", f"{source.name} keeps no incarnation {number}", path="/incarnation", new=str(number),
        allowed=f"one of {numbers}; former ones are kept for DROP_GRACE, INCARNATIONS of them at most",
    )  # fmt: skip


def _name_cells(row: tuple[Cell, ...]) -> dict[str, Cell]:
    named = dict(zip(HISTORY_COLUMNS, row, strict=True))
    return {**named, "time": datetime.fromtimestamp(int(str(named["time"])) / 1_000, UTC).isoformat()}


def _find_source(name: str) -> Exchange[Source]:
    source = (yield from request_answer(DescribeSource(name))).source
    if source.query is None:
        raise Invalid.of(
            "QUERY_ABSENT", f"{source.name} has no query: records come into it from outside", path="/sql", new=source.name,
            allowed="a stream or table that was made with AS",
        )  # fmt: skip
    return source


def _list_rows(source: Source) -> Iterator[tuple[Cell, ...]]:
    assert source.query is not None, "a source without a query has no history"
    yield _row(source.query, source.desired, source.statement, source.key, source.value)
    for former in source.previous:
        was = former.definition
        if was is not None:
            yield _row(former, "FORMER", was.statement, was.key, was.value)
    for once in source.once:
        query = Incarnation(once.began, 1, once.plan, once.author, once.time, "ONCE")
        yield _row(query, "ONCE", once.statement, source.key, source.value)


def _name_of(read: SourceRead) -> str:
    """The name of a source as the statement has it, and its name of now where that is another one."""
    name = read.spelling or read.source
    return name if key_of_name(name) == key_of_name(read.source) else f"{name}, now {read.source}"


def _row(
    query: Incarnation, state: str, statement: str, key: SourcePart | None, value: SourcePart | None
) -> tuple[Cell, ...]:
    ids = [str(part.pin.schema_id) for part in (key, value) if part is not None and part.pin is not None]
    reads = [
        f"{_name_of(read)} ({', '.join(str(pin.schema_id) for pin in (read.key, read.value) if pin is not None) or 'no schema'})"
        for read in query.plan.reads
    ]
    start = query.start or "FIRST"
    return (
        query.began, query.revision, state, f"ROLLBACK to {start}" if query.resumed else start, query.author, query.time,
        ", ".join(ids), ", ".join(reads), statement,
    )  # fmt: skip
