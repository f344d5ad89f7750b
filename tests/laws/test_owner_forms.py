"""Rows as records of a compacted topic, and back: nothing is lost, and no two become one."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from treaty.core.state.commit import START, Commit, make_append
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.single_writer.records import (
    END_KEY,
    FOREIGN_TABLE,
    make_record_key,
    make_transaction,
    read_end_record,
    read_row,
)

TEXTS = st.text(st.characters(codec=None), max_size=12)
TABLES = st.one_of(
    st.sampled_from(["subject", "schema", "", FOREIGN_TABLE, 'a"b', "a\\", "t\u00e4g", "a b", '","']), TEXTS
)
KEYS = st.one_of(
    TEXTS,
    st.lists(st.one_of(TEXTS, st.integers()), max_size=3).map(json.dumps),
    st.one_of(st.binary(max_size=6), st.just(END_KEY)).map(lambda data: json.dumps([data.hex()])),
)
ROWS = st.builds(EncodedRow, TABLES, KEYS, st.one_of(st.none(), TEXTS))


@given(ROWS)
def test_a_row_comes_back_from_its_record(row: EncodedRow) -> None:
    value = None if row.value is None else row.value.encode("utf-8", "surrogatepass")
    back = read_row(make_record_key(row), value)
    assert back.value == row.value
    if row.table != FOREIGN_TABLE:
        assert back == row
    assert make_record_key(back) == make_record_key(row) != END_KEY


@given(st.one_of(st.binary(max_size=20), TEXTS.map(lambda text: f'["{text}'.encode("utf-8", "surrogatepass"))))
@example(END_KEY)
def test_any_key_of_a_row_comes_back_from_what_is_shown_of_it(key: bytes) -> None:
    shown = make_record_key(read_row(key, b"1"))
    assert (shown == key) is (key != END_KEY)


@given(ROWS, ROWS)
def test_two_keys_never_become_one_row(one: EncodedRow, two: EncodedRow) -> None:
    first, second = (read_row(make_record_key(row), None) for row in (one, two))
    assert (first == second) == (make_record_key(one) == make_record_key(two))


@given(st.lists(ROWS, max_size=6), st.binary(min_size=16, max_size=16))
def test_a_transaction_is_the_last_state_of_each_row_and_a_mark(rows: list[EncodedRow], attempt: bytes) -> None:
    append = make_append(START, attempt, (Commit(1, tuple(rows[:3])), Commit(2, tuple(rows[3:]))), {})
    *records, (key, value) = make_transaction(append)
    mark = read_end_record(value)
    assert key == END_KEY
    assert mark.position.agrees(append.position)
    assert (mark.position, mark.parent, mark.attempt, mark.first) == (append.position, START.digest, attempt, 1)
    assert mark.rows == len(records) == len({(row.table, row.key) for row in rows})
    assert END_KEY not in dict(records)
