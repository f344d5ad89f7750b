"""A state file that was changed by hand, or by a fault: it is noticed and dropped, and nothing wrong is ever served from it."""

import json
import logging
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.behaviours.logs.backends import BACKENDS, told
from tests.behaviours.nodes.hands import answers, blocks, other_version, swapped, truth_of
from tests.behaviours.nodes.test_state_file import filled, standing
from treaty.core.messages.schemas import GetSchema
from treaty.core.state.commit import MODULUS, START, as_root
from treaty.core.state.rows import EncodedRow, decode_row
from treaty.core.state.values import Schema
from treaty.log.memory import MemoryLog
from treaty.node.segment import statefile, value_format
from treaty.node.segment.build import build
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.state_writer import write
from treaty.node.segment.statefile import StateFileError, open_state, write_state

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
                    await node.follower.catch_up()
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
            await node.follower.catch_up()
            assert node.counts.reloads == 1
            assert await answers(node, tables, await truth_of(log)) == 0

    story()


@pytest.mark.parametrize("later", [0, 1], ids=["at-the-tip", "below-the-tip"])
@pytest.mark.parametrize("change", [_both, _digest], ids=["root", "digest"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_head_that_the_log_does_not_know_is_dropped_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, backend: str, change: Callable[[dict[str, Any]], None], later: int
) -> None:
    """The shares fit the root; only the log knows that both are wrong."""

    @told
    async def story() -> None:
        log, path = await BACKENDS[backend](tmp_path)(), tmp_path / "state"
        await filled(log, 12)
        await write(log, path, 5)
        with_head(path, change)
        stated = open_state(path).position.root.hex()
        if later:
            await filled(log, 15, seed=8)
        truth = await truth_of(log)
        with caplog.at_level(logging.WARNING, "treaty.node"):
            async with standing(log, path) as (node, tables):
                await node.follower.catch_up()
                assert await answers(node, tables, truth) == 0
                assert node.counts.reloads == 1
                assert node.status().state_file_age is None
        (line,) = [one.getMessage() for one in caplog.records if "is dropped" in one.getMessage()]
        assert str(path) in line
        assert stated in line
        assert as_root(truth.roots).hex() in line

    story()


def test_rows_of_another_file_of_the_same_place_are_noticed(tmp_path: Path) -> None:
    """Bytes of one file in the place of those of another: each block is a whole one, and has its own rows' keys."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 15)
        await write(log, path, 5)
        rows, truth = (await log.read(START)).rows, await truth_of(log)
        (at, size) = next((at, size) for name, at, size in columns_of(path) if name == "data:version")
        ends = build(rows).columns["ends:version"]
        others = (build([other_version(row, by) for row in rows]).columns for by in range(1, 500))
        block = b"".join(map(bytes, next(one["data:version"] for one in others if one["ends:version"] == ends)))
        assert len(block) == size
        data = path.read_bytes()
        path.write_bytes(data[:at] + block + data[at + size :])
        async with standing(log, path) as (node, tables):
            await node.follower.catch_up()
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
            blocks(built, "schema", build(swapped(rows)))
        else:
            place = next(
                number
                for number, row in enumerate(rows)
                if isinstance(value := decode_row(row).value, Schema) and value.references
            )
            rows[place] = EncodedRow(
                rows[place].table, rows[place].key, (rows[place].value or "").replace('"text":"[\\"', '"text":"[\\"x')
            )
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(value_format, "has_its_guid", lambda _: True)
                blocks(built, "schema", build(rows))
        write_state(path, built, delta.tip, 5)
        async with standing(log, path) as (node, tables):
            await node.follower.catch_up()
            assert node.counts.reloads == 0
            assert await answers(node, tables, truth) == 1
            assert node.counts.reloads == 1
            assert (await node.ask(GetSchema(1))).answer == right

    story()
