"""Framing: what is framed comes out again, and nothing else does."""

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.client.serializers.errors import BadRecordError, RecordErrorCode
from treaty.client.serializers.frames import (
    HEADER_OF,
    MAX_ID,
    Part,
    encode_encoding,
    encode_guid,
    encode_id,
    split_encoding,
    unframe,
)
from treaty.client.serializers.message_indexes import FIRST, split_path

GUIDS = st.uuids().map(str)


@given(st.integers(0, MAX_ID), st.binary(max_size=64))
def test_an_id_in_front_comes_back_with_its_payload(schema_id: int, payload: bytes) -> None:
    frame = unframe(encode_id(schema_id) + payload)
    assert (frame.schema, frame.payload) == (schema_id, payload)


@given(GUIDS, st.binary(max_size=64), st.sampled_from(["key", "value"]))
def test_a_guid_in_the_header_leaves_the_payload_bare(guid: str, payload: bytes, part: Part) -> None:
    other: Part = "value" if part == "key" else "key"
    headers = [("trace", b"x"), (HEADER_OF[other], b"junk"), (HEADER_OF[part], encode_guid(guid))]
    frame = unframe(payload, headers, part)
    assert (frame.schema, frame.payload) == (guid, payload)


@given(GUIDS, st.binary(max_size=64))
def test_a_guid_in_front_is_read_too(guid: str, payload: bytes) -> None:
    frame = unframe(encode_guid(guid) + payload)
    assert (frame.schema, frame.payload) == (guid, payload)


def test_the_bytes_are_those_of_the_protocol() -> None:
    assert encode_id(7) == b"\x00\x00\x00\x00\x07"
    assert encode_id(MAX_ID) == b"\x00\x7f\xff\xff\xff"
    assert encode_guid("8ba49ae8-0f29-5e9a-8d0f-6f0a1b2c3d4e") == bytes.fromhex("018ba49ae80f295e9a8d0f6f0a1b2c3d4e")


@pytest.mark.parametrize("number", [-1, MAX_ID + 1, 2**32])
@pytest.mark.parametrize("encode", [encode_id, encode_encoding])
def test_an_id_that_does_not_fit_is_refused(encode: Callable[[int], bytes], number: int) -> None:
    with pytest.raises(ValueError, match="does not fit the frame"):
        encode(number)


@pytest.mark.parametrize("number", [0, 1, 255, MAX_ID - 1, MAX_ID])
def test_ids_up_to_their_edges_come_back_from_each_place(number: int) -> None:
    """In front of a payload, in a header, and as the id of an encoding, also where no payload follows."""
    for payload in (b"", b"x", b"abc"):
        assert split_encoding(encode_encoding(number) + payload) == (number, payload)
        in_front = unframe(encode_id(number) + payload)
        in_header = unframe(payload, [(HEADER_OF["value"], encode_id(number))])
        assert (in_front.schema, in_front.payload, in_front.head) == (number, payload, None)
        assert (in_header.schema, in_header.payload, in_header.head) == (number, payload, b"")


@pytest.mark.parametrize("number", [MAX_ID + 1, 2**32 - 1])
def test_ids_beyond_their_edge_are_unknown_in_each_place(number: int) -> None:
    behind = number.to_bytes(4, "big")
    reads: list[Callable[[], object]] = [
        lambda: unframe(b"\0" + behind),
        lambda: unframe(b"\0" + behind + b"abc"),
        lambda: unframe(b"abc", [(HEADER_OF["value"], b"\0" + behind)]),
        lambda: split_encoding(b"\1" + behind + b"abc"),
    ]
    for read in reads:
        with pytest.raises(BadRecordError) as caught:
            read()
        assert (caught.value.code, caught.value.schema) == (RecordErrorCode.UNKNOWN_ID, number)


@pytest.mark.parametrize("length", range(1, 13))
def test_a_message_index_has_at_most_ten_bytes(length: int) -> None:
    """A varint may be longer than it has to be: zeros fill it up."""
    data = b"\x80" * (length - 1) + b"\0"
    if length <= 10:
        assert split_path(data + b"abc", 7) == (FIRST, b"abc")
        assert split_path(b"\2" + data + b"abc", 7) == (FIRST, b"abc")
    for cut in (data, b"\2" + data):
        if length > 10:
            with pytest.raises(BadRecordError) as caught:
                split_path(cut, 7)
            assert (caught.value.code, caught.value.schema) == (RecordErrorCode.MALFORMED, 7)
        with pytest.raises(BadRecordError) as caught:
            split_path(cut[:-1][:10], 7)
        assert caught.value.code in {RecordErrorCode.TOO_SHORT, RecordErrorCode.MALFORMED}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", RecordErrorCode.TOO_SHORT),
        (b"\x00", RecordErrorCode.TOO_SHORT),
        (b"\x00\x00\x00\x00", RecordErrorCode.TOO_SHORT),
        (b"\x01" + bytes(15), RecordErrorCode.TOO_SHORT),
        (b"\x02\x00\x00\x00\x07abc", RecordErrorCode.BAD_MAGIC),
        (b"\x00\x80\x00\x00\x00abc", RecordErrorCode.UNKNOWN_ID),
        (b"\xff", RecordErrorCode.BAD_MAGIC),
        (b"{}", RecordErrorCode.BAD_MAGIC),
    ],
)
def test_what_has_no_frame_says_why(data: bytes, code: RecordErrorCode) -> None:
    with pytest.raises(BadRecordError) as caught:
        unframe(data)
    assert caught.value.code == code
    assert caught.value.payload == data
    assert str(caught.value).startswith(f"{code}: ")


def test_a_header_that_is_longer_than_a_guid_is_refused() -> None:
    with pytest.raises(BadRecordError, match="BAD_MAGIC: header __value_schema_id has 18 bytes"):
        unframe(b"abc", [("__value_schema_id", b"\x01" + bytes(17))])


@given(st.binary(max_size=40))
def test_any_bytes_are_framed_or_bad(data: bytes) -> None:
    with contextlib.suppress(BadRecordError):
        frame = unframe(data)
        again = encode_id(frame.schema) if isinstance(frame.schema, int) else encode_guid(frame.schema)
        assert again + frame.payload == data
