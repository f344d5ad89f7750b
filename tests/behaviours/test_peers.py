"""Treaty's client at other people's servers: all that they can do, and a clear word about what they can't."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

import treaty
from tests.behaviours.conftest import InLoop
from tests.behaviours.peer import PEERS, Peer, peer
from tests.behaviours.scripted import Script, scripted
from tests.behaviours.test_registry import BAD, V1, V2
from treaty.client.connection import Connection
from treaty.client.serializers.avro import AvroDeserializer, AvroSerializer
from treaty.core import refusals
from treaty.core.messages.registration import ExpectedVersion
from treaty.core.messages.settings import Config
from treaty.core.refusals import (
    AlreadyDeleted,
    Incompatible,
    NotDeletedFirst,
    NotOffered,
    RegistryError,
    SchemaNotFound,
    SettingNotFound,
    SubjectNotFound,
    VersionNotFound,
)
from treaty.core.schema import Draft, Metadata

NAMES = sorted(path.stem for path in PEERS.glob("*.json"))


@dataclass
class At:
    """A client at a server, and what it is to make of it."""

    connection: Connection
    peer: Peer
    server: Script

    def expects(self, name: str, usual: object) -> object:
        return self.peer.rules["expects"].get(name, usual)

    def does(self, name: str, ask: Callable[[], Any], usual: object) -> None:
        """Ask, and see that what comes is as expected: an answer, or ``!`` and the name of what is raised."""
        expected = self.expects(name, usual)
        if isinstance(expected, str) and expected.startswith("!"):
            with pytest.raises(getattr(refusals, expected[1:])) as told:
                ask()
            assert type(told.value).__name__ == expected[1:]
        else:
            assert ask() == expected


@pytest.fixture(params=[f"{name}-{door}" for name in NAMES for door in ("sync", "asyncio")])
def at(request: pytest.FixtureRequest) -> Iterator[At]:
    name, _, door = request.param.rpartition("-")
    made = peer(name)
    with scripted(made.answer) as server:
        where = {"url": server.url, "max.retries": 1, "retries.wait.ms": 1}
        plain = treaty.connect(where) if door == "sync" else InLoop(lambda: treaty.connect_async(where))
        with plain:
            yield At(cast("Connection", plain), made, server)


def test_registering_and_reading(at: At) -> None:
    it = at.connection
    first = it.register("orders", V1).version
    assert (first.subject, first.number, first.schema_id, first.text, first.format) == ("orders", 1, 1, V1, "AVRO")
    second = it.register("orders", V2).version
    assert (second.number, second.schema_id) == (2, 2)
    assert it.register("orders", V1).version.number == 1
    assert it.register("notes", Draft('{"type":"object"}', "JSON")).version.format == "JSON"
    guid = first.guid
    assert bool(guid) == (at.expects("guid", "some") != "")
    assert it.version("orders").text == V2
    assert it.version("orders", 1).text == V1
    assert it.lookup("orders", V2).number == 2
    assert it.versions("orders") == (1, 2)
    assert it.subjects() == ("notes", "orders")
    assert it.subjects("or") == ("orders",)
    assert it.schema(1).text == V1
    assert (it.schema(3).format, it.schema(3).schema_id) == ("JSON", 3)
    assert it.uses(2) == (("orders", 2),)
    assert it.referenced_by("orders", 1) == ()
    assert [(one.subject, one.number) for one in it.schemas("or")] == [("orders", 1), ("orders", 2)]
    at.does("by_guid", lambda: it.by_guid(guid or "0" * 36).text, V1)
    at.does("ids_of", lambda: it.ids_of(guid or "0" * 36), ((".", 1),))
    at.does("contexts", it.contexts, (".",))
    it.register("tagged", Draft(V1, metadata=Metadata(properties=(("owner", "ada"),))))
    at.does("find", lambda: it.find("tagged", (("owner", "ada"),)).number, 1)


def test_what_is_not_there(at: At) -> None:
    it = at.connection
    with pytest.raises(SubjectNotFound):
        it.version("orders")
    with pytest.raises(SubjectNotFound):
        it.versions("orders")
    it.register("orders", V1)
    with pytest.raises(VersionNotFound):
        it.version("orders", 7)
    with pytest.raises(SchemaNotFound):
        it.schema(99)
    with pytest.raises(SchemaNotFound):
        it.lookup("orders", V2)
    with pytest.raises(SubjectNotFound):
        it.lookup("bills", V2)


def test_compatibility(at: At) -> None:
    it = at.connection
    for version in (None, -1):
        assert it.check("orders", BAD, version).compatible
    it.register("orders", V1)
    it.register("orders", V2)
    assert it.check("orders", V2).compatible
    for level in ("BACKWARD", "FULL_TRANSITIVE"):
        it.set_level("orders", level)
        assert not it.check("orders", BAD).compatible
        assert not it.check("orders", BAD, 1).compatible
        assert it.check("orders", '"elder"').compatible == (level == "BACKWARD")
    with pytest.raises(Incompatible):
        it.register("orders", BAD)
    at.does("invalid", lambda: it.register("orders", '"nope"'), "!InvalidSchema")
    it.set_level("orders", "NONE")
    assert it.register("orders", BAD).version.number == 3


def test_settings(at: At) -> None:
    it = at.connection
    assert it.config().level == "BACKWARD"
    assert it.config("orders").level == "BACKWARD"
    with pytest.raises(SettingNotFound):
        it.config("orders", resolve=False)
    assert it.set_level("orders", "FULL").level == "FULL"
    assert it.config("orders").level == "FULL"
    assert it.config("orders", resolve=False) == Config(level="FULL")
    assert it.set_level("", "NONE").level == "NONE"
    assert it.config("bills").level == "NONE"
    assert it.delete_config("orders").level == "FULL"
    assert it.config("orders").level == "NONE"
    at.does("delete_global_config", lambda: it.delete_config("").level, "NONE")
    assert (it.mode(), it.mode("orders")) == ("READWRITE", "READWRITE")
    at.does("set_mode", lambda: it.set_mode("orders", "READONLY"), "READONLY")
    if at.expects("set_mode", "") == "":
        with pytest.raises(refusals.NotPermitted):
            it.register("orders", V1)
        assert it.delete_mode("orders") == "READONLY"


def test_deleting(at: At) -> None:
    it = at.connection
    it.register("orders", V1)
    it.register("orders", V2)
    with pytest.raises(NotDeletedFirst):
        it.delete_version("orders", 1, permanent=True)
    assert it.delete_version("orders", 1) == (1,)
    with pytest.raises(AlreadyDeleted):
        it.delete_version("orders", 1)
    assert it.versions("orders") == (2,)
    assert it.versions("orders", "all") == (1, 2)
    assert it.delete_version("orders", 1, permanent=True) == (1,)
    assert it.delete_subject("orders") == (2,)
    with pytest.raises(AlreadyDeleted):
        it.delete_subject("orders")
    assert it.subjects() == ()
    assert it.subjects(visible="all") == ("orders",)
    assert it.delete_subject("orders", permanent=True) == (2,)
    with pytest.raises(SubjectNotFound):
        it.delete_subject("orders")


def test_what_only_treaty_understands_is_refused_before_it_is_sent(at: At) -> None:
    it = at.connection
    with pytest.raises(NotOffered, match="expected version"):
        it.register("orders", V1, expected=ExpectedVersion("number", 4))
    with pytest.raises(NotOffered):
        it.register("orders", V1, properties=(("a", "b"),))
    assert {seen.method for seen in at.server.seen} == {"GET"}
    with pytest.raises(NotOffered):
        it.outcome("some-command")
    assert it.subjects() == ()


def test_nothing_of_treaty_is_needed_and_nobody_is_asked_in_vain(at: At) -> None:
    it = at.connection
    it.register("orders", V1)
    for _ in range(3):
        with pytest.raises(RegistryError):
            it.outcome("x")
    before = len(at.server.seen)
    it.version("orders")
    it.schema(1)
    assert len(at.server.seen) == before + 2
    assert not [seen for seen in at.server.seen if b"treaty" in seen.body]


def test_more_versions_than_a_page_holds(at: At) -> None:
    it = at.connection
    count = 1003 if "/schemas" in at.peer.rules["routes"] else 23  # each is asked for alone there
    texts = [f'{{"type":"fixed","name":"F{number}","size":4}}' for number in range(count)]
    for number, text in enumerate(texts):
        at.peer.post_subjects_s_versions(f"s{number:04}", {"schema": text})
    assert [one.text for one in it.schemas(limit=5000)] == texts
    assert [one.text for one in it.schemas(limit=count - 2)] == texts[: count - 2]


def test_deleted_versions_are_in_lists_of_everything_and_in_no_others(at: At) -> None:
    it = at.connection
    for name in ("o-deleted", "o-live", "o-mixed", "p-deleted"):
        it.register(name, V1)
        it.register(name, V2)
    it.delete_version("o-mixed", 1)
    for name in ("o-deleted", "p-deleted"):
        it.delete_subject(name)
    live = [("o-live", 1), ("o-live", 2), ("o-mixed", 2)]
    everything = [(name, number) for name in ("o-deleted", "o-live", "o-mixed") for number in (1, 2)]
    assert [(version.subject, version.number) for version in it.schemas("o-")] == live
    assert sorted((version.subject, version.number) for version in it.schemas("o-", "all")) == everything
    assert it.subjects("o-") == ("o-live", "o-mixed")
    assert sorted(it.subjects("o-", "all")) == ["o-deleted", "o-live", "o-mixed"]
    assert (it.versions("o-mixed"), it.versions("o-mixed", "all")) == ((2,), (1, 2))


def test_lists_of_deleted_versions_have_no_live_ones(at: At) -> None:
    """Some servers list the live ones when they are asked for the deleted ones."""
    registry = at.connection
    for name in ("o-deleted", "o-last", "o-live", "o-mixed", "p-deleted"):
        registry.register(name, V1)
        registry.register(name, V2)
    registry.delete_version("o-mixed", 1)
    for name in ("o-deleted", "o-last", "p-deleted"):
        registry.delete_subject(name)
    assert registry.subjects("o-", "deleted") == ("o-deleted", "o-last")
    assert registry.subjects(visible="deleted") == ("o-deleted", "o-last", "p-deleted")
    assert (registry.versions("o-mixed", "deleted"), registry.versions("o-last", "deleted")) == ((1,), (1, 2))
    with pytest.raises(SubjectNotFound):
        registry.versions("o-live", "deleted")
    places = [("o-deleted", 1), ("o-deleted", 2), ("o-last", 1), ("o-last", 2), ("o-mixed", 1)]
    assert [(version.subject, version.number) for version in registry.schemas("o-", "deleted")] == places
    assert len(registry.schemas("o-", "deleted", limit=3)) == 3
    latest = registry.schemas("o-", "deleted", latest=True)
    assert [(version.subject, version.number) for version in latest] == [places[1], places[3], places[4]]


def test_records(at: At) -> None:
    registry = at.connection
    if isinstance(registry, InLoop):
        return  # serializers are for ordinary programs
    writes, reads = AvroSerializer(registry, V1), AvroDeserializer(registry)
    data = writes({"id": 7}, "orders").data
    assert data == b"\0\0\0\0\x01\x0e"
    assert reads(data, "orders") == {"id": 7}
