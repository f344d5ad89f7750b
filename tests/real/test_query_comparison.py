"""EXPLAIN REPLACE COMPARE: the running query and the new one over the same records, and which rows differ."""

import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from tests.real.query_places import FLIGHTS, MORE, ROWS, Place
from treaty.core.limits import COMPARE_ROWS
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import Invalid
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.compared_results import ONLY_NEW, ONLY_OLD, RowCounts
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.runner.comparison.query_comparison import BatchComparer
from treaty.spark.runner.comparison.row_differences import compare_frames

pytestmark = pytest.mark.jvm
LATE = "STREAM late WITH (CONNECTOR = 'delta', PATH = 'tables/late') AS SELECT id, carrier, delay{} FROM STREAM flights WHERE {}"
DELAYS = "TABLE delays WITH (CONNECTOR = 'delta', PATH = 'tables/delays') AS SELECT carrier, sum(delay) AS delay, count(*) AS n FROM STREAM flights WHERE {} GROUP BY carrier"
NEWEST = "TABLE newest (carrier STRING PRIMARY KEY, delay INT) WITH (CONNECTOR = 'delta', PATH = 'tables/newest') AS SELECT carrier, delay FROM STREAM flights WHERE {}"
FIRST = 1_700_000_000
"""When the first file was written, in seconds since the epoch: 2023-11-14T22:13:20Z; the second one is an hour younger."""
Rows = Sequence[Sequence[Any]]


def open_metastore(place: Place, seconds: float = 600) -> Metastore:
    comparer = BatchComparer(lambda: place.spark, place.registry.registry, place.root, seconds, clusters=place.clusters)
    planning = PlanningOptions(StatementPlanner(place.planner), comparer=comparer)
    return Metastore(place.registry.registry, destination=place.metastore.destination, planning=planning)


def compare(metastore: Metastore, create: str, span: str = "") -> Rows:
    return metastore.run_one(f"EXPLAIN REPLACE COMPARE {span} CREATE OR REPLACE {create}").rows


def counts(rows: Rows) -> tuple[int, ...]:
    """Rows of the old result and of the new one, equal ones, and those only in the old, only in the new, and that differ."""
    return tuple(int(detail) for part, _, detail in rows if part == "rows")


def sample(rows: Rows) -> list[tuple[Any, ...]]:
    return [
        tuple(row)
        for row in rows
        if row[0] in {"differs", "only in the old", "only in the new", "column differs", "column"}
    ]


def list_files(root: Path) -> set[tuple[str, int]]:
    return {(str(one), one.stat().st_mtime_ns) for one in root.rglob("*") if one.is_file()}


def insert_twice(place: Place, create: str = FLIGHTS, files: Sequence[str] = (ROWS, MORE)) -> None:
    place.metastore.run(create)
    there: set[Path] = set()
    for number, rows in enumerate(files):
        place.insert("flights", rows)
        (file,) = {*(place.root / "flights").iterdir()} - there
        there.add(file)
        os.utime(file, (FIRST + 3_600 * number,) * 2)


def test_rows_that_differ_are_counted_and_shown_and_nothing_is_written(place: Place) -> None:
    insert_twice(place)
    metastore = open_metastore(place)
    for create in (LATE.format("", "delay > 10"), DELAYS.format("delay > 0"), NEWEST.format("delay > 0")):
        metastore.run(f"CREATE {create}")
    before = list_files(place.root), place.registry.ask(DescribeSource("delays")).answer.source

    rows = compare(metastore, DELAYS.format("delay > 10"))
    assert rows[0][:2] == ("change", "stateful change")
    assert ("answer", "refused") in [tuple(row[:2]) for row in rows]
    assert counts(rows) == (3, 2, 1, 1, 0, 1)
    assert sample(rows) == [
        ("column differs", "delay", "in 1 row"),
        ("column differs", "n", "in 1 row"),
        ("differs", 'carrier "AA"', "delay: 90 → 80; n: 3 → 2"),
        ("only in the old", 'carrier "UA"', "delay 5, n 1"),
    ]
    assert any(part == "compared" and "batches" in detail for part, _, detail in rows)

    rows = compare(metastore, LATE.format(", ts", "delay BETWEEN 10 AND 40"))
    assert counts(rows) == (3, 3, 2, 1, 1, 0)
    assert sample(rows) == [
        ("column", "ts", "only in the new, and not compared"),
        ("only in the old", 'id 5, carrier "AA", delay 50', ""),
        ("only in the new", 'id 1, carrier "AA", delay 10', ""),
    ]

    rows = compare(metastore, NEWEST.format("delay < 50"))
    assert (counts(rows), sample(rows)[-1]) == ((3, 3, 2, 0, 0, 1), ("differs", 'carrier "AA"', "delay: 50 → 30"))

    rows = compare(metastore, DELAYS.format("delay > 0"))
    assert (rows[0][1], counts(rows), sample(rows)) == ("same", (3, 3, 3, 0, 0, 0), [])
    first_only = "FROM '2023-11-14T22:13:20Z' TO '2023-11-14T23:13:20Z'"
    assert counts(compare(metastore, LATE.format("", "delay > 10"), first_only)) == (2, 2, 2, 0, 0, 0)
    assert (list_files(place.root), place.registry.ask(DescribeSource("delays")).answer.source) == before


