"""Decoding of frames to rows by a decode plan, in batch or streaming, on classic Spark or Connect."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.core.limits import UNKNOWN_IDS
from treaty.core.registry import Registry
from treaty.plan.ddl import quote_name
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import RESOLUTION, PlanError
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.frame_format import PRAVEGA, PREFIX
from treaty.plan.rows import NAMES, NEGATIVE_ID, SENTENCES, UNKNOWN_ENCODING, UNKNOWN_HEAD, UNKNOWN_ID, Names
from treaty.plan.strictness import find_twins, refuse_part, refuse_twins
from treaty.plan.value import DecodePlan
from treaty.spark.engines.avro import SPARK_AVRO
from treaty.spark.engines.engine import DECODED, DecodeEngine
from treaty.spark.engines.jsonschema import SPARK_JSON
from treaty.spark.engines.method_size import is_check_split, is_split, is_wide, leave_whole_stage
from treaty.spark.engines.workers import PYTHON_WORKERS
from treaty.spark.frames import (
    has_exact_names,
    has_magic,
    map_frame_id,
    read_claimed_id,
    read_frame_id,
    read_signed_id,
    require_frames,
)
from treaty.spark.framings import UNPACKED, find_head_error, restore_prefix, unpack
from treaty.spark.session_engines import fit_to_names, fit_to_session
from treaty.spark.shapes import shape_record

ENGINES: Mapping[tuple[str, str], DecodeEngine] = {
    ("AVRO", "spark"): SPARK_AVRO,
    ("AVRO", "fastavro"): PYTHON_WORKERS,
    ("PROTOBUF", "ptars"): PYTHON_WORKERS,
    ("PROTOBUF", "upb"): PYTHON_WORKERS,
    ("JSON", "arrow"): PYTHON_WORKERS,
    ("JSON", "spark"): SPARK_JSON,
}
"""Decode engines by format and name; those of plug-ins are read by Python workers."""
ERROR_TYPE = "STRUCT<code: STRING, message: STRING, schema_id: INT, payload: BINARY>"
RECORD, CODE, MESSAGE, CLAIMED = "_treaty_record", "_treaty_code", "_treaty_said", "_treaty_claimed"
FLATTENED = "_treaty_flattened"
"""A record until its fields are columns: the frame may have a column called as records are."""
FRAME, HEADLESS = "_treaty_frame", "_treaty_headless"
ROW, FRAMES = "_treaty_row", "_treaty_frames"
BLIND = (("AVRO", "spark"), ("JSON", "spark"))
"""Engines that need not know the types of a frame's columns."""
UNSEEN_COLUMNS = 8
"""As many columns a frame is taken to have that nothing is asked of: one more than Kafka's."""
UNSEEN = {("JSON", "arrow"): "spark"}
"""Engines that have to know them, and the one that takes their place without a look at the frame: it gives the same rows."""


def from_registry(
    frame: DataFrame,
    registry: Registry | str,
    subject: str | None = None,
    *,
    reader: str | int = "latest",
    ids: Iterable[int] = (),
    message: str = "",
    column: str = "value",
    names: Names = NAMES,
    flatten: bool = False,
) -> DataFrame:
    """Decode a binary column of registry frames: `make_plan` and `decode` in one call; `registry` may be the address of
    a server.

    Avro uses Spark's own functions if the session has them, else Python workers. `ids` are further schema ids beside
    the subject's versions; `ids_of` finds those of a batch. To store or inspect a plan use `make_plan`. Raises the
    errors of `make_plan`.
    """
    require_frames(frame, column)
    plan = fit_to_session(make_plan(registry, subject, reader=reader, ids=ids, message=message), frame.sparkSession)
    return decode(frame, plan, column=column, names=names, flatten=flatten)


def ids_of(
    frame: DataFrame, column: str = "value", *, besides: Iterable[int] = (), framing: str = PREFIX.name
) -> frozenset[int]:
    """Return the ids in the frames of a batch that `besides` lacks; at most the `UNKNOWN_IDS` most frequent ones.

    They are schema ids, and encoding ids with the framing ``pravega``.
    """
    require_frames(frame, column)
    claimed = frame.select(read_frame_id(F.col(column), framing).alias("id")).filter(F.col("id").isNotNull())
    strange = claimed.filter(~F.col("id").isin(list(besides)))
    frequent = strange.groupBy("id").count().orderBy(F.desc("count")).limit(UNKNOWN_IDS)
    return frozenset(row["id"] for row in frequent.collect())


