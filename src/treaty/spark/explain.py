"""Explains a plan in a session: the engine that will run, missing settings against hostile rows, and methods that are too large to be compiled."""

from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.plan.errors import PlanError
from treaty.plan.heads import HEADERS
from treaty.plan.strictness import find_case_twins, show_twins
from treaty.plan.value import DecodePlan, list_engines
from treaty.spark.decode import decode
from treaty.spark.engines.engine import barrier
from treaty.spark.jars import AVRO, COMPILED_BYTES, HUGE_METHOD, LIMITS
from treaty.spark.session import NotOnConnectError, is_on_connect
from treaty.spark.session_engines import engine_of, fit_to_names


def find_missing_limits(spark: SparkSession) -> tuple[str, ...]:
    """Return the JVM options that are missing on the driver; without the first, ten bytes can end a JVM."""
    properties = spark.range(1).select(
        *(F.java_method(F.lit("java.lang.System"), F.lit("getProperty"), F.lit(name)) for name in LIMITS)
    )
    row = properties.first()
    assert row is not None, "one row was asked for"
    return tuple(f"-D{name}={LIMITS[name]}" for name, value in zip(LIMITS, row, strict=True) if value in {None, "null"})


def measure_largest_method(frame: DataFrame) -> int:
    """Return the bytes of the largest method in the whole-stage code that Spark generates for a frame; 0 where all steps are left out of that.

    Nothing is read and no job runs. Raises `NotOnConnectError` for a frame of a Spark Connect session, which keeps its code to
    itself.
    """
    if is_on_connect(frame.sparkSession):
        remedy = "measure it in a session of its own driver (treaty.spark.session)"
        raise NotOnConnectError(f"the size of generated methods is not known on Spark Connect: {remedy}")
    stages = frame._jdf.queryExecution().debug().codegenToSeq()  # noqa: SLF001 (pyspark has no other word for it)
    return max((int(stages.apply(at)._3().maxMethodCodeSize()) for at in range(stages.size())), default=0)  # noqa: SLF001 (as above)


def make_topic_frame(spark: SparkSession, framing: str) -> DataFrame:
    """Return a frame with the columns of Spark's Kafka source, made without a topic."""
    # The barrier keeps Spark from computing columns beforehand.
    number = F.col("id")
    binary = barrier(F.hex(number).cast("binary"))
    columns = {
        "key": binary,
        "value": binary,
        "topic": barrier(F.hex(number)),
        "partition": number.cast("int"),
        "offset": number,
        "timestamp": F.timestamp_seconds(number),
        "timestampType": number.cast("int"),
    }
    if framing == "header":
        columns["headers"] = F.array(F.struct(F.lit(HEADERS["value"]).alias("key"), binary.alias("value")))
    return spark.range(1).select(*(column.alias(name) for name, column in columns.items()))


def _explain_methods(plan: DecodePlan, spark: SparkSession) -> Iterator[str]:
    """Yield the line about the largest method of the code for a plan; nothing where the plan is refused."""
    try:
        largest = measure_largest_method(decode(make_topic_frame(spark, plan.framing.name), plan))
    except NotOnConnectError as why:
        yield f"  unknown  {why}"
        return
    except PlanError:
        return
    size = f"the largest method for rows of a topic has {largest:,} bytes"
    if largest <= COMPILED_BYTES:
        yield f"  compiled {size}; the JVM compiles up to {COMPILED_BYTES:,}"
    elif int(spark.conf.get(HUGE_METHOD, "65535") or "65535") <= COMPILED_BYTES:
        yield f"  compiled {size}: too large for the JVM, so Spark runs its steps one by one ({HUGE_METHOD})"
    else:
        remedy = f"set {HUGE_METHOD}={COMPILED_BYTES}"
        yield f"  SLOW     {size}, and the JVM compiles up to {COMPILED_BYTES:,}, so rows are interpreted: {remedy}"


def explain(plan: DecodePlan, spark: SparkSession) -> str:
    """Return the plan as text, with what this session lacks."""
    lines = [plan.explain()]
    if plan.engine == "spark" and engine_of(spark) != "spark":
        lines.append(f"  MISSING  {AVRO} (spark.jars.packages); without it only the engine fastavro runs")
    lines += _explain_twins(plan, spark)
    absent = find_missing_limits(spark)
    if absent:
        lines.append("  MISSING  JVM options of driver and executors, against hostile rows: " + " ".join(absent))
    else:
        lines.append("  guarded  Avro's limits for collections and texts are set in the JVM")
    if plan.engine != "spark" or engine_of(spark) == "spark":
        lines += _explain_methods(plan, spark)
    return "\n".join(lines)


def _explain_twins(plan: DecodePlan, spark: SparkSession) -> Iterator[str]:
    """What becomes of names that differ in case alone."""
    try:
        fitted = fit_to_names(plan, spark)
    except PlanError as error:
        yield f"  REFUSED  {error}"
        return
    if fitted.engine != plan.engine:
        twins = show_twins(find_case_twins(plan.engine_type))
        yield f"  names    {twins}: read by {list_engines(plan.format)[fitted.engine]}, unless spark.sql.caseSensitive is true"
