"""Tables that stand on a segment show what dictionaries show, whatever has changed since."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given

from tests.laws.test_tables import batches, histories, last, place, seeds, shuffled, whole
from tests.sample_rows import SAMPLES, digest_entries
from treaty.core.state import values
from treaty.core.state.commit import roots_of
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import INDEXES, ORDERS, OUTCOME_BY_SEQUENCE, SCHEMA, TABLES, VERSION
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.core.state.view import index_entries
from treaty.node.segment import build, statefile
from treaty.node.segment.heads import BlockHeads
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.segment import Segment


@given(histories, histories, seeds)
def test_a_segment_with_changes_over_it_is_as_dictionaries_are(
    below: list[EncodedRow], over: list[EncodedRow], seed: int
) -> None:
    chance, both = random.Random(seed), below + over
    plain, layered = DictTables(), LayeredTables(small=0)
    live = [row for row in shuffled(last(below), chance) if row.value is not None]
    for tables in (plain, layered):
        tables.load(live, place(4))
    assert whole(layered, both) == whole(plain, both)
    for rows in batches(over, chance):
        for tables in (plain, layered):
            tables.apply(rows, place(plain.sequence + 1 if tables is plain else plain.sequence))
        assert whole(layered, both) == whole(plain, both)


@pytest.mark.parametrize("copied", [True, False], ids=["blocks-copied", "written-anew"])
@given(below=histories, over=histories, later=histories)
def test_a_segment_made_from_an_older_one_has_what_came_since(
    below: list[EncodedRow], over: list[EncodedRow], later: list[EncodedRow], *, copied: bool
) -> None:
    everything = below + over + later
    plain, layered = DictTables(), LayeredTables(small=0)
    with pytest.MonkeyPatch.context() as patch:
        if copied:
            patch.setattr(build, "SAMPLES", 1)
            patch.setattr(build, "DEAD_SHARE", 1.0)
        for number, rows in enumerate((below, over, later), 1):
            for tables in (plain, layered):
                tables.apply(rows, place(number))
            built = layered.build_segment()
            assert built.roots == roots_of(row for row in plain.rows() if row not in built.raw_rows)
            assert built.rows + len(built.raw_rows) == plain.size
            layered.stand_on(open_built(built), place(number))
            assert whole(layered, everything) == whole(plain, everything)
            assert {*layered.rows()} == {*plain.rows()}
            assert layered.size == plain.size


def test_schemas_of_a_context_are_counted_where_blocks_of_an_older_segment_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(build, "SAMPLES", 1)
    rows = [encode_row(Row("schema", (".", number), values.Schema("g", "TOY", "[]", "l"))) for number in range(20)]
    layered = LayeredTables(small=0)
    layered.load(rows, place(1))
    for turn in (1, 2):
        gone = rows[2 * turn : 2 * turn + 2]
        layered.apply([EncodedRow(row.table, row.key, None) for row in gone], place(1 + turn))
        layered.stand_on(open_built(layered.build_segment()), place(1 + turn))
        assert layered.count(SCHEMA, (".",)) == len([*layered.keys(SCHEMA)]) == 20 - 2 * turn


def test_every_index_has_a_row_by_which_a_change_of_it_is_seen() -> None:
    claimed = {name for row in SAMPLES for name, _ in index_entries(row)}
    assert claimed == {*INDEXES}
    assert {row.table for row in SAMPLES} >= {one.name for one in TABLES.values() if one.ordered} - {"mode"}


def test_other_entries_of_rows_need_another_number() -> None:
    """A file that an older state of the sources wrote would find rows by entries that are no longer asked for."""
    assert (statefile.INDEX_FORMAT, digest_entries()) == (2, "45729c3154f7f42e"), (
        "raise INDEX_FORMAT, and put both here"
    )


@given(histories, histories)
def test_loading_anew_forgets_what_was_there(first: list[EncodedRow], second: list[EncodedRow]) -> None:
    plain, layered = DictTables(), LayeredTables(small=0)
    layered.load(first, place(1))
    layered.apply(second, place(2))
    for tables in (plain, layered):
        tables.load([row for row in last(second) if row.value is not None], place(7))
    assert whole(layered, first + second) == whole(plain, first + second)


def test_what_is_used_up_from_the_low_end_is_not_passed_over_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As outcomes are, one or some at each commit: what the walks look at in the base grows with what goes, not with its square."""
    rows = [encode_row(Row("outcome", ("", f"c{number}"), values.Outcome(number, "x"))) for number in range(1, 2_001)]
    tables = LayeredTables(small=0)
    tables.load(rows, place(2_000))
    looked_at = 0
    walk = Segment.walk

    def counting(*args: Any, **options: Any) -> Iterator[Key]:
        nonlocal looked_at
        for entry in walk(*args, **options):
            looked_at += 1
            yield entry

    monkeypatch.setattr(Segment, "walk", counting)
    for number in range(1, 1_001):
        assert next(tables.walk(OUTCOME_BY_SEQUENCE, (), ("", number + 1))) == ("", number, "", f"c{number}")
        tables.apply([encode_row(Row("outcome", ("", f"c{number}"), None))], place(2_000 + number))
        assert list(tables.walk(OUTCOME_BY_SEQUENCE, (), ("", number + 1))) == []
    assert looked_at < 5_000
    assert next(tables.walk(OUTCOME_BY_SEQUENCE, (), ("", 2_000))) == ("", 1_001, "", "c1001")
    assert len(list(tables.walk(OUTCOME_BY_SEQUENCE, (), ("", 2_001)))) == 1_000


