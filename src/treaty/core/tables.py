"""`DictTables`: state tables as dictionaries, every index kept in order, so that loading in any order ends alike."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from treaty.core.commit import START, Position, as_root
from treaty.core.ordered import Ordered
from treaty.core.root import add, roots_with
from treaty.core.rows import Alien, Encoded, Key, Row, Value, decode_row, encode_row, gives_back, key_text
from treaty.core.view import BY_TABLE, COUNTS, ORDERED_TABLES, Index, subject_span

_OF_VALUES = {table: tuple(pair for pair in pairs if not pair[1].of_key) for table, pairs in BY_TABLE.items()}
"""By table: the indexes whose entries may change while the row stays."""
_COUNTED = {table: entry_of for table, entry_of in COUNTS.items() if table != "version"}
"""Tables whose rows are counted here; an index has the versions together, and they are counted in that."""


Read = tuple[Encoded, Row, bool]
"""A row, what was read of it, and whether that gives back its text."""


def read(row: Encoded, known: Mapping[Encoded, Row] | None = None) -> Read:
    """Read a row; one that was encoded here is `known`."""
    found = known.get(row) if known else None
    if found is not None:
        return row, found, True
    decoded = decode_row(row)
    return row, decoded, gives_back(decoded, row.value)


class DictTables:
    """The `Tables` of one node: a dictionary per state table, a dictionary of sorted keys per index."""

    __slots__ = ("_counts", "_indexes", "_orders", "_position", "_quarantine", "_roots", "_shares", "_tables", "_texts")

    def __init__(self) -> None:
        """Hold nothing, at the start of no log."""
        self._clear(START)

    def _clear(self, position: Position) -> None:
        self._tables: dict[str, dict[Key, Value]] = {}
        self._shares: dict[str, dict[Key, int]] = {}
        self._indexes: dict[str, dict[Key, list[Key]]] = {}
        self._orders: defaultdict[str, Ordered] = defaultdict(Ordered)
        self._counts: defaultdict[tuple[str, Key], int] = defaultdict(int)
        self._quarantine: dict[tuple[str, Key], str] = {}
        self._roots: dict[str, int] = {}
        self._texts: dict[tuple[str, Key], str] = {}
        """Texts of rows that would be encoded otherwise."""
        self._position = position

    @property
    def sequence(self) -> int:
        """Sequence of the last commit that these tables show."""
        return self._position.sequence

    @property
    def position(self) -> Position:
        """The place in the log that these tables show."""
        return self._position

    @property
    def roots(self) -> Mapping[str, int]:
        """What each table adds to the state root."""
        return self._roots

    def share(self, table: str, key: Key) -> int:
        """Return the digest of a row as it stands in the log; 0 where there is none."""
        shares = self._shares.get(table)
        return 0 if shares is None else shares.get(key, 0)

    @property
    def quarantine(self) -> Mapping[tuple[str, Key], str]:
        """Rows that this version can't read, and why."""
        return self._quarantine

    @property
    def damaged(self) -> bool:
        """Never: dictionaries stand on nothing."""
        return False

    @property
    def size(self) -> int:
        """Rows, those that can't be read among them."""
        return sum(map(len, self._tables.values()))

    def rows(self) -> Iterator[Encoded]:
        """Yield all rows as they stand in the log, in no order."""
        for table, kept in self._tables.items():
            for key, value in kept.items():
                text = self._texts.get((table, key)) if self._texts else None
                yield encode_row(Row(table, key, value)) if text is None else Encoded(table, key_text(key), text)

    def get(self, table: str, key: Key) -> Value | None:
        """Return the value of a row, or None."""
        rows = self._tables.get(table)
        return None if rows is None else rows.get(key)

    def find(self, index: str, entry: Key, head: Key = ()) -> Iterator[Key]:
        """Return the keys of the rows that claim an index entry and begin with `head`, ascending."""
        entries = self._indexes.get(index)
        keys = None if entries is None else entries.get(entry)
        if keys is None:
            return iter(())
        if not head:
            return iter(keys)
        low, high = subject_span(*head)
        return map(keys.__getitem__, range(bisect_left(keys, low), bisect_left(keys, high)))

    def count(self, table: str, entry: Key) -> int:
        """Return how many readable rows of a table fall under an entry."""
        if table == "version":
            return len(self._indexes.get("version.listed", {}).get(entry, ()))
        return self._counts.get((table, entry), 0)

    def entries(self, index: str) -> Iterable[Key]:
        """Return the entries of an index, in no order."""
        return self._indexes.get(index, {}).keys()

    def keys(self, table: str) -> Iterable[Key]:
        """Return all keys of a table, in no order."""
        return self._tables.get(table, {}).keys()

    def walk(self, order: str, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Key]:
        """Return the keys of a table, or the entries of an index, from `low` on and below `high`, up or down."""
        kept = self._orders.get(order)
        return iter(()) if kept is None else kept.walk(low, high, reverse=reverse)

    def apply(self, rows: Iterable[Encoded], position: Position, known: Mapping[Encoded, Row] | None = None) -> None:
        """Put rows in (tombstones take out) and move to `position`; what is in `known` is not decoded again."""
        self.put((read(one, known) for one in rows), position)

    def advance(self, rows: Iterable[Encoded], position: Position, known: Mapping[Encoded, Row] | None = None) -> bool:
        """Do so where the rows then come to the root that `position` states; else change nothing, and return False."""
        some = [read(one, known) for one in rows]
        roots = roots_with(self, [(one, row.key) for one, row, _ in some])
        if as_root(roots) != position.root:
            return False
        self.put(some, position)
        return True

    def put(self, rows: Iterable[Read], position: Position) -> None:
        """Put rows in that have been read."""
        for encoded, row, exact in rows:
            old = self.get(row.table, row.key)
            if row.value is None or old is None or isinstance(old, Alien) or isinstance(row.value, Alien):
                self._take_out(row)
                if row.value is not None:
                    self._put_in(row, row.value, encoded.digest)
            else:
                self._replace(row, old, row.value, encoded.digest)
            if not exact and encoded.value is not None:
                self._texts[row.table, row.key] = encoded.value
            elif self._texts:
                self._texts.pop((row.table, row.key), None)
        self._position = position

    def load(self, rows: Iterable[Encoded], position: Position) -> None:
        """Forget everything and hold just these rows; ends exactly as `apply` of the same rows would."""
        self._clear(position)
        self.apply(rows, position)

    def ready(self, rows: Iterable[Encoded], position: Position) -> Callable[[], None]:
        """Return what loads these rows: there is nothing to do before."""
        return lambda: self.load(rows, position)

    def _take_out(self, row: Row) -> None:
        table = self._tables.get(row.table)
        old = None if table is None else table.pop(row.key, None)
        if old is None:
            return
        add(self._roots, row.table, -self._shares[row.table].pop(row.key))
        if isinstance(old, Alien):
            del self._quarantine[row.table, row.key]
            return
        if row.table in ORDERED_TABLES:
            self._orders[row.table].remove(row.key)
        if row.table in _COUNTED:
            self._count(row.table, _COUNTED[row.table](row.key, old), -1)
        for name, index in BY_TABLE.get(row.table, ()):
            self._give_up(name, index, row.key, index.entries(row.key, old))

    def _put_in(self, row: Row, value: Value, share: int) -> None:
        self._tables.setdefault(row.table, {})[row.key] = value
        self._shares.setdefault(row.table, {})[row.key] = share
        add(self._roots, row.table, share)
        if isinstance(value, Alien):
            self._quarantine[row.table, row.key] = value.why
            return
        if row.table in ORDERED_TABLES:
            self._orders[row.table].add(row.key)
        if row.table in _COUNTED:
            self._count(row.table, _COUNTED[row.table](row.key, value), 1)
        for name, index in BY_TABLE.get(row.table, ()):
            self._claim(name, index, row.key, index.entries(row.key, value))

    def _replace(self, row: Row, old: Value, value: Value, share: int) -> None:
        """Give a row another value: what follows from its key alone stays as it is."""
        table, shares = row.table, self._shares[row.table]
        self._tables[table][row.key] = value
        add(self._roots, table, share - shares[row.key])
        shares[row.key] = share
        for name, index in _OF_VALUES.get(table, ()):
            before, now = index.entries(row.key, old), index.entries(row.key, value)
            if before != now:
                self._give_up(name, index, row.key, before)
                self._claim(name, index, row.key, now)

    def _give_up(self, name: str, index: Index, key: Key, entries: tuple[Key, ...]) -> None:
        """Take a row's key from entries of an index."""
        if index.key_of is not None:
            for entry in entries:
                self._orders[name].remove(entry)
            return
        found = self._indexes[name]
        for entry in entries:
            keys = found[entry]
            del keys[bisect_left(keys, key)]
            if not keys:
                del found[entry]
                if index.ordered:
                    self._orders[name].remove(entry)

    def _claim(self, name: str, index: Index, key: Key, entries: tuple[Key, ...]) -> None:
        """Put a row's key under entries of an index."""
        if index.key_of is not None:
            for entry in entries:
                self._orders[name].add(entry)
            return
        found = self._indexes.setdefault(name, {})
        for entry in entries:
            keys = found.get(entry)
            if keys is not None:
                insort(keys, key)
                continue
            found[entry] = [key]
            if index.ordered:
                self._orders[name].add(entry)

    def _count(self, table: str, entry: Key | None, change: int) -> None:
        if entry is not None:
            self._counts[table, entry] += change
            if not self._counts[table, entry]:
                del self._counts[table, entry]
