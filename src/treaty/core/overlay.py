"""`Overlay`: a view with the rows of commits that were decided on it and are not in the log yet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from heapq import merge

from treaty.core.rows import Alien, Key, Row, Value
from treaty.core.view import ORDERED_TABLES, ORDERS, View, index_entries


class Overlay:
    """A base view and, over it, the rows decided earlier in a chain. The base is never changed."""

    __slots__ = ("_base", "_claims", "_rows", "_sequence", "_touched", "_waiting")

    def __init__(self, base: View) -> None:
        """Show just the base."""
        self._base = base
        self._rows: dict[str, dict[Key, Value | None]] = {}
        self._claims: dict[tuple[str, Key], dict[Key, bool]] = {}
        """By index and entry: keys that claim it now, or did below and do no more."""
        self._touched: defaultdict[str, set[Key]] = defaultdict(set)
        """By order: the keys and entries that may be other than below."""
        self._waiting: list[Row] = []
        """Rows that nobody has looked for yet: the last commit of a chain is never read back from here."""
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
        for row in self._waiting:
            mine = self._rows.setdefault(row.table, {})
            before = mine[row.key] if row.key in mine else self._base.get(row.table, row.key)
            if before is not None:
                self._claim(Row(row.table, row.key, before), held=False)
            mine[row.key] = row.value
            self._claim(row, held=True)
            if row.table in ORDERED_TABLES:
                self._touched[row.table].add(row.key)
        self._waiting.clear()

    def _claim(self, row: Row, *, held: bool) -> None:
        for claim in index_entries(row):
            self._claims.setdefault(claim, {})[row.key] = held
            if claim[0] in ORDERS:
                self._touched[claim[0]].add(claim[1])

    def get(self, table: str, key: Key) -> Value | None:
        """Return the value of a row, or None."""
        if self._waiting:
            self._settle()
        mine = self._rows.get(table)
        if mine is not None and key in mine:
            return mine[key]
        return self._base.get(table, key)

    def find(self, index: str, entry: Key) -> tuple[Key, ...]:
        """Return the keys of all rows that claim an index entry, ascending."""
        if self._waiting:
            self._settle()
        below = self._base.find(index, entry)
        claims = self._claims.get((index, entry))
        if not claims:
            return below
        mine = sorted(key for key, held in claims.items() if held)
        if not below or (len(mine) == len(claims) and below[-1] < mine[0]):  # new ones at the end, as most are
            return (*below, *mine)
        return tuple(sorted([*(key for key in below if key not in claims), *mine]))

    def keys(self, table: str) -> Iterable[Key]:
        """Return all keys of a table, in no order."""
        if self._waiting:
            self._settle()
        mine = self._rows.get(table)
        if not mine:
            return self._base.keys(table)
        kept = [key for key in self._base.keys(table) if key not in mine]
        return [*kept, *(key for key, value in mine.items() if value is not None)]

    def walk(self, order: str, low: Key, high: Key) -> Iterator[Key]:
        """Return in order the keys of a table, or the entries of an index, from `low` on and below `high`."""
        if self._waiting:
            self._settle()
        below, touched = self._base.walk(order, low, high), self._touched.get(order)
        if not touched:
            return below
        mine = sorted(key for key in touched if self._holds(order, key) and low <= key < high)
        return merge((key for key in below if key not in touched), mine)

    def _holds(self, order: str, key: Key) -> bool:
        if order in ORDERED_TABLES:
            value = self._rows[order][key]
            return value is not None and not isinstance(value, Alien)
        return bool(self.find(order, key))
