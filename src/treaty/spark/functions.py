"""Columns for those who come from elsewhere: the signatures of Databricks' `from_avro` and `from_protobuf`, and views.

The registry is asked once, on the driver, when the column is made. Better than these is `decode`, which keeps the reasons
of bad rows; here a bad row is null, or ends the query.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro as plain

from treaty.client.properties import settings_of
from treaty.client.sync import HttpRegistry
from treaty.core.registry import Registry
from treaty.plan.making import make_plan
from treaty.plan.reasons import PlanError
from treaty.spark.decode import decode
from treaty.spark.engines.builtin import envelope, good_envelope, record_of
from treaty.spark.explain import engine_of

FAILFAST, PERMISSIVE = "FAILFAST", "PERMISSIVE"
CONFLUENT = "confluent.schema.registry."
"""How options begin that are settings of the registry's client."""
KNOWN = frozenset({"mode", "reader"})


def from_avro(
    data: Column | str,
    subject: str | None = None,
    registry: Registry | None = None,
    options: Mapping[str, str] | None = None,
    *,
    jsonFormatSchema: str | None = None,  # noqa: N803 - so it is called there
    schemaRegistryAddress: str | None = None,  # noqa: N803 - so it is called there
) -> Column:
    """The record of each frame of a column: the subject's schemas are the writers, its latest (or `reader`) the reader.

    Called with names, as Databricks' own: `schemaRegistryAddress` in place of a `registry`, `jsonFormatSchema` as the reader's
    text. Without a subject it is Spark's own function. `options`: ``mode`` is ``FAILFAST`` (the default: a bad row ends the
    query) or ``PERMISSIVE`` (it is null); ``reader`` is ``latest``, ``union``, a version's number or a schema text; those that begin
    with ``confluent.schema.registry.`` are settings for the address. Raises what `make_plan` raises, and `PlanError` for options that are none.
    """
    given = dict(options or {})
    if subject is None:
        if jsonFormatSchema is None:
            raise PlanError(
                "neither a subject nor a schema is named: subject=, or jsonFormatSchema= for rows without frames"
            )
        return plain(data, jsonFormatSchema, given)
    settings = {name: given.pop(name) for name in list(given) if name.startswith(CONFLUENT)}
    strange, mode = sorted(given.keys() - KNOWN), given.get("mode", FAILFAST)
    if strange or mode not in {FAILFAST, PERMISSIVE}:
        wrong = f"option {strange[0]!r}" if strange else f"mode {mode!r}"
        raise PlanError(f"{wrong} is unknown; options are mode ({FAILFAST}, {PERMISSIVE}), reader and {CONFLUENT}…")
    reader = jsonFormatSchema or given.get("reader", "latest")
    with _asked(registry, schemaRegistryAddress, settings) as asked:
        plan = make_plan(asked, subject, reader=int(reader) if reader.isdigit() else reader)
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


@contextmanager
def _asked(registry: Registry | None, address: str | None, settings: Mapping[str, str]) -> Iterator[Registry]:
    """The registry that is given, or the one at an address while the plan is made."""
    if registry is not None:
        yield registry
        return
    if address is None:
        raise PlanError("there is nobody to ask about the subject: give a registry, or schemaRegistryAddress=")
    url = address if "://" in address else f"http://{address}"
    found = HttpRegistry(
        settings_of({"url": url, **{one.removeprefix(CONFLUENT): value for one, value in settings.items()}})
    )
    try:
        yield found
    finally:
        found.close()


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
