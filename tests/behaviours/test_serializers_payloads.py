"""Payloads: the walker agrees with the codec on what is whole, and refuses what the codec would let through."""

import io
import json
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.avro_treaty import model
from treaty.client.serializers.avro_skipper import MAX_DEPTH, MalformedPayloadError, Skip, make_skipper

RECORD = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "count", "type": "int"},
        {"name": "price", "type": "double"},
        {"name": "weight", "type": "float"},
        {"name": "paid", "type": "boolean"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "SENT", "GONE"]}},
        {"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 4}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "sizes", "type": {"type": "map", "values": ["int", "Mark"]}},
        {"name": "raw", "type": "bytes"},
        {"name": "next", "type": ["null", "Order"]},
    ],
}

ORDERS = st.recursive(
    st.none(),
    lambda inner: st.fixed_dictionaries(
        {
            "id": st.integers(-(2**63), 2**63 - 1),
            "count": st.integers(-(2**31), 2**31 - 1),
            "price": st.floats(allow_nan=False),
            "weight": st.floats(width=32, allow_nan=False),
            "paid": st.booleans(),
            "note": st.none() | st.text(max_size=5),
            "state": st.sampled_from(["NEW", "SENT", "GONE"]),
            "mark": st.binary(min_size=4, max_size=4),
            "tags": st.lists(st.text(max_size=3), max_size=3),
            "sizes": st.dictionaries(
                st.text(max_size=3), st.integers(0, 9) | st.binary(min_size=4, max_size=4), max_size=2
            ),
            "raw": st.binary(max_size=5),
            "next": inner,
        }
    ),
    max_leaves=3,
).filter(bool)


def walker(schema: Any) -> tuple[Any, Skip]:
    return fastavro.parse_schema(schema), make_skipper(model(json.dumps(schema)))


PARSED, SKIM = walker(RECORD)


def written(value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, PARSED, value)
    return out.getvalue()


@given(ORDERS, st.binary(max_size=3))
def test_a_whole_payload_ends_where_the_codec_ends(order: Any, rest: bytes) -> None:
    payload = written(order)
    assert SKIM(payload + rest, 0, 0) == len(payload)


@given(ORDERS, st.data())
def test_a_payload_cut_short_is_malformed(order: Any, data: st.DataObject) -> None:
    payload = written(order)
    cut = data.draw(st.integers(0, len(payload) - 1))
    with pytest.raises(MalformedPayloadError):
        SKIM(payload[:cut], 0, 0)


@given(ORDERS, st.data())
def test_what_the_walker_lets_pass_the_codec_reads_to_the_same_end(order: Any, data: st.DataObject) -> None:
    damaged = bytearray(written(order))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        end = SKIM(bytes(damaged), 0, 0)
    except MalformedPayloadError:
        return
    stream = io.BytesIO(damaged)
    try:
        value = fastavro.schemaless_reader(stream, PARSED, None)
    except UnicodeDecodeError:
        return  # texts are the codec's to judge
    assert stream.tell() == end
    again = fastavro.schemaless_reader(io.BytesIO(written(value)), PARSED, None)
    assert str(again) == str(value)  # as text, because of NaN


@pytest.mark.parametrize(
    ("schema", "payload", "why"),
    [
        (["null", "string"], b"\x01\x02a", "branch -1 at byte 0; the union has 0 to 1"),
        (["null", "string"], b"\x04", "branch 2 at byte 0"),
        ({"type": "enum", "name": "E", "symbols": ["a", "b"]}, b"\x01", "symbol -1 at byte 0; the enum has 0 to 1"),
        ("string", b"\x03abc", "a length of -2"),
        ("bytes", b"\x08abc", "a length of 4 at byte 0; 3 bytes are left"),
        ("bytes", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01abc", "bytes are left"),
        ("boolean", b"\x07", "a boolean of 7"),
        ("int", b"\xfe\xff\xff\xff\xff\xff\x01", "does not fit 32 bits"),
        ("int", b"\x80", "the payload ends at byte 1"),
        ("long", b"\x80" * 10 + b"\x01", "more than 10 bytes"),
        ("long", b"\xff" * 9 + b"\x03", "more than 64 bits"),
        ("double", b"\x07", "the payload ends at byte 1"),
        ({"type": "fixed", "name": "F", "size": 4}, b"\x01\x02", "the payload ends at byte 2"),
        ({"type": "array", "items": "null"}, b"\xfe\xff\xff\xff\x0f\x00", "values that take no bytes"),
        ({"type": "array", "items": "int"}, b"\x04\x02", "the payload ends at byte 2"),
        ({"type": "map", "values": "int"}, b"\x02\x02a", "the payload ends at byte 3"),
    ],
)
def test_each_damage_is_told(schema: Any, payload: bytes, why: str) -> None:
    with pytest.raises(MalformedPayloadError) as caught:
        walker(schema)[1](payload, 0, 0)
    assert why in str(caught.value)


def test_a_payload_nested_without_end_is_refused_and_the_process_lives() -> None:
    _, skim = walker({"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]})
    assert skim(b"\x02" * 90 + b"\x00", 0, 0) == 91
    with pytest.raises(MalformedPayloadError, match=f"deeper than {MAX_DEPTH}"):
        skim(b"\x02" * 100_000 + b"\x00", 0, 0)


def test_an_array_in_sized_blocks_is_walked() -> None:
    _, skim = walker({"type": "array", "items": "int"})
    assert skim(b"\x01\x02\x02\x03\x04\x04\x06\x00", 0, 0) == 8
