"""Indexes against rows: each index is built anew from the rows, and compared with what the tables hold and answer."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from treaty.core.rows import Alien, Key, Row
from treaty.core.soundness import Unsound
from treaty.core.view import ALL_KEYS, COUNTS, INDEXES, ORDERED_TABLES, Index, Tables, counted

NAMED = 5
"""Keys that a message names of those that are missing or too many."""
REMEDY = "tables are built from rows alone: start the node anew, and report this as a fault of Treaty"


def wrong_indexes(tables: Tables, remedy: str = REMEDY) -> Iterator[Unsound]:
    """Name every entry of an index, every order and every count that differs from what the rows say.

    `table` of what is returned is the index (or the table, where a row is not found by its key), `key` the entry;
    the message has the keys that are missing and those that are too many, and ends with the `remedy`. All rows are
    gone through once for each index; one index at a time is held in memory.
    """
    for table in sorted({*ORDERED_TABLES, *(one.table for one in INDEXES.values())}):
        lost = [key for key in tables.keys(table) if tables.get(table, key) is None]
        for key in lost:
            yield Unsound("INDEX_WRONG", table, key, f"a key without a row; {remedy}")
    for name, index in INDEXES.items():
        entries = _rebuilt(tables, name, index)
        if index.key_of is None:  # else the order is all there is
            yield from _compared(tables, name, entries, remedy)
        if index.ordered:
            yield from _ordered(tables, name, sorted(entry for entry, keys in entries.items() if keys), remedy)
    for table in sorted(ORDERED_TABLES):
        yield from _ordered(tables, table, sorted(row.key for row in _readable(tables, table)), remedy)
    for table in COUNTS:
        yield from _counted(tables, table, remedy)


def _readable(tables: Tables, table: str) -> Iterator[Row]:
    """The rows of a table that can be read; no other is in an index."""
    for key in tables.keys(table):
        value = tables.get(table, key)
        if value is not None and not isinstance(value, Alien):
            yield Row(table, key, value)


def _rebuilt(tables: Tables, name: str, index: Index) -> dict[Key, list[Key]]:
    """The entries of an index, each with the keys of the rows that claim it, in no order."""
    entries: dict[Key, list[Key]] = {entry: [] for entry in tables.entries(name)}
    for row in _readable(tables, index.table):
        assert row.value is not None
        for entry in index.entries(row.key, row.value):
            entries.setdefault(entry, []).append(row.key)
    return entries


def _compared(tables: Tables, name: str, entries: dict[Key, list[Key]], remedy: str) -> Iterator[Unsound]:
    for entry, keys in entries.items():
        found = [*tables.find(name, entry)]
        keys.sort()
        if found != keys:
            yield Unsound("INDEX_WRONG", name, entry, f"{_difference(keys, found)}; {remedy}")


def _counted(tables: Tables, table: str, remedy: str) -> Iterator[Unsound]:
    groups = Counter(group for row in _readable(tables, table) if (group := counted(row)) is not None)
    for group, count in groups.items():
        found = tables.count(*group)
        if found != count:
            yield Unsound("COUNT_WRONG", table, group[1], f"it counts {found} rows, there are {count}; {remedy}")


def _ordered(tables: Tables, order: str, entries: list[Key], remedy: str) -> Iterator[Unsound]:
    found = [*tables.walk(order, *ALL_KEYS)]
    if found == entries:
        found = [*tables.walk(order, *ALL_KEYS, reverse=True)][::-1]
    if found != entries:
        yield Unsound("INDEX_WRONG", order, (), f"its order: {_difference(entries, found)}; {remedy}")


def _difference(right: list[Key], found: list[Key]) -> str:
    here, there = set(right), set(found)
    parts = [
        *_part("lacks", (key for key in right if key not in there), len(here - there)),
        *_part("has too many", (key for key in found if key not in here), len(there - here)),
    ]
    if not parts:
        parts = ["has keys twice" if len(found) != len(there) else "has its keys in another order"]
    return f"it {' and '.join(parts)}"


def _part(what: str, keys: Iterable[Key], count: int) -> list[str]:
    if not count:
        return []
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return [f"{what} {', '.join(str([*key]) for key in islice(keys, NAMED))}{more}"]
