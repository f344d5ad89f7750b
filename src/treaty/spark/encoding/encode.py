"""Encoding of rows to frames by an encode plan. A bad row does not fail the job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.arrow.packed_payloads import find_packer
from treaty.core.registry import Registry
from treaty.plan.ddl import quote_name, type_ddl
from treaty.plan.encoding.dry_run import EncodeDryRun
from treaty.plan.encoding.encode_plans import check_columns, make_encode_plan
from treaty.plan.encoding.options import ENCODE_DEFAULTS, EncodeOptions
from treaty.plan.encoding.value import EncodePlan
from treaty.plan.errors import PlanError
from treaty.spark.decode import ERROR_TYPE
from treaty.spark.encoding.conversion import convert, find_first_message
from treaty.spark.encoding.encoders import (
    AVRO_ENCODER,
    JSON_ENCODER,
    PROTOBUF_ENCODER,
    ROW_ENCODER,
    PayloadEncoder,
    make_worker_function,
)
from treaty.spark.encoding.headers import add_schema_header
from treaty.spark.encoding.sources import columns_of
from treaty.spark.engines.engine import barrier

ENCODERS: Mapping[str, PayloadEncoder] = {"AVRO": AVRO_ENCODER, "PROTOBUF": PROTOBUF_ENCODER, "JSON": JSON_ENCODER}
"""By format of this package."""
WRONG, PACKED = "_treaty_wrong", "_treaty_packed"


@dataclass(frozen=True, slots=True)
class EncodeColumns:
    """Names of the columns that encoding adds; `headers` is written with the framing ``header`` only, and merged."""

    value: str = "value"
    error: str = "error"
    headers: str = "headers"


ENCODE_COLUMNS = EncodeColumns()


def to_registry(
    frame: DataFrame,
    registry: Registry | str,
    subject: str,
    options: EncodeOptions = ENCODE_DEFAULTS,
    *,
    version: int = ENCODE_DEFAULTS.version,
    schema: str = "",
    register: bool = False,
    columns: Sequence[str] | str = (),
    names: EncodeColumns = ENCODE_COLUMNS,
) -> DataFrame:
    """Return the frame with its `columns` (default: all) encoded as a registry frame in the column ``value``;
    `registry` may be the address of a server.

    The schema is a `version` of the subject, the text `schema`, or derived from the columns. A text must be a version,
    or is registered with `register`, once, on the driver; `options` has these three and others. Columns are cast,
    missing fields get their defaults or null. A single name in `columns` is a struct with the fields, or the value of a
    schema that is not a record; if it is null, so is ``value``: a tombstone. A row that does not fit the schema has no
    value, and an error ``{code: INVALID, message, schema_id, payload: null}``.

    Raises `PlanError` if no row could be encoded, `NotFound` for a missing version, `Incompatible` for a refused new
    one, and `Unavailable`.
    """
    number = options.version if version == ENCODE_DEFAULTS.version else version
    chosen = replace(options, version=number, schema=schema or options.schema, register=register or options.register)
    plan = make_encode_plan(registry, subject, columns_of(_read_source(frame, columns)), chosen)
    return encode(frame, plan, columns=columns, names=names)


def dry_run(
    frame: DataFrame,
    registry: Registry | str,
    subject: str,
    options: EncodeOptions = ENCODE_DEFAULTS,
    *,
    columns: Sequence[str] | str = (),
) -> EncodeDryRun:
    """Return what `to_registry` would do with the frame: the schema, its acceptance by the registry, casts and checks
    by column.

    Registers nothing and reads no rows. Raises `NotFound` for a missing version, and `Unavailable`.
    """
    try:
        source_columns = columns_of(_read_source(frame, columns))
    except PlanError as error:
        return EncodeDryRun(subject, "", "", problems=(str(error),))
    return check_columns(registry, subject, source_columns, options)


def encode(
    frame: DataFrame, plan: EncodePlan, *, columns: Sequence[str] | str = (), names: EncodeColumns = ENCODE_COLUMNS
) -> DataFrame:
    """Encode a frame by a plan that was made for its columns."""
    source_columns = tuple((one.name, type_ddl(one.type)) for one in columns_of(_read_source(frame, columns)))
    if source_columns != plan.columns:
        raise PlanError(
            f"the plan is for {_print_columns(plan.columns)}, and the frame has {_print_columns(source_columns)}: make it again"
        )
    row = _make_row(plan, source_columns, columns)
    packed = (_pack_in_stages if _find_encoder(plan).needs_workers(plan) else _pack_at_once)(frame, plan, row)
    payload, message = F.col(PACKED)["payload"], F.col(PACKED)["said"]
    added = {names.value: payload, names.error: _make_error(plan, message)}
    if plan.framing == "header":
        had = F.col(quote_name(names.headers)) if names.headers in frame.columns else None
        added[names.headers] = add_schema_header(had, plan.part, bytes.fromhex(plan.head), payload.isNotNull())
    return packed.withColumns(added).drop(PACKED)


def _find_encoder(plan: EncodePlan) -> PayloadEncoder:
    return ENCODERS.get(plan.format, ROW_ENCODER)


def _pack_at_once(frame: DataFrame, plan: EncodePlan, row: Column) -> DataFrame:
    """The frame with `PACKED`: each row is checked and encoded in one expression, which is in the plan once.

    The message of a row is only made where something is wrong. The columns of a row go into this step alone.
    """
    converted = convert(plan.fit, row)
    message = find_first_message(converted.violations).cast("string")
    nothing = F.lit(None).cast("string")
    payload = _frame_payload(plan, _find_encoder(plan).encode(plan, converted.value))
    bad = F.struct(F.lit(None).cast("binary").alias("payload"), message.alias("said"))
    good = F.struct(payload.alias("payload"), nothing.alias("said"))
    packed_row = F.when(row.isNotNull() & message.isNotNull(), bad).when(row.isNotNull(), good)
    input_columns = [F.col(quote_name(name)) for name in frame.columns]
    return frame.select(*input_columns, barrier(packed_row).alias(PACKED))


def _pack_in_stages(frame: DataFrame, plan: EncodePlan, row: Column) -> DataFrame:
    """The frame with `PACKED`: rows are checked first, and workers of Python get those that are right."""
    converted = convert(plan.fit, row)
    first_message = F.when(row.isNotNull(), find_first_message(converted.violations)).cast("string")
    input_columns = [F.col(quote_name(name)) for name in frame.columns]
    checked = frame.select(*input_columns, first_message.alias(WRONG))
    right = F.when(F.col(WRONG).isNull() & row.isNotNull(), converted.value)
    packed = checked.select(*input_columns, F.col(WRONG), _find_encoder(plan).encode(plan, right).alias(PACKED))
    message = F.coalesce(F.col(WRONG), F.col(PACKED)["said"])
    payload = _frame_payload(plan, F.col(PACKED)["payload"]).alias("payload")
    return packed.select(*input_columns, F.struct(payload, message.alias("said")).alias(PACKED))


def _frame_payload(plan: EncodePlan, payload: Column) -> Column:
    """The frame of a payload, in the step that makes it: another step would copy it once more."""
    if plan.framing == "header":
        return payload
    return F.concat(F.lit(bytes.fromhex(plan.head)), _pack_payload(plan, payload) if plan.codec else payload)


def _pack_payload(plan: EncodePlan, payload: Column) -> Column:
    """The payload as the plan's codec packs it."""

    def pack_all(payloads: pa.Array) -> pa.Array:
        pack = find_packer(plan.codec, plan.properties)
        return pa.array([None if one is None else pack(one) for one in payloads.to_pylist()], pa.binary())

    return make_worker_function(pack_all, "BINARY")(payload)


