"""Heads before payloads mean versions of the subject of their topic, whatever another subject has of the same head."""

import json
from typing import Any

import pytest

from treaty.assemble import connect
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadRecordError
from treaty.client.serializers.schema_heads import Framing
from treaty.client.serializers.settings import DeserializerSettings, SerializerSettings
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.schema import Draft, Reference

FRAMINGS: list[Framing] = ["version", "md5", "single-object"]


def text(*names: str) -> str:
    fields: list[Any] = [{"name": name, "type": "int", "default": 0} for name in names]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


ONE, TWO = text("n"), text("n", "m")


@pytest.mark.parametrize("framing", FRAMINGS)
def test_a_head_means_a_version_of_its_own_subject(framing: Framing) -> None:
    """One reader reads two topics, whose versions have another order, and a third that has one of them alone."""
    settings = SerializerSettings(framing=framing)
    orders = {"a": (ONE, TWO), "b": (TWO, ONE), "c": (TWO,)}
    values = {ONE: {"n": 5}, TWO: {"n": 5, "m": 6}}
    with connect("memory:") as registry:
        sent = {
            (topic, schema): AvroSerializer(registry, schema, settings)(values[schema], topic).data
            for topic, schemas in orders.items()
            for schema in schemas
        }
        read = AvroDeserializer(registry, None, DeserializerSettings(framing=framing))
        for _ in range(2):
            for (topic, schema), data in sent.items():
                assert read(data, topic) == values[schema]
        if framing != "version":
            with pytest.raises(BadRecordError, match="UNKNOWN_ID: c-value has no version with the head"):
                read(sent["a", ONE], "c")


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("other", [Draft('{"type":"object"}', "JSON"), Draft('syntax = "proto3";', "PROTOBUF")])
def test_versions_of_other_formats_stand_beside_those_with_heads(framing: Framing, other: Draft) -> None:
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("."), Config(level="NONE")))
        registry.register("t-value", other)
        part = AvroSerializer(registry, ONE, SerializerSettings(framing=framing))({"n": 5}, "t")
        assert AvroDeserializer(registry, None, DeserializerSettings(framing=framing))(part.data, "t") == {"n": 5}


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("context", ["", ":.x:"])
def test_a_head_is_made_with_what_the_schema_refers_to_in_its_context(framing: Framing, context: str) -> None:
    using = Draft(json.dumps({"type": "array", "items": "R"}), references=(Reference("R", "part", 1),))
    with connect("memory:") as registry:
        registry.register(f"{context}part", TWO if context else ONE)
        registry.register("part" if context else ":.x:part", ONE if context else TWO)
        value = [{"n": 5, "m": 6}] if context else [{"n": 5}]
        part = AvroSerializer(registry, using, SerializerSettings(framing=framing))(value, f"{context}t")
        settings = DeserializerSettings(framing=framing, context=".x" if context else ".")
        assert AvroDeserializer(registry, None, settings)(part.data, f"{context}t") == value


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"", "TOO_SHORT", "does not begin with a version"),
        (b"\x80" * 4, "TOO_SHORT", "does not begin with a version"),
        (b"\x80" * 5, "UNKNOWN_ID", "does not begin with a version"),
        (b"\x80" * 5 + b"\0", "UNKNOWN_ID", "does not begin with a version"),
        (b"\x82\x80\x80\x80\0", "", ""),
        (b"\x84\x80\x80\x80\0", "UNKNOWN_ID", "t-value has no version with the head 8480808000"),
        (b"\xfe\xff\xff\xff\x0f", "UNKNOWN_ID", "t-value has no version with the head feffffff0f"),
        (b"\3", "UNKNOWN_ID", "t-value has no version with the head 03"),
        (b"\0", "UNKNOWN_ID", "t-value has no version with the head 00"),
    ],
)
def test_a_version_has_up_to_five_bytes(data: bytes, code: str, message: str) -> None:
    """The first version is 2; a number may be longer than it has to be."""
    with connect("memory:") as registry:
        registry.register("t-value", '"null"')
        read = AvroDeserializer(registry, None, DeserializerSettings(framing="version"))
        if not code:
            assert read(data, "t") is None
            return
        with pytest.raises(BadRecordError, match=message) as caught:
            read(data, "t")
        assert caught.value.code == code
