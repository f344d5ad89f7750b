"""`consistency=strict`: an old leader of a Kafka partition may answer a look, and can't take an append."""

import asyncio
import random
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from tests.behaviours.logs.backends import attempt
from tests.behaviours.nodes.lives import FAIR, living, post, virtual, way
from tests.simulation.disk import Disk
from tests.simulation.kafka.any import here
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from tests.simulation.model import LogModel, Weather
from treaty.core.access.rights import Access, AccessRule
from treaty.core.messages.listings import ListVersions
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import Append, Position
from treaty.log.kafka.multi_writer.log import MultiWriterLog
from treaty.log.log import AppendResult, Log, LogDelta
from treaty.log.memory import MemoryLog
from treaty.node.node import Node
from treaty.node.queue import BARRIER_TRIES

VERSIONS = ListVersions(Subject(".", "s"))
STRICT = CallOptions("strict")
MANY = 100


def log_on(partition: Partition, storm: Storm, seed: int = 1) -> MultiWriterLog:
    return MultiWriterLog(LinkModel(partition, storm, random.Random(seed)), attempt=attempt, work=here)


def any_log() -> Callable[[int], Log]:
    partition = Partition()
    return lambda seed: log_on(partition, Storm(latency=0.001), seed)


def sql_log() -> Callable[[int], Log]:
    disk = Disk(1000)
    return lambda seed: way(disk, Weather(0.001), seed)


def memory_log() -> Callable[[int], Log]:
    name = f"strict {random.random()}"
    return lambda _: MemoryLog(name)


LOGS = {"memory": memory_log, "sql": sql_log, "any": any_log}


async def read(node: Node, call: CallOptions = STRICT) -> int:
    """How many versions a strict read shows."""
    return len((await node.ask(VERSIONS, call)).answer.numbers)


@virtual
async def test_an_old_leader_is_found_out() -> None:
    partition, old = Partition(), Storm(latency=0.001)
    async with living(log_on(partition, Storm(latency=0.001))) as writer, living(log_on(partition, old), 2) as reader:
        await writer.ask(post("s"))
        await reader.ask(VERSIONS, CallOptions("latest"))
        old.stale = 1.0  # the reader talks to a leader that is none any more
        await asyncio.sleep(30)  # what it asked before has been answered
        await writer.ask(post("s", '["a","b?"]'))
        assert await read(writer) == 2
        assert await read(reader, CallOptions("latest")) == 1, "a look is believed"
        old.stale = 0.7  # and every now and then to the one that is
        assert await read(reader) == 2


@pytest.mark.parametrize("kind", LOGS)
@virtual
async def test_of_a_hundred_strict_readers_at_once_all_are_answered(kind: str) -> None:
    log = LOGS[kind]()
    async with living(log(1), 1) as writer, living(log(2), 2) as node:
        await writer.ask(post("s"))
        before = node.counts.appends
        assert await asyncio.gather(*(read(node) for _ in range(MANY))) == [1] * MANY
        assert node.counts.appends - before == (1 if kind == "any" else 0), "one append serves all"


@pytest.mark.parametrize("kind", LOGS)
@virtual
async def test_while_others_write_all_strict_readers_are_answered_and_see_what_was_written(kind: str) -> None:
    log = LOGS[kind]()
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(living(log(seed), seed)) for seed in (1, 2, 3)]
        await nodes[0].ask(post("s"))
        done = 1

        async def write(node: Node, writer: int) -> None:
            nonlocal done
            for number in range(20):
                names = [f'"{writer}_{one}?"' for one in range(number + 1)]
                await node.ask(post("s", f'["a",{",".join(names)}]'))
                done += 1

        async def reads(node: Node) -> None:
            for _ in range(5):
                least = done
                assert await read(node) >= least
                await asyncio.sleep(FAIR)

        work = [reads(nodes[one % 3]) for one in range(MANY)]
        await asyncio.gather(*work, write(nodes[0], 1), write(nodes[1], 2), write(nodes[1], 3))
        assert await read(nodes[2]) == 61


