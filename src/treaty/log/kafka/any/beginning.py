"""Where a reader may begin: at the front of the log, or at the newest fold that counts, and why others are left aside. Pure.

A fold counts when a valid append names its digest. The exhaustive check in tests/simulation/kafka runs this code.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from treaty.core.commit import START, EnvelopeError, Position, Prefix, read_append, undamaged
from treaty.core.values import SnapshotPointer
from treaty.log.kafka.any.chunks import FORMAT, Chunk, in_order, whole
from treaty.log.kafka.any.reading import FOLD, folds_named
from treaty.log.kafka.any.rule import History, Verdict
from treaty.log.kafka.any.spool import Payload

_TRACE = b'"' + FOLD.encode() + b'"'


@dataclass(frozen=True, slots=True)
class Named:
    """An append as the choice of a beginning sees it: what it claims, and the digest of the fold that it names (or b"")."""

    claim: Prefix
    fold: bytes = b""


def beginning(first: int, appends: Iterable[Named], folds: Mapping[bytes, Position]) -> tuple[Position, bytes] | None:
    """Return the place to begin at, and the digest of its fold (b"" for the front of the log).

    `first` is the first offset that is still there, `appends` are all records that claim to be appends, in their order, gone
    through once for each fold, `folds` the places of the complete folds by digest. None: the front of the log is missing, and no fold stands for it.
    A partition whose first offset is not 0 was cut: there a record that looks like a birth is one that came again.
    """
    for told, place in sorted(folds.items(), key=_highest_first):
        if _counts(place, told, appends):
            return place, told
    return (START, b"") if first == 0 else None


def _highest_first(fold: tuple[bytes, Position]) -> tuple[int, bytes]:
    return -fold[1].sequence, fold[0]


def _counts(place: Position, told: bytes, appends: Iterable[Named]) -> bool:
    history = History.at(place)
    for one in appends:
        verdict = history.follow(one.claim)
        if verdict is Verdict.VALID and one.fold == told:
            return True
        if verdict not in {Verdict.VALID, Verdict.LOSER}:
            return False
    return False


@dataclass(frozen=True, slots=True)
class Candidates:
    """Folds by their digests: those that are whole and undamaged, and the sequences of others, with the reason."""

    folds: Mapping[bytes, tuple[Chunk, ...]]
    dropped: Mapping[bytes, tuple[int, str]]

    @property
    def places(self) -> dict[bytes, Position]:
        """Where in the log the usable ones were made."""
        return {told: chunks[0].place for told, chunks in self.folds.items()}

    def newer_than(self, place: Position) -> list[str]:
        """Sentences on those that were left aside and stand for more than a place."""
        found = sorted(one for one in self.dropped.values() if one[0] > place.sequence)
        return [f"the snapshot at sequence {sequence} is left aside: {why}" for sequence, why in found]


def candidates(
    gathered: Mapping[bytes, Sequence[Chunk]],
    pointers: Iterable[SnapshotPointer],
    stated: Mapping[bytes, bytes],
    without: Mapping[bytes, str],
) -> Candidates:
    """Look at all chunks of a partition, by the digests of their folds.

    `pointers` are what appends name, `stated` the roots that appends state, by their digests, and `without` the folds that a
    reader of their rows has found to be wrong, with the reason. A fold that nobody names may be on its way: it is no news that
    it is not whole.
    """
    folds: dict[bytes, tuple[Chunk, ...]] = {}
    dropped: dict[bytes, tuple[int, str]] = {}
    for told, chunks in gathered.items():
        place = chunks[0].place
        ordered = whole(chunks)
        if told in without:
            dropped[told] = place.sequence, without[told]
        elif not ordered:
            if in_order(chunks):
                dropped[told] = place.sequence, "its chunks were changed, their digest does not fit"
        elif ordered[0].format == FORMAT and stated.get(place.digest, place.root) != place.root:
            dropped[told] = (
                place.sequence,
                f"it states the root {place.root.hex()}, and the append there {stated[place.digest].hex()}",
            )
        else:
            folds[told] = ordered
    for pointer in pointers:
        told = bytes.fromhex(pointer.snapshot_digest)
        if told not in folds and told not in dropped:
            dropped[told] = pointer.sequence, "it is named, and its chunks are not all there"
    return Candidates(folds, dropped)


def pointer_in(value: Payload, claim: Prefix) -> SnapshotPointer | None:
    """The fold that an append names; None where it names none."""
    data = bytes(value)
    if _TRACE not in data:
        return None
    try:
        rows = (row for commit in read_append(data).commits for row in commit.rows)
        return next(
            (one for one in folds_named(rows) if len(bytes.fromhex(one.snapshot_digest)) == len(claim.digest)), None
        )
    except (EnvelopeError, ValueError):
        return None


def stated_roots(claims: Iterable[tuple[Prefix, Payload]], wanted: Iterable[Position]) -> dict[bytes, bytes]:
    """The roots that undamaged appends state at some places, by their digests."""
    digests = {place.digest for place in wanted}
    return {claim.digest: claim.root for claim, value in claims if claim.digest in digests and undamaged(bytes(value))}
