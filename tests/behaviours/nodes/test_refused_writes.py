"""A log that refuses writes for a while: how long commands wait for it."""

import asyncio
from dataclasses import replace

import pytest

from tests.behaviours.nodes.crowns import realm
from tests.behaviours.nodes.lives import FAIR, living, post, virtual, way
from tests.simulation.disk import Disk
from tests.simulation.model import Weather
from treaty.core.messages.listings import ListSubjects
from treaty.core.refusals import OutcomeUnknown, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import Commit, make_append, roots_after
from treaty.core.state.rows import EncodedRow
from treaty.log.log import AppendResult
from treaty.node.queue import PATIENCE_SECONDS, READ_ONLY_SECONDS, REFUSING_SECONDS


@pytest.mark.parametrize(
    ("writes", "quiet"),
    [(0, 2 * REFUSING_SECONDS), (1, PATIENCE_SECONDS / 2), (1, 2 * PATIENCE_SECONDS), (1, 2 * REFUSING_SECONDS)],
    ids=["no write for long", "a write, and soon", "a write, and later", "a write, and long after"],
)
@virtual
async def test_what_the_log_refused_before_takes_no_time_from_later_commands(writes: int, quiet: float) -> None:
    """The log refuses a write, then accepts some or sees none for a while, and refuses again for a moment."""
    weather = Weather(FAIR)
    async with living(way(Disk(9), weather)) as node:
        await node.ask(ListSubjects())
        weather.full = True
        with pytest.raises((Unavailable, OutcomeUnknown)):
            await node.ask(post("s"), CallOptions(timeout=PATIENCE_SECONDS / 4))
        weather.full = False
        for number in range(writes):
            await node.ask(post(f"between-{number}"))
        await asyncio.sleep(quiet)
        weather.full = True
        asked = asyncio.create_task(node.ask(post("t"), CallOptions(timeout=60)))
        await asyncio.sleep(PATIENCE_SECONDS / 2)
        weather.full = False
        assert (await asked).answer.created


@virtual
async def test_a_log_that_goes_on_refusing_ends_the_wait_of_a_command() -> None:
    weather, loop = Weather(FAIR), asyncio.get_running_loop()
    async with living(way(Disk(9), weather)) as node:
        await node.ask(ListSubjects())
        weather.full, begun = True, loop.time()
        with pytest.raises(Unavailable, match="no space is left; nothing was written"):
            await node.ask(post("s"), CallOptions(timeout=600))
        assert PATIENCE_SECONDS <= loop.time() - begun < 2 * PATIENCE_SECONDS


@virtual
async def test_commands_that_wait_while_a_node_becomes_read_only_are_told_when_to_come_again() -> None:
    disk, weather = Disk(9), Weather(FAIR)
    async with living(way(disk, weather)) as node:
        await node.ask(post("s"))
        weather.full = True
        waiting = [asyncio.create_task(node.ask(post(f"t{number}"), CallOptions(timeout=600))) for number in range(3)]
        await asyncio.sleep(PATIENCE_SECONDS / 4)
        strange = Commit(2, (EncodedRow("dreams", '["x"]', '{"v":1}'),))
        roots = roots_after(node.follower.tables, strange.rows)
        assert disk.take(make_append(disk.tip, b"a" * 16, (strange,), roots)) is AppendResult.ACCEPTED
        refused = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(one) for one in refused] == [Unavailable] * 3
        assert {getattr(one, "retry_after", None) for one in refused} == {READ_ONLY_SECONDS}


@virtual
async def test_a_log_that_refuses_says_nothing_of_a_command_that_another_node_may_have_written() -> None:
    async with realm("ab") as it:
        it.weather["a"].latency = 1000.0  # it takes the command, and is not heard of again
        node, call = it.nodes["b"], CallOptions(timeout=4 * PATIENCE_SECONDS, command_id="theirs")
        theirs = asyncio.create_task(node.ask(post("s"), call))
        await asyncio.sleep(1)
        assert it.nodes["a"].counts.taken == 1
        it.weather["b"].full, it.crown.holder = True, "b"
        mine = asyncio.create_task(node.ask(post("t"), replace(call, command_id="mine")))
        outcomes = await asyncio.gather(theirs, mine, return_exceptions=True)
        assert [type(one) for one in outcomes] == [OutcomeUnknown, Unavailable]
        assert (getattr(outcomes[0], "command_id", None), "nothing was written" in str(outcomes[1])) == ("theirs", True)
