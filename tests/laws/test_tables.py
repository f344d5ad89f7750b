"""Tables hold what their rows say, however the rows came: one by one, in any order, in bulk, or over a base."""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.metastore_rows import metastore_rows
from treaty.core.state import values
from treaty.core.state.commit import START, Position, roots_of
from treaty.core.state.metastore.keys import TopicKey
from treaty.core.state.metastore.tables import TOPIC
from treaty.core.state.ordered import BLOCK, SortedKeys
from treaty.core.state.rows import (
    ROW_FORMAT,
    EncodedRow,
    Row,
    UnreadableRowError,
    UnreadableValue,
    decode_row,
    encode_row,
)
from treaty.core.state.state_tables import IDS, INDEXES, KINDS_OF_SUBJECT, ORDERS, SUBJECT, TABLES, AnyIndex, AnyTable
from treaty.core.state.table import Key, may_lie_between
from treaty.core.state.tables import DictTables
from treaty.core.state.view import Overlay, Tables, View, after, count_group, index_entries, past, span

T = TypeVar("T")

contexts = st.sampled_from([".", ".x"])
subjects = st.sampled_from(["s", "t"])
small = st.integers(0, 3)
words = st.sampled_from(["", "a", "b"])
kinds = st.sampled_from([IDS, *KINDS_OF_SUBJECT])
used = st.builds(values.StoredReference, st.just("n"), st.sampled_from(["s", "t", ":.x:s"]), st.integers(1, 2), small)
readable = st.one_of(
    metastore_rows,
    st.builds(
        Row,
        st.just("schema"),
        st.tuples(contexts, small),
        st.none()
        | st.builds(values.Schema, words, st.just("TOY"), words, words, st.lists(used, max_size=3).map(tuple)),
    ),
    st.builds(
        Row,
        st.just("version"),
        st.tuples(contexts, subjects, small, small),
        st.none()
        | st.builds(
            values.Version,
            small,
            small,
            st.just("TOY"),
            state=st.sampled_from(["live", "soft", "hidden", "purged"]),
            content=words,
        ),
    ),
    st.builds(
        Row,
        st.just("name"),
        st.tuples(contexts, subjects, small, words, words),
        st.none() | st.builds(values.Name, small),
    ),
    st.builds(Row, st.just("outcome"), st.tuples(words, words), st.none() | st.builds(values.Outcome, small, words)),
    st.builds(
        Row, st.just("subject"), st.tuples(contexts, subjects), st.none() | st.builds(values.SubjectValue, small)
    ),
    st.builds(
        Row,
        st.just("counter"),
        st.tuples(kinds, contexts, subjects, small, words),
        st.none() | st.builds(values.Counter, small),
    ),
)
EVERYTHING: tuple[Key, Key] = ((), (chr(0x10FFFF),))
NEWER = f'{{"v":{ROW_FORMAT + 1}}}'
aliens = st.one_of(
    st.builds(
        EncodedRow,
        st.sampled_from(["schema", "version", "outcome"]),
        st.sampled_from(['[".",1]', '[".","s",1,0]', '["a"]', '["."]', "[]", '[1,"."]']),
        st.sampled_from([NEWER, "{}", "[]", "7", '{"guid":1}', '{"sequence":"x","kind":"a"}', "not json"]),
    ),
    st.builds(
        EncodedRow,
        st.sampled_from(["future", "Schema", ""]),
        st.sampled_from(["[]", '["a"]', "[1]", '["a",1]', "[null]", '["a",[1,["b"]]]', '[{"a":1}]', "[1.5]"]),
        st.none() | st.sampled_from(["{}", NEWER, "null"]),
    ),
)
histories = st.lists(readable.map(encode_row) | aliens, max_size=24)
readable_histories = st.lists(readable.map(encode_row), max_size=24)
"""What overlays get: nobody decides while a row can't be read."""
seeds = st.integers(0, 2**16)


def place(sequence: int) -> Position:
    return Position(b"i" * 16, sequence, sequence.to_bytes(32, "big"))


def batches(rows: Sequence[EncodedRow], chance: random.Random) -> Iterable[Sequence[EncodedRow]]:
    rest = list(rows)
    while rest:
        cut = chance.randint(1, len(rest))
        yield rest[:cut]
        rest = rest[cut:]


