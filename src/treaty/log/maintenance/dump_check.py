"""The check of a dump before it is restored: its rows go to a temporary file, and every invariant is checked on them there.

A dump may have more rows than there is memory. What is held of it is a page cache of SQLite, RESTORE_CACHE decoded rows and
RESTORE_FAULTS violations, whatever its size. The file lies where temporary files do (TMPDIR) and takes about the room of the dump's rows.
"""

import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from treaty.core.invariants import INDEXES_CHECKED, check_rows, make_unreadable_violation
from treaty.core.limits import RESTORE_CACHE, RESTORE_FAULTS
from treaty.core.state.indexes import InvariantViolation
from treaty.core.state.rows import EncodedRow, UnreadableRowError, UnreadableValue, decode_key, decode_row, key_text
from treaty.core.state.state_tables import TABLES, AnyIndex, AnyTable
from treaty.core.state.table import E, Index, K, Key, Table, V
from treaty.core.state.view import subject_span

PAGES_KIBIBYTES = 65_536
"""Memory that SQLite takes for pages of the file."""
BATCH = 1_000
"""Rows that are put into the file at once."""
_TABLES = (
    "create table row (state_table text, key blob, value blob, primary key (state_table, key)) without rowid",
    "create table entry (name text, entry blob, key_order blob, key blob)",
)
_FIND = (
    "select key from entry where name = ? and entry >= ? and entry < ? and key_order >= ? and key_order < ? "
    "order by entry, key_order"
)
_ABOVE = b"\xff"
"""Bytes above those of every key."""
_NAMES = frozenset(index.name for index in INDEXES_CHECKED)


def find_dump_violations(rows: Iterable[EncodedRow], sequence: int) -> tuple[InvariantViolation, ...]:
    """Return what the rows of a dump break, RESTORE_FAULTS violations at most; none where every invariant holds.

    `sequence` is that of the dump. Raises what `rows` raises, and `OSError` where the temporary file can't be written.
    """
    with tempfile.TemporaryDirectory(prefix="treaty-restore-") as folder:
        file = Path(folder, "rows.db")
        try:
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                stored = StoredDump(database, sequence)
                violations = chain(stored.store(rows), check_rows(stored, stored.keys))
                return tuple(islice(violations, RESTORE_FAULTS))
        except sqlite3.Error as error:
            raise OSError(0, f"{error}; set TMPDIR to a folder with more space", str(file)) from error


