"""Generations: a subject that is deleted for good and made again is somebody else, and inherits nothing."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.subjects import given_by_hand, home, keys_of, purge
from tests.laws.toy import Bench, S, Typed, put, toy, version_row
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.invariants import find_violations
from treaty.core.messages import associations as tied
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.state import values
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import (
    CONFIG,
    COUNTER,
    MODE,
    SUBJECT,
    TABLES,
    VERSION,
    ScopeKey,
    ids_key,
    ordinals_key,
    types_key,
)
from treaty.core.state.table import Key
from treaty.core.state.view import Overlay

T, X = Subject(".", "t"), Subject(".x", "s")
NAMES = (("scheme", "first"),)


@pytest.fixture
def bench() -> Bench:
    return Bench()


# ------------------------------------------------------------------------------------------------------ made again


def test_a_subject_that_is_made_again_begins_anew(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    for turn in range(3):
        creation = SubjectCreation(properties=(("turn", str(turn)),))
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
        assert not [*find_violations(bench.tables)]
        purge(bench)
        assert keys_of(bench) == set()


def test_settings_are_kept_by_name_and_go_with_a_permanent_delete(bench: Bench) -> None:
    """They may come before the subject, and have no generation."""
    scope, key = Scope(*S), ScopeKey("subject", *S)
    for level in ("FULL", "NONE"):
        bench.do(SetConfig(scope, Config(level=level)))
        bench.do(SetMode(scope, "READWRITE"))
        assert put(bench, S, "a").number == 1
        accepted = not isinstance(bench.verdict(Register(S, toy("b")), f"ask {level}"), Refusal)
        assert accepted is (level == "NONE"), "the level that was set before there was a subject"
        bench.do(DeleteSubject(S))
        assert bench.tables.get(CONFIG, key) is not None
        assert bench.tables.get(MODE, key) is not None
        bench.do(DeleteSubject(S, permanent=True))
        assert bench.tables.get(CONFIG, key) is None
        assert bench.tables.get(MODE, key) is None


def test_rows_that_a_predecessor_left_by_a_fault_are_nobody_s(bench: Bench) -> None:
    """Even where nothing took them away the next subject of that name does not meet them."""
    put(bench, S, "a", names=NAMES)
    old = home(bench).generation
    left = [
        Row(table, key, bench.tables.get(TABLES[table], key)) for table, key in keys_of(bench) if table != "version"
    ]
    purge(bench)
    raised = [replace(row, value=values.Counter(7)) if row.table == "counter" else row for row in left]
    given_by_hand(bench, *raised)
    made = put(bench, S, "b", names=NAMES)

    row = version_row(bench, S, 0)
    assert row is not None
    assert (made.ordinal, made.number, row.type_version) == (0, 1, 0)
    assert {(one.rule, one.table) for one in find_violations(bench.tables)} == {
        ("GENERATION_WRONG", "counter"),
        ("GENERATION_WRONG", "name"),
        ("VERSION_MISSING", "name"),
    }
    assert {one.key[:3] for one in find_violations(bench.tables) if one.table == "name"} == {(*S, old)}


def test_a_subject_that_is_made_again_in_the_same_chain_is_another_one(bench: Bench) -> None:
    put(bench, S, "a", names=NAMES)
    bench.do(DeleteSubject(S))
    chain, told = Overlay(bench.tables), []
    for number, request in enumerate(
        (DeleteSubject(S, permanent=True), Register(S, toy("b"), names=NAMES), Register(S, toy("b", "c?")))
    ):
        verdict = decide(chain, Command(request, f"chain{number}", 1), bench.engine)
        while not isinstance(verdict, Decision):
            assert not isinstance(verdict, Refusal), verdict
            bench.engine.asked.update(verdict.questions)
            verdict = decide(chain, Command(request, f"chain{number}", 1), bench.engine)
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
    resource = tied.Resource("orders", "lkc", "r")
    wish = tied.AssociationSpec("value", S, "STRONG", schema=Register(S, toy("a")))
    bench.do(tied.Associate(resource, (wish,)))
    put(bench, S, "a", "b?")
    again = replace(wish, schema=Register(S, toy("z")))
    steps = (
        tied.AssociationChange("DELETE", tied.AssociationSpec("value"), cascade=True),
        tied.AssociationChange("CREATE", again),
    )
    (result,) = bench.do(tied.ChangeAssociations((tied.ResourceChange(resource, steps),))).results

    assert result.refused is None
    generation = home(bench).generation
    assert generation == bench.position.sequence
    assert keys_of(bench) == {
        ("version", (*S, generation, 0)),
        ("counter", ordinals_key(S, generation)),
        ("counter", types_key(S, generation, "TOY", "")),
    }


def test_the_numbers_of_a_type_go_on_behind_a_version_that_was_removed(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    put(bench, S, "a")
    put(bench, S, "b")
    for permanent in (False, True):
        bench.do(DeleteVersion(S, 2, permanent))
    third = put(bench, S, "c")

    row = version_row(bench, S, third.ordinal)
    assert row is not None
    assert (row.type_version, third.ordinal) == (2, 2), "both are counted from 0"


SUBJECTS = st.sampled_from([S, T, X])
TEXTS = st.sampled_from([("a",), ("b?",), ("a", "b?"), ("c?",)])


@st.composite
def lives(draw: st.DrawFn) -> list[Request[Any]]:
    """Registrations and deletions, by version and by subject; some of them in import mode."""
    steps: list[Request[Any]] = [SetConfig(Scope("*"), Config(level="NONE"))]
    for _ in range(draw(st.integers(5, 40))):
        subject = draw(SUBJECTS)
        permanent = draw(st.booleans())
        steps.append(
            draw(
                st.sampled_from(
                    [
                        Register(subject, toy(*draw(TEXTS))),
                        Register(
                            subject,
                            toy(*draw(TEXTS)),
                            schema_id=draw(st.integers(1, 4)),
                            number=draw(st.integers(1, 3)),
                        ),
                        DeleteVersion(subject, draw(st.integers(1, 4)), permanent),
                        DeleteSubject(subject, permanent),
                        SetMode(Scope(*subject), draw(st.sampled_from(["IMPORT", "READWRITE"])), force=permanent),
                    ]
                )
            )
        )
    return steps


@given(lives())
def test_nothing_is_given_twice_within_a_generation(steps: list[Request[Any]]) -> None:
    """Neither an ordinal nor a number of a version of its type, also where the versions that had them are gone."""
    bench, ordinals, types = Bench(), set[Key](), set[Key]()
    bench.engine = Typed()
    for step in steps:
        before = {*bench.tables.keys(VERSION)}
        try:
            bench.do(step)
        except Refusal:
            continue
        for key in {*bench.tables.keys(VERSION)} - before:
            version = bench.tables.get(VERSION, key)
            assert isinstance(version, values.Version)
            assert key[2] == home(bench, Subject(str(key[0]), str(key[1]))).generation
            number = (*key[:3], version.type_name, version.type_version)
            assert key not in ordinals
            assert number not in types
            ordinals.add(key)
            types.add(number)
    assert not [*find_violations(bench.tables)]
    subjects = {*bench.tables.keys(SUBJECT)}
    assert {key[1:3] for key in bench.tables.keys(COUNTER) if key[3]} == subjects, "one of each subject, and no other"


# -------------------------------------------------------------------------------------------------------- soundness


def moved(bench: Bench, by: int) -> Iterator[Row]:
    """The rows of a subject under another generation, counters that stay for ever too."""
    for table, at in (("version", 2), ("name", 2), ("counter", 3)):
        for key in [*bench.tables.keys(TABLES[table])]:
            yield Row(table, key, None)
            yield Row(table, (*key[:at], int(key[at]) + by, *key[at + 1 :]), bench.tables.get(TABLES[table], key))


def test_rows_of_another_generation_are_named(bench: Bench) -> None:
    put(bench, S, "a", names=NAMES)
    assert not [*find_violations(bench.tables)]
    given_by_hand(bench, *moved(bench, 5))

    generation = home(bench).generation + 5
    wrong = {(one.table, one.key) for one in find_violations(bench.tables) if one.rule == "GENERATION_WRONG"}
    assert wrong == {*keys_of(bench), ("counter", (*ids_key(".")[:3], 5, ""))}
    assert f"it is of generation {generation}, its subject of {generation - 5}" in {
        one.message for one in find_violations(bench.tables)
    }


def test_rows_without_their_subject_are_named(bench: Bench) -> None:
    put(bench, S, "a", names=NAMES)
    given_by_hand(bench, Row("subject", tuple(S), None))

    missing = {(one.table, one.key) for one in find_violations(bench.tables) if one.rule == "SUBJECT_MISSING"}
    assert missing == keys_of(bench)


@pytest.mark.parametrize("kind", ["ordinals", "types"])
def test_a_counter_that_is_behind_its_versions_is_named(bench: Bench, kind: str) -> None:
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    put(bench, S, "a")
    put(bench, S, "b")
    key = next(key for key in bench.tables.keys(COUNTER) if key[0] == kind)
    for value in (values.Counter(0), None):
        given_by_hand(bench, Row("counter", key, value))
        (one, *_) = [one for one in find_violations(bench.tables) if one.key[3] == 1]
        assert (one.rule, one.table) == ("COUNTER_BEHIND", "version")


@pytest.mark.parametrize("restored", [False, True])
def test_a_generation_that_is_to_come_is_named_unless_the_log_was_restored(bench: Bench, *, restored: bool) -> None:
    put(bench, S, "a")
    ahead = home(bench).generation + 1_000
    given_by_hand(bench, *(row for row in moved(bench, 1_000) if row.key[0] != "ids"))
    given_by_hand(bench, Row("subject", tuple(S), values.SubjectValue(ahead)))
    if restored:
        given_by_hand(bench, Row("log_origin", ("origin",), values.LogOrigin("00" * 16, 2_000, "00" * 32)))

    assert [one.rule for one in find_violations(bench.tables)] == ([] if restored else ["GENERATION_AHEAD"])
    assert put(bench, S, "a", "b?").ordinal == 1
