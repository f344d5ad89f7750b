"""`Overlay`: a view with the rows of commits that were decided on it and are not in the log yet."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Any

from treaty.core.state.rows import Row, UnreadableValue
from treaty.core.state.state_tables import TABLES, AnyIndex, AnyTable
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.values import StoredValue
from treaty.core.state.view import View


class Overlay:
    """A base view and, over it, the rows decided earlier in a chain. The base is never changed."""

    __slots__ = ("_base", "_claims", "_counts", "_rows", "_sequence", "_touched", "_unclaimed", "_waiting")

    def __init__(self, base: View) -> None:
        """Show just the base."""
        self._base = base
        self._rows: dict[str, dict[Key, StoredValue | None]] = {}
        self._claims: dict[tuple[str, Key], dict[Key, bool]] = {}
        """By index and entry: keys that claim it now, or did below and do no more."""
        self._touched: defaultdict[str, list[Key]] = defaultdict(list)
        """By order: the keys and entries that may be other than below, ascending."""
        self._counts: defaultdict[tuple[str, Key], int] = defaultdict(int)
        """By table and entry: how many rows there are more than below."""
        self._waiting: list[Row] = []
        """Rows that are not shown yet: the last commit of a chain is never read back from here."""
        self._unclaimed: list[tuple[AnyTable, Key, StoredValue | None, StoredValue | None]] = []
        """Values before and after that no order and no index shows yet: many decisions only look rows up by their keys."""
        self._sequence = base.sequence

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._sequence

    def put(self, rows: Iterable[Row], commits: int = 1) -> None:
        """Show one more commit, or (0) rows of the one that is being decided."""
        self._waiting.extend(rows)
        self._sequence += commits

    def _settle(self) -> None:
        """Show the rows that wait by their keys."""
        for row in self._waiting:
            if isinstance(row.value, UnreadableValue):
                continue  # a row that only a newer version reads: no decision here depends on it
            table = TABLES[row.table]
            own = self._rows.setdefault(row.table, {})
            before = own[row.key] if row.key in own else self._base.get(table, row.key)
            own[row.key] = row.value
            self._unclaimed.append((table, row.key, before, row.value))
        self._waiting.clear()

    def _index(self) -> None:
        """Show all rows in orders, indexes and counts too."""
        if self._waiting:
            self._settle()
        for table, key, before, after in self._unclaimed:
            if before is not None:
                self._claim(table, key, before, held=False)
            if after is not None:
                self._claim(table, key, after, held=True)
        self._unclaimed.clear()

    def _claim(self, table: AnyTable, key: Key, value: StoredValue, *, held: bool) -> None:
        if table.ordered:
            self._touch(table.name, key)
        for index in table.indexes:
            for entry in index.entries(key, value):
                if index.key_of is None:
                    self._claims.setdefault((index.name, entry), {})[key] = held
                if index.ordered:
                    self._touch(index.name, entry)
        if table.counted is not None:
            self._counts[table.name, table.counted(key, value)] += 1 if held else -1

    def _touch(self, order: str, key: Key) -> None:
        touched = self._touched[order]
        at = bisect_left(touched, key)
        if at == len(touched) or touched[at] != key:
            touched.insert(at, key)

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None where there is no row."""
        if self._waiting:
            self._settle()
        own = self._rows.get(table.name)
        if own is not None and key in own:
            return own[key]  # type: ignore[return-value]  # rows of a table have its values
        return self._base.get(table, key)

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of the rows that claim an index entry and begin with `head`, ascending."""
        if self._waiting or self._unclaimed:
            self._index()
        below = self._base.find(index, entry, head)
        claims: dict[Any, bool] | None = self._claims.get((index.name, entry))
        if not claims:
            return below
        claimed = sorted(key for key, held in claims.items() if held and key[: len(head)] == head)
        return merge((key for key in below if key not in claims), claimed)

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return how many readable rows of a table are in a group."""
        if self._waiting or self._unclaimed:
            self._index()
        return self._base.count(table, group) + self._counts.get((table.name, group), 0)

    def keys(self, table: Table[K, V]) -> Iterable[Any]:
        """Return all keys of a table, in no order."""
        if self._waiting:
            self._settle()
        own = self._rows.get(table.name)
        if not own:
            return self._base.keys(table)
        below = [key for key in self._base.keys(table) if key not in own]
        return [*below, *(key for key, value in own.items() if value is not None)]

    def walk(self, order: AnyTable | AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return the keys of a table, or the entries of an index, from `low` on and below `high`, up or down."""
        if self._waiting or self._unclaimed:
            self._index()
        below, touched = self._base.walk(order, low, high, reverse=reverse), self._touched.get(order.name)
        if not touched:
            return below
        between = touched[bisect_left(touched, low) : bisect_left(touched, high)]
        if not between:
            return below
        other = frozenset(between)
        own = [key for key in (reversed(between) if reverse else between) if self._holds(order, key)]
        return merge((key for key in below if key not in other), own, reverse=reverse)

    def _holds(self, order: AnyTable | AnyIndex, key: Key) -> bool:
        """Whether a key or entry that may be other than below is there."""
        if isinstance(order, Table):
            return self._rows[order.name][key] is not None
        if order.key_of is None:
            return any(self.find(order, key))
        row_key = order.key_of(key)
        value = self._rows[order.table][row_key]
        return value is not None and key in order.entries(row_key, value)
