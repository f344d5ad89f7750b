"""Records of thousands of texts on Spark, and a text that is no UTF-8 at every place where a text may stand."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.frames import frame, header, record
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import decode, make_plan, to_registry

pytestmark = pytest.mark.jvm

WIDTH = 2_000
INNER = json.loads(record(("s", ["null", "string"]), ("n", "int"), name="Inner"))
PLACES: dict[str, tuple[Any, Callable[[bytes], bytes]]] = {
    "a field": ("string", lambda text: text),
    "a field that may be null": (["null", "string"], lambda text: b"\x02" + text),
    "a list": ({"type": "array", "items": "string"}, lambda text: b"\x04\x02a" + text + b"\0"),
    "a list of nulls": ({"type": "array", "items": ["null", "string"]}, lambda text: b"\x04\0\x02" + text + b"\0"),
    "a list of lists": (
        {"type": "array", "items": {"type": "array", "items": "string"}},
        lambda text: b"\x04\0\x02" + text + b"\0\0",
    ),
    "a list of records": ({"type": "array", "items": INNER}, lambda text: b"\x04\0\2\2" + text + b"\2\0"),
    "a key": ({"type": "map", "values": "int"}, lambda text: b"\x02" + text + b"\x0e\0"),
    "a value of a map": ({"type": "map", "values": "string"}, lambda text: b"\x02\x02k" + text + b"\0"),
    "a map of lists": (
        {"type": "map", "values": {"type": "array", "items": "string"}},
        lambda text: b"\x02\x02k\x02" + text + b"\0\0",
    ),
    "a member of a union": (["null", "int", "string"], lambda text: b"\x04" + text),
    "a record that may be null": (["null", INNER], lambda text: b"\x02\x02" + text + b"\x02"),
}
"""By where the text stands: the type of a field, and its bytes around the text."""


def put(registry: Connection, text: str, subject: str) -> int:
    return registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id


def codes(spark: SparkSession, registry: Connection, subject: str, values: Sequence[bytes | None]) -> list[str | None]:
    """The code of each row, the same from both engines; null values have neither a record nor an error."""
    source = spark.createDataFrame(list(enumerate(values)), "at INT, value BINARY").coalesce(1)
    plan = make_plan(registry, subject)
    rows = decode(source, plan).orderBy("at").collect()
    assert rows == decode(source, replace(plan, engine="fastavro")).orderBy("at").collect()
    for row, value in zip(rows, values, strict=True):
        assert (row["record"] is None) == (row["error"] is not None or value is None)
    return [row["error"] and row["error"]["code"] for row in rows]


def test_thousands_of_texts_are_one_test(
    spark: SparkSession, registry: Connection, figure: Callable[[str], None]
) -> None:
    """A test for each text made an expression that Spark's analyzer overflowed its stack on, at 300 fields."""
    names = [f"f{at}" for at in range(WIDTH)]
    text = record(*((name, ["null", "string"], None) for name in names))
    number = put(registry, text, "wide-value")
    good = frame(number, text, {name: f"é{name}" if at % 3 else None for at, name in enumerate(names)})
    last = header(number) + b"\0" * (WIDTH - 1) + b"\x02\x04\xc3\x28"
    begin = time.monotonic()
    found = codes(spark, registry, "wide-value", [good, header(number) + b"\0" * WIDTH, None, last])
    figure(f"{WIDTH} texts in a record, two engines: {time.monotonic() - begin:.1f} s")
    assert found == [None, None, None, "MALFORMED"]


@pytest.mark.parametrize("whole_stage", ["true", "false"])
def test_each_of_forty_texts_is_tested(spark: SparkSession, registry: Connection, whole_stage: str) -> None:
    """They are joined in whole-stage code: two halves of a character in neighbours must not make it whole."""
    text = record(("id", "string"), *((f"f{at}", ["null", "string"], None) for at in range(39)))
    number = put(registry, text, "forty-value")
    good = [b"\x02a", *[b"\x02\x04\xc3\xa9", b"\0"] * 20][:40]
    rows = [[*good[:at], (b"" if at == 0 else b"\x02") + b"\x04\xc3\x28", *good[at + 1 :]] for at in range(40)]
    rows.append([good[0], b"\x02\x02\xc3", b"\x02\x02\xa9", *good[3:]])
    values = [header(number) + b"".join(parts) for parts in (good, *rows)]
    before = spark.conf.get("spark.sql.codegen.wholeStage", "true")
    spark.conf.set("spark.sql.codegen.wholeStage", whole_stage)
    try:
        found = codes(spark, registry, "forty-value", [*values, None])
    finally:
        spark.conf.set("spark.sql.codegen.wholeStage", str(before))
    assert found == [None, *["MALFORMED"] * 41, None]


def test_thousands_of_texts_in_the_items_of_a_list(spark: SparkSession, registry: Connection) -> None:
    fields = [{"name": f"f{at}", "type": ["null", "string"], "default": None} for at in range(500)]
    item = {"type": "record", "name": "Item", "fields": fields}
    number = put(registry, record(("items", {"type": "array", "items": item})), "items-value")
    values = [header(number) + b"\x02" + b"\0" * 499 + b"\x02\x02" + end + b"\0" for end in (b"x", b"\xff")]
    assert codes(spark, registry, "items-value", values) == [None, "MALFORMED"]
    plan = make_plan(registry, "items-value")
    rows = decode(spark.createDataFrame([(values[0],)], "value BINARY"), plan, flatten=True).select("items")
    assert [bytes(row["value"]) for row in to_registry(rows, registry, "items-value").collect()] == values[:1]


@pytest.mark.parametrize("place", PLACES)
def test_a_text_that_is_none_is_found_wherever_it_stands(spark: SparkSession, registry: Connection, place: str) -> None:
    """All texts of a record are tested as one: two halves of a character in neighbours must not make it whole."""
    kind, around = PLACES[place]
    number = put(registry, record(("first", "string"), ("it", kind), ("last", "string")), "place-value")
    values = [
        header(number) + first + around(text) + last
        for first, text, last in (
            (b"\0", b"\x06\xe2\x82\xac", b"\0"),
            (b"\0", b"\x04\xc3\x28", b"\0"),
            (b"\x04\xe2\x82", b"\x02\xac", b"\0"),
            (b"\0", b"\x04\xe2\x82", b"\x02\xac"),
        )
    ]
    found = codes(spark, registry, "place-value", [*values, None])
    assert found == [None, "MALFORMED", "MALFORMED", "MALFORMED", None]
