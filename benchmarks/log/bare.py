"""Bare loops: the least that makes the same bytes as durable, without parents, digests, looks or laws."""

import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit

import asyncpg

Rows = list[tuple[bytes, bytes]]
Write = Callable[[Rows], Awaitable[None]]
Bare = Callable[[str], AbstractAsyncContextManager[Write]]


@asynccontextmanager
async def _file(url: str) -> AsyncIterator[Write]:
    """Append to a file and have its data on disk: what a disk can do at all."""
    descriptor = os.open(urlsplit(url).path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def write(rows: Rows) -> None:
        os.write(descriptor, b"".join(name + value for name, value in rows))
        os.fdatasync(descriptor)

    yield write
    os.close(descriptor)


@asynccontextmanager
async def _sqlite(url: str) -> AsyncIterator[Write]:
    """One transaction on a file in WAL mode, into a table with nothing but a key."""
    parts = urlsplit(url)
    connection = sqlite3.connect(parts.path, isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute(f"pragma synchronous = {'normal' if parts.query else 'full'}")
    connection.execute("create table if not exists row (name blob primary key, value blob) without rowid")

    async def write(rows: Rows) -> None:
        connection.execute("begin immediate")
        connection.executemany("insert or replace into row values (?, ?)", rows)
        connection.execute("commit")

    yield write
    connection.close()


@asynccontextmanager
async def _postgres(url: str) -> AsyncIterator[Write]:
    """One statement, which is its own transaction: a single round trip."""
    connection = await asyncpg.connect(url.partition("?")[0])
    await connection.execute("create table if not exists row (name bytea primary key, value bytea)")

    async def write(rows: Rows) -> None:
        last = dict(rows)
        await connection.execute(
            "insert into row select * from unnest($1::bytea[], $2::bytea[]) as row (name, value) "
            "on conflict (name) do update set value = excluded.value",
            list(last),
            list(last.values()),
        )

    yield write
    await connection.close()


LOOPS: Mapping[str, Bare] = {"file": _file, "sqlite": _sqlite, "postgresql": _postgres}


def opened(url: str) -> AbstractAsyncContextManager[Write]:
    """The bare loop for the place that a URL names, while the block runs."""
    return LOOPS[url.partition(":")[0]](url)
