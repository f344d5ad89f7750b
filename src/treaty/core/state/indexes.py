"""Indexes against rows: each index is rebuilt from the rows, and compared with what the tables hold and answer."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from treaty.core.state.rows import UnreadableRowError
from treaty.core.state.state_tables import INDEXES, TABLES, AnyIndex, AnyTable
from treaty.core.state.table import Key
from treaty.core.state.values import StoredValue
from treaty.core.state.view import ALL_KEYS, Tables

NAMED = 5
"""Keys that a message names of those that are missing or too many."""
REMEDY = "tables are built from rows alone: start the node anew, and report this as a fault of Treaty"


@dataclass(frozen=True, slots=True)
class InvariantViolation:
    """A row that breaks a law: which law, which row, and what is wrong."""

    rule: str
    table: str
    key: Key
    message: str

    def __str__(self) -> str:
        return f"{self.rule} {self.table} {list(self.key)}: {self.message}"


def wrong_indexes(tables: Tables, remedy: str = REMEDY) -> Iterator[InvariantViolation]:
    """Name every entry of an index, every order and every count that differs from what the rows say.

    `table` of what is returned is the index (or the table, where a row is not found by its key), `key` the entry;
    the message has the keys that are missing and those that are too many, and ends with the `remedy`. All rows are
    gone through once for each index; one index at a time is held in memory.
    """
    for table in sorted(
        (table for table in TABLES.values() if table.ordered or table.indexes), key=lambda table: table.name
    ):
        quarantine = tables.quarantine
        readable = (key for key in tables.keys(table) if (table.name, key) not in quarantine)
        lost = [key for key in readable if tables.get(table, key) is None]
        for key in lost:
            yield InvariantViolation("INDEX_WRONG", table.name, key, f"a key without a row; {remedy}")
    for index in INDEXES.values():
        entries = _rebuild_entries(tables, index)
        if index.key_of is None:  # else the order is all there is
            yield from _compare_entries(tables, index, entries, remedy)
        if index.ordered:
            yield from _compare_order(tables, index, sorted(entry for entry, keys in entries.items() if keys), remedy)
    for table in sorted((table for table in TABLES.values() if table.ordered), key=lambda table: table.name):
        yield from _compare_order(tables, table, sorted(key for key, _ in _list_readable(tables, table)), remedy)
    for table in TABLES.values():
        yield from _compare_counts(tables, table, remedy)


def _list_readable(tables: Tables, table: AnyTable) -> Iterator[tuple[Key, StoredValue]]:
    """The rows of a table that can be read; no other is in an index."""
    for key in tables.keys(table):
        value = None if (table.name, key) in tables.quarantine else tables.get(table, key)
        if value is not None:
            yield key, value


def _rebuild_entries(tables: Tables, index: AnyIndex) -> dict[Key, list[Key]]:
    """The entries of an index, each with the keys of the rows that claim it, in no order."""
    entries: dict[Key, list[Key]] = {entry: [] for entry in tables.entries(index)}
    for key, value in _list_readable(tables, TABLES[index.table]):
        for entry in index.entries(key, value):
            entries.setdefault(entry, []).append(key)
    return entries


def _compare_entries(
    tables: Tables, index: AnyIndex, entries: dict[Key, list[Key]], remedy: str
) -> Iterator[InvariantViolation]:
    for entry, keys in entries.items():
        indexed = [*_till_unreadable(tables.find(index, entry))]
        keys.sort()
        if indexed != keys:
            yield InvariantViolation("INDEX_WRONG", index.name, entry, f"{_difference(keys, indexed)}; {remedy}")


def _till_unreadable(keys: Iterator[Key]) -> Iterator[Key]:
    """What is found; unreadable rows are reported elsewhere."""
    with suppress(UnreadableRowError):
        yield from keys


def _compare_counts(tables: Tables, table: AnyTable, remedy: str) -> Iterator[InvariantViolation]:
    if table.counted is None:
        return
    groups = Counter(table.counted(key, value) for key, value in _list_readable(tables, table))
    for group, count in groups.items():
        counted = tables.count(table, group)
        if counted != count:
            yield InvariantViolation(
                "COUNT_WRONG", table.name, group, f"it counts {counted} rows, there are {count}; {remedy}"
            )


def _compare_order(
    tables: Tables, order: AnyTable | AnyIndex, entries: list[Key], remedy: str
) -> Iterator[InvariantViolation]:
    """Compare an order with what it ought to be, up and down. Where a row can't be read no walk is answered."""
    try:
        ordered = [*tables.walk(order, *ALL_KEYS)]
        if ordered == entries:
            ordered = [*tables.walk(order, *ALL_KEYS, reverse=True)][::-1]
    except UnreadableRowError:
        return
    if ordered != entries:
        yield InvariantViolation("INDEX_WRONG", order.name, (), f"its order: {_difference(entries, ordered)}; {remedy}")


def _difference(right: list[Key], actual: list[Key]) -> str:
    expected_keys, actual_keys = set(right), set(actual)
    parts = [
        *_part("lacks", (key for key in right if key not in actual_keys), len(expected_keys - actual_keys)),
        *_part("has too many", (key for key in actual if key not in expected_keys), len(actual_keys - expected_keys)),
    ]
    if not parts:
        parts = ["has keys twice" if len(actual) != len(actual_keys) else "has its keys in another order"]
    return f"it {' and '.join(parts)}"


def _part(what: str, keys: Iterable[Key], count: int) -> list[str]:
    if not count:
        return []
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return [f"{what} {', '.join(str([*key]) for key in islice(keys, NAMED))}{more}"]
