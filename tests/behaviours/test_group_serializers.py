"""Serializers of groups: Pravega's bytes, and how often a registry is asked for them."""

import asyncio
import dataclasses
import gzip
import json
from collections.abc import Iterator
from typing import TypeVar

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.struct_pb2 import Struct, Value

import treaty
from tests.group_records import Cancel, CountingRegistry, Order, writing
from treaty import AsyncDeserializer, AsyncSerializer, AvroDeserializer, BadRecordError, BadValueError, Draft
from treaty.client.groups import deserializer
from treaty.client.groups.codecs import GZIP, SNAPPY
from treaty.client.groups.deserializer import GroupDeserializer, UnreadableGroupError
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.settings import GroupReaderSettings, GroupWriterSettings, pravega_group
from treaty.client.groups.types import WithSchema, custom_type
from treaty.client.serializers.frames import encode_encoding, encode_guid
from treaty.core.limits import ENCODINGS_CACHED
from treaty.core.messages.encodings import AddCodec, AssignEncoding, GetEncoding, ListCodecs
from treaty.core.messages.groups import CheckReading, CreateSubject, FindSameVersion
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import subject_of
from treaty.core.refusals import CodecNotFound, SchemaNotFound, SubjectNotFound
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.wire.pravega.drafts import make_draft

A = TypeVar("A")


@pytest.fixture
def registry() -> Iterator[CountingRegistry]:
    with treaty.connect("memory:") as found:
        yield CountingRegistry(found)


@pytest.mark.parametrize("codec", ["", "gzip", "snappy"])
@pytest.mark.parametrize("format_", ["AVRO", "JSON"])
def test_typed_generic_and_json_readers_read_what_a_writer_of_many_types_wrote(
    registry: CountingRegistry, format_: str, codec: str
) -> None:
    write = GroupSerializer(registry, "orders", [Order, Cancel], writing(format_, codec), format_=format_)
    values: list[Order | Cancel] = [Order("a" * 50, 3), Cancel("b")]
    data = [write(one).data for one in values]
    assert [one[:5] for one in data if one] == [b"\1\0\0\0\0", b"\1\0\0\0\1"]
    assert write(None).data is None
    read = GroupDeserializer(registry, "orders", [Order, Cancel], format_=format_)
    assert [read(one) for one in data] == values
    assert read(None) is None
    generic = GroupDeserializer(registry, "orders")
    assert [generic(one) for one in data] == [dataclasses.asdict(one) for one in values]
    texts = GroupDeserializer(registry, "orders", settings=GroupReaderSettings(as_json=True))
    assert [json.loads(texts(one)) for one in data] == [dataclasses.asdict(one) for one in values]
    assert data[0] is not None
    assert generic.find_encoding(data[0]).codec.name == {"": "", "gzip": GZIP, "snappy": SNAPPY}[codec]
    opened = generic.open(data[0])
    assert (opened.writer_schema.format, opened.writer_schema.subject) == (format_, "orders")


def test_types_that_a_reader_was_not_given_are_bad_records_or_values_without_a_class(
    registry: CountingRegistry,
) -> None:
    write = GroupSerializer(registry, "orders", [Order, Cancel], writing())
    third = {"type": "record", "name": "Third", "fields": []}
    data = [write(one).data for one in (Order("a", 1), Cancel("b"), WithSchema({}, json.dumps(third)))]
    either = GroupDeserializer(registry, "orders", [Order, Cancel], GroupReaderSettings(generic=True))
    assert [either(one) for one in data] == [Order("a", 1), Cancel("b"), {}]
    with pytest.raises(BadRecordError, match=r"RESOLUTION: its type is Third .*reads Order \(AVRO\), Cancel") as caught:
        GroupDeserializer(registry, "orders", [Order, Cancel])(data[2])
    assert caught.value.schema == 2
    with pytest.raises(BadValueError, match="the value is a dict, this serializer writes Order, Cancel"):
        write({})


