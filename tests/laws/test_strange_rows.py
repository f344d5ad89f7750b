"""Rows that no Treaty ever wrote: they are kept, told, and stop nobody."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.toy import Bench, S, put
from treaty.core.command import Decision
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import VersionNotFound
from treaty.core.state import values
from treaty.core.state.codec import dumps
from treaty.core.state.commit import START
from treaty.core.state.rows import (
    ROW_FORMAT,
    EncodedRow,
    Row,
    UnreadableRowError,
    UnreadableValue,
    decode_row,
    encode_row,
)
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.tables import DictTables
from treaty.node.segment.value_format import quick_row, read_row

KEYS = (
    '["a"]', '[ "a"]', '["a",1]', '["a",true]', '["a",1.0]', "[1]", "[true]", "[1.0]", "[]", "[[]]", "[{}]", "{}",
    '{"a":1}', "1", '"a"', '[0,"[]"]', "null", "nonsense", "", '["a",null]', '[".",1]', "[" * 5_000, "[" + "9" * 5_000,
)  # fmt: skip
TEXTS = ("null", "{}", '{"v":9}', '{"v":1,"number":1}', "[]", "nonsense", '{"v":1,"guid":7}', '{"v":true}', "[" * 5_000)

strange = st.builds(
    EncodedRow,
    st.sampled_from(["schema", "version", "dreams"]),
    st.sampled_from(KEYS),
    st.none() | st.sampled_from(TEXTS),
)
GOOD = encode_row(Row("subject", (".", "s"), values.SubjectValue(1)))


@given(st.lists(strange, max_size=12).flatmap(st.permutations))
def test_no_row_stops_the_tables_and_order_does_not_matter(rows: list[EncodedRow]) -> None:
    last = {(row.table, row.key): row for row in rows}
    forwards, backwards = DictTables(), DictTables()
    forwards.apply([*rows, GOOD], START)
    backwards.load([GOOD, *reversed(last.values())], START)

    assert forwards.roots == backwards.roots
    assert forwards.quarantine == backwards.quarantine
    assert forwards.get(SUBJECT, Subject(".", "s")) == values.SubjectValue(1)


@pytest.mark.parametrize("key", KEYS)
def test_a_tombstone_takes_the_same_row_out(key: str) -> None:
    tables = DictTables()
    empty = dict(tables.roots)
    tables.apply([EncodedRow("dreams", key, '{"v":9}')], START)
    assert len(tables.quarantine) == 1
    tables.apply([EncodedRow("dreams", key, None)], START)

    assert not tables.quarantine
    assert tables.roots == empty


@pytest.mark.parametrize("text", TEXTS)
def test_what_cannot_be_read_is_written_back_as_it_was(text: str) -> None:
    row = decode_row(EncodedRow("version", '[".","s",1,0]', text))

    assert isinstance(row.value, UnreadableValue)
    assert encode_row(row).value == text


NEARLY = {
    "outcome": (
        '{"kind":"k","members":{"a":"1","b":"2"},"sequence":3,"v":1}',
        '{"kind":"k","members":{"b":"2","a":"1"},"sequence":3,"v":1}',
        '{"kind":"k","members":{"a":"1","a":"2"},"sequence":3,"v":1}',
        '{"kind":"k","members":{},"sequence":3,"v":1}',
        '{"kind":"k","members":{"a":1},"sequence":3,"v":1}',
        '{"kind":"k","sequence":3,"v":1}',
        '{"kind":"k","sequence":3.0,"v":1}',
        '{"kind":"k","sequence":true,"v":1}',
        '{"kind":"k","sequence":3,"v":9}',
        '{"kind":"k","sequence":3}',
        '{"kind":"k","new":[1],"sequence":3,"v":1}',
        '{"kind":"\ud800","sequence":3,"v":1}',
        '{"kind":"\\u0041","sequence":3,"v":1}',
        '{"sequence":3,"v":1, "kind":"k"}',
    ),
    "content": (
        '{"data":"YWJj","v":1}',
        '{"data":"","v":1}',
        '{"data":"YW Jj","v":1}',
        '{"data":"YWJ","v":1}',
        '{"data":"YW-_","v":1}',
        '{"data":"YWI=","v":1}',
        '{"data":"YWI","v":1}',
        '{"data":"é","v":1}',
        '{"data":7,"v":1}',
        '{"data":"YWJj","more":1,"v":1}',
        '{"data":"YWJj"}',
        '{"data":"YWJj","v":true}',
        "[]",
        "{",
        "",
    ),
    "schema": (
        '{"format":"AVRO","guid":"g","lookup_digest":"l","text":"t","v":1}',
        '{"format":"AVRO","guid":"g","lookup_digest":"l","text":"t","type_name":"","v":1}',
        '{"format":"AVRO","guid":"g","lookup_digest":"l","text":"t\\/","v":1}',
        '{"format":"AVRO","guid":"g","lookup_digest":"l","references":[],"text":"t","v":1}',
        '{"format":"AVRO","guid":"g","text":"t","v":1}',
    ),
    "version": (
        '{"format":"AVRO","number":1,"policy":{"backward":{"kind":"latest"}},"schema_id":2,"v":1}',
        '{"format":"AVRO","number":1,"policy":{"backward":{}},"schema_id":2,"v":1}',
        '{"format":"AVRO","number":1,"policy":{"backward":{"kind":"latest"},"odd":1},"schema_id":2,"v":1}',
        '{"number":1,"format":"AVRO","schema_id":2,"v":1}',
    ),
}
NAMED = {
    "outcome": ('["","c"]', "[1]", '["c"]', '["c","d","e"]', '["\ud800"]', "[ ]", "no"),
    "content": ('["c"]', '["\\u0041"]'),
    "schema": ('[".",1]', '[".",1.0]', '[".","1"]', '[".",true]'),
    "version": ('[".","s",1,0]', '[".","s",0]'),
}


@pytest.mark.parametrize("table", NEARLY)
def test_what_is_read_fast_is_what_is_read_slowly(table: str) -> None:
    assert quick_row(EncodedRow(table, NAMED[table][0], NEARLY[table][0])) is not None
    for key, text in itertools.product(NAMED[table], NEARLY[table]):
        row = EncodedRow(table, key, text)
        slow = decode_row(row)
        assert read_row(row)[0] == slow
        fast = quick_row(row)
        if fast is not None:
            assert repr(fast) == repr(slow), "1, 1.0 and true are equal and not the same"
            assert encode_row(slow).value == text


def test_a_read_that_an_unreadable_row_may_belong_to_is_refused_and_no_other() -> None:
    """Not "not found": nobody here knows what the row says."""
    bench, other = Bench(), Subject(".", "other")
    for subject in (S, other):
        put(bench, subject, "a")
    home = bench.tables.get(SUBJECT, S)
    assert home is not None
    newer = EncodedRow("version", dumps([*S, home.generation, 1]), f'{{"v":{ROW_FORMAT + 1}}}')
    bench.tables.apply([newer], bench.tables.position)

    for request in (GetVersion(S, LATEST), GetVersion(S, 2), ListVersions(S)):
        with pytest.raises(UnreadableRowError, match="upgrade this node"):
            bench.verdict(request, "asked")
    assert isinstance(bench.verdict(GetVersion(other, LATEST), "asked"), Decision)
    assert isinstance(bench.verdict(GetVersion(other, 2), "asked"), VersionNotFound)
    assert isinstance(bench.verdict(GetSchema(1), "asked"), Decision)
