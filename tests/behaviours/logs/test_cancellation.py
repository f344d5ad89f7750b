"""A migration is cancelled: of two logs with one past, never do both give ids, on every backend and at every moment of the move."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random

import pytest

from tests.behaviours.logs.backends import Node, nodes, put, told
from treaty.core.names import Subject
from treaty.core.state.commit import START, Append
from treaty.core.state.log_origin import explain_sealed_log, explain_unfinished_restore
from treaty.core.state.rows import Row, decode_row, encode_row
from treaty.core.state.state_tables import COUNTER, IDS_SPARED, CounterKey, encodings_key, ids_key
from treaty.core.state.tables import DictTables
from treaty.core.state.values import Counter
from treaty.log.log import AppendResult, Log, LogUnavailableError
from treaty.log.maintenance.cancellation import cancel_migration
from treaty.log.maintenance.migration import migrate_log
from treaty.log.maintenance.restore import RestoreError
from treaty.log.memory import MemoryLog

IDS = ids_key(".")


async def raise_ids(log: Log, highest: int) -> None:
    """What a node writes with a new schema."""
    await put(log, encode_row(Row("counter", IDS, Counter(highest))))


async def tables_of(log: Log) -> DictTables:
    tables = DictTables()
    delta = await log.read(START)
    tables.load(delta.rows, delta.tip)
    return tables


async def is_writable(log: Log) -> bool:
    tables = await tables_of(log)
    return not explain_sealed_log(tables) and not explain_unfinished_restore(tables)


async def highest_id(log: Log) -> int:
    rows = [decode_row(row) for row in (await log.read(START)).rows if row.table == "counter"]
    found = [row.value.highest for row in rows if row.key in (IDS, IDS_SPARED) and isinstance(row.value, Counter)]
    return max(found, default=0)


class Stopping(MemoryLog):
    """A log that takes so many appends, and then none."""

    def __init__(self, room: int, url: str = "memory:new") -> None:
        super().__init__()
        self.url, self.room = url, room

    async def append(self, append: Append) -> AppendResult:
        if not self.room:
            raise LogUnavailableError("there is no room")
        self.room -= 1
        return await super().append(append)


Act = Callable[[Log, Log], Awaitable[None]]


async def migrate(old: Log, new: Log) -> None:
    await migrate_log(old, new, time=9)


async def cancel(old: Log, new: Log) -> None:
    await cancel_migration(old, new, time=9)


async def cancel_alone(old: Log, new: Log) -> None:
    del new
    await cancel_migration(old, None, time=9)


async def cancel_with_gap(old: Log, new: Log) -> None:
    await cancel_migration(old, new, time=9, gap=5)


async def cancel_as_lost(old: Log, new: Log) -> None:
    del new
    await cancel_migration(old, None, time=9, gap=50)


async def write_new(old: Log, new: Log) -> None:
    del old
    await raise_ids(new, 27)


async def write_old(old: Log, new: Log) -> None:
    del new
    await raise_ids(old, 8)


async def migrate_on(old: Log, new: Log) -> None:
    del old
    await migrate_log(new, Stopping(9, "memory:third"), time=9)


async def cancel_wrong(old: Log, new: Log) -> None:
    del new
    other = MemoryLog()
    await raise_ids(other, 3)
    await cancel_migration(old, other, time=9)


@dataclass(frozen=True, slots=True)
class Story:
    """Acts in their order, what the last one is refused with, and which logs are written to after it."""

    acts: tuple[Act, ...]
    refusal: str
    old: bool
    new: bool
    highest: int = 7
    """Highest id that the old log gave, or passed over."""


STORIES = {
    "nothing to cancel": Story((cancel,), "", old=True, new=True),
    "the new log is closed": Story((migrate, cancel), "", old=True, new=False),
    "the new log is not named": Story((migrate, cancel_alone), "both logs would give the same", old=False, new=True),
    "another log is named": Story((migrate, cancel_wrong), "name the log of the migration", old=False, new=True),
    "the new log was written": Story((migrate, write_new, cancel), "was written since", old=False, new=True),
    "its commits are given up": Story((migrate, write_new, cancel_with_gap), "", old=True, new=False, highest=27),
    "it is lost": Story((migrate, write_new, cancel_as_lost), "", old=True, new=True, highest=57),
    "it went on": Story((migrate, migrate_on, cancel), "was migrated to", old=False, new=False),
    "it went on, with a gap": Story((migrate, migrate_on, cancel_with_gap), "was migrated to", old=False, new=False),
    "the old log is migrated again": Story(
        (migrate, cancel, write_old, migrate), "is not empty", old=True, new=False, highest=8
    ),
    "cancelled twice": Story((migrate, cancel, cancel), "", old=True, new=False),
}


async def play(story: Story, old: Log, new: Log) -> None:
    await raise_ids(old, 7)
    for act in story.acts[:-1]:
        await act(old, new)
    if story.refusal:
        with pytest.raises(RestoreError, match=story.refusal):
            await story.acts[-1](old, new)
    else:
        await story.acts[-1](old, new)
    assert (await is_writable(old), await is_writable(new)) == (story.old, story.new)
    assert await highest_id(old) == story.highest


@told
async def told_of(node: Node, story: Story, *, is_old: bool) -> None:
    async with AsyncExitStack() as logs:
        (log,) = await logs.enter_async_context(nodes(node, 1))
        other = MemoryLog()
        await play(story, log if is_old else other, other if is_old else log)


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("is_old", [True, False], ids=["from", "to"])
def test_of_two_logs_with_one_past_one_gives_ids(node: Node, name: str, is_old: bool) -> None:  # noqa: FBT001 - a parameter of the test
    told_of(node, STORIES[name], is_old=is_old)


@pytest.mark.parametrize("room", range(3))
def test_a_migration_that_was_cut_off_and_cancelled_never_becomes_whole(room: int) -> None:
    @told
    async def story() -> None:
        old, new = MemoryLog(), Stopping(room)
        await raise_ids(old, 7)
        with pytest.raises(LogUnavailableError):
            await migrate_log(old, new, time=9)
        named = room == 2  # the last append alone is missing: it may have been sent
        new.room = 9
        await cancel_migration(old, new if named else None, time=9)
        assert (await is_writable(old), await is_writable(new)) == (True, room == 0)
        await raise_ids(old, 8)
        if room:
            with pytest.raises(RestoreError):
                await migrate_log(old, new, time=9)
            assert not await is_writable(new)

    story()


class Cancelling(MemoryLog):
    """A log whose migration is cancelled while its rows are written."""

    def __init__(self, old: Log) -> None:
        super().__init__()
        self.old: Log | None = old

    async def append(self, append: Append) -> AppendResult:
        if self.old is not None:
            old, self.old = self.old, None
            await cancel_migration(old, None, time=9)
        return await super().append(append)


def test_a_migration_that_is_cancelled_meanwhile_does_not_end() -> None:
    @told
    async def story() -> None:
        old = MemoryLog()
        await raise_ids(old, 7)
        new = Cancelling(old)
        with pytest.raises(RestoreError, match="was cancelled meanwhile"):
            await migrate_log(old, new, time=9)
        assert (await is_writable(old), await is_writable(new)) == (True, False)

    story()


def test_a_second_log_at_the_same_url_does_not_become_whole() -> None:
    @told
    async def story() -> None:
        old, first, second = MemoryLog(), Stopping(9), Stopping(9)
        await raise_ids(old, 7)
        await migrate_log(old, first, time=9)
        with pytest.raises(RestoreError, match="another log now"):
            await migrate_log(old, second, time=9)
        assert (await second.tip(), await is_writable(first)) == (START, True)
        await cancel_migration(old, None, time=9, gap=50)
        await migrate_log(old, second, time=9)
        assert await highest_id(second) == 57

    story()


HOME, SHARED = Subject(".", "s"), Subject(".shared", "t")
KEYS = (
    IDS,
    ids_key(".shared"),
    ids_key(".team"),
    encodings_key(HOME),
    encodings_key(SHARED),
    encodings_key(Subject(".team", "s")),
)


async def counters_of(log: Log) -> dict[CounterKey, int]:
    tables = await tables_of(log)
    counters = {key: tables.get(COUNTER, key) for key in tables.keys(COUNTER)}
    return {key: counter.highest for key, counter in counters.items() if counter is not None}


@pytest.mark.parametrize("gap", [1, 5, 40])
@pytest.mark.parametrize("seed", range(8))
def test_what_a_given_up_log_gave_is_given_by_no_counter_again(seed: int, gap: int) -> None:
    """Under counters that both logs have, and under those of contexts and subjects that only the given-up log has."""
    chance = Random(seed)
    before = {key: chance.randint(1, 9) for key in KEYS if chance.random() < 0.5}
    after = {
        key: before.get(key, 0) + chance.choice((0, 3, 30)) for key in KEYS if key in before or chance.random() < 0.7
    }

    @told
    async def story() -> None:
        old, new = MemoryLog(), MemoryLog()
        await put(old, *(encode_row(Row("counter", key, Counter(highest))) for key, highest in before.items()))
        await migrate_log(old, new, time=9)
        await put(new, *(encode_row(Row("counter", key, Counter(highest))) for key, highest in after.items()))
        await cancel_migration(old, new, time=9, gap=gap)
        counters = await counters_of(old)
        spared = counters[IDS_SPARED]
        assert spared >= gap
        for key in KEYS:
            assert max(counters.get(key, 0), spared) >= max(after.get(key, 0), before.get(key, 0) + gap), key

    story()
