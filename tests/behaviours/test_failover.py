"""Several nodes of one registry, real ones: one is killed, hangs, loses answers, lags; nothing is done twice."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.behaviours.between import Between, between
from tests.behaviours.drivers import Door
from tests.behaviours.scripted import Say, scripted
from tests.behaviours.served import Served, served
from tests.behaviours.test_registry import V1, V2
from treaty.client.properties import settings_of
from treaty.client.settings import ClientSettings
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.registration import ExpectedVersion, Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, GetConfig, Scope, SetConfig
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import AlreadyDeleted, NotLatest, OutcomeUnknown, SubjectNotFound, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.core.state.commit import Append, Position
from treaty.log.log import Log, LogDelta, StoreStats
from treaty.log.urls import open_log
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import make_thread_service

ORDERS = subject_of("orders")
EVENTUAL = CallOptions(consistency="eventual")


def quick(*urls: str) -> ClientSettings:
    return replace(settings_of(",".join(urls)), pause=0.01, max_pause=0.05, rounds=3, attempt_timeout=20.0)


@pytest.fixture
def log(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path / 'log.db'}"


@contextmanager
def three(log: str) -> Iterator[tuple[list[Served], list[Between]]]:
    """Three nodes on one log, each behind a stretch of network."""
    with (
        served(log) as a,
        served(log) as b,
        served(log) as c,
        between(a.url) as x,
        between(b.url) as y,
        between(c.url) as z,
    ):
        yield [a, b, c], [x, y, z]


def test_nodes_that_are_killed_one_after_the_other(door: Door, log: str) -> None:
    with three(log) as (nodes, ways):
        client = door(quick(*(way.url for way in ways)))
        client.ask(Register(ORDERS, Draft(V1)))
        assert [way.connections for way in ways] == [1, 0, 0]
        nodes[0].stop()
        ways[0].cut()
        assert client.ask(GetVersion(ORDERS, -1)).number == 1
        client.ask(Register(ORDERS, Draft(V2)))
        nodes[1].stop()
        assert client.ask(GetVersion(ORDERS, -1)).number == 2
        ways[2].cut()
        with pytest.raises(Unavailable):
            client.ask(GetVersion(ORDERS, -1))


def test_a_node_that_hangs_costs_one_time_out_and_not_one_for_each_request(door: Door, log: str) -> None:
    with three(log) as (_, ways):
        ways[0].way = "hang"
        client = door(replace(quick(*(way.url for way in ways[:2])), attempt_timeout=2.0))
        for _ in range(10):
            assert client.ask(ListSubjects()).names == ()
        assert (ways[0].connections, ways[1].connections) == (1, 1)
        ways[0].way = "pass"
        ways[1].way = "hang"
        assert client.ask(ListSubjects()).names == ()
        assert client.ask(ListSubjects()).names == ()
        assert ways[1].connections == 1


def test_a_node_that_is_too_busy_is_left_alone_as_long_as_it_asks_for(door: Door, log: str) -> None:
    busy = Say(503, {"error_code": 503, "message": "busy"}, (("Retry-After", "20"),))
    with served(log) as good, scripted(busy) as bad:
        client = door(quick(bad.url, good.url))
        for _ in range(5):
            assert client.ask(ListSubjects()).names == ()
        assert len(bad.seen) == 1
        good.stop()
        with pytest.raises(Unavailable) as later:
            client.ask(ListSubjects(), CallOptions(timeout=1))
        assert len(bad.seen) == 1
        alone = door(quick(bad.url))
        for _ in range(3):
            with pytest.raises(Unavailable) as later:
                alone.ask(Register(ORDERS, Draft(V1)), CallOptions(timeout=5))
        assert 15 < later.value.retry_after <= 20
        assert len(bad.seen) == 2


WRITES: list[Request[Any]] = [
    Register(ORDERS, Draft(V2)),
    Register(ORDERS, Draft(V2), expected=ExpectedVersion("number", 1)),
    Register(ORDERS, Draft(V2), number=2),
    DeleteVersion(ORDERS, 1),
    DeleteSubject(ORDERS),
    SetConfig(Scope(".", "orders"), Config(level="NONE")),
]


@pytest.mark.parametrize("write", WRITES, ids=["register", "expected", "number", "version", "subject", "config"])
@pytest.mark.parametrize("count", [1, 2], ids=["the same node", "another node"])
def test_a_write_whose_answer_is_lost_is_done_once(door: Door, log: str, write: Request[Any], count: int) -> None:
    with three(log) as (_, ways):
        first = door(quick(ways[2].url))
        began = first.reply(Register(ORDERS, Draft(V1))).token.sequence
        client = door(replace(quick(*(way.url for way in ways[:count])), rounds=8, pause=0.05))
        ways[0].way = "deaf"
        if count == 1:  # it hears again once the answer is lost
            threading.Thread(target=hear_again, args=(ways[0],)).start()
        reply = client.reply(write)
        assert ways[0].lost >= 1
        assert reply.token.sequence == began + 1
        assert first.reply(ListSubjects()).token.sequence == began + 1
        ways[0].way = "pass"
        if isinstance(write, DeleteVersion):
            with pytest.raises(AlreadyDeleted):
                client.ask(write)
        elif isinstance(write, Register) and write.expected:
            with pytest.raises(NotLatest):
                client.ask(Register(ORDERS, Draft('"int"'), expected=write.expected))


def hear_again(way: Between) -> None:
    while not way.lost:
        threading.Event().wait(0.01)
    way.way = "pass"


def test_a_write_whose_answers_are_all_lost_is_unknown_and_its_outcome_can_be_asked(door: Door, log: str) -> None:
    with three(log) as (_, ways):
        ways[0].way = "deaf"
        with pytest.raises(OutcomeUnknown) as unknown:
            door(quick(ways[0].url)).ask(Register(ORDERS, Draft(V1)))
        from_elsewhere = door(quick(ways[1].url))
        assert from_elsewhere.ask(ListVersions(ORDERS)).numbers == (1,)
        again = from_elsewhere.ask(Register(ORDERS, Draft(V1)), CallOptions(command_id=unknown.value.command_id))
        assert again.created
        assert ways[0].lost == 3


# -------------------------------------------------------------------------------------------------- one's own writes


class Lagging:
    """A log that tells nothing on its own: who wants to know what is new has to look."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.url, self.lockable, self.linearizable, self.foreign_records = log.url, log.lockable, log.linearizable, 0
        self.lock, self.close = log.lock, log.close

    async def append(self, append: Append) -> object:
        return await self._log.append(append)

    async def tip(self) -> Position:
        return await self._log.tip()

    async def read(self, after: Position) -> LogDelta:
        return await self._log.read(after)

    async def read_stats(self) -> StoreStats:
        return await self._log.read_stats()

    async def wait(self, after: Position, timeout: float) -> None:
        del after, timeout
        await asyncio.Event().wait()


