"""Laws of the state tables: any order and any batching end alike, and an overlay shows what applying would."""

import itertools
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.core import values
from treaty.core.commit import START, Position
from treaty.core.overlay import Overlay
from treaty.core.rows import Alien, Encoded, Key, Row, decode_row, encode_row
from treaty.core.schema import Metadata
from treaty.core.tables import DictTables
from treaty.core.view import INDEXES, View, index_entries

PLACE = Position(b"i" * 16, 9, b"d" * 32)
SHA = "5" * 64

few = st.integers(0, 2)
words = st.sampled_from(["", "a", "b"])
schemas = st.builds(
    values.Schema,
    st.sampled_from(["g", "h"]),
    st.just("AVRO"),
    words,
    st.sampled_from(["like", "unlike"]),
    st.lists(st.builds(values.Used, words, st.sampled_from(["s", ":.x:s"]), few, few), max_size=3).map(tuple),
    st.none() | st.just(Metadata((), (("owner", "me"),))),
)
versions = st.builds(
    values.Version,
    few,
    few,
    st.just("AVRO"),
    state=st.sampled_from(["live", "soft", "purged"]),
    content=st.sampled_from(["", SHA]),
)
known = st.one_of(
    st.builds(Row, st.just("schema"), st.tuples(st.sampled_from([".", ".x"]), few), st.none() | schemas),
    st.builds(Row, st.just("version"), st.tuples(st.just("."), words, few), st.none() | versions),
    st.builds(Row, st.just("name"), st.tuples(st.just("."), words, words, words), st.builds(values.Name, few)),
    st.builds(Row, st.just("outcome"), st.tuples(words), st.none() | st.builds(values.Outcome, few, words)),
    st.builds(Row, st.just("subject"), st.tuples(st.just("."), words), st.none() | st.builds(values.Subject, few)),
)
KEYS = ['["a"]', '[ "a"]', '["a",1]', '["a",true]', '["a",1.0]', "[1]", "[true]", "[1.0]", "[]", "[[]]", "[{}]", "{}"]
KEYS += [
    '{"a":1}',
    "1",
    '"a"',
    '[0,"[]"]',
    "null",
    "nonsense",
    "",
    '["a",null]',
    '["\\u0061"]',
    '[".",1]',
    '[".","a",1]',
]
TEXTS = ["null", "{}", '{"v":2}', '{"v":1,"number":1}', "[]", "nonsense", '{"v":1,"guid":7}', '{"v":true}', '{"v":{}}']
strange = st.builds(
    Encoded, st.sampled_from(["schema", "version", "dreams"]), st.sampled_from(KEYS), st.none() | st.sampled_from(TEXTS)
)
rows = known.map(encode_row) | strange


def view_of(tables: View, asked: Iterable[Row]) -> object:
    """All that a view shows, of rows and entries that anybody could ask for."""
    claims = {claim for row in asked for claim in index_entries(row)}
    return (
        {table: sorted(tables.keys(table), key=repr) for table in {row.table for row in asked}},
        {(row.table, row.key): tables.get(row.table, row.key) for row in asked},
        {claim: tables.find(*claim) for claim in claims},
    )


def contents(tables: DictTables, asked: Iterable[Row]) -> object:
    """All that tables show and tell of themselves."""
    return view_of(tables, asked), tables.digest, dict(tables.quarantine), tables.position, tables.sequence


def applied(batches: Iterable[Iterable[Encoded]]) -> DictTables:
    tables = DictTables()
    for sequence, batch in enumerate(batches):
        tables.apply(batch, Position(b"i" * 16, sequence, b"d" * 32))
    tables.apply((), PLACE)
    return tables


def readable(encoded: Iterable[Encoded]) -> list[Row]:
    """The rows that claim entries: those that this version can read."""
    decoded = [decode_row(one) for one in encoded]
    return [row for row in decoded if not isinstance(row.value, Alien)]


@given(st.lists(st.lists(rows, max_size=6), max_size=8), st.randoms(use_true_random=False))
def test_any_batching_and_any_order_of_loading_end_alike(batches: list[list[Encoded]], chance: object) -> None:
    everything = [row for batch in batches for row in batch]
    last = {(row.table, row.key): row for row in everything}
    live = [row for row in last.values() if row.value is not None]
    asked = readable(everything)

    one_by_one, loaded, over = applied([row] for row in everything), DictTables(), applied(batches)
    chance.shuffle(live)  # type: ignore[attr-defined]
    loaded.load(live, PLACE)
    over.load(live, PLACE)  # forgets what was there

    expected = contents(applied(batches), asked)
    assert contents(one_by_one, asked) == expected
    assert contents(loaded, asked) == expected
    assert contents(over, asked) == expected
    assert loaded.digest == sum(row.digest for row in live) % 2**256
    assert len(loaded.quarantine) == sum(isinstance(decode_row(row).value, Alien) for row in live)


@given(st.lists(known, max_size=20))
def test_an_index_entry_lists_those_that_claim_it(decoded: list[Row]) -> None:
    tables = applied([[encode_row(row) for row in decoded]])
    last = {(row.table, row.key): row for row in decoded}.values()

    for index, entry in {claim for row in decoded for claim in index_entries(row)}:
        claimants = {row.key for row in last if (index, entry) in index_entries(row)}
        assert tables.find(index, entry) == tuple(sorted(claimants))