class Gated(LogModel):
    """A way to a log whose tip is not to be trusted: appends wait at a gate, and looks may show an older place."""

    lockable = False
    linearizable = False
    gate: asyncio.Event | None = None
    arrived: asyncio.Queue[Append]
    """What has come to the gate."""
    fates: tuple[AppendResult, ...] = ()
    """What is said of the next appends, of which nothing arrives."""
    shown: LogDelta | None = None
    """What an old leader shows."""

    async def append(self, append: Append) -> AppendResult:
        if self.gate is not None:
            self.arrived.put_nowait(append)
            await self.gate.wait()
        if self.fates:
            fate, *rest = self.fates
            self.fates = tuple(rest)
            await asyncio.sleep(FAIR)
            return fate
        return await super().append(append)

    async def tip(self) -> Position:
        await asyncio.sleep(FAIR)
        return self.shown.tip if self.shown is not None else await super().tip()

    async def read(self, after: Position) -> LogDelta:
        return self.shown if self.shown is not None else await super().read(after)


def gated(disk: Disk, seed: int = 3) -> Gated:
    log = Gated(disk, Weather(FAIR), random.Random(seed))
    log.arrived = asyncio.Queue()
    return log


@virtual
async def test_who_comes_while_an_append_is_on_its_way_waits_for_the_next_one() -> None:
    log = gated(Disk(9))
    async with living(log) as node:
        await node.ask(post("s"))
        log.gate = asyncio.Event()
        first = asyncio.create_task(read(node))
        await log.arrived.get()
        late = [asyncio.create_task(read(node)) for _ in range(5)]
        await asyncio.sleep(FAIR)
        opened, log.gate = log.gate, asyncio.Event()
        opened.set()
        assert await first == 1
        await log.arrived.get()
        await asyncio.sleep(1)
        assert not any(one.done() for one in late), "the append before them was sent before they came"
        log.gate.set()
        assert await asyncio.gather(*late) == [1] * 5
        assert log.arrived.empty()


@virtual
async def test_an_append_with_commands_serves_strict_readers_too() -> None:
    log = gated(Disk(99))
    async with living(log) as node:
        await node.ask(post("s"))
        log.gate = asyncio.Event()
        writes = [asyncio.create_task(node.ask(post(f"other{number}"))) for number in range(5)]
        readers = [asyncio.create_task(read(node)) for _ in range(5)]
        await asyncio.sleep(FAIR)
        log.gate.set()
        await asyncio.gather(*writes, *readers)
        assert [append for append in log._disk.appends if not any(one.rows for one in append.commits)] == []


@virtual
async def test_an_append_whose_fate_is_not_known_proves_nothing() -> None:
    """Another node has written twice, an old leader shows nothing of it, then the half, and the empty commit is lost on its way."""
    disk = Disk(9)
    log = gated(disk)
    async with living(way(disk)) as writer, living(log, 3) as reader:
        await writer.ask(post("s"))
        await reader.follower.catch_up()
        log.shown = LogDelta(disk.tip, ())
        await writer.ask(post("s", '["a","b?"]'))
        half = LogDelta(disk.tip, disk.appends[-1].rows)
        await writer.ask(post("s", '["a","c?"]'))
        log.fates = (AppendResult.UNKNOWN, AppendResult.UNKNOWN)
        strict = asyncio.create_task(read(reader))
        await asyncio.sleep(3)
        assert not strict.done()
        log.shown = half
        await asyncio.sleep(1)
        assert (await reader.ask(VERSIONS, CallOptions("eventual"))).answer.numbers == (1, 2)
        assert not strict.done(), "that the place is taken says nothing of what came after"
        log.shown = None
        assert await strict == 3
        assert reader.counts.unknown == 1


