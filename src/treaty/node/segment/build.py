"""Building a segment: one pass over all live rows, in any order."""

import itertools
import json
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from treaty.core.codec import dumps
from treaty.core.rows import Alien, Encoded, Key, Value
from treaty.core.view import BY_TABLE, INDEXES, ORDERED_TABLES, ORDERS
from treaty.node.segment.blocks import SAMPLES, BlockWriter, dictionary_of
from treaty.node.segment.forms import read_row
from treaty.node.segment.marks import ROWS, mark, sorted_marks

_MODULUS = 2**256


@dataclass(slots=True)
class Built:
    """A segment in the making: columns by name, and what is told of them."""

    columns: dict[str, bytes | bytearray | memoryview] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    digest: int = 0
    """Sum of the digests of its rows, modulo 2**256."""
    odd: list[Encoded] = field(default_factory=list)
    """Rows that are in no table of the segment; they are in the column ``odd``."""


def build(rows: Iterable[Encoded]) -> Built:
    """Build a segment from live rows. What can't be read, or has no clean text, is kept as it is in the column ``odd``."""
    work = _Work()
    pending: dict[str, list[Encoded]] = {}
    for row in rows:
        table = work.tables.get(row.table)
        if table is not None:
            table.add(row)
            continue
        waiting = pending.setdefault(row.table, [])
        waiting.append(row)
        if len(waiting) >= SAMPLES:
            work.open(row.table, pending.pop(row.table))
    for name, waiting in pending.items():
        work.open(name, waiting)
    return work.close()


@dataclass(slots=True)
class _Work:
    tables: dict[str, "_Table"] = field(default_factory=dict)
    odd: list[Encoded] = field(default_factory=list)

    def open(self, name: str, rows: list[Encoded]) -> None:
        """Begin a table; its first rows teach the dictionary."""
        writer = BlockWriter(dictionary_of([_line(row, read_row(row)[1]) for row in rows]))
        table = self.tables[name] = _Table(name, writer, self.odd)
        for row in rows:
            table.add(row)

    def close(self) -> Built:
        """Put all columns together."""
        built = Built()
        for table in self.tables.values():
            table.close(built)
        built.odd = self.odd
        told = [[row.table, row.key, row.value] for row in self.odd]
        built.columns["odd"] = json.dumps(told).encode("ascii")
        built.digest %= _MODULUS
        return built


def _line(row: Encoded, form: str) -> bytes:
    return f"{row.key}\t{form}".encode("utf-8", "surrogatepass")


@dataclass(slots=True)
class _Table:
    name: str
    writer: BlockWriter
    odd: list[Encoded]
    keys: "array[int]" = field(default_factory=lambda: array("Q"))
    indexes: dict[str, "array[int]"] = field(default_factory=dict)
    orders: dict[str, list[Key]] = field(default_factory=dict)
    digest: int = 0

    def add(self, row: Encoded) -> None:
        decoded, form = read_row(row)
        line = _line(row, form)
        if isinstance(decoded.value, Alien) or decoded.value is None or line.count(b"\t") != 1 or b"\n" in line:
            self.odd.append(row)
            return
        if self.writer.count >= ROWS:
            raise OverflowError(f"table {self.name} has more than {ROWS} rows, which one segment can't hold")
        number = self.writer.add(line)
        self.digest += row.digest
        self.keys.append(mark(decoded.key, number))
        if self.name in ORDERED_TABLES:
            self.orders.setdefault(self.name, []).append(decoded.key)
        for name, entry in _claims(self.name, decoded.key, decoded.value):
            self.indexes.setdefault(name, array("Q")).append(mark(entry, number))
            if name in ORDERS:
                self.orders.setdefault(name, []).append(entry)

    def close(self, built: Built) -> None:
        self.writer.close()
        built.counts[self.name] = self.writer.count
        built.digest += self.digest
        columns = built.columns
        columns[f"data:{self.name}"] = self.writer.data
        columns[f"ends:{self.name}"] = self.writer.ends.tobytes()
        columns[f"firsts:{self.name}"] = self.writer.firsts.tobytes()
        columns[f"dictionary:{self.name}"] = self.writer.dictionary
        columns[f"keys:{self.name}"] = sorted_marks(self.keys).tobytes()
        for name, marks in self.indexes.items():
            columns[f"index:{name}"] = sorted_marks(marks).tobytes()
        for name, entries in self.orders.items():
            _write_order(columns, name, entries)


def _claims(table: str, key: Key, value: Value) -> Iterator[tuple[str, Key]]:
    return ((name, entry) for name, one in BY_TABLE.get(table, ()) for entry in one.entries(key, value))


def _write_order(columns: dict[str, bytes | bytearray | memoryview], name: str, entries: list[Key]) -> None:
    """Write each entry once, in order, in blocks of their own; ``heads`` has the first one of each block."""
    entries.sort()
    writer, heads, seen = BlockWriter(), [], -1
    for entry, _ in itertools.groupby(entries):
        line = dumps(entry).encode("utf-8", "surrogatepass")
        writer.add(line)
        if len(writer.firsts) != seen:
            seen = len(writer.firsts)
            heads.append(line)
    writer.close()
    columns[f"data:order:{name}"] = writer.data
    columns[f"ends:order:{name}"] = writer.ends.tobytes()
    columns[f"firsts:order:{name}"] = writer.firsts.tobytes()
    columns[f"heads:{name}"] = b"\n".join(heads)


KNOWN = tuple(sorted(INDEXES))
"""The indexes that a segment of this version has; one that has others is built anew."""