def decode(
    frame: DataFrame,
    plan: DecodePlan,
    *,
    column: str = "value",
    names: Names = NAMES,
    flatten: bool = False,
    headers: str = "headers",
    part: str = "value",
    analyze: bool = True,
) -> DataFrame:
    """Return the frame with its decoded rows beside its columns.

    A good row has a record; a bad row has an error ``{code, message, schema_id, payload}``; a null value has neither.
    With `flatten` the fields of the record become columns, with `names.prefix`. Filters on the result are not pushed
    below the decoding, so filter on other columns first. With the framing ``header`` the guid is in the column
    `headers` (Kafka's: key and value), under the name for this `part` of a record. Without `analyze` nothing is asked
    about the frame, as query functions of Declarative Pipelines want it, and Connect saves a question to its server:
    then Spark finds what is wrong with a column, once the query runs, and the framing ``header`` needs the column
    `headers`. Raises `PlanError` for a column that holds no bytes, where two columns would have one name, and without
    `analyze` for plans whose engine has to know the frame's types.
    """
    refuse_part(part)
    flat = [name for name, _ in plan.columns] if flatten else []
    if analyze:
        require_frames(frame, column)
        refuse_twins(frame.columns, names, flat, exact=has_exact_names(frame.sparkSession))
    elif find_twins(flat):
        refuse_twins((), names, flat, exact=has_exact_names(frame.sparkSession))
    names = replace(names, record=FLATTENED) if flat else names
    if analyze:
        plan = fit_to_names(plan, frame.sparkSession)
        result = _add_record(frame, frame.columns, plan, names, _FrameColumns(column, column, headers, part))
    else:
        plan = fit_to_names(plan, frame.sparkSession, is_analyzed=False)
        result = _add_record_unseen(frame, plan, names, _FrameColumns(column, column, headers, part))
    if not flat:
        return result
    record = F.col(names.record)
    columns = len(frame.columns) if analyze else UNSEEN_COLUMNS
    apart = is_split(plan, columns, len(flat), _count_added(names))
    fields = [
        (_choose_apart(record.isNotNull(), record[name]) if apart else record[name]).alias(f"{names.prefix}{name}")
        for name in flat
    ]
    if not analyze:
        return result.select("*", *fields).drop(names.record)
    other_columns = [F.col(quote_name(name)) for name in result.columns if name != names.record]
    return result.select(*other_columns, *fields)


@dataclass(frozen=True, slots=True)
class CheckedFrames:
    """Rows whose frames are read: why a row is bad (null for a good one), the schema id that a bad frame names, and what a good row has in each field.

    Fields of a bad row are null.
    """

    frame: DataFrame
    code: Column
    claimed_id: Column
    fields: Mapping[str, Column]


def check_frames(
    frame: DataFrame,
    plan: DecodePlan,
    *,
    column: str = "value",
    headers: str = "headers",
    part: str = "value",
    schema_id: str = "",
) -> CheckedFrames | None:
    """Decode for a caller that takes fields, leaves bad rows out and wants to know their codes alone; None where only `decode` can do that.

    No record is put together of which the fields are taken at once, and no error is described. `schema_id` is the name of a column of ids.
    Raises `PlanError` for a column that holds no bytes.
    """
    refuse_part(part)
    require_frames(frame, column)
    plan = fit_to_names(plan, frame.sparkSession)
    engine = ENGINES.get((plan.format, plan.engine), PYTHON_WORKERS)
    read = engine.find_fields(plan) if plan.columns and not plan.types else None
    if read is None:
        return None
    names = [name for name, _ in plan.columns]
    source, raw = _add_frame_columns(frame, frame.columns, plan, _FrameColumns(column, column, headers, part))
    raw = engine.decode(raw, plan, source.column)
    good, value = engine.is_good(plan), F.col(source.column)
    # The column with the frames is none that goes on.
    apart = is_check_split(plan, len(frame.columns) - 1, len(names), bool(schema_id))
    choose = _choose_apart if apart else F.when
    checked = raw.select(
        *(F.col(quote_name(name)) for name in frame.columns),
        DECODED,
        choose(good, None).otherwise(_make_code(plan, source, engine)).alias(CODE),
        choose(good, None).otherwise(F.when(has_magic(value), read_claimed_id(value))).alias(CLAIMED),
        *([read_frame_id(value).alias(schema_id)] if schema_id else []),
    )
    take = _choose_apart if is_wide(len(names)) else F.when
    fields = {name: take(F.col(CODE).isNull(), read(name)) for name in names}
    return CheckedFrames(checked, F.col(CODE), F.col(CLAIMED), fields)


