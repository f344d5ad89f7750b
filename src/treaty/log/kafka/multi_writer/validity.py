"""Which records of a partition are the log, and where a reader may begin. Pure; every reader comes to the same result.

A record that names the last valid append as its parent is the next valid append. Every other one is stale, for ever,
provided that it was decided on this very history. A snapshot counts when a valid append names its digest; a reader begins at the
newest one that counts, or at the front of the log. The exhaustive check in tests/simulation/kafka runs this code.

Records are checked by their prefix and the parent in it alone, never by the state root that they state: two nodes that decide
differently on one position state different roots, and the one that came second is stale, not damaged. The root of a valid append
is remembered with its digest, so that a position with another root (of a state file, say) is not taken for a known one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from treaty.core.limits import SNAPSHOT_CHUNKS
from treaty.core.state.commit import (
    ENVELOPE_FORMAT,
    NO_DIGEST,
    NO_ROOT,
    START,
    AppendPrefix,
    EnvelopeError,
    Position,
    is_undamaged,
    read_append,
)
from treaty.core.state.values import SnapshotPointer
from treaty.log.kafka.multi_writer.chunks import (
    FORMAT,
    POINTER_TRACE,
    SnapshotChunk,
    find_pointers,
    select_if_intact,
    sort_if_all,
)
from treaty.log.kafka.multi_writer.spool import Payload


class RecordValidity(Enum):
    """What a record is."""

    VALID = "valid"
    """The next append of the log."""
    STALE = "stale"
    """Somebody was first, or it is an append that came again: ignored for ever."""
    GAP = "gap"
    """It follows an append that was never read: the log lost data, or what was read is another log's."""
    FORKED = "forked"
    """Another append stands where its parent stood: what was read and what it was decided on are two histories."""
    NEWER = "newer"
    """It would be valid, and only a newer version of Treaty can read it."""


@dataclass(slots=True)
class AppendHistory:
    """What is known of the valid appends: the last one, and where others ended since the last snapshot.

    `positions` maps the last sequence of each remembered append to its digest and root, 64 bytes; its lowest key is where memory
    begins.
    """

    tip: Position = START
    positions: dict[int, bytes] = field(default_factory=lambda: {0: NO_DIGEST + NO_ROOT})

    @staticmethod
    def at(position: Position) -> "AppendHistory":
        """The history of somebody who begins at a position, as the reader of a snapshot does."""
        return AppendHistory(position, {position.sequence: position.digest + position.root})

    @property
    def oldest(self) -> int:
        """The first sequence whose place is remembered."""
        return next(iter(self.positions))

    def check(self, claim: AppendPrefix) -> RecordValidity:
        """Say what a record is, after all records before it."""
        tip = self.tip
        if not tip.sequence:
            if claim.first > 1:
                return RecordValidity.GAP
            born = claim.first == 1 and claim.parent == NO_DIGEST and claim.identity == claim.attempt
            return _check_format(claim) if born and claim.length > 0 else RecordValidity.STALE
        if claim.identity != tip.identity:
            return RecordValidity.STALE
        if claim.first > tip.sequence + 1:
            return RecordValidity.GAP
        if claim.parent == tip.digest and claim.first == tip.sequence + 1 and claim.length > 0:
            return _check_format(claim)
        base = claim.first - 1
        if base >= self.oldest and self.digest_at(base) != claim.parent:
            return RecordValidity.FORKED
        return RecordValidity.STALE

    def check_and_advance(self, claim: AppendPrefix) -> RecordValidity:
        """Check a record, and move on where it is valid."""
        validity = self.check(claim)
        if validity is RecordValidity.VALID:
            self.advance(claim)
        return validity

    def advance(self, claim: AppendPrefix) -> None:
        """Move on by a valid append."""
        self.tip = claim.position
        self.positions[claim.last] = claim.digest + claim.root

    def digest_at(self, sequence: int) -> bytes | None:
        """Return the digest of the append that ended at a sequence; None where none did that is remembered."""
        place = self.positions.get(sequence)
        return None if place is None else place[: len(NO_DIGEST)]

    def knows(self, position: Position) -> bool:
        """Return whether an append ended at this very position and stated this root, as far as is remembered."""
        return (
            position.identity == self.tip.identity
            and self.positions.get(position.sequence) == position.digest + position.root
        )

    def forget(self, before: int) -> None:
        """Forget the positions before a sequence, which a snapshot stands for now; the tip stays."""
        for sequence in [sequence for sequence in self.positions if sequence < min(before, self.tip.sequence)]:
            del self.positions[sequence]


def _check_format(claim: AppendPrefix) -> RecordValidity:
    return RecordValidity.VALID if claim.format == ENVELOPE_FORMAT else RecordValidity.NEWER


@dataclass(frozen=True, slots=True)
class NamedAppend:
    """An append as the choice of a beginning sees it: what it claims, and the digest of the snapshot that it names (or b"")."""

    claim: AppendPrefix
    snapshot_digest: bytes = b""


def choose_start(
    first: int, appends: Iterable[NamedAppend], snapshots: Mapping[bytes, Position]
) -> tuple[Position, bytes] | None:
    """Return the position to begin at, and the digest of its snapshot (b"" for the front of the log).

    `first` is the first offset that is still there, `appends` are all records that claim to be appends, in their order, gone
    through once for each snapshot, `snapshots` the positions of the complete snapshots by digest. None: the front of the log is missing, and no snapshot stands for it.
    A partition whose first offset is not 0 was cut: there a record that looks like a birth is one that came again.
    """
    for snapshot_digest, position in sorted(snapshots.items(), key=_sort_key):
        if _is_named(position, snapshot_digest, appends):
            return position, snapshot_digest
    return (START, b"") if first == 0 else None


