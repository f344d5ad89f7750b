"""What a reader's schema refers to is looked up in the reader's context, where other contexts use the same names for something else."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.frames import record
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.errors import BadRecordError
from treaty.client.serializers.jsonschema import JsonDeserializer, JsonSerializer
from treaty.client.serializers.settings import DeserializerSettings, UseLatest
from treaty.core.schema import Draft, Reference

NUMBERS = {".": 5, ".shop": 7, ".stock": 9}
"""What the schema of each context says of the part: its default in Avro, its maximum in JSON Schema."""
Reader = Draft | UseLatest


def avro_of(name: str, inner: object) -> str:
    return record(("part", inner), name=name)


def json_of(name: str, inner: object) -> str:
    return json.dumps({"title": name, "type": "object", "properties": {"part": inner}})


PARTS: dict[str, Callable[[int], str]] = {
    "AVRO": lambda number: record(("n", "int"), {"name": "m", "type": "int", "default": number}, name="Part"),
    "JSON": lambda number: json.dumps({"type": "object", "properties": {"n": {"type": "integer", "maximum": number}}}),
}
REFERRING: dict[str, Callable[[str, str], Draft]] = {
    "AVRO": lambda name, to: Draft(avro_of(name, f"shop.{to}"), "AVRO", (Reference(f"shop.{to}", to.lower(), 1),)),
    "JSON": lambda name, to: Draft(json_of(name, {"$ref": to}), "JSON", (Reference(to, to.lower(), 1),)),
}
"""By format: a schema that has another one as its field `part`."""


@pytest.fixture
def connection() -> Iterator[Connection]:
    with connect("memory:") as memory:
        yield memory


def name_in(context: str, name: str) -> str:
    return name if context == "." else f":{context}:{name}"


def number_by_avro(connection: Connection, context: str, reader: Reader, depth: int) -> int:
    """The default that a reader puts in."""
    inner: Any = {"n": 1}
    text: object = json.loads(record(("n", "int"), name="Part"))
    for name in ["Whole"] * (depth - 1):
        inner, text = {"part": inner}, json.loads(avro_of(name, text))
    write = AvroSerializer(connection, avro_of("Top", text))
    framed = write({"part": inner}, name_in(context, "lines")).data
    read = AvroDeserializer(connection, reader, DeserializerSettings(context=context))
    value = read(framed, name_in(context, "orders"))
    for _ in range(depth):
        value = value["part"]
    return int(value["m"])


def number_by_json(connection: Connection, context: str, reader: Reader, depth: int) -> int:
    """The greatest number that a reader takes."""
    write = JsonSerializer(connection, '{"type":"object"}')
    read = JsonDeserializer(connection, reader, DeserializerSettings(context=context))
    accepted_numbers = []
    for number in NUMBERS.values():
        value: Any = {"n": number}
        for _ in range(depth):
            value = {"part": value}
        try:
            read(write(value, name_in(context, "lines")).data, name_in(context, "orders"))
        except BadRecordError:
            continue
        accepted_numbers.append(number)
    return max(accepted_numbers)


NUMBER_BY = {"AVRO": number_by_avro, "JSON": number_by_json}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("is_latest", [False, True], ids=["a schema of its own", "the latest version"])
@pytest.mark.parametrize("context", NUMBERS)
@pytest.mark.parametrize("format_", PARTS)
def test_references_of_a_reader_are_those_of_its_context(
    connection: Connection, format_: str, context: str, depth: int, *, is_latest: bool
) -> None:
    for other, number in NUMBERS.items():
        connection.register(name_in(other, "part"), Draft(PARTS[format_](number), format_))
        connection.register(name_in(other, "whole"), REFERRING[format_]("Whole", "Part"))
    own = REFERRING[format_]("Top", "Part" if depth == 1 else "Whole")
    reader: Reader = own
    if is_latest:
        connection.register(name_in(context, "orders-value"), own)
        reader = UseLatest()

    assert NUMBER_BY[format_](connection, context, reader, depth) == NUMBERS[context]