def list_fields(frame: DataFrame, record: str) -> dict[str, Column]:
    """Return the fields of a record that was decoded, by their names."""
    names: list[str] = frame.schema[record].dataType.fieldNames()  # type: ignore[attr-defined]  # a record is a struct
    return {name: F.col(f"{record}.{quote_name(name)}") for name in names}


def _count_added(names: Names) -> int:
    return sum(map(bool, (names.schema_id, names.version, names.subject)))


def _choose_apart(condition: Column, value: Any) -> Column:
    """The value where a condition holds, else null, in a step that is left out of whole-stage code; only rows where it does not pay for that."""
    return F.when(condition, value).when(leave_whole_stage(), None)


def _add_record_unseen(frame: DataFrame, plan: DecodePlan, names: Names, source: "_FrameColumns") -> DataFrame:
    """`_add_record` to a frame whose columns are not analysed: all of them go through it as one struct."""
    plan = replace(plan, engine=UNSEEN.get((plan.format, plan.engine), plan.engine))
    if (plan.format, plan.engine) not in BLIND:
        able = " or ".join(engine for format_, engine in BLIND if format_ == plan.format)
        remedy = f"make the plan with engine = {able!r}" if able else "decode it with analyze = True"
        raise PlanError(f"{plan.format} by {plan.engine} has to know the types of the frame's columns: {remedy}")
    named = [F.col(source.column).alias(FRAMES)]
    if plan.framing.name == "header":
        named.append(F.col(quote_name(source.headers)).alias(source.headers))
    packed = frame.select(F.struct("*").alias(ROW), *named)
    columns = [ROW, FRAMES, *([source.headers] if plan.framing.name == "header" else [])]
    decoded = _add_record(packed, columns, plan, names, replace(source, column=FRAMES, payload=FRAMES))
    return decoded.select(f"{ROW}.*", *(F.col(quote_name(name)) for name in _list_added(names)))


def _add_record(
    frame: DataFrame, columns: Sequence[str], plan: DecodePlan, names: Names, source: "_FrameColumns"
) -> DataFrame:
    """Return the frame with `columns`, record, error and the other named columns."""
    source, raw = _add_frame_columns(frame, columns, plan, source)
    engine = ENGINES.get((plan.format, plan.engine), PYTHON_WORKERS)
    raw = engine.decode(raw, plan, source.column)
    good, value = engine.is_good(plan), F.col(source.column)
    input_columns = [F.col(quote_name(name)) for name in columns]
    # Three steps, not one: each can be compiled by itself, where all together are too large to be compiled.
    apart = is_split(plan, len(columns), 0, _count_added(names))
    choose = _choose_apart if apart else F.when
    judged = raw.select(
        *input_columns,
        *(F.col(name) for name in source.added),
        choose(good, engine.read_record(plan, value)).alias(RECORD),
        choose(good, None).otherwise(_make_code(plan, source, engine)).alias(CODE),
        *([engine.find_message(plan, value).alias(MESSAGE)] if engine.find_message else []),
    )
    added: dict[str, Callable[[], Column]] = {
        names.record: lambda: _shape(plan, apart=apart),
        names.error: lambda: _make_error(plan, source, F.col(MESSAGE) if engine.find_message else None, choose),
        names.schema_id: lambda: read_frame_id(value),
        names.version: lambda: map_frame_id(value, {one.schema_id: one.version for one in plan.writers}),
        names.subject: lambda: map_frame_id(value, {one.schema_id: one.subject for one in plan.writers}),
    }
    return judged.select(*input_columns, *(make().alias(name) for name, make in added.items() if name))


def _shape(plan: DecodePlan, *, apart: bool) -> Column:
    """Return the record as the plan's columns have it."""
    shaped = shape_record(plan, F.col(RECORD))
    return _choose_apart(F.col(RECORD).isNotNull(), shaped) if apart and plan.types else shaped


def _list_added(names: Names) -> tuple[str, ...]:
    """Return the columns that decoding adds, in order."""
    return tuple(name for name in (names.record, names.error, names.schema_id, names.version, names.subject) if name)


@dataclass(frozen=True, slots=True)
class _FrameColumns:
    """Where the frames with Confluent's prefix are, what the row held, where headers are and for which half, and
    columns that were added.
    """

    column: str
    payload: str
    headers: str
    part: str
    added: tuple[str, ...] = ()


