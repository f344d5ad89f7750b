"""What handlers see: rows by key, and the indexes that follow from rows alone; and `Overlay`, a view with the rows of commits that
were decided on it and are not in the log yet.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from heapq import merge
from typing import Any, Protocol, overload

from treaty.core.state.commit import Position
from treaty.core.state.rows import DecodedRow, EncodedRow, Row, UnreadableValue
from treaty.core.state.state_tables import TABLES, AnyIndex, AnyTable
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.values import StoredValue


class View(Protocol):
    """Tables, or tables with an overlay. `sequence` is that of the last commit seen."""

    @property
    def sequence(self) -> int:
        """Sequence of the last commit that this view shows."""
        ...

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None where there is no row. Raises `UnreadableRowError` for one that can't be
        read.
        """
        ...

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of the rows that claim an index entry, ascending; the first one wins.

        With `head` only those whose first parts are these, of which the last is a text. Only the keys that are taken
        cost; the view must not change meanwhile. An index with `key_of` is walked, never asked. Raises
        `UnreadableRowError` behind the last key where a row that can't be read might claim the entry.
        """
        ...

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return how many readable rows of a table are in a group (see `Table.counted`). No row is looked at for that."""
        ...

    def keys(self, table: Table[K, V]) -> Iterable[K]:
        """Return all keys of a table, in no order."""
        ...

    @overload
    def walk(self, order: Table[K, Any], low: Key, high: Key, *, reverse: bool = False) -> Iterator[K]: ...
    @overload
    def walk(self, order: Index[E, Any], low: Key, high: Key, *, reverse: bool = False) -> Iterator[E]: ...
    def walk(self, order: Any, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return the keys of a table, or the entries of an index, from `low` on and below `high`: ascending, or
        descending (`reverse`).

        `order` is one of `ORDERS`. Only what is taken costs; the view must not change meanwhile. See `span` for the
        bounds. Raises `UnreadableRowError` where a row that can't be read might stand between them.
        """
        ...


class Tables(View, Protocol):
    """A node's state tables. Pure storage: no schema is parsed here, and no row is refused."""

    @property
    def position(self) -> Position:
        """The place in the log that these tables show."""
        ...

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root: the sum of its rows' digests modulo 2**256, equal on all nodes; a
        table that adds nothing is missing. It changes with the tables.
        """
        ...

    def has(self, table: Table[K, Any], key: K) -> bool:
        """Return whether there is a row, one that can't be read too."""
        ...

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as stored in the log; 0 where there is none."""
        ...

    def total(self, table: AnyTable) -> int:
        """Return how many keys a table has, those of rows that can't be read among them. No key is looked at for that."""
        ...

    def rows(self) -> Iterable[EncodedRow]:
        """Return all rows as stored in the log, in no order."""
        ...

    @property
    def quarantine(self) -> Mapping[tuple[str, Key], str]:
        """Rows that this version can't read, and why; while there are any the node must not decide."""
        ...

    def entries(self, index: Index[E, K]) -> Iterable[E]:
        """Return the entries of an index that are kept as such, in no order; not those that are worked out from rows."""
        ...

    @property
    def damaged(self) -> bool:
        """Whether the base of the tables is damaged, so that everything must be loaded again."""
        ...

    def apply(
        self, rows: Iterable[EncodedRow], position: Position, decoded: Mapping[EncodedRow, Row] | None = None
    ) -> None:
        """Put rows in (tombstones take out) and move to `position`.

        `decoded` may hold what `decode_row` would return for some of them: a node has just encoded its own.
        """
        ...

    def advance(
        self, rows: Iterable[EncodedRow], position: Position, decoded: Mapping[EncodedRow, Row] | None = None
    ) -> bool:
        """Apply rows if all rows then come to the root that `position` states; else return False, without a change."""
        ...

    def advance_own(self, rows: Collection[DecodedRow], position: Position) -> bool:
        """Apply rows of an append whose root was computed on these tables, and compare what the tables then add up to.

        If that is another root, False comes with changed tables, and everything must be loaded again.
        """
        ...

    def load(self, rows: Iterable[EncodedRow], position: Position) -> None:
        """Forget everything and hold just these rows; ends exactly as `apply` of the same rows would."""
        ...

    def ready(self, rows: Iterable[EncodedRow], position: Position) -> Callable[[], None]:
        """Do what takes long in `load`, on any thread, and change nothing; what is returned puts it in place."""
        ...


_LAST = chr(0x10FFFF)
ALL_KEYS: tuple[Key, Key] = ((), (_LAST,))
"""Bounds of all keys of subjects: no context is named higher."""


def index_entries(row: Row) -> tuple[tuple[str, Key], ...]:
    """Return the pairs of an index's name and an entry that a row claims; what can't be read claims none."""
    if row.value is None or isinstance(row.value, UnreadableValue):
        return ()
    indexes = TABLES[row.table].indexes
    return tuple((index.name, entry) for index in indexes for entry in index.entries(row.key, row.value))


def count_group(row: Row) -> tuple[str, Key] | None:
    """Return the table and the group in which a row is counted; None for a tombstone and for what can't be read."""
    if row.value is None or isinstance(row.value, UnreadableValue):
        return None
    group_of = TABLES[row.table].counted
    return None if group_of is None else (row.table, group_of(row.key, row.value))


def subject_span(*head: str | int) -> tuple[Key, Key]:
    """Return the bounds of all entries whose first parts are `head`, of which the last is a subject's name."""
    return head, (*head[:-1], f"{head[-1]}\0")


def span(head: Key, prefix: str = "") -> tuple[Key, Key]:
    """Return the bounds of all keys whose first parts are `head`, and whose next one begins with `prefix`.

    The last part of `head` is a text.
    """
    high = past(prefix)
    return (*head, prefix), (*head[:-1], f"{head[-1]}\0") if high is None else (*head, high)


def past(prefix: str) -> str | None:
    """Return the least text above all that begin with a prefix; None where there is none."""
    cut = prefix.rstrip(_LAST)
    return cut[:-1] + chr(ord(cut[-1]) + 1) if cut else None


def after(key: Key) -> Key:
    """Return the bound from which a walk continues after a key and all that begin with it part by part."""
    return (*key[:-1], f"{key[-1]}\0") if isinstance(key[-1], str) else (*key[:-1], key[-1] + 1)


# ----------------------------------------------------------------------------------------------------------- an overlay


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
