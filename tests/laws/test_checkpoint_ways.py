"""Which checkpoint a changed query has, by what the change is of: its sources, its state, its columns, or none of these."""

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.timed import TimedBench
from treaty.core import limits
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    DropSource,
    SourceDefinition,
    UndropSource,
)
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.sources import Incarnation, QueryPlan, Source, SourceColumn, SourceRead, StateFingerprint
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE

K, N = SourceColumn("k", "STRING", role="key"), SourceColumn("n", "INT")
STATE = StateFingerprint("p", "s")
A, B = SourceRead("a", 1, "a"), SourceRead("b", 2, "b")
PLAN = QueryPlan("SELECT 1", (A, B), "append", ("k", "n"), STATE, state=(("key", "k"),))


def define(name: str, *columns: SourceColumn, **members: Any) -> CreateSource:
    kind, on_change = members.pop("kind", "STREAM"), members.pop("on_change", "")
    definition = SourceDefinition(name, kind, "", columns or (K, N), **{"place": name, **members})
    return CreateSource(definition, replace=True, on_change=on_change)


def query(plan: QueryPlan = PLAN, *columns: SourceColumn, connector: str = "delta", **members: Any) -> CreateSource:
    return define("q", *columns, connector=connector, query=plan, **members)


def row(bench: TimedBench, name: str = "q") -> Source:
    source = bench.tables.get(SOURCE, SourceKey(name))
    assert source is not None
    return source


def query_of(bench: TimedBench, name: str = "q") -> Incarnation:
    incarnation = row(bench, name).query
    assert incarnation is not None
    return incarnation


@pytest.fixture
def bench() -> TimedBench:
    """q reads the changes of a and b, and keeps state."""
    bench = TimedBench()
    bench.do(define("a"))
    bench.do(define("b"))
    bench.do(query())
    return bench


def rule_of(bench: TimedBench, request: Request[Any]) -> str:
    verdict = bench.verdict(request, "asked")
    return verdict.reason.rule if isinstance(verdict, Refusal) else ""


PLANS: dict[str, tuple[QueryPlan, str, str]] = {
    "the same": (PLAN, "same", ""),
    "the same in other words": (replace(PLAN, state=(("key", "K"),)), "same", ""),
    "another body": (replace(PLAN, body="SELECT 2"), "compatible", ""),
    "another order of the key": (replace(PLAN, key=("N", "k")), "compatible", ""),
    "another key": (replace(PLAN, key=("k",)), "stateful change", "QUERY_STATE"),
    "other state": (replace(PLAN, fingerprint=StateFingerprint("p2", "s")), "stateful change", "QUERY_STATE"),
    "other stores": (replace(PLAN, fingerprint=StateFingerprint("p", "s2")), "stateful change", "QUERY_STATE"),
    "rows of groups at each change": (replace(PLAN, output_mode="update"), "stateful change", "QUERY_STATE"),
    "another source": (replace(PLAN, reads=(A,)), "source change", "QUERY_SOURCES"),
    "another source, and other state": (
        replace(PLAN, reads=(A,), fingerprint=StateFingerprint()), "source change", "QUERY_SOURCES",
    ),
    "rows in place of changes": (replace(PLAN, reads=(A, replace(B, mode="table"))), "source change", "QUERY_SOURCES"),
    "another order of sources": (replace(PLAN, reads=(B, A)), "source change", "QUERY_SOURCES"),
    "another order with the same places": (replace(PLAN, reads=(replace(B, places=(1,)), replace(A, places=(0,)))), "compatible", ""),
    "other places": (replace(PLAN, reads=(replace(A, places=(1,)), replace(B, places=(0,)))), "source change", "QUERY_SOURCES"),
    "a source twice": (replace(PLAN, reads=(replace(A, places=(0, 2)), replace(B, places=(1,)))), "source change", "QUERY_SOURCES"),
}  # fmt: skip
"""By what is changed: the plan, what an assessment says of it, and the rule that refuses it without ON_CHANGE."""


