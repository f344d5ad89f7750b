"""Spark's own `from_avro`, one call for any number of writers."""

import json
from dataclasses import replace
from functools import lru_cache
from struct import unpack

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.plan.avro.converted_leaves import explain_overflow
from treaty.plan.avro.envelope import encode_branch, make_ending, make_header, nest_record
from treaty.plan.avro.limited import strip_limits, strip_to_limits, widen_decimals
from treaty.plan.avro.sealed import SealedSchemas, seal_schemas
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.value import DecodePlan
from treaty.spark.engines.engine import DECODED, SECRET, DecodeEngine, FieldReader, barrier, join_conditions
from treaty.spark.engines.repaired_records import find_lost_digits, find_overflow, read_avro_part, remove_hidden_fields
from treaty.spark.engines.texts import find_wrong_text, find_wrong_text_apart
from treaty.spark.engines.unfit_values import name_unfit
from treaty.spark.engines.wide_decimals import find_wide_number, has_wide_decimals, list_wide_fields
from treaty.spark.engines.wrapped_fields import PLANS_KEPT, wrap_fields
from treaty.spark.frames import map_frame_id

WRONG_TEXT = "_treaty_wrong_text"
"""The column that says whether a text of the envelope is no UTF-8."""
WIDE_NUMBER = "_treaty_wide_number"
"""The column that says whether a decimal of the envelope has too many digits; it is there where one can have them (see `wide_decimals`)."""
SEALED, REFUSED = "_treaty_sealed", "_treaty_refused"
"""The columns with what was read by sealed schemas, and whether the seal refuses a payload."""
TAIL = "_treaty_tail"
"""The column with the tail of what was read."""
LOST_TAIL = 0.0
"""The tail of a payload that is read and not sealed: no tail is this number, as its bytes are odd."""


@lru_cache(PLANS_KEPT)
def _fit_part(part: AvroFormatPlan) -> AvroFormatPlan:
    return nest_record(wrap_fields(part))


def fit_plan(plan: DecodePlan) -> DecodePlan:
    """The same plan with the record in one field of its envelope, so that no step names its fields one by one."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    return replace(plan, recipe=_fit_part(plan.recipe))


def make_ending_bytes(plan: DecodePlan) -> bytes:
    """The bytes that are put behind a payload, and come back unharmed only where it is whole."""
    return make_ending(read_avro_part(plan).ending, key=SECRET)


@lru_cache(PLANS_KEPT)
def _seal_part(part: AvroFormatPlan) -> SealedSchemas | None:
    return seal_schemas(wrap_fields(part), make_ending(part.ending, key=SECRET))


def _decode(frame: DataFrame, plan: DecodePlan, column: str) -> DataFrame:
    """The frame with what was read, its tail, and what is wrong with its values. `DECODED` is an envelope, and the record itself where sealed
    schemas read it.
    """
    assert isinstance(plan.recipe, AvroFormatPlan)
    value, sealed, plan = F.col(column), _seal_part(plan.recipe), fit_plan(plan)
    part, decoded = read_avro_part(plan), F.col(DECODED)
    if sealed:
        frame, reader_text = _decode_sealed(frame, plan, value, sealed), sealed.reader
        lost = F.when(decoded[sealed.sure].isNotNull(), LOST_TAIL)
        tail = F.when(F.col(REFUSED), lost).otherwise(F.lit(_read_ending(plan)))
    else:
        frame, reader_text = frame.withColumn(DECODED, barrier(decode_envelope(plan, value))), part.reader_text
        tail = decoded[part.tail]
    wrong_text, wide = find_wrong_text_apart(reader_text, decoded), find_wide_number(reader_text, decoded)
    # A step of its own: its columns are asked for in several places, and each of them would be planned with all texts of the record.
    # It has a barrier too, or a filter would test all texts once more.
    added = {TAIL: barrier(tail), WRONG_TEXT: F.lit(False) if wrong_text is None else wrong_text}
    return frame.withColumns(added if wide is None else {**added, WIDE_NUMBER: wide})


def _decode_sealed(frame: DataFrame, plan: DecodePlan, value: Column, sealed: SealedSchemas) -> DataFrame:
    """The frame with the records; a payload that the seal refuses is read once more without it, for the code of the row."""
    part, record = read_avro_part(plan), F.col(SEALED)
    schemas = replace(part, writer_text=sealed.writer, reader_text=sealed.reader)
    refused = record[sealed.sure].isNull()
    # One column of all fields at a time: Spark leaves steps of more than a hundred out of whole-stage code.
    decoded = barrier(F.when(refused, decode_envelope(plan, value)[part.whole]).otherwise(record))
    read = frame.withColumn(SEALED, barrier(_read_payload(plan, value, schemas, sealed.seal)))
    return read.withColumns({DECODED: decoded, REFUSED: refused}).drop(SEALED)


def decode_envelope(plan: DecodePlan, value: Column, reader: str = "") -> Column:
    """The envelope of the record, null or with a wrong tail for a bad row; `reader` is read in place of the plan's."""
    recipe = read_avro_part(plan)
    schemas = replace(recipe, reader_text=reader) if reader else recipe
    return _read_payload(plan, value, schemas, make_ending_bytes(plan))


