"""Stores of format 1 are refused with the command that carries them over; a later layout is brought up to date by the first
node that knows how, and older nodes stay out."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest
from click.testing import CliRunner

from tests.behaviours.logs.backends import put, row, told
from tests.real.older_layouts import SQLITE_1, SQLITE_2, STATEMENTS, old_file, old_schema
from tests.servers import postgres
from treaty.cli.main import group
from treaty.core.state.commit import START
from treaty.log.log import Log, LogDamagedError, OlderLogFormatError
from treaty.log.postgres import layout as postgres_layout
from treaty.log.sqlite import layout as sqlite_layout
from treaty.log.urls import open_log

STEP = "alter table state_row add column note integer;\ncreate table later (x integer)"
"""What a later version might do to the tables."""


def _sqlite(folder: Path) -> str:
    return f"sqlite://{folder}/log.db"


def _postgres(folder: Path) -> str:
    return f"{postgres.shared().url}?schema=layouts%20{folder.name}"


BACKENDS = [
    pytest.param(_sqlite, sqlite_layout, id="sqlite"),
    pytest.param(_postgres, postgres_layout, id="postgres", marks=pytest.mark.slow),
]


async def _close(*logs: Log) -> None:
    for log in logs:
        await log.close()


@pytest.mark.parametrize(("place", "layout"), BACKENDS)
def test_an_older_layout_is_brought_up_to_date_once_and_an_older_node_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Callable[[Path], str], layout: object
) -> None:
    url = place(tmp_path)
    older, known = vars(layout)["LAYOUT"], vars(layout)["MIGRATIONS"]

    @told
    async def story() -> None:
        old = await open_log(url)
        kept = await put(old, row("a", "1"))
        with monkeypatch.context() as later:
            later.setattr(layout, "LAYOUT", older + 1)
            later.setattr(layout, "MIGRATIONS", (*known, STEP))
            opened = await asyncio.gather(*(open_log(url) for _ in range(4)))
            assert [await log.tip() for log in opened] == [kept] * 4
            after = await put(opened[0], row("b", "1"))
            assert set((await opened[1].read(START)).rows) == {row("a", "1"), row("b", "1")}
            assert await old.tip() == after, "this step takes nothing from nodes that are there"
            await _close(*opened)
        with pytest.raises(LogDamagedError, match=f"layout {older + 1}, known here is {older}: upgrade this node"):
            await open_log(url)
        await _close(old)

    story()


def test_a_step_that_fails_leaves_the_older_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = _sqlite(tmp_path)

    @told
    async def story() -> None:
        log = await open_log(url)
        kept = await put(log, row("a", "1"))
        await _close(log)
        with monkeypatch.context() as later:
            later.setattr(sqlite_layout, "LAYOUT", sqlite_layout.LAYOUT + 1)
            later.setattr(sqlite_layout, "MIGRATIONS", (*sqlite_layout.MIGRATIONS, f"{STEP};\nnonsense"))
            with pytest.raises(Exception, match="nonsense"):
                await open_log(url)
        again = await open_log(url)
        assert await again.tip() == kept
        await _close(again)

    story()
    with closing(sqlite3.connect(tmp_path / "log.db")) as file:
        assert file.execute("pragma user_version").fetchone() == (sqlite_layout.LAYOUT,)
        assert file.execute("select count(*) from sqlite_master where name = 'later'").fetchone() == (0,)


@pytest.mark.parametrize("script", [SQLITE_1, SQLITE_2], ids=["layout 1", "layout 2"])
def test_a_file_of_format_1_is_refused_with_the_command_that_upgrades_it(tmp_path: Path, script: str) -> None:
    path = tmp_path / "an old log.db"
    old_file(path, script)
    before = path.read_bytes()

    @told
    async def story() -> None:
        for _ in range(2):
            with pytest.raises(OlderLogFormatError, match=r"treaty log upgrade sqlite://.*/an%20old%20log\.db NEW"):
                await open_log(f"sqlite://{path}")

    story()
    assert path.read_bytes() == before
    assert "treaty log upgrade" in CliRunner().invoke(group, ["log", "info", f"sqlite://{path}"]).output


def test_a_backup_of_format_1_is_refused_with_the_command_that_upgrades_it(tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    old_file(path, backup=True)
    before = path.read_bytes()
    for words in (("verify", str(path)), ("restore", str(path), f"sqlite://{tmp_path}/new.db")):
        answer = CliRunner().invoke(group, ["log", *words])
        assert answer.exit_code != 0
        assert f"treaty log upgrade {path} NEW" in " ".join(answer.output.split())
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_schema_of_format_1_is_refused_with_the_command_that_upgrades_it() -> None:
    @told
    async def story() -> None:
        dsn = postgres.shared().url
        await old_schema(dsn, "layout one")
        for _ in range(2):
            with pytest.raises(OlderLogFormatError, match=r"treaty log upgrade postgresql://.*schema=layout%20one NEW"):
                await open_log(f"{dsn}?schema=layout%20one")
        connection = await asyncpg.connect(dsn)
        assert await connection.fetchval('select count(*) from "layout one".entry') == 1
        tables = await connection.fetch("select tablename from pg_tables where schemaname = 'layout one'")
        await connection.close()
        assert {one["tablename"] for one in tables} == {"entry", "append"}

    story()


def test_a_node_of_format_1_can_read_and_write_nothing_of_a_new_file(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log = await open_log(_sqlite(tmp_path))
        kept = await put(log, row("a", "1"))
        with closing(sqlite3.connect(tmp_path / "log.db")) as old:
            for statement in STATEMENTS:
                with pytest.raises(sqlite3.OperationalError, match="no such table"):
                    old.execute(statement)
        assert await log.tip() == kept
        await _close(log)

    story()


@pytest.mark.slow
def test_a_node_of_format_1_can_read_and_write_nothing_of_a_new_schema(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log = await open_log(_postgres(tmp_path))
        kept = await put(log, row("a", "1"))
        old = await asyncpg.connect(postgres.shared().url)
        await old.execute("select set_config('search_path', quote_ident($1), false)", f"layouts {tmp_path.name}")
        for statement in STATEMENTS:
            with pytest.raises(asyncpg.UndefinedTableError):
                await old.execute(statement)
        await old.close()
        assert await log.tip() == kept
        await _close(log)

    story()
