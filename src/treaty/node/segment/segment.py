"""`Segment`: rows that never change, in compressed blocks, with marks by which they are found."""

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Literal, TypeVar

import msgspec

from treaty.core.refusals import Unavailable
from treaty.core.schema import refuse_large_size
from treaty.core.state.codec import dumps
from treaty.core.state.commit import add_share
from treaty.core.state.rows import EncodedRow, Row, UnreadableValue
from treaty.core.state.state_tables import VERSION_BY_NUMBER, AnyIndex, AnyTable
from treaty.core.state.table import Key, Table
from treaty.core.state.values import Schema
from treaty.core.state.view import subject_span
from treaty.node.segment.blocks import BlockDamagedError, BlockReader
from treaty.node.segment.hash_index import mark, row_of, rows_of
from treaty.node.segment.heads import BlockHeads
from treaty.node.segment.value_format import PROVEN, content_of, has_its_guid, key_of, keys_of, text_of, value_of

BLOCKS_KEPT = 256
"""Decompressed blocks that a segment remembers."""
ROWS_KEPT = 4_096
"""Decoded rows that a segment remembers."""
NUMBERS_KEPT = 1_024
"""Keys that were looked for, found or not: a row is asked for when a command is decided, hashed and applied."""
KNOWN_KEPT = 8_192
"""Keys that a segment has found by an index, and whose rows' numbers it remembers."""
SORTED_FROM = 64
"""Rows of one index entry from which on their order is worked out once and remembered."""
SORTED_KEPT = 4_000_000
"""Rows whose place in such an order a segment remembers; four bytes each."""
GROUPED = frozenset({"schema"})
"""Tables whose rows are counted for each context."""
Part = TypeVar("Part")
Value = TypeVar("Value")
Columns = Callable[[str], memoryview]
"""Gives a column by its name, empty where there is none."""


class SegmentDamagedError(Unavailable):
    """A segment that is not what was written; the log has everything that is in it."""


def totals(roots: Mapping[str, int], raw_rows: Iterable[EncodedRow]) -> Mapping[str, int]:
    """Return what tables add to the state root, the rows that are in no table of a segment among theirs."""
    table_totals = dict(roots)
    for row in raw_rows:
        add_share(table_totals, row.table, row.digest)
    return table_totals