def _sort_key(entry: tuple[bytes, Position]) -> tuple[int, bytes]:
    return -entry[1].sequence, entry[0]


def _is_named(position: Position, snapshot_digest: bytes, appends: Iterable[NamedAppend]) -> bool:
    history = AppendHistory.at(position)
    for append in appends:
        validity = history.check_and_advance(append.claim)
        if validity is RecordValidity.VALID and append.snapshot_digest == snapshot_digest:
            return True
        if validity not in {RecordValidity.VALID, RecordValidity.STALE}:
            return False
    return False


@dataclass(frozen=True, slots=True)
class SnapshotCandidates:
    """Snapshots by their digests: those that are whole and undamaged, and the sequences of others, with the reason."""

    snapshots: Mapping[bytes, tuple[SnapshotChunk, ...]]
    rejected: Mapping[bytes, tuple[int, str]]

    @property
    def positions(self) -> dict[bytes, Position]:
        """Where in the log the usable ones were made."""
        return {snapshot_digest: chunks[0].position for snapshot_digest, chunks in self.snapshots.items()}

    def describe_newer_than(self, position: Position) -> list[str]:
        """Sentences on those that were left aside and stand for more than a position."""
        newer = sorted(identity for identity in self.rejected.values() if identity[0] > position.sequence)
        return [f"the snapshot at sequence {sequence} is left aside: {why}" for sequence, why in newer]


def find_candidates(
    gathered: Mapping[bytes, Sequence[SnapshotChunk]],
    pointers: Iterable[SnapshotPointer],
    stated: Mapping[bytes, bytes],
    without: Mapping[bytes, str],
) -> SnapshotCandidates:
    """Look at all chunks of a partition, by the digests of their snapshots.

    `pointers` are what appends name, `stated` the roots that appends state, by their digests, and `without` the snapshots that a
    reader of their rows has found to be wrong, with the reason. A snapshot that no append names may be on its way: it is no news that
    it is not whole.
    """
    snapshots: dict[bytes, tuple[SnapshotChunk, ...]] = {}
    rejected: dict[bytes, tuple[int, str]] = {}
    for snapshot_digest, chunks in gathered.items():
        position = chunks[0].position
        ordered = select_if_intact(chunks)
        if snapshot_digest in without:
            rejected[snapshot_digest] = position.sequence, without[snapshot_digest]
        elif not ordered:
            if sort_if_all(chunks):
                rejected[snapshot_digest] = position.sequence, "its chunks were changed, their digest does not fit"
        elif ordered[0].format == FORMAT and stated.get(position.digest, position.root) != position.root:
            rejected[snapshot_digest] = (
                position.sequence,
                f"it states the root {position.root.hex()}, and the append there {stated[position.digest].hex()}",
            )
        else:
            snapshots[snapshot_digest] = ordered
    for pointer in pointers:
        snapshot_digest = bytes.fromhex(pointer.snapshot_digest)
        if snapshot_digest not in snapshots and snapshot_digest not in rejected:
            rejected[snapshot_digest] = pointer.sequence, "it is named, and its chunks are not all there"
    return SnapshotCandidates(snapshots, rejected)


def read_pointer(value: Payload, claim: AppendPrefix) -> SnapshotPointer | None:
    """The snapshot that an append names; None where it names none."""
    data = bytes(value)
    if POINTER_TRACE not in data:
        return None
    try:
        rows = (row for commit in read_append(data).commits for row in commit.rows)
        length = len(claim.digest)
        return next(
            (pointer for pointer in find_pointers(rows) if len(bytes.fromhex(pointer.snapshot_digest)) == length), None
        )
    except (EnvelopeError, ValueError):
        return None


def collect_stated_roots(
    claims: Iterable[tuple[AppendPrefix, Payload]], positions: Iterable[Position]
) -> dict[bytes, bytes]:
    """The roots that undamaged appends state at some positions, by their digests."""
    digests = {position.digest for position in positions}
    return {
        claim.digest: claim.root for claim, value in claims if claim.digest in digests and is_undamaged(bytes(value))
    }


def select_newest_state_files(
    state_files: Iterable[Sequence[SnapshotChunk]], history: AppendHistory
) -> dict[int, tuple[SnapshotChunk, ...]]:
    """By their kinds the state files with the highest position in this history of which all chunks are there.

    The root in their heads is compared with the one that the append at that position states.
    """
    complete = [
        ordered for chunks in state_files if (ordered := _sort_if_all(chunks)) and history.knows(ordered[0].position)
    ]
    return {chunks[0].rows: chunks for chunks in sorted(complete, key=lambda chunks: chunks[0].position.sequence)}


def _sort_if_all(chunks: Sequence[SnapshotChunk]) -> tuple[SnapshotChunk, ...]:
    by_index = {chunk.index: chunk for chunk in chunks}
    count = chunks[0].count
    is_complete = 0 < count <= SNAPSHOT_CHUNKS and sorted(by_index) == [*range(count)]
    return tuple(by_index[index] for index in range(count)) if is_complete else ()
