"""A log that does not answer at one step: the status says so at once, no command is lost, and strict readers hear of it."""

import asyncio
import random

import pytest

from tests.behaviours.nodes.lives import FAIR, living, post, virtual
from tests.simulation.disk import Disk
from tests.simulation.model import LogModel, Weather
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.core.registry import CallOptions
from treaty.core.state.commit import Append, Commit, Position, make_append, roots_after
from treaty.core.state.rows import EncodedRow
from treaty.log.log import AppendResult, LogDelta, LogUnavailableError
from treaty.node.node import Node
from treaty.node.queue import READ_ONLY_SECONDS

STRICT = CallOptions("strict", timeout=60)
VERSIONS = ListVersions(Subject(".", "s"))
AT_ONCE = 0.01
"""Seconds in which a node tells what it knows; it waits for longer before it asks the log again."""


class AwayLog(LogModel):
    """A log whose steps of the names in `away` fail with `error`, and whose tip proves nothing."""

    lockable = False
    linearizable = False

    away: frozenset[str] = frozenset()
    error: Exception = LogUnavailableError("the line is cut")
    failed: asyncio.Event
    """Set when a step failed."""
    back_to: Position | None = None
    """Where the log is put back to when it has taken an append."""

    def _fail(self, step: str) -> None:
        if step in self.away:
            self.failed.set()
            raise self.error

    async def append(self, append: Append) -> AppendResult:
        self._fail("append")
        fate = await super().append(append)
        if self.back_to is not None:
            self._disk.put_back(self.back_to)
            self.back_to = None
        return fate

    async def tip(self) -> Position:
        self._fail("tip")
        return await super().tip()

    async def read(self, after: Position) -> LogDelta:
        self._fail("read")
        return await super().read(after)

    async def wait(self, after: Position, timeout: float) -> None:
        self._fail("wait")
        await super().wait(after, timeout)

    async def leave(self, *steps: str) -> None:
        """Fail at these steps from now on; returns when one of them did."""
        self.away, self.failed = frozenset(steps), asyncio.Event()
        await self.failed.wait()
        await asyncio.sleep(AT_ONCE)


def away_log(disk: Disk | None = None) -> AwayLog:
    return AwayLog(disk or Disk(9), Weather(FAIR), random.Random(3))


async def put_back_after_next(log: AwayLog, disk: Disk, node: Node, lost: int) -> Position:
    """Let the log lose so many commits and the next append, once it has taken that; return the place to which it is put back."""
    place = disk.tip
    for number in range(lost):
        await node.ask(post(f"lost-{number}"))
    log.back_to = place
    return place


def troubles(node: Node) -> tuple[str, str]:
    """What the status says of following the log, and of writing to it."""
    return node.status().trouble, node.status().refusing


@pytest.mark.parametrize("step", ["tip", "wait"])
@pytest.mark.parametrize(
    ("error", "trouble"),
    [(LogUnavailableError("the line is cut"), "the line is cut"), (KeyError("odd"), "KeyError: 'odd'")],
)
@virtual
async def test_a_log_that_can_not_be_followed_is_told_in_the_status_at_once(
    step: str, error: Exception, trouble: str
) -> None:
    log = away_log()
    log.error = error
    async with living(log) as node:
        await node.ask(post("s"))
        assert troubles(node) == ("", "")
        await log.leave(step)
        assert troubles(node) == (trouble, "")
        log.away = frozenset()
        await node.ask(ListSubjects())
        await asyncio.sleep(5)
        assert troubles(node) == ("", "")


@virtual
async def test_an_append_that_can_not_be_read_back_is_told_in_the_status_at_once_and_its_command_is_answered() -> None:
    log = away_log()
    async with living(log) as node:
        await node.ask(post("s"))
        asked = asyncio.create_task(node.ask(post("t"), CallOptions(timeout=60)))
        await log.leave("read")
        assert troubles(node)[1] == "the line is cut"
        assert not asked.done()
        log.away = frozenset()
        assert (await asked).answer.created
        await asyncio.sleep(5)
        assert troubles(node) == ("", "")


