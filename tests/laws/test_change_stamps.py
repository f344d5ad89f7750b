"""Who changed a source, and when, is said by its row, whichever command writes it: so are the author of a query and of a drop."""

from typing import Any

import pytest

from tests.laws.timed import TimedBench
from treaty.core.command import Decision
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    DropSource,
    SetSourceState,
    SourceColumnChange,
    SourceDefinition,
    UndropSource,
)
from treaty.core.messages.request import Request
from treaty.core.sources import DroppedSource, QueryPlan, Source, SourceColumn, SourceRead, StateFingerprint
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE

COLUMNS = (SourceColumn("id", "INT"),)
DAY = 86_400_000


def define(name: str, **members: Any) -> CreateSource:
    more = {name: members.pop(name) for name in ("on_change", "once") if name in members}
    return CreateSource(SourceDefinition(name, "STREAM", "", COLUMNS, **{"connector": "delta", "place": name, **members}), replace=True, **more)  # fmt: skip


def select(name: str, read: str, generation: int, *, body: str = "", state: str = "", **members: Any) -> CreateSource:
    reads = (SourceRead(read, generation, read),)
    query = QueryPlan(body or f"SELECT id FROM {read}", reads, fingerprint=StateFingerprint(state, state))
    return define(name, query=query, **members)


@pytest.fixture
def bench() -> TimedBench:
    """b reads a, and c reads b; d stands alone, e was dropped with its bad rows; all of that is old."""
    bench = TimedBench()
    bench.principal = "user:z"
    bench.do(define("a", bad_rows=True))
    bench.do(select("b", "a", 1))
    bench.do(select("c", "b", 2))
    bench.do(define("d"))
    bench.do(define("e", bad_rows=True))
    bench.do(DropSource("e"))
    bench.now, bench.principal = bench.now + DAY, "user:a"
    return bench


COMMANDS: dict[str, Request[Any]] = {
    "create": define("f"),
    "create with bad rows": define("f", bad_rows=True),
    "create a query": select("f", "a", 1),
    "bad rows of a source that is there": define("d", bad_rows=True),
    "replace": define("d", comment="other"),
    "replace a query": select("b", "a", 1, body="SELECT id + 1 AS id FROM a"),
    "replace a query by another one": select("c", "b", 2, state="s", on_change="BACKFILL"),
    "replace a chain": select("b", "a", 1, state="s", on_change="CASCADE"),
    "comment": ChangeSource("d", comment="other"),
    "protect": ChangeSource("d", protect=True),
    "columns": ChangeSource("d", columns=(SourceColumnChange("add", SourceColumn("more", "INT")),)),
    "rename": ChangeSource("a", rename="z"),
    "swap": ChangeSource("d", swap="a"),
    "pause": SetSourceState("b", "PAUSED"),
    "reset": ChangeSource("c", restart="RESET"),
    "reset of a chain": ChangeSource("b", restart="RESET", cascade=True),
    "refresh of a chain": ChangeSource("b", restart="REFRESH", cascade=True),
    "once": select("b", "a", 1, body="SELECT 7 AS id FROM a", once=True),
    "drop": DropSource("d"),
    "drop with bad rows": DropSource("a", cascade=True),
    "undrop": UndropSource("e"),
}


def check_queries(before: Source | None, after: Source, now: int) -> None:
    """What is new of queries is of this command, and what was there is as it was."""
    old = () if before is None else (before.query, *before.previous)
    known = {(query.began, query.revision): query for query in old if query is not None}
    for query in filter(None, (after.query, *after.previous)):
        former = known.get((query.began, query.revision))
        expected = ("user:a", now) if former is None else (former.author, former.time)
        assert (query.author, query.time) == expected
    for once in after.once:
        if before is None or once not in before.once:
            assert (once.author, once.time) == ("user:a", now)


@pytest.mark.parametrize("what", COMMANDS)
def test_each_row_says_who_changed_it_last_and_when(bench: TimedBench, what: str) -> None:
    request = COMMANDS[what]
    if isinstance(request, DropSource) and request.cascade:
        digest = bench.do(request).digest
        request = DropSource(request.name, cascade=True, digest=digest)
    verdict = bench.verdict(request, "asked")
    assert isinstance(verdict, Decision)
    tables = bench.tables
    rows = {key.name: tables.get(SOURCE, key) for key in tables.keys(SOURCE)}
    by_generation = {(row.generation, row.origin != ""): row for row in rows.values() if row is not None}
    source_rows = [row for row in verdict.rows if isinstance(row.value, Source)]
    for row in source_rows:
        after = row.value
        assert isinstance(after, Source)
        before = by_generation.get((after.generation, after.origin != ""))
        if before is None and not after.former:
            assert (after.author, after.time, after.changed_by, after.changed) == ("user:a", bench.now, "", 0)
        elif before is None or before.origin == after.origin:
            assert (after.changed_by, after.changed) == ("user:a", bench.now), row.key
            assert (after.author, after.time) == ("user:z", bench.now - DAY), "who created it stays"
        check_queries(before, after, bench.now)
    for gone in (row.value for row in verdict.rows if isinstance(row.value, DroppedSource)):
        assert (gone.author, gone.time, gone.source) == ("user:a", bench.now, rows[SourceKey(gone.source.name).name])
    assert source_rows or isinstance(request, DropSource)
