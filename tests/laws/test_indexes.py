"""Every view shows what its rows say, in every index and order: tables, a segment with changes over it, and overlays.

What is compared with is a dictionary of rows that is gone through from end to end for every question.
"""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws import metastore_rows
from treaty.core.names import Subject
from treaty.core.state import values
from treaty.core.state.commit import Position
from treaty.core.state.rows import (
    ROW_FORMAT,
    EncodedRow,
    Row,
    UnreadableRowError,
    UnreadableValue,
    Value,
    decode_row,
    encode_row,
)
from treaty.core.state.state_tables import (
    INDEXES,
    ORDERS,
    TABLES,
    AnyIndex,
    AnyTable,
    encodings_key,
    ids_key,
    ordinals_key,
    types_key,
)
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.core.state.view import ALL_KEYS, Overlay, View, after, count_group, index_entries
from treaty.node.segment.layered import LayeredTables, open_built

NEWER = f'{{"v":{ROW_FORMAT + 1}}}'
USED = (
    values.StoredReference("n", "s", 1, 1),
    values.StoredReference("m", "s", 1, 1),
    values.StoredReference("n", ":.x:s", 2, 2),
)
VERSION = values.Version(1, 1, "TOY")
BOUND = values.Association("s", "r", "ns", "k", guid="g")

KEYS: Mapping[str, Sequence[Key]] = {
    **metastore_rows.KEYS,
    "schema": ((".", 1), (".", 2), (".x", 1)),
    "version": (
        (".", "s", 1, 0),
        (".", "s", 1, 1),
        (".", "s", 1, 2),
        (".", "s", 2, 0),
        (".x", "s", 1, 0),
        (".", "t", 1, 0),
    ),
    "name": ((".", "s", 1, "scheme", "a"), (".", "s", 1, "scheme", "b"), (".", "s", 2, "scheme", "a")),
    "superseded": ((".", "s", 1, 0), (".", "s", 1, 1), (".x", "s", 1, 0)),
    "draft": ((".", "s", 1), (".", "s", 2), (".x", "s", 1)),
    "encoding": ((".", "s", 0), (".", "s", 1), (".x", "s", 0)),
    "codec": ((".", "s", "gzip"), (".", "s", "zip"), (".x", "s", "gzip")),
    "association": (("r", "key", "s"), ("r", "value", "s"), ("r2", "value", "t")),
    "config": (("subject", ".", "a"), ("subject", ".", "b"), ("subject", ".x", "a"), ("context", ".x", "")),
    "mode": (("subject", ".", "a"), ("context", ".x", ""), ("everywhere", "*", "")),
    "api_key": (("a" * 64,), ("b" * 64,)),
    "policy": (("p",), ("q",)),
    "outcome": (("", "c1"), ("", "c2"), ("user:a", "c2")),
    "subject": ((".", "s"), (".x", "s"), (".x", "t"), (".y", "s")),
    "context": ((".x",), (".y",)),
    "counter": (
        ids_key("."),
        encodings_key(Subject(".", "s")),
        ordinals_key(Subject(".", "s"), 1),
        ordinals_key(Subject(".", "s"), 2),
        types_key(Subject(".", "s"), 1, "TOY", ""),
        types_key(Subject(".", "s"), 1, "TOY", "a"),
        types_key(Subject(".x", "s"), 1, "TOY", ""),
    ),
}
VALUES: Mapping[str, Sequence[Value]] = {
    **metastore_rows.VALUES,
    "schema": (
        values.Schema("g1", "TOY", "[]", "l1"),
        values.Schema("g2", "TOY", "[]", "l1", USED[:2]),
        values.Schema("g1", "TOY", "[]", "l2", USED[1:]),
    ),
    "version": (
        VERSION,
        replace(VERSION, number=2, content="c"),
        replace(VERSION, schema_id=2, content="c"),
        replace(VERSION, state="soft"),
        replace(VERSION, number=2, state="hidden", identity="n"),
        replace(VERSION, identity="n"),
        replace(VERSION, state="purged"),
        replace(VERSION, state="of a later version"),
    ),
    "name": (values.Name(0), values.Name(1), values.Name(0, (1, 2))),
    "superseded": (values.SupersededVersion(1), values.SupersededVersion(2)),
    "draft": (values.StoredDraft("{"), values.StoredDraft("{}")),
    "encoding": (values.Encoding(1, 1, 0), values.Encoding(1, 1, 1), values.Encoding(1, 2, 0)),
    "codec": (values.Codec(), values.Codec((("level", "6"),))),
    "association": (
        BOUND,
        replace(BOUND, kind="key", lifecycle="STRONG"),
        replace(BOUND, subject="t", resource="r2", namespace="-", guid=""),
    ),
    "config": (
        values.ConfigValue(alias="s"),
        values.ConfigValue(follows="p"),
        *(values.ConfigValue(alias=alias) for alias in ("b", ":.x:a", None)),
        values.ConfigValue(follows="q", validators=("policy:p",)),
    ),
    "mode": (values.Mode("IMPORT"), values.Mode("READONLY")),
    "api_key": (values.ApiKey("com.acme", "READ"), values.ApiKey("com.acme", "CREATE")),
    "policy": (values.NamedPolicy(values.PolicyValue()), values.NamedPolicy(values.PolicyValue(), (("v", "p"),))),
    "outcome": (values.Outcome(1, "deleted"), values.Outcome(2, "deleted")),
    "subject": (values.SubjectValue(1), values.SubjectValue(2), values.SubjectValue(1, private=True)),
    "context": (values.Context(),),
    "counter": (values.Counter(1), values.Counter(2)),
}