class StoredDump:
    """The rows of a dump in a database, as a `View` for the checks of invariants; no row of it changes."""

    def __init__(self, database: sqlite3.Connection, sequence: int) -> None:
        """Take an empty database."""
        self._database = database
        self._sequence = sequence
        self._unreadable: list[tuple[str, Key]] = []
        self._read = lru_cache(RESTORE_CACHE)(self._read_row)
        for statement in ("pragma journal_mode = off", "pragma synchronous = off", *_TABLES):
            database.execute(statement)
        database.execute(f"pragma cache_size = -{PAGES_KIBIBYTES}")

    @property
    def sequence(self) -> int:
        """Sequence of the last commit that the dump shows."""
        return self._sequence

    def store(self, rows: Iterable[EncodedRow]) -> Iterator[InvariantViolation]:
        """Store all rows, and yield a violation for each that can't be read. The dump is whole once this has ended."""
        violations: list[InvariantViolation] = []
        source = iter(rows)
        self._database.execute("begin")
        while batch := [*islice(source, BATCH)]:
            self._store_batch(batch, violations)
        self._database.execute("create index by_entry on entry (name, entry, key_order)")
        self._database.execute("commit")
        yield from violations

    def _store_batch(self, batch: list[EncodedRow], violations: list[InvariantViolation]) -> None:
        stored, entries = [], []
        for row in batch:
            stored.append((row.table, _bytes_of(row.key), _bytes_of(row.value or "")))
            decoded = decode_row(row)
            if isinstance(decoded.value, UnreadableValue):
                if len(violations) < RESTORE_FAULTS:  # at the limit nothing else is checked
                    violations.append(make_unreadable_violation(row.table, decoded.key, decoded.value.why))
                    self._unreadable.append((row.table, decoded.key))
                continue
            for index in TABLES[row.table].indexes:
                if index.name in _NAMES:
                    entries += [
                        (index.name, order_bytes(entry), order_bytes(decoded.key), _bytes_of(row.key))
                        for entry in index.entries(decoded.key, decoded.value)
                    ]
        self._database.executemany("insert into row values (?, ?, ?)", stored)
        self._database.executemany("insert into entry values (?, ?, ?, ?)", entries)

    def get(self, table: Table[K, V], key: K) -> V | None:
        """Return the value of a row, or None. Raises `UnreadableRowError` for one that can't be read."""
        value: V | None = self._read(table.name, key)
        return value

    def _read_row(self, table: str, key: Key) -> Any:
        text = key_text(key)
        place = (table, _bytes_of(text))
        columns = self._database.execute("select value from row where state_table = ? and key = ?", place).fetchone()
        if columns is None:
            return None
        value = decode_row(EncodedRow(table, text, _text_of(columns[0]))).value
        if isinstance(value, UnreadableValue):
            raise _unreadable_row(table, key, value.why)
        return value

    def find(self, index: Index[E, K], entry: E, head: Key = ()) -> Iterator[Any]:
        """Return the keys of the rows that claim an entry of one of `INDEXES_CHECKED`, ascending."""
        low, high = (b"", _ABOVE) if not head else (order_bytes(part) for part in subject_span(*head))
        exact = order_bytes(entry)
        keys = self._find_keys(index, exact, exact + b"\0", low, high)
        return chain(keys, self._refuse_rest(index, lambda key: index.may_claim(key, entry)))

    def _refuse_rest(self, index: AnyIndex, may_claim: Callable[[Key], bool]) -> Iterator[Any]:
        """Yield nothing. Raises `UnreadableRowError` where a row that can't be read may claim what was looked for."""
        for table, key in self._unreadable:
            if table == index.table and TABLES[table].typed_key(key) is not None and may_claim(key):
                raise _unreadable_row(table, key, "it may be one of those that were looked for")
        yield from ()

    def _find_keys(self, index: AnyIndex, *bounds: bytes) -> Iterator[Any]:
        """Yield the keys of the rows whose entry, and then whose key, lies from the first bound on and below the second."""
        assert index.name in _NAMES, f"the entries of {index.name} are not stored"
        for (key,) in self._database.execute(_FIND, (index.name, *bounds)):
            yield TABLES[index.table].typed_key(decode_key(_text_of(key)))

    def walk(self, order: Any, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Return the entries of one of `INDEXES_CHECKED` from `low` on and below `high`, ascending."""
        assert not reverse, "no invariant walks down"
        keys = self._find_keys(order, order_bytes(low), order_bytes(high), b"", _ABOVE)
        rows = ((key, self.get(TABLES[order.table], key)) for key in keys)
        entries = (entry for key, value in rows for entry in order.entries(key, value) if low <= entry < high)
        return chain(self._refuse_rest(order, lambda key: order.may_claim_between(key, low, high)), entries)

    def count(self, table: Table[K, V], group: Key) -> int:
        """Raise: no invariant counts rows."""
        raise NotImplementedError(f"rows of {table.name} are not counted here")

    def keys(self, table: AnyTable) -> Iterator[Any]:
        """Return all keys of a table, one by one."""
        statement = "select key from row where state_table = ? order by key"
        for (key,) in self._database.execute(statement, (table.name,)):
            typed = table.typed_key(decode_key(_text_of(key)))
            if typed is not None:
                yield typed


def _unreadable_row(table: str, key: Key, why: str) -> UnreadableRowError:
    return UnreadableRowError(f"the row {[*key]} of table {table!r} can't be read here: {why}")


def order_bytes(key: Key) -> bytes:
    """Return bytes that are in order as keys are: of two keys the lesser one has the lesser bytes."""
    parts = []
    for part in key:
        if isinstance(part, str):
            parts.append(_bytes_of(part).replace(b"\0", b"\0\xff") + b"\0\1")
        else:
            size = (part.bit_length() + 7) // 8
            sign = 0x80 + size if part >= 0 else 0x80 - size
            value = part if part >= 0 else (1 << (8 * size)) - 1 + part
            parts.append(bytes((max(1, min(sign, 0xFE)),)) + value.to_bytes(size, "big"))
    return b"".join(parts)


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text_of(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