async def lagging(url: str) -> Node:
    log: Log = Lagging(await open_log(url))  # type: ignore[assignment]  # it is one by its methods
    return Node(log, make_thread_service(), real_environment())


def test_a_client_reads_its_own_writes_at_a_node_that_lags(door: Door, log: str) -> None:
    with served(log) as quick_one, served(log, lagging) as slow, between(quick_one.url) as way:
        client = door(quick(way.url, slow.url))
        careless = door(replace(quick(way.url, slow.url), read_your_writes=False))
        for each in (client, careless):
            each.ask(Register(ORDERS, Draft(V1)))
            each.ask(SetConfig(Scope(".", "orders"), Config(level="NONE")))
        way.cut()
        with pytest.raises(SubjectNotFound):
            careless.ask(GetVersion(ORDERS, 1), EVENTUAL)
        assert careless.ask(GetConfig(Scope(".", "orders"), resolve=True), EVENTUAL).config.level == "BACKWARD"
        assert client.ask(GetVersion(ORDERS, 1), EVENTUAL).number == 1
        assert client.ask(GetConfig(Scope(".", "orders")), EVENTUAL).config.level == "NONE"


def test_a_registry_that_begins_anew_is_not_asked_for_what_the_old_one_had(door: Door) -> None:
    with served("memory:") as one, served("memory:") as two:
        two_before = door(quick(two.url))
        two_before.ask(Register(ORDERS, Draft(V2)))
        with between(one.url) as way:
            client = door(quick(way.url))
            client.ask(Register(ORDERS, Draft(V1)))
            client.ask(SetConfig(Scope(".", "orders"), Config(level="NONE")))
            way.port = int(two.url.rpartition(":")[2])
            way.drop()
            assert client.ask(GetVersion(ORDERS, -1)).text == two_before.ask(GetVersion(ORDERS, -1)).text


def test_a_registry_that_begins_with_nothing_is_read_as_it_is(door: Door) -> None:
    with served("memory:") as one, served("memory:") as empty, between(one.url) as way:
        client = door(quick(way.url))
        client.ask(Register(ORDERS, Draft(V1)))
        way.port = int(empty.url.rpartition(":")[2])
        way.drop()
        assert client.ask(ListSubjects()).names == ()
