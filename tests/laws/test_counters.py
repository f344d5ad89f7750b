"""Counters: what was given is never given again, and a counter goes only when nothing is left that it counts for."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.subjects import given_by_hand, home, purge
from tests.laws.toy import Bench, Typed, toy
from treaty.core.messages import associations as tied
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.encodings import AssignEncoding
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import (
    CONTEXT,
    COUNTER,
    IDS_SPARED,
    SCHEMA,
    TABLES,
    encodings_key,
    ids_key,
    ordinals_key,
    types_key,
)
from treaty.core.state.values import Counter, LogOrigin

S, T, X = Subject(".", "s"), Subject(".", "t"), Subject(".x", "s")
IDS = ids_key(".")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def put(bench: Bench, subject: Subject, *names: str, command_id: str = "") -> int:
    return bench.do(Register(subject, toy(*names)), command_id).version.ordinal


def purge_version(bench: Bench, subject: Subject, number: int) -> None:
    bench.do(DeleteVersion(subject, number))
    bench.do(DeleteVersion(subject, number, permanent=True))


def moved_to(bench: Bench, subject: Subject, generation: int) -> Iterator[Row]:
    """The versions and counters of a subject under another generation."""
    for table, at in (("version", 2), ("counter", 3)):
        for key in [*bench.tables.keys(TABLES[table])]:
            if key[at - 2 : at] == tuple(subject):
                yield Row(table, key, None)
                yield Row(table, (*key[:at], generation, *key[at + 1 :]), bench.tables.get(TABLES[table], key))


def counters(bench: Bench) -> list[tuple[str | int, ...]]:
    return sorted(bench.tables.keys(COUNTER))


# ----------------------------------------------------------------------------------------------- what is given back


def test_purged_subjects_leave_nothing_but_the_counter_of_ids(bench: Bench) -> None:
    for number in range(200):
        subject = Subject(".", f"s{number}")
        put(bench, subject, "a", f"b{number}?")
        purge(bench, subject)

    assert counters(bench) == [IDS]
    assert bench.tables.get(COUNTER, IDS) == Counter(200)
    left = {
        table for table in ("content", "schema", "subject", "version", "name") if [*bench.tables.keys(TABLES[table])]
    }
    assert left == set()


def test_the_last_version_takes_its_subject_and_the_counters_along(bench: Bench) -> None:
    put(bench, S, "a")
    put(bench, S, "a", "b?")
    purge_version(bench, S, 1)
    assert len(counters(bench)) == 3
    purge_version(bench, S, 2)

    assert counters(bench) == [IDS]


def test_types_that_were_purged_before_their_subject_leave_no_counter(bench: Bench) -> None:
    bench.engine = Typed()
    for names in (["a"], ["a", "b?"], ["a", "b?", "c?"]):
        put(bench, S, *names)
    purge_version(bench, S, 1)
    purge_version(bench, S, 2)
    assert len(counters(bench)) == 5, "they stay while the subject does"
    purge(bench, S)

    assert counters(bench) == [IDS]


def test_entering_import_mode_purges_counters_too(bench: Bench) -> None:
    for subject in (S, T, X):
        put(bench, subject, "a")
        bench.do(DeleteSubject(subject))
    bench.do(SetMode(Scope("."), "IMPORT"))
    generation = home(bench, X).generation

    assert counters(bench) == [IDS, ids_key(".x"), ordinals_key(X, generation), types_key(X, generation, "TOY", "")]


def test_a_strong_association_takes_them_along(bench: Bench) -> None:
    wish = tied.AssociationSpec("value", S, "STRONG", schema=Register(S, toy("a")))
    bench.do(tied.Associate(tied.Resource("orders", "lkc", "r"), (wish,)))
    assert len(counters(bench)) == 3
    bench.do(tied.Dissociate("r", cascade=True))

    assert counters(bench) == [IDS]


def test_the_counter_of_encoding_ids_stays_when_its_subject_goes(bench: Bench) -> None:
    """An old payload never means something else."""
    for turn in range(3):
        put(bench, S, "a")
        assert bench.do(AssignEncoding(S, 0)).encoding_id == turn
        bench.do(DeleteSubject(S))
        bench.do(DeleteSubject(S, permanent=True, force=True))

        assert counters(bench) == [encodings_key(S), IDS]
        assert bench.tables.get(COUNTER, encodings_key(S)) == Counter(turn)


def test_an_ordinal_is_given_once_while_the_subject_lives(bench: Bench) -> None:
    assert [put(bench, S, "a"), put(bench, S, "a", "b?"), put(bench, S, "a", "b?", "c?")] == [0, 1, 2]
    purge_version(bench, S, 3)
    assert put(bench, S, "a", "b?", "c?") == 3
    purge(bench, S)
    assert put(bench, S, "a") == 0, "another subject of the same name"


def test_a_command_is_not_told_the_version_of_a_later_subject(bench: Bench) -> None:
    """Its subject was deleted for good and made again, so that the ordinal that it was told is another version's."""
    bench.do(Register(T, toy("a")))  # so that the schema keeps its id
    first = bench.do(Register(S, toy("a")), "mine").version
    bench.clock += 100
    purge(bench, S)
    again = bench.do(Register(S, toy("a"))).version
    assert (again.schema_id, again.number, again.ordinal, again.guid) == (
        first.schema_id, first.number, first.ordinal, first.guid
    )  # fmt: skip
    answer = bench.do(Register(S, toy("a")), "mine")

    assert answer.created
    assert (answer.version.schema_id, answer.version.text, answer.version.time) == (first.schema_id, "", 0)
    purge(bench, S)
    bench.do(Register(S, toy("z")))
    assert bench.do(Register(S, toy("a")), "mine") == answer


