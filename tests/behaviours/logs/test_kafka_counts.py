"""What a node knows of a Kafka log beside its rows: who won last, how much came since a snapshot, and which state files are in it."""

import asyncio
import random
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import attempt, put, row
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.core.state.commit import NO_ROOT, START, Position
from treaty.log.kafka.multi_writer import chunks, spool
from treaty.log.kafka.multi_writer.chunks import STATE_FILE_FORMAT, SnapshotChunk, make_chunks, make_state_file_chunks
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy
from treaty.log.kafka.multi_writer.reader_state import ReaderState, read_claim
from treaty.log.kafka.multi_writer.spool import PayloadSpool
from treaty.log.log import Leader

MANY = SnapshotPolicy(records=10**6, bytes=10**9)


def opened(partition: Partition, policy: SnapshotPolicy = MANY, address: str = "") -> MultiWriterLog:
    link = LinkModel(partition, Storm(), random.Random(1), fetched=3_000)
    return MultiWriterLog(link, policy=policy, attempt=attempt, address=address)


def chunks_of(partition: Partition, *, state_files: bool) -> list[int]:
    """Offsets of the chunks of snapshots or of state files."""
    claims = ((record.offset, read_claim(record.value)) for record in partition.records)
    return [
        offset
        for offset, claim in claims
        if isinstance(claim, SnapshotChunk) and (claim.format == STATE_FILE_FORMAT) == state_files
    ]


def test_the_node_that_won_last_is_known_with_its_address_or_without() -> None:
    async def story() -> None:
        partition = Partition()
        logs = {name: opened(partition, address=name) for name in ("a", "b", "")}
        for winner in ("a", "", "b", "a", ""):
            await put(logs[winner], row("k", "{}"))
            for name, log in logs.items():
                await log.tip()
                is_own = name == winner
                assert await log.leader() == (Leader(winner, is_own) if winner or is_own else None)

    asyncio.run(story())


PAD = random.Random(4).randbytes(40_000).hex()
"""Text that takes as many bytes in a snapshot as in the log, about."""


@pytest.mark.parametrize("by", ["records", "bytes"])
def test_a_large_snapshot_is_followed_by_another_one_once_as_much_came_after_it(by: str) -> None:
    """However little the policy says, also in a node that began at the snapshot."""

    async def story() -> None:
        partition = Partition()
        policy = SnapshotPolicy(records=5, margin=0) if by == "records" else SnapshotPolicy(bytes=2_000, margin=0)
        log = opened(partition)
        for number in range(40):
            await put(log, row(f"k{number}", f'{{"pad":"{PAD[1_000 * number : 1_000 * (number + 1)]}"}}'))
        await log.compact()
        await log.close()
        log = opened(partition, policy)
        await log.tip()
        before, after = chunks_of(partition, state_files=False), 0
        while chunks_of(partition, state_files=False) == before:
            await put(log, row("k1", f'{{"n":{after},"pad":"{"x" * 1_000}"}}'))
            after += 1
            if log._snapshot_task is not None:
                await log._snapshot_task
        await log.close()
        assert (16 if by == "records" else 10) <= after <= 42

    asyncio.run(story())


def test_a_snapshot_that_can_not_be_named_is_not_tried_at_each_append(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        partition, tries = Partition(), 0
        log = opened(partition, SnapshotPolicy(records=20, margin=0))

        async def refused(margin: int) -> bool:
            nonlocal tries
            tries += 1
            return False

        monkeypatch.setattr(log, "_write_snapshot", refused)
        for number in range(40):
            await put(log, row("k", f'{{"n":{number}}}'))
            if log._snapshot_task is not None:
                await log._snapshot_task
        await log.close()
        assert 5 <= tries <= 11, "a tenth of what is due lies between two tries"

    asyncio.run(story())


def test_a_snapshot_is_as_large_as_all_its_chunks() -> None:
    position = Position(b"i" * 16, 3, b"d" * 32, NO_ROOT)
    made = make_chunks(position, [], size=7)
    state = ReaderState.at(position, made, 10, 10)
    assert len(made) > 1
    assert state.last_snapshot == (0, sum(len(chunk.payload) for chunk in made))
    assert ReaderState.at(START, (), 10, 10).last_snapshot == (0, 0)


def test_what_a_log_says_of_itself_begins_at_its_snapshot() -> None:
    async def story() -> None:
        log = opened(Partition())
        for number in range(4):
            await put(log, row(f"k{number}", "{}"))
        place = await log.tip()
        await log.compact()
        await put(log, row("k0", None), row("k9", "{}"))
        stats = await log.read_stats()
        assert (stats.live, stats.appends, stats.oldest) == (5, 2, place.sequence), "the row that names it is one"
        await log.close()

    asyncio.run(story())


def test_a_state_file_counts_where_it_is_whole_and_not_older_than_the_snapshot(tmp_path: Path) -> None:
    """At the place of the snapshot it is as good as behind it; one of which a chunk is missing is written again."""
    path = tmp_path / "state"
    path.write_bytes(b"state")

    async def story() -> None:
        partition = Partition()
        log = opened(partition)
        await put(log, row("k", "{}"))
        await log.write_state_file(path, await log.tip(), 7)
        kept = chunks_of(partition, state_files=True)
        await log.compact()
        await log.write_state_file(path, await log.tip(), 7)
        assert chunks_of(partition, state_files=True) == kept
        assert len(kept) == 1
        await log.write_state_file(path, await log.tip(), 8)
        assert len(chunks_of(partition, state_files=True)) == 2, "of another kind"
        await log.close()

        log = opened(partition)
        assert await log.read_state_file(tmp_path / "again", 8)
        assert (tmp_path / "again").read_bytes() == b"state"
        assert (tmp_path / "again").stat().st_mode & 0o777 == 0o600
        await log.close()

    asyncio.run(story())


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_state_file_of_which_a_chunk_is_missing_is_written_again(
    missing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "SNAPSHOT_CHUNK_BYTES", 4)
    path = tmp_path / "state"
    path.write_bytes(b"state-file")

    async def story() -> None:
        partition = Partition()
        log = opened(partition)
        await put(log, row("k", "{}"))
        await log.write_state_file(path, await log.tip(), 7)
        lost = chunks_of(partition, state_files=True)[missing]
        await log.close()
        partition.records[:] = [
            replace(record, value=b"x") if record.offset == lost else record for record in partition.records
        ]
        log = opened(partition)
        assert not await log.read_state_file(tmp_path / "none", 7)
        await log.write_state_file(path, await log.tip(), 7)
        assert len(chunks_of(partition, state_files=True)) == 2 + 3
        await log.close()

    asyncio.run(story())


def test_a_file_of_too_many_chunks_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "SNAPSHOT_CHUNK_BYTES", 4)
    path = tmp_path / "state"
    path.write_bytes(b"state-file")
    for most, count in ((3, 3), (2, 0)):
        monkeypatch.setattr(chunks, "SNAPSHOT_CHUNKS", most)
        made = make_state_file_chunks(START, path, 7)
        assert len(made) == count
        assert b"".join(bytes(chunk.payload) for chunk in made) == (b"state-file" if count else b"")


def test_bytes_that_a_file_takes_by_half_stay_in_memory() -> None:
    size = 3 * spool.MIN_SPOOLED_BYTES
    payloads = [bytes([number]) * size for number in range(4)]
    store = PayloadSpool()
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size + size // 2, former[1]))
    try:
        stored = [store.store(payload) for payload in payloads]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)
    assert [*map(bytes, stored)] == payloads
    assert [isinstance(payload, bytes) for payload in stored] == [False, False, True, True]
