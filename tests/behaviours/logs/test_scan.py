"""Reading a whole log on Kafka: its records are in memory up to a limit, and what is more lies in a file."""

import asyncio
import random
from dataclasses import replace

import pytest

from tests.behaviours.logs.backends import KEPT, attempt, chain, put, row
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.core import limits
from treaty.core.state.commit import START
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.multi_writer import scan
from treaty.log.kafka.multi_writer.chunks import SnapshotChunk
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy
from treaty.log.kafka.multi_writer.reader_state import (
    InvalidRecord,
    ScannedRecord,
    build_state,
    collect_changes,
    read_claim,
)
from treaty.log.kafka.multi_writer.scan import RecordJournal, ScanResult
from treaty.log.kafka.multi_writer.spool import PayloadSpool, SpooledBytes

APPENDS = 120
LIMIT = 4_000


def link(partition: Partition) -> LinkModel:
    return LinkModel(partition, Storm(), random.Random(1), fetched=3_000)


async def filled(*, folded: bool) -> Partition:
    """A partition with appends, one of them large, losers, strangers and, where it is folded, the chunks of a fold."""
    partition = Partition()
    log = MultiWriterLog(link(partition), policy=SnapshotPolicy(appends_kept=KEPT, margin=5), attempt=attempt)
    for number in range(APPENDS):
        tip = await log.tip()
        await put(log, row(f"k{number % 50}", f'{{"n":{number},"pad":"{"x" * 200}"}}'), row(f"gone{number}", None))
        if number % 10 == 0:
            partition.append(b"not ours")
            partition.append(chain(tip, [row("late", "{}")]).envelope)
        if folded and number == APPENDS // 2:
            await log.compact()
    await put(log, row("large", f'{{"pad":"{"y" * 3 * LIMIT}"}}'))
    await log.close()
    return partition


@pytest.fixture
def journals(monkeypatch: pytest.MonkeyPatch) -> list[RecordJournal]:
    """Every journal that a scan makes."""
    made: list[RecordJournal] = []

    class Told(RecordJournal):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(scan, "RecordJournal", Told)
    return made


def in_memory(scanned: ScanResult) -> int:
    """Bytes of values that a reader has in memory."""
    held = sum(len(one.value) for one in scanned.state.buffered if isinstance(one.value, bytes))
    return held + sum(len(one.payload) for one in scanned.state.chunks if isinstance(one.payload, bytes))


def rows_of(scanned: ScanResult) -> set[EncodedRow]:
    return {*build_state(scanned.state.chunks, scanned.state.buffered)}


@pytest.mark.parametrize("folded", [False, True])
def test_a_scan_keeps_few_bytes_in_memory_and_reads_the_same(
    monkeypatch: pytest.MonkeyPatch, journals: list[RecordJournal], *, folded: bool
) -> None:
    async def both() -> tuple[ScanResult, ScanResult]:
        partition = await filled(folded=folded)
        journals.clear()
        plain = await scan.scan_partition(link(partition), KEPT, 10**9)
        monkeypatch.setattr(limits, "SCAN_BYTES", LIMIT)
        return plain, await scan.scan_partition(link(partition), KEPT, 10**9)

    plain, bounded = asyncio.run(both())
    assert journals[0].in_file == 0
    assert 0 < journals[1].in_memory <= LIMIT < journals[0].in_memory
    assert journals[1].in_file > APPENDS // 3
    assert len(journals[0]) == len(journals[1])
    assert (bounded.first, bounded.next) == (plain.first, plain.next)
    one, other = plain.state, bounded.state
    assert (one.tip, one.base, one.counts, one.pending_snapshots, one.buffered_bytes) == (
        other.tip,
        other.base,
        other.counts,
        other.pending_snapshots,
        other.buffered_bytes,
    )
    assert [(each.before, each.after, each.offset) for each in one.buffered] == [
        (each.before, each.after, each.offset) for each in other.buffered
    ]
    assert rows_of(bounded) == rows_of(plain)
    assert [*collect_changes(other.buffered)] == [*collect_changes(one.buffered)]


