"""Which records of a topic with one owner are the log, and which position they come to. Transactions count that are whole (`_is_whole`) and follow the
one before (`_follows`); after a gap (`SequenceGapError`) `reader.py` reads the topic again from its start, and a fork is refused. Pure.
"""

from collections import deque
from collections.abc import Mapping

from treaty.core.limits import APPENDS_KEPT, WINDOW_BYTES
from treaty.core.state.commit import START, Position
from treaty.log.kafka.partition import RecordBatch
from treaty.log.kafka.single_writer.orphan_rows import OrphanRowCollector
from treaty.log.kafka.single_writer.records import (
    END_KEY,
    EndRecord,
    EndRecordError,
    EndRecordFormatError,
    read_end_record,
)

ValuesByKey = Mapping[bytes, bytes | None]
"""Last value by key; None takes the row away."""


class RecentAppends:
    """A run of appends, each on the one before: at most `appends_kept` of them, and about `bytes_kept` bytes of their records."""

    def __init__(self, base: Position, appends_kept: int, bytes_kept: int) -> None:
        """Know nothing but the position where the run begins."""
        self._kept = appends_kept
        self._bytes_kept = bytes_kept
        self._bytes = 0
        self._appends: deque[tuple[Position, ValuesByKey, int]] = deque()
        self._base = base

    def __len__(self) -> int:
        """Return how many appends are in the run."""
        return len(self._appends)

    @property
    def oldest(self) -> Position:
        """The first position from which on everything is known."""
        return self._base

    def restart(self, base: Position) -> None:
        """Forget the run; a new one begins at a position."""
        self._appends.clear()
        self._bytes = 0
        self._base = base

    def add(self, position: Position, records: ValuesByKey) -> None:
        """Remember an append that follows the last one."""
        size = sum(len(key) + len(value or b"") for key, value in records.items())
        self._appends.append((position, records, size))
        self._bytes += size
        while len(self._appends) > self._kept or (self._bytes > self._bytes_kept and len(self._appends) > 1):
            self._base, _, gone = self._appends.popleft()
            self._bytes -= gone

    def changes_since(self, after: Position) -> ValuesByKey | None:
        """Return what changed after a position, in the last state; None where the position is not in the run."""
        later_records: list[ValuesByKey] = []
        for position, records, _ in reversed(self._appends):
            if position.agrees(after):
                break
            later_records.append(records)
        else:
            if not after.agrees(self._base):
                return None
        last: dict[bytes, bytes | None] = {}
        for records in reversed(later_records):
            last.update(records)
        return last

    def knows(self, position: Position) -> bool:
        """Return whether an append that ended at a position is in the run."""
        for end, _, _ in reversed(self._appends):
            if end.sequence <= position.sequence:
                return end.agrees(position)
        return False


OFFSETS_AFTER_END = 2
"""Offsets from an end record to the first one that may hold something new: its own, and the marker of its commit."""


class SequenceGapError(Exception):
    """What was read next does not follow what was read before: compaction was quicker, or history is another one."""


class HistoryForkError(Exception):
    """The topic contradicts itself, or is no log; the message says how."""


