"""Spark's own `from_avro`, one call for any number of writers, and the repair of fields that came through a hidden
field.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from struct import unpack

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.plan.avro.envelope import encode_branch, make_ending, make_header, nest_record
from treaty.plan.format_plans import AvroFormatPlan, FieldRepair, RepairedRecord
from treaty.plan.value import DecodePlan
from treaty.spark.engines.empty_lists import INSIDE, wrap_empty_lists
from treaty.spark.engines.engine import DECODED, SECRET, DecodeEngine, barrier, join_conditions
from treaty.spark.engines.texts import find_wrong_text
from treaty.spark.frames import map_frame_id


def remove_hidden_fields(envelope: Column, plan: DecodePlan, value: Column) -> Column:
    """The record of an envelope, without hidden fields; `value` is the frame, whose id says which field counts."""
    recipe = read_avro_part(plan)
    mender = _RecordRepair(recipe, value)
    if recipe.whole:
        return mender.at(envelope[recipe.whole], ())
    return F.struct(*(mender.field(envelope, (), name).alias(name) for name, _ in plan.engine_columns))


@dataclass(frozen=True, slots=True)
class _RecordRepair:
    recipe: AvroFormatPlan
    value: Column

    def at(self, part: Column, path: tuple[str, ...]) -> Column:
        """The part of a record at `path`, rebuilt if something in it or below it is repaired."""
        below = [one for one in self.recipe.layouts if one.path[: len(path)] == path]
        if not below:
            return part
        layout = next((one for one in below if one.path == path), None)
        if layout is not None and not layout.fields:
            return self.at(part[INSIDE], (*path, INSIDE))
        if layout is not None:
            fields = [self.field(part, path, name).alias(name) for name in layout.fields]
            return F.when(part.isNotNull(), F.struct(*fields))
        steps = {one.path[len(path)] for one in below}
        if steps == {"[]"}:
            return F.transform(part, lambda item: self.at(item, (*path, "[]")))
        if steps == {"{}"}:
            return F.transform_values(part, lambda _, item: self.at(item, (*path, "{}")))
        for step in sorted(steps):  # members of a union
            part = F.when(part.isNotNull(), part.withField(step, self.at(part[step], (*path, step))))
        return part

    def field(self, record: Column, path: tuple[str, ...], name: str) -> Column:
        """One field of a record: from its hidden field for the writers that fill that one."""
        place = (*path, name)
        chosen = self.at(record[name], place)
        inside = (*place, INSIDE) if RepairedRecord(place, ()) in self.recipe.layouts else place
        for one in self.recipe.repairs:
            if one.path == path and one.field == name:
                mine = F.substring(self.value, 1, 5).isin([make_header(number) for number in one.ids])
                hidden = self.at(record[one.hidden], inside)
                chosen = F.when(mine, convert_hidden(hidden, one)).otherwise(chosen)
        return chosen


def convert_hidden(hidden: Column, one: FieldRepair) -> Column:
    """The value of a hidden field as the type of the field it stands for.

    Spark reads both units of a timestamp as the same type, and a cast gives a decimal its scale; what Spark reads as a
    plain number (times of day, nanoseconds) is counted over.
    """
    old, new = one.how.split(",")[0].split(":")[:2]
    if "nanos" not in old + new and not old.startswith("time-"):
        return hidden.cast(one.type)
    return _convert_each(hidden, one.type, lambda leaf: _change_unit(leaf, old, new))


def _convert_each(column: Column, kind: str, change: Callable[[Column], Column]) -> Column:
    if kind.startswith("ARRAY<"):
        return F.transform(column, lambda item: _convert_each(item, kind[6:-1], change))
    if kind.startswith("MAP<STRING, "):
        return F.transform_values(column, lambda _, item: _convert_each(item, kind[12:-1], change))
    return change(column)


def _change_unit(leaf: Column, old: str, new: str) -> Column:
    if old.startswith("time-"):
        return leaf.cast("bigint") * 1000 if new == "time-micros" else _divide_by_thousand(leaf).cast("int")
    if old.endswith("nanos"):
        instant = F.timestamp_micros(_divide_by_thousand(leaf))
        return instant.cast("timestamp_ntz") if new.startswith("local") else instant
    return F.unix_micros(leaf.cast("timestamp")) * 1000


def _divide_by_thousand(leaf: Column) -> Column:
    """A whole number's thousandth, rounded down. Spark's `/` goes through doubles, which lose a microsecond of today's
    nanoseconds.
    """
    whole = leaf.cast("bigint")
    return F.call_function("div", whole - F.pmod(whole, F.lit(1000)), F.lit(1000))


MOST = (2**63 - 1) // 1000
"""Microseconds beyond these are no nanoseconds of 64 bits: Spark would end the job, and not the row."""


def find_overflow(envelope: Column, plan: DecodePlan) -> Column | None:
    """Whether a hidden field holds a number that its conversion has no room for; never null. None where none can."""
    recipe = read_avro_part(plan)
    whole = recipe.whole
    record = envelope[whole] if whole else envelope
    found = [
        _any_at(record, one.path, lambda owner, one=one: _any_leaf(owner[one.hidden], one.type, _exceeds))  # type: ignore[misc]  # of this turn
        for one in recipe.repairs
        if one.how.split(",")[0].split(":")[1].endswith("nanos")
    ]
    return join_conditions(found, Column.__or__) if found else None


def find_lost_digits(envelope: Column, plan: DecodePlan) -> Column | None:
    """Whether a hidden field holds a time with digits that its conversion would cut; never null. None where none can."""
    recipe = read_avro_part(plan)
    whole = recipe.whole
    record = envelope[whole] if whole else envelope
    found = [
        _any_at(record, one.path, lambda owner, one=one: _any_leaf(owner[one.hidden], one.type, _has_rest))  # type: ignore[misc]  # of this turn
        for one in recipe.exact_repairs
    ]
    return join_conditions(found, Column.__or__) if found else None


def _any_at(part: Column, path: tuple[str, ...], test: Callable[[Column], Column]) -> Column:
    """Whether the test holds for a record at the path."""
    if not path:
        return test(part)
    if path[0] in {"[]", "{}"}:
        items = part if path[0] == "[]" else F.map_values(part)
        return F.coalesce(F.exists(items, lambda item: _any_at(item, path[1:], test)), F.lit(False))
    return _any_at(part[path[0]], path[1:], test)


def _any_leaf(hidden: Column, kind: str, test: Callable[[Column], Column]) -> Column:
    """Whether the test holds for a number in lists and maps; null counts as no."""
    if kind.startswith("ARRAY<"):
        found = F.exists(hidden, lambda item: _any_leaf(item, kind[6:-1], test))
    elif kind.startswith("MAP<STRING, "):
        found = F.exists(F.map_values(hidden), lambda item: _any_leaf(item, kind[12:-1], test))
    else:
        found = test(hidden)
    return F.coalesce(found, F.lit(False))


def _exceeds(leaf: Column) -> Column:
    micros = F.unix_micros(leaf.cast("timestamp"))
    return (micros > MOST) | (micros < -MOST)


def _has_rest(leaf: Column) -> Column:
    return F.pmod(leaf.cast("bigint"), F.lit(1000)) != 0


WRONG_TEXT = "_treaty_wrong_text"
"""The column that says whether a text of the envelope is no UTF-8."""


def read_avro_part(plan: DecodePlan) -> AvroFormatPlan:
    """What an Avro plan holds for Avro only, with fields in records of their own where Spark's Avro needs that."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    return wrap_empty_lists(plan.recipe)


