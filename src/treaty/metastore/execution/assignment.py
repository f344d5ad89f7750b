"""Which runner takes which parts: a function of what the feed of queries says and of who is alive, the same for all runners.

Each runner moves its own parts alone, by `assign-queries`; the registry gives a part to one runner at most. So runners that see
different states may both want a part, of which one is refused and looks again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from treaty.core.limits import ASSIGNED_PARTS


class PartKey(NamedTuple):
    """A part that runs: the generation of its source, and `query` or `bad`."""

    generation: int
    part: str


@dataclass(frozen=True, slots=True)
class PartMoves:
    """What a runner does next by one command: parts that it takes, or parts that it gives back once they have stopped."""

    take: tuple[PartKey, ...] = ()
    release: tuple[PartKey, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is anything to do."""
        return bool(self.take or self.release)


def plan_moves(owners: Mapping[PartKey, str], sharing: Collection[str], own: str) -> PartMoves:
    """Return the next moves of the runner `own`, at most ASSIGNED_PARTS.

    `owners` has the runner of every part, an empty text where no runner has it. `sharing` are the runners that share the parts: those
    that are alive and do not drain. A runner that is not among them gives back all that it has.

    Each of them has an equal number in the end, and the rest goes to those who have the most already, so that no part moves that
    need not. What a runner outside of `sharing` has counts for the shares and is not free before it is released: a runner that
    drains gives it back, and `release-runner` frees it where its runner is gone. A runner takes the free parts with the lowest
    generations, and gives back those with the highest, which have kept the least.
    """
    own_parts = sorted(part for part, owner in owners.items() if owner == own)
    if own not in sharing:
        return PartMoves(release=tuple(own_parts[-ASSIGNED_PARTS:]))
    missing = _count_missing(owners, sharing)
    if missing[own] < 0:
        return PartMoves(release=tuple(own_parts[missing[own] :][-ASSIGNED_PARTS:]))
    free = sorted(part for part, owner in owners.items() if not owner)
    first = sum(max(0, missing[name]) for name in missing if name < own)
    return PartMoves(take=tuple(free[first : first + missing[own]][:ASSIGNED_PARTS]))


def _count_missing(owners: Mapping[PartKey, str], sharing: Collection[str]) -> dict[str, int]:
    """Return how many parts each runner lacks; below zero how many it has too many."""
    counts = dict.fromkeys(sharing, 0)
    for owner in owners.values():
        if owner in counts:
            counts[owner] += 1
    share, rest = divmod(len(owners), len(counts))
    by_count = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: share + (place < rest) - counts[name] for place, name in enumerate(by_count)}
