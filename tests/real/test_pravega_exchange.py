"""What Pravega's Java serializers write, Treaty reads, and the other way round; every method of their client answers."""

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

import treaty
from tests.oracle.pravega import PravegaProgram, pravega_program
from tests.real.running import serving
from treaty import Draft, typed_avro
from treaty.client.connection import Connection
from treaty.client.groups.codecs import PayloadCodec
from treaty.client.groups.deserializer import GroupDeserializer
from treaty.client.groups.serializer import GroupSerializer
from treaty.client.groups.settings import GroupReaderSettings, GroupWriterSettings, pravega_group
from treaty.client.groups.types import GroupType, WithSchema, as_group_type, custom_type
from treaty.client.records.decoder import to_json_value

pytestmark = [pytest.mark.jvm, pytest.mark.slow]
CODECS = ("", "gzip", "snappy", "turn")
ORDER, CANCEL, NOTE = {"item": "tea", "count": 3}, {"item": "tea"}, "<note/>"
SECONDS = {"Timestamp": "1970-01-01T00:00:03Z", "Duration": "3s"}


def turn(data: bytes, properties: tuple[tuple[str, str], ...], _: int = 0) -> bytes:
    return bytes(one ^ int(dict(properties)["key"]) for one in data)


TURN = PayloadCodec("turn", turn, turn, (("key", "7"),))


@dataclasses.dataclass
class Order:
    item: str
    count: int


@dataclasses.dataclass
class Cancel:
    item: str


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PravegaProgram, Connection]]:
    folder = tmp_path_factory.mktemp("exchange")
    with (
        serving(folder, "--log", f"sqlite:///{folder}/exchange.db") as server,
        pravega_program(server.base, folder) as program,
        treaty.connect(server.base) as registry,
    ):
        yield program, registry


# -------------------------------------------------------------------------------------------------- what is written

AVRO = '{"type":"record","name":"%s","namespace":"exchange","fields":[%s{"name":"item","type":"string"}]}'
COUNT = '{"name":"count","type":"int"},'
PROPERTIES = '{"title":"%s","type":"object","properties":{"item":{"type":"string"}%s}}'
DRAFTS = {
    ("Avro", "Order"): Draft(AVRO % ("Order", COUNT)),
    ("Avro", "Cancel"): Draft(AVRO % ("Cancel", "")),
    ("Json", "Order"): Draft(PROPERTIES % ("Order", ',"count":{"type":"integer"}'), "JSON", type_name="exchange.Order"),
    ("Json", "Cancel"): Draft(PROPERTIES % ("Cancel", ""), "JSON", type_name="exchange.Cancel"),
}
XML = custom_type("note", "Note", b"<schema/>", write=str.encode, read=bytes.decode)
MESSAGES = {"Order": Timestamp(seconds=3), "Cancel": Duration(seconds=3)}
VALUES = {"Order": ORDER, "Cancel": CANCEL}
JAVA_WRITERS = {
    "Avro": "typed generic multi with",
    "Json": "typed multi with",
    "Protobuf": "typed multi with",
    "Custom": "typed",
}
JAVA_READERS = {
    "Avro": "typed generic schema multi either with any json",
    "Json": "typed generic text multi either with any json",
    "Protobuf": "typed generic multi either with any json",
    "Custom": "typed",
}
OUR_WRITERS = {"Avro": "typed with", "Json": "typed with", "Protobuf": "typed with", "Custom": "typed"}
OUR_READERS = {"Avro": "typed generic multi either text", "Json": "typed generic multi either text"}
OUR_READERS |= {"Protobuf": "typed generic multi either text", "Custom": "typed generic text"}


@dataclasses.dataclass(frozen=True)
class Place:
    """A group with one format and codec, and the type that is written."""

    format: str
    codec: str = ""
    header: bool = True
    type: str = "Order"

    @property
    def group(self) -> str:
        return f"{self.format}-{self.codec or 'none'}-{self.header}"

    @property
    def question(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "group": self.group, "groupFormat": self.format}

    @property
    def value(self) -> Any:
        """What every reader has to read, as JSON."""
        if self.format == "Custom":
            return NOTE
        return SECONDS[type(MESSAGES[self.type]).__name__] if self.format == "Protobuf" else VALUES[self.type]

    @property
    def codec_of_ours(self) -> PayloadCodec | str:
        return TURN if self.codec == "turn" else self.codec