def shuffled(rows: Iterable[T], chance: random.Random) -> list[T]:
    some = list(rows)
    chance.shuffle(some)
    return some


def last(rows: Iterable[EncodedRow]) -> list[EncodedRow]:
    """The last state of every row, tombstones among them."""
    return [*{(row.table, row.key): row for row in rows}.values()]


def applied(some: Iterable[Sequence[EncodedRow]], end: Position) -> DictTables:
    tables = DictTables()
    for number, rows in enumerate(some):
        tables.apply(rows, place(number))
    tables.apply((), end)
    return tables


def asked(rows: Iterable[EncodedRow]) -> tuple[set[tuple[str, Key]], set[tuple[str, Key]]]:
    """Every (table, key) and every (index, entry) that the rows name, now or earlier."""
    decoded = [decode_row(row) for row in rows]
    claims = {claim for row in decoded for claim in index_entries(row) if INDEXES[claim[0]].key_of is None}
    return {(row.table, row.key) for row in decoded}, claims


def answer(question: Callable[[], T]) -> T | str:
    """What a view answers, or that it can't say because of a row that can't be read."""
    try:
        return question()
    except UnreadableRowError:
        return "unreadable"


def walked_over(view: View, order: AnyTable | AnyIndex, *, reverse: bool = False) -> list[Key]:
    """All of an order, ascending."""
    keys: list[Key] = [*view.walk(order, *EVERYTHING, reverse=reverse)]
    return keys[::-1] if reverse else keys


def found(view: View, index: str, entry: Key, head: Key = ()) -> list[object]:
    """What is found, and whether there may be more that can't be read."""
    keys, shown = view.find(INDEXES[index], entry, head), []
    while (one := answer(partial(next, keys, None))) is not None:
        shown.append(one)
        if one == "unreadable":
            break
    return shown


def seen(view: View, rows: Sequence[EncodedRow]) -> dict[object, object]:
    """Everything that can be seen of the rows in a view."""
    keys, claims = asked(rows)
    known = [(TABLES[table], key) for table, key in keys if table in TABLES]
    shown: dict[object, object] = {
        ("get", table.name, key): answer(partial(view.get, table, key)) for table, key in known
    }
    shown |= {("find", index, entry): found(view, index, entry) for index, entry in claims}
    versions = [claim for claim in claims if INDEXES[claim[0]].table == "version"]
    heads = [key[:2] for table, key in keys if table == "version" and len(key) > 2]
    shown |= {("head", *claim, head): found(view, *claim, head) for claim in versions for head in heads}
    for group in map(count_group, map(decode_row, rows)):
        if group is not None:
            shown["count", *group] = view.count(TABLES[group[0]], group[1])
    for table in TABLES.values():
        there = list(view.keys(table))
        assert len(there) == len(set(there))
        assert all(type(key) is table.key for key in there)
        shown["keys", table.name] = frozenset(there)
    for name, order in ORDERS.items():
        shown["walk", name] = answer(partial(walked_over, view, order))
        back = answer(partial(walked_over, view, order, reverse=True))
        assert shown["walk", name] == back
    return shown


def whole(tables: Tables, rows: Sequence[EncodedRow]) -> dict[object, object]:
    """Everything that can be seen of the rows in tables."""
    return seen(tables, rows) | {
        "roots": dict(tables.roots),
        "quarantine": dict(tables.quarantine),
        "position": tables.position,
        "sequence": tables.sequence,
        "totals": {name: _check_total(tables, table) for name, table in TABLES.items()},
    }


def _check_total(tables: Tables, table: AnyTable) -> int:
    """How many keys a table has, as it counts them itself and as somebody does who looks at all."""
    assert tables.total(table) == sum(1 for _ in tables.keys(table))
    return tables.total(table)


def walked(order: str, live: Iterable[Row]) -> list[Key]:
    """What rows come to in an order, worked out the long way."""
    if order in TABLES:
        return sorted(row.key for row in live if row.table == order and not isinstance(row.value, UnreadableValue))
    return sorted({entry for row in live for index, entry in index_entries(row) if index == order})


