"""Serializers and deserializers while their subject changes: what they keep of a schema ends when another one is chosen."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.csv_format import offer
from tests.frames import record
from treaty.assemble import connect
from treaty.client.cache import CachedRegistry
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.client.serializers.payloads import PayloadDeserializer, PayloadSerializer
from treaty.client.serializers.settings import SerializerSettings, UseLatest, UseLatestWith
from treaty.client.settings import CachePolicy
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Metadata, Reference

OLD = {"AVRO": record(("n", "int")), "CSV": "columns\nn int"}
NEW = {"AVRO": record(("n", "int"), ("m", ["null", "int"], None)), "CSV": "columns\nn int\nm int"}
ROW, WIDE = {"n": 1}, {"n": 1, "m": None}
SENT = {"AVRO": ROW, "CSV": {"n": 1, "m": 2}}
"""Values that both schemas take."""
Choice = UseLatest | UseLatestWith
WRITERS: dict[str, Callable[[Registry, Choice], Any]] = {
    "AVRO": lambda registry, choice: AvroSerializer(registry, settings=SerializerSettings(choice)),
    "CSV": lambda registry, choice: PayloadSerializer(registry, settings=SerializerSettings(choice), format_="CSV"),
}
READERS: dict[str, Callable[[Registry, Choice], Any]] = {
    "AVRO": AvroDeserializer,
    "CSV": lambda registry, choice: PayloadDeserializer(registry, "CSV", choice),
}
CHOICES: tuple[Choice, ...] = (UseLatest(), UseLatestWith((("stage", "live"),)))


@pytest.fixture
def connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    offer(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with connect("memory:") as made:
        yield made


def register(connection: Connection, format_: str, text: str, *topics: str) -> list[int]:
    draft = Draft(text, format_, metadata=Metadata(properties=(("stage", "live"),)))
    return [connection.register(f"{one}-value", draft).version.schema_id for one in topics]


@pytest.mark.parametrize("choice", CHOICES, ids=["latest", "with a property"])
@pytest.mark.parametrize("format_", [*OLD])
def test_the_latest_version_is_another_one_after_each_change(
    connection: Connection, format_: str, choice: Choice
) -> None:
    """Registered, deleted, deleted for good and registered anew with another id; for two topics, of which one changes."""
    registry = CachedRegistry(connection, CachePolicy(latest_ttl=0.0))
    write, read = WRITERS[format_](registry, choice), READERS[format_](registry, choice)
    first, same = register(connection, format_, OLD[format_], "a", "b")
    assert first == same
    sent = write(SENT[format_], "a").data

    def seen(topic: str) -> tuple[int, Any]:
        return write(SENT[format_], topic).schema_id, read(sent, topic)

    assert (seen("a"), seen("b")) == ((first, ROW), (first, ROW))
    (second,) = register(connection, format_, NEW[format_], "a")
    assert (seen("a"), seen("b")) == ((second, WIDE), (first, ROW))
    connection.ask(DeleteVersion(subject_of("a-value"), 2))
    assert (seen("a"), seen("b")) == ((first, ROW), (first, ROW))
    register(connection, format_, NEW[format_], "a")
    assert seen("a") == (second, WIDE)
    numbers = connection.ask(ListVersions(subject_of("a-value"), visible="all")).answer.numbers[1:]
    connection.ask(DeleteVersion(subject_of("a-value"), connection.versions("a-value")[-1]))
    for number in numbers:
        connection.ask(DeleteVersion(subject_of("a-value"), number, permanent=True))
    (third,) = register(connection, format_, NEW[format_], "a")
    assert third not in {first, second}
    assert (seen("a"), seen("b")) == ((third, WIDE), (first, ROW))


def part(*defaults: int, aliases: tuple[str, ...] = ()) -> str:
    """A record with a field that older writers lack for each default; its first field has another name if it has aliases."""
    added = [{"name": f"m{place}", "type": "int", "default": default} for place, default in enumerate(defaults)]
    first = {"name": "number", "type": "int", "aliases": [*aliases], "default": 3} if aliases else ("n", "int")
    return record(first, *added, name="Part")


NEXT_READERS: dict[str, list[tuple[str, dict[str, int]]]] = {
    "another default": [(part(5), {"n": 1, "m0": 5}), (part(7), {"n": 1, "m0": 7})],
    "another alias": [(part(aliases=("old",)), {"number": 3}), (part(aliases=("n",)), {"number": 1})],
    "a field less": [(part(5, 6), {"n": 1, "m0": 5, "m1": 6}), (part(5), {"n": 1, "m0": 5})],
}
"""By name: texts of the latest version one after the other, and what an old payload is read as."""


@pytest.mark.parametrize("is_compiled", [True, False], ids=["by a program", "by the interpreter"])
@pytest.mark.parametrize("is_referred_to", [False, True], ids=["itself", "referred to"])
@pytest.mark.parametrize("name", NEXT_READERS)
def test_an_old_payload_is_read_by_the_defaults_and_aliases_of_the_latest_version(
    connection: Connection, name: str, monkeypatch: pytest.MonkeyPatch, *, is_referred_to: bool, is_compiled: bool
) -> None:
    """They change nothing of what a payload looks like, and yet how it is read, also in a schema that is referred to."""
    if not is_compiled:
        monkeypatch.setattr("treaty.client.serializers.avro_codec.make_reader", lambda *_, **__: None)
    registry = CachedRegistry(connection, CachePolicy(latest_ttl=0.0))
    for subject in ("a-value", "part"):
        connection.set_level(subject, "NONE")
    connection.register("a-value", record(("part", json.loads(part()))))
    payload = WRITERS["AVRO"](registry, UseLatest())({"part": {"n": 1}}, "a").data
    read = AvroDeserializer(registry, UseLatest())
    assert read(payload, "a") == {"part": {"n": 1}}
    for text, expected in NEXT_READERS[name]:
        draft = Draft(record(("part", json.loads(text))))
        if is_referred_to:
            number = connection.register("part", text).version.number
            draft = Draft(record(("part", "shop.Part")), references=(Reference("shop.Part", "part", number),))
        connection.register("a-value", draft)
        assert read(payload, "a") == {"part": expected}
