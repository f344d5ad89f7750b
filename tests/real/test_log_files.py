"""What a SQLite log makes of its file, and what it says of a file that is none, is broken, or is gone."""

import asyncio
import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import State, accepted, chain, played, put, row, told
from tests.behaviours.served import node_on
from tests.open_files import list_open_below
from treaty.core.messages.registration import Register
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.core.schema import Draft
from treaty.core.state.commit import START, Position
from treaty.log.log import AppendResult, LogDamagedError, LogUnavailableError
from treaty.log.sqlite import connection as sqlfile
from treaty.log.sqlite.layout import LAYOUT
from treaty.log.sqlite.log import SqliteLog
from treaty.log.urls import LogUrlError, open_log


async def written(path: Path, appends: int = 30) -> None:
    """A log with some pages in it, closed."""
    log = await SqliteLog.open(str(path))
    for number in range(appends):
        await put(log, *(row(f"k{number}-{place}", "x" * 400) for place in range(8)))
    await log.close()


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir()}


# ----------------------------------------------------------------------------------------------- files that are none


def _text(path: Path) -> None:
    path.write_text("This is no database, but a list of things to do. " * 200)


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.executescript("create table state_row (a); insert into state_row values ('precious');")


def _foreign_with_a_mark(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.executescript("pragma application_id = 1196444487; create table log_append (a);")


def _newer(path: Path) -> None:
    asyncio.run(written(path, 2))
    with closing(sqlite3.connect(path)) as file:
        file.executescript(f"pragma user_version = {LAYOUT + 1}; pragma wal_checkpoint(truncate)")


def _without_tables(path: Path) -> None:
    asyncio.run(written(path, 2))
    with closing(sqlite3.connect(path)) as file:
        file.executescript("drop table state_row; pragma wal_checkpoint(truncate)")


NONE = {
    _text: "no log of Treaty",
    _foreign: "a SQLite file of another program",
    _foreign_with_a_mark: "a SQLite file of another program",
    _newer: f"has layout {LAYOUT + 1}, known here is {LAYOUT}: upgrade this node",
    _without_tables: "lost its tables",
}


@pytest.mark.parametrize(("make", "word"), NONE.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_a_file_that_is_no_log_is_told_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], word: str
) -> None:
    path = tmp_path / "log.db"
    make(path)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(LogDamagedError, match=word) as raised:
            asyncio.run(_open_and_close(path))
        assert str(path) in str(raised.value)
    assert path.read_bytes() == before
    assert not [name for name in contents(tmp_path) if name not in {"log.db", "log.db-wal", "log.db-shm"}]


async def _open_and_close(path: Path) -> None:
    await (await SqliteLog.open(str(path))).close()


def _cut(part: float) -> Callable[[bytearray], None]:
    def cut(data: bytearray) -> None:
        del data[int(len(data) * part) :]

    return cut


def _scribble(data: bytearray) -> None:
    chance = random.Random(4)
    for page in range(1, len(data) // 4_096):
        data[page * 4_096 : page * 4_096 + 200] = chance.randbytes(200)


def _wipe(data: bytearray) -> None:
    data[4_096:] = bytes(len(data) - 4_096)


HARM = {"end": _cut(0.9), "half": _cut(0.5), "most": _cut(0.1), "scribbled": _scribble, "wiped": _wipe}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_a_broken_file_is_told_and_never_answered_from(tmp_path: Path, harm: Callable[[bytearray], None]) -> None:
    path = tmp_path / "log.db"
    asyncio.run(written(path))
    data = bytearray(path.read_bytes())
    harm(data)
    path.write_bytes(data)

    async def use() -> None:
        log = await SqliteLog.open(str(path))
        try:
            await log.read(START)
        finally:
            await log.close()

    with pytest.raises(LogDamagedError, match="restore a backup"):
        asyncio.run(use())
    assert path.read_bytes() == data


@told
async def test_a_path_that_can_be_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "log.db"):
        with pytest.raises(LogUnavailableError) as raised:
            await SqliteLog.open(str(path))
        assert str(path) in str(raised.value)


