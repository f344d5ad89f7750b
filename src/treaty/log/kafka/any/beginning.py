"""Where a reader may begin: at the front of the log, or at the newest fold that counts. Pure.

A fold counts when a valid append names its digest. The exhaustive check in tests/simulation/kafka runs this code.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from treaty.core.commit import START, Position, Prefix
from treaty.log.kafka.any.rule import History, Verdict


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
