"""A state file that was changed by hand, or by a fault: it is noticed and dropped, and nothing wrong is ever served from it."""

import asyncio
import json
import logging
import os
import struct
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.behaviours.logs.backends import told
from tests.behaviours.nodes.lives import desk, world
from tests.behaviours.nodes.test_state_file import filled, standing
from treaty.core.commit import MODULUS, START, Position, as_root
from treaty.core.names import subject_of
from treaty.core.requests import DeleteSubject, GetSchema
from treaty.core.rows import Encoded, Row, decode_row, encode_row
from treaty.core.tables import DictTables
from treaty.core.values import Schema, Version
from treaty.core.view import ALL_KEYS, INDEXES, ORDERED_TABLES, ORDERS, counted, index_entries
from treaty.log.log import Delta, Log, LogDamagedError
from treaty.log.memory import MemoryLog
from treaty.node.node import Node
from treaty.node.segment import build as building
from treaty.node.segment import forms, statefile
from treaty.node.segment import keeper as keeping
from treaty.node.segment.build import Built, build
from treaty.node.segment.keeper import Keeper
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.statefile import StateFileError, open_state, write_state
from treaty.node.segment.writing import write

HEAD = struct.Struct(">8sIII")
"""Magic, format, bytes of the JSON that follows, its CRC-32."""


