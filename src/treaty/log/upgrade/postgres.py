"""PostgreSQL schemas of format 1: layout 1, tables ``entry`` and ``append`` of bytes."""

import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
from asyncpg import Connection

from treaty.log.log import LogUnavailableError
from treaty.log.upgrade.old_format import (
    EMPTY,
    OldLogError,
    OldPosition,
    OldRow,
    OldState,
    make_concurrent_write_error,
    make_old_append,
)

COMMENT = "treaty log, layout 1"
LOCK_CLASS = 0x54525459
CONNECT_SECONDS = 10.0
BATCH = 10_000
_TIP = "select identity, last, digest from append order by last desc limit 1"
_LIVE = "select kind, key, value from entry where value is not null"
_PUT = (
    "insert into entry (kind, key, value, sequence) values ($1, $2, $3, $4) "
    "on conflict (kind, key) do update set value = excluded.value, sequence = excluded.sequence"
)
_NOTE = "insert into append (last, first, identity, attempt, digest) values ($1, $1, $2, $3, $4)"


class OldPostgres:
    """An `OldLog` in one schema of a database."""

    living = True

    def __init__(self, url: str) -> None:
        """Take a URL with an optional ``schema=NAME``."""
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query))
        self._schema = query.pop("schema", "treaty")
        query.pop("durable", None)
        self._dsn = urlunsplit(parts._replace(query=urlencode(query)))
        where = f"{parts.hostname or 'localhost'}{f':{parts.port}' if parts.port else ''}"
        self.url = (
            f"{parts.scheme}://{where}{parts.path}{'' if self._schema == 'treaty' else f'?schema={self._schema}'}"
        )
        key = int.from_bytes(hashlib.sha256(self._schema.encode()).digest()[:4], "big", signed=True)
        self._key, self._channel = key, f"treaty_{key & 0xFFFFFFFF:08x}"

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Connection]:
        try:
            connection = await asyncpg.connect(self._dsn, timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise LogUnavailableError(f"{self.url}: {error}") from error
        try:
            comment = await connection.fetchval(
                "select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = $1", self._schema
            )
            if comment != COMMENT:
                raise OldLogError(
                    f"schema {self._schema} says {comment!r}, which is not of format 1: there is nothing to upgrade"
                )
            await connection.execute("select set_config('search_path', quote_ident($1), false)", self._schema)
            yield connection
        except asyncpg.PostgresError as error:
            raise OldLogError(f"{self.url}: {error}") from error
        finally:
            await connection.close()

    async def read(self) -> OldState:
        """The state at the end, as one transaction sees it."""
        async with self._connected() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
            position = await _read_tip(connection)
            rows = []
            async for kind, key, value in connection.cursor(_LIVE, prefetch=BATCH):
                rows.append(OldRow(_decode_text(kind), _decode_text(key), _decode_text(value)))
            return OldState(self.url, position, tuple(rows))

    async def write(self, base: OldPosition, row: OldRow, time: int) -> None:
        """Append one row while the log's lock is held."""
        append = make_old_append(base, os.urandom(16), [row], time)
        assert row.value is not None or row.table
        async with self._connected() as connection, connection.transaction():
            await connection.execute("select pg_advisory_xact_lock($1, $2)", LOCK_CLASS, self._key)
            await connection.execute("set local synchronous_commit = on")
            if await _read_tip(connection) != base:
                raise make_concurrent_write_error(self.url)
            texts = [None if text is None else text.encode("utf-8", "surrogatepass") for text in row]
            await connection.execute(_PUT, *texts, append.position.sequence)
            position = append.position
            await connection.execute(_NOTE, position.sequence, position.identity, append.attempt, position.digest)
            await connection.execute("select pg_notify($1, '')", self._channel)

    async def close(self) -> None:
        """Nothing is open between two calls."""


async def _read_tip(connection: Connection) -> OldPosition:
    found = await connection.fetchrow(_TIP)
    return OldPosition(*found) if found else EMPTY


def _decode_text(data: bytes) -> str:
    return str(data, "utf-8", "surrogatepass")
