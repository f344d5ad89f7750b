"""The name of a source that a caller may not read is in no answer: refusals and lists have the number of those in its place."""

from typing import Any

import pytest

from tests.laws.timed import TimedBench
from tests.laws.toy import toy
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    CreateType,
    DescribeSource,
    DropSource,
    DropType,
    GetDestination,
    ListDependents,
    SourceColumnChange,
    SourceDefinition,
    UndropSource,
)
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead

COLUMNS = (SourceColumn("id", "INT"), SourceColumn("v", "INT"))
HIDDEN = "that you may not see"


def define(name: str, place: str = "", column: str = "INT", **members: Any) -> CreateSource:
    columns = (*COLUMNS, SourceColumn("w", column))
    return CreateSource(SourceDefinition(name, "STREAM", "", columns, place=place or name, **members), replace=True)


def select(bench: TimedBench, name: str, *reads: str, **members: Any) -> CreateSource:
    sources = [bench.do(DescribeSource(read)).source for read in reads]
    plan = QueryPlan(
        "SELECT v", tuple(SourceRead(source.name, source.generation, source.name, columns=("v",)) for source in sources)
    )
    return define(name, query=plan, **{"connector": "delta", **members})


def rule(*may: Permission, **members: tuple[str, ...]) -> AccessRule:
    return AccessRule(("user:a",), with_included(may), **({"subjects": (), "topics": (), "sources": ()} | members))  # type: ignore[arg-type]


@pytest.fixture
def bench() -> TimedBench:
    """hush1 to hush9 are hidden: 1 reads a beside b, 2 reads b and is read by c, 3 uses a type, 4 stands over t, 5 writes to w, 6 is in a folder,
    7 reads the folder f, 8 has the query of a topic, and 9 are bad rows.
    """
    bench = TimedBench()
    bench.do(CreateType("T", "INT"))
    bench.do(CreateType("U", "ARRAY<T>"))
    for name in ("a", "f", "t"):
        bench.do(define(name, connector="files" if name == "f" else "kafka"))
    for name, reads in (("b", "a"), ("hush1", "a"), ("hush2", "b"), ("c", "hush2"), ("hush7", "f")):
        bench.do(select(bench, name, reads))
    bench.do(define("hush3", column="T"))
    bench.do(define("hush4", "t"))
    bench.do(define("hush6", "lake/x", connector="files"))
    bench.do(select(bench, "hush8", "a", connector="kafka", place="w"))
    bench.do(define("w"))
    return bench


SEEN = rule("register", "delete", "query", "insert", sources=tuple("abcftwz"), topics=("*",))
COLUMN = (SourceColumnChange("set", SourceColumn("v", "STRING")),)
REFUSED: dict[str, tuple[Request[Any], str, str, str]] = {
    "dropped": (DropSource("a"), "SOURCE_READ", f"read by b and 2 {HIDDEN}", "read by b, hush1, hush8"),
    "dropped with a hidden one further on": (DropSource("b"), "SOURCE_READ", f"read by 1 {HIDDEN}", "read by hush2"),
    "another name": (ChangeSource("a", rename="z"), "SOURCE_READ", f"read by b and 2 {HIDDEN}", ""),
    "another type of a column": (ChangeSource("a", columns=COLUMN), "COLUMN_READ", f"by b and 2 {HIDDEN}", "by b, hush1, hush8"),
    "another folder": (define("f", "g", connector="files"), "PLACE_READ", f"by 1 {HIDDEN}", "by hush7"),
    "a type": (DropType("T"), "TYPE_USED", f"used by U and 1 {HIDDEN}", "used by U, hush3"),
    "a topic": (DropSource("t", delete_topic=True), "TOPIC_USED", f"used by 1 {HIDDEN}", "used by hush4"),
    "records": (GetDestination("w"), "SOURCE_WRITTEN", f"that of a source {HIDDEN}", "that of hush8"),
}  # fmt: skip
"""By what is asked for: the request, the rule that refuses it, and words for who may not read the others and for who may."""


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_counts_the_sources_that_a_caller_may_not_read(bench: TimedBench, what: str) -> None:
    request, rule_, hidden, words = REFUSED[what]
    for access, expected in ((None, words), (Access((SEEN,)), hidden)):
        bench.access = access
        verdict = bench.verdict(request, "asked")
        if not expected:
            continue
        assert isinstance(verdict, Refusal)
        assert verdict.reason.rule == rule_
        assert expected in verdict.reason.message
        assert ("hush" in repr(verdict.reason)) is (access is None)


def test_a_query_is_not_told_who_has_the_place_that_it_would_write_to(bench: TimedBench) -> None:
    for place, connector in (("t", "kafka"), ("lake", "delta"), ("lake/x/y", "delta")):
        request = select(bench, "z", "a", connector=connector, place=place)
        if connector == "kafka":
            bench.do(DropSource("t"))
        verdict = bench.verdict(request, "asked")
        assert isinstance(verdict, Refusal)
        assert (verdict.reason.rule, "hush" in repr(verdict.reason)) == ("SINK_TAKEN", True)
        bench.access = Access((SEEN,))
        verdict = bench.verdict(request, "asked")
        assert isinstance(verdict, Refusal)
        assert (verdict.reason.rule, verdict.reason.old, "hush" in repr(verdict.reason)) == ("SINK_TAKEN", "", False)
        bench.access = None


