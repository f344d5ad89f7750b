"""The state of a reader of the partition: its history, the last appends, and incomplete snapshots. No I/O."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from zlib import crc32

from treaty.core.limits import APPENDS_KEPT, WINDOW_BYTES
from treaty.core.state.commit import (
    ENVELOPE_FORMAT,
    MAGIC,
    START,
    AppendPrefix,
    Commit,
    EnvelopeError,
    Position,
    is_undamaged,
    read_append,
    read_prefix,
)
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.multi_writer.chunks import (
    FORMAT,
    POINTER_TRACE,
    STATE_FILE_FORMAT,
    ChunkError,
    SnapshotChunk,
    SnapshotError,
    SnapshotMismatchError,
    find_pointers,
    read_chunk,
    read_snapshot_rows,
)
from treaty.log.kafka.multi_writer.spool import Payload
from treaty.log.kafka.multi_writer.validity import AppendHistory, RecordValidity
from treaty.log.log import AppendResult, LogDamagedError, NewerLogFormatError

ADDRESS = "treaty-node"
"""Header of an append: the URL under which other nodes reach the one that sent it."""


class InvalidRecord(Enum):
    """Records that are neither."""

    FOREIGN = "foreign"
    """Without the magic: counted and ignored."""
    DAMAGED = "damaged"
    """With the magic, and cut short; or an append but for the magic or the number of its format."""


@dataclass(frozen=True, slots=True)
class ScannedRecord:
    """A record that was read: where it stood, what it claims, its bytes, and the address of its sender."""

    offset: int
    claim: AppendPrefix | SnapshotChunk | InvalidRecord
    value: Payload
    address: str = ""


def read_claim(value: bytes | None) -> AppendPrefix | SnapshotChunk | InvalidRecord:
    """Read as little of a record as identifies it; never fails."""
    if value is None:
        return InvalidRecord.FOREIGN
    try:
        claim = read_prefix(value)
    except EnvelopeError as error:
        if error.magic:
            return InvalidRecord.DAMAGED
    else:
        return claim if claim.format == ENVELOPE_FORMAT or not _was_append(value) else InvalidRecord.DAMAGED
    try:
        return read_chunk(value)
    except ChunkError as strange:
        return InvalidRecord.DAMAGED if strange.magic or _was_append(value) else InvalidRecord.FOREIGN


def _was_append(value: bytes) -> bool:
    """Return whether all but the magic and the format is an append of this format: a bit of those has changed."""
    return is_undamaged(MAGIC + ENVELOPE_FORMAT.to_bytes(2, "big") + value[len(MAGIC) + 2 :])


class HistoryChangedError(Exception):
    """What was read is not the history that the log shows now: read everything again. The message says what was seen."""


class SnapshotRejectedError(Exception):
    """The snapshot that a reader begins at can't be used: read everything again without it. The message says why."""

    def __init__(self, snapshot_digest: bytes, why: str) -> None:
        """Keep its digest."""
        super().__init__(why)
        self.snapshot_digest = snapshot_digest


@dataclass(slots=True)
class BufferedAppend:
    """A valid append at hand: the position before it, where it stood, and its bytes or, once read, its commits."""

    before: Position
    after: Position
    offset: int
    size: int
    value: Payload
    commits: tuple[Commit, ...] | None = None

    def rows(self, *, once: bool = False) -> Iterable[EncodedRow]:
        """Its rows in their order. Raises `LogDamagedError`. They are not kept where they are wanted `once`."""
        commits = self.commits
        if commits is None:
            try:
                commits = read_append(bytes(self.value)).commits
            except (EnvelopeError, ValueError) as error:
                raise LogDamagedError(f"offset {self.offset}: {error}; restore the log from a dump") from error
            if not once:
                self.commits, self.value = commits, b""
        return (row for commit in commits for row in commit.rows)


@dataclass(slots=True)
class RecordCounts:
    """Records that were read, counted since the reader began or, where it says so, since the last snapshot."""

    foreign: int = 0
    stale: int = 0
    records: int = 0
    """Since the last snapshot."""
    bytes: int = 0
    """Since the last snapshot."""
    total: int = 0
    """Bytes of all records but chunks."""


