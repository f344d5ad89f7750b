"""The proof and the figures of the demo, read from the tables."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from examples.demo.paths import DemoPaths
from treaty.spark.lake import tables
from treaty.spark.lake.table import LakeTable


def check_tables(spark: SparkSession, places: DemoPaths, total: int) -> dict[str, Any]:
    """Read both tables of a topic and compare them with the events that were written.

    The proof holds if every event is in exactly one table, a sound one with its version, a damaged one with its error code.
    """
    good = tables.read(spark, LakeTable(places.good)).select("offset", "schema_version", F.lit("").alias("found"))
    bad = tables.read(spark, LakeTable(places.bad)).select("offset", F.lit(None), F.col("code"))
    truth = spark.read.parquet(places.truth)
    found_once = (
        good.union(bad)
        .groupBy("offset")
        .agg(
            F.count(F.lit(1)).alias("times"),
            F.count_if(F.col("found") == "").alias("good"),
            F.min("found").alias("found"),
            F.max("schema_version").alias("schema_version"),
        )
    )
    right = (F.col("times") == 1) & F.col("code").eqNullSafe(F.col("found"))
    counts = (
        truth.join(found_once, "offset", "full_outer")
        .agg(
            F.coalesce(F.sum("times"), F.lit(0)).alias("rows"),
            F.count("times").alias("distinct"),
            F.coalesce(F.sum("good"), F.lit(0)).alias("good"),
            F.coalesce(F.sum(F.col("times") - F.col("good")), F.lit(0)).alias("bad"),
            F.count_if(~right).alias("misplaced"),
            F.count_if((F.col("found") == "") & (F.col("version") != F.col("schema_version"))).alias("wrong_version"),
        )
        .first()
    )
    assert counts is not None, "an aggregate has one row"
    planted = truth.filter("damage != ''").groupBy("damage", "code").count().orderBy("damage").collect()
    figures = {**counts.asDict(), "expected": total}
    figures["holds"] = (
        figures["rows"] == figures["distinct"] == total == figures["good"] + figures["bad"]
        and not figures["misplaced"]
        and not figures["wrong_version"]
    )
    figures["planted"] = [row.asDict() for row in planted]
    return figures


def read_figures(spark: SparkSession, places: DemoPaths) -> dict[str, Any]:
    """Return the figures of the report."""
    good = tables.read(spark, LakeTable(places.good)).cache()
    bad = tables.read(spark, LakeTable(places.bad))
    local = F.from_utc_timestamp("scheduled", "America/New_York")
    delay, cancelled = F.avg("dep_delay").alias("delay"), F.count_if(F.col("dep_delay").isNull()).alias("cancelled")
    flights = F.count(F.lit(1)).alias("flights")
    figures = {
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
        "after": _columns(tables.read(spark, LakeTable(places.good))),
        "history": _rows(spark.sql(f"DESCRIBE HISTORY delta.`{places.good}`").select("version").orderBy("version")),
    }
    good.unpersist()
    return figures


def _rows(frame: DataFrame) -> list[dict[str, Any]]:
    return [
        {name: value.hex() if isinstance(value, bytes | bytearray) else value for name, value in row.asDict().items()}
        for row in frame.collect()
    ]


def _columns(frame: DataFrame) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
