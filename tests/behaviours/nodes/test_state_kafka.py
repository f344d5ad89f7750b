"""A node that starts on a large log on Kafka: from the state file that lies beside the fold, or from one of its own."""

import functools
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import KEPT, told
from tests.behaviours.nodes.lives import desk, post, world
from tests.behaviours.nodes.test_state_file import everything, filled
from tests.simulation.clock import Jobs
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from tests.simulation.kafka.owner.store import OwnerStore
from tests.simulation.model import Weather
from tests.simulation.runs.store import Door, Ground
from treaty.core.state.tables import DictTables
from treaty.log.kafka.multi_writer import spool
from treaty.log.kafka.multi_writer.chunks import STATE_FILE_FORMAT, ChunkError, digest_snapshot, read_chunk
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy
from treaty.log.kafka.partition import RecordBatch
from treaty.log.log import Log
from treaty.node.node import Node
from treaty.node.segment import manager as keeping
from treaty.node.segment import state_writer
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.manager import StateFileManager
from treaty.node.segment.state_writer import write
from treaty.node.segment.statefile import open_state


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "LARGE", 10)
    monkeypatch.setattr(state_writer, "FOLDED", 10)
    monkeypatch.setattr(spool, "MIN_SPOOLED_BYTES", 100)


def opened(partition: Partition, bytes_: int = 10**9) -> MultiWriterLog:
    link = LinkModel(partition, Storm(), random.Random(1), fetched=500)
    return MultiWriterLog(
        link, policy=SnapshotPolicy(records=10**9, bytes=bytes_), attempt=lambda: random.randbytes(16)
    )


@asynccontextmanager
async def started(log: Log, path: Path | None = None) -> AsyncIterator[tuple[Node, LayeredTables]]:
    tables = LayeredTables(small=0)
    state_files = StateFileManager(path, tables)
    state_files.open()
    node = Node(log, desk(), world(), tables, state_files)
    await node.start()
    try:
        yield node, tables
    finally:
        await node.close()


async def truth(log: Log) -> tuple[object, ...]:
    node = Node(log, desk(), world(), DictTables())
    await node.start()
    try:
        return await everything(node)
    finally:
        await node.close()


async def made(partition: Partition, tmp_path: Path) -> MultiWriterLog:
    """A log with a fold, a state file beside it, and a few rows after both; the file itself is gone."""
    log = opened(partition)
    await filled(log, 40)
    await log.compact()
    await write(log, tmp_path / "state", 5)
    (tmp_path / "state").unlink()
    await filled(log, 50, seed=8)
    return log


def chunks(partition: Partition) -> list[int]:
    """The places in the partition of chunks of state files."""
    found = []
    for place, record in enumerate(partition.records):
        try:
            if read_chunk(record.value or b"").format == STATE_FILE_FORMAT:
                found.append(place)
        except ChunkError:
            continue
    return found


def test_a_node_without_a_file_stands_on_the_one_beside_the_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    @told
    async def story() -> None:
        partition = Partition()
        await (await made(partition, tmp_path)).close()
        async with started(opened(partition)) as (node, tables):
            assert await everything(node) == await truth(opened(partition))
            assert node.counts.reloads == 0
            assert 0 < tables.changed < tables.size
            await node.ask(post("fresh"))
            assert await everything(node) == await truth(opened(partition))
        assert not [*(tmp_path / "tmp").iterdir()]

    story()


@pytest.mark.parametrize("harm", ["gone", "damaged", "another kind"])
def test_a_state_file_in_the_log_that_is_no_help_is_passed_over(tmp_path: Path, harm: str) -> None:
    @told
    async def story() -> None:
        partition = Partition()
        await (await made(partition, tmp_path)).close()
        place = chunks(partition)[0]
        record = partition.records[place]
        chunk = read_chunk(record.value or b"")
        data = bytes(chunk.payload)
        harmed = {
            "gone": None,
            "damaged": replace(chunk, payload=data[:-9] + b"x" + data[-8:]).record,
            "another kind": replace(chunk, rows=chunk.rows ^ 1).record,
        }[harm]
        partition.records[place] = replace(record, value=harmed)
        async with started(opened(partition)) as (node, tables):
            assert await everything(node) == await truth(opened(partition))
            assert tables.changed == 0, "all rows were gone through"

    story()