def test_in_a_restored_log_a_command_is_told_its_version(bench: Bench) -> None:
    """Outcomes may count in the new log, and generations of subjects in the old one, whose sequences were higher."""
    first = bench.do(Register(S, toy("a")), "mine")
    moved = Row("subject", tuple(S), replace(home(bench), generation=1_000))
    rows = [*moved_to(bench, S, 1_000), moved]
    given_by_hand(bench, *rows, Row("log_origin", ("origin",), LogOrigin("00" * 16, 2_000, "00" * 32)))

    assert bench.do(Register(S, toy("a")), "mine") == first


# ------------------------------------------------------------------------------------------ what is never given again


def test_a_context_that_is_made_again_gives_ids_that_were_never_seen(bench: Bench) -> None:
    seen = []
    for name in "abcde":
        seen.append(bench.do(Register(X, toy(name))).version.schema_id)
        purge(bench, X)
        bench.do(DeleteContext(".x"))
        assert (".x",) not in set(bench.tables.keys(CONTEXT))

    assert seen == [1, 2, 3, 4, 5]
    bench.do(SetMode(Scope(".x"), "IMPORT"))
    assert bench.do(MakeContext(".x", 2)).highest_id == 5


def test_ids_that_a_restore_spared_stay_spared_in_a_context_that_is_made_again(bench: Bench) -> None:
    given_by_hand(bench, Row("counter", IDS_SPARED, Counter(1_000)))
    assert bench.do(Register(X, toy("a"))).version.schema_id == 1_001
    purge(bench, X)
    bench.do(DeleteContext(".x"))

    assert bench.do(Register(X, toy("a"))).version.schema_id == 1_002


subjects = st.sampled_from([S, X, Subject(".x", "t")])
steps = st.one_of(
    st.tuples(st.just("put"), subjects, st.sampled_from("abc")),
    st.tuples(st.sampled_from(["soften", "purge", "drop"]), subjects, st.just("")),
)


@given(st.lists(steps, min_size=5, max_size=40))
def test_an_id_means_one_schema_for_ever(history: list[tuple[str, Subject, str]]) -> None:
    """Also where subjects and contexts were deleted for good and made again meanwhile."""
    bench, meant = Bench(), defaultdict[tuple[str, int], list[str]](list)
    for what, subject, name in history:
        try:
            if what == "put":
                known = {key for key in bench.tables.keys(SCHEMA) if key[0] == subject.context}
                version = bench.do(Register(subject, toy(name))).version
                place = subject.context, version.schema_id
                if place not in known:
                    assert place not in meant, "given again"
                    meant[place].append(version.text)
                assert meant[place] == [version.text]
            elif what == "drop":
                purge(bench, subject)
                bench.do(DeleteContext(subject.context))
            else:
                bench.do(DeleteSubject(subject, permanent=what == "purge"))
        except Refusal:
            pass
