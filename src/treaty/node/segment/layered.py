"""`LayeredTables`: a segment, and over it in dictionaries what has changed since."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING, Any

from treaty.core.state.codec import dumps
from treaty.core.state.commit import START, Position, add_share, as_root, roots_with
from treaty.core.state.rows import DecodedRow, EncodedRow, Row
from treaty.core.state.state_tables import TABLES, AnyIndex, AnyTable
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.tables import DictTables, read
from treaty.core.state.view import count_group
from treaty.node.segment.blocks import QUICK
from treaty.node.segment.value_format import quick_row

if TYPE_CHECKING:
    from treaty.node.segment.build import SegmentContents
    from treaty.node.segment.segment import Segment

SMALL = 200_000
"""Rows up to which dictionaries alone hold everything: a segment would save nothing."""

READS = ("get", "has", "share", "find", "count", "keys", "walk")
"""What dictionaries alone are asked for directly while there is no segment."""

Release = Callable[[], None]
"""Lets go of rows that are no longer shown."""


def open_built(built: "SegmentContents") -> "Segment":
    """A segment in this process's memory."""
    from treaty.node.segment.segment import Segment  # noqa: PLC0415 (small logs have none)

    columns = {
        name: memoryview(parts[0] if len(parts) == 1 else b"".join(parts)) for name, parts in built.columns.items()
    }
    return Segment(lambda name: columns.get(name, memoryview(b"")), built.counts, built.roots)


def _read(row: EncodedRow, decoded_rows: Mapping[EncodedRow, Row] | None) -> DecodedRow:
    """Read a row, quickly where that gives the same."""
    decoded = decoded_rows.get(row) if decoded_rows else None
    if decoded is None and row.value is not None:
        decoded = quick_row(row)
    return read(row, decoded_rows) if decoded is None else (row, decoded, True)


