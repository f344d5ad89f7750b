"""`postgresql://…`: a log in one schema of a database, for any number of nodes on any number of machines.

An append is one transaction under an advisory lock; NOTIFY tells other nodes to look, and they look without it too. Two
connections: one appends, one looks, reads and listens, so that a look does not wait for another append. Durable means: the
server said that the transaction is committed, with `synchronous_commit` at least `on` for it and with `fsync` on.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import asyncpg
from asyncpg import Connection

from treaty.core.commit import NO_DIGEST, START, Append, Position
from treaty.core.limits import APPENDS_KEPT
from treaty.core.rows import Encoded
from treaty.log.concurrency import Holding
from treaty.log.log import Delta, Facts, Fate, Leader, LogUnavailableError
from treaty.log.postgres.connection import LOOK_SECONDS, LOST, Link, Pauses, silent, told
from treaty.log.postgres.durability import LOCK_DURABLY, NOT_DURABLE, Promises
from treaty.log.postgres.layout import (
    FACTS,
    FORGET,
    LAYOUT,
    LIVE,
    LOCK_CLASS,
    ROOTS,
    SINCE,
    SWEEP,
    TABLES,
    TIP,
    WRITE,
    prepare,
)
from treaty.log.sql import WrittenRoots, stored_place, stored_roots, to_bytes, to_text
from treaty.log.state_roots import warn_where_unequal

POLL = 1.0
"""Seconds between two looks for changes by others, where no hint came."""
PRUNED_EVERY = 64
"""Sequences between two prunings."""
PRUNED_AT_ONCE = 512
"""Appends, and tombstones, that one pruning forgets at most, so that no append is slow."""
BATCH = 10_000
"""Rows fetched at once where everything is read."""
DEFAULT_SCHEMA = "treaty"
COMPACT_SECONDS = 3600.0
"""How long the server may take to sort its space."""


class PostgresLog:
    """A `Log` in a schema of a PostgreSQL database."""

    exclusive = True
    linearizable = True
    strangers = 0
    owned = False

    def __init__(self, url: str, *, kept: int = APPENDS_KEPT, poll: float = POLL) -> None:
        """Take a URL with an optional ``schema=NAME`` (default ``treaty``) and ``durable=no``; use `open`."""
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        self._schema = query.pop("schema", DEFAULT_SCHEMA)
        durable = query.pop("durable", "yes") != "no"
        dsn = urlunsplit(parts._replace(query=urlencode(query)))
        place = f"{parts.hostname or 'localhost'}{f':{parts.port}' if parts.port else ''}"
        words = [] if self._schema == DEFAULT_SCHEMA else [f"schema={quote(self._schema)}"]
        words += [] if durable else [NOT_DURABLE]
        self.url = f"{parts.scheme}://{place}{parts.path}{'?' if words else ''}{'&'.join(words)}"
        self._promises = Promises(self.url, durable=durable)
        self._kept = kept
        self._poll = poll
        self._key = int.from_bytes(hashlib.sha256(self._schema.encode()).digest()[:4], "big", signed=True)
        self._channel = f"treaty_{self._key & 0xFFFFFFFF:08x}"
        pauses = Pauses()
        self._writing = Link(dsn, self.url, self._prepared, pauses)
        self._reading = Link(dsn, self.url, self._listening, pauses)
        self._turn = asyncio.Lock()
        self._look = asyncio.Lock()
        self._holding = Holding()
        self._held: Connection | None = None
        """The connection on which a transaction of `hold` is open."""
        self._own = 0
        self._roots = WrittenRoots()
        self._ready: tuple[Position, Delta] | None = None
        self._changed = asyncio.Event()
        self._changed.set()  # nothing was looked at yet
        self._seen = START
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, kept: int = APPENDS_KEPT, poll: float = POLL) -> "PostgresLog":
        """Connect, and make the schema and its tables where they are missing. Raises as `Log.read` does, and
        `NotDurableError` for a server that does not write to its disk.
        """
        log = cls(url, kept=kept, poll=poll)
        try:
            await log._writing.get()
            await log._reading.get()
        except BaseException:
            await log.close()
            raise
        return log

    async def _prepared(self, connection: Connection) -> None:
        await self._promises.check(connection)
        await prepare(connection, self._schema, self._key, self.url)
        self._own = connection.get_server_pid()

    async def _listening(self, connection: Connection) -> None:
        await self._promises.check(connection)
        await prepare(connection, self._schema, self._key, self.url)
        await connection.add_listener(self._channel, self._heard)
        self._changed.set()  # what came while nobody listened was not heard

    def _heard(self, connection: object, pid: int, channel: str, payload: object) -> None:
        if pid != self._own:  # who appended reads it back without being told
            self._changed.set()

    # ---------------------------------------------------------------------------------------------------- writing

    async def append(self, append: Append) -> Fate:
        """Append if its parent is still the last append."""
        if self._holding.mine:
            return await self._within(append)
        async with self._turn:
            await self._lock()
            return await self._within(append)

    async def _lock(self) -> None:
        """Begin a transaction, and keep all other writers out until it ends."""
        connection = await self._writing.get()
        try:
            with told(self.url, "waiting for other writers"):
                await connection.execute("begin isolation level read committed", timeout=LOOK_SECONDS)
                # A statement of its own: the next one must see what the holder before us has committed.
                await connection.execute(LOCK_DURABLY, LOCK_CLASS, self._key)
        except BaseException as error:
            await self._undo(connection, error)
            raise
        self._held = connection

    async def _undo(self, connection: Connection, error: BaseException | None = None) -> None:
        """End a transaction without a trace; a connection that can't say so is given up, which does it too.

        `error` is what ended it, where something did.
        """
        self._held = None
        if silent(error):
            self._writing.drop()
            return
        try:
            if not connection.is_closed():
                await connection.execute("rollback", timeout=LOOK_SECONDS)
        except (*LOST, asyncpg.PostgresError):
            self._writing.drop()
        except BaseException:
            self._writing.drop()
            raise

    async def _within(self, append: Append) -> Fate:
        """Append in the open transaction (or a new one), and end it. Raises only where surely nothing was written."""
        if self._held is None:  # an earlier append ended what was held
            await self._lock()
        connection = self._held
        try:
            with told(self.url, "appending"):
                rows = await self._write(connection, append)
                if rows is None:
                    await self._undo(connection)
                    return Fate.CONFLICT
        except BaseException as error:
            await self._undo(connection, error)
            raise
        return await self._commit(connection, append, rows)

    async def _write(self, connection: Connection, append: Append) -> tuple[Encoded, ...] | None:
        """Write the rows if the parent is the last append; None where it is not, and nothing was written."""
        rows, roots = append.rows, self._roots.changes(append)
        written = await connection.fetchrow(
            WRITE,
            [to_bytes(row.table) for row in rows],
            [to_bytes(row.key) for row in rows],
            [to_bytes(row.value) for row in rows],
            append.last,
            append.first,
            append.identity,
            append.attempt,
            append.digest,
            append.parent,
            NO_DIGEST,
            self._channel,
            append.root,
            [to_bytes(table) for table, _ in roots.put],
            [root for _, root in roots.put],
            [to_bytes(table) for table in roots.gone],
            roots.others_go,
        )
        if written is None:
            return None
        if append.last // PRUNED_EVERY != (append.first - 1) // PRUNED_EVERY:
            await connection.execute(FORGET, self._kept, PRUNED_AT_ONCE)
            await connection.execute(SWEEP, PRUNED_AT_ONCE)
        return rows

    async def _commit(self, connection: Connection, append: Append, rows: tuple[Encoded, ...]) -> Fate:
        """Commit. Where no word of it comes back the fate is open: the server may have done it, or may do it yet."""
        self._held = None
        try:
            await connection.execute("commit")
        except (*LOST, asyncpg.PostgresError):
            self._writing.drop()
            return Fate.UNKNOWN
        except BaseException:
            self._writing.drop()
            raise
        self._roots.wrote(append)
        if append.first > 1:
            base = Position(append.identity, append.first - 1, append.parent)
            self._ready = (base, Delta(append.position, rows))
        return Fate.ACCEPTED

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Keep all other writers out, on all machines, until the block ends or an append in it does."""
        async with self._turn:
            await self._lock()
            try:
                with self._holding.taken():
                    yield
            finally:
                if self._held is not None:
                    await self._undo(self._held)

    # ---------------------------------------------------------------------------------------------------- reading

    async def leader(self) -> Leader | None:
        """All nodes are alike."""
        return None

    async def tip(self) -> Position:
        """Look at the tip."""
        self._changed.clear()  # a hint from here on is of something that this look may not see
        async with self._looking("looking at the tip") as connection:
            row = await connection.fetchrow(TIP, timeout=LOOK_SECONDS)
        self._seen = stored_place(row) if row else START
        return self._seen

    @asynccontextmanager
    async def _looking(self, doing: str) -> AsyncIterator[Connection]:
        """The reading connection, for one statement or transaction at a time."""
        async with self._look:
            connection = await self._reading.get()
            try:
                with told(self.url, doing):
                    yield connection
            except asyncio.CancelledError:
                self._reading.drop()  # nobody knows what it is doing
                raise
            except LogUnavailableError as error:
                if silent(error):
                    self._reading.drop()  # it may be dead without a word; a new one tells
                raise

    async def read(self, after: Position) -> Delta:
        """Return everything after a place, in one consistent cut. What an own append led to is here already."""
        ready, self._ready = self._ready, None
        if ready is not None and ready[0] == after:
            delta = ready[1]
            if delta.tip.sequence > self._seen.sequence:
                self._seen = delta.tip
            return delta
        if self._holding.mine and self._held is not None:
            with told(self.url, "reading"):
                return await self._since(self._held, after) or await self._whole(self._held)
        self._changed.clear()
        async with self._looking("reading") as connection:
            delta = await self._since(connection, after) or await self._all(connection)
        self._seen = delta.tip
        return delta

    async def _since(self, connection: Connection, after: Position) -> Delta | None:
        """What came after a place in one statement; None where the place is not remembered."""
        if after == START:
            return None
        rows = await connection.fetch(SINCE, after.sequence, after.identity, after.digest, after.root)
        first = rows[0]
        if not first["known"]:
            return None
        tip = stored_place((first["identity"], first["last"], first["digest"], first["root"]))
        return Delta(tip, tuple(_encoded(row) for row in rows if row["state_table"] is not None))

    async def _all(self, connection: Connection) -> Delta:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return await self._whole(connection)

    async def _whole(self, connection: Connection) -> Delta:
        """The whole live state; the caller's transaction sees one cut."""
        row = await connection.fetchrow(TIP)
        rows: list[Encoded] = []
        cursor = await connection.cursor(LIVE)
        while batch := await cursor.fetch(BATCH):
            rows += map(_encoded, batch)
        tip = stored_place(row) if row else START
        warn_where_unequal(self.url, tip, await _table_roots(connection), rows)
        return Delta(tip, tuple(rows), reload=True)

    async def wait(self, after: Position, timeout: float) -> None:
        """Return when something may have come since the last look: a hint, a change seen by looking, or the time-out."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while self._seen == after and not self._changed.is_set() and not self._closed:
            left = end - loop.time()
            if left <= 0:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, self._poll)):
                    await self._changed.wait()
                return
            if loop.time() < end:
                await self._glance()

    async def _glance(self) -> None:
        """Look without forgetting a hint that comes meanwhile."""
        async with self._looking("looking for changes") as connection:
            row = await connection.fetchrow(TIP, timeout=LOOK_SECONDS)
        self._seen = stored_place(row) if row else START

    async def table_roots(self) -> tuple[Position, Mapping[str, int]]:
        """Return the tip, and what each table adds to the state root there."""
        async with (
            self._looking("reading") as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            row = await connection.fetchrow(TIP)
            return stored_place(row) if row else START, await _table_roots(connection)

    async def facts(self) -> Facts:
        """Look at the schema."""
        async with self._looking("looking at the store") as connection:
            row = await connection.fetchrow(FACTS, TABLES)
        return Facts("postgresql", LAYOUT, *row)

    async def compact(self) -> None:
        """Forget what is due and have the server reuse its space; others go on meanwhile."""
        async with self._turn:
            connection = await self._writing.get()
            with told(self.url, "compacting"):
                while await connection.execute(FORGET, self._kept, PRUNED_AT_ONCE) != "DELETE 0":
                    continue
                while await connection.execute(SWEEP, PRUNED_AT_ONCE) != "DELETE 0":
                    continue
                await connection.execute("set statement_timeout = 0")
                try:
                    for table in TABLES:
                        await connection.execute(f"vacuum (analyze) {table}", timeout=COMPACT_SECONDS)
                finally:
                    await connection.execute("reset statement_timeout")

    async def close(self) -> None:
        """Finish what is in flight, then close both connections."""
        async with self._turn:
            self._closed = True
            self._changed.set()
            async with self._look:
                await self._reading.close()
            await self._writing.close()


def _encoded(row: asyncpg.Record) -> Encoded:
    value = row["value"]
    return Encoded(to_text(row["state_table"]), to_text(row["key"]), None if value is None else to_text(value))


async def _table_roots(connection: Connection) -> Mapping[str, int]:
    return stored_roots((to_text(table), root) for table, root in await connection.fetch(ROOTS))