@pytest.mark.parametrize("step", ["tip", "read"])
@virtual
async def test_a_command_without_rows_is_answered_when_the_log_that_has_to_be_looked_at_is_there_again(
    step: str,
) -> None:
    disk = Disk(9)
    log = away_log(disk)
    async with living(log) as node, living(away_log(disk), 2) as other:
        await node.ask(post("s"))
        await other.ask(post("t"))
        asked = asyncio.create_task(node.ask(post("s"), CallOptions(timeout=60)))
        await log.leave(step)
        await asyncio.sleep(0.5)
        log.away = frozenset()
        async with asyncio.timeout(10):
            assert not (await asked).answer.created


@virtual
async def test_a_strict_reader_hears_at_once_that_nothing_can_be_appended() -> None:
    log = away_log()
    async with living(log) as node:
        await node.ask(post("s"))
        read = asyncio.create_task(node.ask(VERSIONS, STRICT))
        await log.leave("append")
        assert read.done()
        with pytest.raises(Unavailable, match="the line is cut"):
            await read
        log.away = frozenset()
        assert (await node.ask(VERSIONS, STRICT)).answer.numbers == (1,)


@virtual
async def test_a_node_that_can_not_append_proves_nothing_and_says_so_at_once() -> None:
    disk = Disk(9)
    async with living(away_log(disk)) as node:
        await node.ask(post("s"))
        strange = Commit(2, (EncodedRow("dreams", '["x"]', '{"v":1}'),))
        roots = roots_after(node.follower.tables, strange.rows)
        assert disk.take(make_append(disk.tip, b"a" * 16, (strange,), roots)) is AppendResult.ACCEPTED
        await node.ask(ListSubjects(), CallOptions("latest"))
        with pytest.raises(Unavailable, match="this node is read-only and can prove nothing: 1 rows") as refused:
            await node.ask(VERSIONS, STRICT)
        assert refused.value.retry_after == READ_ONLY_SECONDS


@pytest.mark.parametrize("lost", [0, 1])
@virtual
async def test_a_command_whose_append_the_log_has_lost_is_done_again_before_it_is_answered(lost: int) -> None:
    """The log is put back to an older place the moment it has taken the append."""
    disk = Disk(9)
    log = away_log(disk)
    async with living(log) as node:
        await node.ask(post("s"))
        await put_back_after_next(log, disk, node, lost)
        async with asyncio.timeout(20):
            assert (await node.ask(post("t"), CallOptions(timeout=60))).answer.created
        assert (await node.ask(ListSubjects(), CallOptions("latest"))).answer.names == ("s", "t")
        assert log.back_to is None


@virtual
async def test_what_is_asked_and_looked_for_is_counted_whatever_comes_of_it() -> None:
    log = away_log()
    async with living(log) as node:
        await node.ask(post("s"))
        counts = node.counts
        before = counts.queries, counts.commands
        await node.ask(ListSubjects(), CallOptions("eventual"))
        assert (counts.queries, counts.commands) == (before[0] + 1, before[1])
        log.away, log.failed, looks = frozenset(("tip",)), asyncio.Event(), counts.looks
        with pytest.raises(Unavailable):
            await node.ask(ListSubjects(), CallOptions("latest", timeout=1))
        assert (counts.queries, counts.commands) == (before[0] + 2, before[1])
        assert counts.looks > looks


@pytest.mark.parametrize("lost", [0, 1])
@virtual
async def test_an_empty_append_that_the_log_has_lost_proves_nothing(lost: int) -> None:
    disk = Disk(9)
    log = away_log(disk)
    async with living(log) as node:
        await node.ask(post("s"))
        place = await put_back_after_next(log, disk, node, lost)
        async with asyncio.timeout(20):
            assert (await node.ask(VERSIONS, STRICT)).answer.numbers == (1,)
        assert disk.appends[-1].parent == place.digest
        assert disk.appends[-1].commits[0].rows == (), "one more, in the history that is there now"
