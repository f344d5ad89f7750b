"""Every way in which a hold of a log can end: it leaves the log to others and to its own node, with what was accepted in it alone."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.behaviours.logs.backends import Node, accepted, chain, nodes, put, row, told, whole
from treaty.core.state.commit import START, Position
from treaty.log.log import AppendResult, Log

HELD = True
"""These stories are about logs that can be held."""
FREE_WITHIN = 3.0
"""Seconds in which a log is free again: less than a server waits for a lock."""

Step = Callable[[Log, Position], Awaitable[None]]


async def nothing(log: Log, base: Position) -> None:
    """Leave the log alone."""


async def read(log: Log, base: Position) -> None:
    assert (await log.read(START)).tip == base


async def write(log: Log, base: Position) -> None:
    await accepted(log, chain(base, [row("written", "1")]))


async def collide(log: Log, base: Position) -> None:
    assert await log.append(chain(START, [row("lost", "1")])) is AppendResult.CONFLICT


async def write_in_a_child(log: Log, base: Position) -> None:
    await asyncio.create_task(write(log, base))


async def collide_and_write(log: Log, base: Position) -> None:
    await collide(log, base)
    await write(log, base)


async def fail(log: Log, base: Position) -> None:
    raise LookupError


async def overrun(log: Log, base: Position) -> None:
    async with asyncio.timeout(0.001):
        await asyncio.Event().wait()


async def be_cancelled(log: Log, base: Position) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


DEEDS: dict[str, Step] = {
    step.__name__: step for step in (nothing, read, write, collide, write_in_a_child, collide_and_write)
}
"""What is done in the block."""
ENDS: dict[str, Step] = {step.__name__: step for step in (nothing, fail, overrun, be_cancelled)}
"""How the block ends then."""
ERRORS = {"nothing": None, "fail": LookupError, "overrun": TimeoutError, "be_cancelled": asyncio.CancelledError}
"""What comes out of it."""


async def hold(log: Log, base: Position, *steps: Step) -> None:
    async with log.lock():
        for step in steps:
            await step(log, base)


async def error_of(work: Awaitable[None]) -> type[BaseException] | None:
    """Do work in a task of its own and return the class of what it raised."""
    task = asyncio.ensure_future(work)
    await asyncio.wait([task])
    if task.cancelled():
        return asyncio.CancelledError
    error = task.exception()
    return None if error is None else type(error)


@pytest.mark.parametrize("end", ENDS)
@told
async def test_whatever_is_done_in_a_hold_and_however_it_ends_the_log_is_free(node: Node, end: str) -> None:
    async with nodes(node, 2) as (one, two):
        for deed, step in DEEDS.items():
            base = await put(one, row("written", None))
            assert await error_of(hold(one, base, step, ENDS[end])) is ERRORS[end], deed
            async with asyncio.timeout(FREE_WITHIN):
                state = await whole(two)
                await put(two, row("other", deed))
                await hold(two, await two.tip())
                await put(one, row("own", deed))
            assert (("subject", '["written"]') in state) is ("write" in deed), deed
            assert ("subject", '["lost"]') not in state, deed


@pytest.mark.parametrize("end", [end for end in ENDS if end != "nothing"])
@told
async def test_a_hold_that_ends_badly_gives_the_log_to_who_waits_for_it(node: Node, end: str) -> None:
    """To tasks of another node; those of its own one would end what it left."""
    async with nodes(node, 2) as (one, two):
        base = await put(one, row("a", "1"))
        held = asyncio.Event()

        async def wait_for_others(log: Log, base: Position) -> None:
            held.set()
            await asyncio.sleep(0.01)

        holder = asyncio.create_task(error_of(hold(one, base, wait_for_others, ENDS[end])))
        await held.wait()
        async with asyncio.timeout(FREE_WITHIN):
            await asyncio.gather(*(put(two, row("b", str(place))) for place in range(4)))
        assert await holder is ERRORS[end]
        assert (await two.tip()).sequence == base.sequence + 4
