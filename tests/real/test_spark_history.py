"""A candidate schema against the data that is there: what it reads, what it can't, and what it would lose."""

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.frames import frame, header, record
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import DroppedValue, HistoryReport, ValueUse, check_history, from_registry

pytestmark = pytest.mark.jvm

V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))


def test_a_report_counts_by_id_and_reason_and_says_what_is_empty_and_what_is_lost(
    spark: SparkSession, registry: Connection
) -> None:
    one, two = (
        registry.ask(Register(subject_of("orders-value"), Draft(text))).answer.version.schema_id for text in (V1, V2)
    )
    values = [frame(one, V1, {"name": "a", "n": 1})] * 5 + [
        frame(two, V2, {"name": "b", "n": at * 2**30}) for at in range(4)
    ]
    values += [values[0][:-1], header(99) + b"x"]
    data = spark.createDataFrame([(value,) for value in [*values, None]], "value BINARY")

    wide = check_history(
        record(("name", "string"), ("n", "double"), ("more", ["null", "int"], None)), data, registry, "orders-value"
    )
    assert (wide.rows, wide.good, wide.deletes, wide.empty) == (12, 9, 1, ("more",))
    assert [(each.schema_id, each.code, each.rows) for each in wide.troubles] == [
        (one, "MALFORMED", 1),
        (99, "UNKNOWN_ID", 1),
    ]
    assert wide.troubles[0].samples == (values[0][:-1].hex(),)
    assert not wide.fine

    small = check_history(record(("name", "string"), ("n", "int")), data, registry, "orders-value")
    assert small.good == 5
    (refused,) = [each for each in small.troubles if each.code == "RESOLUTION"]
    assert (refused.schema_id, refused.rows) == (two, 4)
    (lost,) = small.narrowed
    assert (lost.field, lost.old, lost.new, lost.rows) == ("n", "bigint", "int", 2)
    assert json.loads(small.to_json())["narrowed"] == [{"field": "n", "old": "bigint", "new": "int", "rows": 2}]

    none = check_history(record(("other", "string")), data, registry, "orders-value")
    assert (none.good, none.deletes) == (0, 1)
    assert [(each.schema_id, each.code, each.rows) for each in none.troubles] == [
        (one, "MALFORMED", 1), (one, "RESOLUTION", 5), (two, "RESOLUTION", 4), (99, "UNKNOWN_ID", 1),
    ]  # fmt: skip
    assert none.troubles[1].samples == (values[0].hex(),)
    assert "version 2" in none.troubles[2].message
    assert check_history(V2, data.filter("length(value) > 7"), registry, "orders-value").fine


ABC: dict[str, Any] = {"type": "enum", "name": "Letter", "symbols": ["A", "B", "C"]}
AB: dict[str, Any] = ABC | {"symbols": ["A", "B"]}
INSIDE = {"type": "record", "name": "Inside", "fields": [{"name": "x", "type": ["null", "int"]}]}
OLD: tuple[Any, ...] = (("e", ABC), ("n", "long"))
NEW = (
    *OLD,
    ("u", ["null", "string", "int"], None),
    ("l", {"type": "array", "items": "Letter"}, []),
    ("in", ["null", INSIDE], None),
)


TEXTS = (record(*OLD), record(*NEW))


