"""An older layout is brought up to date by the first node that knows how, and older nodes stay out."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import put, row, told
from tests.servers import postgres
from treaty.core.state.commit import START
from treaty.log.log import Log, LogDamagedError
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
