"""Edges of commands about sources: what is refused, and beside it the nearest that is taken."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.holder import ALL
from tests.laws.timed import TimedBench
from tests.laws.toy import toy
from tests.worlds.world import World
from treaty.core import limits
from treaty.core.access.rights import Access
from treaty.core.messages.metastore.kept_files import CheckpointName, ListKeptFiles
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart
from treaty.core.messages.metastore.scripts import RunScript, ScriptMember
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    CreateType,
    DropSource,
    SetSourceState,
    SourceColumnChange,
    SourceDefinition,
    UndropSource,
)
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.sources import ImportedQuery, QueryPlan, SchemaPin, SourceColumn, SourcePart, SourceRead
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE

COLUMNS = (SourceColumn("id", "INT", role="key"), SourceColumn("at", "TIMESTAMP"), SourceColumn("v", "INT"))
KEY, VALUE = Subject(".", "k"), Subject(".", "v")


def define(name: str, kind: str = "STREAM", **members: Any) -> CreateSource:
    definition = SourceDefinition(name, kind, "", COLUMNS, **{"place": name, **members})
    return CreateSource(definition, replace=True)


def select(name: str, read: str, generation: int = 1, **members: Any) -> CreateSource:
    query = QueryPlan(f"SELECT id FROM {read}", (SourceRead(read, generation, read, columns=("id",)),))
    return define(name, connector="delta", query=query, **members)


def change(op: Any, name: str, type_: str = "INT", **members: Any) -> ChangeSource:
    columns = (SourceColumnChange(op, SourceColumn(name, type_, **members)),)
    return ChangeSource("a", columns=columns)


def rule_of(bench: TimedBench, request: Request[Any]) -> str:
    """The rule by which a request is refused; empty where it is not."""
    verdict = bench.verdict(request, "asked")
    return verdict.reason.rule if isinstance(verdict, Refusal) else ""


# -------------------------------------------------------------------------------------------------------------- pins


def pin_of(bench: TimedBench, subject: Subject) -> SchemaPin:
    answer = bench.do(GetPin(subject, LATEST))
    return SchemaPin(*subject, answer.generation, answer.version.ordinal, answer.version.schema_id)


@pytest.fixture
def pins() -> tuple[TimedBench, dict[str, Any], dict[str, Any]]:
    """A bench, the pins of a key and a value that are live, and those of two that are not any more."""
    bench = TimedBench()
    parts: list[dict[str, Any]] = []
    for text in ("a?", "b?"):
        for subject in (KEY, VALUE):
            bench.do(Register(subject, toy(text)))
        pins = {"key": pin_of(bench, KEY), "value": pin_of(bench, VALUE)}
        parts.append({name: SourcePart("AVRO", pin=pin) for name, pin in pins.items()})
    for subject in (KEY, VALUE):
        bench.do(DeleteVersion(subject, 1))
    return bench, parts[1], parts[0]


@pytest.mark.parametrize("part", ["key", "value"])
@pytest.mark.parametrize("fault", ["deleted", "other id"])
def test_a_source_is_bound_to_live_versions_alone(pins: Any, part: str, fault: str) -> None:
    """Of its key and its value, when it is created, changed, brought back or rolled back."""
    bench, live, former = pins
    fault_part = former[part]
    if fault == "other id":
        fault_part = replace(live[part], pin=replace(live[part].pin, schema_id=live[part].pin.schema_id + 1000))
    assert rule_of(bench, define("a", **live)) == ""
    assert rule_of(bench, define("a", **(live | {part: fault_part}))) == "PIN_NOT_LIVE"
    bench.do(define("a"))
    members: dict[str, Any] = {part: fault_part}
    assert rule_of(bench, ChangeSource("a", **members)) == "PIN_NOT_LIVE"
    assert rule_of(bench, ChangeSource("a", **live)) == ""


@pytest.mark.parametrize("subject", [KEY, VALUE])
def test_a_source_and_its_former_query_come_back_to_live_versions_alone(pins: Any, subject: Subject) -> None:
    bench, live, _ = pins
    bench.do(define("a"))
    query = select("q", "a", bench.tables.sequence, **live)
    bench.do(query)
    assert query.definition.query is not None
    later = replace(query.definition.query, body="SELECT id + 1 AS id FROM a")
    bench.do(define("q", connector="delta", query=later))
    bench.do(define("b", **live))
    bench.do(DropSource("b"))
    requests = (UndropSource("b"), ChangeSource("q", restart="ROLLBACK"))
    assert [rule_of(bench, request) for request in requests] == ["", ""]
    bench.do(Register(subject, toy("c?")))
    bench.do(DeleteVersion(subject, 2))
    assert [rule_of(bench, request) for request in requests] == ["PIN_NOT_LIVE"] * 2


@pytest.mark.parametrize(("part", "schema"), [("key", "key_schema"), ("value", "value_schema")])
def test_a_schema_is_registered_for_a_part_without_a_pin(pins: Any, part: str, schema: str) -> None:
    bench, live, _ = pins
    more: dict[str, Any] = {schema: Register(KEY if part == "key" else VALUE, toy("b?"))}
    unbound: dict[str, Any] = {part: SourcePart("AVRO")}
    create = define("a", **unbound)
    assert rule_of(bench, replace(create, **more)) == ""
    assert rule_of(bench, replace(define("a"), **more)) == "SCHEMA_PART"
    assert rule_of(bench, replace(define("a", **live), **more)) == "SCHEMA_PART"


# ----------------------------------------------------------------------------------------------- changes in place

STATEMENT = limits.STATEMENT_BYTES
CHANGES: dict[str, tuple[Request[Any], str, Request[Any]]] = {
    "a statement": (
        ChangeSource("a", "x" * (STATEMENT + 1), comment="c"), "STATEMENT_BYTES", ChangeSource("a", "x" * STATEMENT, comment="c"),
    ),
    "the key of a table": (change("drop", "ID"), "TABLE_KEY", change("drop", "v")),
    "a key that becomes a value": (change("set", "id"), "TABLE_KEY", change("set", "id", role="key", comment="c")),
    "the column of the timestamp": (change("drop", "at"), "COLUMN_UNKNOWN", change("set", "AT", "TIMESTAMP", comment="c")),
    "a column that a property names": (
        ChangeSource("a", properties=(("DEDUPLICATE", "id, none"),)), "COLUMN_UNKNOWN", ChangeSource("a", properties=(("DEDUPLICATE", "id, V"),)),
    ),
    "a type that is not there": (change("add", "n", "none"), "TYPE_NOT_FOUND", change("add", "n", "known")),
    "a column that is there": (change("add", "V"), "COLUMN_TWICE", change("add", "w")),
    "a column that is not there": (change("set", "w"), "COLUMN_NOT_FOUND", change("set", "V", "BIGINT")),
    "a role": (change("add", "w", role="other"), "COLUMN_ROLE", change("add", "w", role="header", header="h")),
    "a state": (SetSourceState("q", "STOPPED"), "QUERY_STATE_WORD", SetSourceState("q", "PAUSED")),
    "a query that nothing has planned": (
        SetSourceState("imported", "RUNNING"), "QUERY_NOT_PLANNED", SetSourceState("imported", "PAUSED"),
    ),
    "a query that is not there": (SetSourceState("a", "PAUSED"), "QUERY_NONE", SetSourceState("q", "RUNNING")),
    "columns of a query": (replace(change("add", "w"), name="q"), "QUERY_COLUMNS", ChangeSource("q", comment="c")),
    "columns of bad rows": (replace(change("add", "w"), name="b_bad"), "SOURCE_OF_BAD_ROWS", ChangeSource("b_bad", protect=True)),
    "a property of bad rows": (ChangeSource("b_bad", properties=(("P", "x"),)), "SOURCE_OF_BAD_ROWS", ChangeSource("b_bad", comment="c")),
    "a key of bad rows": (ChangeSource("b_bad", key=SourcePart("KAFKA")), "SOURCE_OF_BAD_ROWS", ChangeSource("b", key=SourcePart("KAFKA"))),
    "a value of bad rows": (ChangeSource("b_bad", value=SourcePart("JSON")), "SOURCE_OF_BAD_ROWS", ChangeSource("b", value=SourcePart("JSON"))),
    "another name of bad rows": (ChangeSource("b_bad", rename="c"), "SOURCE_OF_BAD_ROWS", ChangeSource("b", rename="c")),
    "the name of bad rows for another one": (ChangeSource("b_bad", swap="b"), "SOURCE_OF_BAD_ROWS", ChangeSource("b", swap="q")),
    "another name for that of bad rows": (ChangeSource("b", swap="b_bad"), "SOURCE_OF_BAD_ROWS", ChangeSource("b", swap="a")),
    "a definition of bad rows": (define("b_bad"), "SOURCE_OF_BAD_ROWS", define("b")),
    "an assessment of bad rows": (replace(define("b_bad"), assess=True), "SOURCE_OF_BAD_ROWS", replace(define("b"), assess=True)),
    "an assessment of another kind": (
        replace(define("a"), assess=True), "SOURCE_KIND_DIFFERS", replace(define("a", "TABLE"), assess=True),
    ),
    "a protected query": (DropSource("kept"), "SOURCE_PROTECTED", DropSource("q")),
    "a protected reader that would go along": (
        DropSource("a", cascade=True, dry_run=True), "SOURCE_PROTECTED", DropSource("b", cascade=True, dry_run=True),
    ),
    "a digest of nothing else": (DropSource("q", cascade=True, digest="0" * 16), "CASCADE_DIGEST", DropSource("q", cascade=True)),
    "other letters of another name": (ChangeSource("a", rename="É"), "SOURCE_TAKEN", ChangeSource("é", rename="É")),
    "a place of checkpoints": (
        select("q", "a", properties=(("CHECKPOINT_ROOT", "r"),)), "CHECKPOINT_MOVED",
        select("imported", "a", properties=(("CHECKPOINT_ROOT", "r"),)),
    ),
    "no query any more": (define("q", connector="delta"), "SOURCE_REPLACE", define("imported", connector="delta")),
    "a script of nothing": (RunScript(()), "SCRIPT_EMPTY", RunScript((ScriptMember(drop=DropSource("q")),))),
    "an assessment in a script": (
        RunScript((ScriptMember(create=replace(define("b"), assess=True)),)), "SCRIPT_MEMBER", RunScript((ScriptMember(create=define("b")),)),
    ),
    "a member of two commands": (
        RunScript((ScriptMember(drop=DropSource("q"), undrop=UndropSource("q")),)), "SCRIPT_MEMBER", RunScript((ScriptMember(drop=DropSource("q")),)),
    ),
    "a part that is none, and is given back": (
        AssignQueries("r", 8, (), (QueryPart("q", 4, "half"),)), "QUERY_PART", AssignQueries("r", 8, (), (QueryPart("q", 4),)),
    ),
    "the root of a runner": (
        AcquireRunner("r", "h", root="x" * (limits.RUNNER_NAME + 1)), "RUNNER_NAME", AcquireRunner("r", "h", root="x" * limits.RUNNER_NAME),
    ),
}  # fmt: skip
"""By what they are about: a request, the rule that refuses it, and one beside it that is taken."""


def make_bench() -> TimedBench:
    """A table a, a stream b with bad rows, a query q and a protected one, one of another system, and a source é; a runner has a lease."""
    bench = TimedBench()
    bench.do(define("a", "TABLE", timestamp="at"))
    bench.do(CreateType("known", "INT"))
    bench.do(define("b", bad_rows=True))
    bench.do(select("q", "a"))
    bench.do(select("kept", "a"))
    bench.do(ChangeSource("kept", protect=True))
    bench.do(define("imported", connector="delta", imported=ImportedQuery("CREATE STREAM imported AS SELECT 1;")))
    bench.do(AcquireRunner("r", "h"))
    bench.do(define("é"))
    return bench


@pytest.fixture
def bench() -> TimedBench:
    return make_bench()


MEMBERS = {CreateSource: "create", ChangeSource: "change", SetSourceState: "state", DropSource: "drop"}


def in_script(request: Any) -> Request[Any] | None:
    """A script of this command alone; None where no script takes it."""
    if type(request) not in MEMBERS or getattr(request, "assess", False) or getattr(request, "dry_run", False):
        return None
    if isinstance(request, CreateSource) and request.definition.query is not None:
        return None
    return RunScript((ScriptMember(**{MEMBERS[type(request)]: request}),))


def as_dry_run(request: Any) -> Request[Any] | None:
    """The dry run of a command; None where it has none, or tells what its digest is."""
    if getattr(request, "digest", "") or not hasattr(request, "dry_run"):
        return None
    dry: Request[Any] = replace(request, dry_run=True)
    return dry


WAYS: dict[str, tuple[Access | None, Callable[[Request[Any]], Request[Any] | None]]] = {
    "no rights": (None, lambda request: request),
    "all rights": (ALL, lambda request: request),
    "a script": (None, in_script),
    "a dry run": (None, as_dry_run),
    "a dry run with all rights": (ALL, as_dry_run),
}
"""Ways in which a command comes, and the rights of who sends it."""


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("way", WAYS)
def test_a_command_is_refused_for_its_fault_alone(bench: TimedBench, way: str, what: str) -> None:
    """Alike in each way in which it comes."""
    bench.access, make = WAYS[way]
    refused, rule, accepted = CHANGES[what]
    pair = [request for request in map(make, (refused, accepted)) if request is not None]
    if len(pair) == 2:
        assert [rule_of(bench, request) for request in pair] == [rule, ""]


def test_a_column_that_is_set_stays_at_its_place_and_is_what_the_command_says(bench: TimedBench) -> None:
    bench.do(change("set", "AT", "TIMESTAMP", comment="c"))
    bench.do(change("add", "n", "known"))
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    assert source.columns[1] == SourceColumn("AT", "TIMESTAMP", comment="c")
    bench.do(change("set", "at", "TIMESTAMP"))
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    assert source.columns == (COLUMNS[0], SourceColumn("at", "TIMESTAMP"), COLUMNS[2], SourceColumn("n", "known"))
    assert source.types == ("known",), "it keeps the type that it uses now"
    bench.do(change("drop", "N"))
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    assert (source.types, source.columns[2]) == ((), COLUMNS[2])


@pytest.mark.parametrize("part", ["key", "value"])
def test_a_pin_or_property_that_changes_makes_a_new_revision_and_nothing_else_does(pins: Any, part: str) -> None:
    """Plans hold for one revision."""
    bench, live, _ = pins
    bench.do(define("a", **live))
    revisions = []
    other: dict[str, Any] = {part: SourcePart("JSON")}
    for request in (
        ChangeSource("a", comment="c"), ChangeSource("a", protect=True), ChangeSource("a", protect=True), ChangeSource("a", rename="A"),
        ChangeSource("a", **other), ChangeSource("a", properties=(("P", "x"),)), ChangeSource("a", properties=(("P", "x"),)),
    ):  # fmt: skip
        bench.do(request)
        source = bench.tables.get(SOURCE, SourceKey("a"))
        revisions.append(source and source.revision)
    assert revisions == [1, 1, 1, 1, 2, 3, 3]
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    left = "value" if part == "key" else "key"
    assert (getattr(source, left), getattr(source, part)) == (live[left], SourcePart("JSON"))


# ------------------------------------------------------------------------------------------------------------- limits

MANY = (("P0", "x"), ("P1", "x"), ("P2", "x"))
LIMITS: dict[str, tuple[int, tuple[Request[Any], ...], Request[Any]]] = {
    "SOURCES": (2, (define("a"),), define("b")),
    "SOURCES undropped": (2, (define("x"), DropSource("x"), define("a")), UndropSource("x")),
    "SOURCE_PROPERTIES": (3, (define("a", properties=MANY[:2]),), ChangeSource("a", properties=MANY[2:])),
    "RUNNERS": (2, (AcquireRunner("q", "h"),), AcquireRunner("r", "h")),
    "CLOSURE of a drop": (2, (define("a"), select("b", "a"), select("c", "b", 2)), DropSource("a", cascade=True)),
    "CLOSURE of a name": (2, (define("a"), select("b", "a"), select("c", "a")), ChangeSource("a", rename="z")),
    "CLOSURE of a chain": (
        2, (define("a"), select("q", "a"), select("b", "q", 2), select("c", "b", 3)), ChangeSource("q", restart="RESET", cascade=True),
    ),
    "SCRIPT_STATEMENTS": (2, (define("a"), define("b")), RunScript(tuple(ScriptMember(drop=DropSource(name)) for name in "ab"))),
    "ASSIGNED_PARTS": (
        2, (define("a"), select("q", "a"), AcquireRunner("r", "h")), AssignQueries("r", 3, (QueryPart("q", 2),), (QueryPart("q", 2),)),
    ),
    "KEPT_FILES": (3, (), ListKeptFiles((CheckpointName(1, 1),), (1,), ("a",))),
}  # fmt: skip
"""By limit and use: a limit, what is there, and what comes up to it."""


@pytest.mark.parametrize("name", LIMITS)
def test_as_many_as_a_limit_says_are_taken_and_no_more(name: str) -> None:
    limit, before, request = LIMITS[name]
    bench = TimedBench()
    for earlier in before:
        bench.do(earlier)
    rule = name.partition(" ")[0]
    for number, refused in ((limit, ""), (limit - 1, rule)):
        with World(pages=((rule, number),)).paged():
            assert rule_of(bench, request) == refused


@pytest.mark.parametrize(("name", "rule"), [("É_BAD", "SOURCE_TAKEN"), ("é_bad", "SOURCE_EXISTS"), ("e_bad", "")])
def test_bad_rows_need_a_name_that_nobody_has(name: str, rule: str) -> None:
    bench = TimedBench()
    bench.do(define(name))
    assert rule_of(bench, define("é", bad_rows=True)) == rule
    long = "x" * (limits.NAME_LENGTH - len("_bad"))
    assert [rule_of(bench, define(text, bad_rows=True)) for text in (long, f"{long}x")] == ["", "NAME_LENGTH"]


def test_bad_rows_are_asked_for_of_a_source_that_is_there_as_it_is() -> None:
    bench = TimedBench()
    bench.do(define("a"))
    answer = bench.do(define("a", bad_rows=True))
    assert (answer.created, answer.replaced, answer.also) == (False, False, ("a_bad",))
    assert bench.do(define("a", bad_rows=True)).also == ()


@pytest.mark.parametrize("reads", ["ab", "ba"])
def test_a_column_is_kept_for_each_query_that_reads_it_whatever_else_that_reads(reads: str) -> None:
    """Also where a query says what it reads by a text that is no path: then it may need all."""
    for leaf, rule in (("v", "COLUMN_READ"), ("V.x", "COLUMN_READ"), ("at", ""), ("v..", "COLUMN_READ")):
        bench = TimedBench()
        for name in "ab":
            bench.do(define(name))
        plan = QueryPlan(
            "SELECT 1", tuple(SourceRead(name, "ab".index(name) + 1, name, columns=(leaf,)) for name in reads)
        )
        bench.do(define("q", connector="delta", query=plan))
        assert rule_of(bench, change("drop", "v")) == rule, leaf


def test_what_was_dropped_last_comes_back_however_long_ago_another_one_of_its_name_was() -> None:
    bench = TimedBench()
    bench.do(define("a"))
    bench.do(DropSource("a"))
    bench.do(define("a", comment="later"))
    bench.now += limits.DROP_GRACE + 1
    bench.do(DropSource("a"))
    bench.do(UndropSource("a"))
    source = bench.tables.get(SOURCE, SourceKey("a"))
    assert source is not None
    assert source.comment == "later"


def test_a_state_that_a_query_has_is_set_without_a_commit_and_an_imported_query_is_given_up_with_its_pause(
    bench: TimedBench,
) -> None:
    for state, changed in (("RUNNING", False), ("PAUSED", True), ("PAUSED", False), ("RUNNING", True)):
        before = bench.tables.sequence
        assert bench.do(SetSourceState("q", state)).replaced is changed
        source = bench.tables.get(SOURCE, SourceKey("q"))
        assert source is not None
        assert source.desired == state
        assert (before != bench.tables.sequence) is changed
    bench.do(define("imported", connector="delta"))
    source = bench.tables.get(SOURCE, SourceKey("imported"))
    assert source is not None
    assert (source.desired, source.imported) == ("RUNNING", None)


@pytest.mark.parametrize("name", ["a", "b"])
def test_an_assessment_says_that_the_policy_of_a_schema_refuses_a_definition(pins: Any, name: str) -> None:
    """Of a source that is there, whose definition is the same otherwise, and of one that is not."""
    bench, _, _ = pins
    unbound = define("a", value=SourcePart("AVRO"))
    bench.do(replace(unbound, value_schema=Register(VALUE, toy("b?"))))
    asked = define(name, value=SourcePart("AVRO"))
    for text, refused in (("b?", False), ("c", True)):
        request = replace(asked, value_schema=Register(VALUE, toy(text)), assess=True)
        assessment = bench.do(request).assessment
        assert assessment is not None
        assert (assessment.refused, assessment.policy.startswith("refused: ")) == (refused, refused)
        assert (assessment.kind == "same") == (name == "a" and not refused)
