"""Reads a whole partition: finds the start, and buffers the first records in memory and all others in a file."""

import logging
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from treaty.core import limits
from treaty.core.state.commit import START, AppendPrefix, read_prefix
from treaty.core.state.values import SnapshotPointer
from treaty.log.kafka.multi_writer.chunks import STATE_FILE_FORMAT, SnapshotChunk
from treaty.log.kafka.multi_writer.reader_state import (
    ADDRESS,
    HistoryChangedError,
    InvalidRecord,
    ReaderState,
    ScannedRecord,
    read_claim,
)
from treaty.log.kafka.multi_writer.spool import PayloadSpool, SpooledBytes
from treaty.log.kafka.multi_writer.validity import (
    NamedAppend,
    SnapshotCandidates,
    choose_start,
    collect_stated_roots,
    find_candidates,
    read_pointer,
    select_newest_state_files,
)
from treaty.log.kafka.partition import OffsetOutOfRangeError, PartitionClient, RecordBatch
from treaty.log.log import LogDamagedError, LogUnavailableError

_HEAD = 256
"""Bytes of an append that are read to learn what it claims."""
_OVERHEAD = 512
"""Bytes of memory that a record takes beside its value, about: the objects that say where it stood and what it claims."""
_CLAIMS = (None, InvalidRecord.FOREIGN, InvalidRecord.DAMAGED)
"""What a record in the file claims; None stands for an append, which says itself what it claims."""


class RecordJournal:
    """Records that can be gone through again and again.

    At most SCAN_BYTES of memory are taken by records, unless no file can be written. Of a record that lies in the file
    only a few numbers are in memory; its value is a `SpooledBytes`, whose bytes are read where they are asked for.
    """

    def __init__(self) -> None:
        """Hold nothing."""
        self.in_memory = 0
        """Bytes of memory that records take."""
        self.next: int | None = None
        """The offset after the last record."""
        self._spool = PayloadSpool()
        self._count = 0
        self._in_memory: dict[int, ScannedRecord] = {}
        """Records in memory, by their position."""
        self._first_in_file = 0
        """The position from which on the following have an entry for each record."""
        self._offsets, self._starts, self._sizes, self._senders = array("Q"), array("Q"), array("Q"), array("Q")
        self._claims = bytearray()
        self._addresses: dict[str, int] = {}

    def __len__(self) -> int:
        """How many records there are."""
        return self._count

    @property
    def in_file(self) -> int:
        """How many of them lie in the file."""
        return self._count - len(self._in_memory)

    def add(self, record: ScannedRecord) -> None:
        """Add the next record."""
        chunk = record.claim if isinstance(record.claim, SnapshotChunk) else None
        payload = record.value if chunk is None else chunk.payload
        full = self.in_memory + len(payload) + _OVERHEAD > limits.SCAN_BYTES
        if chunk is not None or full:
            payload = self._spool.store(bytes(payload), min_bytes=0 if full else None)
        if isinstance(payload, bytes):
            self.in_memory += len(payload) + _OVERHEAD
        if chunk is None and isinstance(payload, SpooledBytes):
            claim = 0 if isinstance(record.claim, AppendPrefix) else _CLAIMS.index(record.claim)
            sender = self._addresses.setdefault(record.address, len(self._addresses))
            self._add_to_file(record.offset, payload.start, payload.size, sender, claim)
        else:
            self._in_memory[self._count] = (
                record if chunk is None else replace(record, claim=replace(chunk, payload=payload))
            )
            if self._claims:
                self._add_to_file(0, 0, 0, 0, 0)
        self.next = record.offset + 1
        self._count += 1

    def _add_to_file(self, offset: int, start: int, size: int, sender: int, claim: int) -> None:
        if not self._claims:
            self._first_in_file = self._count
        self._offsets.append(offset)
        self._starts.append(start)
        self._sizes.append(size)
        self._senders.append(sender)
        self._claims.append(claim)

    def __iter__(self) -> Iterator[ScannedRecord]:
        """The records in their order. Raises `OSError` where the file can't be read."""
        addresses = [*self._addresses]
        for number in range(self._count):
            record = self._in_memory.get(number)
            if record is None:
                at = number - self._first_in_file
                value = self._spool.at(self._starts[at], self._sizes[at])
                claim = _CLAIMS[self._claims[at]] or read_prefix(value.read_first(_HEAD))
                record = ScannedRecord(self._offsets[at], claim, value, addresses[self._senders[at]])
            yield record


log = logging.getLogger("treaty.log")

