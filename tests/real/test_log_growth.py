"""What a SQLite log does not keep for ever: old appends, tombstones, and the room that readers made it take."""

import asyncio
import itertools
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import chain, put, row, told
from treaty.core.state.commit import START
from treaty.log.log import AppendResult
from treaty.log.sqlite import connection as sqlfile
from treaty.log.sqlite import layout
from treaty.log.sqlite.connection import PRUNED_EVERY, SqliteConnection
from treaty.log.sqlite.layout import APPLICATION, WAL_BYTES
from treaty.log.sqlite.log import SqliteLog


@told
async def test_a_log_forgets_in_small_steps_and_tombstones_with_it(tmp_path: Path) -> None:
    path, kept = str(tmp_path / "log.db"), 20
    file = SqliteConnection(path, appends_kept=kept)
    tip = START
    most = 0
    for number in range(6 * PRUNED_EVERY):
        append = chain(tip, [row(f"{number}", "1"), row(f"{number - 1}", None)], [row("same", f"{number}")])
        assert file.append(append) is AppendResult.ACCEPTED
        tip = append.position
        with closing(sqlite3.connect(path)) as look:
            (appends,), (tombstones,) = (
                look.execute("select count(*) from log_append").fetchone(),
                look.execute("select count(*) from state_row where value is null").fetchone(),
            )
        most = max(most, appends, tombstones)
    assert kept < most <= kept + PRUNED_EVERY + 1
    assert len(file.read_since(START).rows) == 2
    file.close()
    again = SqliteConnection(path, appends_kept=kept)
    assert again.tip() == tip
    assert again.read_since(replace(tip, sequence=tip.sequence - 2)).reload
    again.close()


@told
async def test_what_a_long_reader_made_grow_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    wal = tmp_path / "log.db-wal"
    log = await SqliteLog.open(str(path))
    await put(log, row("a", "1"))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from state_row").fetchone()
        while wal.stat().st_size <= WAL_BYTES:
            await put(log, *(row(f"{place}", "x" * 100_000) for place in range(8)))
        assert reader.execute("select count(*) from state_row").fetchone() == (1,)
    for number in range(4):
        await put(log, row("b", f"{number}"))
    assert wal.stat().st_size <= WAL_BYTES
    assert len((await log.read(START)).rows) == 10
    await log.close()
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("pragma application_id").fetchone() == (APPLICATION,)
        assert file.execute("pragma integrity_check").fetchall() == [("ok",)]


@told
async def test_readers_that_overlap_for_ever_do_not_make_it_grow_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = 500_000
    monkeypatch.setattr(layout, "WAL_MOST", bound)
    path, wal = tmp_path / "log.db", tmp_path / "log.db-wal"
    log = await SqliteLog.open(str(path))
    await put(log, row("a", "1"))
    readers = asyncio.create_task(_overlapping(path))
    sizes = []
    for number in range(6 * sqlfile.PRUNED_EVERY):
        await put(log, *(row(f"{place}", f"{number}" * 500) for place in range(8)))
        sizes.append(wal.stat().st_size)
    readers.cancel()
    await asyncio.wait([readers])
    await log.close()
    growth = max(after - before for before, after in itertools.pairwise(sizes))
    assert max(sizes) <= bound + 2 * sqlfile.PRUNED_EVERY * growth
    assert sizes != sorted(sizes)


async def _overlapping(path: Path) -> None:
    """Read for ever: the next reader begins before the last one ends."""
    reader = _reader(path)
    try:
        while True:
            await asyncio.sleep(0.01)
            following = _reader(path)
            reader.close()
            reader = following
    finally:
        reader.close()


def _reader(path: Path) -> sqlite3.Connection:
    """Somebody in the middle of reading."""
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("begin")
    reader.execute("select count(*) from log_append").fetchone()
    return reader