def head_of(path: Path) -> tuple[dict[str, Any], int]:
    """The head of a state file, and where its columns begin."""
    data = path.read_bytes()
    _, _, size, _ = HEAD.unpack_from(data)
    end = HEAD.size + size
    return json.loads(data[HEAD.size : end]), -(-end // statefile.ALIGN) * statefile.ALIGN


def with_head(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the head as somebody does who knows the format: its checksum is right again."""
    head, start = head_of(path)
    columns = path.read_bytes()[start:]
    change(head)
    text = json.dumps(head).encode("ascii")
    whole = HEAD.pack(statefile.MAGIC, statefile.FORMAT, len(text), zlib.crc32(text)) + text
    path.write_bytes(whole.ljust(-(-len(whole) // statefile.ALIGN) * statefile.ALIGN, b"\0") + columns)


def flip(path: Path, at: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def seen(tables: DictTables | LayeredTables, rows: list[Row]) -> Callable[[int], object]:
    """Questions by number that together look at everything which a state file holds."""
    questions: list[Callable[[], object]] = []
    for row in rows:
        questions.append(partial(tables.get, row.table, row.key))
        questions.append(partial(tables.share, row.table, row.key))
        for name, entry in index_entries(row):
            if INDEXES[name].key_of is None:
                questions.append(partial(lambda *which: (*tables.find(*which),), name, entry))
        group = counted(row)
        if group is not None:
            questions.append(partial(tables.count, *group))
    for order in sorted(ORDERS | ORDERED_TABLES):
        questions.append(partial(lambda which: (*tables.walk(which, *ALL_KEYS),), order))
    questions.append(lambda: {*tables.rows()})
    questions.append(lambda: as_root(tables.roots))
    return lambda number: questions[number]() if number < len(questions) else None


async def answers(node: Node, tables: LayeredTables, truth: DictTables) -> int:
    """Ask until everything was answered rightly; return how often it was refused instead. A wrong answer fails."""
    rows = [decode_row(row) for row in truth.rows()]
    right, here = seen(truth, rows), seen(tables, rows)
    refused = number = 0
    while (expected := right(number)) is not None:
        try:
            assert here(number) == expected
            number += 1
        except SegmentDamagedError:
            refused += 1
            assert refused < 5, "it never got well"
            await node.follower.look()
    return refused


async def truth_of(log: Log) -> DictTables:
    tables, delta = DictTables(), await log.read(START)
    tables.load(delta.rows, delta.tip)
    return tables


class _Forgetful(MemoryLog):
    """A way to a memory log on which every place is forgotten, so that all rows are read."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__()
        self._shelf = log._shelf

    async def read(self, after: Position) -> Delta:
        delta = await super().read(START)
        return Delta(delta.tip, delta.rows, reload=True)


def _names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def columns_of(path: Path) -> list[tuple[str, int, int]]:
    """Names of the columns, where they begin in the file, and how many bytes they have; none that are empty."""
    head, start = head_of(path)
    return [(name, start + at, size) for name, (at, size, _) in head["columns"].items() if size]


def test_a_flipped_bit_in_any_column_is_noticed_before_anything_is_served_from_it(tmp_path: Path) -> None:
    """The first and the last byte of each column of a file."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 15)
        await write(log, path, 5)
        sound, truth = path.read_bytes(), await truth_of(log)
        columns = columns_of(path)
        kinds = {name.partition(":")[0] for name, _, _ in columns}
        assert kinds >= {"data", "ends", "firsts", "sums", "keys", "index", "heads", "groups", "odd"}
        for name, start, size in columns:
            for at, bit in {start: 0, start + size - 1: 7}.items():
                path.write_bytes(sound)
                flip(path, at, bit)
                async with standing(log, path) as (node, tables):
                    await node.follower.look()
                    refused = await answers(node, tables, truth)
                    assert refused or node.counts.reloads, f"{name}: byte {at - start} was not noticed"
                    assert node.counts.reloads == 1, name
                with pytest.raises((SegmentDamagedError, StateFileError), match=name):
                    open_state(path).check()

    story()


def test_a_flipped_bit_anywhere_in_the_head_makes_a_file_no_help(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 10)
        await write(log, path, 5)
        sound, (head, _) = path.read_bytes(), head_of(path)
        for at in [*range(HEAD.size), *range(HEAD.size, HEAD.size + len(json.dumps(head)), 11)]:
            path.write_bytes(sound)
            flip(path, at, at % 8)
            with pytest.raises(StateFileError):
                open_state(path)

    story()


def _root(head: dict[str, Any]) -> None:
    head["root"] = f"{(int(head['root'], 16) + 1) % MODULUS:064x}"


def _share(head: dict[str, Any]) -> None:
    head["roots"]["schema"] = f"{(int(head['roots']['schema'], 16) + 1) % MODULUS:064x}"


def _lost_share(head: dict[str, Any]) -> None:
    del head["roots"]["version"]


def _both(head: dict[str, Any]) -> None:
    _root(head)
    _share(head)


def _digest(head: dict[str, Any]) -> None:
    head["digest"] = f"{(int(head['digest'], 16) + 1) % MODULUS:064x}"


@pytest.mark.parametrize("change", [_root, _share, _lost_share], ids=["root", "share", "lost-share"])
def test_a_head_whose_shares_do_not_make_its_root_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 30)
        await write(log, path, 5)
        with_head(path, change)
        with pytest.raises(StateFileError, match=r"its tables come to the state root [0-9a-f]{64}, its head says"):
            open_state(path)
        async with standing(log, path) as (node, tables):
            await node.follower.look()
            assert node.counts.reloads == 1
            assert await answers(node, tables, await truth_of(log)) == 0

    story()


@pytest.mark.parametrize("later", [0, 1], ids=["at-the-tip", "below-the-tip"])
@pytest.mark.parametrize("change", [_both, _digest], ids=["root", "digest"])
def test_a_head_that_the_log_does_not_know_is_dropped_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: Callable[[dict[str, Any]], None], later: int
) -> None:
    """The shares fit the root; only the log knows that both are wrong."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 30)
        await write(log, path, 5)
        with_head(path, change)
        stated = open_state(path).position.root.hex()
        if later:
            await filled(log, 40, seed=8)
        truth = await truth_of(log)
        with caplog.at_level(logging.WARNING, "treaty.node"):
            async with standing(log, path) as (node, tables):
                await node.follower.look()
                assert await answers(node, tables, truth) == 0
                assert node.counts.reloads == 1
                assert node.status().state_file_age is None
        (line,) = [one.getMessage() for one in caplog.records if "is dropped" in one.getMessage()]
        assert str(path) in line
        assert stated in line
        assert as_root(truth.roots).hex() in line

    story()


def _swapped(rows: list[Encoded]) -> list[Encoded]:
    """The same rows, but the texts of two schemas have changed places."""
    read = [decode_row(row) for row in rows]
    schemas = {row.key: row.value for row in read if isinstance(row.value, Schema)}
    one, two = sorted(key for key, value in schemas.items() if not value.references and not value.metadata)[:2]
    other = {one: schemas[two], two: schemas[one]}
    return [
        encode_row(Row(row.table, row.key, other.get(row.key, row.value) if row.table == "schema" else row.value))
        for row in read
    ]


def _other_version(row: Encoded, by: int) -> Encoded:
    """The row, but each version of a subject says another time."""
    read = decode_row(row)
    if not isinstance(read.value, Version):
        return row
    return encode_row(replace(read, value=replace(read.value, time=read.value.time + by)))


def _blocks(built: Built, table: str, other: Built) -> None:
    """Give a file the rows of a table as another one has them; it is found by the marks of the first."""
    for kind in ("data", "ends", "firsts", "sums", "dictionary"):
        built.columns[f"{kind}:{table}"] = other.columns[f"{kind}:{table}"]


def test_rows_of_another_file_of_the_same_place_are_noticed(tmp_path: Path) -> None:
    """Bytes of one file in the place of those of another: each block is a whole one, and has its own rows' keys."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 60)
        await write(log, path, 5)
        rows, truth = (await log.read(START)).rows, await truth_of(log)
        (at, size) = next((at, size) for name, at, size in columns_of(path) if name == "data:version")
        others = (build([_other_version(row, by) for row in rows]).columns["data:version"] for by in range(1, 500))
        block = next(data for parts in others if len(data := b"".join(map(bytes, parts))) == size)
        data = path.read_bytes()
        path.write_bytes(data[:at] + block + data[at + size :])
        async with standing(log, path) as (node, tables):
            await node.follower.look()
            assert await answers(node, tables, truth) == 1
            assert node.counts.reloads == 1

    story()


@pytest.mark.parametrize("which", ["plain", "with-references"])
def test_a_text_that_is_not_the_one_of_its_guid_is_never_served(tmp_path: Path, which: str) -> None:
    """All checksums of the file are right, and so is the root in its head: somebody took pains."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 60)
        delta, truth = await log.read(START), await truth_of(log)
        async with standing(log, tmp_path / "none") as (sound, _):
            right = (await sound.ask(GetSchema(1))).answer
        built, rows = build(delta.rows), [*delta.rows]
        if which == "plain":
            _blocks(built, "schema", build(_swapped(rows)))
        else:
            place = next(
                number
                for number, row in enumerate(rows)
                if isinstance(value := decode_row(row).value, Schema) and value.references
            )
            rows[place] = Encoded(
                rows[place].table, rows[place].key, (rows[place].value or "").replace('"text":"[\\"', '"text":"[\\"x')
            )
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(forms, "has_its_guid", lambda _: True)
                _blocks(built, "schema", build(rows))
        write_state(path, built, delta.tip, 5)
        async with standing(log, path) as (node, tables):
            await node.follower.look()
            assert node.counts.reloads == 0
            assert await answers(node, tables, truth) == 1
            assert node.counts.reloads == 1
            assert (await node.ask(GetSchema(1))).answer == right

    story()


@asynccontextmanager
async def serving(log: Log, path: Path, writes: list[int]) -> AsyncIterator[tuple[Node, LayeredTables]]:
    """A node of a server, which writes its state file anew when that is worth it."""

    async def writer(_: object) -> None:
        writes.append(1)
        await write(log, path, 9)

    tables = LayeredTables(small=0)
    keeper = Keeper(path, tables, writer)
    keeper.open()
    node = Node(log, desk(), world(), tables, keeper)
    await node.start()
    try:
        await node.follower.look()
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
        _blocks(forged, "schema", build(_swapped([*delta.rows])))
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
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 30)
        await write(log, path, 5)
        good = path.read_bytes()
        rows = log._shelf.rows
        place = next(place for place in rows if place[0] == "subject")
        row = rows.pop(place)
        for file in (path, tmp_path / "first"):
            with pytest.raises(LogDamagedError, match=r"the rows come to the state root [0-9a-f]{64}, the log states"):
                await write(_Forgetful(log), file, 6)
        assert path.read_bytes() == good
        assert _names(tmp_path) == [path.name]
        rows[place] = row
        await write(_Forgetful(log), path, 7)
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
        _blocks(forged, "version", build([_other_version(row, 1) for row in delta.rows]))
        write_state(path, forged, delta.tip, 5)
        async with standing(log, tmp_path / "none") as (node, _):
            await node.ask(DeleteSubject(subject_of("s4")))
        await write(log, path, 6)
        async with standing(log, path) as (node, tables):
            await node.follower.look()
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
            await node.follower.look()
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
