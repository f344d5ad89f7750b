"""`consistency=strict`: an old leader of a Kafka partition may answer a look, and can't take an empty commit."""

import asyncio
import random

import pytest

from tests.behaviours.logs.backends import attempt
from tests.behaviours.nodes.lives import living, post, virtual
from tests.simulation.kafka.any import here
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.core.registry import Call
from treaty.core.requests import ListVersions
from treaty.log.kafka.any.log import AnyLog
from treaty.log.memory import MemoryLog

VERSIONS = ListVersions(Subject(".", "s"))


def log_on(partition: Partition, storm: Storm) -> AnyLog:
    return AnyLog(LinkModel(partition, storm, random.Random(1)), attempt=attempt, work=here)


@virtual
async def test_an_old_leader_is_found_out() -> None:
    partition, old = Partition(), Storm(latency=0.001)
    async with living(log_on(partition, Storm(latency=0.001))) as writer, living(log_on(partition, old)) as reader:
        await writer.ask(post("s"))
        await reader.ask(VERSIONS, Call("latest"))
        old.stale = 1.0  # the reader talks to a leader that is none any more
        await asyncio.sleep(30)  # what it asked before has been answered
        await writer.ask(post("s", '["a","b?"]'))
        assert len((await writer.ask(VERSIONS)).answer.numbers) == 2
        assert len((await reader.ask(VERSIONS, Call("latest"))).answer.numbers) == 1, "a look is believed"
        old.stale = 0.7  # and every now and then to the one that is
        told = await reader.ask(VERSIONS, Call("strict"))
        assert (len(told.answer.numbers), told.token.sequence) == (2, 3)


@virtual
async def test_where_nobody_else_can_lead_a_look_is_enough() -> None:
    async with living(MemoryLog()) as node:
        written = await node.ask(post("s"))
        assert (await node.ask(VERSIONS, Call("strict"))).token == written.token


@virtual
async def test_what_can_not_be_proven_is_not_said() -> None:
    partition, storm = Partition(), Storm(latency=0.001)
    async with living(log_on(partition, storm)) as node:
        await node.ask(post("s"))
        storm.unavailable = 1.0
        with pytest.raises(Unavailable):
            await node.ask(VERSIONS, Call("strict", timeout=1.0))
        storm.calm()
        assert (await node.ask(VERSIONS, Call("strict"))).answer.numbers