@given(histories, seeds)
def test_loaded_applied_and_shuffled_tables_are_one(rows: list[EncodedRow], seed: int) -> None:
    chance, end = random.Random(seed), place(99)
    expected = whole(applied([[row] for row in rows], end), rows)
    assert whole(applied(batches(rows, chance), end), rows) == expected
    assert whole(applied(batches(shuffled(last(rows), chance), chance), end), rows) == expected
    loaded = applied(batches(shuffled(rows, chance), chance), place(5))
    loaded.load([row for row in shuffled(last(rows), chance) if row.value is not None], end)
    assert whole(loaded, rows) == expected


@given(histories)
def test_what_tables_show_is_what_their_rows_say(rows: list[EncodedRow]) -> None:
    tables = applied([rows], place(9))
    live = [decode_row(row) for row in last(rows) if row.value is not None]
    keys, claims = asked(rows)
    unreadable = [row for row in live if isinstance(row.value, UnreadableValue) and row.table in TABLES]
    aliens = {row.table for row in unreadable if TABLES[row.table].typed_key(row.key) is not None}
    for table, key in keys:
        if table in TABLES:
            there = [row.value for row in live if (row.table, row.key) == (table, key)] or [None]
            wanted = "unreadable" if isinstance(there[0], UnreadableValue) else there[0]
            assert answer(partial(tables.get, TABLES[table], key)) == wanted
    for index, entry in claims:
        claimants = [row.key for row in live if (index, entry) in index_entries(row)]
        more = ["unreadable"] if INDEXES[index].table in aliens else []
        assert found(tables, index, entry) in (sorted(claimants), sorted(claimants) + more)
        for head in {key[:2] for key in claimants if len(key) > 2}:
            wanted_keys = sorted(key for key in claimants if key[:2] == head)
            assert found(tables, index, entry, head) in (wanted_keys, wanted_keys + more)
    groups = [count_group(row) for row in live]
    for group in {*groups, *(count_group(decode_row(row)) for row in rows)} - {None}:
        assert group is not None
        assert tables.count(TABLES[group[0]], group[1]) == groups.count(group)
    for name, order in ORDERS.items():
        hidden = (name if name in TABLES else INDEXES[name].table) in aliens
        assert answer(partial(walked_over, tables, order)) == ("unreadable" if hidden else walked(name, live))
    assert tables.roots == roots_of(last(rows))
    assert dict(tables.quarantine) == {
        (row.table, row.key): row.value.why for row in live if isinstance(row.value, UnreadableValue)
    }


@given(histories)
def test_rows_that_are_known_need_not_be_decoded(rows: list[EncodedRow]) -> None:
    plain, known = DictTables(), DictTables()
    plain.apply(rows, place(3))
    known.apply(rows, place(3), {row: decode_row(row) for row in rows[::2]})
    assert whole(plain, rows) == whole(known, rows)


@given(readable_histories, readable_histories, seeds)
def test_an_overlay_shows_what_tables_with_its_rows_would(
    base: list[EncodedRow], over: list[EncodedRow], seed: int
) -> None:
    tables = applied([base], place(7))
    before = whole(tables, base + over)
    overlay = Overlay(tables)
    together = applied([base], place(7))
    for rows in batches(over, random.Random(seed)):
        overlay.put([decode_row(row) for row in rows])
        together.apply(rows, place(together.sequence + 1))
        assert overlay.sequence == together.sequence
        assert seen(overlay, base + over) == seen(together, base + over)
    assert whole(tables, base + over) == before


@given(histories)
def test_tables_that_lost_every_row_are_as_new(rows: list[EncodedRow]) -> None:
    tables = applied([rows, [EncodedRow(row.table, row.key, None) for row in rows]], START)
    assert whole(tables, rows) == whole(DictTables(), rows)
    assert tables.roots == {}


@given(histories)
def test_asking_for_what_never_was_finds_nothing(rows: list[EncodedRow]) -> None:
    tables = applied([rows], place(1))
    for view in (tables, Overlay(tables)):
        assert view.get(TOPIC, TopicKey("main", "x")) is None
        assert TopicKey("main", "x") not in list(view.keys(TOPIC))
        for name, index in INDEXES.items():
            if index.key_of is None:
                assert found(view, name, ("nothing", "here", "at all")[: len(index.key_parts)]) in ([], ["unreadable"])


