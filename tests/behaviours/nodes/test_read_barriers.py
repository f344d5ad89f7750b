"""Strict reads that wait for an append: which results end their wait, how, and who else waits for the same one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.behaviours.nodes.lives import living, virtual, way
from tests.simulation.disk import Disk
from treaty.core.refusals import Unavailable
from treaty.node.queue import BARRIER_TRIES, FIRST_REST, LONGEST_REST, ReadBarriers
from treaty.node.queued_command import NotLeaderError


@asynccontextmanager
async def barriers() -> AsyncIterator[tuple[ReadBarriers, list[float]]]:
    """Barriers of a node, and the times at which an append was asked for."""
    async with living(way(Disk(9))) as node:
        wakes: list[float] = []
        waiting = ReadBarriers(node.follower, lambda: wakes.append(asyncio.get_running_loop().time()))
        yield waiting, wakes
        waiting.close()


def number_of(waiting: ReadBarriers) -> int:
    """The number of the append that the reads wait for, which all came between two of them."""
    (number,) = {number for number, _ in waiting._waiting}
    return number


def is_due(waiting: ReadBarriers) -> bool:
    return waiting.due


async def begin(waiting: ReadBarriers, *for_peers: bool) -> list[asyncio.Task[None]]:
    """Reads that come at one time, each of which is or is none of another node."""
    tasks = [asyncio.create_task(waiting.wait(for_peer=for_peer)) for for_peer in for_peers]
    await asyncio.sleep(0)
    return tasks


@virtual
async def test_only_appends_in_conflict_end_the_patience_of_a_read() -> None:
    async with barriers() as (waiting, _):
        (read,) = await begin(waiting, False)
        number = number_of(waiting)
        for _ in range(2 * BARRIER_TRIES):
            waiting.note_lost(number)
        for _ in range(BARRIER_TRIES - 1):
            waiting.note_lost(number, conflict=True)
        await asyncio.sleep(1)
        assert not read.done()
        waiting.note_lost(number, conflict=True)
        with pytest.raises(Unavailable, match=f"{BARRIER_TRIES} appends"):
            await read


@virtual
async def test_after_a_lost_append_the_next_one_is_asked_for_once_and_later_each_time() -> None:
    async with barriers() as (waiting, wakes):
        (read,) = await begin(waiting, False)
        number = number_of(waiting)
        wakes.clear()
        pauses = []
        for _ in range(8):
            now = asyncio.get_running_loop().time()
            waiting.note_lost(number)
            assert not is_due(waiting)
            await asyncio.sleep(10)
            assert is_due(waiting)
            pauses.append(round(wakes.pop() - now, 6))
            assert not wakes, "asked for once"
        assert pauses == [round(min(FIRST_REST * 2.0**tries, LONGEST_REST), 6) for tries in range(8)]
        waiting.note_lost(number)
        waiting.note_lost(number)  # an append that was sent before
        await asyncio.sleep(10)
        assert len(wakes) == 1
        waiting.note_accepted(number)
        await read


@virtual
async def test_who_leaves_takes_no_other_read_along() -> None:
    async with barriers() as (waiting, _):
        first, second = await begin(waiting, False, False)
        number = number_of(waiting)
        first.cancel()
        await asyncio.sleep(0)
        assert is_due(waiting)
        assert waiting.waits(number)
        waiting.note_accepted(number)
        await second
        assert not is_due(waiting)
        (third,) = await begin(waiting, False)
        third.cancel()
        await asyncio.sleep(0)
        assert not is_due(waiting), "nobody is left"


@virtual
async def test_an_append_that_was_sent_before_a_read_came_proves_nothing_to_it() -> None:
    async with barriers() as (waiting, _):
        (read,) = await begin(waiting, False)
        number = number_of(waiting)
        waiting.note_accepted(number - 1)
        assert not waiting.waits(number - 1)
        await asyncio.sleep(0)
        assert not read.done()
        waiting.note_accepted(number + 1)
        await read


@virtual
async def test_reads_of_other_nodes_alone_are_sent_away() -> None:
    async with barriers() as (waiting, _):
        own, other = await begin(waiting, False, True)
        number = number_of(waiting)
        waiting.send_away("http://leader")
        with pytest.raises(NotLeaderError):
            await other
        assert not own.done()
        waiting.note_accepted(number)
        await own