class Segment:
    """Rows by key, by index entry and in order. Frozen: what is asked twice is answered alike."""

    def __init__(
        self, columns: Columns, counts: Mapping[str, int], roots: Mapping[str, int], *, careful: bool = True
    ) -> None:
        """Rows in columns that `build` made, each read when it is needed first.

        `counts` has the rows of each table, dead ones too, and `roots` what its live rows add to the state root. A `careful` segment
        raises for a schema whose content has another guid than its row had when the segment was built.
        """
        self.counts = counts
        self.roots = roots
        """What its live rows add to the state root, by table."""
        self.damage = ""
        """What is damaged; empty as long as nothing was found."""
        self._careful = careful
        self._columns = columns
        self.numbers = lru_cache(maxsize=None)(self._read_numbers)
        self.dead = lru_cache(maxsize=None)(self._read_dead)
        self._readers: dict[str, BlockReader] = {}
        self._known: dict[tuple[str, Key], int] = {}
        self._sorted: dict[tuple[AnyIndex, Key], array[int]] = {}
        self._sorted_rows = 0
        self._block = lru_cache(BLOCKS_KEPT)(self._read_block)
        self.row = lru_cache(ROWS_KEPT)(self._row)
        self._number = lru_cache(NUMBERS_KEPT)(self._read_number)
        self.heads = lru_cache(maxsize=None)(self._read_heads)
        self.entries = lru_cache(BLOCKS_KEPT)(self._read_entries)
        self.groups = lru_cache(maxsize=None)(self._read_groups)

    def raw_rows(self) -> list[EncodedRow]:
        """Rows that are not in the segment's tables: who uses it has to keep them."""
        return [EncodedRow(*members) for members in json.loads(bytes(self._column("odd")) or b"[]")]

    def _column(self, name: str) -> memoryview:
        try:
            return self._columns(name)
        except SegmentDamagedError as error:
            self.damage = str(error)
            raise

    def _read_numbers(self, name: str, kind: Literal["Q", "I"]) -> memoryview:
        return self._column(name).cast(kind)

    def _read_dead(self, table: str) -> frozenset[int]:
        return frozenset(self.numbers(f"dead:{table}", "I"))

    @property
    def size(self) -> int:
        """Live rows."""
        return sum(map(self.count_live, self.counts))

    def count_live(self, table: str) -> int:
        """Live rows of a table: what an older segment had may be dead in a newer one that has its blocks."""
        return self.counts.get(table, 0) - len(self.dead(table))

    # ---------------------------------------------------------------------------------------------------- rows

    def reader(self, table: str) -> BlockReader:
        """The blocks of a table, or of an order (``order:NAME``)."""
        reader = self._readers.get(table)
        if reader is None:
            reader = self._readers[table] = BlockReader(
                self._column(f"data:{table}"),
                ends=self.numbers(f"ends:{table}", "Q"),
                firsts=self.numbers(f"firsts:{table}", "I"),
                sums=self.numbers(f"sums:{table}", "I"),
                dictionary=bytes(self._column(f"dictionary:{table}")),
            )
        return reader

    def _read_block(self, table: str, number: int) -> list[bytes]:
        reader = self.reader(table)
        try:
            refuse_large_size(reader.size(number))
            return reader.block(number)
        except BlockDamagedError as error:
            raise self._make_damage_error(f"block {number} of table {table} is damaged: {error}") from None

    def block(self, table: str, number: int) -> memoryview:
        """A block of rows, or of an order (``order:NAME``), as it is kept."""
        try:
            return self.reader(table).raw(number)
        except BlockDamagedError as error:
            raise self._make_damage_error(f"block {number} of table {table} is damaged: {error}") from None

    def _make_damage_error(self, damage: str) -> SegmentDamagedError:
        self.damage = damage
        return SegmentDamagedError(f"the state file: {damage}; everything is read from the log again")

    def _line(self, table: str, number: int) -> tuple[bytes, bytes]:
        """Key and value of a row as they are kept."""
        firsts = self.reader(table).firsts
        block = bisect_right(firsts, number) - 1
        try:
            line = self._block(table, block)[number - firsts[block]]
        except IndexError:
            raise self._make_damage_error(f"block {block} of table {table} lacks row {number}") from None
        key, _, value = line.partition(b"\t")
        return key, value

    def read_encoded(self, table: str, number: int) -> EncodedRow:
        """A row by its number, as stored in the log."""
        key, value = self._line(table, number)
        return EncodedRow(table, str(key, "utf-8", "surrogatepass"), text_of(str(value, "utf-8", "surrogatepass")))

    def items(self, table: str) -> Iterator[tuple[Key, Any]]:
        """Keys and values of all live rows of a table, in the order in which they lie: each block is read once.

        Of a value they have what `content_of` gives, and texts of schemas are not compared with their guids.
        """
        dead = self.dead(table)
        for block, first in enumerate(self.reader(table).firsts if self.counts.get(table) else ()):
            for number, line in enumerate(self._read_block(table, block), first):
                key, _, form = line.partition(b"\t")
                if number not in dead:
                    yield (
                        self._decode_part(table, number, key_of, key),
                        self._decode_part(table, number, content_of, form),
                    )

    def _row(self, table: str, number: int) -> Row:
        key, form = self._line(table, number)
        refuse_large_size(len(form))
        text = str(form, "utf-8", "surrogatepass")
        row = Row(
            table, self._decode_part(table, number, key_of, key), self._decode_part(table, number, value_of, text)
        )
        if isinstance(row.value, Schema) and self._careful:
            self._refuse_other_text(number, row.key, row.value, proven=form.startswith(PROVEN.encode()))
        return row

    def _decode_part(self, table: str, number: int, decode: Callable[[str, Part], Value], part: Part) -> Value:
        """A key or a value of a row."""
        try:
            value = decode(table, part)
        except (msgspec.DecodeError, ValueError) as error:
            raise self._make_damage_error(f"row {number} of table {table}: {error}") from None
        if isinstance(value, UnreadableValue):
            raise self._make_damage_error(f"row {number} of table {table} can't be read: {value.why}")
        return value

    def _refuse_other_text(self, number: int, key: Key, schema: Schema, *, proven: bool) -> None:
        """Refuse a schema whose text is not the one that its guid was taken over. Most guids are not kept, but follow
        from the text: then the index of guids shows whether it is the same text.
        """
        if proven and not has_its_guid(schema):
            raise self._make_damage_error(f"schema {list(key)}: its content does not have the guid {schema.guid}")
        if number not in rows_of(self.numbers("index:schema.guid", "Q"), (key[0], schema.guid)):
            raise self._make_damage_error(
                f"schema {list(key)}: its content has the guid {schema.guid}, which the index does not know"
            )

    def key(self, table: str, number: int) -> Key:
        """The key of a row by its number."""
        return self._decode_part(table, number, key_of, self._line(table, number)[0])

    def number(self, table: str, key: Key) -> int | None:
        """The number of the row with a key; None where there is none."""
        row_number = self._known.get((table, key))
        if row_number is not None or not self.counts.get(table):
            return row_number
        return self._number(table, key)

    def _read_number(self, table: str, key: Key) -> int | None:
        for number in rows_of(self.numbers(f"keys:{table}", "Q"), key):
            if self._line(table, number)[0] == dumps(key).encode("utf-8", "surrogatepass"):
                return number
        return None

    def keys(self, table: str) -> Iterator[Key]:
        """All keys of a table, in no order."""
        return (self.key(table, number) for number in self._list_live(table))

    def rows(self, table: str) -> Iterator[EncodedRow]:
        """All rows of a table, in no order."""
        return (self.read_encoded(table, number) for number in self._list_live(table))

    def _list_live(self, table: str) -> Iterator[int]:
        dead = self.dead(table)
        return (number for number in range(self.counts.get(table, 0)) if number not in dead)

    # ---------------------------------------------------------------------------------------------------- indexes

    def find(self, index: AnyIndex, entry: Key, head: Key = ()) -> Iterator[Any]:
        """Keys of the rows that claim an index entry and begin with `head`, ascending.

        Who has a key asks for its row: numbers are remembered. Where many rows claim an entry their order is remembered
        too, and only what is taken costs.
        """
        table = index.table
        numbers = self._sorted.get((index, entry))
        if numbers is None:
            claiming = sorted(self._list_claiming(index, entry))
            if len(claiming) < SORTED_FROM:
                if len(self._known) > KNOWN_KEPT:
                    self._known.clear()
                self._known.update(((table, key), number) for key, number in claiming)
                return (key for key, _ in claiming if key[: len(head)] == head)
            numbers = self._remember(index, entry, array("I", [number for _, number in claiming]))
        low, high = 0, len(numbers)
        if head:
            low, high = (bisect_left(numbers, bound, key=partial(self.key, table)) for bound in subject_span(*head))
        return (self.key(table, numbers[at]) for at in range(low, high))

    def _remember(self, index: AnyIndex, entry: Key, numbers: "array[int]") -> "array[int]":
        if self._sorted_rows + len(numbers) > SORTED_KEPT:
            self._sorted.clear()
            self._sorted_rows = 0
        self._sorted[index, entry] = numbers
        self._sorted_rows += len(numbers)
        return numbers

    def claimants(self, index: AnyIndex, entry: Key) -> list[int]:
        """Numbers of the rows that claim an index entry."""
        return [number for _, number in self._list_claiming(index, entry)]

    def _list_claiming(self, index: AnyIndex, entry: Key) -> Iterator[tuple[Key, int]]:
        for number in rows_of(self.numbers(f"index:{index.name}", "Q"), entry):
            if index.of_key:
                key = self.key(index.table, number)
                if key[: len(entry)] == entry:
                    yield key, number
                continue
            row = self.row(index.table, number)
            if row.value is not None and entry in index.entries(row.key, row.value):
                yield row.key, number

    def count(self, table: AnyTable, group: Key) -> int:
        """How many rows of a table are in a group."""
        if not group:
            return self.count_live(table.name)
        if table.name in GROUPED:
            return self.groups(table.name).get(str(group[0]), 0)
        order = table.name if table.ordered else VERSION_BY_NUMBER.name
        low, high = subject_span(*group)
        return self._rank(order, high) - self._rank(order, low)

    def stray_marks(self, index: AnyIndex) -> list[int]:
        """Numbers of rows to which an index leads by entries that these rows do not claim, ascending."""
        right: set[int] = set()
        for number in self._list_live(index.table):
            row = self.row(index.table, number)
            if row.value is not None:
                right.update(mark(entry, number) for entry in index.entries(row.key, row.value))
        return sorted(
            {row_of(entry_mark) for entry_mark in self.numbers(f"index:{index.name}", "Q") if entry_mark not in right}
        )

    def _rank(self, order: str, bound: Key) -> int:
        """How many entries of an order are below a bound."""
        place = self.heads(order).count_up_to(bound) - 1
        if place < 0:
            return 0
        return self.reader(f"order:{order}").firsts[place] + bisect_left(self.entries(order, place), bound)

    def walk(self, order: AnyTable | AnyIndex, low: Key, high: Key, *, reverse: bool = False) -> Iterator[Any]:
        """Keys of a table or entries of an index, from `low` on and below `high`, up or down."""
        entries = self._walk(order.name, low, high, reverse=reverse)
        keys = isinstance(order, Table) or (order.of_key and order.key_of is not None)  # entries that are keys, whole
        return map(partial(tuple.__new__, order.key), entries) if keys else entries

    def _walk(self, order: str, low: Key, high: Key, *, reverse: bool) -> Iterator[Key]:
        heads = self.heads(order)
        places = range(max(0, heads.count_up_to(low) - 1), heads.count_below(high))
        for place in reversed(places) if reverse else places:
            entries = self.entries(order, place)
            some = entries[bisect_left(entries, low) : bisect_left(entries, high)]
            yield from reversed(some) if reverse else some

    def _read_heads(self, order: str) -> BlockHeads:
        return BlockHeads(self._column(f"heads:{order}"))

    def _read_entries(self, order: str, number: int) -> list[Key]:
        return keys_of(self._read_block(f"order:{order}", number))

    def _read_groups(self, table: str) -> dict[str, int]:
        groups: dict[str, int] = json.loads(bytes(self._column(f"groups:{table}")) or b"{}")
        return groups
