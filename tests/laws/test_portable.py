"""Rows and their portable form: what is written reads back, and what nobody knows is kept."""

import json
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.core.policy import RANGES, ForcedRegistration, Level, VersionRange
from treaty.core.schema import Metadata, Rule, RuleSet
from treaty.core.state import values
from treaty.core.state.rows import EncodedRow, Row, UnreadableValue, decode_row, encode_row
from treaty.core.state.state_tables import TABLES

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
pairs = st.dictionaries(texts, texts, max_size=3).map(lambda one: tuple(sorted(one.items())))
numbers = st.integers(0, 2**31 - 1)
metadatas = st.builds(Metadata, st.just(()), pairs, st.lists(texts, max_size=2).map(tuple))
rules = st.builds(
    RuleSet, st.lists(st.builds(Rule, texts, params=pairs, disabled=st.booleans()), max_size=2).map(tuple)
)
schemas = st.builds(
    values.Schema,
    texts,
    texts,
    texts,
    texts,
    st.lists(st.builds(values.StoredReference, texts, texts, numbers, numbers), max_size=2).map(tuple),
    st.none() | metadatas,
    st.none() | rules,
    texts,
)
ranges = st.builds(VersionRange, st.sampled_from(RANGES), numbers)
versions = st.builds(
    values.Version,
    numbers,
    numbers,
    texts,
    state=st.sampled_from(["live", "soft", "hidden", "purged"]),
    forced=st.none() | st.builds(ForcedRegistration, texts, texts),
    policy=st.none() | st.builds(values.PolicyValue, ranges, ranges, st.booleans(), validators=st.just(("a", "b"))),
    properties=pairs,
)
configs = st.builds(
    values.ConfigValue,
    st.none() | st.builds(Level, ranges, ranges, st.booleans()),
    st.none() | texts,
    normalize=st.none() | st.booleans(),
    default_metadata=st.none() | metadatas,
)
rows = st.one_of(
    st.builds(Row, st.just("schema"), st.tuples(texts, numbers), st.none() | schemas),
    st.builds(Row, st.just("version"), st.tuples(texts, texts, numbers, numbers), st.none() | versions),
    st.builds(Row, st.just("config"), st.tuples(texts, texts, texts), st.none() | configs),
    st.builds(Row, st.just("content"), st.tuples(texts), st.builds(values.Content, st.binary(max_size=20))),
)


@given(rows)
def test_a_row_reads_back_as_it_was_written(row: Row) -> None:
    assert decode_row(encode_row(row)) == row


@given(rows)
def test_equal_rows_have_equal_bytes_and_digests(row: Row) -> None:
    again = encode_row(decode_row(encode_row(row)))

    assert again == encode_row(row)
    assert again.digest == encode_row(row).digest


@given(versions, st.dictionaries(texts.filter(lambda name: name not in {"v", ""}), pairs.map(dict), min_size=1))
def test_members_nobody_knows_are_kept(version: values.Version, strange: dict[str, dict[str, str]]) -> None:
    encoded = encode_row(Row("version", (".", "s", 1, 0), version))
    members = {f"x-{name}": value for name, value in strange.items()} | json.loads(encoded.value or "")
    newer = EncodedRow(
        "version", encoded.key, json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    )

    assert json.loads(encode_row(decode_row(newer)).value or "") == members


@pytest.mark.parametrize(
    ("table", "key", "value", "why"),
    [
        ("dreams", '["x"]', "{}", "unknown table"),
        ("version", '[".","s",1,0]', '{"v":9,"number":1}', "row format 9"),
        ("version", '[".","s",1,0]', '{"v":1}', "lacks its member"),
        ("version", '[".","s",1,0]', '{"v":1,"number":"1","schema_id":1,"format":"AVRO"}', "must be int"),
        ("version", '[".","s",1,0]', "[]", "row format"),
        ("version", '[".","s",1,0]', "{", "Expecting"),
        ("version", '[".","s",0]', '{"v":1}', "key"),
        ("content", '["00"]', '{"v":1,"data":"§"}', "ASCII"),
    ],
)
def test_what_cannot_be_read_is_kept_as_it_is(table: str, key: str, value: str, why: str) -> None:
    row = decode_row(EncodedRow(table, key, value))

    assert isinstance(row.value, UnreadableValue)
    assert why in row.value.why
    assert encode_row(row).value == value


@pytest.mark.parametrize("name", TABLES)
def test_no_key_begins_with_a_number(name: str) -> None:
    """A key that begins with 0 stands for a text that is no key."""
    first = next(iter(get_type_hints(TABLES[name].key).values()))
    assert first is str
