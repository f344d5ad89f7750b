"""Columns for those who come from elsewhere: the signatures of Databricks' `from_avro` and `from_protobuf`, and views.

The registry is asked once, on the driver, when the column is made. Better than these is `decode`, which keeps the reasons
of bad rows; here a bad row is null, or ends the query.
"""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.core.registry import Registry
from treaty.spark.decode import decode
from treaty.spark.engines.builtin import envelope, good_envelope, record_of
from treaty.spark.explain import engine_of
from treaty.spark.plan.making import make_plan
from treaty.spark.plan.reasons import PlanError

FAILFAST, PERMISSIVE = "FAILFAST", "PERMISSIVE"
KNOWN = frozenset({"mode", "reader"})


def from_avro(data: Column | str, subject: str, registry: Registry, options: Mapping[str, str] | None = None) -> Column:
    """The record of each frame of a column: the subject's schemas are the writers, its latest (or `reader`) the reader.

    `options`: ``mode`` is ``FAILFAST`` (the default: a bad row ends the query) or ``PERMISSIVE`` (it is null); ``reader`` is
    ``latest``, ``union``, a version's number or a schema text. Raises what `make_plan` raises, and `PlanError` for options that are none.
    """
    given = dict(options or {})
    strange, mode = sorted(given.keys() - KNOWN), given.get("mode", FAILFAST)
    if strange or mode not in {FAILFAST, PERMISSIVE}:
        wrong = f"option {strange[0]!r}" if strange else f"mode {mode!r}"
        raise PlanError(f"{wrong} is unknown; options are mode ({FAILFAST}, {PERMISSIVE}) and reader")
    reader = given.get("reader", "latest")
    plan = make_plan(registry, subject, reader=int(reader) if reader.isdigit() else reader)
    if plan.format != "AVRO":
        raise PlanError(
            f"{subject} is {plan.format}, not AVRO; decode(frame, make_plan(registry, {subject!r})) reads it"
        )
    value = F.col(data) if isinstance(data, str) else data
    made = envelope(plan, value)
    found = F.when(good_envelope(plan, made), record_of(plan, made, value))
    if mode == PERMISSIVE:
        return found
    why = F.raise_error(F.concat(F.lit(f"no record of {subject}: "), F.hex(F.substring(value, 1, 32))))
    return F.when(value.isNull() | good_envelope(plan, made), found).otherwise(F.when(value.isNotNull(), why))


def view(
    frame: DataFrame, registry: Registry, subject: str, name: str, *, reader: str | int = "union", column: str = "value"
) -> DataFrame:
    """Make a temporary view of a frame's rows, decoded: one column per field, the frame's others, and ``error``.

    `frame` may be a topic, files or a table; with a stream the view is a stream. Returns what the view shows. Raises what
    `make_plan` raises.
    """
    plan = make_plan(registry, subject, reader=reader, engine=engine_of(frame.sparkSession))
    shown = decode(frame, plan, column=column, flatten=True).drop(column)
    shown.createOrReplaceTempView(name)
    return shown
