"""Rows that no Treaty ever wrote: they are kept, told, and stop nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.core import values
from treaty.core.commit import START
from treaty.core.rows import Alien, Encoded, Row, decode_row, encode_row
from treaty.core.tables import DictTables

KEYS = (
    '["a"]', '[ "a"]', '["a",1]', '["a",true]', '["a",1.0]', "[1]", "[true]", "[1.0]", "[]", "[[]]", "[{}]", "{}",
    '{"a":1}', "1", '"a"', '[0,"[]"]', "null", "nonsense", "", '["a",null]', '[".",1]', "[" * 5_000, "[" + "9" * 5_000,
)  # fmt: skip
TEXTS = ("null", "{}", '{"v":2}', '{"v":1,"number":1}', "[]", "nonsense", '{"v":1,"guid":7}', '{"v":true}', "[" * 5_000)

strange = st.builds(
    Encoded, st.sampled_from(["schema", "version", "dreams"]), st.sampled_from(KEYS), st.none() | st.sampled_from(TEXTS)
)
GOOD = encode_row(Row("subject", (".", "s"), values.Subject(1)))


@given(st.lists(strange, max_size=12).flatmap(st.permutations))
def test_no_row_stops_the_tables_and_order_does_not_matter(rows: list[Encoded]) -> None:
    last = {(row.table, row.key): row for row in rows}
    forwards, backwards = DictTables(), DictTables()
    forwards.apply([*rows, GOOD], START)
    backwards.load([GOOD, *reversed(last.values())], START)

    assert forwards.digest == backwards.digest
    assert forwards.quarantine == backwards.quarantine
    assert forwards.get("subject", (".", "s")) == values.Subject(1)


@pytest.mark.parametrize("key", KEYS)
def test_a_tombstone_takes_the_same_row_out(key: str) -> None:
    tables = DictTables()
    empty = tables.digest
    tables.apply([Encoded("dreams", key, '{"v":9}')], START)
    assert len(tables.quarantine) == 1
    tables.apply([Encoded("dreams", key, None)], START)

    assert not tables.quarantine
    assert tables.digest == empty


@pytest.mark.parametrize("text", TEXTS)
def test_what_cannot_be_read_is_written_back_as_it_was(text: str) -> None:
    row = decode_row(Encoded("version", '[".","s",0]', text))

    assert isinstance(row.value, Alien)
    assert encode_row(row).value == text
