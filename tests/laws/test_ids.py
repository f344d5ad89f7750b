"""Ids that importers give: how far they may reach, which hold a counter up, and how that is healed."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.toy import Bench, S, toy
from tests.worlds.histories import purge
from treaty.core.invariants import find_violations
from treaty.core.limits import COUNTER, ID_GAP
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import UsesOf
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Refusal, TooLarge
from treaty.core.state import state_tables as t
from treaty.core.state.commit import Position
from treaty.core.state.reserved import ReservedIds, healing_row, reserved_ids
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import IDS_SPARED, ids_key
from treaty.core.state.values import Counter, LogOrigin

IDS = ids_key(".")


@pytest.fixture
def bench() -> Bench:
    """A context with ids 1 to 3, in mode IMPORT."""
    made = Bench()
    for name in "abc":
        made.do(Register(S, toy("x", f"{name}?")))
    made.do(SetMode(Scope("."), "IMPORT", force=True))
    return made


def importing(bench: Bench, schema_id: int, name: str, **more: Any) -> int:
    return bench.do(
        Register(Subject(".", f"i-{name}"), toy(name), schema_id=schema_id, number=1, **more)
    ).version.schema_id


def registering(bench: Bench, name: str) -> int:
    bench.do(SetMode(Scope("."), "READWRITE"))
    given = bench.do(Register(Subject(".", f"r-{name}"), toy(name))).version.schema_id
    bench.do(SetMode(Scope("."), "IMPORT", force=True))
    return given


def by_hand(bench: Bench, *rows: Row) -> None:
    bench.position = Position(b"i" * 16, bench.position.sequence + 1, b"d" * 32)
    bench.tables.apply([encode_row(row) for row in rows], bench.position)


def held_up(bench: Bench, *ids: int) -> None:
    """Ids as an older version of Treaty took them, far above the rest."""
    for number, schema_id in enumerate(ids):
        by_hand(bench, Row("counter", IDS, Counter(schema_id - 1)))
        importing(bench, schema_id, f"far{number}")


def heal(bench: Bench) -> None:
    by_hand(bench, *(healing_row(bench.tables, one) for one in reserved_ids(bench.tables)))


def counter(bench: Bench) -> Counter:
    value = bench.tables.get(t.COUNTER, IDS)
    assert isinstance(value, Counter)
    return value


# ----------------------------------------------------------------------------------------------------- how far


def test_an_id_far_above_the_highest_one_is_refused_with_both(bench: Bench) -> None:
    for schema_id in (3 + ID_GAP + 1, COUNTER):
        with pytest.raises(TooLarge) as refused:
            importing(bench, schema_id, "far")
        reason = refused.value.reason
        assert (reason.rule, reason.path, reason.old, reason.new) == ("ID_GAP", "/id", "3", str(schema_id))
        assert reason.allowed.startswith(f"at most {3 + ID_GAP}; ")
        assert "PUT /treaty/contexts/:.:" in reason.allowed
    assert importing(bench, 3 + ID_GAP, "near") == 3 + ID_GAP
    assert registering(bench, "next") == 3 + ID_GAP + 1
    assert importing(bench, 3 + ID_GAP, "near") == 3 + ID_GAP, "what is there already is no new id"


def test_who_sets_the_highest_id_of_a_context_first_imports_from_there(bench: Bench) -> None:
    bench.do(MakeContext(".", 7_000_000))

    assert importing(bench, 7_900_000, "a") == 7_900_000
    assert importing(bench, 6_000_000, "b") == 6_000_000


def test_a_restore_counts_as_the_highest_id_of_contexts_that_it_does_not_know(bench: Bench) -> None:
    by_hand(bench, Row("counter", IDS_SPARED, Counter(500_000)))
    bench.do(SetMode(Scope(".y"), "IMPORT"))
    far = Register(Subject(".y", "s"), toy("a"), schema_id=500_000 + ID_GAP, number=1)

    assert bench.do(far).version.schema_id == 500_000 + ID_GAP


# ----------------------------------------------------------------------------------------------------- what is told


def test_nothing_is_told_where_ids_lie_close(bench: Bench) -> None:
    importing(bench, 3 + ID_GAP, "a")
    importing(bench, 3 + 2 * ID_GAP, "b")

    assert reserved_ids(bench.tables) == ()


def test_ids_that_hold_the_counter_up_are_told(bench: Bench) -> None:
    held_up(bench, 5_000_000, COUNTER)
    (found,) = reserved_ids(bench.tables)

    assert found == ReservedIds(".", COUNTER, 3, ((5_000_000, 5_000_000), (COUNTER, COUNTER)), 2)
    assert str(COUNTER) in str(found)
    assert not list(find_violations(bench.tables)), "they break no law"


def test_a_counter_whose_schema_was_deleted_for_good_is_told_too(bench: Bench) -> None:
    held_up(bench, COUNTER)
    bench.do(SetMode(Scope("."), "READWRITE"))
    bench.do(DeleteVersion(Subject(".", "i-far0"), 1))
    bench.do(DeleteVersion(Subject(".", "i-far0"), 1, permanent=True))

    assert reserved_ids(bench.tables) == (ReservedIds(".", COUNTER, 3, ((COUNTER, COUNTER),), 0),)


def test_ids_that_a_restore_left_free_are_no_gap(bench: Bench) -> None:
    by_hand(
        bench,
        Row("log_origin", ("origin",), LogOrigin("00", 9, "00", gap=5_000_000)),
        Row("counter", IDS, Counter(3 + 5_000_000)),
    )
    registering(bench, "after")

    assert reserved_ids(bench.tables) == ()


# ------------------------------------------------------------------------------------------------------ what heals


def test_a_healed_context_gives_the_next_ids_and_passes_over_reserved_ones(bench: Bench) -> None:
    held_up(bench, COUNTER)
    with pytest.raises(TooLarge, match="counter ids is used up"):
        registering(bench, "late")
    bench.do(SetMode(Scope("."), "IMPORT", force=True))
    heal(bench)

    assert counter(bench) == Counter(3, ((COUNTER, COUNTER),))
    assert not list(find_violations(bench.tables))
    assert reserved_ids(bench.tables) == ()
    assert [registering(bench, name) for name in "kl"] == [4, 5]
    assert importing(bench, COUNTER, "far0") == COUNTER, "its schema is still there"
    assert counter(bench).highest == 5


def test_a_reserved_id_is_never_given_again_even_where_its_schema_is_gone(bench: Bench) -> None:
    held_up(bench, 2_000_000)
    for schema_id in (2_000_001, 2_000_003):
        importing(bench, schema_id, f"more{schema_id}")
    heal(bench)
    bench.do(SetMode(Scope("."), "READWRITE"))
    bench.do(DeleteVersion(Subject(".", "i-more2000003"), 1))
    bench.do(DeleteVersion(Subject(".", "i-more2000003"), 1, permanent=True))
    by_hand(bench, Row("counter", IDS, Counter(1_999_998, counter(bench).reserved)))

    assert [registering(bench, name) for name in "kl"] == [1_999_999, 2_000_004]
    assert not list(find_violations(bench.tables))


@pytest.mark.parametrize("gone", [2_000_000, 2_000_001, 2_000_003])
def test_the_ends_of_a_reserved_range_are_never_given_again(bench: Bench, gone: int) -> None:
    """The lowest and the highest one, and one between, whose schemas were deleted for good."""
    held_up(bench, 2_000_000)
    for schema_id in (2_000_001, 2_000_003):
        importing(bench, schema_id, f"more{schema_id}")
    heal(bench)
    name = "i-far0" if gone == 2_000_000 else f"i-more{gone}"
    bench.do(SetMode(Scope("."), "READWRITE"))
    for request in purge(Subject(".", name), 1):
        bench.do(request)
    assert counter(bench).reserved == ((2_000_000, 2_000_003),)
    for below in (gone - 2, gone - 1):
        by_hand(bench, Row("counter", IDS, Counter(below, counter(bench).reserved)))
        given_ = [registering(bench, f"k{below}{count}") for count in range(4)]
        assert gone not in given_
        assert not list(find_violations(bench.tables))


def test_an_import_of_a_reserved_id_does_not_raise_the_counter_again(bench: Bench) -> None:
    held_up(bench, 2_000_000)
    importing(bench, 2_000_010, "end")
    heal(bench)

    assert importing(bench, 2_000_005, "between") == 2_000_005
    assert counter(bench).highest == 3
    assert registering(bench, "k") == 4


def test_an_id_that_exists_is_not_given_by_a_counter_that_lies_below_it(bench: Bench) -> None:
    by_hand(bench, Row("counter", IDS, Counter(1)))

    assert registering(bench, "k") == 4


near = st.sampled_from([2_000_000, 2_000_001, 2_000_003, 2_000_004, 2_000_010])
steps = st.one_of(
    st.sampled_from(["give", "heal", "lower", "purge", "purge"]), st.integers(1, 6_000_000), near, st.just(COUNTER)
)


@given(st.lists(steps, max_size=20))
def test_no_id_is_given_twice_whatever_was_imported_and_healed(history: list[str | int]) -> None:
    bench, meant = Bench(), dict[int, str]()
    bench.do(SetMode(Scope("."), "IMPORT"))
    for at, what in enumerate(history):
        try:
            if what == "heal":
                heal(bench)
                continue
            if what in {"lower", "purge"}:
                _purge_last(bench) if what == "purge" else _lower_counter(bench)
                continue
            if isinstance(what, int):
                by_hand(
                    bench,
                    Row("counter", IDS, Counter(max(what - 1, counter_of(bench).highest), counter_of(bench).reserved)),
                )
                told = importing(bench, what, f"n{at}")
            else:
                told = registering(bench, f"n{at}")
        except Refusal:
            bench.do(SetMode(Scope("."), "IMPORT", force=True))
            continue
        assert told not in meant or told == what, "only who imports says an id"
        meant[told] = f"n{at}"
        assert not list(find_violations(bench.tables))


def _purge_last(bench: Bench) -> None:
    """Delete the highest schema for good."""
    bench.do(SetMode(Scope("."), "READWRITE"))
    there = [key.id for key in bench.tables.keys(t.SCHEMA)]
    if there:
        ((user, number), *_) = bench.do(UsesOf(max(there))).uses
        for request in purge(Subject(".", user), number):
            bench.do(request)
    bench.do(SetMode(Scope("."), "IMPORT", force=True))


def _lower_counter(bench: Bench) -> None:
    """Let the next id be the highest one of the lowest reserved range, as it will be when all before it were given."""
    there = counter_of(bench)
    if there.reserved and there.highest < there.reserved[0][0]:
        by_hand(bench, Row("counter", IDS, replace(there, highest=there.reserved[0][1] - 1)))


def counter_of(bench: Bench) -> Counter:
    value = bench.tables.get(t.COUNTER, IDS)
    return value if isinstance(value, Counter) else Counter(0)
