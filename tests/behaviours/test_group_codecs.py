"""Codecs of groups: those of programs and packages, and payloads that a codec cannot unpack."""

import dataclasses
import gzip
import tracemalloc
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

import treaty
from tests.group_records import CountingRegistry, Order, writing
from treaty import BadRecordError
from treaty.client.groups import codecs
from treaty.client.groups.codecs import CodecError, MissingCodecError, PayloadCodec
from treaty.client.groups.deserializer import CodecMismatchError, GroupDeserializer
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.settings import GroupReaderSettings
from treaty.client.serializers.frames import encode_encoding
from treaty.core.limits import INFLATED_BYTES


@pytest.fixture
def registry() -> Iterator[CountingRegistry]:
    with treaty.connect("memory:") as found:
        yield CountingRegistry(found)


def key_codec(name: str = "xor", key: str = "7") -> PayloadCodec:
    """A codec whose readers need its property."""

    def turn(data: bytes, properties: tuple[tuple[str, str], ...]) -> bytes:
        return bytes(one ^ int(dict(properties)["key"]) for one in data)

    return PayloadCodec(name, turn, lambda data, properties, _: turn(data, properties), (("key", key),))


OFFERED = key_codec("offered", "9")


def test_codecs_of_programs_and_packages_get_their_properties_back(
    registry: CountingRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = GroupSerializer(registry, "orders", Order, writing("AVRO", key_codec()))(Order("a", 1)).data
    with pytest.raises(CodecMismatchError, match="orders has codecs that this deserializer lacks: xor"):
        GroupDeserializer(registry, "orders")
    with pytest.warns(UserWarning, match="lacks: xor"):
        lenient = GroupDeserializer(registry, "orders", settings=GroupReaderSettings(fail_on_codec_mismatch=False))
    with pytest.raises(BadRecordError, match="MALFORMED: no installed package has the codec 'xor'"):
        lenient(data)
    decoders = (dataclasses.replace(key_codec("xor", "0"), properties=()),)
    assert GroupDeserializer(registry, "orders", Order, GroupReaderSettings(decoders=decoders))(data) == Order("a", 1)
    point = EntryPoint("offered", f"{__name__}:OFFERED", codecs.ENTRY_POINTS)
    monkeypatch.setattr(codecs, "entry_points", lambda group: [point] if group == codecs.ENTRY_POINTS else [])
    more = GroupSerializer(registry, "others", Order, writing("AVRO", "offered"))(Order("b", 2)).data
    assert more is not None
    assert more[5:] != b"\2b\4"
    assert GroupDeserializer(registry, "others", Order)(more) == Order("b", 2)
    with pytest.raises(
        MissingCodecError, match=r"no installed package has the codec 'lz77'; there are .*gzip.*offered"
    ):
        codecs.find_codec("lz77")


def test_a_small_payload_that_unpacks_to_a_huge_one_is_refused_within_the_limit(registry: CountingRegistry) -> None:
    for codec in ("gzip", "snappy"):
        GroupSerializer(registry, "orders", Order, writing("AVRO", codec))
    read = GroupDeserializer(registry, "orders")
    bomb = gzip.compress(bytes(4 * INFLATED_BYTES), 1)
    tracemalloc.start()
    for data, why in (
        (encode_encoding(0) + bomb, "more than 50000000 bytes .limit INFLATED_BYTES"),
        (encode_encoding(1) + b"\xff\xff\xff\xff\x07" + b"\0" * 40, "can't hold the"),
        (encode_encoding(1) + b"\xff\xff\xff\xff\xff", "begins with no length"),
    ):
        with pytest.raises(BadRecordError, match=f"MALFORMED: .*{why}"):
            read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * INFLATED_BYTES


def test_a_codec_that_breaks_its_word_is_a_bad_record(registry: CountingRegistry) -> None:
    def break_word(data: bytes, _: object, limit: int) -> bytes:
        if data == b"long":
            return bytes(limit + 1)
        raise KeyError(data)

    broken: Callable[..., bytes] = break_word
    codec = PayloadCodec("broken", lambda data, _: data, broken)
    for data, why in ((b"long", "limit INFLATED_RATIO"), (b"x", "the codec broken can't unpack it: b'x'")):
        with pytest.raises(CodecError, match=why):
            codecs.unpack_payload(codec, data, limit=100)


@pytest.mark.parametrize("name", ["gzip", "snappy"])
def test_codecs_are_undone(name: str) -> None:
    codec = codecs.find_codec(name)
    for payload in (b"", b"a", b"abc" * 5_000, bytes(range(256))):
        packed = codec.pack(payload, ())
        assert codecs.unpack_payload(codec, packed) == payload
        with pytest.raises(CodecError):
            codecs.unpack_payload(codec, packed[:-1] if payload else b"")


MEMBERS = 500


class CountedBytes(bytes):
    """Bytes that count what is copied out of them in slices."""

    copied = 0

    def __getitem__(self, at: Any) -> Any:
        part = super().__getitem__(at)
        self.copied += len(part) if isinstance(at, slice) else 1
        return part


@pytest.mark.parametrize("size", [0, 1, 1_000, 70_000])
def test_a_stream_of_many_members_is_unpacked_with_each_byte_fed_a_few_times(size: int) -> None:
    """One after the other they would be copied again for each that is left: 435 kB took minutes."""
    member = gzip.compress(bytes(range(256)) * (size // 256) + b"x" * (size % 256), mtime=0)
    data = CountedBytes(member * MEMBERS)

    assert codecs.unpack_payload(codecs.GZIP_CODEC, data) == gzip.decompress(member) * MEMBERS

    assert len(data) <= data.copied <= 3 * len(data) + MEMBERS * codecs.SMALLEST_SLICE + codecs.LARGEST_SLICE