def _read_payload(plan: DecodePlan, value: Column, schemas: AvroFormatPlan, ending: bytes) -> Column:
    """What two schemas read of a frame with these bytes behind it."""
    options = {"avroSchema": widen_decimals(schemas.reader_text), "mode": "PERMISSIVE"}
    if not schemas.union:
        # One shape: its frames are known, so the row itself is the payload and the frame its first field.
        heads = [make_header(one.schema_id) for one in plan.writers]
        of_schemas = F.startswith(value, F.lit(heads[0])) if len(heads) == 1 else F.substring(value, 1, 5).isin(heads)
        return F.when(of_schemas, from_avro(F.concat(value, F.lit(ending)), schemas.writer_text, options))
    numbers = {one.schema_id: encode_branch(schemas.branch(place)) for place, one in enumerate(plan.writers)}
    return from_avro(F.concat(map_frame_id(value, numbers), value, F.lit(ending)), schemas.writer_text, options)


def is_good_envelope(plan: DecodePlan, envelope: Column) -> Column:
    """Whether the tail of an envelope came back unharmed, all texts are UTF-8, all numbers have the digits of their decimals, all
    conversions have room, and none cuts digits.
    """
    part = read_avro_part(plan)
    text, tail = part.reader_text, envelope[part.tail]
    return _is_undamaged(plan, envelope, tail, find_wrong_text(text, envelope), find_wide_number(text, envelope))


def decode_record(plan: DecodePlan, value: Column) -> Column:
    """The record of a frame in one expression, null for a bad row.

    The envelope is the only item of a list, since a list's functions name an item without decoding it again.
    """
    fitted = fit_plan(plan)
    good = F.filter(F.array(decode_envelope(fitted, value)), lambda made: is_good_envelope(fitted, made))
    if read_avro_part(fitted).layouts:
        good = F.transform(good, lambda made: read_envelope(fitted, made, value))
        return F.get(good, F.lit(0))
    return read_envelope(fitted, F.get(good, F.lit(0)), value)


def _is_undamaged(
    plan: DecodePlan, envelope: Column, tail: Column, wrong_text: Column | None, wide_number: Column | None
) -> Column:
    faults = (wrong_text, wide_number, find_overflow(envelope, plan), find_lost_digits(envelope, plan))
    return join_conditions([_is_whole(plan, tail), *(~one for one in faults if one is not None)], Column.__and__)


def _is_whole(plan: DecodePlan, tail: Column) -> Column:
    """Whether a tail came back unharmed."""
    return tail.eqNullSafe(F.lit(_read_ending(plan)))


def _read_ending(plan: DecodePlan) -> float:
    """The bytes behind a payload as the tail of an envelope has them."""
    ending: float = unpack("<d", make_ending_bytes(plan))[0]
    return ending


def read_envelope(plan: DecodePlan, envelope: Column, value: Column) -> Column:
    """The record inside an envelope; `value` is the frame."""
    return _restore_decimals(plan, remove_hidden_fields(envelope, plan, value))


def _restore_decimals(plan: DecodePlan, record: Column) -> Column:
    """The record with the types of its columns, where its decimals were read with a digit more."""
    return record.try_cast(plan.engine_type) if has_wide_decimals(read_avro_part(plan).reader_text) else record


def _is_good(plan: DecodePlan) -> Column:
    """Whether a row is a record and nothing else."""
    plan = fit_plan(plan)
    return _is_undamaged(plan, F.col(DECODED), F.col(TAIL), F.col(WRONG_TEXT), _read_wide_number(plan))


