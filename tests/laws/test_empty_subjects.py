"""Subjects without versions: sound, not told to Confluent's clients, and themselves when the first version comes."""

from typing import Any

import pytest

from tests.laws.subjects import empty, given_by_hand, home, keys_of, purge
from tests.laws.toy import Bench, S, put, toy, version_row
from treaty.core import limits
from treaty.core.invariants import find_violations
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.registration import Derive, Register, SubjectCreation
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import ReferencedBy, UsesOf
from treaty.core.messages.settings import Config, GetConfig, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, NotEmpty, NotPermitted, SubjectNotFound, TooLarge, VersionNotFound
from treaty.core.schema import Reference
from treaty.core.state import values
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import SUBJECT, ordinals_key, types_key

T, X = Subject(".", "t"), Subject(".x", "s")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_subject_without_versions_is_sound_and_not_told(bench: Bench) -> None:
    empty(bench)
    empty(bench, X)
    given_by_hand(bench, Row("context", (".x",), values.Context()))
    put(bench, T, "a")

    assert not [*find_violations(bench.tables)]
    for visible in ("live", "all", "deleted"):
        assert bench.do(ListSubjects(Subject("*", ""), visible)).names == (("t",) if visible != "deleted" else ())
    assert [one.subject for one in bench.do(ListSchemas(Subject("*", ""), "all")).versions] == ["t"]
    assert bench.do(UsesOf(1, S, "all")).uses == (("t", 1),)
    reference = toy("b?", references=(Reference("r", "s", -1),))
    with pytest.raises(InvalidSchema, match="No schema reference found"):
        bench.do(Register(T, reference))


ASKED: tuple[Request[Any], ...] = (
    ListVersions(S, "all"),
    GetVersion(S, LATEST, deleted=True),
    GetVersion(S, 1),
    FindVersion(S, (), deleted=True),
    Lookup(S, toy("a"), deleted=True),
    ReferencedBy(S, 1),
    DeleteVersion(S, 1),
    DeleteVersion(S, 1, permanent=True),
    DeleteSubject(S),
    DeleteSubject(S, permanent=True),
    Derive(S, 1),
)


def test_to_confluent_a_subject_without_versions_is_not_there(bench: Bench) -> None:
    """The same answer as for a subject that is not there at all; the dialect that made it takes it away."""
    empty(bench)
    for request in ASKED:
        refused = bench.verdict(request)
        absent = Bench().verdict(request)
        assert isinstance(refused, SubjectNotFound)
        assert isinstance(absent, SubjectNotFound)
        assert refused.reason == absent.reason
    assert home(bench).generation


def test_checks_and_settings_do_not_mind(bench: Bench) -> None:
    empty(bench)
    assert bench.do(Check(S, toy("a"))).compatible
    with pytest.raises(VersionNotFound):
        bench.do(Check(S, toy("a"), 1))
    bench.do(SetConfig(Scope(*S), Config(level="FULL")))
    assert bench.do(GetConfig(Scope(*S))).config == Config(level="FULL")
    bench.do(SetMode(Scope(*S), "READONLY"))
    with pytest.raises(NotPermitted):
        put(bench, S, "a")


def test_a_subject_without_versions_takes_room_and_keeps_its_context(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty(bench, X)
    given_by_hand(bench, Row("context", (".x",), values.Context()))
    monkeypatch.setattr(limits, "SUBJECTS_PER_CONTEXT", 1)
    with pytest.raises(TooLarge, match="has 1 subjects"):
        put(bench, Subject(".x", "t"), "a")
    assert put(bench, X, "a").number == 1
    purge(bench, X)
    empty(bench, X)
    with pytest.raises(NotEmpty):
        bench.do(DeleteContext(".x"))


def test_the_first_version_keeps_what_the_subject_is(bench: Bench) -> None:
    made = empty(bench, properties=(("team", "c"),))
    first = put(bench, S, "a", create_with=SubjectCreation(properties=(("team", "d"),)))

    assert (first.ordinal, first.number) == (0, 1)
    assert home(bench) == values.SubjectValue(made, properties=(("team", "c"),))
    assert keys_of(bench) == {
        ("version", (*S, made, 0)),
        ("counter", ordinals_key(S, made)),
        ("counter", types_key(S, made, "TOY", "")),
    }
    purge(bench)
    put(bench, S, "a")
    assert home(bench).generation == bench.position.sequence


def test_counters_of_a_subject_without_versions_go_on(bench: Bench) -> None:
    """Another dialect may leave a group without versions; what it gave is not given again."""
    made = empty(bench)
    given_by_hand(
        bench,
        Row("counter", ordinals_key(S, made), values.Counter(4)),
        Row("counter", types_key(S, made, "TOY", ""), values.Counter(2)),
    )
    assert not [*find_violations(bench.tables)]
    assert put(bench, S, "a").ordinal == 5
    row = version_row(bench, S, 5)
    assert row is not None
    assert row.type_version == 3
    purge(bench)
    assert keys_of(bench) == set()


def test_entering_import_mode_leaves_a_subject_without_versions(bench: Bench) -> None:
    empty(bench)
    put(bench, T, "a")
    bench.do(DeleteSubject(T))
    bench.do(SetMode(Scope("."), "IMPORT"))

    assert {*bench.tables.keys(SUBJECT)} == {tuple(S)}
    assert bench.do(Register(S, toy("a"), schema_id=9, number=7)).version.number == 7