def test_a_group_of_any_format_takes_values_with_their_schemas(registry: CountingRegistry) -> None:
    xml = custom_type("XML", "note", b"<xs/>", write=str.encode, read=bytes.decode)
    write = GroupSerializer(registry, "all", (), writing("any", "gzip"))
    registry.take()
    message = Struct()
    message["a"] = True
    values = [
        WithSchema({"item": "x"}, Draft('{"type":"record","name":"C","fields":[{"name":"item","type":"string"}]}')),
        WithSchema(["x"], Draft('{"title":"list","type":"array"}', "JSON")),
        WithSchema(message, Struct),
        WithSchema("<a/>", xml),
    ]
    data = [write(one).data for one in values]
    assert registry.take() == [Register, AssignEncoding] * 4
    assert [write(one).data for one in values] == data
    assert registry.take() == []
    read_any = GroupDeserializer(registry, "all")
    assert [str(read_any(one)) for one in data] == [str(one) for one in ({"item": "x"}, ["x"], message, b"<a/>")]
    read = GroupDeserializer(registry, "all", [Struct, xml], GroupReaderSettings(generic=True))
    assert [read(one) for one in data[2:]] == [message, "<a/>"]
    texts = GroupDeserializer(registry, "all", [xml], GroupReaderSettings(generic=True, as_json=True))
    assert [texts(one) for one in data] == ['{"item":"x"}', '["x"]', '{"a":true}', '"<a/>"']
    with pytest.raises(BadValueError, match="custom_type"):
        write(WithSchema("<a/>", custom_type("XML", "note", b"<xs/>")))


# ---------------------------------------------------------------------------------------------- how often they ask


def test_a_writer_asks_when_it_is_made_and_never_again(registry: CountingRegistry) -> None:
    write = GroupSerializer(registry, "orders", [Order, Cancel], writing("AVRO", "gzip"))
    assert registry.take() == [CreateSubject, AddCodec, *[Register, AssignEncoding] * 2]
    for number in range(200):
        write(Order("a", number))
        write(Cancel("a"))
    assert registry.take() == []
    GroupSerializer(registry, "orders", Order, GroupWriterSettings(codec="gzip"))
    assert registry.take() == [ListCodecs, FindSameVersion, AssignEncoding]
    GroupSerializer(registry, "orders", Order)
    assert registry.take() == [FindSameVersion, AssignEncoding]


