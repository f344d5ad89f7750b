"""Holding any log that can be held: nobody else writes, and nobody holds it for ever."""

import asyncio

import pytest

from tests.behaviours.logs.backends import Node, accepted, chain, nodes, played, put, row, told, whole
from treaty.core.state.commit import START, Position
from treaty.log.log import AppendResult, Log

HELD = True
"""These stories are about logs that can be held."""


@told
async def test_who_holds_the_log_keeps_all_others_out(node: Node) -> None:
    async with nodes(node, 3) as (one, two, three):
        assert all(log.lockable for log in (one, two, three))
        base = await put(one, row("a", "1"))
        held = asyncio.Event()

        async def other(log: Log) -> AppendResult:
            await held.wait()
            return await log.append(chain(base, [row("b", "2")]))

        others = [asyncio.create_task(other(log)) for log in (one, two)]
        async with one.lock():
            held.set()
            finished, _ = await asyncio.wait(others, timeout=0.1)
            assert not finished
            assert await three.tip() == await one.tip() == base
            assert (await one.read(START)).tip == (await two.read(START)).tip == base
            tip = await accepted(one, chain(base, [row("mine", "1")]))
        assert await asyncio.gather(*others) == [AppendResult.CONFLICT, AppendResult.CONFLICT]
        assert await three.tip() == tip
        assert await whole(two) == {("subject", '["a"]'): "1", ("subject", '["mine"]'): "1"}


@told
async def test_a_child_of_who_holds_the_log_may_write(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        async with one.lock():
            place = await asyncio.create_task(put(one, row("a", "1")))
            assert (await one.read(START)).tip == place
        await put(two, row("b", "1"))
        await put(one, row("c", "1"))


@told
async def test_a_child_that_outlives_the_hold_waits_as_all_do(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))
        late = asyncio.Event()

        async def write() -> AppendResult:
            await late.wait()
            return await one.append(chain(base, [row("b", "1")]))

        async with one.lock():
            child = asyncio.create_task(write())
        async with two.lock():
            late.set()
            finished, _ = await asyncio.wait([child], timeout=0.1)
            assert not finished
            await accepted(two, chain(base, [row("c", "1")]))
        assert await child is AppendResult.CONFLICT


@told
async def test_holders_take_turns(node: Node) -> None:
    async with nodes(node, 3) as logs:

        async def count(log: Log) -> None:
            for _ in range(5):
                async with log.lock():
                    delta = await log.read(START)
                    number = int(played(delta.rows).get(("subject", '["count"]'), "0"))
                    await asyncio.sleep(0)
                    await accepted(log, chain(delta.tip, [row("count", str(number + 1))]))

        await asyncio.gather(*map(count, logs))
        assert await whole(logs[0]) == {("subject", '["count"]'): "15"}


@told
async def test_a_hold_ends_with_an_exception(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        for log in (one, two):
            with pytest.raises(LookupError):
                async with log.lock():
                    raise LookupError
        await put(two, row("a", "1"))
        await put(one, row("a", "2"))


@told
async def test_a_hold_that_wrote_nothing_leaves_nothing(node: Node) -> None:
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))
        async with one.lock():
            pass
        async with one.lock():
            assert await one.append(chain(START, [row("b", "1")])) is AppendResult.CONFLICT
        assert await two.tip() == base
        await put(two, row("c", "1"))


@pytest.mark.parametrize("steps", range(6))
@told
async def test_a_hold_ends_with_its_task(node: Node, steps: int) -> None:
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))

        async def keep() -> None:
            async with one.lock():
                await asyncio.Event().wait()

        for again in range(3):
            holder = asyncio.create_task(keep())
            for _ in range(steps):
                await asyncio.sleep(0.0005 * again)
            holder.cancel()
            await asyncio.wait([holder])
            assert holder.cancelled()
        assert await two.tip() == base
        await put(two, row("a", "2"))
        await put(one, row("a", "3"))


@told
async def test_who_gives_up_waiting_for_a_hold_leaves_it_to_the_next(node: Node) -> None:
    async with nodes(node, 3) as (one, two, three):

        async def write(log: Log) -> Position:
            async with log.lock():
                return await accepted(log, chain(await log.tip(), [row("a", "2")]))

        async with one.lock():
            waiters = [asyncio.create_task(write(log)) for log in (two, three, one)]
            await asyncio.sleep(0.02)
            waiters[0].cancel()
            waiters[2].cancel()
            await asyncio.sleep(0.02)
        assert await waiters[1] == await one.tip()
        await asyncio.wait(waiters)
        assert waiters[0].cancelled()
        assert waiters[2].cancelled()
        await put(two, row("a", "3"))
        await put(one, row("a", "4"))
