"""A log in a real PostgreSQL: crashes of the server and of connections, hints, and what is not a log."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from click.testing import CliRunner

from tests.behaviours.logs.backends import chain, put, row, told, whole
from tests.servers.postgres import Postgres
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.refusals import Unavailable
from treaty.core.state.commit import START
from treaty.log.log import AppendResult, LogDamagedError, LogUnavailableError
from treaty.log.postgres import connection as link
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
    return f"{server.url}?schema=real_{next(_NUMBERS)}"


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncIterator[PostgresLog]:
    log = await PostgresLog.open(url, **options)
    try:
        yield log
    finally:
        await log.close()


async def until(happens: Callable[[], Awaitable[object]]) -> None:
    """Try again while the log can't be used."""
    async with asyncio.timeout(30):
        while True:
            try:
                await happens()
            except LogUnavailableError:
                await asyncio.sleep(0.05)
            else:
                return


def test_what_was_accepted_survives_a_crash_of_the_server(server: Postgres, url: str) -> None:
    @told
    async def story() -> None:
        accepted: list[str] = []
        async with opened(url) as log:

            async def write() -> None:
                for number in itertools.count():
                    try:
                        append = chain(await log.tip(), [row(f"k{number}", str(number))])
                        if await log.append(append) is AppendResult.ACCEPTED:
                            accepted.append(str(number))
                    except LogUnavailableError:
                        return

            writer = asyncio.create_task(write())
            await asyncio.sleep(0.5)
            await asyncio.to_thread(server.kill)
            await writer
            assert accepted
            await asyncio.to_thread(server.start)
            await until(log.tip)
            values = set((await whole(log)).values())
            assert set(accepted) <= values
            assert len(values) <= len(accepted) + 1

    story()


def test_while_the_server_is_away_all_say_so_at_once_and_go_on_after(server: Postgres, url: str) -> None:
    @told
    async def story() -> None:
        async with opened(url, poll=0.1) as log:
            place = await put(log, row("k", "1"))
            await asyncio.to_thread(server.halt)
            began = asyncio.get_running_loop().time()
            for _ in range(50):
                with pytest.raises(LogUnavailableError, match=r"does not answer|can't be used"):
                    await log.tip()
                with pytest.raises(LogUnavailableError):
                    await log.append(chain(place, [row("k", "2")]))
            assert asyncio.get_running_loop().time() - began < 10
            await asyncio.to_thread(server.start)
            await until(log.tip)
            await until(lambda: put(log, row("k", "3")))
            assert set((await whole(log)).values()) == {"3"}

    story()


def test_a_connection_that_breaks_while_it_holds_the_log_frees_it(server: Postgres, url: str) -> None:
    @told
    async def story() -> None:
        async with opened(url) as one, opened(url) as other:
            place = await put(one, row("k", "1"))
            async with one.lock():
                await _cut(server, url)
                with pytest.raises(LogUnavailableError):
                    await one.append(chain(place, [row("k", "lost")]))
                await put(other, row("k", "2"))
            assert set((await whole(one)).values()) == {"2"}
            await put(one, row("k", "3"))
            assert set((await whole(other)).values()) == {"3"}

    story()


def test_a_node_that_hangs_while_it_holds_the_log_frees_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @told
    async def story() -> None:
        async with opened(url) as one, opened(url) as other:
            place = await put(one, row("k", "1"))
            async with one.lock():
                await put(other, row("k", "2"))  # it comes to its turn when the server has ended the one that hangs
                with pytest.raises(LogUnavailableError):
                    await one.append(chain(place, [row("k", "lost")]))
            await put(one, row("k", "3"))
            assert set((await whole(other)).values()) == {"3"}

    monkeypatch.setitem(link.SETTINGS, "idle_in_transaction_session_timeout", "300")
    story()


async def _cut(server: Postgres, url: str) -> None:
    """Break the connections that wait inside a transaction."""
    connection = await asyncpg.connect(server.url)
    cut = "select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'"
    assert await connection.fetch(cut)
    await connection.close()


def test_others_hear_of_an_append_long_before_they_would_look(url: str) -> None:
    @told
    async def story() -> None:
        async with opened(url, poll=60) as one, opened(url, poll=60) as other:
            place = await put(one, row("k", "1"))
            await other.read(START)
            for number in range(5):
                place = await other.tip()
                waiting = asyncio.create_task(other.wait(place, 30))
                await asyncio.sleep(0.05)
                assert not waiting.done()
                await put(one, row("k", str(number)))
                async with asyncio.timeout(5):
                    await waiting

    story()


def test_an_own_append_is_no_news(url: str) -> None:
    @told
    async def story() -> None:
        async with opened(url, poll=60) as log:
            await put(log, row("k", "1"))
            place = await log.tip()
            waiting = asyncio.create_task(log.wait(place, 30))
            append = chain(place, [row("k", "2")])
            assert await log.append(append) is AppendResult.ACCEPTED
            await asyncio.sleep(0.3)
            assert not waiting.done()
            waiting.cancel()
            delta = await log.read(place)
            assert delta.tip == append.position
            assert [one.value for one in delta.rows] == ["2"]

    story()


