"""`postgresql://…`: a log in one schema of a database, for any number of nodes on any number of machines.

An append is a transaction under an advisory lock; NOTIFY wakes other nodes, which also poll. Of two connections one
appends, the other reads and listens, so that reads do not wait for appends. Durable means: the server has confirmed the
commit, with `synchronous_commit` at least `on` and `fsync` on.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qsl, quote, urlencode, urlunsplit

import asyncpg
from asyncpg import Connection

from treaty.core.limits import APPENDS_KEPT
from treaty.core.state.commit import NO_DIGEST, START, Append, Position
from treaty.core.state.rows import EncodedRow
from treaty.core.urls import split_server_url
from treaty.log.concurrency import LockOwner
from treaty.log.log import AppendResult, Leader, LogDelta, LogUnavailableError, StoreStats
from treaty.log.postgres.connection import (
    CONNECTION_ERRORS,
    LOOK_SECONDS,
    PostgresConnection,
    ReconnectBackoff,
    ask_again,
    is_cut,
    is_timeout,
    translate_errors,
)
from treaty.log.postgres.durability import LOCK_DURABLY, NOT_DURABLE, DurabilityCheck
from treaty.log.postgres.layout import (
    FORGET,
    LAYOUT,
    LIVE,
    LOCK_CLASS,
    ROOTS,
    SINCE,
    STATS,
    SWEEP,
    TABLES,
    TIP,
    WRITE,
    prepare_log,
)
from treaty.log.sql import TableRootWriter, decode_text, encode_text, read_position, read_table_roots
from treaty.log.state_roots import warn_of_wrong_table_roots

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

    lockable = True
    linearizable = True
    foreign_records = 0
    single_writer = False

    def __init__(self, url: str, *, appends_kept: int = APPENDS_KEPT, poll: float = POLL) -> None:
        """Take a URL with an optional ``schema=NAME`` (default ``treaty``) and ``durable=no``; use `open`."""
        parts = split_server_url(url)
        query = dict(parse_qsl(parts.query))
        self._schema = query.pop("schema", DEFAULT_SCHEMA)
        durable = query.pop("durable", "yes") != "no"
        dsn = urlunsplit(parts._replace(query=urlencode(query)))
        name = parts.hostname or "localhost"
        host = f"{f'[{name}]' if ':' in name else name}{f':{parts.port}' if parts.port else ''}"
        words = [] if self._schema == DEFAULT_SCHEMA else [f"schema={quote(self._schema)}"]
        words += [] if durable else [NOT_DURABLE]
        self.url = f"{parts.scheme}://{host}{parts.path}{'?' if words else ''}{'&'.join(words)}"
        self._durability = DurabilityCheck(self.url, durable=durable)
        self._appends_kept = appends_kept
        self._poll = poll
        self._key = int.from_bytes(hashlib.sha256(self._schema.encode()).digest()[:4], "big", signed=True)
        self._channel = f"treaty_{self._key & 0xFFFFFFFF:08x}"
        backoff = ReconnectBackoff()
        self._write_connection = PostgresConnection(dsn, self.url, self._prepare_writing, backoff)
        self._read_connection = PostgresConnection(dsn, self.url, self._prepare_reading, backoff)
        self._append_turn = asyncio.Lock()
        self._read_turn = asyncio.Lock()
        self._lock_owner = LockOwner()
        self._locked: Connection | None = None
        """The connection on which a transaction of `lock` is open."""
        self._own = 0
        self._root_writer = TableRootWriter()
        self._own_append: tuple[Position, LogDelta] | None = None
        self._changed = asyncio.Event()
        self._changed.set()  # nothing was looked at yet
        self._seen = START
        self._closed = False

    @classmethod
    async def open(cls, url: str, *, appends_kept: int = APPENDS_KEPT, poll: float = POLL) -> "PostgresLog":
        """Connect, and make the schema and its tables where they are missing. Raises as `Log.read` does, and
        `NotDurableError` for a server that does not write to its disk.
        """
        log = cls(url, appends_kept=appends_kept, poll=poll)
        try:
            await log._write_connection.get()
            await log._read_connection.get()
        except BaseException:
            await log.close()
            raise
        return log

    async def _prepare_writing(self, connection: Connection) -> None:
        await self._durability.check(connection)
        await prepare_log(connection, self._schema, self._key)
        self._own = connection.get_server_pid()

    async def _prepare_reading(self, connection: Connection) -> None:
        await self._durability.check(connection)
        await prepare_log(connection, self._schema, self._key)
        await connection.add_listener(self._channel, self._on_notice)
        self._changed.set()  # what came while no listener was there was not heard

    def _on_notice(self, connection: object, pid: int, channel: str, payload: object) -> None:
        if pid != self._own:  # who appended reads it back anyway
            self._changed.set()

    # ---------------------------------------------------------------------------------------------------- writing

    async def append(self, append: Append) -> AppendResult:
        """Append if its parent is still the last append."""
        if self._lock_owner.is_current_task:
            return await self._append_locked(append)
        async with self._append_turn:
            await self._lock()
            return await self._append_locked(append)

    async def _lock(self) -> None:
        """Begin a transaction, and keep all other writers out until it ends."""
        connection = await self._write_connection.get()
        try:
            with translate_errors(self.url, "waiting for other writers"):
                await connection.execute("begin isolation level read committed", timeout=LOOK_SECONDS)
                # A statement of its own: the next one must see what the holder before us has committed.
                await connection.execute(LOCK_DURABLY, LOCK_CLASS, self._key)
        except BaseException as error:
            await self._roll_back(connection, error)
            raise
        self._locked = connection

    async def _roll_back(self, connection: Connection, error: BaseException | None = None) -> None:
        """End a transaction without a trace; a connection that can't say so is given up, which does it too.

        `error` is what ended it, where something did.
        """
        self._locked = None
        if is_timeout(error):
            self._write_connection.drop()
            return
        try:
            if not connection.is_closed():
                await connection.execute("rollback", timeout=LOOK_SECONDS)
        except (*CONNECTION_ERRORS, asyncpg.PostgresError):
            self._write_connection.drop()
        except BaseException:
            self._write_connection.drop()
            raise

    async def _append_locked(self, append: Append) -> AppendResult:
        """Append in the open transaction (or a new one), and end it. Raises only where surely nothing was written."""
        if self._locked is None:  # an earlier append ended what was held
            await self._lock()
        connection = self._locked
        try:
            with translate_errors(self.url, "appending"):
                rows = await self._write(connection, append)
                if rows is None:
                    await self._roll_back(connection)
                    return AppendResult.CONFLICT
        except BaseException as error:
            await self._roll_back(connection, error)
            raise
        return await self._commit(connection, append, rows)

    async def _write(self, connection: Connection, append: Append) -> tuple[EncodedRow, ...] | None:
        """Write the rows if the parent is the last append; None where it is not, and nothing was written."""
        rows, roots = append.rows, self._root_writer.changes(append)
        written = await connection.fetchrow(
            WRITE,
            [encode_text(row.table) for row in rows],
            [encode_text(row.key) for row in rows],
            [encode_text(row.value) for row in rows],
            append.last,
            append.first,
            append.identity,
            append.attempt,
            append.digest,
            append.parent,
            NO_DIGEST,
            self._channel,
            append.root,
            [encode_text(table) for table, _ in roots.put],
            [root for _, root in roots.put],
            [encode_text(table) for table in roots.gone],
            roots.others_go,
        )
        if written is None:
            return None
        if append.last // PRUNED_EVERY != (append.first - 1) // PRUNED_EVERY:
            await connection.execute(FORGET, self._appends_kept, PRUNED_AT_ONCE)
            await connection.execute(SWEEP, PRUNED_AT_ONCE)
        return rows

    async def _commit(self, connection: Connection, append: Append, rows: tuple[EncodedRow, ...]) -> AppendResult:
        """Commit. Where no word of it comes back the result is open: the server may have done it, or may do it yet."""
        self._locked = None
        try:
            await connection.execute("commit")
        except (*CONNECTION_ERRORS, asyncpg.PostgresError):
            self._write_connection.drop()
            return AppendResult.UNKNOWN
        except BaseException:
            self._write_connection.drop()
            raise
        self._root_writer.note_append(append)
        if append.first > 1:
            base = Position(append.identity, append.first - 1, append.parent)
            self._own_append = (base, LogDelta(append.position, rows))
        return AppendResult.ACCEPTED

    @asynccontextmanager
    async def lock(self) -> AsyncIterator[None]:
        """Keep all other writers out, on all machines, until the block ends or an append in it does."""
        async with self._append_turn:
            await self._lock()
            try:
                with self._lock_owner.acquire():
                    yield
            finally:
                if self._locked is not None:
                    await self._roll_back(self._locked)

    # ---------------------------------------------------------------------------------------------------- reading

    async def leader(self) -> Leader | None:
        """All nodes are alike."""
        return None

    async def tip(self) -> Position:
        """Look at the tip."""
        self._changed.clear()  # a hint from here on is of something that this look may not see
        self._seen = await ask_again(self._fetch_tip)
        return self._seen

    async def _fetch_tip(self) -> Position:
        async with self._reading_connection("looking at the tip") as connection:
            row = await connection.fetchrow(TIP, timeout=LOOK_SECONDS)
        return read_position(row) if row else START

    @asynccontextmanager
    async def _reading_connection(self, doing: str) -> AsyncIterator[Connection]:
        """The reading connection, for one statement or transaction at a time."""
        async with self._read_turn:
            connection = await self._read_connection.get()
            try:
                with translate_errors(self.url, doing):
                    yield connection
            except asyncio.CancelledError:
                self._read_connection.drop()  # its state is unknown
                raise
            except LogUnavailableError as error:
                if is_timeout(error) or is_cut(error):
                    self._read_connection.drop()  # it may be dead without a word; a new one tells
                raise

    async def read(self, after: Position) -> LogDelta:
        """Return everything after a position, in one consistent cut. What an own append led to is here already."""
        own_append, self._own_append = self._own_append, None
        if own_append is not None and own_append[0] == after:
            delta = own_append[1]
            if delta.tip.sequence > self._seen.sequence:
                self._seen = delta.tip
            return delta
        if self._lock_owner.is_current_task and self._locked is not None:
            with translate_errors(self.url, "reading"):
                return await self._read_since(self._locked, after) or await self._read_whole(self._locked)
        self._changed.clear()

        async def fetch() -> LogDelta:
            async with self._reading_connection("reading") as connection:
                return await self._read_since(connection, after) or await self._read_all(connection)

        delta = await ask_again(fetch)
        self._seen = delta.tip
        return delta

    async def _read_since(self, connection: Connection, after: Position) -> LogDelta | None:
        """What came after a position in one statement; None where the position is not remembered."""
        if after == START:
            return None
        rows = await connection.fetch(SINCE, after.sequence, after.identity, after.digest, after.root)
        first = rows[0]
        if not first["known"]:
            return None
        tip = read_position((first["identity"], first["last"], first["digest"], first["root"]))
        return LogDelta(tip, tuple(_row_from(row) for row in rows if row["state_table"] is not None))

    async def _read_all(self, connection: Connection) -> LogDelta:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return await self._read_whole(connection)

    async def _read_whole(self, connection: Connection) -> LogDelta:
        """The whole live state; the caller's transaction sees one cut."""
        row = await connection.fetchrow(TIP)
        rows: list[EncodedRow] = []
        cursor = await connection.cursor(LIVE)
        while batch := await cursor.fetch(BATCH):
            rows += map(_row_from, batch)
        tip = read_position(row) if row else START
        warn_of_wrong_table_roots(self.url, tip, await _table_roots(connection), rows)
        return LogDelta(tip, tuple(rows), reload=True)

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
                await self._refresh_tip()

    async def _refresh_tip(self) -> None:
        """Look without forgetting a hint that comes meanwhile."""
        self._seen = await self._fetch_tip()

    async def table_roots(self) -> tuple[Position, Mapping[str, int]]:
        """Return the tip, and what each table adds to the state root there."""
        async with (
            self._reading_connection("reading") as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            row = await connection.fetchrow(TIP)
            return read_position(row) if row else START, await _table_roots(connection)

    async def read_stats(self) -> StoreStats:
        """Look at the schema."""
        async with self._reading_connection("looking at the store") as connection:
            row = await connection.fetchrow(STATS, TABLES)
        return StoreStats("postgresql", LAYOUT, *row)

    async def compact(self) -> None:
        """Forget what is due and have the server reuse its space; others continue meanwhile."""
        async with self._append_turn:
            connection = await self._write_connection.get()
            with translate_errors(self.url, "compacting"):
                while await connection.execute(FORGET, self._appends_kept, PRUNED_AT_ONCE) != "DELETE 0":
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
        async with self._append_turn:
            self._closed = True
            self._changed.set()
            async with self._read_turn:
                await self._read_connection.close()
            await self._write_connection.close()


def _row_from(row: asyncpg.Record) -> EncodedRow:
    value = row["value"]
    return EncodedRow(
        decode_text(row["state_table"]), decode_text(row["key"]), None if value is None else decode_text(value)
    )


async def _table_roots(connection: Connection) -> Mapping[str, int]:
    return read_table_roots((decode_text(table), root) for table, root in await connection.fetch(ROOTS))