def changes(table: str) -> list[EncodedRow]:
    """Every row that a table may get: each value under each key, one that can't be read, and none."""
    rows = [encode_row(Row(table, key, value)) for key in KEYS[table] for value in (*VALUES[table], None, None)]
    return [*rows, *(replace(encode_row(Row(table, key, None)), value=NEWER) for key in KEYS[table])]


CHANGES = {table: changes(table) for table in KEYS}
LIVE = {table: [row for row in rows if row.value is not None] for table, rows in CHANGES.items()}


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[EncodedRow], list[list[EncodedRow]]]:
    """Rows of one table or two, and commits that change them: few keys and values, so that all collides."""
    tables = draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=2, unique=True))
    base = st.lists(st.sampled_from([row for table in tables for row in LIVE[table]]), max_size=8)
    commit = st.lists(st.sampled_from([row for table in tables for row in CHANGES[table]]), min_size=1, max_size=4)
    return draw(base), draw(st.lists(commit, max_size=5))


CANT_SAY = "can't say"


def answer(question: Callable[[], object]) -> object:
    """What a view answers, or that it can't say because of a row that can't be read."""
    try:
        return question()
    except UnreadableRowError:
        return CANT_SAY


def walked(view: View, order: AnyTable | AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> list[Key]:
    """What lies between two bounds of an order, ascending."""
    keys: list[Key] = [*view.walk(order, low, high, reverse=reverse)]
    return keys[::-1] if reverse else keys


@dataclass
class Plain:
    """Rows, and nothing else: every question goes through all of them."""

    rows: dict[tuple[str, Key], Value] = field(default_factory=dict)

    def put(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows.pop((row.table, row.key), None)
            if row.value is not None:
                self.rows[row.table, row.key] = row.value

    def live(self) -> list[Row]:
        return [Row(table, key, value) for (table, key), value in self.rows.items()]

    def unreadable(self, order: str) -> list[Key]:
        """Keys of the rows of a table, or of an index's table, that can't be read."""
        table = order if order in TABLES else INDEXES[order].table
        return [row.key for row in self.live() if row.table == table and isinstance(row.value, UnreadableValue)]

    def hidden(self, order: str) -> set[Key]:
        """What rows that can't be read would be under, if their values were one of the samples."""
        keys = self.unreadable(order)
        if order in TABLES:
            return {*keys}
        index = INDEXES[order]
        return {
            entry for key in keys for value in VALUES[index.table] for entry in index.entries(index.key(*key), value)
        }

    def find(self, index: str, entry: Key) -> list[Key]:
        return sorted(row.key for row in self.live() if (index, entry) in index_entries(row))

    def entries(self, order: str) -> list[Key]:
        if order in TABLES:
            return sorted(
                row.key for row in self.live() if row.table == order and not isinstance(row.value, UnreadableValue)
            )
        return sorted({entry for row in self.live() for index, entry in index_entries(row) if index == order})


@dataclass
class Universe:
    """Everything that one history can be asked for."""

    rows: list[Row]

    def __post_init__(self) -> None:
        self.places = dict.fromkeys((row.table, row.key) for row in self.rows)
        self.claims = dict.fromkeys(claim for row in self.rows for claim in index_entries(row))
        self.groups = dict.fromkeys(group for row in self.rows if (group := count_group(row)) is not None)
        self.heads: dict[str, list[Key]] = {}
        for table, keys in KEYS.items():
            parts = {key[:length] for key in keys for length in range(len(key)) if length < 3}
            self.heads[table] = sorted(head for head in parts if not head or isinstance(head[-1], str))
        self.bounds: dict[str, list[Key]] = {}
        for order in sorted(ORDERS):
            named = [row.key for row in self.rows if row.table == order]
            named += [entry for index, entry in self.claims if index == order]
            some = dict.fromkeys(itertools.chain.from_iterable((key, after(key)) for key in named))
            self.bounds[order] = [*ALL_KEYS, *sorted(some)] if named else []

    def differences(self, view: View, plain: Plain) -> Iterator[str]:
        """Say what a view shows otherwise than its rows do."""
        for table, key in self.places:
            value = plain.rows.get((table, key))
            if answer(partial(view.get, TABLES[table], key)) != (
                CANT_SAY if isinstance(value, UnreadableValue) else value
            ):
                yield f"get {table} {key}"
        for index, entry in self.claims:
            if INDEXES[index].key_of is None:
                yield from self._differences_of(view, plain, index, entry)
        for table, entry in self.groups:
            if view.count(TABLES[table], entry) != sum(count_group(row) == (table, entry) for row in plain.live()):
                yield f"count {table} {entry}: {view.count(TABLES[table], entry)}"
        for table in KEYS:
            if sorted(view.keys(TABLES[table])) != sorted(key for name, key in plain.rows if name == table):
                yield f"keys {table}: {sorted(view.keys(TABLES[table]))}"
        for order, bounds in self.bounds.items():
            entries, hidden = plain.entries(order), plain.hidden(order)
            for low, high in itertools.product(bounds, bounds):
                between: object = [key for key in entries if low <= key < high]
                up = answer(partial(walked, view, ORDERS[order], low, high))
                down = answer(partial(walked, view, ORDERS[order], low, high, reverse=True))
                if any(low <= one < high for one in hidden):
                    between = CANT_SAY
                elif CANT_SAY in (up, down) and plain.unreadable(order):
                    between = CANT_SAY  # a value that these samples lack might stand there
                if (up, down) != (between, between):
                    yield f"walk {order} {low} {high}: {up} {down}"
                if isinstance(up, list) and not all(isinstance(one, key_class(order)) for one in up):
                    yield f"walk {order} {low} {high}: keys without their class"

    def _differences_of(self, view: View, plain: Plain, index: str, entry: Key) -> Iterator[str]:
        found, more = plain.find(index, entry), plain.unreadable(index)
        for head in self.heads[INDEXES[index].table]:
            keys, shown = view.find(INDEXES[index], entry, head), []
            while (one := answer(partial(next, keys, None))) is not None:
                shown.append(one)
                if one == CANT_SAY:
                    break
            wanted: list[object] = [key for key in found if key[: len(head)] == head]
            must = entry in plain.hidden(index)
            if shown != [*wanted, CANT_SAY] if must else shown not in (wanted, [*wanted, CANT_SAY] if more else wanted):
                yield f"find {index} {entry} {head}: {shown}"


def key_class(order: str) -> type[Key]:
    """The class of what an order gives: of a table its keys, of an index whose entries are such keys too."""
    if order in TABLES:
        return TABLES[order].key
    index = INDEXES[order]
    return index.key if index.of_key and index.key_of is not None else tuple


def place(sequence: int) -> Position:
    return Position(b"i" * 16, sequence, sequence.to_bytes(32, "big"))


def views_of(base: Sequence[EncodedRow]) -> tuple[DictTables, LayeredTables, LayeredTables]:
    """Tables that hold rows: dictionaries, a segment of them, and a segment of the first half with the rest over it."""
    plain, whole, half = DictTables(), LayeredTables(small=0), LayeredTables(small=0)
    plain.apply(base, place(1))
    first = DictTables()
    first.apply(base[: len(base) // 2], place(1))
    half.load(tuple(first.rows()), place(1))
    half.apply(base[len(base) // 2 :], place(1))
    whole.load(tuple(plain.rows()), place(1))
    return plain, whole, half


def check(universe: Universe, views: Iterable[View], plain: Plain) -> None:
    for view in views:
        assert not [*universe.differences(view, plain)], type(view).__name__


@examples(200)
@given(histories())
def test_a_view_shows_what_its_rows_say_after_every_commit(
    history: tuple[list[EncodedRow], list[list[EncodedRow]]],
) -> None:
    below, commits = history
    universe = Universe([decode_row(row) for row in (*below, *itertools.chain.from_iterable(commits))])
    tables, overlaid = views_of(below), views_of(below)
    overlays = [Overlay(one) for one in overlaid]
    layers: tuple[Overlay, ...] = (*overlays, Overlay(Overlay(overlaid[1])))
    plain = Plain()
    plain.put(decode_row(row) for row in below)
    check(universe, (*tables, *layers), plain)
    for number, commit in enumerate(commits, 2):
        plain.put(map(decode_row, commit))
        for one in tables:
            one.apply(commit, place(number))
        if any(isinstance(decode_row(row).value, UnreadableValue) for row in (*below, *commit)):
            layers = ()  # nobody decides while a row can't be read
        for overlay in layers:
            overlay.put(map(decode_row, commit))
        check(universe, (*tables, *layers), plain)
    before = Plain()
    before.put(decode_row(row) for row in below)
    check(universe, overlaid, before)


@given(histories(), st.integers(0, 2**16))
def test_rows_of_different_keys_may_come_in_any_order(
    history: tuple[list[EncodedRow], list[list[EncodedRow]]], seed: int
) -> None:
    base, commits = history
    last = [*{(row.table, row.key): row for row in itertools.chain.from_iterable(commits)}.values()]
    random.Random(seed).shuffle(last)
    universe = Universe([decode_row(row) for row in (*base, *last)])
    plain = Plain()
    plain.put(decode_row(row) for row in (*base, *last))
    tables = views_of(base)
    readable = not any(isinstance(row.value, UnreadableValue) for row in universe.rows)
    overlays = [Overlay(one) for one in views_of(base)] if readable else []
    for row in last:
        for one in tables:
            one.apply([row], place(2))
        for overlay in overlays:
            overlay.put([decode_row(row)])
    built = LayeredTables(small=0)
    built.stand_on(open_built(tables[2].build_segment()), place(2))
    check(universe, (*tables, built, *overlays), plain)


def test_the_rows_reach_every_index_and_every_order() -> None:
    rows = [decode_row(row) for table in KEYS for row in CHANGES[table]]
    assert {index for row in rows for index, _ in index_entries(row)} == set(INDEXES)
    assert set(KEYS) >= {one.name for one in TABLES.values() if one.ordered}
    counted_tables = {one.name for one in TABLES.values() if one.counted}
    assert {group[0] for row in rows if (group := count_group(row)) is not None} == counted_tables
    assert all(any(isinstance(row.value, UnreadableValue) for row in rows if row.table == table) for table in KEYS)


@pytest.mark.parametrize("index", [one for one in INDEXES.values() if one.key_of], ids=lambda one: one.name)
def test_an_entry_that_has_the_key_of_its_row_tells_it(index: AnyIndex) -> None:
    parts = get_type_hints(index.key).values()
    key = tuple(f"ab{at}" if part is str else at for at, part in enumerate(parts))
    entry = tuple("other" if at is None else key[at] for at in index.key_parts)

    assert index.key_of is not None
    assert index.key_of(entry) == key
    assert type(index.key_of(entry)) is index.key


@pytest.mark.parametrize("index", INDEXES.values(), ids=lambda index: index.name)
def test_a_part_of_an_entry_that_is_said_to_be_of_the_key_is_that_part_of_it(index: AnyIndex) -> None:
    """By these parts it is known whether a row that can't be read may claim an entry."""
    claims = [
        (key, entry)
        for key, value in itertools.product(KEYS[index.table], VALUES[index.table])
        for entry in index.entries(index.key(*key), value)
    ]
    assert claims
    for key, entry in claims:
        assert [key[at] for at in index.key_parts if at is not None] == [
            part for at, part in zip(index.key_parts, entry, strict=True) if at is not None
        ]