@pytest.mark.parametrize("what", PLANS)
def test_a_changed_query_continues_unless_its_sources_or_state_are_others(bench: TimedBench, what: str) -> None:
    plan, kind, rule = PLANS[what]
    began = query_of(bench).began
    assessment = bench.do(replace(query(plan), assess=True)).assessment
    assert assessment is not None
    assert (assessment.kind, assessment.refused, bool(assessment.ways)) == (kind, bool(rule), bool(rule))
    verdict = bench.verdict(query(plan), "asked")
    if rule:
        assert isinstance(verdict, Refusal)
        path = "/definition/query/reads" if rule == "QUERY_SOURCES" else "/definition/query"
        assert (verdict.reason.rule, verdict.reason.path) == (rule, path)
    for number, on_change in enumerate(("EMPTY", "BACKFILL", "CASCADE"), 2):
        bench = bench_with_query()
        bench.do(query(plan, on_change=on_change))
        start = {"CASCADE": "BACKFILL"}.get(on_change, on_change) if rule else ""
        new = query_of(bench)
        assert (new.start, new.began != began, new.after) == (start, bool(rule), began if rule else 0), number
        assert new.revision == (1 if kind == "same" else 2)
        assert len(row(bench).previous) == (kind != "same")


def bench_with_query() -> TimedBench:
    bench = TimedBench()
    for request in (define("a"), define("b"), query()):
        bench.do(request)
    return bench


def test_a_source_that_is_read_back_and_forth_counts_each_time(bench: TimedBench) -> None:
    twice = replace(PLAN, reads=(replace(A, places=(0, 2)), replace(B, places=(1,))))
    bench.do(query(twice, on_change="EMPTY"))
    assert rule_of(bench, query(PLAN)) == "QUERY_SOURCES"
    assessment = bench.do(replace(query(PLAN), assess=True)).assessment
    assert assessment is not None
    assert assessment.reasons[0].endswith("each time with offsets of its own: 2 → 1")


TYPES = {
    "delta": (True, ("ON_CHANGE = 'backfill'", "ON_CHANGE = 'cascade'")), "iceberg": (True, ()), "files": (False, ()), "kafka": (False, ()),
}  # fmt: skip
"""By connector: whether rows of another type can't stand beside those that are there, and the ways of all rows anew."""


@pytest.mark.parametrize("connector", TYPES)
@pytest.mark.parametrize(
    "inside", ["{}", "ARRAY<STRUCT<a: {}>>", "MAP<STRING, STRUCT<a: {}>>", "MAP<{}, STRUCT<a: INT>>"]
)
def test_a_column_of_a_lake_table_keeps_its_type_with_its_rows(connector: str, inside: str) -> None:
    bench, (is_kept, ways) = TimedBench(), TYPES[connector]
    for name in "ab":
        bench.do(define(name))
    own, other = (replace(N, type=inside.format(word)) for word in ("INT", "BIGINT"))
    bench.do(query(PLAN, K, own, connector=connector))
    same = replace(own, name="N", type=inside.format("INT").replace("a: INT", "a: INT NOT NULL COMMENT 'c'"))
    assert rule_of(bench, query(replace(PLAN, body="SELECT 2"), K, same, connector=connector)) == ""
    request = query(replace(PLAN, body="SELECT 2"), K, other, connector=connector)
    assessment = bench.do(replace(request, assess=True)).assessment
    assert assessment is not None
    assert [way for way in assessment.ways if "ON_CHANGE" in way] == [
        way for way in assessment.ways if any(word in way for word in ways)
    ]
    assert rule_of(bench, request) == ("QUERY_STATE" if is_kept else "")
    assert rule_of(bench, replace(request, on_change="EMPTY")) == ("QUERY_COLUMNS" if is_kept else "")
    assert rule_of(bench, replace(request, on_change="BACKFILL")) == ("QUERY_PLACE" if connector == "iceberg" else "")


# ----------------------------------------------------------------------------------------------------- and back again


def test_a_query_goes_back_within_the_grace_after_it_was_replaced_and_no_later(bench: TimedBench) -> None:
    bench.do(query(replace(PLAN, body="SELECT 2")))
    replaced = bench.now
    for age, rule in ((limits.DROP_GRACE, ""), (limits.DROP_GRACE + 1, "QUERY_PREVIOUS")):
        bench.now = replaced + age
        assert rule_of(bench, ChangeSource("q", restart="ROLLBACK")) == rule


