"""Orphan rows of the topic: parts of incomplete transactions, and foreign records. Pure.

An end record says how many rows stand before it. Where two end records follow each other and more rows lie between
them, some of these are orphans; the state root shows which: the rows match it without them. Where compaction
took an end record or a row away this can't be known any more.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from treaty.core.limits import ORPHAN_ROWS_COMPARED
from treaty.core.state.commit import MODULUS, Position, roots_of
from treaty.log.capabilities import OrphanRow
from treaty.log.kafka.single_writer.records import KeyedValue, read_row


@dataclass
class SurplusRun:
    """Records between two end records of which the second follows the first, and that are more than it says."""

    pairs: tuple[KeyedValue, ...]
    rows: int
    """How many the end record says."""
    before: Mapping[bytes, bytes | None]
    """Values of their keys before them."""
    replaced: set[bytes] = field(default_factory=set)
    """Keys that later records have replaced."""

    @property
    def surplus(self) -> int:
        """Records that are too many."""
        return len(self.pairs) - self.rows

    def without(self, start: int) -> dict[bytes, tuple[bytes | None, bytes | None]]:
        """What the state has of the keys of the surplus, where that begins so far behind the first end record, and what
        it would have without it.
        """
        end = start + self.surplus
        changes = {}
        for key, _ in self.pairs[start:end]:
            if key not in self.replaced:
                indexes = self._indexes[key]
                left = next((index for index in reversed(indexes) if not start <= index < end), None)
                changes[key] = self.pairs[indexes[-1]][1], self.before.get(key) if left is None else self.pairs[left][1]
        return changes

    @cached_property
    def _indexes(self) -> Mapping[bytes, list[int]]:
        """Where the records of each key lie."""
        indexes: defaultdict[bytes, list[int]] = defaultdict(list)
        for index, (key, _) in enumerate(self.pairs):
            indexes[key].append(index)
        return indexes


class OrphanRowCollector:
    """What a load sees that looks for such rows."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.runs: list[SurplusRun] = []
        self._pairs: list[KeyedValue] = []

    def add_record(self, key: bytes, value: bytes | None) -> None:
        """A record that is no end record."""
        self._pairs.append((key, value))

    def add_end_record(self, rows: int, values: Mapping[bytes, bytes | None], *, follows: bool) -> None:
        """An end record; `values` is the state before it, `follows` whether it is the next one after the end record
        before.
        """
        pairs = tuple(self._pairs)
        for run in self.runs:
            run.replaced.update(key for key, _ in pairs)
        if follows and len(pairs) > rows:
            self.runs.append(SurplusRun(pairs, rows, {key: values.get(key) for key, _ in pairs}))
        self._pairs = []

    def find_orphan_rows(self, values: Mapping[bytes, bytes | None], position: Position) -> tuple[OrphanRow, ...]:
        """Return the rows that belong to no transaction, at the end of a load that shows a position with a state."""
        behind = [
            OrphanRow(read_row(key, value), read_row(key, values.get(key)), visible=False)
            for key, value in dict(self._pairs).items()
        ]
        total = sum(roots_of(read_row(*pair) for pair in values.items() if pair[1] is not None).values())
        difference = (int.from_bytes(position.root, "big") - total) % MODULUS
        return (*_find_surplus(self.runs, difference), *behind)


def _find_surplus(runs: Sequence[SurplusRun], difference: int) -> list[OrphanRow]:
    """The surplus of all runs without which the root fits: at their front, where half a transaction lies; of one run
    anywhere.
    """
    starts = [(0,) * len(runs)]
    if len(runs) == 1:
        starts += [(start,) for start in range(1, min(runs[0].rows, ORPHAN_ROWS_COMPARED // runs[0].surplus) + 1)]
    for run_starts in starts if difference else ():
        changes: dict[bytes, tuple[bytes | None, bytes | None]] = {}
        for run, start in zip(runs, run_starts, strict=True):
            changes.update(run.without(start))
        if (
            sum(_digest_row(key, new) - _digest_row(key, old) for key, (old, new) in changes.items()) % MODULUS
            == difference
        ):
            return [
                OrphanRow(read_row(key, old), read_row(key, new), visible=True) for key, (old, new) in changes.items()
            ]
    return []


def _digest_row(key: bytes, value: bytes | None) -> int:
    return read_row(key, value).digest