KINDS = "id BIGINT, code INT, text STRING, at TIMESTAMP, share DOUBLE"


def draw_row(dice: random.Random) -> tuple[Any, ...]:
    """A row that has nulls in any place, and is likely to be drawn again."""
    cells = (dice.randrange(3), dice.randrange(3), dice.choice("ab"), datetime(2026, 1, 1), dice.choice([0.5, 1.0]))  # noqa: DTZ001 (the session's zone)
    return tuple(None if dice.random() < 0.4 else one for one in cells)


@pytest.mark.parametrize("changes", [0, 1, 40])
@pytest.mark.parametrize("buckets", [0, 3, 16_384])
def test_rows_without_a_key_are_counted_as_a_list_of_them_is(spark: SparkSession, buckets: int, changes: int) -> None:
    dice = random.Random(f"{buckets} {changes}")
    old = [draw_row(dice) for _ in range(300)]
    new = [*old[changes:], *(draw_row(dice) for _ in range(changes))]
    if changes == 1:  # a null in another place
        old[0], new[-1] = (7, None, None, None, None), (None, 7, None, None, None)
    dice.shuffle(new)
    olds, news = Counter(old), Counter(new)
    frames = [spark.createDataFrame(rows, KINDS) for rows in (old, new)]
    differences = compare_frames(frames[0], frames[1], (), buckets)
    only_old, only_new = (olds - news).total(), (news - olds).total()
    assert differences.counts == RowCounts(300, 300, (olds & news).total(), only_old, only_new, 0)
    assert len([one for one in differences.sample if one.kind == ONLY_OLD]) == min(len(olds - news), COMPARE_ROWS)
    assert (changes == 0) == (differences.sample == ())


ODD_NAMES = ("current_date", "null", "select", "a b", "it's", "tick`s", "back\\slash", "a.b", "row", "side", "part_0")
"""Names that are something else where they are not quoted, and those of the comparison's own columns."""


@pytest.mark.parametrize("key", [(), ("null",), ("current_date", "part_0")])
def test_columns_of_any_name_are_compared(spark: SparkSession, key: tuple[str, ...]) -> None:
    kind = StructType([StructField(name, StringType()) for name in ODD_NAMES])
    rows = [[f"{number} {name}" for name in ODD_NAMES] for number in range(3)]
    changes = [[f"{cell}!" if name == "it's" else cell for name, cell in zip(ODD_NAMES, rows[2], strict=True)]]
    old, new = (spark.createDataFrame(part, kind) for part in (rows, [*rows[:2], *changes]))
    differences = compare_frames(old, new, key)
    assert differences.counts == (RowCounts(3, 3, 2, 0, 0, 1) if key else RowCounts(3, 3, 2, 1, 1, 0))
    assert differences.faults == ((("it's", 1),) if key else ())
    changed = ("it's", json.dumps("2 it's"), json.dumps("2 it's!"))
    assert [row.changes for row in differences.sample if row.changes] == ([(changed,)] if key else [])


CELLS: dict[str, list[Any]] = {
    "n INT": [None, 0, 7], "late BOOLEAN": [None, True, False], "share DOUBLE": [None, 0.5, float("nan")],
    "price DECIMAL(20,2)": [None, Decimal("0.00"), Decimal("-1.50")], "day DATE": [None, date(2026, 1, 1)],
}  # fmt: skip
"""Columns whose values have a fixed width, with some values of each."""


