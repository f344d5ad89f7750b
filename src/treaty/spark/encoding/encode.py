"""Rows to frames: an encode plan as Spark columns, so that one bad row never fails a job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.core.registry import Registry
from treaty.plan.ddl import quote_name, type_ddl
from treaty.plan.encoding.dry_run import EncodeDryRun
from treaty.plan.encoding.encode_plans import check_columns, make_encode_plan
from treaty.plan.encoding.options import ENCODE_DEFAULTS, EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.spark.decode import ERROR_TYPE
from treaty.spark.encoding.avro import AVRO
from treaty.spark.encoding.documents import DOCUMENTS
from treaty.spark.encoding.encoder import Encoder
from treaty.spark.encoding.fitting import first_of, fitted
from treaty.spark.encoding.headers import stamped
from treaty.spark.encoding.messages import MESSAGES
from treaty.spark.encoding.sources import columns_of
from treaty.spark.engines.engine import barrier

ENCODERS: Mapping[str, Encoder] = {"AVRO": AVRO, "PROTOBUF": MESSAGES, "JSON": DOCUMENTS}
"""By format."""
WRONG, PACKED = "_treaty_wrong", "_treaty_packed"


@dataclass(frozen=True, slots=True)
class Written:
    """Names of the columns that encoding adds; `headers` is written with the framing ``header`` only, and merged."""

    value: str = "value"
    error: str = "error"
    headers: str = "headers"


WRITTEN = Written()


def to_registry(
    frame: DataFrame,
    registry: Registry | str,
    subject: str,
    wish: EncodeOptions = ENCODE_DEFAULTS,
    *,
    version: int = ENCODE_DEFAULTS.version,
    schema: str = "",
    register: bool = False,
    columns: Sequence[str] | str = (),
    names: Written = WRITTEN,
) -> DataFrame:
    """The frame with its `columns` (all of them if none are named) as one registry frame in the column ``value``; `registry` may be the address of a server.

    The schema is a `version` of the subject, the text `schema`, or one that is derived from the columns; a text must be a
    version already, or is made one where `register` says so, once, on the driver (`wish` has these three and the rest).
    Columns are cast, missing fields take their defaults or null. Where `columns` is one name, it is that of a struct that
    holds them (or of the one value of a schema that is no record); where it is null, so is the value: a delete marker. A
    row that the schema can't hold has no value and an error ``{code: INVALID, message, schema_id, payload: null}``.

    Raises `PlanError` where no row could be encoded, `NotFound` for a version that does not exist, `Incompatible` where
    a new one is refused, and `Unavailable`.
    """
    number = wish.version if version == ENCODE_DEFAULTS.version else version
    asked = replace(wish, version=number, schema=schema or wish.schema, register=register or wish.register)
    plan = make_encode_plan(registry, subject, columns_of(_source(frame, columns)), asked)
    return encode(frame, plan, columns=columns, names=names)


def dry_run(
    frame: DataFrame,
    registry: Registry | str,
    subject: str,
    wish: EncodeOptions = ENCODE_DEFAULTS,
    *,
    columns: Sequence[str] | str = (),
) -> EncodeDryRun:
    """What `to_registry` would do with the frame: the schema, the registry's verdict, casts and checks of each column.

    Nothing is registered and no row is read. Raises `NotFound` for a version that does not exist, and `Unavailable`.
    """
    try:
        found = columns_of(_source(frame, columns))
    except PlanError as wrong:
        return EncodeDryRun(subject, "", "", problems=(str(wrong),))
    return check_columns(registry, subject, found, wish)


def encode(
    frame: DataFrame, plan: EncodePlan, *, columns: Sequence[str] | str = (), names: Written = WRITTEN
) -> DataFrame:
    """`to_registry` with a plan that was made for these columns."""
    found = tuple((one.name, type_ddl(one.type)) for one in columns_of(_source(frame, columns)))
    if found != plan.columns:
        raise PlanError(f"the plan is for {_told(plan.columns)}, and the frame has {_told(found)}: make it anew")
    row = _row(plan, found, columns)
    packed = (_staged if ENCODERS[plan.format].apart(plan) else _at_once)(frame, plan, row)
    payload, said = F.col(PACKED)["payload"], F.col(PACKED)["said"]
    head = bytes.fromhex(plan.head)
    framed = F.concat(F.lit(head), payload) if plan.framing == "prefix" else payload
    made = {names.value: framed, names.error: _error(plan, said)}
    if plan.framing == "header":
        had = F.col(quote_name(names.headers)) if names.headers in frame.columns else None
        made[names.headers] = stamped(had, plan.part, head, payload.isNotNull())
    return packed.withColumns(made).drop(PACKED)


def _at_once(frame: DataFrame, plan: EncodePlan, row: Column) -> DataFrame:
    """The frame with `PACKED`: each row is judged and encoded in one expression, which stands in the plan once.

    What is said of a row is only looked for where something is wrong. The columns of a row go into this step alone.
    """
    brought = fitted(plan.fit, row)
    said = first_of(brought.problems).cast("string")
    nothing, payload = F.lit(None).cast("string"), ENCODERS[plan.format].payload(plan, brought.made)
    bad = F.struct(F.lit(None).cast("binary").alias("payload"), said.alias("said"))
    good = F.struct(payload.alias("payload"), nothing.alias("said"))
    judged = F.when(row.isNotNull() & said.isNotNull(), bad).when(row.isNotNull(), good)
    kept = [F.col(quote_name(name)) for name in frame.columns]
    return frame.select(*kept, barrier(judged).alias(PACKED))


def _staged(frame: DataFrame, plan: EncodePlan, row: Column) -> DataFrame:
    """The frame with `PACKED`: rows are judged first, and workers of Python get those that are right."""
    brought = fitted(plan.fit, row)
    wrong = F.when(row.isNotNull(), first_of(brought.problems)).cast("string")
    kept = [F.col(quote_name(name)) for name in frame.columns]
    judged = frame.select(*kept, wrong.alias(WRONG))
    right = F.when(F.col(WRONG).isNull() & row.isNotNull(), brought.made)
    packed = judged.select(*kept, F.col(WRONG), ENCODERS[plan.format].payload(plan, right).alias(PACKED))
    said = F.coalesce(F.col(WRONG), F.col(PACKED)["said"])
    return packed.select(*kept, F.struct(F.col(PACKED)["payload"], said.alias("said")).alias(PACKED))


def _source(frame: DataFrame, columns: Sequence[str] | str) -> StructType:
    """The schema of what is encoded."""
    if not isinstance(columns, str):
        return frame.select(*map(quote_name, columns)).schema if columns else frame.schema
    if columns not in frame.columns:
        raise PlanError(f"the frame has no column {columns}; it has {', '.join(frame.columns)}")
    found = frame.schema[columns]
    return found.dataType if isinstance(found.dataType, StructType) else StructType([found])


def _row(plan: EncodePlan, found: Sequence[tuple[str, str]], columns: Sequence[str] | str) -> Column:
    if isinstance(columns, str):
        return F.col(quote_name(columns))
    if plan.fit.way != "record":
        return F.col(quote_name(found[0][0]))
    return F.struct(*(F.col(quote_name(name)) for name, _ in found))


def _error(plan: EncodePlan, said: Column) -> Column:
    parts = {
        "code": F.lit("INVALID"),
        "message": said,
        "schema_id": F.lit(plan.schema_id),
        "payload": F.lit(None).cast("binary"),
    }
    found = F.struct(*(made.alias(name) for name, made in parts.items())).cast(ERROR_TYPE)  # whose parts may be null
    return F.when(said.isNotNull(), found)


def _told(columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns) or "no columns"
