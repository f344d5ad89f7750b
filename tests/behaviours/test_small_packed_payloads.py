"""Packed payloads below 1 kB: what they are unpacked to, and what reading that takes, is bounded. Seconds are figures."""

import gzip
import json
from collections.abc import Callable, Mapping

import pytest

from tests.behaviours.test_small_documents import part, read_by_arrow, read_by_client
from tests.behaviours.test_small_payloads import READERS as AVRO_READERS
from tests.frames import header, record
from tests.small_payloads import ITEM, LONG, MOST_BYTES, listed, measure, named
from treaty.arrow.packed_payloads import make_unpacker
from treaty.client.groups.codecs import CodecError, find_codec, unpack_payload
from treaty.core.limits import INFLATED_FLOOR, INFLATED_RATIO
from treaty.plan.options import DecodeOptions

SPARSE = named("Sparse", ("i", "int"), *((f"n{at}", "null") for at in range(12)))
NARROW = json.dumps(
    {
        "type": "object",
        "properties": {
            "l": {
                "type": "array",
                "items": {"type": "object", "properties": {f"f{at}": {"type": "integer"} for at in range(60)}},
            }
        },
    }
)
LIST = (
    'syntax = "proto3"; message A { repeated B b = 1; } message B { '
    + " ".join(f"int64 f{at} = {at};" for at in range(1, 61))
    + " }"
)
BYTES = INFLATED_FLOOR - 100
PACKED: Mapping[str, tuple[str, str, bytes]] = {
    "Avro, records of a byte": ("AVRO", listed(ITEM), LONG(BYTES) + bytes(BYTES + 1)),
    "Avro, records of a byte and many nulls": ("AVRO", listed(SPARSE), LONG(BYTES) + bytes(BYTES + 1)),
    "Avro, empty records in a union": ("AVRO", listed([named("Empty"), ITEM]), LONG(BYTES) + bytes(BYTES + 1)),
    "Avro, numbers": ("AVRO", record(("l", {"type": "array", "items": "double"})), LONG(BYTES // 8) + bytes(BYTES + 1)),
    "JSON, empty objects": ("JSON", NARROW, b'{"l":[' + b"{}," * (BYTES // 3) + b"{}]}"),
    "JSON, numbers": ("JSON", '{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}}}', b'{"l":[' + b"1," * (BYTES // 2) + b"1]}"),
    "Protobuf, empty messages": ("PROTOBUF", LIST, part(1, b"") * (BYTES // 2)),
}  # fmt: skip


def make_read(by: str, name: str) -> Callable[[bytes], object]:
    """From an unpacked payload to its value, or to why there is none."""
    format_, schema, _ = PACKED[name]
    if format_ == "AVRO":
        return lambda payload: AVRO_READERS[by](schema, "", payload)()
    head = header(1) + (b"\0" if format_ == "PROTOBUF" else b"")
    read = read_by_client(format_, schema) if by == "client" else read_by_arrow(format_, schema, DecodeOptions())
    return lambda payload: read(head + payload)


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("by", ["client", "arrow"])
def test_a_small_packed_payload_takes_little(by: str, name: str, figure: Callable[[str], None]) -> None:
    packed = gzip.compress(PACKED[name][2], 9)
    assert len(packed) < 1_000
    read = make_read(by, name)

    seconds, peak = measure(lambda: read(unpack_payload(find_codec("gzip"), packed)))

    if seconds > 0.3 or peak > 20_000_000:
        figure(f"{by}, {name}: {seconds:.2f} s CPU, {peak / 1e6:.0f} MB")
    assert peak < MOST_BYTES


@pytest.mark.parametrize("size", [INFLATED_FLOOR + 1, 900_000, 20_000_000])
def test_a_payload_that_is_packed_too_densely_is_refused_with_the_limit(size: int) -> None:
    packed = gzip.compress(bytes(size), 9)
    assert INFLATED_RATIO * len(packed) < size
    with pytest.raises(CodecError, match="INFLATED_RATIO"):
        unpack_payload(find_codec("gzip"), packed)
    assert make_unpacker({b"g": "gzip"})(b"g" + packed)[0] is None


@pytest.mark.parametrize("size", [0, 1, INFLATED_FLOOR])
def test_a_payload_within_the_floor_is_unpacked_however_densely_it_is_packed(size: int) -> None:
    assert unpack_payload(find_codec("gzip"), gzip.compress(bytes(size), 9)) == bytes(size)


def test_a_long_payload_is_unpacked_where_it_is_not_packed_too_densely() -> None:
    payload = b"".join(b'{"id":%d,"name":"a name"},' % at for at in range(40_000))
    assert unpack_payload(find_codec("gzip"), gzip.compress(payload, 9)) == payload
