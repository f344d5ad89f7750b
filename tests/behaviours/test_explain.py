"""Records told byte by byte: every byte has a piece, the pieces say what serializers say, and what is wrong has a place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.behaviours.test_serializers_protobuf import kinds, order
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.explain.record import RecordExplanation, explain_record
from treaty.client.serializers.avro import AvroSerializer
from treaty.client.serializers.frames import encode_id
from treaty.client.serializers.jsonschema import JsonSerializer
from treaty.client.serializers.protobuf import ProtobufSerializer
from treaty.client.serializers.settings import SerializerSettings
from treaty.core.schema import Draft

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "shop.Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "note", "type": ["null", "string"]},
            {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "SENT"]}},
            {"name": "lines", "type": {"type": "array", "items": {"type": "map", "values": "double"}}},
            {"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 2}},
            {"name": "paid", "type": "boolean"},
            {"name": "at", "type": {"type": "int", "logicalType": "date"}},
            {"name": "raw", "type": "bytes"},
            {"name": "next", "type": ["null", "shop.Order"]},
        ],
    }
)
VALUE: dict[str, Any] = {
    "id": -7, "note": "Käse", "state": "SENT", "lines": [{"a": 1.5}, {}], "mark": b"\x01\x02", "paid": True, "at": 3,
    "raw": b"\xff", "next": None,
}  # fmt: skip


def whole(told: RecordExplanation, data: bytes) -> None:
    """Pieces stand one behind the other and are all of the record."""
    assert b"".join(step.data for step in told.pieces) == data
    at = 0
    for step in told.pieces:
        assert step.offset == at
        at += len(step.data)


def said(told: RecordExplanation) -> list[tuple[str, str]]:
    return [(step.path, step.says) for step in told.pieces]


def test_an_avro_record(connection: Connection) -> None:
    framed = AvroSerializer(connection, SCHEMA)({**VALUE, "next": VALUE}, "orders")
    assert framed.data is not None
    told = explain_record(connection, framed.data)

    whole(told, framed.data)
    assert told.problem == ""
    assert told.writer_schema is not None
    assert told.writer_schema.schema_id == framed.schema_id
    assert said(told)[:5] == [("", "an id follows"), ("", "1"), ("/id", "-7"), ("/note", "string"), ("/note", "Käse")]
    assert ("/next/lines/0/a", "1.5") in said(told)
    assert ("/next/state", "SENT") in said(told)
    assert {"int (date)", "fixed shop.Mark", "boolean"} <= {step.what for step in told.pieces}


def test_a_protobuf_record(connection: Connection) -> None:
    value = order(id=300, lines=[kinds()[1](what="cheese")])
    framed = ProtobufSerializer(connection, kinds()[0])(value, "orders")
    assert framed.data is not None
    told = explain_record(connection, framed.data)

    whole(told, framed.data)
    assert told.problem == ""
    assert ("", "[1]") in said(told)
    assert ("/id", "300") in said(told)
    assert ("/price/cents", "5") in said(told)
    assert ("/lines/what", "cheese") in said(told)


def test_a_json_record_and_one_with_its_frame_in_a_header(connection: Connection) -> None:
    framed = JsonSerializer(connection, '{"type": "object"}')({"a": 1}, "j")
    assert framed.data is not None
    told = explain_record(connection, framed.data)
    whole(told, framed.data)
    assert said(told)[-1] == ("", '{"a":1}')
    for write, value in ((AvroSerializer(connection, '"long"', SerializerSettings(framing="header")), 5),):
        headed = write(value, "h")
        assert headed.data is not None
        told = explain_record(connection, headed.data, headed.headers)
        assert (told.problem, said(told)[-1]) == ("", ("", "5"))
    line = ProtobufSerializer(connection, kinds()[1], SerializerSettings(framing="header"))(kinds()[1](what="x"), "p")
    assert line.data is not None
    assert said(explain_record(connection, line.data, line.headers))[-1] == ("/what", "x")


@pytest.fixture(scope="module")
def registry() -> Any:
    with connect("memory:") as made:
        made.register("a", SCHEMA)
        made.register(
            "p",
            Draft(
                'syntax = "proto3"; message M { int64 a = 1; string s = 2; M m = 3; repeated int32 r = 4; }', "PROTOBUF"
            ),
        )
        made.register("j", Draft("{}", "JSON"))
        yield made


@given(st.integers(1, 3), st.binary(max_size=60))
def test_whatever_the_bytes_are_every_one_has_its_piece(registry: Connection, schema_id: int, payload: bytes) -> None:
    data = encode_id(schema_id) + payload
    whole(explain_record(registry, data), data)


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "TOO_SHORT"),
        (b"\x05abc", "BAD_MAGIC"),
        (encode_id(99) + b"\x00", "Schema 99 not found"),
        (encode_id(1) + b"\x02\x04", "union has 2 choices, this is number 2"),
        (encode_id(1) + b"\x02\x02\x0aab", "string has 5 bytes, 2 are left"),
        (encode_id(2) + b"\x00\x0c", "end of group 1, in no group"),
        (encode_id(2) + b"\x00\x12\x05ab", "exceeds its message"),
        (encode_id(2) + b"\x02\x08", "no message at [4]"),
        (encode_id(2) + b"\x00\x1a\x02" + b"\x1a\x00" + b"\x00", "is not a valid tag"),
        (encode_id(3) + b"{", "not JSON"),
    ],
    ids=["nothing", "magic", "id", "branch", "cut", "group", "length", "index", "tag", "json"],
)
def test_what_is_wrong_is_told_with_its_place(registry: Connection, data: bytes, wrong: str) -> None:
    told = explain_record(registry, data)

    whole(told, data)
    assert wrong in told.problem


def test_a_deep_record_ends_at_a_limit(registry: Connection) -> None:
    payload = b""
    for _ in range(400):
        payload = b"\x1a" + _varint(len(payload)) + payload
    assert "limit SCHEMA_DEPTH" in explain_record(registry, encode_id(2) + b"\x00" + payload).problem


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])