@dataclass(slots=True)
class ReaderState:
    """One reader. `base` is where it began, `chunks` the snapshot there, until the state was given away and they are
    dropped.

    `results` says what became of the attempts in `in_flight`, which are this node's own.
    """

    base: Position = START
    chunks: tuple[SnapshotChunk, ...] = ()
    appends_kept: int = APPENDS_KEPT
    window: int = WINDOW_BYTES
    history: AppendHistory = field(default_factory=AppendHistory)
    buffered: deque[BufferedAppend] = field(default_factory=deque)
    counts: RecordCounts = field(default_factory=RecordCounts)
    complete: bool = True
    """Whether what is held begins at the base."""
    handed_over: bool = False
    """Whether the state was given to the node, so that it is time to let go of what is old."""
    in_flight: dict[bytes, tuple[Commit, ...]] = field(default_factory=dict)
    results: dict[bytes, AppendResult] = field(default_factory=dict)
    address: str = ""
    """Of the node that won last."""
    winner: bytes = b""
    """Its attempt."""
    pending_snapshots: dict[bytes, dict[int, int]] = field(default_factory=dict)
    """Chunks that were seen of snapshots that no append has named yet: by their numbers the CRC-32 of their payloads."""
    buffered_bytes: int = 0
    """Bytes of the appends that are held."""
    state_files: dict[int, tuple[SnapshotChunk, ...]] = field(default_factory=dict)
    """By their kinds the newest state files that were there at the beginning, until the state was given away."""
    newest_state_files: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Sequence of the newest state file of each kind, and the bytes of records that were read before it."""
    last_snapshot: tuple[int, int] = (0, 0)
    """Rows and bytes of the last snapshot, as far as they are known."""

    @staticmethod
    def at(base: Position, chunks: tuple[SnapshotChunk, ...], appends_kept: int, window: int) -> "ReaderState":
        """Begin at a position: START, or that of a whole snapshot."""
        state = ReaderState(base, chunks, appends_kept, window, AppendHistory.at(base) if chunks else AppendHistory())
        if chunks:
            state.last_snapshot = chunks[0].rows, sum(len(chunk.payload) for chunk in chunks)
        return state

    @property
    def tip(self) -> Position:
        """The position after the last valid append that was read."""
        return self.history.tip

    # ---------------------------------------------------------------------------------------------------- adding

    def add(self, record: ScannedRecord) -> None:
        """Take the next record. Raises `HistoryChangedError`, or `LogDamagedError` where reading again does not help."""
        claim = record.claim
        if not isinstance(claim, SnapshotChunk):
            self.counts.records += 1
            self.counts.bytes += len(record.value)
            self.counts.total += len(record.value)
        if claim is InvalidRecord.FOREIGN:
            self.counts.foreign += 1
        elif isinstance(claim, InvalidRecord):
            raise LogDamagedError(
                f"the record at offset {record.offset} was cut short, or its first bytes were changed: restore the log from a dump"
            )
        elif isinstance(claim, SnapshotChunk) and claim.format == STATE_FILE_FORMAT:
            if claim.index + 1 == claim.count:
                self.newest_state_files[claim.rows] = claim.position.sequence, self.counts.total
        elif isinstance(claim, SnapshotChunk):
            if claim.position.sequence > self.base.sequence:
                self.pending_snapshots.setdefault(claim.snapshot_digest, {})[claim.index] = crc32(bytes(claim.payload))
        else:
            self._add_append(record, claim)

    def _add_append(self, record: ScannedRecord, claim: AppendPrefix) -> None:
        before = self.history.tip
        validity = self.history.check(claim)
        is_own_format = claim.format == ENVELOPE_FORMAT
        if is_own_format and not self._is_before_base(claim) and not is_undamaged(bytes(record.value)):
            raise LogDamagedError(
                f"the append at offset {record.offset}, sequence {claim.first}, is damaged: restore the log from a dump"
            )
        if validity is RecordValidity.NEWER:
            raise _make_format_error(
                f"the append at sequence {claim.first}", "envelope format", claim.format, ENVELOPE_FORMAT
            )
        if validity is RecordValidity.GAP:
            raise HistoryChangedError(
                f"offset {record.offset} has sequence {claim.first}, and {before.sequence} was the last one"
            )
        if validity is RecordValidity.FORKED:
            raise HistoryChangedError(
                f"offset {record.offset} was decided on another append at sequence {claim.first - 1}"
            )
        if validity is RecordValidity.STALE:
            self.counts.stale += 1
            if claim.attempt in self.in_flight:
                self.results.setdefault(claim.attempt, AppendResult.CONFLICT)
            return
        self.history.check_and_advance(claim)
        names_snapshot = POINTER_TRACE in bytes(record.value)
        self._buffer(
            BufferedAppend(before, claim.position, record.offset, len(record.value), record.value),
            claim.attempt,
            names_snapshot=names_snapshot,
        )
        self.address, self.winner = record.address, claim.attempt
        if names_snapshot:
            self._on_snapshot_named(self.buffered[-1])
        self._trim()

    def _is_before_base(self, claim: AppendPrefix) -> bool:
        """Whether a record may lie before the snapshot that was begun at, which stands for it whatever became of it."""
        base = self.base.sequence
        return base > 0 and self.tip.sequence == base and claim.last <= base

    def _buffer(self, append: BufferedAppend, attempt: bytes, *, names_snapshot: bool) -> None:
        own = self.in_flight.get(attempt)
        if own is not None:
            self.results[attempt] = AppendResult.ACCEPTED
            if not names_snapshot:
                append.commits, append.value = own, b""
        self.buffered.append(append)
        self.buffered_bytes += append.size

    def _on_snapshot_named(self, append: BufferedAppend) -> None:
        """A snapshot counts from here on: what was before its position need not be remembered."""
        for snapshot in find_pointers(append.rows()):
            digest = self.history.digest_at(snapshot.sequence)
            if snapshot.sequence <= self.history.oldest or digest is None or digest.hex() != snapshot.digest:
                continue  # an older one, or one of the log that this one was restored from
            self.pending_snapshots.clear()
            self.history.forget(snapshot.sequence)
            self.counts.records = self.counts.bytes = 0
            self.newest_state_files = {
                kind: place for kind, place in self.newest_state_files.items() if place[0] >= snapshot.sequence
            }

    def _trim(self) -> None:
        if not self.handed_over:
            return
        while len(self.buffered) > 1 and (len(self.buffered) > self.appends_kept or self.buffered_bytes > self.window):
            self.buffered_bytes -= self.buffered.popleft().size
            self.complete = False

    # ---------------------------------------------------------------------------------------------------- releasing

    def since(self, after: Position) -> list[BufferedAppend] | None:
        """The appends after a position; None where it is none that is at hand."""
        if after.agrees(self.tip):
            return []
        newest_first = []
        for append in reversed(self.buffered):
            newest_first.append(append)
            if append.before.agrees(after):
                return newest_first[::-1]
        return None

    def count_bytes_after(self, kind: int) -> float:
        """Bytes of records after the newest state file of a kind; infinite where there is none."""
        return self.counts.total - self.newest_state_files[kind][1] if kind in self.newest_state_files else inf

    def release(self) -> None:
        """The node has the state now: let go of the snapshot, and of appends beyond the limits."""
        self.handed_over, self.state_files = True, {}
        if self.chunks:
            self.chunks, self.complete = (), False
        self._trim()


def collect_changes(appends: Iterable[BufferedAppend]) -> tuple[EncodedRow, ...]:
    """The last state of each row that some appends changed, tombstones among them."""
    return tuple({(row.table, row.key): row for append in appends for row in append.rows()}.values())


def build_state(chunks: Sequence[SnapshotChunk], appends: Iterable[BufferedAppend]) -> tuple[EncodedRow, ...]:
    """The live rows after some appends on a snapshot. Raises `SnapshotRejectedError` and `LogDamagedError`."""
    rows: dict[tuple[str, str], EncodedRow] = {}
    try:
        if chunks:
            rows = {(row.table, row.key): row for row in read_snapshot_rows(chunks)}
    except SnapshotMismatchError as error:
        raise SnapshotRejectedError(chunks[0].snapshot_digest, str(error)) from error
    except SnapshotError as error:
        first = chunks[0]
        raise _make_format_error(
            f"the snapshot at sequence {first.position.sequence}", "format", first.format, FORMAT
        ) from error
    for append in appends:
        for row in append.rows(once=True):
            if row.value is None:
                rows.pop((row.table, row.key), None)
            else:
                rows[row.table, row.key] = row
    return tuple(rows.values())


def _make_format_error(what: str, name: str, format_number: int, own_number: int) -> NewerLogFormatError:
    """The error for something of another format than the one that this version reads."""
    return NewerLogFormatError(
        f"of a newer version of Treaty than this node's: {what} has {name} {format_number}, known here is {own_number}; "
        "nothing is lost, upgrade this node"
    )