class History:
    """Rows of two versions and two damaged ones, and what is true of them."""

    def __init__(self, spark: SparkSession, registry: Connection) -> None:
        self.registry, dice = registry, random.Random(15)
        self.ids = tuple(
            registry.ask(Register(subject_of("o"), Draft(text))).answer.version.schema_id for text in TEXTS
        )
        self.rows: list[tuple[int, dict[str, Any]]] = []
        for _ in range(120):
            row: dict[str, Any] = {"e": dice.choice("AABBC"), "n": dice.choice((1, 2**40))}
            inside = dice.choice((None, {"x": None}, {"x": 1}))
            letters = dice.choices("ABBBBBBC", k=dice.randrange(4))
            more: dict[str, Any] = {"u": dice.choice((None, "text", 5)), "l": letters, "in": inside}
            self.rows.append(dice.choice(((self.ids[0], row), (self.ids[1], row | more))))
        texts = dict(zip(self.ids, TEXTS, strict=True))
        self.values = [frame(schema_id, texts[schema_id], row) for schema_id, row in self.rows]
        damaged = [self.values[0][:-1], self.values[0] + b"x"]
        self.data = spark.createDataFrame([(value,) for value in [*self.values, *damaged]], "value BINARY")

    def check(self, *fields: Any) -> HistoryReport:
        return check_history(record(*fields), self.data, self.registry, "o")

    def count(self, holds: Callable[[dict[str, Any]], bool]) -> int:
        return sum(holds(row) for _, row in self.rows)

    def expect(self, report: HistoryReport, field: str, value: str, holds: Callable[[dict[str, Any]], bool]) -> None:
        """The rows with a value are lost, and no others; each by its id."""
        mine = {
            one: [
                value for value, (found, row) in zip(self.values, self.rows, strict=True) if found == one and holds(row)
            ]
            for one in self.ids
        }
        lost = {(one, "RESOLUTION"): len(values) for one, values in mine.items() if values}
        first = self.rows[0][0]
        found = {(each.schema_id, each.code): each.rows for each in report.troubles}
        assert found == lost | {(first, "MALFORMED"): 1, (first, "TRAILING"): 1}
        assert report.good == len(self.rows) - self.count(holds)
        uses = tuple(ValueUse(one, at, len(mine[one])) for at, one in enumerate(self.ids, 1) if mine[one])
        sample = max(mine[uses[-1].schema_id]).hex()
        assert report.dropped == (DroppedValue(field, value, self.count(holds), uses, sample),)


def test_a_candidate_is_held_against_rows_and_who_still_writes_a_value_is_named(
    spark: SparkSession, registry: Connection
) -> None:
    mine = History(spark, registry)
    fewer = mine.check(("e", AB), ("n", "long"))
    mine.expect(fewer, "e", "symbol C", lambda row: row["e"] == "C")
    no_int = mine.check(*OLD, ("u", ["null", "string"], None))
    mine.expect(no_int, "u", "int", lambda row: row.get("u") == 5)
    no_null = mine.check(*OLD, ("u", ["string", "int"], ""))
    mine.expect(no_null, "u", "null", lambda row: "u" in row and row["u"] is None)
    letters = {"type": "array", "items": AB | {"name": "Other", "aliases": ["Letter"]}}
    mine.expect(mine.check(*OLD, ("l", letters, [])), "l[]", "symbol C", lambda row: "C" in row.get("l", ""))
    needed = INSIDE | {"fields": [{"name": "x", "type": "int"}]}
    inside = mine.check(*OLD, ("in", ["null", needed], None))
    mine.expect(inside, "in.x", "null", lambda row: row.get("in") == {"x": None})
    fine = mine.check(("e", AB | {"default": "A"}), ("n", "long"))
    assert (fine.good, fine.dropped) == (len(mine.rows), ())


def test_where_no_version_can_be_read_rows_are_counted_all_the_same(spark: SparkSession, registry: Connection) -> None:
    mine = History(spark, registry)
    small = mine.check(("e", AB), ("n", "int"))
    assert (small.good, {each.code for each in small.troubles}) == (0, {"RESOLUTION", "MALFORMED", "TRAILING"})
    (lost,) = small.narrowed
    many = mine.count(lambda row: row["n"] > 2**31)
    assert (lost.field, lost.old, lost.new, lost.rows) == ("n", "bigint", "int", many)
    (dropped,) = small.dropped
    assert (dropped.value, dropped.rows) == ("symbol C", mine.count(lambda row: row["e"] == "C"))


def test_a_reader_takes_the_rows_that_fit(spark: SparkSession, registry: Connection) -> None:
    mine = History(spark, registry)
    registry.ask(Register(subject_of("o"), Draft(record(("e", AB), ("n", "long")))))
    rows = from_registry(mine.data, registry, "o").select("record", "error.code", "error.message").collect()
    lost = mine.count(lambda row: row["e"] == "C")
    codes = Counter(row["code"] for row in rows if not row["record"])
    assert codes == {"RESOLUTION": lost, "MALFORMED": 1, "TRAILING": 1}
    assert sum(bool(row["record"]) for row in rows) == len(mine.rows) - lost
    messages = {row["message"] for row in rows if row["code"] == "RESOLUTION"}
    assert all("has a value that the reader does not take" in message for message in messages)