@told
async def test_urls_name_logs(tmp_path: Path) -> None:
    for url in (f"sqlite://{tmp_path}/a%20b/log.db", "memory:", f"memory:{tmp_path}"):
        log = await open_log(url)
        assert log.url == url
        place = await put(log, row("a", "1"))
        again = await open_log(url)
        assert await again.tip() == (START if url == "memory:" else place)
        await log.close()
        await again.close()
    assert (tmp_path / "a b" / "log.db").exists()
    for wrong in ("sqlite:log.db", "sqlite://host/log.db", "nothing:x", "sqlite:///"):
        with pytest.raises(LogUrlError, match="sqlite:///"):
            await open_log(wrong)


# ----------------------------------------------------------------------------------------------------- its own files


@told
async def test_only_its_owner_can_read_what_it_makes(tmp_path: Path) -> None:
    path = tmp_path / "made" / "deep" / "log.db"
    log = await SqliteLog.open(str(path))
    await put(log, row("a", "1"))
    modes = {one.name: one.stat().st_mode & 0o777 for one in path.parent.iterdir()}
    await log.close()
    assert modes == {"log.db": 0o600, "log.db-wal": 0o600, "log.db-shm": 0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700


@told
async def test_many_open_a_file_that_is_not_there_at_one_time(tmp_path: Path) -> None:
    for number in range(5):
        path = str(tmp_path / f"{number}" / "log.db")
        logs = await asyncio.gather(*(SqliteLog.open(path) for _ in range(8)))
        places = [await put(log, row(f"{place}", "1")) for place, log in enumerate(logs)]
        assert [await log.tip() for log in logs] == [places[-1]] * 8
        for log in logs:
            await log.close()


@told
async def test_a_copy_that_sqlite_made_is_the_same_log(tmp_path: Path) -> None:
    path, copy = tmp_path / "log.db", tmp_path / "copy.db"
    log = await SqliteLog.open(str(path))
    await put(log, row("a", "1"))
    tip = await put(log, row("b", "1"))
    with closing(sqlite3.connect(path)) as file:
        file.execute("vacuum into ?", (str(copy),))
    further = await put(log, row("b", "2"))
    copied = await SqliteLog.open(str(copy))
    assert copied._read_connection._db.execute("pragma journal_mode").fetchone() == ("wal",)
    assert await copied.tip() == tip
    behind = await copied.read(further)
    assert (behind.reload, set(behind.rows)) == (True, {row("a", "1"), row("b", "1")})
    await put(copied, row("c", "1"))
    assert await log.tip() == further
    await log.close()
    await copied.close()


@told
async def test_a_file_that_was_taken_away_is_told_and_not_written_to(tmp_path: Path) -> None:
    path, other = tmp_path / "log.db", tmp_path / "other.db"
    await written(other, 1)
    log = await SqliteLog.open(str(path))
    tip = await put(log, row("a", "1"))
    path.rename(tmp_path / "elsewhere.db")
    for _ in range(2):
        with pytest.raises(LogDamagedError, match="removed or replaced"):
            await log.tip()
        with pytest.raises(LogDamagedError, match="removed or replaced"):
            await log.append(chain(tip, [row("a", "2")]))
        with pytest.raises(LogDamagedError, match="removed or replaced"):
            await log.lock().__aenter__()
        with suppress(FileNotFoundError):
            other.rename(path)
    await log.close()


@told
async def test_a_node_whose_file_was_taken_away_says_so_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    node = await node_on(f"sqlite://{path}")
    await node.start()
    await node.ask(Register(Subject(".", "before"), Draft('"string"')))
    path.rename(tmp_path / "elsewhere.db")
    asked = [node.ask(Register(Subject(".", f"s{number}"), Draft('"string"'))) for number in range(3)]
    for answer in await asyncio.gather(*asked, return_exceptions=True):
        assert isinstance(answer, Unavailable)
        assert "removed or replaced" in str(answer)
    await node.close()


@told
async def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    log = await SqliteLog.open(str(tmp_path / "log.db"))
    tip = await put(log, row("a", "1"))
    pages = log._write_connection._db.execute("pragma page_count").fetchone()[0]
    log._write_connection._db.execute(f"pragma max_page_count = {pages + 2}")
    large = chain(tip, [row("large", "x" * 60_000)])
    with pytest.raises(LogUnavailableError, match="free space"):
        await log.append(large)
    with pytest.raises(LogUnavailableError, match="free space"):
        async with log.lock():
            await log.append(large)
    assert await log.tip() == tip
    log._write_connection._db.execute("pragma max_page_count = 100000")
    assert await log.append(large) is AppendResult.ACCEPTED
    await log.close()


@told
async def test_the_loop_runs_while_the_file_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    log = await SqliteLog.open(str(path))
    tip = await put(log, row("a", "1"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        flight = asyncio.create_task(log.append(chain(tip, [row("a", "2")])))
        for _ in range(100):
            await asyncio.sleep(0.0005)
            assert await log.tip() == tip
        assert not flight.done()
        other.execute("rollback")
    assert await flight is AppendResult.ACCEPTED
    await log.close()


@told
async def test_who_stops_waiting_for_a_busy_file_is_free_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlfile, "BUSY_SECONDS", 3_600)
    path = tmp_path / "log.db"
    log = await SqliteLog.open(str(path))
    tip = await put(log, row("a", "1"))

    async def lock() -> None:
        async with log.lock():
            raise AssertionError("held")

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")
        holder = asyncio.create_task(lock())
        await asyncio.sleep(0.02)
        holder.cancel()
        await asyncio.wait([holder])
        assert holder.cancelled()
        other.execute("rollback")
    await accepted(log, chain(tip, [row("a", "2")]))
    await log.close()


@told
async def test_giving_up_opening_leaves_nothing_open(tmp_path: Path) -> None:
    others = {*threading.enumerate()}
    for number in range(6):
        opening = asyncio.create_task(SqliteLog.open(str(tmp_path / f"{number}.db")))
        await asyncio.sleep(0.001 * number)
        opening.cancel()
        with suppress(asyncio.CancelledError):
            await (await opening).close()
    for thread in {*threading.enumerate()} - others:  # what was given up is opened and closed by its own thread
        if thread.name.startswith("treaty-log"):
            thread.join(10)
    assert list_open_below(tmp_path) == []


@told
async def test_a_commit_that_a_power_cut_tore_is_not_there_and_all_before_it_are(tmp_path: Path) -> None:
    path, wal = tmp_path / "log.db", tmp_path / "log.db-wal"
    chance = random.Random(3)
    log = await SqliteLog.open(str(path))
    ends = {wal.stat().st_size: START}
    states: dict[Position, State] = {START: {}}
    tip = START
    for number in range(12):
        commits = [row("last", f"{number}"), row(f"k{number}", "x" * 3_000)], [row(f"k{number - 4}", None)]
        before, tip = tip, await accepted(log, chain(tip, *commits))
        ends[wal.stat().st_size] = tip
        states[tip] = played([one for commit in commits for one in commit], states[before])
    whole, main = wal.read_bytes(), path.read_bytes()
    await log.close()
    cuts = [*ends, *(end - 1 for end in ends), *(chance.randrange(len(whole)) for _ in range(20))]
    for number, cut in enumerate(cuts):
        torn = tmp_path / f"torn{number}.db"
        torn.write_bytes(main)
        (tmp_path / f"torn{number}.db-wal").write_bytes(whole[:cut] + chance.randbytes(cut % 5_000))
        log = await SqliteLog.open(str(torn))
        shown = await log.read(START)
        assert shown.tip == ends.get(max((end for end in ends if end <= cut), default=0), START)
        assert played(shown.rows) == states[shown.tip]
        await put(log, row("after", "1"))
        await log.close()


@pytest.mark.parametrize(("query", "level"), [("", 2), ("?synchronous=full", 2), ("?synchronous=normal", 1)])
def test_how_long_a_commit_waits_is_said_in_the_url(tmp_path: Path, query: str, level: int) -> None:
    async def look() -> tuple[str, int]:
        log = await open_log(f"sqlite://{tmp_path}/log.db{query}")
        assert isinstance(log, SqliteLog)
        found = log._write_connection.database.execute("pragma synchronous").fetchone()[0]
        await log.close()
        return log.url, found

    url, found = asyncio.run(look())
    assert found == level
    assert url.endswith("?synchronous=normal") == (level == 1)


def test_other_words_after_the_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogUrlError, match="synchronous=normal may follow"):
        asyncio.run(open_log(f"sqlite://{tmp_path}/log.db?synchronous=off"))
