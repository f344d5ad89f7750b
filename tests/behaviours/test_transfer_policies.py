"""Moving policies that no word names: directly, by a dump, to a registry that has named levels, and more than once."""

from dataclasses import replace

import pytest

from tests.behaviours.scripted import Say, Seen, scripted
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import read_lines, write_lines
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read
from treaty.core.messages.registration import ForceReason
from treaty.core.messages.settings import Config
from treaty.core.policy import ALL, LATEST, LEVELS, Level, VersionRange
from treaty.core.refusals import NotOffered

DENY = Level(deny=True)
ENUMS = [f'{{"type":"enum","name":"E","symbols":["S{number}"]}}' for number in range(6)]


def filled(registry: Connection) -> None:
    """A subject whose ordinals have gaps, with a range that begins behind the first one, and other policies."""
    for text in ENUMS:
        registry.register("orders", text, force=ForceReason("me", "a break"))
    registry.set_config(
        "orders", Config(exact_level=Level(VersionRange("till", 3), LATEST), partition="type", normalize=True)
    )
    for number in (1, 2, 4):
        registry.delete_version("orders", number)
        if number != 1:
            registry.delete_version("orders", number, permanent=True)
    registry.set_config("", Config(exact_level=Level(ALL, LATEST)))
    registry.set_config(":.x:", Config(exact_level=DENY, group="major"))
    registry.set_config("before", Config(level="FULL_TRANSITIVE"))


def begins(registry: Connection) -> int:
    """The number of the version at which the range of orders begins."""
    level = registry.config("orders", resolve=False).exact_level
    assert level is not None
    assert level.forward == LATEST
    numbered = {
        registry.version("orders", one, deleted=True).ordinal: one for one in registry.versions("orders", "all")
    }
    return next(number for ordinal, number in sorted(numbered.items()) if ordinal >= level.backward.ordinal)


def through_a_dump(source: Connection) -> RegistryImage:
    found = read_lines(write_lines(read(source)))
    assert found.problems == ()
    return found


@pytest.mark.parametrize("by_dump", [False, True], ids=["directly", "by-a-dump"])
def test_a_range_begins_at_the_same_version_in_a_copy(connection: Connection, *, by_dump: bool) -> None:
    with connect("memory:") as source:
        filled(source)
        assert begins(source) == 5
        assert source.version("orders", 5).ordinal == 4
        taken = through_a_dump(source) if by_dump else read(source)
        image = read(source)
    report = write(taken, connection)
    exact = read(connection).exact

    assert report.problems == ()
    assert begins(connection) == 5
    ordinal = 4 if exact else 2
    assert connection.version("orders", 5).ordinal == ordinal, "only registries of Treaty's kind take gaps"
    assert connection.config("orders", resolve=False) == Config(
        level="FULL_TRANSITIVE",
        exact_level=Level(VersionRange("till", ordinal), LATEST),
        partition="type",
        normalize=True,
    )
    assert connection.config("").exact_level == Level(ALL, LATEST)
    assert connection.config(":.x:") == Config(level="FULL_TRANSITIVE", exact_level=DENY, group="major")
    assert connection.config("before", resolve=False) == Config(level="FULL_TRANSITIVE")
    assert write(taken, connection).written == 0, "what is there already is no change"
    told = image if exact else replace(image, exact=False, groups=(), facts={}, hidden=())
    assert [*write_lines(read(connection))] == [*write_lines(told)]


def test_a_level_with_a_word_replaces_one_that_is_shown_as_the_same_word(connection: Connection) -> None:
    with connect("memory:") as source:
        source.set_config("", Config(level="FULL_TRANSITIVE"))
        connection.set_config("", Config(exact_level=DENY))
        report = write(read(source), connection)

    assert (report.written, report.problems) == (1, ())
    assert connection.config("") == Config(level="FULL_TRANSITIVE")


def test_a_range_that_began_at_a_version_that_is_gone_begins_at_the_next_one(connection: Connection) -> None:
    with connect("memory:") as source:
        filled(source)
        source.delete_version("orders", 5)
        source.delete_version("orders", 5, permanent=True)
        write(read(source), connection)
        assert begins(source) == begins(connection) == 6


def test_a_range_behind_the_last_version_begins_at_the_last_one(connection: Connection) -> None:
    """Which is stricter by one version: the copy has no other ordinal to name."""
    with connect("memory:") as source:
        filled(source)
        for number in (5, 6):
            source.delete_version("orders", number)
            source.delete_version("orders", number, permanent=True)
        report = write(read(source), connection)

    assert report.problems == ()
    assert begins(connection) == 3


def words_only(seen: Seen) -> Say:
    """A server with Confluent's routes that keeps nothing."""
    path = seen.target.partition("?")[0]
    if path == "/contexts":
        return Say(200, ["."])
    if path.startswith("/config") and seen.method == "PUT":
        return Say(200, {"compatibility": "FULL_TRANSITIVE"})
    if path in {"/config", "/mode"}:
        return Say(200, {"compatibilityLevel": "BACKWARD"} if path == "/config" else {"mode": "READWRITE"})
    if path in {"/subjects", "/schemas"}:
        return Say(200, [])
    return Say(404, {"error_code": 40408, "message": "not found"})


def test_a_registry_that_has_words_only_gets_the_nearest_one() -> None:
    with connect("memory:") as source, scripted(words_only) as script, connect(script.url) as target:
        source.set_config("", Config(exact_level=Level(ALL, LATEST)))
        report = write(read(source), target)
        with pytest.raises(NotOffered, match="named levels"):
            target.set_config("s", Config(exact_level=DENY))
        with pytest.raises(NotOffered, match="named levels"):
            target.set_config("s", Config(partition="type"))

    assert report.problems == ()
    assert [one for one in report.plan.notes if "seven levels" in one and ":" not in one.partition("of ")[2]]
    put = [one for one in script.seen if one.method == "PUT" and one.target.startswith("/config")]
    assert len(put) == 1
    assert b"treaty" not in put[0].body
    assert b'"compatibility":"FULL_TRANSITIVE"' in put[0].body
    assert LEVELS["FULL_TRANSITIVE"] == Level(ALL, ALL)