@pytest.mark.parametrize("alone", ["protect", "comment", "properties", "rename", "columns"])
@pytest.mark.parametrize("way", ["ROLLBACK", "RESET", "REFRESH"])
def test_a_restart_is_a_change_of_its_own(bench: TimedBench, way: str, alone: str) -> None:
    bench.do(query(replace(PLAN, body="SELECT 2")))
    members: dict[str, Any] = {
        "protect": True, "comment": "c", "properties": (("P", "x"),), "rename": "z", "columns": (),
    }  # fmt: skip
    request = ChangeSource("q", restart=way, **{alone: members[alone]})
    assert rule_of(bench, request) == ("" if alone == "columns" else "RESTART_ALONE")


def test_readers_follow_a_restart_where_they_read_changes_and_the_checkpoint_is_another(bench: TimedBench) -> None:
    """Those who read rows as a table have no offsets, and a rollback to the same checkpoint leaves all where they are."""
    reads = {"f": "changes", "t": "table"}
    for name, mode in reads.items():
        read = SourceRead("q", row(bench).generation, "q", mode=mode)
        bench.do(define(name, connector="delta", query=QueryPlan("SELECT k", (read,))))
    began = {name: query_of(bench, name).began for name in reads}
    bench.do(query(replace(PLAN, body="SELECT 2")))
    assert bench.do(ChangeSource("q", restart="ROLLBACK", cascade=True)).notes == ()
    assert rule_of(bench, ChangeSource("q", restart="REFRESH")) == "QUERY_READERS"
    for way in ("RESET", "REFRESH"):
        answer = bench.do(ChangeSource("q", restart=way, cascade=True))
        assert [note.split()[0] for note in answer.notes] == ["f"]
        assert (query_of(bench, "f").began, query_of(bench, "t").began) == (bench.tables.sequence, began["t"])
    assert query_of(bench, "f").revision == 3
    bench.do(DropSource("f"))
    assert rule_of(bench, ChangeSource("q", restart="REFRESH")) == ""


@pytest.mark.parametrize("mode", ["changes", "table"])
@pytest.mark.parametrize("way", ["RESET", "REFRESH", "ROLLBACK", "replaced", "none"])
def test_who_comes_back_reads_all_again_where_the_rows_that_it_follows_were_exchanged(way: str, mode: str) -> None:
    """Exchanges before it was dropped do not count, nor a reset, which keeps the rows."""
    bench = bench_with_query()
    bench.do(ChangeSource("q", restart="REFRESH"))
    bench.do(ChangeSource("q", restart="RESET"))
    read = SourceRead("q", row(bench).generation, "q", mode=mode, revision=row(bench).revision)
    bench.do(define("f", connector="delta", query=QueryPlan("SELECT k", (read,))))
    began = query_of(bench, "f").began
    bench.do(DropSource("f"))
    if way == "replaced":
        bench.do(query(replace(PLAN, body="SELECT 2")))
    elif way != "none":
        bench.do(ChangeSource("q", restart=way))
    is_again = mode == "changes" and way in {"REFRESH", "ROLLBACK"}
    assert bool(bench.do(UndropSource("f")).notes) == is_again
    assert (query_of(bench, "f").began != began) == is_again


@pytest.mark.parametrize(("column", "rule"), [("k", ""), ("n", "ONCE_COLUMNS"), ("v", "")])
def test_a_query_that_is_run_once_gives_what_is_key_or_never_null(column: str, rule: str) -> None:
    bench = TimedBench()
    for name in "ab":
        bench.do(define(name))
    columns = (replace(K, nullable=True), replace(N, nullable=False), SourceColumn("v", "INT"))
    bench.do(query(PLAN, *columns))
    rest = tuple(other for other in columns if other.name != column)
    once = replace(query(replace(PLAN, key=("k",)), *rest), once=True)
    if column == "k":
        once = replace(query(PLAN, *columns), once=True)
    assert rule_of(bench, once) == rule


def test_queries_that_are_run_once_are_kept_to_the_end_of_the_grace() -> None:
    bench = bench_with_query()
    once = replace(query(), once=True)
    for _ in range(limits.ONCE_QUERIES):
        bench.do(once)
    first = bench.now
    for age, rule in ((limits.DROP_GRACE, "ONCE_QUERIES"), (limits.DROP_GRACE + 1, "")):
        bench.now = first + age
        assert rule_of(bench, once) == rule
