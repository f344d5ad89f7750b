"""Which schema a record is written and read with: the subject of its own part and context, of its own format, as the settings choose it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import Part, encode_id
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.settings import (
    AutoRegister,
    DeserializerSettings,
    MustExist,
    SchemaChoice,
    SerializerSettings,
    UseId,
    UseLatest,
    UseLatestWith,
)
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.core.schema import Draft, Metadata, Reference


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


@pytest.mark.parametrize("parts", [("key", "value"), ("value", "key")])
@pytest.mark.parametrize("choice", [AutoRegister(), MustExist(), UseLatest()])
def test_one_serializer_writes_each_part_with_its_own_subject(
    registry: Connection, choice: SchemaChoice, parts: tuple[Part, Part]
) -> None:
    other = registry.register("other", '"string"').version.schema_id
    if not isinstance(choice, AutoRegister):
        registry.register("t-key", '"long"')
        registry.register("t-value", '"long"' if isinstance(choice, MustExist) else '{"type":"long","x":1}')
    write = AvroSerializer(registry, '"long"', SerializerSettings(choice))
    for _ in range(2):
        for part in parts:
            assert write(5, "t", part).schema_id == registry.version(f"t-{part}").schema_id != other
    assert registry.subjects() == ("other", "t-key", "t-value")


def test_a_strategy_of_a_program_is_asked_for_each_record(registry: Connection) -> None:
    names = iter(("one", "two", "two"))

    def name_next(topic: str, part: Part, record: str) -> Subject:
        return subject_of(next(names))

    write = AvroSerializer(registry, '"long"', SerializerSettings(name_strategy=name_next))
    for expected in (("one",), ("one", "two"), ("one", "two")):
        write(5, "t")
        assert registry.subjects() == expected


@pytest.mark.parametrize("normalize", [None, False, True])
def test_a_schema_is_registered_and_looked_up_as_normalized_as_the_settings_say(
    registry: Connection, *, normalize: bool | None
) -> None:
    text = '{"type":"object","properties":{"b":{},"a":{}}}'
    JsonSerializer(registry, text, SerializerSettings(AutoRegister(normalize))).prepare("t")
    assert (registry.version("t-value").text != text) == bool(normalize)
    JsonSerializer(registry, text, SerializerSettings(MustExist(normalize))).prepare("t")
    if normalize:
        turned = '{"properties": {"a": {}, "b": {}}, "type": "object"}'
        JsonSerializer(registry, turned, SerializerSettings(MustExist(normalize))).prepare("t")
        with pytest.raises(SchemaNotFound, match=r"or let the serializer do it with the choice AutoRegister\(\)"):
            JsonSerializer(registry, '{"type":"string"}', SerializerSettings(MustExist(normalize))).prepare("t")


def part_of(*names: str) -> str:
    fields: list[Any] = [{"name": name, "type": "int", "default": 0} for name in names]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


@pytest.mark.parametrize("choice", [AutoRegister(), MustExist(), UseLatest(), UseLatestWith((("b", "2"), ("a", "1")))])
@pytest.mark.parametrize("framing", ["prefix", "header"])
def test_what_a_schema_refers_to_is_that_of_its_context(
    registry: Connection, choice: SchemaChoice, framing: Any
) -> None:
    """The same name has another schema in the default context."""
    registry.register("part", part_of("n"))
    registry.register(":.x:part", part_of("n", "m"))
    metadata = Metadata(properties=(("a", "1"), ("b", "2")))
    using = Draft(
        json.dumps({"type": "array", "items": "R"}), references=(Reference("R", "part", 1),), metadata=metadata
    )
    if not isinstance(choice, AutoRegister):
        registry.register(":.x:t-value", using)
    part = AvroSerializer(registry, using, SerializerSettings(choice, framing=framing))([{"n": 5, "m": 6}], ":.x:t")
    for reader in (None, using, UseLatest(), UseLatestWith((("b", "2"), ("a", "1")))):
        read = AvroDeserializer(registry, reader, DeserializerSettings(context=".x"))
        assert read(part.data, ":.x:t", headers=part.headers) == [{"n": 5, "m": 6}]


def test_a_schema_of_another_format_is_neither_written_nor_read_with(registry: Connection) -> None:
    schema_id = registry.register("t-value", Draft('{"type":"object"}', "JSON")).version.schema_id
    for choice in (UseLatest(), UseId(schema_id), UseLatest(strict=False)):
        with pytest.raises(BadValueError, match="is JSON; this serializer writes AVRO"):
            AvroSerializer(registry, '"long"', SerializerSettings(choice))(5, "t")
    data = AvroSerializer(registry, '"long"')(5, "u").data
    assert data is not None
    with pytest.raises(BadValueError, match="is JSON; this serializer reads AVRO"):
        AvroDeserializer(registry, UseLatest())(data, "t")
    with pytest.raises(BadRecordError) as bad:
        AvroDeserializer(registry)(encode_id(schema_id) + b"{}", "t")
    assert (bad.value.code, bad.value.payload, bad.value.schema) == (RecordErrorCode.MALFORMED, b"{}", schema_id)
    with pytest.raises(BadRecordError) as bad:
        JsonDeserializer(registry)(data, "t")
    assert bad.value.code == RecordErrorCode.MALFORMED
    with pytest.raises(BadRecordError) as bad:
        AvroDeserializer(registry)(encode_id(99) + b"\2", "t")
    assert (bad.value.code, bad.value.payload, bad.value.schema) == (
        RecordErrorCode.UNKNOWN_ID,
        encode_id(99) + b"\2",
        99,
    )
