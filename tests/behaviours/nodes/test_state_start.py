"""A node that starts without a state file, on a log of very many rows: from the log's fold, or from a file that is written first."""

import asyncio
import sqlite3
import threading
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import told
from tests.behaviours.nodes.lives import desk, post, world
from tests.behaviours.nodes.test_state_file import everything, filled
from treaty.assemble.runtime import _node
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.state.commit import START
from treaty.core.state.rows import EncodedRow
from treaty.core.state.tables import DictTables
from treaty.log.log import Log, LogUnavailableError
from treaty.log.sqlite.log import SqliteLog
from treaty.node.node import Node
from treaty.node.segment import manager as keeping
from treaty.node.segment import state_writer
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.manager import StateFileManager, Write
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.state_writer import write
from treaty.node.segment.statefile import open_state


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LARGE", 10)
    monkeypatch.setattr(state_writer, "FOLDED", 10)
    monkeypatch.setattr(keeping, "WAIT_SECONDS", 0.2)


@asynccontextmanager
async def made(tmp_path: Path) -> AsyncIterator[SqliteLog]:
    """A log with a fold and a few rows after it, and no state file."""
    log = await SqliteLog.open(str(tmp_path / "log.db"))
    await filled(log, 30)
    await write(log, tmp_path / "state", 5)
    (tmp_path / "state").unlink()
    await filled(log, 45, seed=8)
    yield log
    await log.close()


@asynccontextmanager
async def started(
    tmp_path: Path, *, writer: Write | None = None, waits: bool = False
) -> AsyncIterator[tuple[Node, LayeredTables]]:
    tables = LayeredTables(small=0)
    state_files = StateFileManager(tmp_path / "state", tables, writer, waits=waits)
    state_files.open()
    node = Node(await SqliteLog.open(str(tmp_path / "log.db")), desk(), world(), tables, state_files)
    await node.start()
    try:
        yield node, tables
    finally:
        await node.close()


async def truth(tmp_path: Path) -> tuple[object, ...]:
    node = Node(await SqliteLog.open(str(tmp_path / "log.db")), desk(), world(), DictTables())
    await node.start()
    try:
        return await everything(node)
    finally:
        await node.close()


def written_by(log: Log, path: Path) -> Write:
    async def writer(_: object) -> None:
        await write(log, path, 9)

    return writer


