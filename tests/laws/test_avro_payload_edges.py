"""Where an Avro payload stops to be one: each number, length, index and depth at its edge and one beyond, by the skipper and by deserializers."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.avro_treaty import model
from treaty.client.records.avro import encode_long
from treaty.client.serializers.avro_codec import (
    AvroCodec,
    drop_branch_names,
    make_text_skipper,
    read_payload,
    read_slowly,
    write_payload,
)
from treaty.client.serializers.avro_codec import _make_codec as make_codec
from treaty.client.serializers.avro_skipper import MAX_DEPTH, MalformedPayloadError, make_skipper
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.data.free_values import count_allowed

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}
FIXED = {"type": "fixed", "name": "F", "size": 3}
TEN = b"\x80" * 9
WHOLE: list[tuple[Any, bytes]] = [
    ("null", b""),
    ("boolean", b"\0"),
    ("boolean", b"\1"),
    ("int", encode_long(2**31 - 1)),
    ("int", encode_long(-(2**31))),
    ("int", TEN + b"\0"),
    ("long", encode_long(2**63 - 1)),
    ("long", encode_long(-(2**63))),
    ("long", TEN + b"\1"),
    ("float", bytes(4)),
    ("double", bytes(8)),
    (FIXED, bytes(3)),
    ("string", b"\0"),
    ("string", b"\4ab"),
    (ENUM, b"\0"),
    (ENUM, b"\4"),
    (["null", "int"], b"\0"),
    (["null", "int"], b"\2\2"),
    ({"type": "array", "items": "int"}, b"\0"),
    ({"type": "array", "items": "int"}, b"\2\2\0"),
    ({"type": "array", "items": "int"}, b"\3\4\2\4\2\2\0"),
    ({"type": "map", "values": "int"}, b"\2\2a\2\0"),
    ({"type": "map", "values": "int"}, b"\1\6\2a\2\2\2b\2\0"),
]
BROKEN: list[tuple[Any, bytes]] = [
    ("boolean", b""),
    ("boolean", b"\2"),
    ("int", encode_long(2**31)),
    ("int", encode_long(-(2**31) - 1)),
    ("int", b"\x80"),
    ("long", TEN + b"\2"),
    ("long", TEN + b"\x80\0"),
    ("long", b""),
    ("float", bytes(3)),
    ("double", bytes(7)),
    (FIXED, bytes(2)),
    ("string", b"\1"),
    ("string", b"\4a"),
    ("string", encode_long(2**40)),
    (ENUM, b"\1"),
    (ENUM, b"\6"),
    (["null", "int"], b"\1"),
    (["null", "int"], b"\4\0"),
    ({"type": "array", "items": "int"}, b""),
    ({"type": "array", "items": "int"}, b"\2\2"),
    ({"type": "array", "items": "int"}, b"\4\2\0"),
    ({"type": "map", "values": "int"}, b"\2\1a\2\0"),
]


def codec_of(schema: Any, *, raw: bool = False) -> AvroCodec:
    return make_codec(ResolvedSchema("AVRO", json.dumps(schema)), raw=raw)


READS: dict[str, Callable[[AvroCodec, bytes], object]] = {
    "read_payload": lambda codec, data: read_payload(codec, None, data, 7),
    "read_slowly": lambda codec, data: read_slowly(codec, None, (data, 7), tagged=False),
}


@pytest.mark.parametrize(("schema", "data"), WHOLE)
def test_a_whole_payload_ends_where_it_ends(schema: Any, data: bytes) -> None:
    skip, codec = make_skipper(model(json.dumps(schema))), codec_of(schema)
    assert skip(data, 0, 0) == skip(data + b"\0", 0, 0) == len(data)
    values = [read(codec, data) for read in READS.values()]
    assert values[0] == values[1]
    for read in READS.values():
        with pytest.raises(BadRecordError) as bad:
            read(codec, data + b"\0")
        assert (bad.value.code, bad.value.payload, bad.value.schema) == (RecordErrorCode.TRAILING, data + b"\0", 7)


@pytest.mark.parametrize(("schema", "data"), BROKEN)
def test_a_broken_payload_is_malformed(schema: Any, data: bytes) -> None:
    skip, codec = make_skipper(model(json.dumps(schema))), codec_of(schema)
    with pytest.raises(MalformedPayloadError):
        skip(data, 0, 0)
    for read in READS.values():
        with pytest.raises(BadRecordError) as bad:
            read(codec, data)
        assert (bad.value.code, bad.value.payload) == (RecordErrorCode.MALFORMED, data)


# --------------------------------------------------------------------------------------------------------------- depth

NESTED: dict[str, tuple[Any, bytes, bytes, int]] = {
    "union": (["null", "R"], b"\2", b"\0", MAX_DEPTH + 1),
    "array": ({"type": "array", "items": "R"}, b"\2", b"\0", MAX_DEPTH // 2),
    "map": ({"type": "map", "values": "R"}, b"\2\0", b"\0", MAX_DEPTH // 2),
    "array of unions": ({"type": "array", "items": ["null", "R"]}, b"\2\2", b"\0", MAX_DEPTH // 2),
    "map of unions": ({"type": "map", "values": ["null", "R"]}, b"\2\0\2", b"\0", MAX_DEPTH // 2),
}
"""By container: the type of the only field of a record, what stands before a further one, the end, and how many there may be."""


@pytest.mark.parametrize("container", NESTED)
def test_values_are_nested_as_deep_as_the_limit_and_no_deeper(container: str) -> None:
    kind, before, end, deepest = NESTED[container]
    skip = make_skipper(model(json.dumps({"type": "record", "name": "R", "fields": [{"name": "r", "type": kind}]})))

    def payload(records: int) -> bytes:
        ends = 0 if container == "union" else records - 1
        return before * (records - 1) + end + b"\0" * ends

    assert skip(payload(deepest), 0, 0) == len(payload(deepest))
    with pytest.raises(MalformedPayloadError, match=f"deeper than {MAX_DEPTH} levels"):
        skip(payload(deepest + 1), 0, 0)


# --------------------------------------------------------------------------------------------- values that take no bytes


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("sized", [False, True])
def test_values_without_bytes_are_counted_over_all_blocks(blocks: int, *, sized: bool) -> None:
    """A block may say its size, which is nothing here; its count is negative then."""
    skip = make_skipper(model('{"type":"array","items":"null"}'))

    def payload(count: int) -> bytes:
        counts = [count - 1, 1] if blocks == 2 else [count]
        return b"".join(encode_long(-each) + b"\0" if sized else encode_long(each) for each in counts) + b"\0"

    most = count_allowed(len(payload(count_allowed(8))))
    assert skip(payload(most), 0, 0) == len(payload(most))
    with pytest.raises(MalformedPayloadError, match="AVRO_FREE_VALUES"):
        skip(payload(most + 1), 0, 0)


# --------------------------------------------------------------------------------------------------- readers and branches

BRANCHES = [
    {"type": "record", "name": "A", "fields": [{"name": "x", "type": "int"}]},
    {"type": "record", "name": "B", "fields": [{"name": "y", "type": "int"}]},
]


@pytest.mark.parametrize("order", [(True, False), (False, True), (True, False, True)])
@pytest.mark.parametrize("own", [True, False])
def test_values_carry_their_branch_only_where_that_is_asked_for(order: tuple[bool, ...], *, own: bool) -> None:
    """By programs and by the slow way alike, whatever was read before."""
    writer, reader = codec_of(BRANCHES), None if own else codec_of([*BRANCHES, "null"])
    for tagged in order:
        value = ("B", {"y": 1}) if tagged else {"y": 1}
        assert read_payload(writer, reader, b"\2\2", 7, tagged=tagged) == value
        assert read_slowly(writer, reader, (b"\2\2", 7), tagged=tagged) == value


def test_each_reader_has_its_own_defaults_and_aliases() -> None:
    """Also beside others whose payloads are read alike."""
    writer = codec_of({"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]})
    fields: list[tuple[dict[str, Any], int]] = [
        ({"aliases": ["n"]}, 5),
        ({"default": 1}, 1),
        ({"default": 2}, 2),
        ({"aliases": ["n"], "default": 3}, 5),
    ]
    for _ in range(2):
        for more, value in fields:
            reader = codec_of({"type": "record", "name": "R", "fields": [{"name": "m", "type": "int", **more}]})
            assert read_payload(writer, reader, b"\x0a", 7) == {"m": value}
            assert read_slowly(writer, reader, (b"\x0a", 7), tagged=False) == {"m": value}


@pytest.mark.parametrize(
    ("value", "bare"),
    [
        (("A", 1), 1),
        (("A", ("B", 1)), 1),
        ([("A", 1), 2], [1, 2]),
        ({"a": ("A", {"b": [("B", 1)]})}, {"a": {"b": [1]}}),
        (("A", 1, 2), ("A", 1, 2)),
        ((1, "A"), (1, "A")),
        ("A", "A"),
    ],
)
def test_names_of_branches_are_dropped_wherever_they_stand(value: Any, bare: Any) -> None:
    assert drop_branch_names(value) == bare


# ---------------------------------------------------------------------------------------------------------- only bytes


@pytest.mark.parametrize("value", [b"ab", bytearray(b"ab"), memoryview(b"ab"), memoryview(b"xaby")[1:3]])
def test_bytes_alone_are_written_as_they_are(value: Any) -> None:
    codec = codec_of("bytes", raw=True)
    assert write_payload(codec, value, check=True, head=b"h") == b"hab"
    if not isinstance(value, memoryview):
        assert write_payload(codec_of({"type": "bytes", "x": 1}), value, check=True, head=b"h") == b"h\4ab"


@pytest.mark.parametrize("value", ["ab", 5, None, [97]])
def test_bytes_alone_are_no_other_values(value: Any) -> None:
    with pytest.raises(BadValueError, match=f"is bytes, the value is a {type(value).__name__}"):
        write_payload(codec_of("bytes", raw=True), value, check=True)


@pytest.mark.parametrize(
    ("reader", "value"),
    [(None, b"ab"), ("bytes", b"ab"), ({"type": "bytes", "x": 1}, b"ab"), ("string", "ab"), (["null", "bytes"], b"ab")],
)
def test_bytes_alone_are_read_by_each_reader(reader: Any, value: Any) -> None:
    raw = reader == "bytes" or isinstance(reader, dict)
    made = None if reader is None else codec_of(reader, raw=raw)
    assert read_payload(codec_of("bytes", raw=True), made, b"ab", 7) == value


def test_only_bytes_have_no_end_of_their_own() -> None:
    assert make_text_skipper('"bytes"') is None
    for text in ('{"type":"record","name":"R","fields":[{"name":"b","type":"bytes"}]}', '["bytes"]', '"string"'):
        assert make_text_skipper(text) is not None
