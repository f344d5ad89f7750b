"""Explains a plan in a session: the engine that will run, and missing settings against hostile rows."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.plan.value import DecodePlan
from treaty.spark.jars import AVRO, LIMITS


def engine_of(spark: SparkSession) -> str:
    """Return ``spark`` if the session can load Spark's own Avro functions, else ``fastavro``."""
    try:
        _ = spark.range(0).select(from_avro(F.lit(b""), '"int"')).schema
    except PySparkException:
        return "fastavro"
    except TypeError:  # without the package the JVM has no such object, and py4j calls what it got instead
        return "fastavro"
    return "spark"


ENGINES_OF_SESSION: Mapping[str, Callable[[SparkSession], str]] = {"AVRO": engine_of}
"""How the engine of a format is found that depends on the session."""


def fit_to_session(plan: DecodePlan, spark: SparkSession) -> DecodePlan:
    """Return the plan with the engine that this session has for its format; plans of most formats unchanged."""
    find_engine = ENGINES_OF_SESSION.get(plan.format)
    return replace(plan, engine=find_engine(spark)) if find_engine else plan


def find_missing_limits(spark: SparkSession) -> tuple[str, ...]:
    """Return the JVM options that are missing on the driver; without the first, ten bytes can end a JVM."""
    shown = spark.range(1).select(
        *(F.java_method(F.lit("java.lang.System"), F.lit("getProperty"), F.lit(name)) for name in LIMITS)
    )
    row = shown.first()
    assert row is not None, "one row was asked for"
    return tuple(f"-D{name}={LIMITS[name]}" for name, value in zip(LIMITS, row, strict=True) if value in {None, "null"})


def explain(plan: DecodePlan, spark: SparkSession) -> str:
    """Return the plan as text, with what this session lacks."""
    lines = [plan.explain()]
    if plan.engine == "spark" and engine_of(spark) != "spark":
        lines.append(f"  MISSING  {AVRO} (spark.jars.packages); without it only the engine fastavro runs")
    absent = find_missing_limits(spark)
    if absent:
        lines.append("  MISSING  JVM options of driver and executors, against hostile rows: " + " ".join(absent))
    else:
        lines.append("  guarded  Avro's limits for collections and texts are set in the JVM")
    return "\n".join(lines)
