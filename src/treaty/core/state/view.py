"""What handlers see: rows by key, and the indexes that follow from rows alone."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol, overload

from treaty.core.state.commit import Position
from treaty.core.state.rows import DecodedRow, EncodedRow, Row, UnreadableValue
from treaty.core.state.state_tables import TABLES, AnyTable
from treaty.core.state.table import E, Index, K, Key, Table, V


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