def test_a_reader_asks_once_for_each_encoding_and_again_for_unknown_ones(
    registry: CountingRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ENCODINGS_CACHED == 1_000
    monkeypatch.setattr(deserializer, "ENCODINGS_CACHED", 3)
    data = [
        GroupSerializer(registry, "orders", Order, writing("AVRO", codec))(Order("a", 1)).data for codec in ("", "gzip")
    ]
    more = [
        GroupSerializer(registry, "orders", Cancel, writing("AVRO", codec))(Cancel("a")).data for codec in ("", "gzip")
    ]
    registry.take()
    read = GroupDeserializer(registry, "orders", [Order, Cancel])
    assert registry.take() == [ListCodecs, CheckReading, CheckReading]
    for _ in range(100):
        assert [read(one) for one in data] == [Order("a", 1)] * 2
    assert registry.take() == [GetEncoding] * 2
    for _ in range(3):
        with pytest.raises(BadRecordError, match="UNKNOWN_ID: the group orders has no encoding 77"):
            read(encode_encoding(77))
    assert registry.take() == [GetEncoding] * 3
    read(more[0])
    read(data[0])
    read(more[1])
    assert registry.take() == [GetEncoding] * 2
    read(data[0])
    assert registry.take() == []
    read(data[1])  # the least recently used one
    assert registry.take() == [GetEncoding]


def test_asyncio_programs_ask_as_often(registry: CountingRegistry) -> None:
    class Waiting:
        async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
            await asyncio.sleep(0)
            return registry.ask(request, call)

        async def close(self) -> None:
            pass

    async def main() -> None:
        def make(found: Registry) -> GroupSerializer:
            return GroupSerializer(found, "orders", Order, writing("AVRO", "gzip"))

        write = AsyncSerializer(Waiting(), make)
        parts = await asyncio.gather(*(write(Order("a", number)) for number in range(20)))
        assert registry.take() == [CreateSubject, AddCodec, Register, AssignEncoding]
        assert (await AsyncSerializer(Waiting(), make).bind("topic"))(Order("a", 0)) == parts[0].data
        registry.take()
        read = AsyncDeserializer(Waiting(), lambda found: GroupDeserializer(found, "orders", Order))
        await read.start()
        assert registry.take() == [ListCodecs, CheckReading]
        assert await asyncio.gather(*(read(one.data) for one in parts)) == [Order("a", number) for number in range(20)]
        assert registry.take() == [GetEncoding]
        with pytest.raises(CodecNotFound):
            await AsyncSerializer(
                Waiting(), lambda found: GroupSerializer(found, "orders", Order, GroupWriterSettings(codec="snappy"))
            ).prepare()

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ what is refused


def test_what_the_settings_do_not_make_must_be_there(registry: CountingRegistry) -> None:
    with pytest.raises(SubjectNotFound):
        GroupSerializer(registry, "orders", Order, GroupWriterSettings(register_schema=True))
    with pytest.raises(SubjectNotFound):
        GroupDeserializer(registry, "orders")
    GroupDeserializer(registry, "orders", settings=GroupReaderSettings(create=pravega_group("AVRO")))
    with pytest.raises(SchemaNotFound):
        GroupSerializer(registry, "orders", Order)
    GroupSerializer(registry, "orders", Order, GroupWriterSettings(register_schema=True))
    with pytest.raises(CodecNotFound, match="has no codec 'application/x-gzip'"):
        GroupSerializer(registry, "orders", Order, GroupWriterSettings(codec="gzip"))
    with pytest.raises(
        ValueError, match=r"'SIDEWAYS' is no policy; there are AllowAny, DenyAll, Backward, .*; NONE, BACKWARD"
    ):
        pravega_group("AVRO", "SIDEWAYS")
    assert pravega_group("Avro", "Backward") == pravega_group("AVRO", "BACKWARD")
    assert pravega_group("Any", "AllowAny") == pravega_group("any")


def test_a_reader_does_not_start_where_it_could_not_read(registry: CountingRegistry) -> None:
    write = GroupSerializer(registry, "orders", Order, writing())
    group = registry.take
    group()
    wider = '{"type":"record","name":"Order","fields":[{"name":"item","type":"string"},{"name":"more","type":"int"}]}'
    levels = pravega_group("AVRO", "BACKWARD")
    GroupSerializer(registry, "strict", Order, GroupWriterSettings(create=levels, register_schema=True))
    with pytest.raises(
        UnreadableGroupError, match=r"the schema Order can't read what writers of strict may write: .*more"
    ):
        GroupDeserializer(registry, "strict", wider)
    read = GroupDeserializer(registry, "strict", wider, GroupReaderSettings(check_reading=False))
    with pytest.raises(BadRecordError, match="RESOLUTION"):
        read(write(Order("a", 1)).data)


def test_payloads_without_a_header(registry: CountingRegistry) -> None:
    bare = GroupSerializer(registry, "bare", Order, writing("JSON", header=False), format_="JSON")
    data = bare(Order("a", 1)).data
    assert data == b'{"item":"a","count":1}'
    assert AssignEncoding not in registry.take()
    settings = GroupReaderSettings(header=False)
    assert GroupDeserializer(registry, "bare", Order, settings, format_="JSON")(data) == Order("a", 1)
    text = dataclasses.replace(settings, as_json=True)
    assert GroupDeserializer(registry, "bare", Order, text, format_="JSON")(data) == '{"item":"a","count":1}'
    GroupSerializer(registry, "bare-proto", Struct, writing("PROTOBUF", header=False))
    message = Struct()
    message["a"] = 1
    read = GroupDeserializer(registry, "bare-proto", Struct, settings)
    assert read(message.SerializeToString()) == message
    with pytest.raises(BadRecordError, match="MALFORMED"):
        read(b"\xff")
    for types, codec, why in ((Order, "", "Avro"), ([Struct, Value], "", "2 types"), (Struct, "gzip", "the codec")):
        with pytest.raises(BadValueError, match=f"not possible with {why}"):
            GroupSerializer(registry, "bare", types, writing("any", codec, header=False))
    with pytest.raises(BadValueError, match="header=False needs one type"):
        GroupDeserializer(registry, "bare", Order, settings)


def test_what_is_no_frame_of_a_group_is_told(registry: CountingRegistry) -> None:
    data = GroupSerializer(registry, "orders", Order, writing("AVRO", "gzip"))(Order("a", 1)).data
    assert data is not None
    read = GroupDeserializer(registry, "orders")
    for strange, code in (
        (b"", "TOO_SHORT"),
        (data[:4], "TOO_SHORT"),
        (b"\0" + data[1:], "BAD_MAGIC"),
        (b"\1\xff\xff\xff\xff", "UNKNOWN_ID"),
        (data[:-1], "MALFORMED"),
        (data[:5], "MALFORMED"),
        (data[:5] + gzip.compress(b"\2a\2a"), "TRAILING"),
    ):
        with pytest.raises(BadRecordError, match=f"^{code}: ") as caught:
            read(strange)
        assert caught.value.payload == strange


def test_nobody_guesses_whose_header_begins_with_one(registry: CountingRegistry) -> None:
    part = GroupSerializer(registry, "orders", Order, writing())(Order("a" * 40, 1))
    assert part.data is not None
    with pytest.raises(BadRecordError, match="UNKNOWN_ID: no schema"):
        AvroDeserializer(registry)(part.data)
    confluents = encode_guid(part.guid) + part.data[5:]
    assert AvroDeserializer(registry)(confluents) == {"item": "a" * 40, "count": 1}
    with pytest.raises(BadRecordError):
        GroupDeserializer(registry, "orders")(confluents)


# ------------------------------------------------------------------------------------------------------- Protobuf


def test_a_set_of_descriptors_with_imports_of_its_own_is_read_without_classes(registry: CountingRegistry) -> None:
    made = FileDescriptorSet()
    inner, outer = (
        made.file.add(name="in.proto", package="p", syntax="proto3"),
        made.file.add(name="out.proto", package="p"),
    )
    inner.message_type.add(name="In").field.add(name="n", number=1, type=5, label=1)
    outer.dependency.append("in.proto")
    outer.message_type.add(name="First")
    outer.message_type.add(name="Out").field.add(name="in", number=2, type=11, label=1, type_name=".p.In")
    draft = make_draft("PROTOBUF", "p.Out", made.SerializeToString())
    registry.ask(CreateSubject(subject_of("g"), pravega_group("PROTOBUF")))
    GroupSerializer(registry, "g", draft, GroupWriterSettings(register_schema=True))
    texts = GroupDeserializer(registry, "g", settings=GroupReaderSettings(as_json=True))
    assert texts(encode_encoding(0) + b"\x12\2\x08\7") == '{"in":{"n":7}}'


@pytest.mark.parametrize(
    ("word", "meant"), [("Arvo", "AVRO"), ("protobuff", "PROTOBUF"), ("Jsn", "JSON"), ("ayn", "any")]
)
def test_a_custom_format_that_looks_like_a_known_one_is_a_warning(word: str, meant: str) -> None:
    with pytest.warns(UserWarning, match=f"{word}.* is a custom format.* did you mean {meant}") as given:
        pravega_group(word)
    assert given[0].filename == __file__


@pytest.mark.parametrize(("word", "meant"), [("Arvo", "AVRO"), ("Proto_buf", "PROTOBUF")])
def test_a_type_of_such_a_format_is_a_warning_too(word: str, meant: str) -> None:
    with pytest.warns(UserWarning, match=f"{word}.* is a custom format.* did you mean {meant}") as given:
        custom_type(word, "note", b"<xs/>")
    assert given[0].filename == __file__


@pytest.mark.parametrize("word", ["CSV", "Thrift", "AVRO", "Json", "any"])
def test_other_formats_are_no_warning(word: str, recwarn: pytest.WarningsRecorder) -> None:
    pravega_group(word)
    assert not recwarn.list
