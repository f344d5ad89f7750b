"""What a log in PostgreSQL does about settings of a server that would lose confirmed commits in a crash."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import asyncpg
import pytest
from click.testing import CliRunner

from tests.behaviours.logs.backends import chain, put, row, told, whole
from tests.servers.postgres import Postgres
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.log.log import AppendResult, LogUnavailableError
from treaty.log.postgres.log import PostgresLog
from treaty.log.urls import LogUrlError, open_log

pytestmark = pytest.mark.slow

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    made = Postgres()
    yield made
    made.stop()


@pytest.fixture
def url(server: Postgres) -> str:
    return f"{server.url}?schema=durable_{next(_NUMBERS)}"


@pytest.fixture
def without(server: Postgres) -> Iterator[None]:
    """Settings that a test has changed on the server are as they were afterwards."""
    yield
    asyncio.run(_run(server.url, "alter system reset all", "select pg_reload_conf()"))


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[PostgresLog]:
    log = await PostgresLog.open(url)
    try:
        yield log
    finally:
        await log.close()


async def _run(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for one in statements:
            await connection.execute(one)
    finally:
        await connection.close()


async def _reloaded(server: Postgres, log: PostgresLog, name: str, value: str) -> None:
    """Change a setting of the server, and wait until the log's own connection has it."""
    await _run(server.url, f"alter system set {name} = {value}", "select pg_reload_conf()")
    connection = await log._write_connection.get()
    for _ in range(1000):
        if await connection.fetchval("select current_setting($1)", name) == value:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{name} does not become {value}")


WATCH = """
create table if not exists {0}.watched (value text);
create or replace function {0}.watch() returns trigger language plpgsql as
  $$ begin insert into {0}.watched select current_setting('synchronous_commit'); return null; end $$;
create constraint trigger watching after insert on {0}.log_append deferrable initially deferred
  for each row execute function {0}.watch();
"""
"""Writes down, when a transaction that has appended commits, how it commits."""


async def _watched(server: Postgres, schema: str) -> list[str]:
    connection = await asyncpg.connect(server.url)
    try:
        return [one["value"] for one in await connection.fetch(f"select value from {schema}.watched")]
    finally:
        await connection.close()


@pytest.mark.parametrize(
    ("session", "appends"),
    [("off", "on"), ("local", "on"), ("on", "on"), ("remote_write", "remote_write"), ("remote_apply", "remote_apply")],
    ids=["off", "local", "on", "remote_write", "remote_apply"],
)
def test_an_append_waits_for_the_disk_whatever_the_role_says(
    server: Postgres, url: str, session: str, appends: str
) -> None:
    @told
    async def story() -> None:
        role, schema = f"role_{session}", url.rpartition("=")[2]
        await _run(
            server.url, f"create role {role} login superuser", f"alter role {role} set synchronous_commit = {session}"
        )
        async with opened(url.replace("postgres@", f"{role}@")) as log:
            place = await put(log, row("k", "1"))
            await _run(server.url, WATCH.format(schema))
            async with log.lock():
                append = chain(place, [row("k", "2")])
                assert await log.append(append) is AppendResult.ACCEPTED
            assert await log.append(chain(append.position, [row("k", "3")])) is AppendResult.ACCEPTED
            assert await _watched(server, schema) == [appends, appends]
            connection = await log._write_connection.get()
            assert await connection.fetchval("show synchronous_commit") == session, "the session's own stays"
            assert await log.append(chain(place, [row("k", "4")])) is AppendResult.CONFLICT
            assert await connection.fetchval("show synchronous_commit") == session, "after a rollback too"

    story()


@pytest.mark.usefixtures("without")
def test_a_setting_that_is_reloaded_under_a_connection_counts_at_once(server: Postgres, url: str) -> None:
    @told
    async def story() -> None:
        schema = url.rpartition("=")[2]
        async with opened(url) as log:
            await put(log, row("k", "1"))
            await _run(server.url, WATCH.format(schema))
            await _reloaded(server, log, "synchronous_commit", "off")
            await put(log, row("k", "2"))
            assert await _watched(server, schema) == ["on"]

    story()


@pytest.mark.usefixtures("without")
def test_a_server_that_does_not_write_to_its_disk_is_refused_unless_the_url_allows_it(
    server: Postgres, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    @told
    async def story() -> None:
        async with opened(url) as log:
            await _reloaded(server, log, "fsync", "off")
        with pytest.raises(
            LogUrlError, match=r"runs with fsync = off: .* Set fsync = on and reload the server, or allow"
        ):
            await open_log(url)
        async with opened(f"{url}&durable=no") as log:
            await put(log, row("k", "1"))
            assert set((await whole(log)).values()) == {"1"}
            assert log.url.endswith(f"?{url.rpartition('?')[2]}&durable=no")

    with caplog.at_level(logging.WARNING, "treaty.log.postgres"):
        story()
    (warning,) = caplog.messages
    assert "fsync = off, which its URL allows" in warning
    with pytest.raises(LogUrlError, match="durable=no in the log's URL"), connect(url):
        raise AssertionError
    said = CliRunner().invoke(group, ["serve", "--log", url, "--port", "0"])
    assert (said.exit_code, "allow it with durable=no" in said.output) == (78, True), said.output


@pytest.mark.usefixtures("without")
def test_a_server_that_loses_its_disk_writes_under_a_running_node_is_refused_at_the_next_connection(
    server: Postgres, url: str
) -> None:
    @told
    async def story() -> None:
        async with opened(url) as log:
            place = await put(log, row("k", "1"))
            await _reloaded(server, log, "fsync", "off")
            log._write_connection.drop()
            with pytest.raises(LogUnavailableError, match="fsync = off"):
                await log.append(chain(place, [row("k", "2")]))
            await _run(server.url, "alter system reset fsync", "select pg_reload_conf()")
            async with asyncio.timeout(30):
                while True:
                    try:
                        await put(log, row("k", "3"))
                        break
                    except LogUnavailableError:
                        await asyncio.sleep(0.05)
            assert set((await whole(log)).values()) == {"3"}

    story()


@pytest.mark.usefixtures("without")
def test_half_written_pages_are_warned_of_once(server: Postgres, url: str, caplog: pytest.LogCaptureFixture) -> None:
    @told
    async def story() -> None:
        async with opened(url) as log:
            await _reloaded(server, log, "full_page_writes", "off")
            caplog.clear()
            log._write_connection.drop()
            log._read_connection.drop()
            await put(log, row("k", "1"))
            assert set((await whole(log)).values()) == {"1"}

    with caplog.at_level(logging.WARNING, "treaty.log.postgres"):
        story()
    (warning,) = caplog.messages
    assert "full_page_writes = off" in warning


def test_nothing_is_warned_of_where_all_is_well(url: str, caplog: pytest.LogCaptureFixture) -> None:
    @told
    async def story() -> None:
        async with opened(f"{url}&durable=yes") as log:
            await put(log, row("k", "1"))

    with caplog.at_level(logging.WARNING, "treaty.log.postgres"):
        story()
    assert caplog.messages == []


def test_another_word_than_yes_or_no_is_refused(url: str) -> None:
    with pytest.raises(LogUrlError, match="write durable=yes"):
        asyncio.run(open_log(f"{url}&durable=perhaps"))
