"""Versions that others hold: who holds one, and each way in which it would go for good."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.laws.holder import ALL, access
from tests.laws.timed import TimedBench
from tests.laws.toy import toy
from tests.worlds.drafts import referring
from treaty.core.command import Decision
from treaty.core.invariants import find_violations
from treaty.core.messages import associations as t
from treaty.core.messages import groups as g
from treaty.core.messages.encodings import AssignEncoding
from treaty.core.messages.metastore.sources import ChangeSource, CreateSource, SourceDefinition
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemaver import DeletePublished, Publish
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead

HELD, USER = Subject(".", "v/n/toy"), Subject(".y", "user")
COLUMNS = (SourceColumn("a", "INT"),)
TOPIC = t.Resource("t", "ns", "id-t")
STRONG = t.AssociationSpec(subject=HELD, lifecycle="STRONG")
NEWER = toy("a", "b?", "c?")


def define(name: str, **members: Any) -> CreateSource:
    connector = "delta" if "query" in members else "kafka"
    return CreateSource(
        SourceDefinition(name, "STREAM", "", COLUMNS, connector=connector, place=name, **members), replace=True
    )


def pin_of(bench: TimedBench, subject: Subject) -> SchemaPin:
    answer = bench.do(GetPin(subject, LATEST))
    return SchemaPin(*subject, answer.generation, answer.version.ordinal, answer.version.schema_id)


def hold(bench: TimedBench, holder: str) -> None:
    """Let one hold the latest version of `HELD`."""
    if holder == "nobody":
        return
    answer, pin = bench.do(GetPin(HELD, LATEST)), pin_of(bench, HELD)
    if holder == "a schema":
        bench.do(Register(USER, referring(toy("z"), f":.:{HELD.name}", answer.version.number)))
        return
    if holder == "an encoding":
        bench.do(AssignEncoding(HELD, answer.version.ordinal))
        return
    side, _, where = holder.partition(" of ")
    if where == "a source":
        bench.do(define("pinning", **{side: SourcePart("AVRO", pin=pin)}))
        return
    is_read = where == "what a query reads"
    read_pins: dict[str, Any] = {side: pin} if is_read else {}
    bench.do(define("source", **({side: SourcePart("AVRO", pin=pin)} if is_read else {})))
    read = SourceRead("source", bench.tables.sequence, "source", columns=("a",), **read_pins)
    part = {} if is_read else {side: SourcePart("AVRO", pin=pin)}
    bench.do(define("pinning", query=QueryPlan("SELECT a FROM source", (read,)), **part))
    if is_read:  # which has another schema since
        bench.do(Register(USER, toy("y")))
        later: dict[str, Any] = {side: SourcePart("AVRO", pin=pin_of(bench, USER))}
        bench.do(ChangeSource("source", **later))


PINS = [f"{side} of {where}" for side in ("key", "value") for where in ("a source", "a query", "what a query reads")]
RULES = {
    "nobody": "",
    "a schema": "REFERENCED",
    "an encoding": "VERSION_ENCODED",
    **dict.fromkeys(PINS, "SOURCE_PINNED"),
}
"""Who holds a version, and the rule by which it stays."""

FIRST, SECOND = Register(HELD, toy("a")), Register(HELD, toy("a", "b?"))
IMPORT = SetMode(Scope(*HELD), "IMPORT", force=True)
WAYS: Mapping[str, tuple[tuple[Request[Any], ...], tuple[Request[Any], ...], Request[Any]]] = {
    "a deletion for good": ((FIRST,), (SECOND, DeleteVersion(HELD, 1)), DeleteVersion(HELD, 1, permanent=True)),
    "that of the last version": ((FIRST,), (DeleteVersion(HELD, 1),), DeleteVersion(HELD, 1, permanent=True)),
    "that of a subject": ((FIRST, SECOND), (DeleteSubject(HELD),), DeleteSubject(HELD, permanent=True)),
    "a removal": ((FIRST, SECOND), (), g.RemoveSubject(HELD)),
    "an import over it": ((FIRST, SECOND), (IMPORT,), Register(HELD, NEWER, number=2, schema_id=90)),
    "an import over a deleted one": (
        (FIRST, SECOND), (DeleteVersion(HELD, 2), IMPORT), Register(HELD, NEWER, number=2, schema_id=90),
    ),
    "imports into an emptied subject": ((FIRST,), (DeleteSubject(HELD),), SetMode(Scope(*HELD), "IMPORT")),
    "imports into an emptied context": ((FIRST,), (DeleteSubject(HELD),), SetMode(Scope(HELD.context), "IMPORT")),
    "the end of a topic": ((FIRST, t.Associate(TOPIC, (STRONG,))), (), t.Dissociate(TOPIC.id, cascade=True)),
    "the end of a topic in a batch": (
        (FIRST, t.Associate(TOPIC, (STRONG,))), (),
        t.ChangeAssociations((t.ResourceChange(TOPIC, (t.AssociationChange("DELETE", t.AssociationSpec(), cascade=True),)),)),
    ),
}  # fmt: skip
"""What is done before one holds the version and after, and the command with which the version goes."""
OTHERWISE = {("a removal", "an encoding"): "", ("a removal", "a schema"): "SUBJECT_REFERENCED"}
"""Who removes a subject has asked for all that is its own, and hears of all who refer to it."""
NOT_WITH = {"a schema": "topic"}
"""A subject of a topic alone is referred to by nobody."""


def rule_of(bench: TimedBench, request: Request[Any]) -> str:
    """The rule by which a command or the entry of its batch is refused; empty where rows are written."""
    verdict = bench.verdict(request, "asked")
    if isinstance(verdict, Refusal):
        return verdict.reason.rule
    assert isinstance(verdict, Decision)
    results = verdict.answer.results if isinstance(verdict.answer, t.AssociationResults) else ()
    refused = [entry.refused.reason.rule for entry in results if entry.refused is not None]
    return "".join(refused) if refused or verdict.rows else "nothing is written"


@pytest.mark.parametrize("way", WAYS)
def test_a_version_goes_for_good_where_nobody_holds_it(way: str) -> None:
    before, after, request = WAYS[way]
    rules, expected = {}, {}
    for holder, rule in RULES.items():
        if NOT_WITH.get(holder, "-") in way:
            continue
        bench = TimedBench()
        for earlier in before:
            bench.do(earlier)
        hold(bench, holder)
        for later in after:
            if holder == "a schema" and isinstance(later, DeleteVersion | DeleteSubject):
                bench.do(DeleteSubject(USER))
            bench.do(later)
        rules[holder], expected[holder] = rule_of(bench, request), OTHERWISE.get((way, holder), rule)
        bench.access = ALL
        assert rule_of(bench, request) == rules[holder], "rights change nothing"
        if rules[holder] == "":
            bench.do(request)
        assert [str(violation) for violation in find_violations(bench.tables)] == [], holder
    assert rules == expected


PUBLISHED = (Publish(HELD, "1-0-0", toy("a")), Publish(HELD, "1-0-1", toy("a", "b?")))
SOFT: Mapping[str, tuple[tuple[Request[Any], ...], Request[Any]]] = {
    "of a version": ((FIRST, SECOND), DeleteVersion(HELD, 2)),
    "of the last version": ((FIRST,), DeleteVersion(HELD, 1)),
    "of a subject": ((FIRST, SECOND), DeleteSubject(HELD)),
    "of an ordinal": ((FIRST, SECOND), g.DeleteOrdinal(HELD, 1)),
    "of a label": (PUBLISHED, DeletePublished(HELD, "1-0-1")),
}
"""What is done before one holds the version, and its soft deletion."""
BLIND = access("delete", "read", subjects=(HELD.name, USER.name), contexts=("*",))
"""The access of who may delete subjects and see no source."""


@pytest.mark.parametrize("way", SOFT)
def test_a_soft_deletion_warns_of_the_sources_that_pin_a_version(way: str) -> None:
    """Who may not see a source hears nothing of it; who refers to a version refuses this too."""
    before, request = SOFT[way]
    heard: dict[str, list[Any]] = {}
    for holder in RULES:
        bench = TimedBench()
        for earlier in before:
            bench.do(earlier)
        hold(bench, holder)
        heard[holder] = []
        for bench.access in (None, ALL, BLIND):
            verdict: Any = bench.verdict(request, "asked")
            heard[holder].append(verdict.reason.rule if isinstance(verdict, Refusal) else verdict.answer.warnings)
    nothing, named, referred = [()] * 3, [("pinning",), ("pinning",), ()], ["REFERENCED"] * 3
    assert heard == {
        holder: named if holder in PINS else referred if holder == "a schema" else nothing for holder in RULES
    }