LAST = chr(0x10FFFF)
letters = st.text(st.sampled_from(["a", "b", "\0", "\ud800", LAST]), max_size=3)


@given(st.lists(st.tuples(st.sampled_from([".", ".x"]), letters), unique=True), st.sampled_from([".", ".x"]), letters)
def test_a_span_is_what_begins_with_its_prefix(names: list[tuple[str, str]], context: str, prefix: str) -> None:
    tables = DictTables()
    tables.apply([encode_row(Row("subject", one, values.SubjectValue(1))) for one in names], place(1))
    found = list(tables.walk(SUBJECT, *span((context,), prefix)))
    assert found == sorted(one for one in names if one[0] == context and one[1].startswith(prefix))
    if found:
        assert list(tables.walk(SUBJECT, after(found[0]), span((context,), prefix)[1])) == found[1:]
    above = past(prefix)
    assert above is None or (above > prefix + LAST and not above.startswith(prefix))


@given(seeds, st.integers(1, 40))
def test_a_walk_takes_what_lies_between_its_bounds_among_many(seed: int, share: int) -> None:
    chance = random.Random(seed)
    kept = SortedKeys()
    there: set[Key] = set()
    for _ in range(3000):
        key: Key = (".", f"s{chance.randrange(2500)}")
        if key in there and chance.randrange(40) < share:
            kept.remove(key)
            there.remove(key)
        elif key not in there:
            kept.add(key)
            there.add(key)
    for _ in range(30):
        low, high = (".", f"s{chance.randrange(2600)}"), (".", f"s{chance.randrange(2600)}")
        between = sorted(key for key in there if low <= key < high)
        assert list(kept.ascend(low, high)) == between
        assert list(kept.descend(low, high)) == between[::-1]
    for one in chance.sample(sorted(there), len(there)):
        kept.remove(one)
    assert list(kept.ascend(*EVERYTHING)) == []


@pytest.mark.parametrize("width", [1, 4, 5, 700])
def test_a_walk_from_any_place_goes_over_the_edges_of_blocks_in_both_directions(width: int) -> None:
    keys: list[Key] = [(".", number) for number in range(3 * BLOCK)]
    ordered = SortedKeys()
    for key in keys:
        ordered.add(key)
    for end in range(len(keys) + 1):
        low, high, between = (".", end - width), (".", end), keys[max(end - width, 0) : end]
        assert list(ordered.ascend(low, high)) == between
        assert list(ordered.descend(low, high)) == between[::-1]


def test_settings_and_subjects_that_cannot_be_read_are_in_no_order() -> None:
    tables = DictTables()
    tables.apply([EncodedRow("subject", "[1]", "{}"), EncodedRow("config", '["subject",".","s"]', NEWER)], place(1))
    for view in (tables, Overlay(tables)):
        orders = {name: answer(partial(walked_over, view, one)) for name, one in ORDERS.items()}
        assert orders.pop("config") == "unreadable", "it is one of them, and nobody knows what it says"
        assert set(map(str, orders.values())) == {"[]"}, "no key of a subject is like that one"
    assert len(tables.quarantine) == 2


def test_an_entry_that_lies_between_bounds_may_lie_there() -> None:
    """Bounds of no part, of some and of all; a pattern whose open part comes before, at and behind the part in which they differ."""
    parts = range(3)
    bounds = [bound for length in range(3) for bound in product(parts, repeat=length)]
    for pattern in product((None, *parts), repeat=2):
        entries = [
            one
            for one in product(parts, repeat=2)
            if all(want in {None, at} for want, at in zip(pattern, one, strict=True))
        ]
        for low, high in product(bounds, repeat=2):
            if any(low <= one < high for one in entries):
                assert may_lie_between(pattern, low, high), (pattern, low, high)


def test_a_pattern_without_open_parts_lies_between_bounds_or_not() -> None:
    parts = range(3)
    bounds = [bound for length in range(4) for bound in product(parts, repeat=length)]
    for entry in product(parts, repeat=2):
        for low, high in product(bounds, repeat=2):
            assert may_lie_between(entry, low, high) == (low <= entry < high), (entry, low, high)
