"""Nodes for tests: over the real logs, and over a log model whose weather is chosen, in virtual time."""

import asyncio
import functools
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec

from tests.simulation.clock import VirtualLoop
from tests.simulation.disk import Disk
from tests.simulation.model import LogModel, Weather
from tests.simulation.texts import FORMATS, Truth, answer
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.schema_engine import Answer, Question
from treaty.core.state.commit import START, Position
from treaty.log.log import Log
from treaty.node.environment import Environment
from treaty.node.node import Node
from treaty.node.schema_service import SchemaService
from treaty.node.segment.build import build
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.segment import Segment

P = ParamSpec("P")

FAIR = 0.01
"""Seconds that a step to the log takes on average, where nothing else is said."""


def virtual(story: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an async test in virtual time: an hour of waiting costs nothing, and no verdict hangs on the machine."""

    @functools.wraps(story)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        loop = VirtualLoop()

        async def once() -> None:
            await story(*arguments, **named)

        try:
            loop.run_until_complete(once())
            assert not loop.errors
        finally:
            loop.close()

    return run


def world(seed: int = 0) -> Environment:
    """A world in which time is that of the running loop."""
    loop = asyncio.get_running_loop()
    return Environment(
        loop.time, lambda: 1_700_000_000_000 + int(loop.time() * 1000), random.Random(seed).randbytes, asyncio.sleep
    )


def desk(inline_bytes: int = 10_000) -> SchemaService:
    """A desk whose pool takes a while."""

    async def run(question: Question) -> Answer:
        await asyncio.sleep(FAIR)
        return answer(question)

    return SchemaService(lambda: FORMATS, answer, run, inline_bytes=inline_bytes, validators=lambda: Truth.validators)


@asynccontextmanager
async def living(log: Log, seed: int = 0, inline_bytes: int = 10_000) -> AsyncIterator[Node]:
    """A node over a log, while the block runs."""
    node = Node(log, desk(inline_bytes), world(seed))
    await node.start()
    try:
        yield node
    finally:
        await node.close()


def way(disk: Disk, weather: Weather | None = None, seed: int = 0) -> LogModel:
    """A node's way to a disk."""
    return LogModel(disk, weather or Weather(FAIR), random.Random(seed))


def post(subject: str, text: str = '["a"]') -> Register:
    """A registration in the toy format."""
    return Register(subject_of(subject), Draft(text, "TOY"))


class Deaf(LogModel):
    """A way to a log that never says that something has come: the node behind it lags until it looks."""

    async def wait(self, after: Position, timeout: float) -> None:
        await asyncio.Event().wait()


@asynccontextmanager
async def lagging(disk: Disk) -> AsyncIterator[tuple[Node, LayeredTables]]:
    """A node that has read what there is, and hears of nothing that comes."""
    tables = LayeredTables(small=0)
    node = Node(Deaf(disk, Weather(FAIR), random.Random(5)), desk(), world(5), tables)
    await node.start()
    try:
        await node.follower.catch_up()
        yield node, tables
    finally:
        await node.close()


def file_of(disk: Disk) -> tuple[Segment, Position]:
    """A state file of what a log holds now."""
    return open_built(build(row for row in disk.since_by_row(START).rows if row.value is not None)), disk.tip


async def change_over(node: Node, tables: LayeredTables, file: tuple[Segment, Position]) -> bool:
    return await node.follower.change_over(functools.partial(tables.ready_on, *file), file[1])
