"""Four topics in three formats as one table: flights with the weather of their hour, their plane and their airline."""

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from examples.demo.paths import DemoPaths
from treaty.spark.lake import tables
from treaty.spark.lake.table import LakeTable

YEAR = 2013


def join_topics(spark: SparkSession, root: Path) -> DataFrame:
    """Every flight with its weather, plane and airline. Where the row of one of these is bad or missing, its columns are null."""

    def table(name: str) -> DataFrame:
        return tables.read(spark, LakeTable(DemoPaths(root, name).good)).drop("offset", "schema_id", "schema_version")

    flights = table("flights").withColumn("hour", F.date_trunc("hour", "scheduled"))
    planes = table("planes").select("tailnum", "manufacturer", (F.lit(YEAR) - F.col("year")).alias("age"))
    weather = table("weather").select("origin", "hour", "precip", "visibility", "wind_gust")
    airlines = table("airlines").withColumnRenamed("name", "airline")
    return (
        flights.join(F.broadcast(planes), "tailnum", "left")
        .join(F.broadcast(weather), ["origin", "hour"], "left")
        .join(F.broadcast(airlines), "carrier", "left")
    )


def list_airlines(spark: SparkSession, root: Path) -> list[dict[str, Any]]:
    """By airline: flights, their delay in minutes, in dry hours and with rain, and the mean age of its planes in years."""
    rain, delay = F.col("precip") > 0, F.col("dep_delay")
    by_airline = join_topics(spark, root).groupBy(F.coalesce("airline", "carrier").alias("airline"))
    grouped = by_airline.agg(
        F.count(F.lit(1)).alias("flights"),
        F.avg(F.when(~rain, delay)).alias("dry"),
        F.avg(F.when(rain, delay)).alias("rain"),
        F.avg("age").alias("age"),
        F.count("precip").alias("with_weather"),
        F.count("manufacturer").alias("with_plane"),
    )
    return [row.asDict() for row in grouped.orderBy(F.desc("flights")).collect()]
