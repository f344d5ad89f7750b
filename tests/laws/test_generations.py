"""Generations: a subject that is deleted for good and made again is somebody else, and inherits nothing."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.toy import Bench, S, Typed, put, toy, version_row
from treaty.core import associating as tied
from treaty.core import limits, values
from treaty.core import requests as q
from treaty.core.answers import Config
from treaty.core.command import Command, Decision
from treaty.core.commit import Position
from treaty.core.counters import ids_key, ordinals_key, types_key
from treaty.core.decide import decide
from treaty.core.names import Subject
from treaty.core.overlay import Overlay
from treaty.core.refusals import (
    InvalidSchema,
    NotEmpty,
    NotPermitted,
    Refusal,
    SubjectNotFound,
    TooLarge,
    VersionNotFound,
)
from treaty.core.resource import Resource
from treaty.core.rows import Key, Row, encode_row
from treaty.core.schema import Reference
from treaty.core.soundness import unsound

T, X = Subject(".", "t"), Subject(".x", "s")
NAMES = (("scheme", "first"),)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def given_by_hand(bench: Bench, *rows: Row) -> None:
    bench.position = Position(b"i" * 16, bench.position.sequence + 1, b"d" * 32)
    bench.tables.apply([encode_row(row) for row in rows], bench.position)


def empty(bench: Bench, subject: Subject = S, **members: Any) -> int:
    """Put a subject without versions; its generation."""
    generation = bench.position.sequence + 1
    given_by_hand(bench, Row("subject", tuple(subject), values.Subject(generation, **members)))
    return generation


def home(bench: Bench, subject: Subject = S) -> values.Subject:
    row = bench.tables.get("subject", tuple(subject))
    assert isinstance(row, values.Subject)
    return row


def purge(bench: Bench, subject: Subject = S) -> None:
    bench.do(q.DeleteSubject(subject))
    bench.do(q.DeleteSubject(subject, permanent=True))


def keys_of(bench: Bench, subject: Subject = S) -> set[tuple[str, Key]]:
    """The rows that carry a generation of a subject."""
    tables = {"version": 0, "name": 0, "counter": 1}
    return {
        (table, key)
        for table, at in tables.items()
        for key in bench.tables.keys(table)
        if key[at : at + 2] == tuple(subject) and key[at + 2]
    }


# ------------------------------------------------------------------------------------------------------ made again


def test_a_subject_that_is_made_again_begins_anew(bench: Bench) -> None:
    bench.do(q.SetConfig(q.Scope("."), Config(level="NONE")))
    for turn in range(3):
        creation = q.Creation(properties=(("turn", str(turn)),))
        first = put(bench, S, "a", names=NAMES, properties=(("turn", str(turn)),), create_with=creation)
        second = put(bench, S, f"b{turn}")
        assert [(one.ordinal, one.number) for one in (first, second)] == [(0, 1), (1, 2)]
        assert first.properties == home(bench).properties == (("turn", str(turn)),)
        row = version_row(bench, S, 1)
        assert row is not None
        assert row.type_version == 1
        generation = home(bench).generation
        assert generation == bench.position.sequence - 1, "the sequence of the commit that made it"
        assert keys_of(bench) == {
            ("version", (*S, generation, 0)),
            ("version", (*S, generation, 1)),
            ("name", (*S, generation, *NAMES[0])),
            ("counter", ordinals_key(S, generation)),
            ("counter", types_key(S, generation, "TOY", "")),
        }
        assert not [*unsound(bench.tables)]
        purge(bench)
        assert keys_of(bench) == set()


def test_rows_that_a_predecessor_left_by_a_fault_are_nobody_s(bench: Bench) -> None:
    """Even where nothing took them away the next subject of that name does not meet them."""
    put(bench, S, "a", names=NAMES)
    old = home(bench).generation
    left = [Row(table, key, bench.tables.get(table, key)) for table, key in keys_of(bench) if table != "version"]
    purge(bench)
    raised = [replace(row, value=values.Counter(7)) if row.table == "counter" else row for row in left]
    given_by_hand(bench, *raised)
    made = put(bench, S, "b", names=NAMES)

    row = version_row(bench, S, 0)
    assert row is not None
    assert (made.ordinal, made.number, row.type_version) == (0, 1, 0)
    assert {(one.rule, one.table) for one in unsound(bench.tables)} == {
        ("GENERATION_WRONG", "counter"),
        ("GENERATION_WRONG", "name"),
        ("VERSION_MISSING", "name"),
    }
    assert {one.key[:3] for one in unsound(bench.tables) if one.table == "name"} == {(*S, old)}


def test_a_subject_that_is_made_again_in_the_same_chain_is_another_one(bench: Bench) -> None:
    put(bench, S, "a", names=NAMES)
    bench.do(q.DeleteSubject(S))
    chain, told = Overlay(bench.tables), []
    for number, request in enumerate(
        (q.DeleteSubject(S, permanent=True), q.Register(S, toy("b"), names=NAMES), q.Register(S, toy("b", "c?")))
    ):
        verdict = decide(chain, Command(request, f"chain{number}", 1), bench.grammar)
        while not isinstance(verdict, Decision):
            assert not isinstance(verdict, Refusal), verdict
            bench.grammar.asked.update(verdict.questions)
            verdict = decide(chain, Command(request, f"chain{number}", 1), bench.grammar)
        chain.put(verdict.rows)
        told.append(verdict)
    given_by_hand(bench, *(row for one in told for row in one.rows))

    generation = home(bench).generation
    assert keys_of(bench) == {
        ("version", (*S, generation, 0)),
        ("version", (*S, generation, 1)),
        ("name", (*S, generation, *NAMES[0])),
        ("counter", ordinals_key(S, generation)),
        ("counter", types_key(S, generation, "TOY", "")),
    }
    assert [told[1].answer.version.ordinal, told[2].answer.version.ordinal] == [0, 1]


def test_a_subject_that_goes_and_comes_in_one_command_is_another_one(bench: Bench) -> None:
    resource = Resource("orders", "lkc", "r")
    wish = tied.Wish("value", S, "STRONG", schema=q.Register(S, toy("a")))
    bench.do(tied.Associate(resource, (wish,)))
    put(bench, S, "a", "b?")
    again = replace(wish, schema=q.Register(S, toy("z")))
    steps = (tied.Operation("DELETE", tied.Wish("value"), cascade=True), tied.Operation("CREATE", again))
    (result,) = bench.do(tied.ChangeAssociations((tied.Change(resource, steps),))).results

    assert result.refused is None
    generation = home(bench).generation
    assert generation == bench.position.sequence
    assert keys_of(bench) == {
        ("version", (*S, generation, 0)),
        ("counter", ordinals_key(S, generation)),
        ("counter", types_key(S, generation, "TOY", "")),
    }


SUBJECTS = st.sampled_from([S, T, X])
TEXTS = st.sampled_from([("a",), ("b?",), ("a", "b?"), ("c?",)])


@st.composite
def lives(draw: st.DrawFn) -> list[q.Request[Any]]:
    """Registrations and deletions, by version and by subject; some of them in import mode."""
    steps: list[q.Request[Any]] = [q.SetConfig(q.Scope("*"), Config(level="NONE"))]
    for _ in range(draw(st.integers(5, 40))):
        subject = draw(SUBJECTS)
        permanent = draw(st.booleans())
        steps.append(
            draw(
                st.sampled_from(
                    [
                        q.Register(subject, toy(*draw(TEXTS))),
                        q.Register(
                            subject,
                            toy(*draw(TEXTS)),
                            schema_id=draw(st.integers(1, 4)),
                            number=draw(st.integers(1, 3)),
                        ),
                        q.DeleteVersion(subject, draw(st.integers(1, 4)), permanent),
                        q.DeleteSubject(subject, permanent),
                        q.SetMode(q.Scope(*subject), draw(st.sampled_from(["IMPORT", "READWRITE"])), force=permanent),
                    ]
                )
            )
        )
    return steps


@given(lives())
def test_nothing_is_given_twice_within_a_generation(steps: list[q.Request[Any]]) -> None:
    """Neither an ordinal nor a number of a version of its type, also where the versions that had them are gone."""
    bench, ordinals, types = Bench(), set[Key](), set[Key]()
    bench.grammar = Typed()
    for step in steps:
        before = {*bench.tables.keys("version")}
        try:
            bench.do(step)
        except Refusal:
            continue
        for key in {*bench.tables.keys("version")} - before:
            version = bench.tables.get("version", key)
            assert isinstance(version, values.Version)
            assert key[2] == home(bench, Subject(str(key[0]), str(key[1]))).generation
            number = (*key[:3], version.type_name, version.type_version)
            assert key not in ordinals
            assert number not in types
            ordinals.add(key)
            types.add(number)
    assert not [*unsound(bench.tables)]
    subjects = {*bench.tables.keys("subject")}
    assert {key[1:3] for key in bench.tables.keys("counter") if key[3]} == subjects, "one of each subject, and no other"


# ------------------------------------------------------------------------------------------------- without versions


def test_a_subject_without_versions_is_sound_and_not_told(bench: Bench) -> None:
    empty(bench)
    empty(bench, X)
    given_by_hand(bench, Row("context", (".x",), values.Context()))
    put(bench, T, "a")

    assert not [*unsound(bench.tables)]
    for visible in ("live", "all", "deleted"):
        assert bench.do(q.ListSubjects(Subject("*", ""), visible)).names == (("t",) if visible != "deleted" else ())
    assert [one.subject for one in bench.do(q.ListSchemas(Subject("*", ""), "all")).versions] == ["t"]
    assert bench.do(q.UsesOf(1, S, "all")).uses == (("t", 1),)
    reference = toy("b?", references=(Reference("r", "s", -1),))
    with pytest.raises(InvalidSchema, match="No schema reference found"):
        bench.do(q.Register(T, reference))


ASKED: tuple[q.Request[Any], ...] = (
    q.ListVersions(S, "all"),
    q.GetVersion(S, q.LATEST, deleted=True),
    q.GetVersion(S, 1),
    q.FindVersion(S, (), deleted=True),
    q.Lookup(S, toy("a"), deleted=True),
    q.ReferencedBy(S, 1),
    q.DeleteVersion(S, 1),
    q.DeleteVersion(S, 1, permanent=True),
    q.DeleteSubject(S),
    q.DeleteSubject(S, permanent=True),
    q.Derive(S, 1),
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
    assert bench.do(q.Check(S, toy("a"))).compatible
    with pytest.raises(VersionNotFound):
        bench.do(q.Check(S, toy("a"), 1))
    bench.do(q.SetConfig(q.Scope(*S), Config(level="FULL")))
    assert bench.do(q.GetConfig(q.Scope(*S))).config == Config(level="FULL")
    bench.do(q.SetMode(q.Scope(*S), "READONLY"))
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
        bench.do(q.DeleteContext(".x"))


def test_the_first_version_keeps_what_the_subject_is(bench: Bench) -> None:
    made = empty(bench, properties=(("team", "c"),))
    first = put(bench, S, "a", create_with=q.Creation(properties=(("team", "d"),)))

    assert (first.ordinal, first.number) == (0, 1)
    assert home(bench) == values.Subject(made, properties=(("team", "c"),))
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
    assert not [*unsound(bench.tables)]
    assert put(bench, S, "a").ordinal == 5
    row = version_row(bench, S, 5)
    assert row is not None
    assert row.type_version == 3
    purge(bench)
    assert keys_of(bench) == set()


def test_entering_import_mode_leaves_a_subject_without_versions(bench: Bench) -> None:
    empty(bench)
    put(bench, T, "a")
    bench.do(q.DeleteSubject(T))
    bench.do(q.SetMode(q.Scope("."), "IMPORT"))

    assert {*bench.tables.keys("subject")} == {tuple(S)}
    assert bench.do(q.Register(S, toy("a"), schema_id=9, number=7)).version.number == 7


# -------------------------------------------------------------------------------------------------------- soundness


def moved(bench: Bench, by: int) -> Iterator[Row]:
    """The rows of a subject under another generation, counters that stay for ever too."""
    for table, at in (("version", 2), ("name", 2), ("counter", 3)):
        for key in [*bench.tables.keys(table)]:
            yield Row(table, key, None)
            yield Row(table, (*key[:at], int(key[at]) + by, *key[at + 1 :]), bench.tables.get(table, key))


def test_rows_of_another_generation_are_named(bench: Bench) -> None:
    put(bench, S, "a", names=NAMES)
    assert not [*unsound(bench.tables)]
    given_by_hand(bench, *moved(bench, 5))

    generation = home(bench).generation + 5
    wrong = {(one.table, one.key) for one in unsound(bench.tables) if one.rule == "GENERATION_WRONG"}
    assert wrong == {*keys_of(bench), ("counter", (*ids_key(".")[:3], 5, ""))}
    assert f"it is of generation {generation}, its subject of {generation - 5}" in {
        one.message for one in unsound(bench.tables)
    }


def test_rows_without_their_subject_are_named(bench: Bench) -> None:
    put(bench, S, "a", names=NAMES)
    given_by_hand(bench, Row("subject", tuple(S), None))

    missing = {(one.table, one.key) for one in unsound(bench.tables) if one.rule == "SUBJECT_MISSING"}
    assert missing == keys_of(bench)


@pytest.mark.parametrize("kind", ["ordinals", "types"])
def test_a_counter_that_is_behind_its_versions_is_named(bench: Bench, kind: str) -> None:
    bench.do(q.SetConfig(q.Scope("."), Config(level="NONE")))
    put(bench, S, "a")
    put(bench, S, "b")
    key = next(key for key in bench.tables.keys("counter") if key[0] == kind)
    for value in (values.Counter(0), None):
        given_by_hand(bench, Row("counter", key, value))
        (one, *_) = [one for one in unsound(bench.tables) if one.key[3] == 1]
        assert (one.rule, one.table) == ("COUNTER_BEHIND", "version")


@pytest.mark.parametrize("restored", [False, True])
def test_a_generation_that_is_to_come_is_named_unless_the_log_was_restored(bench: Bench, *, restored: bool) -> None:
    put(bench, S, "a")
    ahead = home(bench).generation + 1_000
    given_by_hand(bench, *(row for row in moved(bench, 1_000) if row.key[0] != "ids"))
    given_by_hand(bench, Row("subject", tuple(S), values.Subject(ahead)))
    if restored:
        given_by_hand(bench, Row("log_origin", ("origin",), values.LogOrigin("00" * 16, 2_000, "00" * 32)))

    assert [one.rule for one in unsound(bench.tables)] == ([] if restored else ["GENERATION_AHEAD"])
    assert put(bench, S, "a", "b?").ordinal == 1
