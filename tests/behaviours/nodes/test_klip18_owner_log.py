"""Requirements of KLIP-18 on a compacted topic with one owner, by their numbers: statements, and the broker's transactions."""

import asyncio
import random
from collections.abc import Callable

import pytest

from tests.behaviours.logs.backends import KEPT
from tests.behaviours.nodes.lives import living, virtual
from tests.simulation.clock import Jobs
from tests.simulation.kafka.owner.store import OwnerStore
from tests.simulation.model import Weather
from tests.simulation.runs.store import Door, Ground
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import OutcomeUnknown, RegistryError, Unavailable
from treaty.core.registry import CallOptions
from treaty.log.log import Log
from treaty.metastore.metastore import AsyncMetastore
from treaty.node.node import Node

CREATE = "CREATE STREAM {0} (v INT) WITH (CONNECTOR = 'delta', PATH = '{0}')"
SCRIPT = f"{CREATE.format('s')}; CREATE TYPE t AS INT; ALTER STREAM s ADD COLUMN w t"


class OwnedTopic:
    """A topic, and nodes on it. The owner changes when the test says so."""

    def __init__(self) -> None:
        self.store = OwnerStore(Ground(Weather(latency=0.001), random.Random(1), Jobs(), KEPT))
        self.store.quiet(0)
        self.store.rolling = self.store.sweeping = 0.0
        self.partition = self.store.partition

    def log(self, name: str, step: Callable[[], None] = lambda: None) -> Log:
        return self.store.open(Door(name, 1, random.Random(1), step=lambda _: step(), sends=lambda _: None))

    def compact(self, now: float) -> None:
        self.partition.roll()
        sweep = self.partition.sweep(len(self.partition.segments), now)
        for segment in range(len(self.partition.segments)):
            self.partition.clean(sweep, segment)


async def run(node: Node, sql: str, *, atomic: bool = False) -> str:
    call = CallOptions(timeout=60)
    return (await AsyncMetastore(node, call).run(sql, atomic=atomic))[-1].message


async def names(node: Node, call: CallOptions = CallOptions(timeout=60)) -> list[str]:  # noqa: B008 (a frozen value)
    return [one.name for one in (await node.ask(m.ListSources(), call)).answer.sources]


@pytest.mark.parametrize("step", range(2, 10))
@virtual
async def test_r17_r48_a_script_is_there_whole_or_not_at_all_whenever_another_node_takes_over(step: int) -> None:
    """The new owner fences first and reads then: what the old one committed before is shown, what it had open is not."""
    topic = OwnedTopic()
    left, over = [0], asyncio.Event()

    def count() -> None:
        left[0] -= 1
        if left[0] == 0:
            topic.store.elect("b", 1)
            over.set()

    async with living(topic.log("a", count)) as a, living(topic.log("b"), 2) as b:
        topic.store.elect("a", 1)
        await run(a, CREATE.format("first"))
        left[0] = step
        asked = asyncio.create_task(run(a, SCRIPT, atomic=True))
        await asyncio.wait([asked, asyncio.create_task(over.wait())], return_when=asyncio.FIRST_COMPLETED)
        over.set()
        topic.store.elect("b", 1)
        await run(b, CREATE.format("later"))
        try:
            done = bool(await asked)
        except (Unavailable, OutcomeUnknown, RegistryError):
            done = False
        there = await names(b)
        assert there in (["first", "later", "s"], ["first", "later"])
        assert not done or "s" in there, "what was acknowledged is not lost"
        if "s" in there:
            columns = (await b.ask(m.DescribeSource("s"))).answer.source.columns
            assert [one.name for one in columns] == ["v", "w"]
        assert [one.name for one in (await b.ask(m.ListTypes())).answer.types] == ["t"] * ("s" in there)


@virtual
async def test_r33_a_wait_for_a_token_ends_though_an_aborted_transaction_is_last() -> None:
    topic = OwnedTopic()
    async with living(topic.log("a")) as a, living(topic.log("b"), 2) as b:
        topic.store.elect("a", 1)
        await run(a, CREATE.format("s"))
        token = (await a.ask(m.ListSources())).token
        for number in range(3):
            assert topic.partition.write(9, number, b'["source",["x"]]', b"{}")
            topic.partition.mark(9, number, commit=False)
        assert await names(b, CallOptions(after=token, timeout=5)) == ["s"]
        assert await names(b, CallOptions(consistency="latest", timeout=5)) == ["s"]


@virtual
async def test_r34_a_dropped_source_is_not_there_for_who_reads_after_its_tombstone_is_gone() -> None:
    topic = OwnedTopic()
    async with living(topic.log("a")) as a:
        topic.store.elect("a", 1)
        await run(a, f"{CREATE.format('s')}; {CREATE.format('kept')}")
        topic.compact(0.0)
        await run(a, "DROP STREAM s")
        await run(a, CREATE.format("later"))
        for now in (1e4, 1e5, 1e6):
            topic.compact(now)
        gone = [
            one
            for one in topic.partition.entries
            if one.key is not None and b'"source"' in one.key and b'"s"' in one.key
        ]
        assert gone == [], "neither the row nor its tombstone is in the topic"
        async with living(topic.log("b"), 2) as b:
            assert await names(b) == ["kept", "later"]
        assert await names(a) == ["kept", "later"]