def make_ending_bytes(plan: DecodePlan) -> bytes:
    """The bytes that are put behind a payload, and come back unharmed only where it is whole."""
    return make_ending(read_avro_part(plan).ending, key=SECRET)


def _decode(frame: DataFrame, plan: DecodePlan, column: str) -> DataFrame:
    decoded = frame.withColumn(DECODED, barrier(decode_envelope(plan, F.col(column))))
    wrong = find_wrong_text(read_avro_part(plan).reader_text, F.col(DECODED))
    # A step of its own: it is asked for in several places, and each of them would be planned with all texts of the record.
    return decoded.withColumn(WRONG_TEXT, F.lit(False) if wrong is None else wrong)


def decode_envelope(plan: DecodePlan, value: Column, reader: str = "") -> Column:
    """The envelope of the record, null or with a wrong tail for a bad row; `reader` is read in place of the plan's."""
    recipe = read_avro_part(plan)
    options = {"avroSchema": reader or recipe.reader_text, "mode": "PERMISSIVE"}
    if not recipe.union:
        # One shape: its frames are known, so the row itself is the payload and the frame its first field.
        heads = [make_header(one.schema_id) for one in plan.writers]
        mine = F.startswith(value, F.lit(heads[0])) if len(heads) == 1 else F.substring(value, 1, 5).isin(heads)
        return F.when(mine, from_avro(F.concat(value, F.lit(make_ending_bytes(plan))), recipe.writer_text, options))
    numbers = {one.schema_id: encode_branch(recipe.branch(place)) for place, one in enumerate(plan.writers)}
    return from_avro(
        F.concat(map_frame_id(value, numbers), value, F.lit(make_ending_bytes(plan))), recipe.writer_text, options
    )