def test_what_depends_on_a_source_is_listed_as_far_as_a_caller_may_read_it(bench: TimedBench) -> None:
    asked = ListDependents("a", recursive=True)
    everything = bench.do(asked)
    assert {(step.name, step.needs, step.depth) for step in everything.dependents} == {
        ("b", "a", 1), ("hush1", "a", 1), ("hush8", "a", 1), ("hush2", "b", 2), ("c", "hush2", 3),
    }  # fmt: skip
    assert everything.hidden == 0
    bench.access = Access((SEEN,))
    visible = bench.do(asked)
    assert [(step.name, step.needs, step.depth) for step in visible.dependents] == [("b", "a", 1), ("c", "", 3)]
    assert visible.hidden == 3
    source_answer = bench.do(DescribeSource("a"))
    assert (source_answer.readers, source_answer.hidden_readers) == (("b",), 2)


# ---------------------------------------------------------------------------------------------------- whole cascades


def test_a_cascade_takes_only_what_its_caller_may_see_and_drop(bench: TimedBench) -> None:
    bench.access = Access((SEEN,))
    verdict = bench.verdict(DropSource("a", cascade=True), "asked")
    assert isinstance(verdict, Refusal)
    assert (verdict.reason.rule, verdict.reason.message.split()[0], "hush" in repr(verdict.reason)) == (
        "SOURCE_HIDDEN", "3", False,
    )  # fmt: skip
    everybody = rule("read", sources=("*",))
    for may in (("a", "b", "c"), ("hush*", "b", "c"), ("a", "hush*", "c")):
        bench.access = Access((everybody, rule("delete", sources=may)))
        verdict = bench.verdict(DropSource("a", cascade=True), "asked")
        assert isinstance(verdict, Refusal)
        assert verdict.reason.rule == "RIGHTS"
    bench.access = Access((everybody, rule("delete", sources=("a", "b", "c", "hush*"))))
    assert len(bench.do(DropSource("a", cascade=True)).names) == 6


@pytest.mark.parametrize("change", ["another revision", "another generation", "one more", "nothing"])
def test_a_cascade_is_confirmed_for_what_was_shown_alone(bench: TimedBench, change: str) -> None:
    """Each source as it was: another one of the same name and revision is not what was looked at."""
    digest = bench.do(DropSource("b", cascade=True)).digest
    if change == "another revision":
        bench.do(ChangeSource("hush2", properties=(("P", "x"),)))
    elif change == "another generation":
        bench.do(DropSource("c"))
        bench.do(select(bench, "c", "hush2"))
    elif change == "one more":
        bench.do(select(bench, "z", "c"))
    verdict = bench.verdict(DropSource("b", cascade=True, digest=digest), "asked")
    assert isinstance(verdict, Refusal) is (change != "nothing")


def test_a_source_that_nothing_reads_is_dropped_at_once_with_cascade_too(bench: TimedBench) -> None:
    assert bench.do(DropSource("c", cascade=True)).dropped
    assert not bench.do(DropSource("hush2", cascade=True, dry_run=True)).dropped
    assert bench.do(DropSource("hush2")).dropped


# ------------------------------------------------------------------------------------------------ rights of a way back

BACK = [
    rule("register", sources=("o",)), rule("register", sources=("o_bad",)), rule("register", topics=("path:lake/o",)),
    rule("read", subjects=("k",)), rule("read", subjects=("v",)), rule("query", sources=("a",)), rule("query", topics=("a",)),
]  # fmt: skip


def test_who_brings_a_source_back_needs_what_its_creation_takes(bench: TimedBench) -> None:
    parts: dict[str, SourcePart] = {}
    for name, subject in (("key", Subject(".", "k")), ("value", Subject(".", "v"))):
        bench.do(Register(subject, toy("a?")))
        answer = bench.do(GetPin(subject, LATEST))
        pin = SchemaPin(*subject, answer.generation, answer.version.ordinal, answer.version.schema_id)
        parts[name] = SourcePart("AVRO", pin=pin)
    bench.do(select(bench, "o", "a", place="lake/o", bad_rows=True, **parts))
    bench.do(DropSource("o"))
    for place in range(len(BACK)):
        bench.access = Access((*BACK[:place], *BACK[place + 1 :]))
        verdict = bench.verdict(UndropSource("o"), "asked")
        assert isinstance(verdict, Refusal), BACK[place]
        assert verdict.reason.rule == "RIGHTS"
    bench.access = Access(tuple(BACK))
    assert bench.do(UndropSource("o")).also == ("o_bad",)


def test_a_topic_goes_for_who_may_delete_it(bench: TimedBench) -> None:
    bench.do(DropSource("hush4"))
    for may in ("register", "delete"):
        bench.access = Access((rule("delete", sources=("t",)), rule(may, topics=("t",))))
        verdict = bench.verdict(DropSource("t", delete_topic=True), "asked")
        assert isinstance(verdict, Refusal) is (may == "register")
