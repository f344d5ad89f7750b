"""`Overlay`: a view with the rows of commits that were decided on it and are not in the log yet."""

from collections.abc import Iterable

from treaty.core.rows import Key, Row, Value
from treaty.core.view import INDEXES, View, index_entries


class Overlay:
    """A base view and, over it, the rows decided earlier in a chain. The base is never changed."""

    __slots__ = ("_base", "_entries", "_rows", "_sequence", "_waiting")

    def __init__(self, base: View) -> None:
        """Show just the base."""
        self._base = base
        self._rows: dict[str, dict[Key, Value | None]] = {}
        self._entries: dict[tuple[str, Key], set[Key]] = {}
        self._waiting: list[Row] = []
        """Rows that nobody has looked for yet: the last commit of a chain is never read back from here."""
        self._sequence = base.sequence

    @property
    def sequence(self) -> int:
        """Sequence of the last commit shown."""
        return self._sequence

    def put(self, rows: Iterable[Row]) -> None:
        """Show one more commit."""
        self._waiting.extend(rows)
        self._sequence += 1

    def _settle(self) -> None:
        for row in self._waiting:
            mine = self._rows.setdefault(row.table, {})
            before = mine.get(row.key)
            if before is not None:
                for claim in index_entries(Row(row.table, row.key, before)):
                    self._entries[claim].discard(row.key)
            mine[row.key] = row.value
            for claim in index_entries(row):
                self._entries.setdefault(claim, set()).add(row.key)
        self._waiting.clear()

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
        mine = self._rows.get(INDEXES[index].table)
        if not mine:
            return below
        kept = {key for key in below if key not in mine}
        return tuple(sorted(kept | self._entries.get((index, entry), set())))

    def keys(self, table: str) -> Iterable[Key]:
        """Return all keys of a table, in no order."""
        if self._waiting:
            self._settle()
        mine = self._rows.get(table)
        if not mine:
            return self._base.keys(table)
        kept = [key for key in self._base.keys(table) if key not in mine]
        return [*kept, *(key for key, value in mine.items() if value is not None)]