@given(st.lists(known, max_size=10))
def test_a_row_that_was_just_encoded_need_not_be_decoded(decoded: list[Row]) -> None:
    encoded = [encode_row(row) for row in decoded]
    tables = DictTables()
    tables.apply(encoded, PLACE, dict(zip(encoded, decoded, strict=True)))

    assert contents(tables, decoded) == contents(applied([encoded]), decoded)


@given(st.lists(rows, max_size=12), st.lists(st.lists(known, max_size=4), max_size=5), st.integers(0, 5))
def test_an_overlay_shows_what_applying_would(below: list[Encoded], commits: list[list[Row]], looked: int) -> None:
    base = applied([below])
    asked = [*readable(below), *itertools.chain.from_iterable(commits)]
    before = contents(base, asked)
    overlay, further = Overlay(base), applied([below])

    for number, commit in enumerate(commits):
        overlay.put(tuple(commit))
        further.apply([encode_row(row) for row in commit], Position(b"i" * 16, 10 + number, b"d" * 32))
        assert overlay.sequence == further.sequence
        if number >= looked:  # what nobody asks for between two commits must be there all the same
            assert view_of(overlay, asked) == view_of(further, asked)
    assert view_of(overlay, asked) == view_of(further, asked)
    assert contents(base, asked) == before


@given(st.lists(st.lists(known, max_size=4), max_size=4), st.integers(0, 4))
def test_overlays_can_be_stacked(commits: list[list[Row]], cut: int) -> None:
    asked = [row for commit in commits for row in commit]
    lower = Overlay(DictTables())
    for commit in commits[:cut]:
        lower.put(commit)
    upper, flat = Overlay(lower), Overlay(DictTables())
    for commit in commits[cut:]:
        upper.put(commit)
    for commit in commits:
        flat.put(commit)

    assert upper.sequence == flat.sequence
    assert view_of(upper, asked) == view_of(flat, asked)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
members = st.sampled_from(["v", "guid", "format", "text", "likeness", "references", "metadata", "number", "schema_id"])
objects = st.dictionaries(members, json_values, max_size=9)
any_text = st.text(max_size=12) | json_values.map(repr) | objects.map(lambda one: repr(one).replace("'", '"'))


@given(st.lists(st.builds(Encoded, st.sampled_from([*INDEXES, "schema", "version"]), any_text, st.none() | any_text)))
def test_no_row_stops_the_tables_and_every_row_keeps_its_text(strange_rows: list[Encoded]) -> None:
    tables = applied([strange_rows])
    last = {(row.table, row.key): row for row in strange_rows}

    for row in last.values():
        decoded = decode_row(row)
        assert encode_row(decoded).key == row.key
        assert tables.get(row.table, decoded.key) == decoded.value
        if isinstance(decoded.value, Alien):
            assert encode_row(decoded) == row
            assert tables.quarantine[row.table, decoded.key] == decoded.value.why


def _quarantined(tables: DictTables) -> Sequence[Key]:
    return sorted(key for _, key in tables.quarantine)


@pytest.mark.parametrize("key", ["[[[1]]]", '["a",NaN]', "[" * 5_000, f"[{'9' * 5_000}]", '{"a":1}', "", '["\ud800"]'])
def test_a_row_with_a_strange_key_is_kept_shown_replaced_and_taken_out(key: str) -> None:
    tables = applied([[Encoded("dreams", key, '{"v":7}')]])
    strange_key = decode_row(Encoded("dreams", key, None)).key
    assert _quarantined(tables) == [strange_key]
    assert tables.digest == Encoded("dreams", key, '{"v":7}').digest

    tables.apply([Encoded("dreams", key, '{"v":8}')], PLACE)
    assert _quarantined(tables) == [strange_key]
    assert tables.digest == Encoded("dreams", key, '{"v":8}').digest

    tables.apply([Encoded("dreams", key, None)], PLACE)
    assert not tables.quarantine
    assert tables.digest == 0


def test_a_row_that_could_not_be_read_is_replaced_by_one_that_can() -> None:
    row = Row("version", (".", "s", 0), values.Version(1, 1, "AVRO"))
    encoded = encode_row(row)
    tables = applied([[Encoded(row.table, encoded.key, '{"v":99}')]])
    assert len(tables.quarantine) == 1
    assert tables.find("version.subject", (".", "s")) == ()

    tables.apply([encoded], PLACE)
    assert not tables.quarantine
    assert tables.find("version.subject", (".", "s")) == ((".", "s", 0),)

    tables.apply([Encoded(row.table, encoded.key, '{"v":99}')], PLACE)
    assert len(tables.quarantine) == 1
    assert tables.find("version.subject", (".", "s")) == ()


def test_new_tables_are_at_the_start() -> None:
    tables = DictTables()
    assert (tables.position, tables.sequence, tables.digest, dict(tables.quarantine)) == (START, 0, 0, {})
    assert tables.get("schema", (".", 1)) is None
    assert not list(tables.keys("schema"))
    assert tables.find("schema.guid", (".", "g")) == ()
