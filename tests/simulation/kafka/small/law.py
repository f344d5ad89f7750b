"""The code under check, what a wrong one breaks, and how much may happen in a small world."""

from collections.abc import Callable
from dataclasses import dataclass

from treaty.core.state.commit import AppendPrefix, Position
from treaty.log.kafka.multi_writer.validity import AppendHistory, RecordValidity, choose_start

Begin = Callable[..., tuple[Position, bytes] | None]


class BrokenError(Exception):
    """An invariant does not hold."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much may happen: nodes, appends that each of them gets into the log, and folds in all.

    Crashes, deletions, and what comes late or again, come at any time and as often as they like.
    """

    nodes: int
    appends: int
    folds: int = 0
    chains: int = 99
    """How many appends are chains of two commits at most, whichever they are; all others are one commit."""

    @property
    def most(self) -> int:
        """Appends in all."""
        return self.nodes * self.appends


@dataclass(frozen=True, slots=True)
class Law:
    """The code under check. Planted bugs stand in its place."""

    judge: Callable[[AppendHistory, AppendPrefix], RecordValidity] = AppendHistory.check
    begin: Begin = choose_start
    inside: bool = False
    """Folds stand for all but the last commit of a chain."""
    rest: Callable[[int, int], int] = lambda folded, _: folded
    """The append up to which the prefix is deleted, for a fold of so many appends, when there are so many."""
    named: bool = True
    """Whether a fold has to be named before the prefix is deleted."""


RIGHT = Law()