def _read_source(frame: DataFrame, columns: Sequence[str] | str) -> StructType:
    """Return the Spark schema of the encoded columns."""
    if not isinstance(columns, str):
        return frame.select(*map(quote_name, columns)).schema if columns else frame.schema
    if columns not in frame.columns:
        raise PlanError(f"the frame has no column {columns}; it has {', '.join(frame.columns)}")
    field = frame.schema[columns]
    return field.dataType if isinstance(field.dataType, StructType) else StructType([field])


def _make_row(plan: EncodePlan, source_columns: Sequence[tuple[str, str]], columns: Sequence[str] | str) -> Column:
    if isinstance(columns, str):
        return F.col(quote_name(columns))
    if plan.fit.way != "record":
        return F.col(quote_name(source_columns[0][0]))
    return F.struct(*(F.col(quote_name(name)) for name, _ in source_columns))


def _make_error(plan: EncodePlan, message: Column) -> Column:
    parts = {
        "code": F.lit("INVALID"),
        "message": message,
        "schema_id": F.lit(plan.schema_id),
        "payload": F.lit(None).cast("binary"),
    }
    error = F.struct(*(made.alias(name) for name, made in parts.items())).cast(ERROR_TYPE)  # whose parts may be null
    return F.when(message.isNotNull(), error)


def _print_columns(columns: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns) or "no columns"
