"""`DictTables`: state tables as dictionaries, every index kept in order, so that loading in any order ends alike."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from treaty.core.state.commit import START, Position, add_share, as_root, roots_with
from treaty.core.state.ordered import SortedKeys
from treaty.core.state.rows import (
    DecodedRow,
    EncodedRow,
    Row,
    UnreadableRowError,
    UnreadableValue,
    Value,
    decode_row,
    encode_row,
    gives_back,
    key_text,
)
from treaty.core.state.state_tables import TABLES, VERSION, VERSION_LISTED, AnyIndex, AnyTable
from treaty.core.state.table import E, Index, K, Key, Table, V, may_lie_between
from treaty.core.state.values import StoredValue
from treaty.core.state.view import subject_span

_OF_VALUES: Mapping[str, tuple[AnyIndex, ...]] = {
    table.name: tuple(index for index in table.indexes if index.by_value or not index.of_key)
    for table in TABLES.values()
}
"""By table: the indexes whose entries may change while the row stays."""
_COUNTED = {name: table.counted for name, table in TABLES.items() if table.counted and table is not VERSION}
"""Tables whose rows are counted here; an index has the versions together, and they are counted in that."""
_NO_ROWS: Mapping[Key, StoredValue] = {}


def read(row: EncodedRow, decoded_here: Mapping[EncodedRow, Row] | None = None) -> DecodedRow:
    """Read a row; one that was encoded here is `decoded_here`."""
    row_decoded = decoded_here.get(row) if decoded_here else None
    if row_decoded is not None:
        return row, row_decoded, True
    decoded = decode_row(row)
    return row, decoded, gives_back(decoded, row.value)


def read_many(rows: Iterable[EncodedRow], decoded_here: Mapping[EncodedRow, Row]) -> dict[EncodedRow, Row]:
    """Return the decoded rows that are not known, and have all of them know their digests."""
    read_rows = {row: read(row) for row in rows if row not in decoded_here}
    for row in rows:
        row.digest  # noqa: B018 (computed once, and kept in the row)
    return {row: decoded for row, (_, decoded, is_exact) in read_rows.items() if is_exact}


def _has_key_of_table(row: Row) -> bool:
    table = TABLES.get(row.table)
    return table is not None and table.typed_key(row.key) is not None


class DictTables:
    """The `Tables` of one node: a dictionary per state table, a dictionary of sorted keys per index."""

    __slots__ = (
        "_counts", "_indexes", "_orders", "_shares", "_tables", "_texts", "_unreadable", "_unreadable_keys", "position",
        "quarantine", "roots",
    )  # fmt: skip

    def __init__(self) -> None:
        """Hold nothing, at the start of no log."""
        self._clear(START)

    def _clear(self, position: Position) -> None:
        self._tables: dict[str, dict[Key, StoredValue]] = {}
        self._shares: dict[str, dict[Key, int]] = {}
        self._indexes: dict[str, dict[Key, list[Key]]] = {}
        self._orders: defaultdict[str, SortedKeys] = defaultdict(SortedKeys)
        self._counts: defaultdict[tuple[str, Key], int] = defaultdict(int)
        self._unreadable: dict[str, dict[Key, UnreadableValue]] = {}
        """Rows that can't be read, by table; a table without one is not in it."""
        self._unreadable_keys: defaultdict[str, int] = defaultdict(int)
        """By table: how many of them have a key of the table."""
        self.quarantine: dict[tuple[str, Key], str] = {}
        """Rows that this version can't read, and why."""
        self.roots: dict[str, int] = {}
        """What each table adds to the state root."""
        self._texts: dict[tuple[str, Key], str] = {}
        """Texts of rows that would be encoded otherwise."""
        self.position = position
        """The place in the log that these tables show. They alone set it, and change what is above."""

    def release(self) -> None:
        """Let go of rows and of entries of indexes one by one, on any thread: to free them at once would keep other threads
        waiting. Orders, which are lists, go as they are.
        """
        for store in (self._tables, self._shares, self._indexes, {"": self._counts}, {"": self._texts}):
            for rows in store.values():
                while rows:
                    rows.popitem()

    @property
    def sequence(self) -> int:
        """Sequence of the last commit that these tables show."""
        return self.position.sequence

    def has(self, table: Table[K, Any], key: K) -> bool:
        """Return whether there is a row, one that can't be read too."""
        return key in self._shares.get(table.name, ())

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as stored in the log; 0 where there is none."""
        shares = self._shares.get(table)
        return 0 if shares is None else shares.get(key, 0)

    @property
    def damaged(self) -> bool:
        """Never: dictionaries have no base."""
        return False

    @property
    def size(self) -> int:
        """Rows, those that can't be read among them."""
        return sum(map(len, self._tables.values())) + len(self.quarantine)

    def rows(self) -> Iterator[EncodedRow]:
        """Yield all rows as stored in the log, in no order."""
        for store in (self._tables, self._unreadable):
            yield from chain.from_iterable(self._encode_rows(table, rows) for table, rows in store.items())

    def _encode_rows(self, table: str, rows: Mapping[Key, Any]) -> Iterator[EncodedRow]:
        for key, value in rows.items():
            text = self._texts.get((table, key)) if self._texts else None
            yield encode_row(Row(table, key, value)) if text is None else EncodedRow(table, key_text(key), text)

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None where there is no row."""
        value = self._tables.get(table.name, _NO_ROWS).get(key)
        if value is None and self._unreadable and key in self._unreadable.get(table.name, ()):
            raise self._unreadable_row(table.name, key)
        return value  # type: ignore[return-value]  # rows of a table have its values

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[K]:
        """Return the keys of the rows that claim an index entry and begin with `head`, ascending."""
        readable = self.find_readable(index, entry, head)
        return chain(readable, self.refuse_rest(index, entry)) if self._unreadable else readable

    def find_readable(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[Any]:
        """Return the same keys, and leave it to `refuse_rest` to say that there may be more."""
        entries = self._indexes.get(index.name)
        keys = None if entries is None else entries.get(entry)
        if keys is None:
            return iter(())
        if not head:
            return iter(keys)
        low, high = subject_span(*head)
        return map(keys.__getitem__, range(bisect_left(keys, low), bisect_left(keys, high)))

    def refuse_rest(self, index: AnyIndex, entry: Key) -> Iterator[Any]:
        """Return no key, or raise `UnreadableRowError` once one is asked for: there may be more than was found."""
        self._refuse_unreadable(index.table, lambda key: index.may_claim(key, entry))
        yield from ()

    def _refuse_unreadable(self, table: str, matters: Callable[[Key], bool]) -> None:
        """Raise `UnreadableRowError` where a row of the table that can't be read matters for what is asked."""
        for key in self._unreadable.get(table, ()):
            if TABLES[table].typed_key(key) is not None and matters(key):
                raise self._unreadable_row(table, key)

    def _unreadable_row(self, table: str, key: Key) -> UnreadableRowError:
        why = self.quarantine[table, key]
        return UnreadableRowError(f"the row {[*key]} of table {table!r} can't be read here: {why}; upgrade this node")

    def count(self, table: Table[K, V], group: Key) -> int:
        """Return how many readable rows of a table are in a group."""
        if table is VERSION:
            return len(self._indexes.get(VERSION_LISTED.name, {}).get(group, ()))
        return self._counts.get((table.name, group), 0)

    def entries(self, index: Index[E, K]) -> Iterable[Any]:
        """Return the entries of an index, in no order."""
        return self._indexes.get(index.name, {}).keys()

    def keys(self, table: Table[K, V]) -> Iterable[Any]:
        """Return all keys of a table, in no order."""
        keys = self._tables.get(table.name, {}).keys()
        unreadable = self._unreadable.get(table.name)
        return [*keys, *filter(table.typed_key, unreadable)] if unreadable else keys

    def total(self, table: AnyTable) -> int:
        """Return how many keys a table has. No key is looked at for that."""
        return len(self._tables.get(table.name, _NO_ROWS)) + self._unreadable_keys.get(table.name, 0)

    def walk(self, order: AnyTable | AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return the keys of a table, or the entries of an index, from `low` on and below `high`, up or down."""
        if self._unreadable:
            parts = order.key_parts if isinstance(order, Index) else range(len(order.parts))
            table = order.table if isinstance(order, Index) else order.name
            self._refuse_unreadable(
                table, lambda key: may_lie_between([None if at is None else key[at] for at in parts], low, high)
            )
        sorted_keys = self._orders.get(order.name)
        if sorted_keys is None:
            return iter(())
        return sorted_keys.descend(low, high) if reverse else sorted_keys.ascend(low, high)

    def apply(
        self, rows: Iterable[EncodedRow], position: Position, decoded: Mapping[EncodedRow, Row] | None = None
    ) -> None:
        """Put rows in (tombstones take out) and move to `position`; what is in `decoded` is not decoded again."""
        self.put((read(row, decoded) for row in rows), position)

    def advance(
        self, rows: Iterable[EncodedRow], position: Position, decoded: Mapping[EncodedRow, Row] | None = None
    ) -> bool:
        """Do so where the rows then come to the root that `position` states; else change nothing, and return False."""
        some = [read(row, decoded) for row in rows]
        if as_root(roots_with(self, ((table, row.key) for table, row, _ in some))) != position.root:
            return False
        self.put(some, position)
        return True

    def advance_own(self, rows: Collection[DecodedRow], position: Position) -> bool:
        """Put rows of an own append in; False, with changed tables, if they then come to another root than `position` states."""
        self.put(rows, position)
        return as_root(self.roots) == position.root

    def put(self, rows: Iterable[DecodedRow], position: Position) -> None:
        """Put rows in that have been read."""
        for encoded, row, exact in rows:
            stored = self._tables.get(row.table)
            old = None if stored is None else stored.get(row.key)
            if row.value is None or old is None or isinstance(row.value, UnreadableValue):
                if old is not None or self.quarantine:
                    self._take_out(row, old)
                if row.value is not None:
                    self._put_in(row, row.value, encoded.digest)
            else:
                self._replace(row, old, row.value, encoded.digest)
            if not exact and encoded.value is not None:
                self._texts[row.table, row.key] = encoded.value
            elif self._texts:
                self._texts.pop((row.table, row.key), None)
        self.position = position

    def load(self, rows: Iterable[EncodedRow], position: Position) -> None:
        """Forget everything and hold just these rows; ends exactly as `apply` of the same rows would."""
        self._clear(position)
        self.apply(rows, position)

    def ready(self, rows: Iterable[EncodedRow], position: Position) -> Callable[[], None]:
        """Return what loads these rows: there is nothing to do before."""
        return lambda: self.load(rows, position)

    def _take_out(self, row: Row, old: StoredValue | None) -> None:
        place = row.table, row.key
        if old is None and place not in self.quarantine:
            return
        add_share(self.roots, row.table, -self._shares[row.table].pop(row.key))
        if old is None:
            del self.quarantine[place], self._unreadable[row.table][row.key]
            self._unreadable_keys[row.table] -= _has_key_of_table(row)
            if not self._unreadable[row.table]:
                del self._unreadable[row.table]
            return
        del self._tables[row.table][row.key]
        table = TABLES[row.table]
        if table.ordered:
            self._orders[row.table].remove(row.key)
        if row.table in _COUNTED:
            self._count(row.table, _COUNTED[row.table](row.key, old), -1)
        for index in table.indexes:
            self._give_up(index, row.key, index.entries(row.key, old))

    def _put_in(self, row: Row, value: Value, share: int) -> None:
        self._shares.setdefault(row.table, {})[row.key] = share
        add_share(self.roots, row.table, share)
        if isinstance(value, UnreadableValue):
            self._unreadable.setdefault(row.table, {})[row.key] = value
            self._unreadable_keys[row.table] += _has_key_of_table(row)
            self.quarantine[row.table, row.key] = value.why
            return
        self._tables.setdefault(row.table, {})[row.key] = value
        table = TABLES[row.table]
        if table.ordered:
            self._orders[row.table].add(row.key)
        if row.table in _COUNTED:
            self._count(row.table, _COUNTED[row.table](row.key, value), 1)
        for index in table.indexes:
            self._claim(index, row.key, index.entries(row.key, value))

    def _replace(self, row: Row, old: StoredValue, value: StoredValue, share: int) -> None:
        """Give a row another value: what follows from its key alone stays as it is."""
        table, shares = row.table, self._shares[row.table]
        self._tables[table][row.key] = value
        add_share(self.roots, table, share - shares[row.key])
        shares[row.key] = share
        for index in _OF_VALUES[table]:
            before, now = index.entries(row.key, old), index.entries(row.key, value)
            if before != now:
                self._give_up(index, row.key, before)
                self._claim(index, row.key, now)

    def _give_up(self, index: AnyIndex, key: Key, entries: tuple[Key, ...]) -> None:
        """Take a row's key from entries of an index."""
        if index.key_of is not None:
            for entry in entries:
                self._orders[index.name].remove(entry)
            return
        keys_by_entry = self._indexes[index.name]
        for entry in entries:
            keys = keys_by_entry[entry]
            del keys[bisect_left(keys, key)]
            if not keys:
                del keys_by_entry[entry]
                if index.ordered:
                    self._orders[index.name].remove(entry)

    def _claim(self, index: AnyIndex, key: Key, entries: tuple[Key, ...]) -> None:
        """Put a row's key under entries of an index."""
        if index.key_of is not None:
            for entry in entries:
                self._orders[index.name].add(entry)
            return
        keys_by_entry = self._indexes.setdefault(index.name, {})
        for entry in entries:
            keys = keys_by_entry.get(entry)
            if keys is not None:
                insort(keys, key)
                continue
            keys_by_entry[entry] = [key]
            if index.ordered:
                self._orders[index.name].add(entry)

    def _count(self, table: str, group: Key, change: int) -> None:
        self._counts[table, group] += change
        if not self._counts[table, group]:
            del self._counts[table, group]