FETCH_SECONDS = 5.0
"""How long a fetch waits for records that must be there."""
TRIES = 5
"""Times that a scan begins again because the front was cut away meanwhile."""
NONE_REJECTED: Mapping[bytes, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScanResult:
    """A reader that has read everything, the first offset that was there, and the offset to continue at."""

    state: ReaderState
    first: int
    next: int


def read_records(batch: RecordBatch) -> Iterator[ScannedRecord]:
    """What the records of a batch claim to be."""
    for record in batch.records:
        address = next((value for name, value in record.headers if name == ADDRESS), b"")
        claim, value = read_claim(record.value), record.value or b""
        yield ScannedRecord(
            record.offset, claim, b"" if isinstance(claim, SnapshotChunk) else value, address.decode("utf-8", "replace")
        )


async def scan_partition(
    client: PartitionClient,
    appends_kept: int,
    window: int,
    *,
    at_least: int = 0,
    without: Mapping[bytes, str] = NONE_REJECTED,
) -> ScanResult:
    """Read everything up to the end as it is now, or up to an offset where that is further.

    `without` are digests of snapshots that are no good, with the reason; the next best beginning is taken.
    Raises `LogUnavailableError`; `LogDamagedError` where what is there is no whole log, with the remedy.
    """
    for _ in range(TRIES):
        ends = await client.fetch_offset_range()
        try:
            records = await _fetch_all(client, ends.first, max(ends.end, at_least))
        except OffsetOutOfRangeError:
            continue
        following = ends.first if records.next is None else records.next
        return ScanResult(
            _choose_and_read(ends.first, records, appends_kept, window, without), ends.first, max(following, ends.end)
        )
    raise LogUnavailableError("the front of the log was cut away again and again while it was read")


async def _fetch_all(client: PartitionClient, first: int, end: int) -> RecordJournal:
    offset, journal = first, RecordJournal()
    while offset < end:
        batch = await client.fetch(offset, FETCH_SECONDS)
        if batch.next <= offset:
            raise LogUnavailableError(f"the log ends at offset {end}, and offset {offset} does not come")
        offset = batch.next
        for record in read_records(batch):
            journal.add(record)
    return journal


@dataclass(frozen=True, slots=True)
class _NamedAppends:
    """What the choice of a beginning sees of a journal, as often as it goes through it."""

    journal: RecordJournal
    named: dict[int, bytes]
    """Digests of the snapshots that appends name, by their offsets."""

    def __iter__(self) -> Iterator[NamedAppend]:
        for record in self.journal:
            if isinstance(record.claim, AppendPrefix):
                yield NamedAppend(record.claim, self.named.get(record.offset, b""))


def _choose_and_read(
    first: int, records: RecordJournal, appends_kept: int, window: int, without: Mapping[bytes, str]
) -> ReaderState:
    """Choose a beginning, and read on from there."""
    gathered: defaultdict[bytes, list[SnapshotChunk]] = defaultdict(list)
    named: dict[int, SnapshotPointer] = {}
    for record in records:
        if isinstance(record.claim, SnapshotChunk):
            gathered[record.claim.snapshot_digest].append(record.claim)
        elif isinstance(record.claim, AppendPrefix) and (pointer := read_pointer(record.value, record.claim)):
            named[record.offset] = pointer
    state_files = [
        gathered.pop(snapshot_digest)
        for snapshot_digest in [*gathered]
        if gathered[snapshot_digest][0].format == STATE_FILE_FORMAT
    ]
    appends = ((record.claim, record.value) for record in records if isinstance(record.claim, AppendPrefix))
    stated = collect_stated_roots(appends, (chunks[0].position for chunks in gathered.values()))
    candidates = find_candidates(gathered, named.values(), stated, without)
    snapshot_digest = {offset: bytes.fromhex(pointer.snapshot_digest) for offset, pointer in named.items()}
    begin = choose_start(first, _NamedAppends(records, snapshot_digest), candidates.positions)
    if begin is None:
        raise _make_missing_front_error(first, candidates)
    position, digest = begin
    for sentence in candidates.describe_newer_than(position):
        log.warning("%s", sentence)
    state = ReaderState.at(position, candidates.snapshots.get(digest, ()), appends_kept, window)
    try:
        for record in records:
            state.add(record)
    except HistoryChangedError as error:
        raise LogDamagedError(
            f"the log has lost appends, or holds two histories: {error}. Writes have stopped. Dump what a node still "
            "knows or take the newest dump, and restore it into a new topic; see docs/log.md"
        ) from error
    state.state_files = select_newest_state_files(state_files, state.history)
    state.newest_state_files = {
        kind: place for kind, place in state.newest_state_files.items() if kind in state.state_files
    }
    return state


def _make_missing_front_error(first: int, candidates: SnapshotCandidates) -> LogDamagedError:
    """Why nothing can be begun at: snapshots that are no good or not there."""
    why = "".join(f" ({sentence})" for sentence in candidates.describe_newer_than(START))
    return LogDamagedError(
        f"the front of the log is missing: it begins at offset {first}, and no whole snapshot stands for what was there{why}. "
        "Restore the newest dump into a new topic, or bring the records back; see docs/log.md"
    )
