"""Which engine a session has for a plan, where that depends on its packages and settings."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.plan.errors import PlanError
from treaty.plan.strictness import find_case_twins, show_twins
from treaty.plan.value import DecodePlan
from treaty.spark.frames import has_exact_names


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
    return plan.with_engine(find_engine(spark)) if find_engine else plan


def fit_to_names(plan: DecodePlan, spark: SparkSession, *, is_analyzed: bool = True) -> DecodePlan:
    """Return the plan with an engine that reads names that differ in case alone, where it has such and the session takes them for one.

    Spark's `from_avro` fails at each row then; Python workers read them by their place. Raises `PlanError` where neither will do: where the
    frame is not analyzed, and where such fields of several record types become columns side by side or a VARIANT.
    """
    twins = find_case_twins(plan.engine_type)
    if not twins or has_exact_names(spark):
        return plan
    remedy = f"{show_twins(twins)}, and are one name to this session: set spark.sql.caseSensitive to true"
    if plan.types and plan.types.shape != "types":
        raise PlanError(f"{remedy}, or read with reader = 'types'")
    if (plan.format, plan.engine) != ("AVRO", "spark"):
        return plan
    if not is_analyzed:
        raise PlanError(f"{remedy}, or decode with analyze = True, which reads them in Python workers")
    return replace(plan, engine="fastavro")
