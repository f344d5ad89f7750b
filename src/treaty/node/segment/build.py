"""Building a segment: one pass over all live rows, in any order, or over what has changed since an older one was built."""

import itertools
import json
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.core.state.commit import add_share
from treaty.core.state.rows import EncodedRow, UnreadableValue
from treaty.core.state.state_tables import TABLES, AnyIndex, AnyTable
from treaty.core.state.table import Key
from treaty.node.segment.blocks import LEVEL, SAMPLES, BlockWriter, dictionary_of
from treaty.node.segment.hash_index import ROWS, mark, merged_marks
from treaty.node.segment.segment import GROUPED, Segment
from treaty.node.segment.sorted_index import merge_order, write_order
from treaty.node.segment.value_format import read_row

DEAD_SHARE = 0.25
"""Share of a table's rows that may be dead in an older segment before its blocks are rewritten."""
_Claim = tuple[Callable[[Any, Any], tuple[Key, ...]], "array[int] | None", Callable[[Key], None] | None]
"""How the rows of a table claim entries of an index, their marks where it is asked, and what takes the entries where
they are kept in order.
"""
Column = tuple[bytes | bytearray | memoryview, ...]
"""A column in parts, one behind the other."""


@dataclass(slots=True)
class SegmentContents:
    """A segment in the making: columns by name, and their counts."""

    columns: dict[str, Column] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """Rows of each table, dead ones among them."""
    rows: int = 0
    """Live rows in the tables."""
    roots: dict[str, int] = field(default_factory=dict)
    """What the live rows of each table add to the state root, those in `raw_rows` left out."""
    raw_rows: list[EncodedRow] = field(default_factory=list)
    """Rows that are in no table of the segment; they are in the column ``odd``."""


@dataclass(frozen=True, slots=True)
class SegmentChanges:
    """A segment and what has changed since: numbers of its rows that are gone or replaced, by table, and what all
    others add to the state root, by table.
    """

    base: Segment
    gone: Mapping[str, frozenset[int]]
    left: Mapping[str, int]


def build(rows: Iterable[EncodedRow], since: SegmentChanges | None = None, *, level: int = LEVEL) -> SegmentContents:
    """Build a segment from live rows; from those alone that are new, where the others are in an older segment.

    What can't be read, or has no clean text, is kept as it is in the column ``odd``.
    """
    work = _SegmentBuild(level)
    if since is not None:
        work.roots = dict(since.left)
        for name in since.base.counts:
            work.take(since, name)
    pending: dict[str, list[EncodedRow]] = {}
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
class _SegmentBuild:
    level: int
    tables: dict[str, "_Table"] = field(default_factory=dict)
    raw_rows: list[EncodedRow] = field(default_factory=list)
    roots: dict[str, int] = field(default_factory=dict)

    def take(self, since: SegmentChanges, name: str) -> None:
        """Begin a table with the rows that an older segment has: in their old blocks, or rewritten if many are dead."""
        base = since.base
        dead = base.dead(name) | since.gone.get(name, frozenset())
        if base.counts[name] >= SAMPLES and len(dead) <= DEAD_SHARE * base.counts[name]:
            self.tables[name] = _Table.after(base, name, dead, self.raw_rows, self.level)
            return
        living_rows = (base.read_encoded(name, number) for number in range(base.counts[name]) if number not in dead)
        self.roots.pop(name, None)  # its rows are counted anew
        self.open(name, living_rows)

    def open(self, name: str, rows: Iterable[EncodedRow]) -> "_Table":
        """Begin a table; its first rows teach the dictionary."""
        some = iter(rows)
        first = [*itertools.islice(some, SAMPLES)]
        writer = BlockWriter(dictionary_of([_line(row, read_row(row)[1]) for row in first]), level=self.level)
        table = self.tables[name] = _Table(name, writer, self.raw_rows)
        for row in itertools.chain(first, some):
            table.add(row)
        return table

    def close(self) -> SegmentContents:
        """Put all columns together."""
        built = SegmentContents(roots=self.roots)
        for table in self.tables.values():
            table.close(built)
        built.raw_rows = self.raw_rows
        raw_members = [[row.table, row.key, row.value] for row in self.raw_rows]
        built.columns["odd"] = (json.dumps(raw_members).encode("ascii"),)
        return built


def _line(row: EncodedRow, form: str) -> bytes:
    return f"{row.key}\t{form}".encode("utf-8", "surrogatepass")


