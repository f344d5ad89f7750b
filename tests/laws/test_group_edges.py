"""Groups of Pravega's programs: what unpacks up to the limits, zeros behind payloads, and options that hold for each format."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.oracle.avro_treaty import model
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.groups.codecs import CodecError, PayloadCodec, find_codec, read_snappy_size, too_long, unpack_payload
from treaty.client.groups.deserializer import CodecMismatchError, GroupDeserializer
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.settings import GroupReaderSettings, GroupWriterSettings, pravega_group
from treaty.client.groups.trailing_zeros import trim_json, trim_message, trim_record
from treaty.client.serializers.avro_skipper import make_skipper
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.core.limits import INFLATED_BYTES, INFLATED_FLOOR
from treaty.core.messages.encodings import AddCodec, CodecType
from treaty.core.names import subject_of
from treaty.core.schema import Draft

CODECS = ["gzip", "snappy"]


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


# ---------------------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize("name", [*CODECS, "none"])
@pytest.mark.parametrize("size", [0, 1, 7, 100])
def test_a_payload_unpacks_to_as_many_bytes_as_the_limit(name: str, size: int) -> None:
    codec, payload = find_codec(name), bytes(range(size))
    packed = codec.pack(payload, ())
    assert unpack_payload(codec, packed, limit=size) == payload
    if size:
        with pytest.raises(CodecError, match=f"more than {size - 1} bytes"):
            unpack_payload(codec, packed, limit=size - 1)


def test_a_payload_of_several_gzip_members_has_one_limit() -> None:
    codec, packed = find_codec("gzip"), gzip.compress(b"abc") + gzip.compress(b"") + gzip.compress(b"defg")
    assert unpack_payload(codec, packed, limit=7) == b"abcdefg"
    with pytest.raises(CodecError, match="more than 6 bytes"):
        unpack_payload(codec, packed, limit=6)


def test_only_packed_payloads_are_limited_by_their_density() -> None:
    """Bytes that no codec packed are as long as they are; packed ones have room up to the floor."""
    plain = bytes(INFLATED_FLOOR + 1)
    assert unpack_payload(find_codec("none"), plain) == plain
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    packed = packer.compress(bytes(INFLATED_FLOOR)) + packer.flush()
    assert len(unpack_payload(find_codec("gzip"), packed)) == INFLATED_FLOOR


@pytest.mark.parametrize(
    ("limit", "name"),
    [
        (INFLATED_BYTES - 1, "INFLATED_RATIO"),
        (INFLATED_BYTES, "INFLATED_BYTES"),
        (INFLATED_BYTES + 1, "INFLATED_BYTES"),
    ],
)
def test_an_error_names_the_limit_that_it_is_about(limit: int, name: str) -> None:
    assert str(too_long(limit)) == f"it unpacks to more than {limit} bytes (limit {name})"


@pytest.mark.parametrize("size", [0, 1, 127, 128, 2**14, 2**21, 2**28, 2**32 - 1])
def test_the_length_of_a_snappy_block_has_up_to_five_bytes(size: int) -> None:
    length = bytearray()
    rest = size
    while rest > 0x7F:
        length.append(rest & 0x7F | 0x80)
        rest >>= 7
    length.append(rest)
    needed = max(0, -(-size // 64) - len(length))
    if needed < 2**21:
        assert read_snappy_size(bytes(length) + bytes(needed), size) == size
    if size:
        with pytest.raises(CodecError):
            read_snappy_size(bytes(length) + bytes(min(needed, 2**21)), size - 1)
    with pytest.raises(CodecError):
        read_snappy_size(b"\x80" * len(length), 2**40)


@pytest.mark.parametrize("damage", [b"\3\0a", b"\2\4a", b"\1", b"", b"\x80" * 5, b"\x02\x04ab\x04ab"])
def test_a_snappy_block_that_holds_other_bytes_than_it_says_is_damaged(damage: bytes) -> None:
    with pytest.raises(CodecError):
        unpack_payload(find_codec("snappy"), damage)


# ----------------------------------------------------------------------------------------------------------------- zeros

RECORD = make_skipper(
    model('{"type":"record","name":"R","fields":[{"name":"n","type":"long"},{"name":"s","type":"string"}]}')
)
TRIMS: dict[str, tuple[Callable[[bytes], bytes], list[tuple[bytes, bytes]]]] = {
    "JSON": (trim_json, [(b"{}\0\0", b"{}"), (b"{}", b"{}"), (b"\0", b"")]),
    "Avro": (
        lambda payload: trim_record(RECORD, payload),
        [
            (b"\2\2a\0\0", b"\2\2a"),
            (b"\2\2a", b"\2\2a"),
            (b"\2\0", b"\2\0"),
            (b"\2\0\0", b"\2\0"),
            (b"\0\0\0\0", b"\0\0"),
            (b"\2\2a\1\0", b"\2\2a\1\0"),
            (b"\2\4a\0", b"\2\4a\0"),
            (b"\2\6a\0", b"\2\6a\0"),
            (b"\2", b"\2"),
        ],
    ),
    "Protobuf": (
        trim_message,
        [
            (b"\x08\x05\0\0", b"\x08\x05"),
            (b"\x08\0", b"\x08\0"),
            (b"\x08\0\0", b"\x08\0"),
            (b"\x12\2\0\0", b"\x12\2\0\0"),
            (b"\x12\2\0\0\0", b"\x12\2\0\0"),
            (b"\x19" + bytes(8), b"\x19" + bytes(8)),
            (b"\x19" + bytes(9), b"\x19" + bytes(8)),
            (b"\x1d" + bytes(4), b"\x1d" + bytes(4)),
            (b"\x1d" + bytes(5), b"\x1d" + bytes(4)),
            (b"\x08\x05\0\1\0", b"\x08\x05\0\1\0"),
            (b"\x0b\x0c\0", b"\x0b\x0c"),
            (b"\0\0", b""),
            (b"\x08\x80\0", b"\x08\x80\0"),
            (b"", b""),
        ],
    ),
}


@pytest.mark.parametrize("format_", TRIMS)
def test_zeros_behind_a_payload_are_dropped_and_no_others(format_: str) -> None:
    """What ends in something else, or is no payload, stays as it is."""
    trim, pairs = TRIMS[format_]
    for payload, trimmed in pairs:
        assert trim(payload) == trimmed, payload


@pytest.mark.parametrize("codec", CODECS)
def test_bytes_alone_keep_their_zeros(registry: Connection, codec: str) -> None:
    """They have no end of their own; texts beside them have."""
    for group, schema, value in (("raw", '"bytes"', b"\2a\0\0"), ("text", '"string"', "ab")):
        settings = GroupWriterSettings(pravega_group("Avro"), register_schema=True, register_codec=True, codec=codec)
        data = GroupSerializer(registry, group, schema, settings)(value).data
        assert data is not None
        packed = find_codec(codec)
        padded = data[:5] + packed.pack(packed.unpack(data[5:], (), 99) + b"\0\0", ())
        read = GroupDeserializer(registry, group)
        assert read(data) == value
        assert read(padded) == (value + b"\0\0" if isinstance(value, bytes) else value)


# --------------------------------------------------------------------------------------------------------------- options

OLD = '{"type":"record","name":"R","fields":[{"name":"n","type":"long"}]}'
OTHER = '{"type":"record","name":"S","fields":[{"name":"n","type":"long"}]}'


def write_all(registry: Connection) -> list[bytes]:
    settings = GroupWriterSettings(pravega_group("Avro", many_types=True), register_schema=True)
    written = [GroupSerializer(registry, "g", schema, settings)({"n": 5}).data for schema in (OLD, OTHER)]
    return [one for one in written if one is not None]


@pytest.mark.parametrize("generic", [False, True])
def test_one_type_reads_all_records_of_its_format_unless_the_reader_is_generic(
    registry: Connection, *, generic: bool
) -> None:
    """A generic one reads those of another type as they were written."""
    wide = OLD.replace("}]}", '},{"name":"m","type":"long","default":7}],"aliases":["S"]}')
    first, second = write_all(registry)
    settings = GroupReaderSettings(generic=generic, check_reading=False)
    read = GroupDeserializer(registry, "g", wide, settings)
    assert read(first) == {"n": 5, "m": 7}
    assert read(second) == ({"n": 5} if generic else {"n": 5, "m": 7})


def test_all_codecs_that_are_missing_are_named(registry: Connection) -> None:
    write_all(registry)
    for name in ("x", "gzip", "y"):
        registry.ask(AddCodec(subject_of("g"), CodecType(name)))
    with pytest.raises(CodecMismatchError, match="lacks: x, y;"):
        GroupDeserializer(registry, "g")
    decoders = tuple(PayloadCodec(name, lambda data, _: data, lambda data, _, __: data) for name in "xy")
    assert GroupDeserializer(registry, "g", settings=GroupReaderSettings(decoders=decoders))(write_all(registry)[0])


def test_payloads_without_a_header_need_no_codec_of_the_group(registry: Connection) -> None:
    schema = Draft('{"type":"object"}', "JSON", type_name="T")
    settings = GroupWriterSettings(pravega_group("Json"), register_schema=True, header=False)
    data = GroupSerializer(registry, "g", schema, settings)({"a": 1}).data
    registry.ask(AddCodec(subject_of("g"), CodecType("x")))
    read = GroupDeserializer(registry, "g", schema, GroupReaderSettings(header=False))
    assert read(data) == {"a": 1}
    with pytest.raises(BadRecordError):
        read(b"x")


@pytest.mark.parametrize("first", ["x", "y"])
def test_a_codec_has_the_properties_that_the_group_has_for_its_name(registry: Connection, first: str) -> None:
    """Those of the codec itself, where the group does not have them, and where it is added."""
    seen: list[Any] = []

    def pack(data: bytes, properties: Any) -> bytes:
        seen.append(properties)
        return data

    def codec_of(name: str) -> PayloadCodec:
        return PayloadCodec(name, pack, lambda data, _, __: data, ((name, "own"),))

    write_all(registry)
    for name in dict.fromkeys((first, "x", "y")):
        registry.ask(AddCodec(subject_of("g"), CodecType(name, ((name, "of the group"),))))
    for name in ("x", "y"):
        GroupSerializer(registry, "g", OLD, GroupWriterSettings(codec=codec_of(name)))({"n": 5})
    assert seen == [(("x", "of the group"),), (("y", "of the group"),)]


@pytest.mark.parametrize("check", [True, False])
def test_values_are_checked_where_the_settings_say_so(registry: Connection, *, check: bool) -> None:
    """A writer's are by default, a reader's are not."""
    schema = Draft('{"type":"object","properties":{"a":{"type":"integer"}}}', "JSON", type_name="T")
    made = pravega_group("Json")
    write = GroupSerializer(registry, "g", schema, GroupWriterSettings(made, register_schema=True, check=check))
    assert GroupWriterSettings().check
    assert not GroupReaderSettings().check
    if check:
        with pytest.raises(BadValueError):
            write({"a": "x"})
        write = GroupSerializer(registry, "g", schema, GroupWriterSettings(check=False))
    data = write({"a": "x"}).data
    read = GroupDeserializer(registry, "g", settings=GroupReaderSettings(check=check))
    if check:
        with pytest.raises(BadRecordError) as bad:
            read(data)
        assert bad.value.code == RecordErrorCode.INVALID
    else:
        assert read(data) == {"a": "x"}


@pytest.mark.parametrize("as_json", [True, False])
def test_values_come_as_json_where_the_settings_say_so(registry: Connection, *, as_json: bool) -> None:
    values = [
        GroupDeserializer(registry, "g", settings=GroupReaderSettings(as_json=as_json))(one)
        for one in write_all(registry)
    ]
    assert values == ([json.dumps({"n": 5}, separators=(",", ":"))] * 2 if as_json else [{"n": 5}] * 2)
