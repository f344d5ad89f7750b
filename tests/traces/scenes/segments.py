"""What segments answer: built at once, with changes over them, and built from an older one."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.traces.scene import Scene, post
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject, subject_of
from treaty.core.schema import Draft, Metadata, Reference
from treaty.core.state.commit import START
from treaty.core.state.rows import decode_row
from treaty.core.state.state_tables import INDEXES, ORDERS, TABLES
from treaty.core.state.view import ALL_KEYS, index_entries
from treaty.node.segment import blocks, build, heads, segment
from treaty.node.segment.layered import LayeredTables, open_built


def _fill(scene: Scene) -> None:
    with scene.trace.muted():
        for number in range(14):
            metadata = Metadata(properties=(("team", "é"),)) if number % 5 == 0 else None
            references = (Reference("n", "s0", 1),) if number % 4 == 3 else ()
            draft = Draft(f'["f{number}{"x" * (number * 7)}?"]', "TOY", references, metadata)
            scene.foreign(Register(subject_of(f"s{number % 6}"), draft))
        scene.foreign(Register(Subject(".far", "s1"), Draft('["\\ud800", "ü?"]', "TOY")))
        scene.foreign(SetConfig(Scope("."), Config("NONE")), DeleteSubject(subject_of("s4")))


def _change(scene: Scene) -> None:
    with scene.trace.muted():
        scene.foreign(post("s1", '["z"]'), post("new"), DeleteSubject(subject_of("s2")), post("s4", '["f4"]'))


def _list_facts(tables: LayeredTables, rows: list[Any]) -> Iterator[str]:
    """All that tables answer, a line for each question."""
    for name, table in sorted(TABLES.items()):
        keys = sorted(tables.keys(table))
        if keys or tables.total(table):
            yield f"{name}: {tables.total(table)} keys {keys}"
            yield f"{name} items: {sorted(key for key, _ in tables.items(table))}"
    for row in sorted(rows, key=lambda row: (row.table, row.key)):
        table = TABLES[row.table]
        value, there = tables.get(table, row.key), tables.has(table, row.key)
        found = {
            name: list(tables.find(INDEXES[name], entry))
            for name, entry in index_entries(row)
            if INDEXES[name].key_of is None
        }
        share = tables.share(row.table, row.key) % 100
        yield f"{row.table} {list(row.key)}: {there} {type(value).__name__} {value == row.value} share {share}, found {found}"
    for name, order in sorted(ORDERS.items()):
        walk = partial(tables.walk, order)
        entries = list(walk(*ALL_KEYS))
        if entries:
            some = list(walk(entries[len(entries) // 3], entries[-1]))
            yield f"{name}: {entries}"
            yield f"{name}: {len(some)} from {some[:1]}, down {list(walk(*ALL_KEYS, reverse=True))[:2]}"
    for group in ((), (".",), (".far",), (".", "s1")):
        counts = {name: tables.count(table, group) for name, table in TABLES.items() if name in {"version", "schema"}}
        yield f"count {group}: {counts}"
    yield f"{sum(1 for _ in tables.rows())} rows, {tables.size}, changed {tables.changed}"


async def of_all_kinds_of_rows(scene: Scene) -> None:
    for module, name, value in (
        (blocks, "BLOCK_BYTES", 300),
        (build, "SAMPLES", 8),
        (segment, "SORTED_FROM", 3),
        (segment, "SORTED_KEPT", 6),
        (segment, "KNOWN_KEPT", 4),
        (heads, "GROUP", 2),
    ):
        scene.set(module, name, value)
    _fill(scene)
    first = scene.disk.since_by_row(START)
    tables = LayeredTables(small=0)
    tables.stand_on(open_built(build.build(row for row in first.rows if row.value is not None)), first.tip)
    _change(scene)
    delta = scene.disk.since_by_row(first.tip)
    rows = [decode_row(row) for row in scene.disk.since_by_row(START).rows]
    steps = (("built", None), ("changed", delta), ("built anew", None))
    for step, change in steps:
        scene.trace.add(step)
        if change is not None:
            tables.apply(change.rows, change.tip)
        elif step == "built anew":
            built = tables.build_segment()
            scene.trace.add(f"{built.rows} rows, counts {built.counts}, odd {len(built.raw_rows)}")
            tables.stand_on(open_built(built), delta.tip)
        for fact in _list_facts(tables, rows):
            scene.trace.add(fact)
