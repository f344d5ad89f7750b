"""A node that stands on a state file: it knows what one does that has read the log, whatever the file is like."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import told
from tests.behaviours.nodes.lives import desk, post, world
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.schema import Draft, Metadata, Reference
from treaty.core.state.commit import START
from treaty.core.state.tables import DictTables
from treaty.log.log import Log
from treaty.log.memory import MemoryLog
from treaty.node.node import Node
from treaty.node.segment import manager as keeping
from treaty.node.segment import statefile
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.manager import StateFileManager
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.state_writer import write
from treaty.node.segment.statefile import StateFileError, open_state


@asynccontextmanager
async def standing(log: Log, path: Path) -> AsyncIterator[tuple[Node, LayeredTables]]:
    """A node on a state file, while the block runs."""
    tables = LayeredTables(small=0)
    state_files = StateFileManager(path, tables)
    state_files.open()
    node = Node(log, desk(), world(), tables, state_files)
    await node.start()
    try:
        yield node, tables
    finally:
        await node.close()


async def filled(log: Log, count: int = 250, seed: int = 7) -> None:
    """Write subjects with versions, references and metadata."""
    chance = random.Random(3)
    node = Node(log, desk(), world(seed), DictTables())
    await node.start()
    for number in range(count):
        names = [f"{chance.choice('abcdefgh')}{number}_{place}?" for place in range(chance.randrange(1, 30))]
        metadata = Metadata(properties=(("team", "é"),)) if number % 9 == 0 else None
        references = (Reference("n", "s1", 1),) if number % 11 == 2 else ()
        draft = Draft(json.dumps(names), "TOY", references, metadata)
        await node.ask(Register(subject_of(f"s{number % 60}"), draft))
    for task in node._tasks:
        task.cancel()
    await asyncio.gather(*node._tasks, return_exceptions=True)


async def everything(node: Node) -> tuple[object, ...]:
    names = (await node.ask(ListSubjects())).answer.names
    versions = []
    for name in names:
        for number in (await node.ask(ListVersions(subject_of(name), "all"))).answer.numbers:
            versions.append((await node.ask(GetVersion(subject_of(name), number, deleted=True))).answer)
    return names, versions, node.status().state_root


def test_a_node_on_a_state_file_knows_what_the_log_has(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log)
        written = await write(log, path, 5)
        plain = Node(MemoryLog(str(tmp_path)), desk(), world(), DictTables())
        await plain.start()
        async with standing(log, path) as (node, tables):
            assert await everything(node) == await everything(plain)
            assert node.status().state_root == written.state
            assert node.counts.reloads == 0
            assert tables.changed == 0
            await node.ask(post("s1", '["b?","c?"]'))
            await node.ask(post("fresh"))
            assert await everything(node) == await everything(plain)
            assert 0 < tables.changed < 40
        await plain.close()

    story()


def test_what_came_after_the_file_is_read_from_the_log(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 100)
        await write(log, path, 5)
        await filled(log, 130, seed=8)
        async with standing(log, path) as (node, tables):
            found = await everything(node)
            assert node.counts.reloads == 0
            assert tables.changed > 0
        await write(log, path, 6)
        async with standing(log, path) as (node, tables):
            assert await everything(node) == found
            assert tables.changed == 0
            assert node.counts.reloads == 0

    story()


def test_a_newer_file_is_taken_up_while_the_node_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LOOK_SECONDS", 0.01)

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 100)
        async with standing(log, path) as (node, tables):
            before = await everything(node)
            assert node.status().state_file_age is None
            await write(log, path, 5)
            await filled(log, 120, seed=8)
            while node.status().state_file_age is None:
                assert (await everything(node))[0] == before[0]
                await asyncio.sleep(0.01)
            assert tables.changed < tables.size
            async with standing(log, tmp_path / "none") as (other, _):
                assert await everything(node) == await everything(other)

    story()


def test_the_file_of_another_log_or_of_another_time_is_no_help(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log, other, path = MemoryLog(str(tmp_path)), MemoryLog(), tmp_path / "state"
        await filled(log, 80)
        await filled(other, 70)
        await write(other, path, 5)
        async with standing(log, path) as (node, _):
            assert len((await everything(node))[0]) == 60  # type: ignore[arg-type]
            assert node.counts.reloads == 1
        ahead = MemoryLog()
        delta = await log.read(START)
        await write(log, path, 5)
        assert delta.tip == open_state(path).position
        async with standing(ahead, path) as (node, _):
            assert (await everything(node))[0] == ()

    story()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda data: b"", "can't be read"),
        (lambda data: b"x" * 100, "no state file"),
        (lambda data: data[:200], "head is damaged"),
        (lambda data: data[:-500], "cut short"),
        (lambda data: data[:8] + b"\0\0\0\2" + data[12:], "format 2"),
        (lambda data: data[:40] + b"?" + data[41:], "head is damaged"),
    ],
    ids=["empty", "strange", "half-a-head", "cut", "newer", "bit"],
)
def test_a_file_that_can_not_be_used_is_left_aside(tmp_path: Path, harm: object, message: str) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 80)
        await write(log, path, 5)
        path.write_bytes(harm(path.read_bytes()))  # type: ignore[operator]
        with pytest.raises(StateFileError, match=message):
            open_state(path)
        async with standing(log, path) as (node, _):
            assert len((await everything(node))[0]) == 60  # type: ignore[arg-type]
        await write(log, path, 6)
        assert open_state(path).written == 6

    story()


@pytest.mark.parametrize("name", ["RELEASE", "INDEX_FORMAT"])
def test_a_file_of_another_release_is_left_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Another release may find rows by other entries, and so may other sources of the same release."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 80)
        with monkeypatch.context() as patch:
            patch.setattr(statefile, name, "0.0.1")
            await write(log, path, 5)
            assert open_state(path).written == 5
        with pytest.raises(StateFileError, match=r"by release 0\.0\.1" if name == "RELEASE" else "by release"):
            open_state(path)
        async with standing(log, path) as (node, _):
            assert len((await everything(node))[0]) == 60  # type: ignore[arg-type]
            assert node.counts.reloads == 1
        await write(log, path, 6)
        assert open_state(path).written == 6

    story()


def test_what_a_file_has_is_copied_into_the_next_one_and_damage_is_not(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 120)
        await write(log, path, 5)
        await filled(log, 130, seed=8)
        data = bytearray(path.read_bytes())
        at = 4096 + (len(data) - 4096) // 2
        path.write_bytes(bytes(data[:at]) + bytes(byte ^ 0x55 for byte in data[at : at + 40]) + bytes(data[at + 40 :]))
        await write(log, path, 6)
        open_state(path).check()
        async with standing(log, path) as (node, _), standing(log, tmp_path / "none") as (sound, _):
            assert await everything(node) == await everything(sound)
            assert node.counts.reloads == 0

    story()


@pytest.mark.parametrize("part", range(12))
def test_damage_inside_is_found_and_everything_is_read_from_the_log(tmp_path: Path, part: int) -> None:
    """Twelve places all over the file, each damaged on its own: no answer is ever wrong, and all are right in the end."""

    @told
    async def story() -> None:
        log, path = MemoryLog(str(tmp_path)), tmp_path / "state"
        await filled(log, 120)
        await write(log, path, 5)
        async with standing(log, tmp_path / "none") as (sound, _):
            truth = await everything(sound)
            data = bytearray(path.read_bytes())
            head = 4096  # the JSON, which has a test of its own
            at = head + (len(data) - head) * part // 12
            data[at : at + 40] = bytes(byte ^ 0x55 for byte in data[at : at + 40])
            path.write_bytes(data)
            async with standing(log, path) as (node, _):
                for _ in range(20):
                    try:
                        assert await everything(node) == truth
                        break
                    except SegmentDamagedError:
                        continue
                else:
                    raise AssertionError("it never got well")
                assert (await node.ask(GetSchema(1))).answer == (await sound.ask(GetSchema(1))).answer
                with suppress(SegmentDamagedError):
                    await node.ask(post("fresh"))
                await node.ask(post("fresh"))
                assert await everything(node) == await everything(sound)
            await write(log, path, 6)
            assert (await everything(sound))[2] == (await write(log, path, 7)).state

    story()