def test_long_orders_are_walked_alike_from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks of entries, with changes over them, from bounds inside, between and outside of what is there."""
    chance = random.Random(9)
    names = [f"{chance.choice('abc')}{number % 700}é" for number in range(3_000)]
    rows = [
        encode_row(Row("version", (".", name, 1, number), values.Version(number % 40 + 1, number, "TOY")))
        for number, name in enumerate(names)
    ] + [encode_row(Row("subject", (".", name), values.SubjectValue(1))) for name in set(names)]
    plain, layered = DictTables(), LayeredTables(small=0)
    for tables in (plain, layered):
        tables.load(rows, place(4))
    for turn in range(3):
        for kept, bounds in ORDERED.items():
            order = ORDERS[kept]
            for _ in range(60):
                low, high = sorted((bounds(chance, names), bounds(chance, names)))
                found = [*plain.walk(order, low, high)]
                assert [*layered.walk(order, low, high)] == found
                assert [*layered.walk(order, low, high, reverse=True)] == found[::-1]
        changed = (
            chance.sample(rows, 5)
            if turn
            else [EncodedRow(row.table, row.key, None) for row in chance.sample(rows, 400)]
        )
        for tables in (plain, layered):
            tables.apply(changed, place(5))
        for name in chance.sample(names, 60):
            assert layered.count(VERSION, ("live", ".", name)) == plain.count(VERSION, ("live", ".", name))
        monkeypatch.setattr(build, "SAMPLES", 1)
        layered.stand_on(open_built(layered.build_segment()), place(5))
    assert layered.roots == plain.roots


def _name(chance: random.Random, names: list[str]) -> str:
    return chance.choice(["", "\U0010ffff", "b", chance.choice(names), f"{chance.choice(names)}0"])


ORDERED: dict[str, Callable[[random.Random, list[str]], Key]] = {
    "subject": lambda chance, names: (".", _name(chance, names)),
    "version.number": lambda chance, names: ("live", ".", _name(chance, names), chance.randrange(45)),
    "version.listed": lambda chance, names: ("live", ".", _name(chance, names)),
}


def test_a_column_of_no_heads_has_none() -> None:
    heads = BlockHeads(memoryview(b""))
    assert (len(heads), [*heads]) == (0, [])
