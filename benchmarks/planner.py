"""The planner: CPU of the plan of a usual body in a JVM that is warm, and 30 SQL tests in one JVM."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.row import Row
from benchmarks.spark.meter import spent
from treaty.core.sources import SourceColumn
from treaty.spark import session
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.questions import QueryBody, ReadableSource

TURNS, WARM = 5, 2
PLAN_GOAL, TESTS_GOAL = 1.5, 60
"""Seconds of CPU for one plan, and of the clock for all tests."""
TESTS = 30
FLIGHTS = ReadableSource(
    "flights", "STREAM", 1,
    (
        SourceColumn("id", "BIGINT", role="key"), SourceColumn("carrier", "STRING"), SourceColumn("delay", "INT"), SourceColumn("ts", "TIMESTAMP"),
        SourceColumn("place", "STRUCT<code: STRING, gate: INT>"), SourceColumn("tags", "ARRAY<STRING>"),
    ),
    "ts DELAY OF INTERVAL 10 seconds", has_records=True,
)  # fmt: skip
CARRIERS = ReadableSource("carriers", "TABLE", 2, (SourceColumn("code", "STRING", role="key"), SourceColumn("name", "STRING")), is_joinable=True)  # fmt: skip
BODIES = {
    "STREAM": (
        "SELECT id, upper(carrier) AS carrier, delay FROM STREAM flights WHERE delay > 15",
        "SELECT id, place.code AS code, place.gate AS gate FROM STREAM flights",
        "SELECT id, tag FROM STREAM flights LATERAL VIEW explode(tags) AS tag",
        "SELECT f.id, f.delay, c.name FROM STREAM flights AS f JOIN carriers AS c ON f.carrier = c.code",
        "SELECT id, delay FROM STREAM flights WHERE delay > 1 UNION ALL SELECT id, -delay AS delay FROM STREAM flights WHERE delay < 0",
    ),
    "TABLE": (
        "SELECT carrier, count(*) AS n, avg(delay) AS mean FROM STREAM flights GROUP BY carrier",
        "SELECT window.start AS start, carrier, sum(delay) AS delay FROM STREAM flights GROUP BY window(ts, '1 minute'), carrier",
        "SELECT c.name AS name, count(*) AS n FROM STREAM flights AS f JOIN carriers AS c ON f.carrier = c.code GROUP BY c.name",
    ),
}  # fmt: skip
"""By kind of the result, bodies as people write them."""
STATEMENTS = """
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE carriers (code STRING PRIMARY KEY, nm STRING) WITH (KAFKA_TOPIC = 'carriers', VALUE_FORMAT = 'AVRO', MATERIALIZE = 'delta');
CREATE STREAM late AS SELECT id, carrier, delay FROM STREAM flights WHERE delay > 15;
CREATE TABLE delays AS SELECT carrier, count(*) AS n, avg(delay) AS mean FROM STREAM flights GROUP BY carrier;
CREATE TABLE named WITH (KEY_FORMAT = 'AVRO') AS SELECT c.nm AS name, count(*) AS n FROM STREAM late AS l JOIN carriers AS c ON l.carrier = c.code GROUP BY c.nm;
CREATE STREAM minutes AS SELECT window.start AS start, count(*) AS n FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY window(ts, '1 minute') EMIT FINAL;
"""
GIVEN = "GIVEN flights (1, 'AA', 10, '2026-01-01 00:00:10Z'), (2, 'DL', 20, '2026-01-01 00:00:50Z'), (3, 'AA', 30, '2026-01-01 00:01:00Z');"
CASES = (
    "EXPECT late (2, 'DL', 20), (3, 'AA', 30);",
    "EXPECT delays ('AA', 2, 20.0), ('DL', 1, 20.0);",
    "GIVEN carriers ('AA', 'old'), ('DL', 'Delta'), ('AA', 'American'); EXPECT named ('American', 1), ('Delta', 1);",
    "EXPECT minutes (TIMESTAMP '2026-01-01 00:00:00Z', 2), (TIMESTAMP '2026-01-01 00:01:00Z', 1);",
    "GIVEN flights (4, 'AA', 1, '2026-01-01 00:09:00Z'); GIVEN flights (6, 'AA', 1, '2026-01-01 00:09:10Z'); GIVEN flights (5, 'UA', 1, '2026-01-01 00:00:30Z'); EXPECT STREAM minutes (TIMESTAMP '2026-01-01 00:00:00Z', 2), (TIMESTAMP '2026-01-01 00:01:00Z', 1);",
)
"""Tests of which each comes as often as the others; the last one runs as a stream."""


def run() -> list[Row]:
    """The rows of the table."""
    return [*_measure_plans(), *_measure_tests()]


def _measure_plans() -> list[Row]:
    costs: dict[str, list[float]] = {}
    spark = session("treaty benchmark", master="local[1]", memory="1g", delta=False)
    with tempfile.TemporaryDirectory(prefix="treaty-plans-") as folder:
        planner = BodyPlanner(spark, Path(folder))
        for turn in range(TURNS):
            for kind, bodies in BODIES.items():
                for body in bodies:
                    query = QueryBody("result", kind, body, (FLIGHTS, CARRIERS))
                    cost = spent(lambda query=query: planner.plan(query))  # type: ignore[misc] # a default binds the loop's value
                    if turn >= WARM:
                        costs.setdefault(body, []).append(cost)
    spark.stop()
    middle = [median(spent) for spent in costs.values()]
    highest = max(cost for spent in costs.values() for cost in spent)
    return [
        Row("plan of a usual body in a warm JVM, the highest of all", highest, "s CPU", goal=PLAN_GOAL, limit="Spark analyzes and optimizes each body three times"),
        Row("plan of a usual body in a warm JVM, the median body", median(middle), "s CPU"),
    ]  # fmt: skip


def _measure_tests() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="treaty-tests-") as name:
        folder = Path(name)
        (folder / "sources.sql").write_text(STATEMENTS, "utf-8")
        for place in range(TESTS):
            (folder / f"case{place}.test.sql").write_text(f"{GIVEN}\n{CASES[place % len(CASES)]}\n", "utf-8")
        times: list[float] = []

        def test() -> None:
            begin = time.monotonic()
            command = [sys.executable, "-m", "treaty.cli.main", "test", str(folder)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - begin)

        cpu = spent(test)
    return [
        Row(f"{TESTS} SQL tests in one JVM, its start among them", times[0], "s", goal=TESTS_GOAL, limit="other programs on the machine"),
        Row(f"{TESTS} SQL tests in one JVM, its start among them", cpu, "s CPU"),
    ]  # fmt: skip