def test_what_is_no_log_is_left_as_it_is(server: Postgres, url: str) -> None:
    @told
    async def story() -> None:
        connection = await asyncpg.connect(server.url)
        name = url.rpartition("=")[2]
        await connection.execute(f"create schema {name}; create table {name}.precious (x int)")
        with pytest.raises(LogDamagedError, match="tables of another program"):
            await PostgresLog.open(url)
        assert await connection.fetchval(f"select count(*) from {name}.precious") == 0
        await connection.execute(f"drop table {name}.precious; comment on schema {name} is 'treaty log, layout 99'")
        with pytest.raises(LogDamagedError, match="layout 99, known here is 1: upgrade"):
            await PostgresLog.open(url)
        await connection.close()

    story()


def test_tables_that_are_gone_are_damage(server: Postgres, url: str) -> None:
    @told
    async def story() -> None:
        async with opened(url) as log:
            await put(log, row("k", "1"))
            connection = await asyncpg.connect(server.url)
            await connection.execute(f"drop schema {url.rpartition('=')[2]} cascade")
            await connection.close()
            with pytest.raises(LogDamagedError, match="restore a backup"):
                await log.tip()

    story()


@pytest.mark.parametrize(
    ("change", "message"),
    [(("@127.0.0.1", "@127.0.0.2"), "does not answer"), (("/postgres", "/none"), "make that database")],
    ids=["nobody there", "no database"],
)
def test_what_cannot_be_opened_says_what_to_do(server: Postgres, change: tuple[str, str], message: str) -> None:
    async def story() -> None:
        head, _, tail = server.url.rpartition("@")
        with pytest.raises(LogUnavailableError, match=message):
            await open_log(head + f"@{tail}".replace(*change))

    asyncio.run(story())


def test_a_url_without_a_database_is_refused_and_a_password_is_never_shown(server: Postgres) -> None:
    async def story() -> None:
        with pytest.raises(LogUrlError, match="postgresql://user@host"):
            await open_log("postgresql://")
        log = await open_log(server.url.replace("postgres@", "postgres:secret@") + "?schema=url")
        assert log.url == f"postgresql://127.0.0.1:{server.port}/postgres?schema=url"
        await log.close()

    asyncio.run(story())


def test_a_registry_on_it_is_a_registry(url: str) -> None:
    with connect(url) as one, connect(url) as other:
        made = one.register("s", '"string"')
        assert other.lookup("s", '"string"').schema_id == made.version.schema_id
        assert other.register("s", '"string"').created is False
        assert one.subjects() == other.subjects() == ("s",)
    with connect(url) as again:
        assert again.versions("s") == (1,)


TAMPERS = {
    "a text": (
        "update {0}.state_row set value = value || ' ' where state_table = 'subject' and key like '%\"s1\"%'",
        "subject",
    ),
    "a counter": (
        "update {0}.state_row set value = '{{\"highest\":1,\"v\":1}}' where state_table = 'counter' and key like '[\"ids\"%'",
        "counter",
    ),
    "a row that is gone": (
        "delete from {0}.state_row where state_table = 'version' and key like '%\"s1\"%'",
        "version",
    ),
    "a table's root": (
        "update {0}.table_root set root = repeat('1', 32)::bytea where state_table = 'schema'",
        "schema",
    ),
    "the append's root": (
        "update {0}.log_append set root = repeat('1', 32)::bytea where last = (select max(last) from {0}.log_append)",
        "",
    ),
}
"""Statements that change one row of a schema, and the table that they hit."""


@pytest.mark.parametrize(("statement", "table"), TAMPERS.values(), ids=TAMPERS)
def test_what_was_changed_by_hand_is_named_and_healed_by_the_commands(
    server: Postgres, url: str, statement: str, table: str
) -> None:
    with connect(url) as registry:
        for number in range(3):
            registry.register(f"s{number}", f'{{"type":"enum","name":"E","symbols":["A{number}"]}}')

    async def change() -> str:
        connection = await asyncpg.connect(server.url)
        try:
            done: str = await connection.execute(statement.format(url.rpartition("=")[2]))
            return done
        finally:
            await connection.close()

    assert asyncio.run(change()).endswith(" 1")
    verdict = CliRunner().invoke(group, ["log", "verify", url, "--json"])
    assert verdict.exit_code == 1
    faults = json.loads(verdict.stdout)["logs"][0]["faults"]
    assert table in {one["table"] for one in faults if one["rule"] == "STATE_ROOT"}
    with connect(url) as registry:
        if "state_row" in statement or "log_append" in statement:
            with pytest.raises(Unavailable, match="treaty log repair --accept-state"):
                registry.register("late", '"string"')
    healed = CliRunner().invoke(group, ["log", "repair", url, "--accept-state", "--yes"])
    assert healed.exit_code == 0, healed.output
    with connect(url) as registry:
        assert registry.register("late", '"string"').created
    after = json.loads(CliRunner().invoke(group, ["log", "verify", url, "--json"]).stdout)["logs"][0]["faults"]
    assert "STATE_ROOT" not in {one["rule"] for one in after}
