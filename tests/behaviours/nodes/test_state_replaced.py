"""What becomes of a state file that a node has dropped, which rows get into a new one, and whose files are taken."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import told
from tests.behaviours.nodes.hands import answers, blocks, other_version, swapped, truth_of
from tests.behaviours.nodes.lives import desk, world
from tests.behaviours.nodes.test_state_file import filled, standing
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import subject_of
from treaty.core.state.commit import START
from treaty.log.log import Log, LogDamagedError
from treaty.log.memory import MemoryLog
from treaty.node.node import Node
from treaty.node.segment import build as building
from treaty.node.segment import manager as keeping
from treaty.node.segment.build import build
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.manager import StateFileManager
from treaty.node.segment.state_writer import write
from treaty.node.segment.statefile import StateFileError, open_state, write_state


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@asynccontextmanager
async def serving(log: Log, path: Path, writes: list[int]) -> AsyncIterator[tuple[Node, LayeredTables]]:
    """A node of a server, which writes its state file anew when that is worth it."""

    async def writer(_: object) -> None:
        writes.append(1)
        await write(log, path, 9)

    tables = LayeredTables(small=0)
    state_files = StateFileManager(path, tables, writer)
    state_files.open()
    node = Node(log, desk(), world(), tables, state_files)
    await node.start()
    try:
        await node.follower.catch_up()
        yield node, tables
    finally:
        await node.close()


def test_a_server_replaces_a_file_that_it_dropped_and_copies_nothing_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(building, "SAMPLES", 1)

    @told
    async def story() -> None:
        log, path, writes = MemoryLog(str(tmp_path)), tmp_path / "state", list[int]()
        await filled(log, 30)
        delta, truth = await log.read(START), await truth_of(log)
        forged = build(delta.rows)
        blocks(forged, "schema", build(swapped([*delta.rows])))
        write_state(path, forged, delta.tip, 5)
        async with serving(log, path, writes) as (node, tables):
            assert await answers(node, tables, truth) == 1
            async with asyncio.timeout(30):
                while node.status().state_file_age is None:  # noqa: ASYNC110 - it is the node that does it
                    await asyncio.sleep(0.01)
            assert writes == [1]
            assert open_state(path).written == 9
            assert await answers(node, tables, truth) == 0
            assert node.counts.reloads == 1

    story()


def test_the_file_of_another_log_is_left_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two servers that were given one path would else take it from each other for ever."""
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.01)

    @told
    async def story() -> None:
        log, other, path, writes = MemoryLog(str(tmp_path)), MemoryLog(), tmp_path / "state", list[int]()
        await filled(log, 10)
        await filled(other, 12, seed=9)
        await write(other, path, 5)
        async with serving(log, path, writes) as (node, tables):
            assert await answers(node, tables, await truth_of(log)) == 0
            await asyncio.sleep(0.1)
            assert not writes
        assert open_state(path).written == 5

    story()