@pytest.mark.parametrize("further", [{}, {"word STRING": [None, "", "a"]}], ids=["of fixed width", "with a text"])
def test_the_columns_of_each_key_are_compared_as_a_model_does(
    spark: SparkSession, further: dict[str, list[Any]]
) -> None:
    dice, columns = random.Random(11), {**CELLS, **further}
    keys = [(None, 1), (None, None), *((letter, number) for letter in "abc" for number in (None, 1, 2))]
    old, new = (
        {key: tuple(map(dice.choice, columns.values())) for key in keys if key != absent}
        for absent in (("a", 1), (None, None))
    )
    new["b", 2] = old["b", 2]
    kind = ", ".join(("letter STRING", "number INT", *columns))
    frames = [spark.createDataFrame([(*key, *cells) for key, cells in rows.items()], kind) for rows in (old, new)]
    differences = compare_frames(frames[0], frames[1], ("letter", "number"))
    both, names = [key for key in keys if key in old and key in new], [column.split()[0] for column in columns]
    faults = Counter(
        name
        for key in both
        for name, before, after in zip(names, old[key], new[key], strict=True)
        if repr(before) != repr(after)
    )
    equal = sum(repr(old[key]) == repr(new[key]) for key in both)
    assert differences.counts == RowCounts(len(old), len(new), equal, 1, 1, len(both) - equal)
    assert dict(differences.faults) == dict(faults)
    nulls = {row.kind: {name: text == "null" for name, text in row.values} for row in differences.sample if row.values}
    only = {ONLY_OLD: old[None, None], ONLY_NEW: new["a", 1]}
    assert nulls == {
        kind: {name: cell is None for name, cell in zip(names, cells, strict=True)} for kind, cells in only.items()
    }


@pytest.mark.parametrize("word", ["", ", 'a' AS word"])
def test_rows_with_one_key_are_not_mixed(spark: SparkSession, word: str) -> None:
    old = spark.sql(f"SELECT id, n, m{word} FROM VALUES (1, 7, NULL), (1, NULL, 5), (2, 1, 1) AS t(id, n, m)")
    new = spark.sql(f"SELECT id, n, m{word} FROM VALUES (1, 7, 5), (2, 1, 1) AS t(id, n, m)")
    differences = compare_frames(old, new, ("id",))
    assert (differences.counts, differences.repeated) == (RowCounts(3, 2, 1, 0, 0, 1), 1)


def test_lists_of_lists_are_told_apart(spark: SparkSession) -> None:
    kind = "parts ARRAY<ARRAY<INT>>"
    old, new = ([([[1], [2]],)], [([[1, 2]],)])
    differences = compare_frames(spark.createDataFrame(old, kind), spark.createDataFrame(new, kind), ())
    assert differences.counts == RowCounts(1, 1, 0, 1, 1, 0)


def test_microseconds_are_compared_and_shown(spark: SparkSession) -> None:
    """Also those in maps and lists, which are compared by their texts."""
    query = "SELECT timestamp_ntz '2026-01-01 00:00:00' + m AS own, map('a', timestamp '2026-01-01 00:00:00Z' + m) AS ats FROM (SELECT interval '0.00000{}' second AS m)"
    old, new = (spark.sql(query.format(digit)) for digit in (1, 2))
    differences = compare_frames(old, new, ())
    assert differences.counts == RowCounts(1, 1, 0, 1, 1, 0)
    assert [value for row in differences.sample for name, value in row.name if name == "own"] == [
        '"2026-01-01T00:00:00.000001"',
        '"2026-01-01T00:00:00.000002"',
    ]
    maps = [one.select("ats") for one in (old, new)]
    assert compare_frames(maps[0], maps[1], ()).counts == RowCounts(1, 1, 0, 1, 1, 0)
    assert compare_frames(maps[0], maps[0], ()).counts == RowCounts(1, 1, 1, 0, 0, 0)


