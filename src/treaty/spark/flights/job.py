"""The demo's streaming job: events from files into two Delta tables, and the figures and proof read back from them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.registry import Registry
from treaty.spark.flights.schemas import SUBJECT
from treaty.spark.lake import lakes
from treaty.spark.lake.table import Table
from treaty.spark.pipelines.running import start
from treaty.spark.pipelines.value import Pipeline, Watch


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of one run of the demo."""

    root: Path

    @property
    def events(self) -> str:
        """Files that stand for a topic."""
        return str(self.root / "events")

    @property
    def truth(self) -> str:
        """What is true of each event."""
        return str(self.root / "truth")

    @property
    def good(self) -> str:
        """The table of flights."""
        return str(self.root / "tables" / "flights")

    @property
    def bad(self) -> str:
        """The table of bad rows."""
        return str(self.root / "tables" / "flights_bad")


def run(spark: SparkSession, registry: Registry, places: Places, watch: Watch) -> StreamingQuery:
    """Start the job, or go on from its checkpoint."""
    source = (
        spark.readStream.schema("offset BIGINT, value BINARY").option("maxFilesPerTrigger", 1).parquet(places.events)
    )
    pipeline = Pipeline(
        SUBJECT,
        places.good,
        places.bad,
        str(places.root / "checkpoint"),
        keep=("offset",),
        with_id="schema_id",
        with_version="schema_version",
    )
    return start(pipeline, source, registry, watch=watch)


def proof(spark: SparkSession, places: Places, total: int) -> dict[str, Any]:
    """Read both tables back and count: every event is in exactly one table, and where the truth says it belongs."""
    good = lakes.read(spark, Table(places.good)).select("offset", "schema_version", "distance")
    bad = lakes.read(spark, Table(places.bad)).select("offset", "code", "schema_id")
    truth = spark.read.parquet(places.truth)
    both = good.select("offset", F.lit("").alias("found")).unionByName(
        bad.select("offset", F.col("code").alias("found"))
    )
    counts = both.agg(
        F.count(F.lit(1)).alias("rows"),
        F.countDistinct("offset").alias("distinct"),
        F.count_if(F.col("found") == "").alias("good"),
        F.count_if(F.col("found") != "").alias("bad"),
    ).first()
    assert counts is not None, "an aggregate has one row"
    misplaced = truth.join(both, "offset", "full_outer").filter(~F.col("code").eqNullSafe(F.col("found"))).count()
    wrong_version = (
        truth.filter("damage = ''").join(good, "offset").filter(F.col("version") != F.col("schema_version")).count()
    )
    planted = truth.filter("damage != ''").groupBy("damage", "code").count().orderBy("damage").collect()
    found = {**counts.asDict(), "misplaced": misplaced, "wrong_version": wrong_version, "expected": total}
    found["holds"] = (
        found["rows"] == found["distinct"] == total == found["good"] + found["bad"]
        and not misplaced
        and not wrong_version
    )
    found["planted"] = [row.asDict() for row in planted]
    return found


def figures(spark: SparkSession, places: Places) -> dict[str, Any]:
    """What the report shows, read from the tables."""
    good = lakes.read(spark, Table(places.good)).cache()
    bad = lakes.read(spark, Table(places.bad))
    local = F.from_utc_timestamp("scheduled", "America/New_York")
    delay, cancelled = F.avg("dep_delay").alias("delay"), F.count_if(F.col("dep_delay").isNull()).alias("cancelled")
    flights = F.count(F.lit(1)).alias("flights")
    made = {
        "versions": _rows(good.groupBy("schema_version").agg(flights).orderBy("schema_version")),
        "reasons": _rows(
            bad.groupBy("code")
            .agg(
                F.count(F.lit(1)).alias("rows"),
                F.min_by("message", "offset").alias("message"),
                F.min_by("payload", "offset").alias("payload"),
            )
            .orderBy("code")
        ),
        "hours": _rows(good.groupBy(F.hour(local).alias("hour")).agg(flights, delay).orderBy("hour")),
        "carriers": _rows(good.groupBy("carrier").agg(flights, delay, cancelled).orderBy(F.desc("flights"))),
        "rain": _rows(
            good.filter("weather IS NOT NULL")
            .groupBy((F.col("weather.precip") > 0).alias("rain"))
            .agg(flights, delay)
            .orderBy("rain")
        ),
        "before": _columns(spark.read.format("delta").option("versionAsOf", 0).load(places.good)),
        "after": _columns(lakes.read(spark, Table(places.good))),
        "history": _rows(spark.sql(f"DESCRIBE HISTORY delta.`{places.good}`").select("version").orderBy("version")),
    }
    good.unpersist()
    return made


def _rows(frame: DataFrame) -> list[dict[str, Any]]:
    return [
        {name: value.hex() if isinstance(value, bytes | bytearray) else value for name, value in row.asDict().items()}
        for row in frame.collect()
    ]


def _columns(frame: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