@virtual
async def test_an_append_that_comes_second_when_it_is_sent_again_did_not_land_before() -> None:
    """It was lost on its way and other nodes have written. The answer that goes with it names a place of the log."""
    disk = Disk(9)
    log = gated(disk)
    async with living(way(disk)) as writer, living(log, 3) as node:
        await writer.ask(post("s"))
        await node.follower.catch_up()
        log.shown = LogDelta(disk.tip, ())
        for text in ('["a","b?"]', '["a","c?"]'):
            await writer.ask(post("s", text))
        log.fates = (AppendResult.UNKNOWN,)
        answers = asyncio.gather(read(node), node.ask(post("s")))
        await asyncio.sleep(3)
        log.shown = None
        latest, again = await answers
        assert (latest, again.answer.version.number) == (3, 1)
        assert node.counts.unknown == 1
        assert again.token in {append.position.token for append in disk.appends}


@virtual
async def test_after_many_conflicts_strict_readers_are_told_and_writers_are_not_held_up() -> None:
    log = gated(Disk(9))
    async with living(log) as node:
        await node.ask(post("s"))
        log.fates = (AppendResult.CONFLICT,) * (BARRIER_TRIES - 1)
        assert await asyncio.gather(*(read(node) for _ in range(2))) == [1, 1]
        before = node.counts.appends
        log.fates = (AppendResult.CONFLICT,) * (BARRIER_TRIES + 5)
        with pytest.raises(Unavailable, match=f"{BARRIER_TRIES} appends of this node were in conflict"):
            await read(node)
        assert node.counts.appends - before == BARRIER_TRIES
        log.fates = (AppendResult.CONFLICT,) * 10
        strict, now = asyncio.create_task(read(node)), asyncio.get_running_loop().time()
        await asyncio.sleep(20 * FAIR)
        assert not strict.done()
        log.fates = ()
        await node.ask(post("s", '["a","b?"]'))
        assert asyncio.get_running_loop().time() - now < 40 * FAIR, "a write does not wait for the pause of a reader"
        assert await strict == 2


@virtual
async def test_for_readers_who_have_gone_nothing_is_appended() -> None:
    log = gated(Disk(9))
    async with living(log) as node:
        await node.ask(post("s"))
        log.fates = (AppendResult.CONFLICT,) * 10
        with pytest.raises(Unavailable):
            await read(node, CallOptions("strict", timeout=0.05))
        log.fates = ()
        tip = log._disk.tip
        await asyncio.sleep(60)
        assert log._disk.tip == tip


@virtual
async def test_readers_can_not_make_the_log_grow_faster_than_one_append_at_a_time() -> None:
    partition = Partition()
    async with living(log_on(partition, Storm(latency=0.001))) as node:
        await node.ask(post("s"))
        reading_only = Access((AccessRule(("reader",), frozenset({"read"})),))

        async def reads() -> None:
            for _ in range(10):
                assert await read(node, CallOptions("strict", principal="reader", access=reading_only)) == 1

        before = node.counts.appends
        await asyncio.gather(*(reads() for _ in range(MANY)))
        assert node.counts.appends - before <= 2 * 10, "a thousand reads"


@virtual
async def test_what_can_not_be_proven_is_not_said() -> None:
    partition, storm = Partition(), Storm(latency=0.001)
    async with living(log_on(partition, storm)) as node:
        await node.ask(post("s"))
        storm.unavailable = 1.0
        with pytest.raises(Unavailable):
            await node.ask(VERSIONS, CallOptions("strict", timeout=1.0))
        storm.calm()
        assert (await node.ask(VERSIONS, STRICT)).answer.numbers


# ---------------------------------------------------------------------------------------------- a log with one owner


class PutBack(Gated):
    """A log that is put back to an older place the moment it has taken an append."""

    place: Position | None = None

    async def append(self, append: Append) -> AppendResult:
        fate = await super().append(append)
        if self.place is not None:
            self._disk.put_back(self.place)
            self.place = None
        return fate


@virtual
async def test_an_append_that_the_log_has_lost_since_proves_nothing() -> None:
    disk = Disk(9)
    log = PutBack(disk, Weather(FAIR), random.Random(3))
    async with living(log) as node:
        await node.ask(post("s"))
        place = disk.tip
        await node.ask(post("s", '["a","b?"]'))
        log.place = place
        assert await read(node) == 1
        assert disk.appends[-1].parent == place.digest
        assert disk.appends[-1].commits[0].rows == (), "one more, in the history that is there now"
