"""EXPLAIN REPLACE COMPARE over a million records, against one body that is run once as a batch over the same records."""

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from benchmarks.row import Row, against_turns
from benchmarks.spark.meter import nowhere, spent
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.metastore import Metastore, PlanningOptions
from treaty.spark import session
from treaty.spark.planner.bodies import BodyPlanner, open_session
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.runner.comparison.query_comparison import BatchComparer
from treaty.spark.runner.source_frames import SourceOpener
from treaty.spark.stream_words import blank_streams

ROWS = 1_000_000
FILES = 8
TURNS, WARM = 15, 4
GOAL = 2.2
FLIGHTS = """CREATE STREAM flights (id BIGINT, carrier STRING, origin STRING, delay INT, distance DOUBLE, ts TIMESTAMP)
WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO', KEY_FORMAT = 'NONE')"""
BODIES = {
    "a table of 16 groups": (
        "TABLE groups", "SELECT carrier, count(*) AS n, sum(delay) AS delay FROM STREAM flights WHERE delay > {} GROUP BY carrier",
    ),
    "a table of 100,000 groups": (
        "TABLE many", "SELECT id DIV 10 AS tens, count(*) AS n, sum(delay) AS delay FROM STREAM flights WHERE delay > {} GROUP BY id DIV 10",
    ),
    "a stream, of which 1 of 10 rows is kept": (
        "STREAM late", "SELECT id, upper(carrier) AS carrier, delay, ts FROM STREAM flights WHERE delay > {} + 88",
    ),
    "a stream, of which all rows are kept": (
        "STREAM whole", "SELECT id, upper(carrier) AS carrier, delay + {} - {} AS delay, ts FROM STREAM flights",
    ),
}  # fmt: skip
"""By what a query gives, its source and its body; a number is put into the body."""


def run(rows: int = ROWS) -> list[Row]:
    """The rows of the table."""
    figures = []
    spark = session("treaty benchmark", master="local[2]", memory="3g")
    with tempfile.TemporaryDirectory(prefix="treaty-compare-") as name, connect("memory:") as registry:
        folder = Path(name)
        planner = StatementPlanner(BodyPlanner(spark, folder / "views"))
        comparer = BatchComparer(lambda: spark, registry.registry, folder)
        metastore = Metastore(registry.registry, planning=PlanningOptions(planner, comparer=comparer))
        metastore.run(FLIGHTS)
        _write_records(spark, registry, folder, rows)
        for what, (source, body) in BODIES.items():
            head = f"{source} WITH (CONNECTOR = 'delta', PATH = 'tables/{source.split()[1]}') AS"
            metastore.run(f"CREATE {head} {body.format(1, 1)}")
            works: dict[str, Callable[[], object]] = {
                "compare": partial(metastore.run, f"EXPLAIN REPLACE COMPARE CREATE {head} {body.format(2, 2)}"),
                "alone": partial(_run_alone, spark, registry, folder, body.format(2, 2)),
            }
            costs = _measure(works, rows)
            figures.append(
                against_turns(
                    f"COMPARE over {rows:,} records, {what}", costs["compare"], costs["alone"], unit="µs CPU/row", goal=GOAL,
                    limit="records are read and decoded once and kept for both bodies; rows of both results are brought together by their keys",
                )
            )  # fmt: skip
            print(
                f"   {figures[-1].name}: ratio {figures[-1].ratio:.2f} {figures[-1].interval}",
                file=sys.stderr,
                flush=True,
            )
    spark.stop()
    return figures


def _measure(works: dict[str, Callable[[], object]], rows: int) -> dict[str, list[float]]:
    """Microseconds of CPU for each row, of each work in each turn."""
    costs: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(TURNS):
        for name, work in works.items():
            cost = spent(work) / rows * 1e6
            if turn >= WARM:
                costs[name].append(cost)
    return costs


def _write_records(spark: SparkSession, registry: Connection, folder: Path, rows: int) -> None:
    """The records of the source: frames of Avro in files of Parquet."""
    pin = registry.ask(DescribeSource("flights")).answer.source.value
    assert pin is not None
    assert pin.pin is not None
    text = registry.version("flights-value", -1).text
    number = F.col("id")
    record = F.struct(
        number.alias("id"),
        F.concat(F.lit("C"), (number % 16).cast("string")).alias("carrier"),
        F.concat(F.lit("airport "), (number % 300).cast("string")).alias("origin"),
        (F.hash(number) % 100).cast("int").alias("delay"),
        (number * 1.5).alias("distance"),
        F.timestamp_seconds(F.lit(1_700_000_000) + number).alias("ts"),
    )
    head = F.lit(bytes([0, *pin.pin.schema_id.to_bytes(4)]))
    records = spark.range(0, rows, 1, FILES).select(
        F.lit(None).cast("binary").alias("key"),
        F.concat(head, to_avro(record, text)).alias("value"),
        F.expr("CAST(NULL AS ARRAY<STRUCT<key: STRING, value: BINARY>>)").alias("headers"),
        F.timestamp_seconds(F.lit(1_700_000_000) + number).alias("timestamp"),
    )
    records.write.parquet(str(folder / "flights"))


def _run_alone(spark: SparkSession, registry: Connection, folder: Path, body: str) -> None:
    """One body as a batch, whose rows are kept nowhere."""
    opened = open_session(spark)
    source = registry.ask(DescribeSource("flights")).answer.source
    opener = SourceOpener(opened, registry.registry, folder, counts_unknown=True)
    opener.open(source, streaming=False, columns=source.columns).createOrReplaceTempView("flights")
    nowhere(opened.sql(blank_streams(opened, body)))
