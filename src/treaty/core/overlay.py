"""`Overlay`: a view with the rows of commits that were decided on it and are not in the log yet."""

from collections.abc import Iterable

from treaty.core.rows import Key, Row, Value
from treaty.core.view import View, index_entries


class Overlay:
    """A base view and, over it, the rows decided earlier in a chain. The base is never changed."""

    __slots__ = ("_base", "_claims", "_rows", "_sequence", "_waiting")

    def __init__(self, base: View) -> None:
        """Show just the base."""
        self._base = base
        self._rows: dict[str, dict[Key, Value | None]] = {}
        self._claims: dict[tuple[str, Key], dict[Key, bool]] = {}
        """By index and entry: keys that claim it now, or did below and do no more."""
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
            before = mine[row.key] if row.key in mine else self._base.get(row.table, row.key)
            if before is not None:
                for claim in index_entries(Row(row.table, row.key, before)):
                    self._claims.setdefault(claim, {})[row.key] = False
            mine[row.key] = row.value
            for claim in index_entries(row):
                self._claims.setdefault(claim, {})[row.key] = True
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
