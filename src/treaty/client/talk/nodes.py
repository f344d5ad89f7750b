"""Which of several nodes is asked: the one that worked last; one that failed rests, longer each time."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class _Node:
    failures: int = 0
    failed: float = 0.0
    """When it failed last."""
    rests: float = 0.0
    """It is not asked before this time while another one is there."""
    until: float = 0.0
    """It is never asked before this time, because it said so (``Retry-After``)."""
    native: float = 0.0
    """Before this time it counts as a server without Treaty's native API."""


class Nodes:
    """What a client knows of its nodes. `first` and `longest` bound the rest of one that failed, in seconds."""

    def __init__(self, count: int, chance: Callable[[], float], first: float, longest: float) -> None:
        """All nodes are taken to be well; the first one named is preferred."""
        self._nodes = tuple(_Node() for _ in range(count))
        self._chance = chance
        self._first = first
        self._longest = longest
        self.preferred = 0

    def turn(self, number: int, now: float) -> tuple[int, ...]:
        """Return whom to ask in a turn (from 0), in order.

        In the first turn those at rest are left out while another one is there. Later, when all who were asked have
        failed, they come last, and before them the one that failed last.
        """
        around = [(self.preferred + step) % len(self._nodes) for step in range(len(self._nodes))]
        awake = [node for node in around if self._nodes[node].rests <= now]
        resting = sorted((node for node in around if node not in awake), key=lambda node: self._nodes[node].rests)
        if number:
            return (*sorted(awake, key=lambda node: self._nodes[node].failed), *resting)
        return tuple(awake or resting[:1])

    def wait(self, node: int, now: float) -> float:
        """Return the seconds that a node has asked to be left alone for, from now."""
        return max(0.0, self._nodes[node].until - now)

    def is_native(self, node: int, now: float) -> bool:
        """Tell whether Treaty's native API is tried at a node; it is until the node is known to lack it."""
        return now >= self._nodes[node].native

    def lacks_native_api(self, node: int, until: float) -> None:
        """Note that a node lacks Treaty's native API, and when to try that again."""
        self._nodes[node].native = until

    def worked(self, node: int) -> None:
        """Note an answer: this node is asked first from now on."""
        known = self._nodes[node]
        known.failures, known.rests, known.until = 0, 0.0, 0.0
        self.preferred = node

    def failed(self, node: int, now: float, asked: float | None) -> None:
        """Note a failure, and how many seconds the node wants to be left alone for (None: it did not say)."""
        known = self._nodes[node]
        if now >= known.rests:  # who asked it at the same time has seen the same failure
            known.failures += 1
        known.failed = now
        rest = min(self._first * 2.0 ** min(known.failures - 1, 30), self._longest)
        known.rests = max(known.rests, now + rest * (0.5 + self._chance() / 2))
        if asked is not None:
            known.until = max(known.until, now + min(asked, self._longest))
            known.rests = max(known.rests, known.until)
