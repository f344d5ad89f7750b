"""A connection to a PostgreSQL server, reopened when it is lost; the server's errors become errors of the log."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import asyncpg
from asyncpg import Connection

from treaty.log.log import LogDamagedError, LogUnavailableError

T = TypeVar("T")

CONNECTION_ERRORS = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
)
"""The connection is gone, does not answer in time, or was cut off while a statement was on its way."""
CUT_ERRORS = (
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
)
"""The connection was there and ended: by the server, by an administrator, or between the two."""

_DAMAGE = {"XX001": "data of a table is damaged", "XX002": "an index is damaged"}
_REMEDIES = {
    "28": "check user and password of the log's URL",
    "3D": "make that database, or name another one in the log's URL",
    "42501": "give this user the right to use, or to make, the schema of the log",
    "53": "the server is short of disk, memory or connections",
    "55P03": "another node holds the log's lock for long",
    "57014": "it took longer than the statement time-out: see what else the server does",
    "57P": "the server is shutting down or starting; it is tried again",
    "25006": "this server only reads: connect to the primary one",
}


@contextmanager
def translate_errors(where: str, doing: str) -> Iterator[None]:
    """Raise `LogDamagedError` or `LogUnavailableError` for what goes wrong in the block."""
    try:
        yield
    except CONNECTION_ERRORS as error:
        what = str(error) or type(error).__name__
        message = f"{where} does not answer ({what}, while {doing}): check that it runs and can be reached"
        raise LogUnavailableError(message) from error
    except asyncpg.PostgresError as error:
        state = error.sqlstate or ""
        if state in _DAMAGE or state in {"42P01", "3F000"}:
            what = _DAMAGE.get(state, "a table of it is missing")
            message = f"{where}: {what} ({error}, while {doing}): stop all nodes and restore a backup"
            raise LogDamagedError(message) from error
        remedy = next((text for code, text in _REMEDIES.items() if state.startswith(code)), "see the message")
        raise LogUnavailableError(f"{where} can't be used ({error}, while {doing}): {remedy}") from error


def is_cut(error: BaseException | None) -> bool:
    """Return whether `error` says that a connection ended under a statement."""
    return error is not None and isinstance(error.__cause__, CUT_ERRORS)


async def ask_again(read: Callable[[], Awaitable[T]]) -> T:
    """What `read` returns; it is called once more if its connection was cut, as what only reads can be asked again."""
    try:
        return await read()
    except LogUnavailableError as error:
        if not is_cut(error):
            raise
    return await read()


def is_timeout(error: BaseException | None) -> bool:
    """Return whether `error` says that no answer came in time: the connection may be dead without a word."""
    return error is not None and isinstance(error.__cause__, TimeoutError)


CONNECT_SECONDS = 5.0
"""How long making a connection may take."""
STATEMENT_SECONDS = 30.0
"""How long a statement may take on the server; loading everything is read in pieces."""
LOOK_SECONDS = 10.0
"""How long a look may take, or the first word of a transaction; a connection that is silent for longer is given up."""
LOCK_SECONDS = 10.0
"""How long a writer waits for others."""
PAUSE_FIRST, PAUSE_MOST = 0.1, 5.0
"""Seconds between two tries to connect: doubled with every failure."""

SETTINGS = {
    "application_name": "treaty",
    "statement_timeout": f"{STATEMENT_SECONDS * 1000:.0f}",
    "lock_timeout": f"{LOCK_SECONDS * 1000:.0f}",
    "idle_in_transaction_session_timeout": f"{LOCK_SECONDS * 2000:.0f}",
    "timezone": "UTC",
}


@dataclass(slots=True)
class ReconnectBackoff:
    """When a server that was away is tried again. Links to one server share it: what one finds is true for all."""

    pause: float = 0.0
    next_try: float = 0.0
    last: str = ""
    """What the last try met."""

    def note_failure(self, now: float, why: str) -> None:
        """Wait longer than before."""
        self.pause = min(max(PAUSE_FIRST, self.pause * 2), PAUSE_MOST)
        self.next_try, self.last = now + self.pause, why

    def note_success(self) -> None:
        """Wait no more."""
        self.pause, self.next_try = 0.0, 0.0


class PostgresConnection:
    """A connection on demand. While the server is away, asking fails at once between two tries to connect."""

    def __init__(
        self, dsn: str, where: str, prepare: Callable[[Connection], Awaitable[None]], backoff: ReconnectBackoff
    ) -> None:
        """`where` names the server in messages, `prepare` prepares each new connection."""
        self._backoff = backoff
        self._dsn = dsn
        self._where = where
        self._prepare = prepare
        self._connection: Connection | None = None
        self._append_turn = asyncio.Lock()
        self._closed = False

    async def get(self) -> Connection:
        """The connection, made again where it was lost. Raises `LogUnavailableError` or `LogDamagedError`."""
        if self._connection is not None and not self._connection.is_closed():
            return self._connection
        async with self._append_turn:
            if self._connection is None or self._connection.is_closed():
                self._connection = await self._connect()
            return self._connection

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        if self._closed:
            raise LogUnavailableError(f"{self._where}: this log is closed")
        if loop.time() < self._backoff.next_try:
            raise LogUnavailableError(self._backoff.last)
        try:
            with translate_errors(self._where, "connecting"):
                connection = await asyncpg.connect(
                    self._dsn, timeout=CONNECT_SECONDS, command_timeout=STATEMENT_SECONDS + 5, server_settings=SETTINGS
                )
                try:
                    await self._prepare(connection)
                except BaseException:
                    connection.terminate()
                    raise
        except LogUnavailableError as error:
            self._backoff.note_failure(loop.time(), str(error))
            raise
        self._backoff.note_success()
        return connection

    def drop(self) -> None:
        """Give up a connection of which its state is unknown."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        self._closed = True
        if connection is not None and not connection.is_closed():
            with suppress(*CONNECTION_ERRORS, asyncpg.PostgresError):
                await connection.close(timeout=CONNECT_SECONDS)