def _add_frame_columns(
    frame: DataFrame, columns: Sequence[str], plan: DecodePlan, source: _FrameColumns
) -> tuple[_FrameColumns, DataFrame]:
    if plan.framing == PREFIX:
        return source, frame
    value = F.col(source.column)
    headers = F.col(quote_name(source.headers)) if source.headers in columns else None
    added: tuple[str, ...] = (FRAME, HEADLESS)
    if plan.framing.codecs:
        frame, added = frame.withColumn(UNPACKED, unpack(plan, value)), (*added, UNPACKED)
    framed = frame.withColumn(FRAME, restore_prefix(plan.framing, value, headers, source.part))
    lost = F.col(FRAME).isNull() & value.isNotNull()
    code = F.when(lost, find_head_error(plan.framing, value, headers, source.part))
    return replace(source, column=FRAME, added=added), framed.withColumn(HEADLESS, code)


def _make_error(
    plan: DecodePlan, source: _FrameColumns, sentence: Column | None, choose: Callable[[Column, Any], Column]
) -> Column:
    """Return the error of a row with a code in the column `CODE`; null without a code."""
    value = F.col(source.column)
    code, number = F.col(CODE), read_claimed_id(value)
    unknown = code == "UNKNOWN_ID"
    negative = F.format_string(NEGATIVE_ID, read_signed_id(value))
    # As in `_make_code`: `when` of `F` begins the chain.
    message = F.when(unknown & F.col(FRAME).isNull(), _describe_head(plan, source)) if source.added else F
    if UNPACKED in source.added:
        message = message.when(F.col(UNPACKED)["said"].isNotNull(), F.col(UNPACKED)["said"])
    message = message.when(unknown & number.isNull(), negative).when(unknown, F.format_string(UNKNOWN_ID, number))
    if sentence is not None:
        message = message.when(sentence.isNotNull(), sentence)
    reasons = _list_partial_ids(plan) | {one.schema_id: one.message for one in plan.rejected}
    if reasons:
        codes = {one.code for one in plan.rejected} | ({RESOLUTION} if _list_partial_ids(plan) else set())
        message = message.when(code.isin(sorted(codes)), map_frame_id(value, reasons))
    sentences = [F.lit(part) for pair in SENTENCES.items() for part in pair]
    parts = {
        "code": code,
        "message": message.otherwise(F.try_element_at(F.create_map(*sentences), code)),
        "schema_id": F.when(has_magic(value), number),
        "payload": F.col(source.payload),
    }
    return choose(code.isNull(), None).otherwise(F.struct(*(made.alias(name) for name, made in parts.items())))


def _describe_head(plan: DecodePlan, source: _FrameColumns) -> Column:
    """Return what is said of a row whose head the plan does not know."""
    if plan.framing.name == PRAVEGA:
        return F.format_string(UNKNOWN_ENCODING, read_signed_id(F.col(source.payload)))
    return F.lit(UNKNOWN_HEAD % plan.framing.name)


def _list_partial_ids(plan: DecodePlan) -> dict[int, str]:
    """Return the messages of bad rows of ids that the reader reads in part."""
    return dict(plan.recipe.partly) if isinstance(plan.recipe, AvroFormatPlan) else {}


def _make_code(plan: DecodePlan, source: _FrameColumns, engine: DecodeEngine) -> Column:
    """Return the code of a bad row: the first reason in the order of the parts of a frame.

    `map_frame_id` finds nothing for an id that is unknown or negative, a code for a version that the plan rejects, and an empty
    text for any other version of the plan, whose rows are bad by their payload.
    """
    failed = engine.find_code(plan, F.col(source.column))
    if engine.is_well_formed and _list_partial_ids(plan):
        of_partial = map_frame_id(F.col(source.column), dict.fromkeys(_list_partial_ids(plan), True))
        failed = F.when(of_partial & engine.is_well_formed(plan, F.col(source.column)), RESOLUTION).otherwise(failed)
    code_by_id = {one.schema_id: "" for one in plan.writers} | {one.schema_id: one.code for one in plan.rejected}
    value = F.col(source.column)
    by_id = map_frame_id(value, code_by_id)
    # `when` of `F` begins a chain of conditions, that of a column continues one.
    conditions = F.when(F.col(HEADLESS).isNotNull(), F.col(HEADLESS)) if source.added else F
    return (
        conditions.when(value.isNull(), None)
        .when(F.length(value) < 5, "TOO_SHORT")
        .when(~has_magic(value), "BAD_MAGIC")
        .when(by_id.isNull(), "UNKNOWN_ID")
        .when(by_id != "", by_id)
        .otherwise(failed)
    )