def test_rows_that_do_not_come_to_the_root_of_the_log_never_replace_a_file(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(appends_kept=1), tmp_path / "state"
        await filled(log, 20)
        await write(log, path, 5)
        await filled(log, 30, seed=8)  # the place of the file is forgotten: all rows are read
        good, rows = path.read_bytes(), log._store.rows
        place = next(place for place in rows if place[0] == "subject")
        row = rows.pop(place)
        for file in (path, tmp_path / "first"):
            with pytest.raises(LogDamagedError, match=r"the rows come to the state root [0-9a-f]{64}, the log states"):
                await write(log, file, 6)
        assert path.read_bytes() == good
        assert _names(tmp_path) == [path.name]
        rows[place] = row
        await write(log, path, 7)
        assert open_state(path).written == 7

    story()


def test_a_file_that_does_not_come_to_the_root_is_not_copied_from(tmp_path: Path) -> None:
    """Its checksums are right, and its head was the log's: the row that goes shows that it was another one."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 30)
        delta = await log.read(START)
        forged = build(delta.rows)
        blocks(forged, "version", build([other_version(row, 1) for row in delta.rows]))
        write_state(path, forged, delta.tip, 5)
        async with standing(log, tmp_path / "none") as (node, _):
            await node.ask(DeleteSubject(subject_of("s4")))
        await write(log, path, 6)
        async with standing(log, path) as (node, tables):
            await node.follower.catch_up()
            assert await answers(node, tables, await truth_of(log)) == 0
            assert node.counts.reloads == 0

    story()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o777])
def test_a_file_that_others_may_write_is_refused_by_name(tmp_path: Path, mode: int) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 10)
        await write(log, path, 5)
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(mode)
        with pytest.raises(StateFileError, match=f"may be written by its group or by others .mode 0{mode:o}.: chmod"):
            open_state(path)
        assert open_state(path, to_check=True).written == 5
        async with standing(log, path) as (node, tables):
            await node.follower.catch_up()
            assert node.counts.reloads == 1
            assert await answers(node, tables, await truth_of(log)) == 0
        await write(log, path, 6)
        assert path.stat().st_mode & 0o777 == 0o600
        assert open_state(path).written == 6

    story()


def test_a_file_of_another_user_is_refused_by_name_and_one_of_root_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 10)
        await write(log, path, 5)
        owner = path.stat().st_uid
        monkeypatch.setattr(os, "geteuid", lambda: owner + 7)
        if owner:
            with pytest.raises(StateFileError, match=f"belongs to user {owner}.*this process's user .{owner + 7}."):
                open_state(path)
        else:
            assert open_state(path).written == 5
            os.chown(path, 4, -1)
            with pytest.raises(StateFileError, match=r"belongs to user 4.*this process's user .7."):
                open_state(path)
        assert open_state(path, to_check=True).written == 5

    story()


def test_a_newer_file_that_does_not_come_to_the_root_is_dropped_and_the_older_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log knows its place: the row that came since shows that it was another one."""
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.01)

    @told
    async def story() -> None:
        log, path, writes = MemoryLog(str(tmp_path)), tmp_path / "state", list[int]()
        await filled(log, 30)
        await write(log, path, 5)
        delta = await log.read(START)
        async with serving(log, path, writes) as (node, tables):
            await node.ask(DeleteSubject(subject_of("s4")))
            truth = await truth_of(log)
            forged = build(delta.rows)
            blocks(forged, "version", build([other_version(row, 1) for row in delta.rows]))
            with caplog.at_level(logging.WARNING, "treaty.node"):
                write_state(path, forged, delta.tip, 6)
                async with asyncio.timeout(30):
                    while not writes:
                        assert await answers(node, tables, truth) == 0
                        await asyncio.sleep(0.01)
            assert node.status().state_file_age is not None
            assert node.counts.reloads == 0
            assert any("is dropped" in one.getMessage() for one in caplog.records)
            async with asyncio.timeout(30):
                while tables.changed:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert await answers(node, tables, truth) == 0

    story()


def test_a_file_that_is_dropped_while_a_writer_fails_is_replaced_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is dropped while another one is being written for a reason of its own, which then comes to nothing."""
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(keeping, "AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(building, "SAMPLES", 1)

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 30)
        delta, truth = await log.read(START), await truth_of(log)
        forged = build(delta.rows)
        blocks(forged, "schema", build(swapped([*delta.rows])))
        write_state(path, forged, delta.tip, 5)
        begun, dropped = asyncio.Event(), asyncio.Event()

        async def writer(_: object) -> None:
            if begun.is_set():
                await write(log, path, 9)
                return
            begun.set()
            await dropped.wait()

        tables = LayeredTables(small=0)
        state_files = StateFileManager(path, tables, writer)
        state_files.open()
        node = Node(log, desk(), world(), tables, state_files)
        with monkeypatch.context() as much_has_changed:
            much_has_changed.setattr(keeping, "LEAST", 0)
            much_has_changed.setattr(keeping, "SHARE", 0.0)
            await node.start()
            await begun.wait()
        try:
            assert await answers(node, tables, truth) == 1
            dropped.set()
            async with asyncio.timeout(30):
                while not path.exists():  # noqa: ASYNC110 - it is the node that does it
                    await asyncio.sleep(0.01)
        finally:
            await node.close()
        assert open_state(path).written == 9

    story()