def test_a_state_is_worked_out_without_the_commits_of_all_appends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scanned() -> ScanResult:
        partition = await filled(folded=False)
        monkeypatch.setattr(limits, "SCAN_BYTES", LIMIT)
        return await scan.scan_partition(link(partition), KEPT, 10**9)

    found = asyncio.run(scanned())
    assert len(rows_of(found)) == 51
    assert not any(one.commits for one in found.state.buffered)
    assert in_memory(found) <= LIMIT


def test_a_node_that_starts_on_a_long_log_has_the_last_appends_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SCAN_BYTES", LIMIT)

    async def started() -> None:
        partition = await filled(folded=False)
        log = MultiWriterLog(link(partition), policy=SnapshotPolicy(appends_kept=KEPT, margin=5), attempt=attempt)
        delta = await log.read(START)
        assert delta.reload
        assert len(delta.rows) == 51
        place = await put(log, row("new", "{}"))
        assert [one.key for one in (await log.read(delta.tip)).rows] == ['["new"]']
        assert (await log.read(place)).rows == ()
        await log.close()

    asyncio.run(started())


def test_records_without_bytes_are_bounded_too_and_come_back_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SCAN_BYTES", LIMIT)
    journal = RecordJournal()
    records = [
        ScannedRecord(at * 3, InvalidRecord.DAMAGED if at % 3 else InvalidRecord.FOREIGN, b"", f"node{at % 5}")
        for at in range(1_000)
    ]
    for one in records:
        journal.add(one)
    assert len(journal) - journal.in_file < 10
    assert [replace(one, value=bytes(one.value)) for one in journal] == records
    assert journal.next == 2_998


def test_records_stay_in_memory_where_no_file_can_be_written(
    monkeypatch: pytest.MonkeyPatch, journals: list[RecordJournal]
) -> None:
    def full(self: PayloadSpool, payload: bytes, *, min_bytes: int | None = None) -> bytes:
        return payload

    async def scanned() -> ScanResult:
        partition = await filled(folded=True)
        journals.clear()
        monkeypatch.setattr(limits, "SCAN_BYTES", LIMIT)
        monkeypatch.setattr(PayloadSpool, "store", full)
        return await scan.scan_partition(link(partition), KEPT, 10**9)

    found = asyncio.run(scanned())
    assert len(rows_of(found)) == 52, "the row that names the fold is one"
    assert journals[0].in_file == 0
    assert not any(isinstance(one.value, SpooledBytes) for one in found.state.buffered)


def snapshots_of(partition: Partition) -> set[bytes]:
    claims = [read_claim(record.value) for record in partition.records]
    return {claim.snapshot_digest for claim in claims if isinstance(claim, SnapshotChunk)}


BOUNDS = {"by records": SnapshotPolicy(records=10, margin=5), "by bytes": SnapshotPolicy(bytes=10_000, margin=5)}


@pytest.mark.parametrize("starts_again", [False, True])
@pytest.mark.parametrize("name", BOUNDS)
def test_snapshots_come_as_seldom_as_their_policy_says(name: str, *, starts_again: bool) -> None:
    """A snapshot begins a new count of the records and of their bytes, in a node that goes on and in one that starts."""
    bounds = BOUNDS[name]

    async def count_snapshots() -> tuple[int, int]:
        partition, digests, written = Partition(), set[bytes](), 0
        log = MultiWriterLog(link(partition), policy=bounds, attempt=attempt)
        for number in range(60):
            await put(log, row(f"k{number % 3}", f'{{"n":{number},"pad":"{"x" * 1_000}"}}'))
            written += len(partition.records[-1].value or b"")
            if log._snapshot_task is not None:
                await log._snapshot_task
            digests |= snapshots_of(partition)  # the prefix of the log is cut with each
            if starts_again and number % 25 == 24:
                await log.close()
                log = MultiWriterLog(link(partition), policy=bounds, attempt=attempt)
        await log.close()
        return len(digests), written

    snapshots, written = asyncio.run(count_snapshots())
    expected = max(60 / bounds.records, written / bounds.bytes)
    assert expected - 2 <= snapshots <= expected + 1