def is_good_envelope(plan: DecodePlan, made: Column) -> Column:
    """Whether the tail of an envelope came back unharmed, all texts are UTF-8, all conversions have room, and none cuts
    digits.
    """
    return _is_undamaged(plan, made, find_wrong_text(read_avro_part(plan).reader_text, made))


def decode_record(plan: DecodePlan, value: Column) -> Column:
    """The record of a frame in one expression, null for a bad row.

    The envelope is the only item of a list, since a list's functions name an item without decoding it again.
    """
    recipe = nest_record(read_avro_part(plan))
    nested = replace(plan, recipe=recipe)
    good = F.filter(F.array(decode_envelope(nested, value)), lambda made: is_good_envelope(nested, made))
    if recipe.layouts:
        good = F.transform(good, lambda made: read_envelope(nested, made, value))
        return F.get(good, F.lit(0))
    return read_envelope(nested, F.get(good, F.lit(0)), value)


def _is_undamaged(plan: DecodePlan, made: Column, wrong_text: Column | None) -> Column:
    wrong = (wrong_text, find_overflow(made, plan), find_lost_digits(made, plan))
    return join_conditions([_has_tail(plan, made), *(~one for one in wrong if one is not None)], Column.__and__)


def _has_tail(plan: DecodePlan, made: Column) -> Column:
    return made[read_avro_part(plan).tail].eqNullSafe(F.lit(unpack("<d", make_ending_bytes(plan))[0]))


def read_envelope(plan: DecodePlan, made: Column, value: Column) -> Column:
    """The record inside an envelope; `value` is the frame."""
    return remove_hidden_fields(made, plan, value)


def _is_good(plan: DecodePlan) -> Column:
    """Whether a row is a record and nothing else."""
    return _is_undamaged(plan, F.col(DECODED), F.col(WRONG_TEXT))


def _read_record(plan: DecodePlan, value: Column) -> Column:
    """The record inside an envelope."""
    return read_envelope(plan, F.col(DECODED), value)


def _find_code(plan: DecodePlan) -> Column:
    """MALFORMED where nothing came back, or a value that is none; INVALID where digits would be lost; TRAILING where
    the tail is somewhere else.
    """
    made = F.col(DECODED)
    lost, intact = find_lost_digits(made, plan), _has_tail(plan, made)
    if lost is not None:
        intact = intact & ~lost
    malformed = join_conditions([made[read_avro_part(plan).tail].isNull(), intact, F.col(WRONG_TEXT)], Column.__or__)
    code = F.when(malformed, "MALFORMED")
    return (code if lost is None else code.when(_has_tail(plan, made), "INVALID")).otherwise("TRAILING")


def _is_well_formed(plan: DecodePlan, value: Column) -> Column:
    """Whether a frame of which nothing came back is well formed: its payload is passed over, and nothing but the tail
    is read.
    """
    tail = {"name": read_avro_part(plan).tail, "type": "double"}
    reader = {"type": "record", "name": "Envelope", "namespace": "treaty", "fields": [tail]}
    lost = F.col(DECODED)[read_avro_part(plan).tail].isNull()
    return lost & _has_tail(plan, decode_envelope(plan, value, json.dumps(reader)))


SPARK_AVRO = DecodeEngine(_decode, _is_good, _read_record, _find_code, is_well_formed=_is_well_formed)
