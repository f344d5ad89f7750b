"""Strict reads over any log: all are answered, and show what was acknowledged before they came."""

import asyncio
from contextlib import AsyncExitStack

from tests.behaviours.logs.backends import Node, accepted, chain, told
from tests.behaviours.nodes.lives import living, post
from treaty.core.messages.listings import ListVersions
from treaty.core.names import Subject
from treaty.core.registry import CallOptions
from treaty.core.state.commit import START

READERS = 100
VERSIONS = ListVersions(Subject(".", "s"))


@told
async def test_all_of_a_hundred_strict_readers_are_answered_while_writers_write(node: Node) -> None:
    async with AsyncExitStack() as stack:
        first = await node()
        await accepted(first, chain(START, []))  # where one node owns the log, this one does from now on
        logs = [first] if first.single_writer else [first, await node()]
        one, *others = [await stack.enter_async_context(living(log, seed)) for seed, log in enumerate(logs, 1)]
        await one.ask(post("s"))
        done = 1

        async def write() -> None:
            nonlocal done
            for number in range(5):
                await one.ask(post("s", f'["a","{number}?"]'))
                done += 1

        async def read(reader: int) -> None:
            least = done
            found = await (one, *others)[reader % len(logs)].ask(VERSIONS, CallOptions("strict"))
            assert len(found.answer.numbers) >= least

        before = one.counts.appends + sum(each.counts.appends for each in others)
        await asyncio.gather(*map(read, range(READERS)))
        made = one.counts.appends + sum(each.counts.appends for each in others) - before
        assert made == 0 if first.linearizable else 0 < made < 10 * len(logs), "one append serves all who wait"
        await asyncio.gather(write(), *map(read, range(READERS)))
        assert len((await one.ask(VERSIONS, CallOptions("strict"))).answer.numbers) == 6
