"""Queries over files worked off once: into Delta tables, each row exactly once."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.frames import frame
from tests.real.query_places import FLIGHTS, MORE, ROWS, Place
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.spark.runner.kafka_source import READ_KEYS
from treaty.spark.runner.once import QueryReport
from treaty.spark.runner.source_frames import SourceOpener, expand_columns

pytestmark = pytest.mark.jvm


def test_what_is_there_is_worked_off_once_and_more_after_it(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.create(
        "late", "STREAM", "SELECT id, upper(carrier) AS carrier, delay FROM STREAM flights WHERE delay > 15", "flights"
    )
    place.create(
        "delays",
        "TABLE",
        "SELECT carrier, count(*) AS n, sum(delay) AS total FROM STREAM flights GROUP BY carrier",
        "flights",
    )
    place.create("late_counts", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM late GROUP BY carrier", "late")
    place.insert("flights", ROWS)
    reports = place.run()
    assert {name: one.error for name, one in reports.items()} == {"late": "", "delays": "", "late_counts": ""}
    assert place.rows("late") == [(2, "DL", 20), (3, "AA", 30)]
    assert place.rows("delays") == [("AA", 2, 40), ("DL", 1, 20)]
    assert place.rows("late_counts") == [("AA", 1), ("DL", 1)]
    assert place.run()["late"] == QueryReport("late")
    place.insert("flights", MORE)
    assert place.run()["late"].rows == 2
    assert place.rows("late") == [(2, "DL", 20), (3, "AA", 30), (5, "AA", 50)]
    assert place.rows("delays") == [("AA", 3, 90), ("DL", 1, 20), ("UA", 1, 5)]
    assert place.rows("late_counts") == [("AA", 2), ("DL", 1)]


ORDERS = """CREATE STREAM orders (id BIGINT, items ARRAY<STRUCT<sku: STRING NOT NULL, price: STRUCT<cents: INT NOT NULL> NOT NULL>>)
WITH (CONNECTOR = 'files', PATH = 'orders', VALUE_FORMAT = 'AVRO', KEY_FORMAT = 'NONE')"""


def test_records_with_required_fields_inside_of_lists_are_read(place: Place) -> None:
    place.metastore.run(ORDERS)
    place.create("skus", "STREAM", "SELECT id, items[0].sku AS sku, items FROM STREAM orders", "orders")
    version = place.registry.version(str(place.registry.subjects()[0]), -1)
    value = frame(version.schema_id, version.text, {"id": 1, "items": [{"sku": "a", "price": {"cents": 5}}]})
    (place.root / "orders").mkdir()
    pq.write_table(pa.table({"value": pa.array([value], pa.binary())}), place.root / "orders" / "part.parquet")
    report = place.run()["skus"]
    assert (report.error, report.bad) == ("", 0)
    assert place.rows("skus") == [(1, "a", [("a", (5,))])]


CARRIERS = "CREATE TABLE carriers (code STRING PRIMARY KEY, name STRING) WITH (CONNECTOR = 'files', PATH = 'carriers', VALUE_FORMAT = 'AVRO')"


def test_rows_of_a_table_of_files_have_its_columns_alone(place: Place) -> None:
    """They know their places, by which the last one of each key is chosen; a body does not see them."""
    place.metastore.run(CARRIERS)
    place.insert("carriers", "('AA', 'old'), ('DL', 'Delta')")
    place.insert("carriers", "('AA', 'American')")
    source = place.registry.ask(DescribeSource("carriers")).answer.source
    opener = SourceOpener(place.spark, place.registry.registry, place.root)
    rows = opener.open(source, streaming=False, columns=expand_columns(place.registry.registry, source))
    assert [one.asDict() for one in rows.orderBy("code").collect()] == [
        {"code": "AA", "name": "American"},
        {"code": "DL", "name": "Delta"},
    ]


def test_a_batch_that_runs_again_is_written_once(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.create("late", "STREAM", "SELECT id, delay FROM STREAM flights WHERE delay > 15", "flights")
    place.create("delays", "TABLE", "SELECT carrier, count(*) AS n FROM STREAM flights GROUP BY carrier", "flights")
    place.insert("flights", ROWS)
    place.run()
    before = {name: place.rows(name) for name in ("late", "delays")}
    commits = [*(place.root / "_checkpoints").glob("*/*/commits/0")]
    assert len(commits) == 2
    for commit in commits:  # as a runner leaves it that is killed after a table was written
        commit.unlink()
        shutil.rmtree(commit.parent / f".{commit.name}.crc", ignore_errors=True)
        (commit.parent / f".{commit.name}.crc").unlink(missing_ok=True)
    again = place.run()
    assert {name: place.rows(name) for name in ("late", "delays")} == before
    assert [one.error for one in again.values()] == ["", ""]


@pytest.mark.soak
def test_windows_come_once_they_are_over(place: Place) -> None:
    place.metastore.run(FLIGHTS.replace("VALUE_FORMAT", "WATERMARK = 'ts DELAY OF INTERVAL 10 seconds', VALUE_FORMAT"))
    body = "SELECT window.start AS start, carrier, count(*) AS n FROM STREAM flights GROUP BY window(ts, '1 minute'), carrier"
    place.create("minutes", "STREAM", body, "flights", final=True)
    place.insert("flights", ROWS)
    place.run()
    place.insert("flights", MORE)
    place.run()
    place.run()
    assert [(one[0].minute, *one[1:]) for one in place.rows("minutes")] == [
        (0, "AA", 1),
        (0, "DL", 1),
        (1, "AA", 1),
        (2, "UA", 1),
    ]


LINES = """CREATE STREAM lines (id BIGINT, name STRING)
WITH (CONNECTOR = 'files', PATH = 'lines', VALUE_FORMAT = 'JSON', FRAMING = 'none', KEY_FORMAT = 'NONE', BAD_ROWS = 'true')"""


def test_bad_lines_are_left_out_and_kept_beside(place: Place) -> None:
    place.metastore.run(LINES)
    place.create("names", "STREAM", "SELECT name FROM STREAM lines WHERE id > 0", "lines")
    folder = place.root / "lines"
    assert "not there yet" in place.run()["lines_bad"].note
    folder.mkdir()
    lines = [json.dumps({"id": 1, "name": "one"}), "{nothing", json.dumps({"id": 2, "name": "two"}), '{"id": "x"}']
    (folder / "part.jsonl").write_text("\n".join(lines))
    reports = place.run()
    report, bad = reports["names"], reports["lines_bad"]
    assert (report.rows, report.bad, report.written, report.error) == (4, 2, 2, "")
    assert place.rows("names") == [("one",), ("two",)]
    assert (bad.rows, bad.written, bad.error) == (4, 2, "")
    rows = place.bad_rows("lines_bad")
    assert [(one.code, bytes(one.payload)) for one in rows] == [
        ("MALFORMED", b'{"id": "x"}'),
        ("MALFORMED", b"{nothing"),
    ]
    assert all(one["_topic"].endswith("/lines/part.jsonl") for one in rows)


def test_bad_records_are_kept_once_with_reason_and_place(place: Place) -> None:
    place.metastore.run(FLIGHTS.replace("VALUE_FORMAT", "BAD_ROWS = 'true', VALUE_FORMAT"))
    place.create("ids", "STREAM", "SELECT id, _offset AS row, _schema_id AS schema FROM STREAM flights", "flights")
    place.create("reasons", "TABLE", "SELECT code, count(*) AS n FROM STREAM flights_bad GROUP BY code", "flights_bad")
    place.insert("flights", ROWS)
    stored = next((place.root / "flights").glob("*.parquet"))
    records = pq.read_table(stored).to_pylist()
    for record, value in zip(
        records[:3], (b"", records[0]["value"][:-3], (b"\0\0\0\x27\x10" + records[0]["value"][5:])), strict=True
    ):
        record["value"] = value
    pq.write_table(pa.Table.from_pylist(records[:3], pq.read_schema(stored)), place.root / "flights" / "z.parquet")
    reports = place.run()
    assert {name: one.error for name, one in reports.items()} == dict.fromkeys(("ids", "reasons", "flights_bad"), "")
    assert (reports["ids"].rows, reports["ids"].bad, reports["ids"].written) == (6, 3, 3)
    rows = place.bad_rows("flights_bad")
    assert [(one["_offset"], one.code, one.schema_id, bytes(one.payload)) for one in rows] == [
        (0, "TOO_SHORT", None, b""),
        (1, "MALFORMED", rows[1].schema_id, records[1]["value"]),
        (2, "UNKNOWN_ID", 10_000, records[2]["value"]),
    ]
    assert {one[2] for one in place.rows("ids")} == {rows[1].schema_id}
    assert [one[:2] for one in place.rows("ids")] == [(1, 0), (2, 1), (3, 2)]
    assert place.rows("reasons") == [("MALFORMED", 1), ("TOO_SHORT", 1), ("UNKNOWN_ID", 1)]
    commit = next((place.root / "_checkpoints").glob("bad-*/commits/0"))
    commit.unlink()  # as a runner leaves it that is killed after the table was written
    place.run()
    place.insert("flights", MORE)
    assert place.run()["flights_bad"].rows == 2
    assert place.bad_rows("flights_bad") == rows


def test_a_key_that_is_none_of_its_type_is_null(spark: SparkSession) -> None:
    keys = [(b"\xff",), (bytes(8),), (b"\xff\xff\xff\xfe",), (b"\xff" * 8,), (bytes(9),), (None,)]
    frame = spark.createDataFrame(keys, "key BINARY").selectExpr(
        *(READ_KEYS[one] for one in ("STRING", "BIGINT", "INT"))
    )
    assert [tuple(row) for row in frame.collect()] == [
        (None, None, None),
        ("\0" * 8, 0, None),
        (None, None, -2),
        (None, -1, None),
        ("\0" * 9, None, None),
        (None, None, None),
    ]


def test_what_can_not_run_says_why_and_all_else_runs(place: Place) -> None:
    place.metastore.run(FLIGHTS)
    place.metastore.run("CREATE STREAM topic (id BIGINT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')")
    place.create("of_topic", "STREAM", "SELECT id FROM STREAM topic", "topic")
    place.create("ids", "STREAM", "SELECT id FROM STREAM flights", "flights")
    place.metastore.run(FLIGHTS.replace("STREAM flights", "STREAM every").replace("'flights'", "'fl*'"))
    place.create("of_every", "STREAM", "SELECT id FROM STREAM every", "every")
    place.create("newest", "STREAM", "SELECT id FROM STREAM flights", "flights", properties=(("START", "latest"),))
    place.insert("flights", ROWS)
    reports = place.run()
    assert "--cluster main=FILE" in reports["of_topic"].error
    assert "a pattern to Spark" in reports["of_every"].error
    assert "START = 'latest' is of topics" in reports["newest"].error
    assert place.rows("ids") == [(1,), (2,), (3,)]
    assert [*place.run("ids")] == ["ids"]
