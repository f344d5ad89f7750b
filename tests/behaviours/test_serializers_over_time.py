"""Serializers and deserializers while their subject changes: what they keep of a schema ends when another one is chosen."""

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
from treaty.core.schema import Draft, Metadata

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