def _read_wide_number(plan: DecodePlan) -> Column | None:
    """The column `WIDE_NUMBER`, where it is there."""
    return F.col(WIDE_NUMBER) if has_wide_decimals(read_avro_part(plan).reader_text) else None


def _is_read_bare(plan: DecodePlan) -> bool:
    """Whether `DECODED` is the record itself, and not an envelope."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    return _seal_part(plan.recipe) is not None


def _read_record(plan: DecodePlan, value: Column) -> Column:
    """The record that was read."""
    fitted = fit_plan(plan)
    return (
        _restore_decimals(fitted, F.col(DECODED))
        if _is_read_bare(plan)
        else read_envelope(fitted, F.col(DECODED), value)
    )


def _find_code(plan: DecodePlan, value: Column) -> Column:
    """MALFORMED where nothing came back, or a value that is none; INVALID where a value does not fit its column, or would lose digits;
    TRAILING where the tail is somewhere else.
    """
    tail = F.col(TAIL)
    code = F.when(tail.isNull(), F.when(_is_unfit(plan, value), "INVALID").otherwise("MALFORMED"))
    # A whole payload whose texts are good is bad for a conversion alone: that has no room for the value, or no place for its digits.
    return code.when(F.col(WRONG_TEXT), "MALFORMED").when(_is_whole(plan, tail), "INVALID").otherwise("TRAILING")


def _is_unfit(plan: DecodePlan, value: Column) -> Column:
    """Whether a payload that `from_avro` refuses is read without the logical types of values that may not fit their columns."""
    bare = strip_limits(read_avro_part(plan).reader_text)
    return _is_read_whole(plan, value, bare) if bare else F.lit(False)


def _is_read_whole(plan: DecodePlan, value: Column, reader: str) -> Column:
    """Whether a reader's envelope of a frame has its tail."""
    return _is_whole(plan, decode_envelope(plan, value, reader)[read_avro_part(plan).tail])


def _find_message(plan: DecodePlan, value: Column) -> Column:
    """Where a value is that does not fit its column; null for other rows."""
    recipe, tail = read_avro_part(plan), F.col(TAIL)
    message = F.lit(None).cast("string")
    if strip_limits(recipe.reader_text):
        text = strip_to_limits(recipe.reader_text, recipe.tail)
        envelope = decode_envelope(plan, value, text)
        # The fields alone that have limits may be read where the payload is not, so the code's own condition is asked too.
        is_unfit = tail.isNull() & _is_unfit(plan, value) & _is_whole(plan, envelope[recipe.tail])
        wide = _read_wide_number(plan)
        is_unfit = is_unfit if wide is None else is_unfit | (wide & ~F.col(WRONG_TEXT) & _is_whole(plan, tail))
        message = F.when(is_unfit, name_unfit(recipe.reader_text, recipe.tail, envelope))
    overflow = find_overflow(F.col(DECODED), fit_plan(plan))
    if overflow is None:
        return message
    return F.coalesce(message, F.when(overflow & ~F.col(WRONG_TEXT) & _is_whole(plan, tail), explain_overflow(recipe)))


def _is_well_formed(plan: DecodePlan, value: Column) -> Column:
    """Whether a frame of which nothing came back is well formed: its payload is passed over, and nothing but the tail
    is read.
    """
    plan = fit_plan(plan)
    tail = {"name": read_avro_part(plan).tail, "type": "double"}
    reader = {"type": "record", "name": "Envelope", "namespace": "treaty", "fields": [tail]}
    return F.col(TAIL).isNull() & ~_is_unfit(plan, value) & _is_read_whole(plan, value, json.dumps(reader))


def _find_fields(plan: DecodePlan) -> FieldReader | None:
    """What reads a field of what was read. None where the record is made of parts of it."""
    recipe, types = read_avro_part(fit_plan(plan)), dict(plan.engine_columns)
    if recipe.layouts or recipe.cuts:
        return None
    record = F.col(DECODED) if _is_read_bare(plan) else F.col(DECODED)[recipe.whole]
    wide = list_wide_fields(recipe.reader_text)
    return lambda name: record[name].try_cast(types[name]) if name in wide else record[name]


SPARK_AVRO = DecodeEngine(_decode, _is_good, _read_record, _find_code, _find_message, _is_well_formed, _find_fields)