class LayeredTables:
    """The `Tables` of a node with very many rows; ends exactly as `DictTables` does."""

    def __init__(self, small: int = SMALL) -> None:
        """Hold nothing, at the start of no log."""
        self._small = small
        self._stand_on(None, START)

    def _stand_on(self, base: "Segment | None", position: Position, over: DictTables | None = None) -> None:
        self._base = base
        self._base_sequence = -1 if base is None else position.sequence
        self._over = DictTables() if over is None else over
        self._covered: dict[str, set[Key]] = {}
        """Keys of the base, by table, whose rows are gone or lie in `_over`."""
        self._doubtful: set[Key] = set()
        """Entries of ordered indexes that rows of the base claim which are covered: maybe without any claim left."""
        self._given_up: set[Key] = set()
        """Such entries that no row of the base claims any more, as a lookup found."""
        self._starts: dict[str, Key] = {}
        """By order: a bound below which the base has nothing that is not covered. What is used up from its low end, as
        outcomes are, would otherwise be skipped by each walk."""
        self._fewer: defaultdict[tuple[str, Key], int] = defaultdict(int)
        """By table and entry: how many of the base's counted rows are covered."""
        self._left: dict[str, int] = {} if base is None else dict(base.roots)
        """What the base's rows that are not covered add to the state root, by table."""
        if over is None:
            self._over.load(() if base is None else base.raw_rows(), position)
        for name in READS:
            if base is None:
                self.__dict__[name] = getattr(self._over, name)
            else:
                self.__dict__.pop(name, None)
        self.position = position
        """The place in the log that these tables show."""
        self.quarantine = self._over.quarantine
        """Rows that this version can't read, and why: no segment has one."""

    def stand_on(self, base: "Segment", position: Position) -> None:
        """Show just the rows of a segment, which were the log's at `position`."""
        self._stand_on(base, position)

    def ready_on(
        self,
        base: "Segment",
        place: Position,
        rows: Iterable[EncodedRow],
        position: Position,
        decoded_rows: Mapping[EncodedRow, Row] | None = None,
    ) -> Callable[[], Release] | None:
        """Do all of standing on a segment of `place` and advancing to `position` that takes long, on any thread; what
        is returned puts it in place, and returns what lets go of the rows of before, on any thread. None where the rows
        do not come to the root of `position`.
        """
        other = LayeredTables(self._small)
        other.stand_on(base, place)
        return partial(self._take_place_of, other) if other.advance(rows, position, decoded_rows) else None

    def _take_place_of(self, other: "LayeredTables") -> Release:
        before = self._over
        self.__dict__ = other.__dict__
        return before.release

    def stands_on(self, base: "Segment") -> bool:
        """Whether these are the rows of this segment, and what has changed since."""
        return self._base is base

    @property
    def sequence(self) -> int:
        """Sequence of the last commit that these tables show."""
        return self.position.sequence

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root; a table that adds nothing is missing."""
        if not self._left:
            return self._over.roots
        roots = dict(self._left)
        for table, total in self._over.roots.items():
            add_share(roots, table, total)
        return roots

    def has(self, table: Table[K, Any], key: K) -> bool:
        """Return whether there is a row, one that can't be read too."""
        if self._over.has(table, key) or self._base is None or key in self._covered.get(table.name, ()):
            return self._over.has(table, key)
        return self._base.number(table.name, key) is not None

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as stored in the log; 0 where there is none."""
        share = self._over.share(table, key)
        if share or self._base is None or key in self._covered.get(table, ()):
            return share
        number = self._base.number(table, key)
        return 0 if number is None else self._base.read_encoded(table, number).digest

    @property
    def damaged(self) -> bool:
        """Whether the segment turned out damaged, so that everything must be loaded again."""
        return self._base is not None and bool(self._base.damage)

    @property
    def changed(self) -> int:
        """Rows that have changed since the segment was built, and were not put back."""
        return self._over.size + sum(map(len, self._covered.values()))

    @property
    def base_sequence(self) -> int:
        """The sequence of the segment below; -1 without one."""
        return self._base_sequence

    def changed_keys(self, table: Table[K, Any]) -> set[K]:
        """Return the keys of rows that have changed since the segment, but for those that came after it and are gone again."""
        return {*self._covered.get(table.name, ()), *self._over.keys(table)}

    @property
    def size(self) -> int:
        """Rows."""
        below = 0 if self._base is None else self._base.size
        return below - sum(map(len, self._covered.values())) + self._over.size

    # ---------------------------------------------------------------------------------------------------- reading

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None where there is no row."""
        value = self._over.get(table, key)
        if value is not None or self._base is None or key in self._covered.get(table.name, ()):
            return value
        number = self._base.number(table.name, key)
        return None if number is None else self._base.row(table.name, number).value  # type: ignore[return-value]

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of the rows that claim an index entry and begin with `head`, ascending."""
        if self._base is None:
            return self._over.find(index, entry, head)
        over = self._over.find_readable(index, entry, head)
        below, covered = self._base.find(index, entry, head), self._covered.get(index.table)
        merged = merge((key for key in below if key not in covered) if covered else below, over)
        return chain(merged, self._over.refuse_rest(index, entry)) if self._over.quarantine else merged

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return how many readable rows of a table are in a group."""
        over = self._over.count(table, group)
        if self._base is None:
            return over
        return self._base.count(table, group) - self._fewer.get((table.name, group), 0) + over

    def entries(self, index: Index[E, K]) -> Iterable[E]:
        """Return the entries of an index that changed rows claim; the segment keeps marks of its own, and no entries."""
        return self._over.entries(index)

    def keys(self, table: Table[K, V]) -> Iterable[Any]:
        """Return all keys of a table, in no order."""
        if self._base is None:
            return self._over.keys(table)
        return self._list_keys(self._base, table)

    def _list_keys(self, base: "Segment", table: AnyTable) -> Iterator[Any]:
        covered = self._covered.get(table.name, set())
        yield from (key for key in base.keys(table.name) if key not in covered)
        yield from self._over.keys(table)

    def items(self, table: Table[K, V]) -> Iterator[tuple[K, V]]:
        """Return all keys of a table with their values, in no order: much cheaper than to ask for each. See `Segment.items`."""
        covered = self._covered.get(table.name, set())
        for key, value in () if self._base is None else self._base.items(table.name):
            if key not in covered:
                yield key, value  # type: ignore[misc]
        for key in self._over.keys(table):
            changed = self._over.get(table, key)
            if changed is not None:
                yield key, changed

    def total(self, table: AnyTable) -> int:
        """Return how many keys a table has. No key is looked at for that."""
        below = 0 if self._base is None else self._base.count_live(table.name) - len(self._covered.get(table.name, ()))
        return below + self._over.total(table)

    def rows(self) -> Iterator[EncodedRow]:
        """Yield all rows as stored in the log, in no order."""
        for table in () if self._base is None else self._base.counts:
            covered = {dumps(key) for key in self._covered.get(table, ())}
            for row in self._base.rows(table) if self._base else ():
                if row.key not in covered:
                    yield row
        yield from self._over.rows()

    def build_segment(self) -> "SegmentContents":
        """A segment of all rows as they are now, made from the one below and what has changed."""
        from treaty.node.segment.build import SegmentChanges, build  # noqa: PLC0415 (as above)

        base = self._base
        if base is None:
            return build(self._over.rows())
        gone = {
            table: frozenset(number for key in keys if (number := base.number(table, key)) is not None)
            for table, keys in self._covered.items()
        }
        return build(self._over.rows(), SegmentChanges(base, gone, self._left))

    def walk(self, order: AnyTable | AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return the keys of a table, or the entries of an index, from `low` on and below `high`, up or down."""
        over = self._over.walk(order, low, high, reverse=reverse)
        if self._base is None:
            return over
        start = self._starts.get(order.name, ())
        below = self._base.walk(order, max(low, start), high, reverse=reverse)
        covered = self._covered.get(order.name if isinstance(order, Table) else order.table)
        if covered:
            below = self._list_uncovered(self._base, order, below, covered)
            if low <= start < high and not reverse:
                below = self._from_the_start(order.name, below, high)
        return _skip_repeats(merge(below, over, reverse=reverse))

    def _list_uncovered(
        self, base: "Segment", order: AnyTable | AnyIndex, base_entries: Iterator[Key], covered: set[Key]
    ) -> Iterator[Key]:
        """What the base has in an order, without what is covered."""
        if isinstance(order, Table):
            return (key for key in base_entries if key not in covered)
        key_of = order.key_of
        if key_of is not None:
            return (entry for entry in base_entries if key_of(entry) not in covered)
        return (
            entry
            for entry in base_entries
            if entry not in self._doubtful or self._is_claimed(base, order, entry, covered)
        )

    def _from_the_start(self, order: str, uncovered: Iterator[Key], high: Key) -> Iterator[Key]:
        """The same, and remember where it begins."""
        first = next(uncovered, None)
        self._starts[order] = high if first is None else first
        if first is not None:
            yield first
            yield from uncovered

    def _is_claimed(self, base: "Segment", order: AnyIndex, entry: Key, covered: set[Key]) -> bool:
        if entry in self._given_up:
            return False
        claimed = any(key not in covered for key in base.find(order, entry))
        if not claimed:
            self._given_up.add(entry)
        return claimed

    # ---------------------------------------------------------------------------------------------------- changing

    def apply(
        self, rows: Iterable[EncodedRow], position: Position, decoded_rows: Mapping[EncodedRow, Row] | None = None
    ) -> None:
        """Put rows in (tombstones take out) and move to `position`; what is in `decoded_rows` is not decoded again."""
        self._put([_read(row, decoded_rows) for row in rows], position)

    def advance(
        self, rows: Iterable[EncodedRow], position: Position, decoded_rows: Mapping[EncodedRow, Row] | None = None
    ) -> bool:
        """Do so where the rows then come to the root that `position` states; else change nothing, and return False."""
        some = [_read(row, decoded_rows) for row in rows]
        if as_root(roots_with(self, ((table, row.key) for table, row, _ in some))) != position.root:
            return False
        self._put(some, position)
        return True

    def advance_own(self, rows: Collection[DecodedRow], position: Position) -> bool:
        """Put rows of an own append in; False, with changed tables, if they then come to another root than `position` states."""
        self._put(rows, position)
        return as_root(self.roots) == position.root

    def _put(self, rows: Collection[DecodedRow], position: Position) -> None:
        if self._base is not None:
            for encoded, row, _ in rows:
                self._cover(self._base, encoded.table, row.key)
        self._over.put(rows, position)
        self.position = position

    def _cover(self, base: "Segment", table: str, key: Key) -> None:
        covered = self._covered.get(table)
        if covered is not None and key in covered:
            return
        number = base.number(table, key)
        if number is not None:
            self._covered.setdefault(table, set()).add(key)
            self._doubt(base.row(table, number))
            add_share(self._left, table, -base.read_encoded(table, number).digest)

    def _doubt(self, row: Row) -> None:
        entry = count_group(row)
        if entry is not None:
            self._fewer[entry] += 1
        if row.value is not None:
            for index in TABLES[row.table].indexes:
                if index.ordered and index.key_of is None:
                    self._doubtful.update(index.entries(row.key, row.value))

    def load(self, rows: Iterable[EncodedRow], position: Position) -> None:
        """Forget everything and hold just these rows; ends exactly as `apply` of the same rows would."""
        self.ready(rows, position)()

    def ready(self, rows: Iterable[EncodedRow], position: Position) -> Callable[[], None]:
        """Do all of `load` that takes long, on any thread; what is returned puts it in place."""
        some = rows if isinstance(rows, tuple) else tuple(rows)
        if len(some) <= self._small:
            over = DictTables()
            over.put((_read(row, None) for row in some), position)
            return lambda: self._stand_on(None, position, over)
        from treaty.node.segment.build import build  # noqa: PLC0415 (as above)

        last = {(row.table, row.key): row for row in some}
        base = open_built(build((row for row in last.values() if row.value is not None), level=QUICK))
        return lambda: self._stand_on(base, position)


def _skip_repeats(keys: Iterator[Key]) -> Iterator[Key]:
    """Each of some ordered keys once."""
    before: Key | None = None
    for key in keys:
        if key != before:
            yield key
        before = key
