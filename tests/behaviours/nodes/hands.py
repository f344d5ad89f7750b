"""Files changed as somebody does who knows their format, and every question that tables on them answer."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from treaty.core.state.commit import START, as_root
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
from treaty.core.state.state_tables import INDEXES, ORDERS, TABLES
from treaty.core.state.tables import DictTables
from treaty.core.state.values import Schema, Version
from treaty.core.state.view import ALL_KEYS, count_group, index_entries
from treaty.log.log import Log
from treaty.node.node import Node
from treaty.node.segment.build import SegmentContents
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.segment import SegmentDamagedError


def seen(tables: DictTables | LayeredTables, rows: list[Row]) -> Callable[[int], object]:
    """Questions by number that together look at everything which a state file holds."""
    questions: list[Callable[[], object]] = []
    for row in rows:
        questions.append(partial(tables.get, TABLES[row.table], row.key))
        questions.append(partial(tables.share, row.table, row.key))
        for name, entry in index_entries(row):
            if INDEXES[name].key_of is None:
                questions.append(partial(lambda *which: (*tables.find(*which),), INDEXES[name], entry))
        group = count_group(row)
        if group is not None:
            questions.append(partial(tables.count, TABLES[group[0]], group[1]))
    for order in ORDERS.values():
        questions.append(partial(lambda which: (*tables.walk(which, *ALL_KEYS),), order))
    questions.append(lambda: {*tables.rows()})
    questions.append(lambda: as_root(tables.roots))
    return lambda number: questions[number]() if number < len(questions) else None


async def answers(node: Node, tables: LayeredTables, truth: DictTables) -> int:
    """Ask until everything was answered rightly; return how often it was refused instead. A wrong answer fails."""
    rows = [decode_row(row) for row in truth.rows()]
    right, here = seen(truth, rows), seen(tables, rows)
    refused = number = 0
    while (expected := right(number)) is not None:
        try:
            assert here(number) == expected
            number += 1
        except SegmentDamagedError:
            refused += 1
            assert refused < 5, "it never got well"
            await node.follower.catch_up()
    return refused


async def truth_of(log: Log) -> DictTables:
    tables, delta = DictTables(), await log.read(START)
    tables.load(delta.rows, delta.tip)
    return tables


def swapped(rows: list[EncodedRow]) -> list[EncodedRow]:
    """The same rows, but the texts of two schemas have changed places."""
    read = [decode_row(row) for row in rows]
    schemas = {row.key: row.value for row in read if isinstance(row.value, Schema)}
    one, two = sorted(key for key, value in schemas.items() if not value.references and not value.metadata)[:2]
    other = {one: schemas[two], two: schemas[one]}
    return [
        encode_row(Row(row.table, row.key, other.get(row.key, row.value) if row.table == "schema" else row.value))
        for row in read
    ]


def other_version(row: EncodedRow, by: int) -> EncodedRow:
    """The row, but each version of a subject says another time."""
    read = decode_row(row)
    if not isinstance(read.value, Version):
        return row
    return encode_row(replace(read, value=replace(read.value, time=read.value.time + by)))


def blocks(built: SegmentContents, table: str, other: SegmentContents) -> None:
    """Give a file the rows of a table as another one has them; it is found by the marks of the first."""
    for kind in ("data", "ends", "firsts", "sums", "dictionary"):
        built.columns[f"{kind}:{table}"] = other.columns[f"{kind}:{table}"]