def write_ours(registry: Connection, place: Place, kind: str) -> bytes:
    message = place.format == "Protobuf"
    given: Any = XML if place.format == "Custom" else MESSAGES[place.type].__class__ if message else None
    given = given or DRAFTS[place.format, place.type]
    value: Any = NOTE if place.format == "Custom" else MESSAGES[place.type] if message else VALUES[place.type]
    settings = GroupWriterSettings(
        create=pravega_group("note" if place.format == "Custom" else place.format.upper(), many_types=True),
        register_schema=True,
        register_codec=True,
        codec=place.codec_of_ours,
        header=place.header,
    )
    write = GroupSerializer(registry, place.group, () if kind == "with" else given, settings)
    data = write(WithSchema(value, given) if kind == "with" else value).data
    assert data is not None
    return data


# ----------------------------------------------------------------------------------------------------- what is read


def read_ours(registry: Connection, place: Place, kind: str) -> Callable[[bytes], Any]:
    """A reader of ours, whose values become JSON."""
    types: list[Any] = [XML]
    if place.format == "Protobuf":
        types = [Timestamp, Duration]
    elif place.format != "Custom":
        types = [typed_as(one, place.format) for one in (Order, Cancel)]
    chosen: Any = {"typed": types[0 if place.type == "Order" else 1 : 2][:1], "multi": types, "either": types}.get(
        kind, ()
    )
    settings = GroupReaderSettings(
        decoders=(TURN,),
        header=place.header,
        generic=kind == "either",
        as_json=kind == "text",
        check_reading=kind != "typed",
    )
    read = GroupDeserializer(registry, place.group, chosen, settings)

    def run(data: bytes) -> Any:
        value = read(data)
        if kind == "text":
            return json.loads(value)
        if isinstance(value, bytes):
            return value.decode()
        return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else to_json_value(value)  # type: ignore[arg-type]  # an instance

    return run


def typed_as(kind: type[Any], format_: str) -> GroupType:
    """A class under the name that Java's class gives its type in a group."""
    if format_ == "Avro":
        return as_group_type(typed_avro(kind, "exchange"))
    one = as_group_type(kind, "JSON")
    return dataclasses.replace(one, draft=dataclasses.replace(one.draft, type_name=f"exchange.{kind.__name__}"))


def read_java(program: PravegaProgram, place: Place, kind: str) -> Callable[[bytes], Any]:
    def run(data: bytes) -> Any:
        answer = program.ask(op="read", kind=kind, data=data.hex(), **place.question)
        if "error" in answer:
            raise ValueError(answer["error"])
        text = answer["value"]
        return text if place.format == "Custom" else json.loads(text)

    return run


def is_fault_of_java(place: Place, writer: str, reader: str) -> bool:
    """Whether Pravega's own programs can't do this.

    Their typed readers of JSON and Protobuf never undo a codec. Their writers pack the whole buffer: behind a packed payload
    are zeros, which their readers of Protobuf refuse and those of custom formats return. Ours drop them by the format.
    """
    if not place.codec or not reader.startswith("java "):
        return bool(place.codec) and place.format == "Custom" and writer.startswith("java ")
    if reader == "java typed" and place.format in {"Json", "Protobuf"}:
        return True
    return writer.startswith("java ") and place.format in {"Protobuf", "Custom"}


PLACES = [
    *(Place(format_, codec) for format_ in JAVA_WRITERS for codec in CODECS),
    *(Place(format_, codec, type="Cancel") for format_ in ("Avro", "Json", "Protobuf") for codec in ("", "gzip")),
    *(Place(format_, "", header=False) for format_ in ("Json", "Protobuf", "Custom")),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.group}-{place.type}")
def test_every_reader_reads_what_every_writer_wrote(java: tuple[PravegaProgram, Connection], place: Place) -> None:
    program, registry = java
    written: dict[str, bytes] = {}
    for kind in JAVA_WRITERS[place.format].split():
        if place.header or kind == "typed":
            answer = program.ask(op="write", kind=kind, **place.question)
            assert "data" in answer, (kind, answer)
            written[f"java {kind}"] = bytes.fromhex(answer["data"])
    for kind in OUR_WRITERS[place.format].split():
        if place.header or kind == "typed":
            written[f"our {kind}"] = write_ours(registry, place, kind)
    readers: dict[str, Callable[[bytes], Any]] = {
        **{f"java {kind}": read_java(program, place, kind) for kind in JAVA_READERS[place.format].split()},
        **{
            f"our {kind}": read_ours(registry, place, kind)
            for kind in OUR_READERS[place.format].split()
            if place.header
        },
    }
    if not place.header:
        readers = {"java typed": readers["java typed"], "our typed": read_ours(registry, place, "typed")}
    wrong, cells = {}, 0
    for writer, data in written.items():
        assert data[:1] == b"\1" or not place.header
        for reader, read in readers.items():
            cells += 1
            try:
                value = read(data)
            except ValueError as error:
                value = error
            if (value == place.value) == is_fault_of_java(place, writer, reader):
                wrong[writer, reader] = (value, data.hex())
    assert not wrong
    assert cells == len(written) * len(readers)