def test_a_state_file_in_the_log_of_another_root_is_passed_over(tmp_path: Path) -> None:
    """All that it says of itself fits, and the append at its place states another root than its chunks."""

    @told
    async def story() -> None:
        partition = Partition()
        await (await made(partition, tmp_path)).close()
        places = chunks(partition)
        found = [read_chunk(partition.records[place].value or b"") for place in places]
        other = replace(found[0].position, root=b"x" * 32)
        digest = digest_snapshot(other, found[0].rows, [one.payload for one in found])
        for place, one in zip(places, found, strict=True):
            value = replace(one, position=other, snapshot_digest=digest).record
            partition.records[place] = replace(partition.records[place], value=value)
        log = opened(partition)
        await log.tip()
        assert not await log.read_state_file(tmp_path / "none", found[0].rows)
        async with started(log) as (node, tables):
            assert await everything(node) == await truth(opened(partition))
            assert tables.changed == 0, "all rows were gone through"

    story()


def test_a_state_file_is_kept_once_and_again_when_much_came_after_it_or_a_fold_took_it(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        partition, path = Partition(), tmp_path / "state"
        log = await made(partition, tmp_path)
        before = len(chunks(partition))
        assert before > 0
        await write(log, path, 6)
        assert len(chunks(partition)) == before, "little came after it"
        hungry = opened(partition, bytes_=0)
        path.unlink()
        await write(hungry, path, 7)
        assert len(chunks(partition)) == before, "a file is not written for less than its own bytes"
        await filled(hungry, 400, seed=9)
        await write(hungry, path, 8)
        assert len(chunks(partition)) > before
        await log.compact()
        assert chunks(partition), "it lies behind the place of the fold, and is as good as before"
        await filled(log, 1, seed=10)
        await log.compact()
        assert not chunks(partition)
        await write(log, path, 9)
        assert chunks(partition)
        for one in (log, hungry):
            await one.close()

    story()


def test_a_place_that_is_not_in_this_history_is_not_kept(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        mine, other = Partition(), Partition()
        log, elsewhere = opened(mine), opened(other)
        await filled(log, 20)
        await filled(elsewhere, 20, seed=9)
        await write(elsewhere, tmp_path / "state", 5)
        await log.write_state_file(tmp_path / "state", await elsewhere.tip(), 1)
        assert not chunks(mine)
        await log.close()
        await elsewhere.close()

    story()


# ---------------------------------------------------------------------------------------------------- one owner


class Topic:
    """An owner's topic, and from where on it was read."""

    def __init__(self) -> None:
        calm = Weather(latency=0.0001)
        self.store = OwnerStore(Ground(calm, random.Random(1), Jobs(), KEPT))
        self.store.quiet(10**6)
        self.lives = itertools.count(1)
        self.read: list[int] = []
        read = self.store.partition.read

        def counted(offset: int, most: int) -> RecordBatch:
            self.read.append(offset)
            return read(offset, most)

        self.store.partition.read = counted  # type: ignore[method-assign]  # the same, and counts

    def opened(self) -> Log:
        """A node's way; who appends last is the owner."""
        life = next(self.lives)
        elect = functools.partial(self.store.elect, "node", life)
        self.read.clear()
        return self.store.open(Door("node", life, random.Random(life), step=lambda _: None, sends=lambda _: elect()))


def test_who_has_a_file_reads_only_what_came_after_it(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        topic, path = Topic(), tmp_path / "state"
        log = topic.opened()
        await filled(log, 40)
        await write(log, path, 5)
        mark = open_state(path).bookmark
        assert mark is not None
        assert mark > 100
        expected = await truth(log)
        async with started(topic.opened(), path) as (node, tables):
            assert await everything(node) == expected
            assert min(topic.read) == mark
            assert (node.counts.reloads, tables.changed) == (0, 0)
        writer = topic.opened()
        await filled(writer, 55, seed=8)
        expected = await truth(topic.opened())
        async with started(topic.opened(), path) as (node, tables):
            assert await everything(node) == expected
            assert min(topic.read) == mark
            assert node.counts.reloads == 0
            assert 0 < tables.changed < tables.size
        last = topic.opened()
        await write(last, path, 6)
        assert min(topic.read) == mark
        assert (open_state(path).bookmark or 0) > mark

    story()


def test_who_has_a_file_of_another_log_reads_everything(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        topic, other, path = Topic(), Topic(), tmp_path / "state"
        await filled(topic.opened(), 20)
        elsewhere = other.opened()
        await filled(elsewhere, 15, seed=9)
        await write(elsewhere, path, 5)
        async with started(topic.opened(), path) as (node, _):
            found = await everything(node)
            assert 0 in topic.read
            assert node.counts.reloads == 1
        assert found == await truth(topic.opened())

    story()