class CompactedState:
    """Follows the records of one topic, in order, as a reader sees them who sees only committed ones.

    It shows nothing but ends of transactions. While it loads it takes gaps for what they are, the work of compaction,
    and must not be shown before it has come to the end. Afterwards it takes nothing but whole transactions, each on the
    one before: `rows` of the end record, no more and no less. A lagging reader could otherwise see a transaction by
    half, because the broker may take away what a later transaction replaces before it takes away the earlier one's end
    record.
    """

    def __init__(self, offset: int = 0, *, appends_kept: int = APPENDS_KEPT, bytes_kept: int = WINDOW_BYTES) -> None:
        """Begin to load at an offset, which has to be the first one."""
        self.offset = offset
        """Where to read on."""
        self.loading = True
        self.position: Position = START
        """The last end of a transaction."""
        self.recent = RecentAppends(START, appends_kept, bytes_kept)
        self.values: dict[bytes, bytes | None] | None = {}
        """The last value of every key, as long as somebody may need it."""
        self._pending: dict[bytes, bytes | None] = {}
        """Records after the last end record."""
        self._pending_count = 0
        self._end_record_offset = -1
        """Offset of the last end record."""
        self.orphan_rows: OrphanRowCollector | None = None
        """Receives all records, for a search for orphan rows."""
        self.whole_from = offset
        """From here on up to the last end record every transaction was read whole, each on the one before."""

    @classmethod
    def after(
        cls,
        position: Position,
        end_record_offset: int,
        *,
        appends_kept: int = APPENDS_KEPT,
        bytes_kept: int = WINDOW_BYTES,
    ) -> "CompactedState":
        """Begin at the end record of a position, for somebody who has the rows there. It takes nothing but whole
        transactions, from the first one on; it is no good until it is `is_proven`.
        """
        state = cls(end_record_offset, appends_kept=appends_kept, bytes_kept=bytes_kept)
        state.loading, state.position, state.values = False, position, None
        state.recent.restart(position)
        return state

    @property
    def is_proven(self) -> bool:
        """Whether an end record was read: that of the position where it began, or of a whole transaction on it."""
        return self._end_record_offset >= 0

    @property
    def end_record_offset(self) -> int:
        """Offset of the end record of the position that it shows."""
        return self._end_record_offset

    @property
    def end(self) -> int:
        """The offset at which the next record is written at the latest, if nothing was written that was not read."""
        return max(self.offset, self._next_possible_offset)

    @property
    def _next_possible_offset(self) -> int:
        """The first offset that may hold something behind the last end record."""
        return self._end_record_offset + OFFSETS_AFTER_END if self.is_proven else 0

    def covers(self, end: int) -> bool:
        """Whether surely no end record is missing before an offset: the last one stands there, and the marker of its
        commit.

        Otherwise some may have been there that compaction took away, since later ones replace them; who asks for the
        end again learns of these.
        """
        return end <= self._next_possible_offset

    def add(self, batch: RecordBatch) -> None:
        """Take records that follow those taken before. Raises `SequenceGapError`; while loading `HistoryForkError`
        or `EndRecordFormatError`. Then it is void.
        """
        for record in batch.records:
            if record.offset < self.offset:
                continue
            key = record.key or b""
            if key == END_KEY:
                self._add_end_record(record.value, record.offset)
            else:
                if self.orphan_rows is not None:
                    self.orphan_rows.add_record(key, record.value)
                self._pending.pop(key, None)
                self._pending[key] = record.value
                self._pending_count += 1
        self.offset = max(self.offset, batch.next)

    def take_values(self) -> dict[bytes, bytes | None] | None:
        """Return the last value of every key and keep none from now on; None where they were taken before."""
        values, self.values = self.values, None
        return values

    def finish_loading(self) -> None:
        """The end was reached: from here on, only what follows exactly. Raises `HistoryForkError` where rows have no
        end record.
        """
        if self.position == START and self._pending:
            raise HistoryForkError("the topic has records but no end record")
        self.loading = False

    def _add_end_record(self, value: bytes | None, offset: int) -> None:
        try:
            end = read_end_record(value)
        except EndRecordError as error:
            if self.loading and isinstance(error, EndRecordFormatError):
                raise
            raise (HistoryForkError if self.loading else SequenceGapError)(str(error)) from error
        is_unproven = not self.loading and not self.is_proven
        is_first_proof = is_unproven and end.position.agrees(self.position) and not self._pending_count
        if is_first_proof:
            self._end_record_offset = offset
            return
        is_next_whole = self._follows(end) and self._is_whole(end)
        if not is_next_whole and not self.loading:
            message = f"sequence {end.first} does not follow {self.position.sequence}, or has not all its rows"
            raise SequenceGapError(message)
        if self.loading:
            self._refuse_fork(end)
        if self.orphan_rows is not None:
            self.orphan_rows.add_end_record(end.rows, self.values or {}, follows=self._follows(end))
        self.position, self._end_record_offset = end.position, offset
        if is_next_whole:
            self.recent.add(end.position, self._pending)
        else:
            self.recent.restart(end.position)
            self.whole_from = offset + 1
        if self.values is not None:
            self.values.update(self._pending)
        self._pending = {}
        self._pending_count = 0

    def _is_whole(self, end: EndRecord) -> bool:
        """Whether all rows of the transaction came, and nothing else."""
        return len(self._pending) == self._pending_count == end.rows

    def _follows(self, end: EndRecord) -> bool:
        """Whether the transaction is of this log and begins where the last one ended."""
        position = self.position
        if end.parent != position.digest or end.first != position.sequence + 1:
            return False
        return position == START or end.identity == position.identity

    def _refuse_fork(self, end: EndRecord) -> None:
        """Raise `HistoryForkError` where an end record contradicts the last one: compaction takes end records away, and changes none."""
        position = self.position
        if position == START:
            return
        if end.identity != position.identity:
            raise HistoryForkError(f"sequence {end.last} is of another log than sequence {position.sequence}")
        if end.first <= position.sequence or (end.first == position.sequence + 1 and end.parent != position.digest):
            raise HistoryForkError(
                f"sequence {end.first} was written by somebody who had not read sequence {position.sequence}"
            )
