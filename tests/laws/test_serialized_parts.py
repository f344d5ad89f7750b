"""Keys and values of one topic have subjects of their own, in each format and by each way to write and read; and files that came with a schema."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.text_format import Parse

from tests.behaviours.test_serializers_protobuf import MONEY, ORDER, kinds, order
from tests.csv_format import offer
from treaty.assemble import connect, connect_async
from treaty.client.connection import Connection
from treaty.client.serializers.async_serializers import AsyncDeserializer, AsyncSerializer
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import Part
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.payloads import PayloadDeserializer, PayloadSerializer
from treaty.client.serializers.protobuf import ProtobufDeserializer, ProtobufSerializer
from treaty.client.serializers.schema_heads import Framing
from treaty.client.serializers.settings import (
    Deserializer,
    DeserializerSettings,
    SchemaChoice,
    Serializer,
    SerializerSettings,
    UseId,
    UseLatest,
    UseLatestWith,
)
from treaty.client.serializers.subject_names import STRATEGIES, AssociatedNameStrategy, SubjectNaming
from treaty.core.messages.associations import Associate, AssociationSpec, Dissociate, Resource
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Metadata, Reference
from treaty.wire.pravega.drafts import make_draft

IN_HEADERS = SerializerSettings(framing="header")
PARTS: list[Part] = ["key", "value"]
CSV = Draft("columns\nid int", "CSV")
FORMATS: dict[str, tuple[Callable[[Registry, SerializerSettings], Serializer], Any]] = {
    "AVRO": (lambda registry, settings: AvroSerializer(registry, '"long"', settings), 5),
    "JSON": (lambda registry, settings: JsonSerializer(registry, '{"type":"integer"}', settings), 5),
    "PROTOBUF": (lambda registry, settings: ProtobufSerializer(registry, kinds()[2], settings), kinds()[2](cents=5)),
    "CSV": (lambda registry, settings: PayloadSerializer(registry, CSV, settings), {"id": 5}),
}
WRITES: dict[str, Callable[[AsyncSerializer, Any, Part, str], Awaitable[Any]]] = {
    "bind": lambda write, _, part, topic: write.bind(topic, part),
    "call": lambda write, value, part, topic: write(value, topic, part),
    "prepare": lambda write, _, part, topic: write.prepare(topic, part),
}


@pytest.fixture(autouse=True)
def _offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_part_is_written_with_its_own_subject(registry: Connection, format_: str, part: Part) -> None:
    make, value = FORMATS[format_]
    make(registry, SerializerSettings()).prepare("t", part)
    assert registry.subjects() == (f"t-{part}",)
    make(registry, SerializerSettings())(value, "u", part)
    assert registry.subjects() == (f"t-{part}", f"u-{part}")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("format_", FORMATS)
def test_asyncio_programs_write_a_part_with_its_own_subject(format_: str, part: Part) -> None:
    async def run() -> None:
        make, value = FORMATS[format_]
        async with connect_async("memory:") as registry:
            for way, write_by in WRITES.items():
                write = AsyncSerializer(registry, lambda opened: make(opened, SerializerSettings()))
                await write_by(write, value, part, way)
            assert await registry.subjects() == tuple(sorted(f"{way}-{part}" for way in WRITES))
            serialize = await write.bind("bind", part)
            assert serialize(value) == (await write(value, "bind", part)).data
            assert len(await registry.subjects()) == len(WRITES)

    asyncio.run(run())


def text_of(*names: str) -> str:
    members = [{"name": name, "type": "int", "default": 0} for name in names]
    return json.dumps({"type": "record", "name": "R", "fields": members})


READERS: dict[str, tuple[Callable[[Registry], Serializer], Callable[[Registry], Deserializer], Any, Any]] = {
    "AVRO": (
        lambda registry: AvroSerializer(registry, text_of("n")),
        lambda registry: AvroDeserializer(registry, UseLatest()),
        text_of("n", "m"),
        {"n": 5},
    ),
    "JSON": (
        lambda registry: JsonSerializer(registry, '{"type":"integer"}'),
        lambda registry: JsonDeserializer(registry, UseLatest()),
        Draft('{"type":"integer","minimum":9}', "JSON"),
        5,
    ),
    "CSV": (
        lambda registry: PayloadSerializer(registry, CSV),
        lambda registry: PayloadDeserializer(registry, "CSV", UseLatest()),
        Draft("columns\nid int\nn int", "CSV"),
        {"id": 5},
    ),
}


def outcome_of(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except ValueError as error:
        return str(error).partition(":")[0]


@pytest.mark.parametrize("newer", PARTS)
@pytest.mark.parametrize("format_", READERS)
def test_a_part_is_read_with_the_latest_version_of_its_own_subject(
    registry: Connection, format_: str, newer: Part
) -> None:
    registry.ask(SetConfig(Scope("."), Config(level="NONE")))
    write, read, latest, value = READERS[format_]
    data = {part: write(registry)(value, "t", part).data for part in PARTS}
    registry.register(f"t-{newer}", latest)
    values = {part: outcome_of(partial(read(registry), data[part], "t", part)) for part in PARTS}
    assert [part for part in PARTS if values[part] != value] == [newer]


@pytest.mark.parametrize("newer", PARTS)
@pytest.mark.parametrize("way", ["call", "open"])
def test_asyncio_programs_read_a_part_with_its_own_subject_and_header(way: str, newer: Part) -> None:
    """Headers may come from a generator, although a record is read again after each answer of the registry."""

    async def run() -> None:
        async with connect_async("memory:") as registry:
            old = AsyncSerializer(registry, lambda door: AvroSerializer(door, text_of("n"), IN_HEADERS))
            parts = {part: await old({"n": 5}, "t", part) for part in PARTS}
            await registry.register(f"t-{newer}", text_of("n", "m"))
            read = AsyncDeserializer(registry, lambda door: AvroDeserializer(door, UseLatest()))
            for part, part_bytes in parts.items():
                headers = ((name, content) for name, content in (("trace", b"x"), *part_bytes.headers))
                opened = await read.open(part_bytes.data or b"", "t", part, headers) if way == "open" else None
                value = opened.value if opened else await read(part_bytes.data, "t", part, headers)
                assert value == ({"n": 5, "m": 0} if part == newer else {"n": 5})

    asyncio.run(run())


@pytest.mark.parametrize("framing", ["version", "md5", "single-object"])
def test_the_head_of_a_part_means_a_version_of_its_own_subject(registry: Connection, framing: Framing) -> None:
    registry.register("t-value", '"long"')
    registry.register("t-value", '{"type":"long","x":1}')
    write = AvroSerializer(registry, text_of("n"), SerializerSettings(framing=framing))
    read = AvroDeserializer(registry, None, DeserializerSettings(framing=framing))
    assert read(write({"n": 5}, "t", "key").data, "t", "key") == {"n": 5}


@pytest.mark.parametrize("format_", ["AVRO", "JSON", "PROTOBUF"])
def test_what_does_not_fit_is_a_bad_value_of_each_format(registry: Connection, format_: str) -> None:
    write = FORMATS[format_][0](registry, SerializerSettings())
    for value in ("x", b"x", 5.5, {"id": "x"}, [1], object()):
        with pytest.raises(BadValueError):
            write(value, "t")


@pytest.mark.parametrize("strategy", ["topic", "record", "topic-record"])
def test_a_reader_finds_the_latest_version_by_the_name_of_the_record(registry: Connection, strategy: str) -> None:
    names = STRATEGIES[strategy]
    part_bytes = AvroSerializer(registry, text_of("n"), SerializerSettings(name_strategy=names))({"n": 5}, "t")
    registry.register(str(names("t", "value", "R")), text_of("n", "m"))
    read = AvroDeserializer(registry, UseLatest(), DeserializerSettings(name_strategy=names))
    assert read(part_bytes.data, "t") == {"n": 5, "m": 0}


@dataclass
class Box:
    n: int


def test_functions_of_a_program_come_before_those_of_a_class(registry: Connection) -> None:
    write = JsonSerializer(registry, Box, to_json=lambda number: {"n": number})
    data = write(5, "t").data
    assert JsonDeserializer(registry, Box, from_json=lambda value: value["n"] + 1)(data) == 6
    assert JsonDeserializer(registry, Box)(data) == Box(5)


@pytest.mark.parametrize("head", [b"", b"\0", b"\2\0"])
def test_a_header_without_message_indexes_means_the_first_message(registry: Connection, head: bytes) -> None:
    part_bytes = ProtobufSerializer(registry, kinds()[2], IN_HEADERS)(kinds()[2](cents=5), "t")
    ((name, content),) = part_bytes.headers
    headers = ((name, content.removesuffix(b"\0") + head),)
    assert str(ProtobufDeserializer(registry)(part_bytes.data, "t", headers=headers)) == "cents: 5\n"


# ----------------------------------------------------------------------------------------------------- associations


def associate(registry: Connection, *pairs: tuple[Part, str]) -> None:
    wishes = tuple(AssociationSpec(kind, subject_of(subject)) for kind, subject in pairs)
    registry.ask(Associate(Resource("t", "lkc-1", "topic-1"), wishes))


@pytest.mark.parametrize("parts", [("key", "value"), ("value", "key")])
def test_each_part_of_a_topic_has_an_association_of_its_own(registry: Connection, parts: tuple[Part, Part]) -> None:
    for subject in ("for.key", "for.value"):
        registry.register(subject, '"long"')
    associate(registry, ("key", "for.key"), ("value", "for.value"))
    write = AvroSerializer(registry, '"long"', SerializerSettings(name_strategy=AssociatedNameStrategy("none")))
    for part in parts:
        write(5, "t", part)
    assert registry.subjects() == ("for.key", "for.value")
    only = AvroSerializer(registry, '"string"', SerializerSettings(name_strategy=AssociatedNameStrategy("none")))
    for part in parts:
        with pytest.raises(Incompatible, match=f"for.{part}"):
            only("a", "t", part)


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_an_association_counts_for_as_many_seconds_as_the_strategy_says(registry: Connection, seconds: float) -> None:
    for subject in ("one", "two"):
        registry.register(subject, '"long"')
    associate(registry, ("value", "one"))
    names = AssociatedNameStrategy(seconds=seconds)
    write = AvroSerializer(registry, '{"type":"long","x":1}', SerializerSettings(name_strategy=names))
    write(5, "t")
    registry.ask(Dissociate("topic-1"))
    associate(registry, ("value", "two"))
    write(5, "t")
    assert (registry.versions("one"), registry.versions("two")) == ((1, 2), (1,) if seconds else (1, 2))


@pytest.mark.parametrize(
    ("strategy", "missing"),
    [
        *((name, word) for name in STRATEGIES for word in ("topic", "record")),
        (AssociatedNameStrategy(), "topic"),
        (AssociatedNameStrategy("record"), "topic"),
        (AssociatedNameStrategy("record"), "record"),
        (AssociatedNameStrategy("topic-record"), "record"),
        (AssociatedNameStrategy("topic"), "record"),
    ],
)
def test_a_strategy_says_which_word_it_lacks(
    registry: Connection, strategy: str | AssociatedNameStrategy, missing: str
) -> None:
    needs = {"topic": {"topic"}, "record": {"record"}, "topic-record": {"topic", "record"}}
    if isinstance(strategy, str):
        find, needed = STRATEGIES[strategy], needs[strategy]
    else:
        find, needed = SubjectNaming(registry, strategy).subject, {"topic", *needs[strategy.fallback]}
    words = {"topic": "t", "record": "R"} | {missing: ""}
    if missing in needed:
        with pytest.raises(ValueError, match=f"the subject name needs a {missing}"):
            find(words["topic"], "value", words["record"])
    else:
        assert find(words["topic"], "value", words["record"]).name


# --------------------------------------------------------------------------------------------- texts of two contexts


def test_equal_texts_of_two_contexts_are_read_with_what_each_refers_to(registry: Connection) -> None:
    """Guid, id and number are the same in both; the names in the texts mean other schemas."""
    using = Draft(json.dumps({"type": "array", "items": "R"}), references=(Reference("R", "part", 1),))
    for context, names in ((".", ("n",)), (".x", ("n", "m"))):
        registry.register(f":{context}:part", text_of(*names))
        registry.register(f":{context}:t-value", using)
    data = AvroSerializer(registry, using)([{"n": 5, "m": 6}], ":.x:t").data
    for topics in ((":.x:t", "t"), ("t", ":.x:t")):
        read = AvroDeserializer(registry, UseLatest(), DeserializerSettings(context=".x"))
        values = {topic: read(data, topic) for topic in topics}
        assert values == {":.x:t": [{"n": 5, "m": 6}], "t": [{"n": 5}]}


# ------------------------------------------------------------------------------------------ files that come with a text


def order_set() -> bytes:
    """Descriptors of a file and of one that it imports."""
    files = FileDescriptorSet()
    for text in (MONEY, ORDER):
        files.file.append(Parse(text, FileDescriptorProto()))
    return files.SerializeToString()


@pytest.mark.parametrize("choice", ["latest", "with", "id"])
@pytest.mark.parametrize("strict", [True, False])
def test_a_schema_is_written_and_read_with_the_files_that_came_with_it(
    registry: Connection, choice: str, *, strict: bool
) -> None:
    draft = replace(make_draft("PROTOBUF", "shop.Order", order_set()), metadata=Metadata(properties=(("a", "1"),)))
    version = registry.ask(Register(subject_of("t-value"), draft)).answer.version
    choices: dict[str, SchemaChoice] = {
        "latest": UseLatest(strict),
        "with": UseLatestWith((("a", "1"),), strict),
        "id": UseId(version.schema_id, strict),
    }
    value = order(id=7)
    part_bytes = ProtobufSerializer(registry, kinds()[0], SerializerSettings(choices[choice]))(value, "t")
    assert (part_bytes.schema_id, registry.subjects()) == (version.schema_id, ("t-value",))
    read = ProtobufDeserializer(registry)(part_bytes.data, "t")
    assert str(read) == str(value)
