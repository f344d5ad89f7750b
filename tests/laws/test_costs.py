"""What a decision costs depends on what it is about, not on how much else there is: work is counted, never timed."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.laws.counting import work_of
from tests.laws.toy import Bench, put, toy
from treaty.core.handlers.drafts.versions import FEW_IDS
from treaty.core.messages.compatibility import Check
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import GetGuid, GetSchema
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.schema import Metadata, Reference
from treaty.core.state import values
from treaty.core.state.rows import Row, encode_row, make_row
from treaty.core.state.state_tables import CONTEXT, SUBJECT, VERSION, VERSION_BY_NUMBER, VERSION_BY_SCHEMA, ContextKey
from treaty.core.state.view import Overlay, View
from treaty.node.segment import segment
from treaty.node.segment.layered import LayeredTables

S, T, AWAY = Subject(".", "s"), Subject(".", "t"), Subject(".", "away")
MANY = 300


def _over(view: View) -> View:
    overlay = Overlay(view)
    overlay.put(
        [
            make_row(SUBJECT, Subject(".", "over"), values.SubjectValue(1)),
            make_row(CONTEXT, ContextKey(".over"), values.Context()),
        ]
    )
    return overlay


KINDS: dict[str, Callable[[View], View]] = {"tables": lambda view: view, "overlay": _over}


@pytest.fixture(params=KINDS)
def over(request: pytest.FixtureRequest) -> Callable[[View], View]:
    return KINDS[request.param]


@cache
def with_contexts(count: int) -> Bench:
    bench = Bench()
    put(bench, S, "a")
    rows = [Row("context", (f".c{number}",), values.Context()) for number in range(count)]
    bench.tables.apply([encode_row(row) for row in rows], bench.position)
    for number in range(2):
        put(bench, Subject(f".c{number}", "t"), "a", f"t{number}")
    put(bench, Subject(".c0", "away"), "a")
    bench.do(DeleteSubject(Subject(".c0", "away")))
    return bench


@pytest.mark.parametrize(
    "request_",
    [
        Lookup(S, toy("a")),
        Lookup(S, toy("other")),
        Lookup(Subject(".", "nobody"), toy("a")),
        Lookup(T, toy("a", "t1")),
        GetVersion(S, 7),
        GetVersion(Subject(".", "nobody"), 1),
        GetVersion(T, 1),
        GetVersion(AWAY, LATEST),
        ListVersions(Subject(".", "nobody")),
        ListVersions(T),
        GetSchema(1, T),
        GetSchema(9, Subject(".", "nobody")),
        Register(S, toy("a", "b?")),
    ],
    ids=repr,
)
def test_contexts_without_the_name_cost_nothing(request_: Request[Any], over: Callable[[View], View]) -> None:
    few, many = with_contexts(3), with_contexts(MANY)
    assert work_of(many, request_, over) == work_of(few, request_, over)


@cache
def with_versions(count: int, state: str = "live") -> Bench:
    bench = Bench()
    bench.do(SetConfig(Scope("."), Config(level="BACKWARD")))
    put(bench, S, "a")
    put(bench, S, "a", "z?")
    for number in range(count):
        version = put(bench, S, "a", f"b{number}?")
        if state == "soft":
            bench.do(DeleteVersion(S, version.number))
    return bench


@pytest.mark.parametrize("state", ["live", "soft"])
@pytest.mark.parametrize(
    "request_",
    [
        GetVersion(S, LATEST),
        GetVersion(S, LATEST, deleted=True),
        GetVersion(S, 2),
        GetVersion(S, 2_000),
        Lookup(S, toy("a", "z?")),
        Lookup(S, toy("nothing")),
        Check(S, toy("a", "new?")),
        Check(S, toy("new")),
        Register(S, toy("a", "new?")),
        Register(S, toy("a", "z?")),
        Register(S, toy("new")),
        DeleteVersion(S, 2),
        DeleteVersion(S, LATEST),
        GetSchema(2, S),
    ],
    ids=repr,
)
def test_other_versions_of_a_subject_cost_nothing(
    request_: Request[Any], over: Callable[[View], View], state: str
) -> None:
    few, many = with_versions(12, state), with_versions(MANY, state)
    assert work_of(many, request_, over) == work_of(few, request_, over)


@pytest.mark.parametrize("level", ["BACKWARD_TRANSITIVE", "FULL_TRANSITIVE"])
def test_a_transitive_policy_compares_with_every_live_version_and_with_no_other(level: str) -> None:
    make_versions = with_versions.__wrapped__
    few, many, soft = make_versions(12), make_versions(MANY), make_versions(MANY, "soft")
    for bench in (few, many, soft):
        bench.do(SetConfig(Scope("."), Config(level=level)))
    request = Register(S, toy("a", "new?"))
    assert work_of(many, request) >= work_of(few, request) + MANY - 12
    assert work_of(soft, request) < work_of(few, request)


def test_purging_a_subject_costs_the_same_among_few_and_many_encodings() -> None:
    work = []
    for count in (3, MANY):
        bench = Bench()
        put(bench, S, "a")
        put(bench, T, "a")
        rows = [Row("encoding", (*T, number), values.Encoding(number, 1, 0)) for number in range(count)]
        bench.tables.apply([encode_row(row) for row in rows], bench.position)
        bench.do(DeleteSubject(S))
        work.append(work_of(bench, DeleteSubject(S, permanent=True)))
    assert work[0] == work[1]


@pytest.mark.parametrize("renamed", [False, True], ids=["same-schema", "other-schema"])
def test_registering_and_deleting_costs_the_same_after_many_turns(*, renamed: bool) -> None:
    bench = Bench()
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    work = []
    for turn in range(MANY):
        request = Register(S, toy(f"a{turn}" if renamed else "a"))
        registering = work_of(bench, request)
        version = bench.do(request).version
        work.append((registering, work_of(bench, DeleteVersion(S, version.number))))
        bench.do(DeleteVersion(S, version.number))
    assert work[-1] == work[5]
    rows = [row for key in bench.tables.keys(VERSION) if (row := bench.tables.get(VERSION, key))]
    assert len(rows) == MANY
    states = {row.state for row in rows}
    assert states == ({"soft"} if renamed else {"hidden", "soft"})


USING = toy("a", references=(Reference("n", "base", 1),))


@cache
def with_uses(count: int) -> Bench:
    """A schema that many subjects have and that refers to another one, to which many others refer."""
    bench = Bench()
    put(bench, Subject(".", "base"), "x")
    for number in range(count):
        bench.do(Register(Subject(".", f"u{number:04}"), USING))
    for number in range(count):
        bench.do(Register(Subject(".", f"v{number:04}"), replace(USING, text=f'["a{number}"]')))
    return bench


@pytest.mark.parametrize(
    "request_",
    [
        GetSchema(2),
        GetSchema(2, Subject(".", "u0003")),
        GetSchema(2, Subject(".", "base")),
        DeleteVersion(Subject(".", "u0003"), 1),
        DeleteVersion(Subject(".", "base"), 1),
        Lookup(Subject(".", "u0003"), USING),
        Register(Subject(".", "fresh"), USING),
    ],
    ids=repr,
)
def test_other_uses_of_a_schema_cost_nothing(request_: Request[Any], over: Callable[[View], View]) -> None:
    few, many = with_uses(4), with_uses(MANY)
    assert work_of(many, request_, over) == work_of(few, request_, over)


def test_a_version_is_purged_at_the_cost_of_its_own_rows() -> None:
    few, many = with_uses.__wrapped__(4), with_uses.__wrapped__(MANY)
    for bench in (few, many):
        bench.do(DeleteVersion(Subject(".", "u0003"), 1))
    purge = DeleteVersion(Subject(".", "u0003"), 1, permanent=True)
    assert work_of(many, purge) == work_of(few, purge)


def test_a_guid_is_found_at_the_cost_of_one_context() -> None:
    few, many = Bench(), Bench()
    for bench, count in ((few, 3), (many, MANY)):
        for number in range(count):
            guid = put(bench, Subject(f".c{number:04}", "s"), "a").guid
        request = GetGuid(guid)
    assert work_of(many, request) == work_of(few, request)


def test_schemas_that_differ_in_their_version_alone_are_not_all_looked_up() -> None:
    """Where very many schemas of a context are alike, the versions of the one subject are walked instead."""
    bench = Bench()
    bench.do(SetMode(Scope("."), "IMPORT"))
    alike = [toy("a", metadata=Metadata(properties=(("confluent:version", str(number)),))) for number in range(MANY)]
    for number, draft in enumerate(alike, 1):
        bench.do(Register(Subject(".", f"s{number}"), draft, schema_id=number))
    request = Lookup(Subject(".", "s7"), toy("a"))
    assert bench.do(request).schema_id == 7
    assert work_of(bench, request) < 3 * FEW_IDS


def test_a_segment_sorts_the_rows_of_a_large_entry_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, layered = with_uses(MANY), LayeredTables(small=0)
    layered.load([*bench.tables.rows()], bench.position)
    entry = ("live", ".", 2)
    assert [*layered.find(VERSION_BY_SCHEMA, entry)] == [*bench.tables.find(VERSION_BY_SCHEMA, entry)]
    read: list[int] = []
    monkeypatch.setattr(segment.Segment, "key", _counted(segment.Segment.key, read))
    monkeypatch.setattr(segment.Segment, "_list_claiming", _counted(segment.Segment._list_claiming, read))
    assert next(layered.find(VERSION_BY_SCHEMA, entry)) == (".", "u0000", 2, 0)
    assert [*layered.find(VERSION_BY_SCHEMA, entry, (".", "u0123"))] == [(".", "u0123", 125, 0)]
    assert [*layered.find(VERSION_BY_SCHEMA, entry, (".", "base"))] == []
    assert len(read) < 60


def _counted(method: Callable[..., Any], read: list[int]) -> Callable[..., Any]:
    def called(*args: Any) -> Any:
        read.append(1)
        return method(*args)

    return called


def test_a_segment_takes_few_entries_from_either_end_of_a_long_order(monkeypatch: pytest.MonkeyPatch) -> None:
    bench, layered = with_versions(4 * MANY), LayeredTables(small=0)
    layered.load([*bench.tables.rows()], bench.position)
    read: list[int] = []
    monkeypatch.setattr(segment.Segment, "_read_entries", _counted(segment.Segment._read_entries, read))
    for view in (layered, Overlay(layered)):
        assert view.count(VERSION, ("live", ".", "s")) == 4 * MANY + 2
        assert (
            next(view.walk(VERSION_BY_NUMBER, ("live", ".", "s"), ("live", ".", "s\0"), reverse=True))[3]
            == 4 * MANY + 2
        )
        assert next(view.walk(VERSION_BY_NUMBER, ("live", ".", "s"), ("live", ".", "s\0")))[3] == 1
    assert len(read) <= 3
