"""Spark's own `from_avro`, one call for any number of writers."""

import json
from functools import reduce
from struct import unpack

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.plan.avro.envelope import encode_branch, make_ending, make_header
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.value import DecodePlan
from treaty.spark.engines.engine import DECODED, SECRET, Engine, barrier
from treaty.spark.engines.repair import find_overflow, repaired
from treaty.spark.engines.texts import find_wrong_text
from treaty.spark.frames import looked_up


def recipe_of(plan: DecodePlan) -> AvroFormatPlan:
    """What an Avro plan holds for Avro only."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    return plan.recipe


def ending_of(plan: DecodePlan) -> bytes:
    """The bytes that are put behind a payload, and come back unharmed only where it is whole."""
    return make_ending(recipe_of(plan).ending, key=SECRET)


def _decoded(frame: DataFrame, plan: DecodePlan, column: str) -> DataFrame:
    return frame.withColumn(DECODED, barrier(envelope(plan, F.col(column))))


def envelope(plan: DecodePlan, value: Column, reader: str = "") -> Column:
    """The envelope of the record, null or with a wrong tail for a bad row; `reader` is read in place of the plan's."""
    recipe = recipe_of(plan)
    options = {"avroSchema": reader or recipe.reader_text, "mode": "PERMISSIVE"}
    if not recipe.union:
        # One shape: its frames are known, so the row itself is the payload and the frame its first field.
        heads = [make_header(one.schema_id) for one in plan.writers]
        mine = F.startswith(value, F.lit(heads[0])) if len(heads) == 1 else F.substring(value, 1, 5).isin(heads)
        return F.when(mine, from_avro(F.concat(value, F.lit(ending_of(plan))), recipe.writer_text, options))
    numbers = {one.schema_id: encode_branch(recipe.branch(place)) for place, one in enumerate(plan.writers)}
    return from_avro(F.concat(looked_up(value, numbers), value, F.lit(ending_of(plan))), recipe.writer_text, options)


def good_envelope(plan: DecodePlan, made: Column) -> Column:
    """Whether the tail of an envelope came back unharmed, all texts are UTF-8, and all conversions have room."""
    wrong = (find_wrong_text(recipe_of(plan).reader_text, made), find_overflow(made, plan))
    return reduce(Column.__and__, (~one for one in wrong if one is not None), _has_tail(plan, made))


def _has_tail(plan: DecodePlan, made: Column) -> Column:
    return made[recipe_of(plan).tail].eqNullSafe(F.lit(unpack("<d", ending_of(plan))[0]))


def record_of(plan: DecodePlan, made: Column, value: Column) -> Column:
    """The record inside an envelope; `value` is the frame."""
    return repaired(made, plan, value)


def good(plan: DecodePlan) -> Column:
    """Whether a row is a record and nothing else."""
    return good_envelope(plan, F.col(DECODED))


def record(plan: DecodePlan, value: Column) -> Column:
    """The record inside an envelope."""
    return record_of(plan, F.col(DECODED), value)


def failed(plan: DecodePlan) -> Column:
    """MALFORMED where nothing came back, or a value that is none; TRAILING where the tail is somewhere else."""
    made = F.col(DECODED)
    malformed = made[recipe_of(plan).tail].isNull() | _has_tail(plan, made)
    wrong = find_wrong_text(recipe_of(plan).reader_text, made)
    return F.when(malformed if wrong is None else malformed | wrong, "MALFORMED").otherwise("TRAILING")


def whole(plan: DecodePlan, value: Column) -> Column:
    """Whether a frame of which nothing came back is well formed: its payload is passed over, and nothing but the tail is read."""
    tail = {"name": recipe_of(plan).tail, "type": "double"}
    reader = {"type": "record", "name": "Envelope", "namespace": "treaty", "fields": [tail]}
    lost = F.col(DECODED)[recipe_of(plan).tail].isNull()
    return lost & _has_tail(plan, envelope(plan, value, json.dumps(reader)))


BUILTIN = Engine(_decoded, good, record, failed, whole=whole)
