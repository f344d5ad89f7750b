"""Every backend of the log, for the suites that must hold for all of them, and what those suites write."""

import asyncio
import functools
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec

from tests.servers import postgres
from tests.simulation.clock import Jobs
from tests.simulation.disk import Disk
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from tests.simulation.kafka.owner.store import OwnerStore
from tests.simulation.model import LogModel, Weather
from tests.simulation.runs.store import Door, Ground
from treaty.core.limits import SNAPSHOT_RECORDS
from treaty.core.state.commit import START, Append, Commit, Position, make_append, roots_after, roots_of
from treaty.core.state.rows import EncodedRow, decode_key
from treaty.core.state.table import Key
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy
from treaty.log.log import AppendResult, Log
from treaty.log.memory import MemoryLog
from treaty.log.postgres.log import PostgresLog
from treaty.log.sqlite.log import SqliteLog

P = ParamSpec("P")

Node = Callable[[], Awaitable[Log]]
"""Opens one log: the first call makes it, every further one opens the same log as another node."""
Backend = Callable[[Path], Node]
"""Chooses a place for a log that nobody has used, given a folder that is empty."""

KEPT = 40
"""Appends that the logs of this suite remember, so that their horizon is soon reached."""


def _memory(folder: Path) -> Node:
    async def node() -> Log:
        return MemoryLog(str(folder), appends_kept=KEPT)

    return node


def _sqlite(folder: Path) -> Node:
    async def node() -> Log:
        return await SqliteLog.open(str(folder / "log.db"), appends_kept=KEPT)

    return node


def _quick(folder: Path) -> Node:
    async def node() -> Log:
        return await SqliteLog.open(str(folder / "log.db"), appends_kept=KEPT, durable=False)

    return node


def _postgres(folder: Path) -> Node:
    del folder

    async def node() -> Log:
        return await PostgresLog.open(url, appends_kept=KEPT, poll=0.05)

    url = f"{postgres.shared().url}?schema=log%20{next(_SCHEMAS)}"
    return node


def _model(*, rows: bool) -> Backend:
    """The models that the simulation runs on are held to the same behaviour."""

    def place(_: Path) -> Node:
        disk = Disk(KEPT)

        async def node() -> Log:
            return LogModel(disk, Weather(latency=0.0001), random.Random(1), rows=rows)

        return node

    return place


def _owner(_: Path) -> Node:
    """The model of a compacted topic with one owner. Only the owner may append, so who appends is made the owner first."""
    jobs, calm = Jobs(), Weather(latency=0.0001)
    store = OwnerStore(Ground(calm, random.Random(1), jobs, KEPT))
    store.quiet(KEPT * 5)
    lives = itertools.count(1)

    async def node() -> Log:
        life = next(lives)
        elect = functools.partial(store.elect, "node", life)
        return store.open(Door("node", life, random.Random(life), step=lambda _: None, sends=lambda _: elect()))

    return node


def _any(*, records: int) -> Backend:
    """Kafka's `writers=any` on the model of a partition, folded after so many records."""

    def place(_: Path) -> Node:
        partition = Partition()
        bounds = SnapshotPolicy(appends_kept=KEPT, records=records, margin=KEPT)

        async def node() -> Log:
            link = LinkModel(partition, Storm(twice=0.1, slow=0.2), random.Random(1), fetched=500)
            return MultiWriterLog(link, policy=bounds, attempt=attempt)

        return node

    return place


BACKENDS: Mapping[str, Backend] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "sqlite without waiting for the disk": _quick,
    "postgres": _postgres,
    "model by append": _model(rows=False),
    "model by row": _model(rows=True),
    "kafka model, any": _any(records=SNAPSHOT_RECORDS),
    "kafka model, any, folding": _any(records=60),
    "kafka model, owner": _owner,
}

UNHELD = frozenset(one for one in BACKENDS if one.startswith("kafka"))
"""Logs that nobody can keep others out of."""

_ATTEMPTS = itertools.count(1)
_SCHEMAS = itertools.count(1)


def attempt() -> bytes:
    """A new attempt id: unique, and the same in every run of one test."""
    return next(_ATTEMPTS).to_bytes(16, "big")


def row(key: str, value: str | None, table: str = "subject") -> EncodedRow:
    """A row whose text no backend has to understand."""
    return EncodedRow(table, f'["{key}"]', value)


def chain(base: Position, *commits: Iterable[EncodedRow]) -> Append:
    """An append of one or more commits on a base."""
    made = tuple(Commit(base.sequence + place, tuple(rows)) for place, rows in enumerate(commits, 1))
    return rooted(base, attempt(), made)


@dataclass(frozen=True)
class _Made:
    """What a state of this suite adds to its root, as a change of the one before."""

    before: "_Made | None"
    roots: Mapping[str, int]
    shares: Mapping[tuple[str, Key], int]

    def share(self, table: str, key: Key) -> int:
        one: _Made | None = self
        while one is not None:
            if (table, key) in one.shares:
                return one.shares[table, key]
            one = one.before
        return 0


_MADE = {START.root: _Made(None, {}, {})}
"""By its root every state that came of an append of this suite: appends are made from a place alone."""


def rooted(base: Position, attempt: bytes, commits: tuple[Commit, ...]) -> Append:
    """An append that states its root; the state at its base is one that this suite has made."""
    before, rows = _MADE[base.root], [row for one in commits for row in one.rows]
    append = make_append(base, attempt, commits, roots_after(before, rows))
    if append.root not in _MADE:
        shares = {(row.table, decode_key(row.key)): row.digest for row in rows}
        _MADE[append.root] = _Made(before, append.roots, shares)
    return append


async def put(log: Log, *rows: EncodedRow) -> Position:
    """Append one commit at the tip, however often others come first; return its place."""
    while True:
        tip = await log.tip()
        if tip.root not in _MADE:
            delta = await log.read(START)
            shares = {(one.table, decode_key(one.key)): one.digest for one in delta.rows}
            _MADE[delta.tip.root] = _Made(None, roots_of(delta.rows), shares)
            tip = delta.tip
        append = chain(tip, rows)
        if await log.append(append) is AppendResult.ACCEPTED:
            return append.position


async def accepted(log: Log, append: Append) -> Position:
    """Append what has to be accepted; return its place."""
    assert await log.append(append) is AppendResult.ACCEPTED
    return append.position


State = dict[tuple[str, str], str]


def played(rows: Iterable[EncodedRow], onto: State | None = None) -> State:
    """Put rows onto a state, as a follower does; what a log writes about itself is not looked at."""
    state = dict(onto or {})
    for one in rows:
        if one.table == "snapshot":
            continue
        if one.value is None:
            state.pop((one.table, one.key), None)
        else:
            state[one.table, one.key] = one.value
    return state


async def whole(log: Log) -> State:
    """The live state, as who starts now reads it."""
    delta = await log.read(START)
    assert all(one.value is not None for one in delta.rows)
    return played(delta.rows)


@asynccontextmanager
async def nodes(node: Node, count: int) -> AsyncIterator[list[Log]]:
    """Open a log several times, and close it as often."""
    async with AsyncExitStack() as stack:
        logs = []
        for _ in range(count):
            logs.append(await node())
            stack.push_async_callback(logs[-1].close)
        yield logs


def told(story: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """Run an async test on an event loop of its own; what goes wrong in the background fails it too."""

    @functools.wraps(story)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        unheard: list[object] = []

        async def once() -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
            await story(*arguments, **named)

        asyncio.run(once())
        assert unheard == []

    return run