def test_the_fold_becomes_the_state_file_of_a_server(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        async with made(tmp_path), started(tmp_path, waits=True) as (node, tables):
            assert await everything(node) == await truth(tmp_path)
            assert node.counts.reloads == 0
            assert 0 < tables.changed < tables.size
            assert open_state(tmp_path / "state").written == 5
            await node.ask(post("fresh"))
            assert await everything(node) == await truth(tmp_path)

    story()


def test_who_may_not_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    @told
    async def story() -> None:
        async with made(tmp_path), started(tmp_path) as (node, tables):
            assert await everything(node) == await truth(tmp_path)
            assert node.counts.reloads == 0
            assert 0 < tables.changed < tables.size
        assert not [*(tmp_path / "tmp").iterdir()]
        assert not (tmp_path / "state").exists()

    story()


@pytest.mark.parametrize(
    "harm",
    [
        "delete from state_copy",
        "update state_copy_piece set data = zeroblob(9000)",
        "update state_copy_piece set data = substr(data, 1, 9000)",
        "delete from state_copy_piece",
        "update state_copy set pieces = 7",
        "drop table state_copy",
    ],
    ids=["unfinished", "strange", "cut", "gone", "short", "no-head"],
)
def test_a_fold_that_is_not_whole_is_left_aside_and_replaced(
    tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    @told
    async def story() -> None:
        async with made(tmp_path) as log:
            with sqlite3.connect(tmp_path / "log.db") as file:
                file.execute(harm)
            file.close()
            async with started(tmp_path) as (node, tables):
                assert await everything(node) == await truth(tmp_path)
                assert (node.counts.reloads, tables.changed) == (0, 0)
            whole = harm in {"delete from state_copy", "drop table state_copy"}  # as while it is being written
            assert ("`treaty log state` replaces it" in caplog.text) == (not whole)
            async with started(tmp_path, writer=written_by(log, tmp_path / "state")) as (node, tables):
                assert await everything(node) == await truth(tmp_path)
                assert (node.counts.reloads, tables.changed) == (0, 0)
                assert open_state(tmp_path / "state").written == 9
            (tmp_path / "state").unlink()
            async with started(tmp_path, waits=True) as (node, tables):
                assert await everything(node) == await truth(tmp_path)
                assert (node.counts.reloads, tables.changed) == (0, 0)
                assert open_state(tmp_path / "state").written == 9
            assert await log.read_state_file(tmp_path / "back", 1)

    story()


def flip(path: Path, at: float) -> None:
    """Change one bit of a log's copy of the state file, and its checksum with it."""
    with closing(sqlite3.connect(path)) as file, file:
        ((data,),) = file.execute("select data from state_copy_piece").fetchall()
        changed = bytearray(data)
        changed[int(at * len(data))] ^= 4
        assert file.execute("update state_copy_piece set data = ?", (bytes(changed),)).rowcount == 1
        assert file.execute("update state_copy set crc = ?", (zlib.crc32(changed),)).rowcount == 1


@pytest.mark.parametrize("at", [0.0, 0.002, 0.01, 0.2, 0.4, 0.6, 0.8, 0.999])
def test_a_fold_in_which_a_bit_was_changed_with_its_checksum_makes_nobody_wrong(tmp_path: Path, at: float) -> None:
    @told
    async def story() -> None:
        async with made(tmp_path) as log:
            flip(tmp_path / "log.db", at)
            async with started(tmp_path) as (node, _):
                with suppress(
                    SegmentDamagedError
                ):  # who comes first to a damaged block is told so, and it is read again
                    assert await everything(node) == await truth(tmp_path)
                assert await everything(node) == await truth(tmp_path)
                assert node.status().root_stated == ""
            await write(log, tmp_path / "state", 9)
            (tmp_path / "state").unlink()
            async with started(tmp_path) as (node, tables):
                assert await everything(node) == await truth(tmp_path)
                assert (node.counts.reloads, tables.changed) == (0, 0)

    story()


def test_a_worker_waits_for_the_file_that_another_one_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "WAIT_SECONDS", 30.0)
    monkeypatch.setattr(state_writer, "FOLDED", 10**9)

    @told
    async def story() -> None:
        async with made(tmp_path) as log, started(tmp_path, waits=True) as (node, tables):
            asking = asyncio.create_task(everything(node))
            await asyncio.sleep(0.3)
            assert not asking.done()
            await write(log, tmp_path / "state", 6)
            assert await asking == await truth(tmp_path)
            assert (node.counts.reloads, tables.changed) == (0, 0)

    story()


def test_where_nothing_helps_the_log_is_read(tmp_path: Path) -> None:
    async def fails(_: object) -> None:
        return

    @told
    async def story() -> None:
        async with made(tmp_path):
            with sqlite3.connect(tmp_path / "log.db") as file:
                file.execute("drop table state_copy_piece")
            file.close()
            for waits, writer in ((True, None), (False, fails)):
                async with started(tmp_path, waits=waits, writer=writer) as (node, _):
                    assert await everything(node) == await truth(tmp_path)
                    assert not (tmp_path / "state").exists()

    story()


def test_rows_are_gone_through_in_one_cut_while_others_write_and_no_longer_than_somebody_waits(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        async with made(tmp_path) as log:
            tip = await log.tip()
            begun, gone = asyncio.Event(), threading.Event()
            loop = asyncio.get_running_loop()

            def count(rows: Iterable[EncodedRow]) -> int:
                loop.call_soon_threadsafe(begun.set)
                assert gone.wait(60)
                return len([*rows])

            pouring = asyncio.create_task(log.scan_rows(count))
            await begun.wait()
            before = (await log.read_stats()).live
            await filled(log, 55, seed=9)
            gone.set()
            assert await pouring == (tip, before)
            begun.clear()
            gone.clear()
            pouring = asyncio.create_task(log.scan_rows(count))
            await begun.wait()
            pouring.cancel()
            gone.set()
            with pytest.raises(asyncio.CancelledError):
                await pouring

    story()


def test_a_fold_that_is_kept_while_others_write_takes_the_place_of_the_last(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        async with made(tmp_path) as log:
            large, small = tmp_path / "large", tmp_path / "small"
            large.write_bytes(bytes(range(256)) * 20_000)
            small.write_bytes(b"few")
            keeping_it = asyncio.create_task(log.write_state_file(large, START, 1))
            await filled(log, 55, seed=9)
            await keeping_it
            assert await log.read_state_file(tmp_path / "back", 1)
            assert (tmp_path / "back").read_bytes() == large.read_bytes()
            assert (tmp_path / "back").stat().st_mode & 0o777 == 0o600
            await log.write_state_file(small, START, 1)
            assert await log.read_state_file(tmp_path / "back", 1)
            assert (tmp_path / "back").read_bytes() == b"few"
            with pytest.raises(LogUnavailableError):
                await log.write_state_file(tmp_path / "missing", START, 1)
            with sqlite3.connect(tmp_path / "log.db") as file:
                assert file.execute("select count(*) from state_copy_piece").fetchone() == (1,)
            file.close()

    story()


def test_a_program_with_a_registry_in_it_uses_the_state_file_of_servers_and_writes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LEAST", 0)

    @told
    async def story() -> None:
        url, state = f"sqlite://{tmp_path}/log.db", tmp_path / "log.db-state"
        log = await SqliteLog.open(str(tmp_path / "log.db"))
        await filled(log, 20)
        for expected in (None, 5):
            if expected:
                await write(log, state, expected)
            node = await _node(url)
            await node.start()
            assert await everything(node) == await truth(tmp_path)
            assert (node.counts.reloads, node.status().state_file_age is None) == (0, expected is None)
            await node.ask(SetMode(Scope(".", "orders"), "READONLY" if expected else "READWRITE"))
            await node.close()
            assert state.exists() == (expected is not None)
        await log.close()

    story()
