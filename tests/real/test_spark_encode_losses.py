"""What encoding may lose: a row that would lose something is bad and says what, or loses it where that was asked for."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.frames import record
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark import EncodeColumns, EncodeOptions, Names, decode, make_plan, to_registry

pytestmark = pytest.mark.jvm

LONG = {
    word: {"type": "long", "logicalType": word}
    for word in (
        "timestamp-millis", "local-timestamp-millis", "timestamp-micros", "local-timestamp-micros", "timestamp-nanos",
        "local-timestamp-nanos",
    )
}  # fmt: skip
COLUMNS: dict[str, tuple[str, Any]] = {
    "millis": ("TIMESTAMP", LONG["timestamp-millis"]),
    "wall_millis": ("TIMESTAMP_NTZ", LONG["local-timestamp-millis"]),
    "nanos": ("TIMESTAMP", LONG["timestamp-nanos"]),
    "wall_nanos": ("TIMESTAMP_NTZ", LONG["local-timestamp-nanos"]),
    "single": ("BIGINT", "float"),
    "half": ("DOUBLE", "float"),
    "read_single": ("STRING", "float"),
    "read_double": ("STRING", "double"),
    "read_price": ("STRING", {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}),
    "day": ("STRING", {"type": "int", "logicalType": "date"}),
    "at": ("STRING", LONG["timestamp-micros"]),
    "wall": ("STRING", LONG["local-timestamp-micros"]),
    "clock": ("TIMESTAMP", LONG["local-timestamp-micros"]),
    "moment": ("TIMESTAMP_NTZ", LONG["timestamp-micros"]),
    "shown": ("TIMESTAMP", "string"),
}
"""By name, the type of a column and what the schema has there."""
UTC = dt.UTC
DIGITS = "would lose digits as"
CASES: list[tuple[str, str, str, Any]] = [
    ("millis", "timestamp'2024-01-01 00:00:00.123Z'", "", dt.datetime(2024, 1, 1, 0, 0, 0, 123000, UTC)),
    ("millis", "timestamp'1969-12-31 23:59:59.999999Z'", "has microseconds", dt.datetime(1969, 12, 31, 23, 59, 59, 999000, UTC)),
    ("wall_millis", "timestamp_ntz'2024-03-10 02:30:00.5'", "", dt.datetime.fromisoformat("2024-03-10 02:30:00.500000")),
    ("wall_millis", "timestamp_ntz'2024-03-10 02:30:00.000001'", "has microseconds", dt.datetime.fromisoformat("2024-03-10 02:30:00")),
    ("nanos", "timestamp'1970-01-01 00:00:01.000002Z'", "", 1_000_002_000),
    ("wall_nanos", "timestamp_ntz'1970-01-01 00:00:01.000002'", "", 1_000_002_000),
    ("wall_nanos", "timestamp_ntz'2024-03-10 02:30:00'", "", 1_710_037_800_000_000_000),
    ("single", "16777216L", "", 16777216.0),
    ("single", "16777217L", DIGITS, 16777216.0),
    ("single", "9223372036854775807L", DIGITS, 9223372036854775808.0),
    ("single", "9223372036854775806L", DIGITS, 9223372036854775808.0),
    ("half", "1.5D", "", 1.5),
    ("half", "0.1D", DIGITS, 0.10000000149011612),
    ("half", "double('NaN')", "", float("nan")),
    ("read_single", "'0.1'", "", 0.10000000149011612),
    ("read_single", "'16777217'", DIGITS, 16777216.0),
    ("read_double", "'0.30000000000000004'", "", 0.30000000000000004),
    ("read_double", "'+1.50e10 '", "", 1.5e10),
    ("read_double", "'0.123456789012345678901'", DIGITS, 0.12345678901234568),
    ("read_double", "'1e400'", DIGITS, float("inf")),
    ("read_double", "'1e-400'", DIGITS, 0.0),
    ("read_double", "'Infinity'", "", float("inf")),
    ("read_price", "'1.5'", "", Decimal("1.50")),
    ("read_price", "'1.239'", DIGITS, Decimal("1.24")),
    ("read_price", "'0.001'", DIGITS, Decimal("0.00")),
    ("read_price", "'1e2'", "", Decimal("100.00")),
    ("day", "' 2024-02-29 '", "", dt.date(2024, 2, 29)),
    ("day", "'2024-02-29 23:00:00'", "is not exactly one DATE", dt.date(2024, 2, 29)),
    ("at", "'2024-02-29T12:00:00.123456000+02:00'", "", dt.datetime(2024, 2, 29, 10, 0, 0, 123456, UTC)),
    ("at", "'2024-02-29T12:00:00.1234567Z'", "is not exactly one TIMESTAMP", dt.datetime(2024, 2, 29, 12, 0, 0, 123456, UTC)),
    ("wall", "'2024-02-29 12:00'", "", dt.datetime.fromisoformat("2024-02-29 12:00:00")),
    ("wall", "'2024-02-29 12:00:00+02:00'", "is not exactly one TIMESTAMP_NTZ", dt.datetime.fromisoformat("2024-02-29 12:00:00")),
    ("clock", "timestamp'2024-11-03 04:30:00Z'", "", dt.datetime.fromisoformat("2024-11-03 00:30:00")),
    ("clock", "timestamp'2024-11-03 06:30:00Z'", "is another time", dt.datetime.fromisoformat("2024-11-03 01:30:00")),
    ("moment", "timestamp_ntz'2024-03-10 01:30:00'", "", dt.datetime(2024, 3, 10, 6, 30, 0, 0, UTC)),
    ("moment", "timestamp_ntz'2024-03-10 02:30:00'", "is another time", dt.datetime(2024, 3, 10, 7, 30, 0, 0, UTC)),
    ("shown", "timestamp'2024-11-03 06:30:00Z'", "is another time", "2024-11-03 01:30:00"),
    ("shown", "timestamp'2024-11-03 04:30:00Z'", "", "2024-11-03 00:30:00"),
]  # fmt: skip
"""The column of a row, its value in SQL, what a bad row is told, and the value that is read where the loss was asked for."""


def rows_of(spark: SparkSession) -> DataFrame:
    """A row for each case, in which the other columns are null."""
    rows = []
    for at, (name, value, _, _) in enumerate(CASES):
        cells = (value if one == name else "null" for one in COLUMNS)
        rows.append(
            f"SELECT {at}, {', '.join(f'CAST({cell} AS {kind})' for cell, (kind, _) in zip(cells, COLUMNS.values(), strict=True))}"
        )
    return spark.sql(" UNION ALL ".join(rows)).toDF("place", *COLUMNS).coalesce(1)


def read_values(frame: DataFrame, registry: Connection) -> list[Any]:
    """What each row holds after it was encoded and decoded."""
    found = decode(frame, make_plan(registry, "losses-value"), names=Names(error="wrong")).orderBy("place").collect()
    assert [one["wrong"] for one in found] == [None] * len(CASES)
    return [one["record"] and one["record"][name] for one, (name, *_) in zip(found, CASES, strict=True)]


def test_a_row_that_would_lose_something_is_bad_or_was_asked_for(spark: SparkSession, registry: Connection) -> None:
    zone = spark.conf.get("spark.sql.session.timeZone")
    registry.ask(
        Register(
            subject_of("losses-value"), Draft(record(*((name, ["null", kind]) for name, (_, kind) in COLUMNS.items())))
        )
    )
    lossy = tuple(f"/{name}" for name in COLUMNS if any(case[0] == name and case[2] for case in CASES))
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        source = rows_of(spark)
        strict = to_registry(source, registry, "losses-value", columns=[*COLUMNS], names=EncodeColumns(error="refused"))
        errors = strict.orderBy("place").select("refused").toArrow()["refused"].to_pylist()
        for error, (name, value, said, _) in zip(errors, CASES, strict=True):
            assert bool(error) == bool(said), (name, value, error)
            assert not error or error["message"].startswith(f"/{name} {said}"), (error, value)
        asked = to_registry(source, registry, "losses-value", EncodeOptions(lossy=lossy), columns=[*COLUMNS])
        assert asked.filter("error is not null").count() == 0
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        kept = spark.createDataFrame(asked.select("place", "value").toArrow())
        found = read_values(kept, registry)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone or "UTC")
    for decoded, (name, value, _, expected) in zip(found, CASES, strict=True):
        assert repr(in_utc(decoded, expected)) == repr(in_utc(expected, expected)), (name, value)


def in_utc(value: Any, expected: Any) -> Any:
    """A moment in UTC; a time without a zone as it is."""
    return value.astimezone(UTC) if isinstance(value, dt.datetime) and expected.tzinfo else value


def test_long_texts_are_judged_like_short_ones(spark: SparkSession, registry: Connection) -> None:
    """Java's patterns with a choice under a star overflowed their stack at some thousand characters, and the job ended."""
    fields = record(
        ("at", LONG["timestamp-micros"]),
        ("price", {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}),
    )
    registry.ask(Register(subject_of("long-value"), Draft(fields)))
    blanks, zeros = " " * 3_000, "0" * 20_000
    cases = [
        (f"2024-02-29T12:00:00.123456Z{blanks}", f"{blanks}1.5", ""),
        (f"{blanks}2024-02-29T12:00:00.1234567Z", "1.5", "/at is not exactly one TIMESTAMP"),
        (f"2024-02-29T12:00:00.123456{zeros}Z", f"1.5{zeros}", ""),
        ("2024-02-29T12:00:00Z", f"1.5{zeros}1", f"/price {DIGITS}"),
    ]
    source = spark.createDataFrame([case[:2] for case in cases], "at STRING, price STRING").coalesce(1)
    found = to_registry(source, registry, "long-value").select("error").collect()
    assert [
        ((row["error"] and row["error"]["message"]) or "")[: len(case[2]) or 9]
        for row, case in zip(found, cases, strict=True)
    ] == [case[2] for case in cases]

    schema = json.dumps({"type": "object", "properties": {"any": {}}})
    registry.ask(Register(subject_of("json-value"), Draft(schema, "JSON")))
    words = '\\"' * 5_000 + "1e999"
    texts = [
        json.dumps({"a": words, "b": "é" * 9_000}),
        json.dumps({"a": words, "b": 1})[:-1] + ', "c": 0.' + "1" * 60 + "}",
    ]
    rows = spark.createDataFrame([(text,) for text in texts], "any STRING")
    found = to_registry(rows, registry, "json-value").select("error").collect()
    assert [row["error"] and row["error"]["message"] for row in found] == [
        None,
        "/any has a number of more digits than Spark keeps in JSON",
    ]


def test_errors_go_into_arrow_and_pandas(spark: SparkSession, registry: Connection) -> None:
    registry.ask(Register(subject_of("arrow-value"), Draft(record(("id", "int")))))
    made = to_registry(spark.sql("SELECT * FROM VALUES (1L), (5000000000L) AS t(id)"), registry, "arrow-value")
    for frame in (made.select("error"), made):
        found = frame.toArrow()["error"].to_pylist()
        assert [error and error["message"] for error in found] == [None, "/id does not fit into INT"]
    pandas: Any = made.select("error").toPandas()
    assert pandas["error"][0] is None
