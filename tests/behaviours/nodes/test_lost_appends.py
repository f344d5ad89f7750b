"""What a node does with the commands of an append that was lost: they are decided again, in the order in which they came."""

import asyncio

import pytest

from tests.behaviours.nodes.lives import living, post, virtual
from tests.behaviours.nodes.test_strict import gated
from tests.simulation.disk import Disk
from treaty.log.log import AppendResult


@pytest.mark.parametrize("lost", [(AppendResult.CONFLICT,), (AppendResult.CONFLICT,) * 5], ids=["once", "often"])
@virtual
async def test_commands_keep_their_order_over_lost_appends(lost: tuple[AppendResult, ...]) -> None:
    log = gated(Disk(9))
    async with living(log) as node:
        await node.ask(post("s"))
        log.fates = lost
        names = ["a", "b?", "c?", "d?", "e?"]
        texts = ["[" + ",".join(f'"{name}"' for name in names[: count + 1]) + "]" for count in range(1, len(names))]
        replies = await asyncio.gather(*(node.ask(post("s", text)) for text in texts))
        assert [reply.answer.version.number for reply in replies] == [2, 3, 4, 5]
        assert node.counts.conflicts == len(lost)
