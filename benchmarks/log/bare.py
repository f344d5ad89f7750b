"""Bare loops: the least that makes the same bytes as durable, without parents, digests, looks or laws."""

import asyncio
import os
import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import urlsplit

import asyncpg
from confluent_kafka import Producer

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


@asynccontextmanager
async def _produced(url: str) -> AsyncIterator[Write]:
    """One record, acknowledged by all replicas in sync, before the next one."""
    producer, topic = _producer(url, {})
    loop = asyncio.get_running_loop()

    async def write(rows: Rows) -> None:
        delivery: asyncio.Future[object] = loop.create_future()

        def heard(error: object, _: object) -> None:
            loop.call_soon_threadsafe(delivery.set_result, error)

        producer.produce(topic, b"".join(name + value for name, value in rows), on_delivery=heard)
        await loop.run_in_executor(None, producer.flush)
        assert await delivery is None

    yield write


@asynccontextmanager
async def _transacted(url: str) -> AsyncIterator[Write]:
    """One transaction of one record."""
    producer, topic = _producer(url, {"transactional.id": uuid.uuid4().hex})
    producer.init_transactions(60)

    def work(value: bytes) -> None:
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.commit_transaction(60)

    async def write(rows: Rows) -> None:
        await asyncio.get_running_loop().run_in_executor(None, work, b"".join(name + value for name, value in rows))

    yield write


def _producer(url: str, more: dict[str, str]) -> tuple[Producer, str]:
    parts = urlsplit(url)
    settings = {"bootstrap.servers": parts.netloc, "acks": "all", "linger.ms": "0", "message.max.bytes": "8000000"}
    return Producer(settings | more), parts.path.strip("/")


LOOPS: Mapping[str, Bare] = {
    "file": _file,
    "sqlite": _sqlite,
    "postgresql": _postgres,
    "produce": _produced,
    "transaction": _transacted,
}


def opened(url: str) -> AbstractAsyncContextManager[Write]:
    """The bare loop for the place that a URL names, while the block runs."""
    return LOOPS[url.partition(":")[0]](url)