def test_messages_of_a_file_without_a_class(java: tuple[PravegaProgram, Connection]) -> None:
    program, registry = java
    place = Place("Protobuf", "gzip")
    question = {**place.question, "group": "dynamic"}
    data = bytes.fromhex(program.ask(op="write", kind="generic", **question)["data"])
    generic = GroupDeserializer(registry, "dynamic", settings=GroupReaderSettings(as_json=True))
    assert json.loads(generic(data)) == ORDER
    found = registry.encoding("dynamic", 0).version
    assert found.data is not None
    pool = DescriptorPool()
    for one in FileDescriptorSet.FromString(found.data).file:
        pool.Add(one)
    made = GetMessageClass(pool.FindMessageTypeByName("exchange.Order"))(**ORDER)
    write = GroupSerializer(registry, "dynamic", type(made), GroupWriterSettings(codec="gzip"))
    ours = write(made).data
    assert ours is not None
    assert ours[:5] == data[:5]
    for kind in ("generic", "with", "any", "json"):
        answer = program.ask(op="read", kind=kind, data=ours.hex(), **question)
        assert json.loads(answer["value"]) == ORDER, (kind, answer)


def test_a_group_of_any_format(java: tuple[PravegaProgram, Connection]) -> None:
    program, registry = java
    data = {}
    for format_ in ("Avro", "Json", "Protobuf"):
        question = {**Place(format_).question, "group": "any", "groupFormat": "Any"}
        data[format_] = bytes.fromhex(program.ask(op="write", kind="with", **question)["data"])
    texts = GroupDeserializer(registry, "any", settings=GroupReaderSettings(as_json=True))
    write = GroupSerializer(registry, "any", (), GroupWriterSettings(register_schema=True))
    for format_, one in data.items():
        place = Place(format_)
        assert json.loads(texts(one)) == place.value
        given: Any = Timestamp if format_ == "Protobuf" else DRAFTS[format_, "Order"]
        ours = write(WithSchema(MESSAGES["Order"] if format_ == "Protobuf" else ORDER, given)).data
        assert ours is not None
        for kind in ("with", "any", "json"):
            question = {**place.question, "group": "any", "groupFormat": "Any"}
            answer = program.ask(op="read", kind=kind, data=ours.hex(), **question)
            assert json.loads(answer["value"]) == place.value, (format_, kind, answer)


METHODS = {
    "addGroup": "true false",
    "getGroupProperties": True,
    "listGroups": True,
    "addSchema": "R/Avro/0/0 R/Avro/1/1 R/Avro/0/0",
    "validateSchema": "true true",
    "canReadUsing": "true true",
    "getSchemas": "[1]",
    "getSchemaVersions": "[0,1] [0,1] []",
    "getLatestSchemaVersion": "R/Avro/1/1 R/Avro/1/1",
    "getVersionForSchema": "R/Avro/0/0",
    "getSchemaForVersion": True,
    "addCodecType": True,
    "getCodecTypes": True,
    "getEncodingId": "0 1 0",
    "getEncodingInfo": "R/Avro/1/1 true true",
    "getGroupHistory": "R/Avro/0/0Backward R/Avro/1/1Backward",
    "getSchemaReferences": "R/Avro/1/1",
    "updateCompatibility": "false true true",
    "deleteSchemaVersion": "[0] true packed",
    "removeGroup": "ResourceNotFoundException",
    "getNamespace": "",
    "withNamespace": "room true R/Avro/0/0",
    "close": True,
}
"""What Pravega's client answers, by its methods."""


def test_every_method_of_javas_client(java: tuple[PravegaProgram, Connection]) -> None:
    assert java[0].ask(op="methods", group="methods") == METHODS
