"""Rows of the topic that belong to no transaction: half of one, or what somebody else wrote. Pure.

A mark says how many rows stand before it. Where two marks follow each other and more rows lie between them, some of these are
nobody's; which ones is told by the state root: without them the rows come to it. Where compaction took a mark or a row away this
can't be told any more.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from treaty.core.commit import MODULUS, Position
from treaty.core.limits import UNMARKED_COMPARED
from treaty.core.root import roots_of
from treaty.log.capabilities import OrphanRow
from treaty.log.kafka.owner.forms import Pair, read_row


@dataclass
class Run:
    """Records between two marks of which the second follows the first, and that are more than it says."""

    pairs: tuple[Pair, ...]
    rows: int
    """How many the mark says."""
    before: Mapping[bytes, bytes | None]
    """Values of their keys before them."""
    replaced: set[bytes] = field(default_factory=set)
    """Keys that later records have replaced."""

    @property
    def surplus(self) -> int:
        """Records that are too many."""
        return len(self.pairs) - self.rows

    def without(self, start: int) -> dict[bytes, tuple[bytes | None, bytes | None]]:
        """What the state has of the keys of the surplus, where that begins so far behind the first mark, and what it would have
        without it.
        """
        end = start + self.surplus
        changes = {}
        for key, _ in self.pairs[start:end]:
            if key not in self.replaced:
                places = self._places[key]
                left = next((one for one in reversed(places) if not start <= one < end), None)
                changes[key] = self.pairs[places[-1]][1], self.before.get(key) if left is None else self.pairs[left][1]
        return changes

    @cached_property
    def _places(self) -> Mapping[bytes, list[int]]:
        """Where the records of each key lie."""
        places: defaultdict[bytes, list[int]] = defaultdict(list)
        for place, (key, _) in enumerate(self.pairs):
            places[key].append(place)
        return places


class Watch:
    """What a load sees that looks for such rows."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.runs: list[Run] = []
        self._pairs: list[Pair] = []

    def record(self, key: bytes, value: bytes | None) -> None:
        """A record that is no mark."""
        self._pairs.append((key, value))

    def mark(self, rows: int, whole: Mapping[bytes, bytes | None], *, follows: bool) -> None:
        """A mark; `whole` is the state before it, `follows` whether it is the next one after the mark before."""
        pairs = tuple(self._pairs)
        for run in self.runs:
            run.replaced.update(key for key, _ in pairs)
        if follows and len(pairs) > rows:
            self.runs.append(Run(pairs, rows, {key: whole.get(key) for key, _ in pairs}))
        self._pairs = []

    def find_orphan_rows(self, whole: Mapping[bytes, bytes | None], place: Position) -> tuple[OrphanRow, ...]:
        """Return the rows that belong to no transaction, at the end of a load that shows a place with a state."""
        behind = [
            OrphanRow(read_row(key, value), read_row(key, whole.get(key)), visible=False)
            for key, value in dict(self._pairs).items()
        ]
        found = sum(roots_of(read_row(*pair) for pair in whole.items() if pair[1] is not None).values())
        wanted = (int.from_bytes(place.root, "big") - found) % MODULUS
        return (*_surplus(self.runs, wanted), *behind)


def _surplus(runs: Sequence[Run], wanted: int) -> list[OrphanRow]:
    """The surplus of all runs without which the root fits: at their front, where half a transaction lies; of one run anywhere."""
    starts = [(0,) * len(runs)]
    if len(runs) == 1:
        starts += [(start,) for start in range(1, min(runs[0].rows, UNMARKED_COMPARED // runs[0].surplus) + 1)]
    for each in starts if wanted else ():
        changes: dict[bytes, tuple[bytes | None, bytes | None]] = {}
        for run, start in zip(runs, each, strict=True):
            changes.update(run.without(start))
        if sum(_digest(key, new) - _digest(key, old) for key, (old, new) in changes.items()) % MODULUS == wanted:
            return [
                OrphanRow(read_row(key, old), read_row(key, new), visible=True) for key, (old, new) in changes.items()
            ]
    return []


def _digest(key: bytes, value: bytes | None) -> int:
    return read_row(key, value).digest
