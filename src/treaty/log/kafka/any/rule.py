"""The rule: which records of a partition are the log. Pure; every reader judges every record alike.

A record that names the last valid append as its parent is the next valid append. Every other one is a loser, for ever,
provided that it was decided on this very history. The exhaustive check in tests/simulation/kafka runs this code.

Records are judged by their prefix and the parent in it alone, never by the state root that they state: two nodes that decide
differently on one place state different roots, and the one that came second is stale, not damaged. The root of a valid append is
remembered with its digest, so that a place with another root (of a state file, say) is not taken for a known one.
"""

from dataclasses import dataclass, field
from enum import Enum

from treaty.core.commit import ENVELOPE_FORMAT, NO_DIGEST, NO_ROOT, START, Position, Prefix


class Verdict(Enum):
    """What a record is."""

    VALID = "valid"
    """The next append of the log."""
    LOSER = "loser"
    """Somebody was first, or it is an append that came again: ignored for ever."""
    MISSING = "missing"
    """It follows an append that was never read: the log lost data, or what was read is another log's."""
    FORKED = "forked"
    """Another append stands where its parent stood: what was read and what it was decided on are two histories."""
    NEWER = "newer"
    """It would be valid, and only a newer version of Treaty can read it."""
    OLDER = "older"
    """It would be valid, and was written before the format that this version reads: the log has to be upgraded first."""


@dataclass(slots=True)
class History:
    """What is known of the valid appends: the last one, and where others ended since the last fold.

    `places` maps the last sequence of each remembered append to its digest and root, 64 bytes; its lowest key is where memory
    begins.
    """

    tip: Position = START
    places: dict[int, bytes] = field(default_factory=lambda: {0: NO_DIGEST + NO_ROOT})

    @staticmethod
    def at(place: Position) -> "History":
        """The history of somebody who begins at a place, as the reader of a fold does."""
        return History(place, {place.sequence: place.digest + place.root})

    @property
    def oldest(self) -> int:
        """The first sequence whose place is remembered."""
        return next(iter(self.places))

    def judge(self, claim: Prefix) -> Verdict:
        """Say what a record is, after all records before it."""
        tip = self.tip
        if not tip.sequence:
            if claim.first > 1:
                return Verdict.MISSING
            born = claim.first == 1 and claim.parent == NO_DIGEST and claim.identity == claim.attempt
            return _known(claim) if born and claim.length > 0 else Verdict.LOSER
        if claim.identity != tip.identity:
            return Verdict.LOSER
        if claim.first > tip.sequence + 1:
            return Verdict.MISSING
        if claim.parent == tip.digest and claim.first == tip.sequence + 1 and claim.length > 0:
            return _known(claim)
        base = claim.first - 1
        if base >= self.oldest and self.digest_at(base) != claim.parent:
            return Verdict.FORKED
        return Verdict.LOSER

    def follow(self, claim: Prefix) -> Verdict:
        """Judge a record, and move on where it is valid."""
        verdict = self.judge(claim)
        if verdict is Verdict.VALID:
            self.move(claim)
        return verdict

    def move(self, claim: Prefix) -> None:
        """Move on by a valid append."""
        self.tip = claim.position
        self.places[claim.last] = claim.digest + claim.root

    def digest_at(self, sequence: int) -> bytes | None:
        """Return the digest of the append that ended at a sequence; None where none did that is remembered."""
        found = self.places.get(sequence)
        return None if found is None else found[: len(NO_DIGEST)]

    def knows(self, place: Position) -> bool:
        """Tell whether an append ended at this very place and stated this root, as far as is remembered."""
        return place.identity == self.tip.identity and self.places.get(place.sequence) == place.digest + place.root

    def forget(self, before: int) -> None:
        """Forget the places before a sequence, which a fold stands for now; the tip stays."""
        for sequence in [one for one in self.places if one < min(before, self.tip.sequence)]:
            del self.places[sequence]


def _known(claim: Prefix) -> Verdict:
    if claim.format == ENVELOPE_FORMAT:
        return Verdict.VALID
    return Verdict.NEWER if claim.format > ENVELOPE_FORMAT else Verdict.OLDER
