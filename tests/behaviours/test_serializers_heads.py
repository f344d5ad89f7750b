"""Heads of AVRO-1124 and Avro's own before payloads: written by serializers, which register, and read by the subject."""

from collections.abc import Iterator

import pytest

import treaty
from tests.group_records import CountingRegistry
from treaty import (
    AvroDeserializer,
    AvroSerializer,
    BadRecordError,
    BadValueError,
    DeserializerSettings,
    Draft,
    JsonDeserializer,
    JsonSerializer,
    ProtobufDeserializer,
    ProtobufSerializer,
    SerializerSettings,
    UseId,
)
from treaty.client.serializers.schema_heads import Framing
from treaty.core.messages.groups import DeleteOrdinal, GetOrdinal
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import DeleteVersion, GetVersion
from treaty.core.names import subject_of
from treaty.formats.avro.fingerprint import crc64, md5
from treaty.plan.avro.flat import parse_avro

V1 = '{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}'
V2 = '{"type":"record","name":"R","fields":[{"name":"n","type":"int"},{"name":"m","type":"int","default":1}]}'
HEADS = {
    "version": (b"\x02", b"\x04"),
    "md5": (md5(parse_avro(V1)), md5(parse_avro(V2))),
    "single-object": (b"\xc3\x01" + crc64(parse_avro(V1)), b"\xc3\x01" + crc64(parse_avro(V2))),
}


@pytest.fixture
def registry() -> Iterator[CountingRegistry]:
    with treaty.connect("memory:") as found:
        yield CountingRegistry(found)


@pytest.mark.parametrize("framing", list(HEADS))
def test_writers_register_and_readers_find_the_version(registry: CountingRegistry, framing: Framing) -> None:
    settings = SerializerSettings(framing=framing)
    first, second = (AvroSerializer(registry, text, settings) for text in (V1, V2))
    data = [first({"n": 1}, "t").data, second({"n": 1, "m": 2}, "t").data]
    assert data == [HEADS[framing][0] + b"\2", HEADS[framing][1] + b"\2\4"]
    registry.take()
    read = AvroDeserializer(registry, None, DeserializerSettings(framing=framing))
    for _ in range(9):
        assert [read(one, "t") for one in data] == [{"n": 1}, {"n": 1, "m": 2}]
    asked = registry.take()
    assert asked.count(GetSchema) == 2
    assert asked.count(GetOrdinal) == (2 if framing == "version" else 0)
    assert asked.count(GetVersion) == (0 if framing == "version" else 2)
    registry.ask(DeleteVersion(subject_of("t-value"), 1))
    again = AvroDeserializer(registry, None, DeserializerSettings(framing=framing))
    assert again(data[0], "t") == {"n": 1}


def test_a_version_is_the_ordinal_and_one_and_never_a_number(registry: CountingRegistry) -> None:
    settings = SerializerSettings(framing="version")
    AvroSerializer(registry, V1, settings)({"n": 1}, "t")
    registry.ask(DeleteOrdinal(subject_of("t-value"), 0))
    registry.ask(DeleteVersion(subject_of("t-value"), 1, permanent=True))
    part = AvroSerializer(registry, V2, settings)({"n": 1, "m": 2}, "t")
    found = registry.ask(GetVersion(subject_of("t-value"), -1)).answer
    assert part.data is not None
    assert part.data[0] == 2 * (found.ordinal + 1)


@pytest.mark.parametrize(
    ("framing", "data", "code"),
    [
        ("version", b"", "TOO_SHORT"),
        ("version", b"\x80", "TOO_SHORT"),
        ("version", b"\xff" * 9, "UNKNOWN_ID"),
        ("version", b"\x00\2", "UNKNOWN_ID"),
        ("version", b"\x03\2", "UNKNOWN_ID"),
        ("version", b"\x06\2", "UNKNOWN_ID"),
        ("md5", b"\0" * 15, "TOO_SHORT"),
        ("md5", b"\0" * 17, "UNKNOWN_ID"),
        ("single-object", b"\xc3", "TOO_SHORT"),
        ("single-object", b"\xc3\x02" * 9, "BAD_MAGIC"),
        ("single-object", b"\xc3\x01" * 9, "UNKNOWN_ID"),
    ],
)
def test_heads_that_mean_nothing(registry: CountingRegistry, framing: Framing, data: bytes, code: str) -> None:
    AvroSerializer(registry, V1)({"n": 1}, "t")
    read = AvroDeserializer(registry, None, DeserializerSettings(framing=framing))
    for _ in range(2):
        with pytest.raises(BadRecordError, match=f"^{code}: "):
            read(data, "t")


def test_an_unknown_fingerprint_is_looked_up_again(registry: CountingRegistry) -> None:
    AvroSerializer(registry, V1)({"n": 1}, "t")
    read = AvroDeserializer(registry, None, DeserializerSettings(framing="md5"))
    with pytest.raises(BadRecordError, match="UNKNOWN_ID"):
        read(HEADS["md5"][1] + b"\2\4", "t")
    AvroSerializer(registry, V2)({"n": 1}, "t")
    registry.take()
    assert read(HEADS["md5"][1] + b"\2\4", "t") == {"n": 1, "m": 2}
    assert registry.take().count(ListVersions) == 1


def test_versions_say_schemas_of_other_formats_too(registry: CountingRegistry) -> None:
    from google.protobuf.duration_pb2 import Duration  # noqa: PLC0415 (only here)

    writing, reading = SerializerSettings(framing="version"), DeserializerSettings(framing="version")
    part = JsonSerializer(registry, Draft('{"type":"object"}', "JSON"), writing)({"a": 1}, "j")
    assert part.data == b'\2{"a":1}'
    assert JsonDeserializer(registry, None, reading)(part.data, "j") == {"a": 1}
    message = ProtobufSerializer(registry, Duration, writing)(Duration(seconds=3), "p")
    assert message.data == b"\2\0\x08\3"
    assert ProtobufDeserializer(registry, Duration, reading)(message.data, "p") == Duration(seconds=3)
    with pytest.raises(BadValueError, match="the framing md5 is Avro's, and the schema is JSON"):
        JsonSerializer(registry, Draft('{"type":"object"}', "JSON"), SerializerSettings(framing="md5"))({}, "j")
    schema_id = AvroSerializer(registry, V1)({"n": 1}, "t").schema_id
    with pytest.raises(BadValueError, match="says a version of a subject"):
        AvroSerializer(registry, V1, SerializerSettings(UseId(schema_id), framing="version"))({"n": 1}, "j")