@dataclass(slots=True)
class _Table:
    name: str
    writer: BlockWriter
    raw_rows: list[EncodedRow]
    base: Segment | None = None
    dead: frozenset[int] = frozenset()
    keys: "array[int]" = field(default_factory=lambda: array("Q"))
    indexes: dict[str, "array[int]"] = field(default_factory=dict)
    orders: dict[AnyTable | AnyIndex, set[Key] | list[Key]] = field(default_factory=dict)
    """Entries and keys that are kept in order; in a list where no two rows claim the same."""
    groups: dict[str, int] = field(default_factory=dict)
    """Rows of each context, for a table whose rows are counted so."""
    digest: int = 0
    claims: list["_Claim"] = field(default_factory=list)

    def __post_init__(self) -> None:
        table = TABLES.get(
            self.name
        )  # rows of tables that are not known here are raw_rows, and nothing is kept of them
        for index in table.indexes if table else ():
            marks = None if index.key_of is not None else self.indexes.setdefault(index.name, array("Q"))
            take = None
            if index.ordered:
                take = self._order(index, [] if index.key_of is not None else set())
            self.claims.append((index.entries, marks, take))
        if table and table.ordered:
            self._order(table, [])

    def _order(self, order: AnyTable | AnyIndex, entries: "set[Key] | list[Key]") -> Callable[[Key], None]:
        self.orders[order] = entries
        return entries.append if isinstance(entries, list) else entries.add

    @classmethod
    def after(cls, base: Segment, name: str, dead: frozenset[int], raw_rows: list[EncodedRow], level: int) -> "_Table":
        """A table that continues one of an older segment."""
        reader = base.reader(name)
        writer = BlockWriter(reader.dictionary, reader.data, level)
        writer.ends.frombytes(bytes(reader.ends))
        writer.firsts.frombytes(bytes(reader.firsts))
        writer.sums.frombytes(bytes(reader.sums))
        writer.count = base.counts[name]
        table = cls(name, writer, raw_rows, base, dead)
        if name in GROUPED:
            table.groups = dict(base.groups(name))
            for number in dead - base.dead(name):
                table.groups[str(base.key(name, number)[0])] -= 1
        return table

    def add(self, row: EncodedRow) -> None:
        decoded, form = read_row(row)
        line = _line(row, form)
        key, value = decoded.key, decoded.value
        if isinstance(value, UnreadableValue) or value is None or line.count(b"\t") != 1 or b"\n" in line:
            self.raw_rows.append(row)
            return
        if self.writer.count >= ROWS:
            raise OverflowError(f"table {self.name} has more than {ROWS} rows, which one segment can't hold")
        number = self.writer.add(line)
        self.digest += row.digest
        self.keys.append(mark(key, number))
        if self.name in GROUPED:
            self.groups[str(key[0])] = self.groups.get(str(key[0]), 0) + 1
        table = TABLES[self.name]
        if table.ordered:
            self.orders[table].append(_intern(key))  # type: ignore[union-attr]  # a list: keys differ
        for entries, marks, take in self.claims:
            for entry in entries(key, value):
                if marks is not None:
                    marks.append(mark(entry, number))
                if take is not None:
                    take(_intern(entry))

    def close(self, built: SegmentContents) -> None:
        self.writer.close()
        built.counts[self.name] = self.writer.count
        built.rows += self.writer.count - len(self.dead)
        add_share(built.roots, self.name, self.digest)
        columns = built.columns
        columns[f"data:{self.name}"] = (self.writer.prior, self.writer.data)
        columns[f"ends:{self.name}"] = (self.writer.ends.tobytes(),)
        columns[f"firsts:{self.name}"] = (self.writer.firsts.tobytes(),)
        columns[f"sums:{self.name}"] = (self.writer.sums.tobytes(),)
        columns[f"dictionary:{self.name}"] = (self.writer.dictionary,)
        columns[f"dead:{self.name}"] = (array("I", sorted(self.dead)).tobytes(),)
        columns[f"keys:{self.name}"] = (self._marks(f"keys:{self.name}", self.keys),)
        if self.name in GROUPED:
            columns[f"groups:{self.name}"] = (json.dumps(self.groups).encode("ascii"),)
        for name in self.indexes:
            columns[f"index:{name}"] = (self._marks(f"index:{name}", self.indexes[name]),)
        for order in sorted(self.orders, key=lambda order: order.name):
            entries = self.orders[order]
            if self.base is None:
                write_order(columns, order, entries)
            else:
                merge_order(columns, self.base, order, self.dead, entries)

    def _marks(self, name: str, marks: "array[int]") -> bytes:
        return merged_marks(() if self.base is None else self.base.numbers(name, "Q"), self.dead, marks).tobytes()


def _intern(entry: Key) -> Key:
    """The same entry, whose words are shared with others."""
    return tuple(sys.intern(part) if isinstance(part, str) else part for part in entry)