def test_versions_of_tables_are_read_and_what_has_no_range_is_refused(place: Place) -> None:
    insert_twice(place)
    metastore = open_metastore(place)
    metastore.run(f"CREATE {LATE.format('', 'delay > 10')}")
    assert not place.run("late")["late"].error
    later = "STREAM later WITH (CONNECTOR = 'delta', PATH = 'tables/later') AS SELECT id{} FROM STREAM late"
    metastore.run(f"CREATE {later.format('')}")
    rows = compare(metastore, later.format(" + 1 AS id"))
    assert ("range", "late", "version 0 of the Delta table") in [tuple(row) for row in rows]
    assert counts(rows) == (3, 3, 1, 2, 2, 0)

    metastore.run("CREATE STREAM topic (id BIGINT) WITH (KAFKA_TOPIC = 'topic', VALUE_FORMAT = 'AVRO')")
    for rule, create, span in (
        ("COMPARE_RANGE", later.format(""), "FROM '2023-11-14T22:13:20Z'"),
        ("COMPARE_RANGE", later.format(""), "TO '2023-11-14T22:13:20Z'"),
        ("COMPARE_FAILED", later.format("").replace("FROM STREAM late", "FROM STREAM topic"), ""),
        ("QUERY_ABSENT", "STREAM flights AS SELECT id FROM STREAM late", ""),
        ("COMPARE_FAILED", later.format(" DIV (id - id) AS id"), ""),
    ):
        with pytest.raises(Invalid) as refused:
            compare(metastore, create, span)
        assert (refused.value.reason.rule, bool(refused.value.reason.allowed)) == (rule, True), refused.value
    with pytest.raises(Invalid, match="COMPARE_SECONDS") as refused:
        compare(open_metastore(place, 0), later.format(""))
    assert refused.value.reason.rule == "COMPARE_TOO_COSTLY"


MINUTES = """STREAM minutes WITH (CONNECTOR = 'delta', PATH = 'tables/minutes') AS SELECT window.start AS start, count(*) AS n, {} AS delay
FROM STREAM flights GROUP BY window(ts, '1 minute') EMIT FINAL"""
COUNTS = """TABLE minutes WITH (CONNECTOR = 'delta', PATH = 'tables/minutes') AS SELECT window.start AS start, carrier, count(*) AS n
FROM STREAM flights WHERE delay > {} GROUP BY window(ts, '1 minute'), carrier"""
WATERMARK = FLIGHTS.replace("VALUE_FORMAT", "WATERMARK = 'ts DELAY OF INTERVAL 10 seconds', VALUE_FORMAT")
LATER = "(6, 'AA', 7, TIMESTAMP '2026-01-01 00:00:30Z'), (7, 'AA', 9, TIMESTAMP '2026-01-01 00:05:05Z')"
"""A row of a window that is over when it comes, and one of the last window."""


def test_windows_and_late_rows_are_compared_as_streams(place: Place) -> None:
    insert_twice(place, WATERMARK, (ROWS, MORE, LATER))
    metastore = open_metastore(place)
    metastore.run(f"CREATE {MINUTES.format('sum(delay)')}")
    before = list_files(place.root)
    rows = [tuple(one) for one in compare(metastore, MINUTES.format("max(delay)"))]
    (way,) = [detail for part, _, detail in rows if part == "compared"]
    assert way.startswith("as streams, since flights has a watermark")
    assert "the same 3 batches" in way
    assert counts(rows) == (3, 3, 2, 1, 1, 0), "three windows are over, one is open, and the late row is in none"
    assert [row[2] for row in sample(rows)] == ["", ""]
    left = "1 left out as they came after the watermark; 1 still in the state, for windows that are open"
    assert [row for row in rows if row[0] == "late rows"] == [("late rows", "old", left), ("late rows", "new", left)]
    assert list_files(place.root) == before


def test_a_row_that_neither_query_takes_moves_the_watermark_of_both(place: Place) -> None:
    insert_twice(place, WATERMARK, (ROWS, MORE, LATER))
    metastore = open_metastore(place)
    create = MINUTES.format("sum(delay)").replace("GROUP BY", "WHERE ts < TIMESTAMP '2026-01-01 00:00:{}Z' GROUP BY")
    metastore.run(f"CREATE {create.format(50)}")
    rows = compare(metastore, create.format(40))
    (left,) = {detail for part, _, detail in rows if part == "late rows"}
    assert left.startswith("1 left out as they came after the watermark"), "that of a row of 00:01:10"


@pytest.mark.soak
def test_tables_of_streams_are_compared_by_their_last_rows(place: Place) -> None:
    insert_twice(place, WATERMARK, (ROWS, MORE, LATER))
    metastore = open_metastore(place)
    metastore.run(f"CREATE {COUNTS.format(0)}")
    rows = compare(metastore, COUNTS.format(8))
    assert counts(rows) == (5, 4, 4, 1, 0, 0)
    assert sample(rows) == [("only in the old", 'start "2026-01-01T00:02:00.000000Z", carrier "UA"', "n 1")]
