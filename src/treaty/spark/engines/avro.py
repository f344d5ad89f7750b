"""Spark's own `from_avro`, one call for any number of writers, and the repair of fields that came through a hidden
field.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from struct import unpack

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.plan.avro.conversions import LeafConversion, explain_overflow, list_conversions, list_places, must_be_exact
from treaty.plan.avro.envelope import encode_branch, make_ending, make_header, nest_record
from treaty.plan.avro.limited import strip_limits, strip_to_limits, widen_decimals
from treaty.plan.avro.logical import WALLS
from treaty.plan.avro.sealed import SealedSchemas, seal_schemas
from treaty.plan.format_plans import AvroFormatPlan, CutUnion, FieldRepair, RepairedRecord
from treaty.plan.value import DecodePlan
from treaty.spark.engines.engine import DECODED, SECRET, DecodeEngine, FieldReader, barrier, join_conditions
from treaty.spark.engines.texts import find_wrong_text, find_wrong_text_apart
from treaty.spark.engines.unfit_values import name_unfit
from treaty.spark.engines.wide_decimals import find_wide_number, has_wide_decimals
from treaty.spark.engines.wrapped_fields import INSIDE, PLANS_KEPT, wrap_fields
from treaty.spark.frames import map_frame_id


def remove_hidden_fields(envelope: Column, plan: DecodePlan, value: Column) -> Column:
    """The record of an envelope, without hidden fields; `value` is the frame, whose id says which field counts."""
    recipe = read_avro_part(plan)
    mender = _RecordRepair(recipe, value, list_conversions(recipe))
    if recipe.whole:
        return mender.at(envelope[recipe.whole], ())
    return F.struct(*(mender.field(envelope, (), name).alias(name) for name, _ in plan.engine_columns))


@dataclass(frozen=True, slots=True)
class _RecordRepair:
    recipe: AvroFormatPlan
    value: Column
    conversions: Mapping[FieldRepair, Sequence[LeafConversion]]

    def at(self, part: Column, path: tuple[str, ...]) -> Column:
        """The part of a record at `path`, rebuilt if something in it or below it is repaired."""
        cut = next((one for one in self.recipe.cuts if one.path == path), None)
        return self.rebuild(part, path) if cut is None else _drop_deeper(self.rebuild(part, path), cut)

    def rebuild(self, part: Column, path: tuple[str, ...]) -> Column:
        """The part with all repairs in it and below it; a union still has the members that lie beyond the depth."""
        below = [one for one in self.recipe.layouts if one.path[: len(path)] == path]
        paths = [*(one.path for one in below), *(one.path for one in self.recipe.cuts)]
        inner = [one for one in paths if one[: len(path)] == path != one]
        if not below and not inner:
            return part
        layout = next((one for one in below if one.path == path), None)
        if layout is not None and not layout.fields:
            (default,) = (one for one in self.recipe.defaults if one.path == path)
            missing = from_avro(F.lit(bytes.fromhex(default.value)), widen_decimals(default.schema))[INSIDE]
            return F.when(part.isNull(), missing).otherwise(self.at(part[INSIDE], (*path, INSIDE)))
        if layout is not None:
            fields = [self.field(part, path, name).alias(name) for name in layout.fields]
            return F.when(part.isNotNull(), F.struct(*fields))
        steps = {one[len(path)] for one in inner}
        return _rebuild(part, steps, lambda item, step: self.at(item, (*path, step)))

    def field(self, record: Column, path: tuple[str, ...], name: str) -> Column:
        """One field of a record: from its hidden field for the writers that fill that one."""
        place = (*path, name)
        chosen = self.at(record[name], place)
        inside = (*place, INSIDE) if RepairedRecord(place, ()) in self.recipe.layouts else place
        for repair in self.recipe.repairs:
            if repair.path == path and repair.field == name:
                of_repair = F.substring(self.value, 1, 5).isin([make_header(number) for number in repair.ids])
                hidden = self.at(record[repair.hidden], inside)
                chosen = F.when(of_repair, convert_hidden(hidden, self.conversions[repair])).otherwise(chosen)
        return chosen


def _drop_deeper(part: Column, cut: CutUnion) -> Column:
    """The column of a union without the members that lie beyond the depth: null for a value of these."""
    members = [f"member{place}" for place in range(cut.kept)]
    if cut.number:
        return F.coalesce(*(part[name].cast(cut.number) for name in members))
    if cut.kept == 1:
        return part[members[0]]
    some = join_conditions([part[name].isNotNull() for name in members], Column.__or__)
    return F.when(some, F.struct(*(part[name].alias(name) for name in members)))


def _rebuild(part: Column, steps: Iterable[str], change: Callable[[Column, str], Column]) -> Column:
    """A list, a map, or the struct of a choice with changes: `change` gets an item or member, and the step that leads to it."""
    if set(steps) == {"[]"}:
        return F.transform(part, lambda item: change(item, "[]"))
    if set(steps) == {"{}"}:
        return F.transform_values(part, lambda _, item: change(item, "{}"))
    rebuilt = part
    for step in sorted(steps):
        rebuilt = rebuilt.withField(step, change(part[step], step))
    return F.when(part.isNotNull(), rebuilt)


def convert_hidden(hidden: Column, conversions: Sequence[LeafConversion], depth: int = 0) -> Column:
    """The value of a hidden field, or a part of it at this depth, as the type of the field it stands for."""
    if len(conversions[0].path) == depth:
        return _convert_leaf(hidden, conversions[0])
    below: dict[str, list[LeafConversion]] = {}
    for conversion in conversions:
        below.setdefault(conversion.path[depth], []).append(conversion)
    return _rebuild(hidden, below, lambda part, step: convert_hidden(part, below[step], depth + 1))


def _convert_leaf(leaf: Column, conversion: LeafConversion) -> Column:
    """A value in the unit or with the digits of the new type.

    Spark reads both coarser units of an instant as the same type, and a cast gives a decimal its scale; what Spark
    reads as a plain number (times of day, nanoseconds) is counted over.
    """
    old, new = conversion.old.name, conversion.new.name
    if new == "decimal":
        return leaf.try_cast(f"{conversion.new}")  # of a bad row with more digits than the type has, too
    if old.startswith("time-"):
        return leaf.cast("bigint") * 1000 if new == "time-micros" else _divide_by_thousand(leaf).cast("int")
    if conversion.divides:
        micros = _divide_by_thousand(leaf)
        return F.expr(EPOCH) + micros * F.expr(MICROSECOND) if old in WALLS else F.timestamp_micros(micros)
    return _count_micros(leaf, conversion) * 1000 if conversion.multiplies else leaf


EPOCH, MICROSECOND = "TIMESTAMP_NTZ'1970-01-01 00:00:00'", "INTERVAL '0.000001' SECOND"
"""Times of no zone are counted from the one by the other: a cast from or to an instant would take the zone of the session."""


def _count_micros(leaf: Column, conversion: LeafConversion) -> Column:
    if conversion.old.name not in WALLS:
        return F.unix_micros(leaf)
    return ((leaf - F.expr(EPOCH)).cast("interval second").cast("decimal(20, 6)") * 1_000_000).cast("bigint")


def _divide_by_thousand(leaf: Column) -> Column:
    """A whole number's thousandth, rounded down. Spark's `/` goes through doubles, which lose a microsecond of today's
    nanoseconds.
    """
    number = leaf.cast("bigint")
    return F.call_function("div", number - F.pmod(number, F.lit(1000)), F.lit(1000))


MOST = (2**63 - 1) // 1000
"""Microseconds beyond these are no nanoseconds of 64 bits: Spark would end the job, and not the row."""


Test = Callable[[Column], Column]
"""From a leaf to whether it is wrong."""


def find_overflow(envelope: Column, plan: DecodePlan) -> Column | None:
    """Whether a hidden field holds a number that its conversion has no room for; never null. None where none can."""
    return _find_leaf(envelope, plan, lambda one: partial(_exceeds, one) if one.multiplies else None)


def find_lost_digits(envelope: Column, plan: DecodePlan) -> Column | None:
    """Whether a hidden field holds a time with digits that its conversion would cut; never null. None where none can."""
    recipe = read_avro_part(plan)
    return _find_leaf(envelope, plan, lambda one: _has_rest if must_be_exact(recipe, one) else None)


def _exceeds(conversion: LeafConversion, leaf: Column) -> Column:
    micros = _count_micros(leaf, conversion)
    return (micros > MOST) | (micros < -MOST)


def _has_rest(leaf: Column) -> Column:
    return F.pmod(leaf, F.lit(1000)) != 0


def _find_leaf(envelope: Column, plan: DecodePlan, choose: Callable[[LeafConversion], Test | None]) -> Column | None:
    """Whether some leaf is wrong by the test that is chosen for its conversion; None where there is no test."""
    recipe = read_avro_part(plan)
    record, places = envelope[recipe.whole] if recipe.whole else envelope, list_places(recipe)
    tests = [
        _any_at(record, (*place, repair.hidden, *one.path), test)
        for repair, leaves in list_conversions(recipe).items()
        for one in leaves
        if (test := choose(one)) is not None
        for place in dict.fromkeys(places[repair].values())
    ]
    return join_conditions(tests, Column.__or__) if tests else None


def _any_at(part: Column, path: Sequence[str], test: Test) -> Column:
    """Whether the test holds for a value at the path; null counts as no."""
    if not path:
        return F.coalesce(test(part), F.lit(False))
    if path[0] in {"[]", "{}"}:
        items = part if path[0] == "[]" else F.map_values(part)
        return F.coalesce(F.exists(items, lambda item: _any_at(item, path[1:], test)), F.lit(False))
    return _any_at(part[path[0]], path[1:], test)


WRONG_TEXT = "_treaty_wrong_text"
"""The column that says whether a text of the envelope is no UTF-8."""
WIDE_NUMBER = "_treaty_wide_number"
"""The column that says whether a decimal of the envelope has too many digits; it is there where one can have them (see `wide_decimals`)."""
SEALED = "_treaty_sealed"
"""The column with what was read by sealed schemas."""


def read_avro_part(plan: DecodePlan) -> AvroFormatPlan:
    """What an Avro plan holds for Avro only, with fields in records of their own where Spark's Avro needs that."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    return wrap_fields(plan.recipe)


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
    assert isinstance(plan.recipe, AvroFormatPlan)
    value, sealed, plan = F.col(column), _seal_part(plan.recipe), fit_plan(plan)
    if sealed:
        decoded = _decode_sealed(frame, plan, value, sealed)
    else:
        decoded = frame.withColumn(DECODED, barrier(decode_envelope(plan, value)))
    wrong_text = find_wrong_text_apart(read_avro_part(plan).reader_text, F.col(DECODED))
    # A step of its own: it is asked for in several places, and each of them would be planned with all texts of the record.
    decoded = decoded.withColumn(WRONG_TEXT, F.lit(False) if wrong_text is None else wrong_text)
    wide = find_wide_number(read_avro_part(plan).reader_text, F.col(DECODED))
    return decoded if wide is None else decoded.withColumn(WIDE_NUMBER, wide)


def _decode_sealed(frame: DataFrame, plan: DecodePlan, value: Column, sealed: SealedSchemas) -> DataFrame:
    """The frame with the envelopes; a payload that the seal refuses is read once more, for its tail."""
    recipe, record = read_avro_part(plan), F.col(SEALED)
    schemas = replace(recipe, writer_text=sealed.writer, reader_text=sealed.reader)
    read = frame.withColumn(SEALED, barrier(_read_payload(plan, value, schemas, sealed.seal)))
    with_tail = F.struct(record.alias(recipe.whole), F.lit(_read_ending(plan)).alias(recipe.tail))
    # One column of all fields at a time: Spark leaves steps of more than a hundred out of whole-stage code.
    envelope = F.when(record[sealed.sure].isNull(), decode_envelope(plan, value)).otherwise(with_tail)
    return read.withColumn(DECODED, barrier(envelope)).drop(SEALED)


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
    text = read_avro_part(plan).reader_text
    return _is_undamaged(plan, envelope, find_wrong_text(text, envelope), find_wide_number(text, envelope))


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


def _is_undamaged(plan: DecodePlan, envelope: Column, wrong_text: Column | None, wide_number: Column | None) -> Column:
    faults = (wrong_text, wide_number, find_overflow(envelope, plan), find_lost_digits(envelope, plan))
    return join_conditions([_has_tail(plan, envelope), *(~one for one in faults if one is not None)], Column.__and__)


def _has_tail(plan: DecodePlan, envelope: Column) -> Column:
    return envelope[read_avro_part(plan).tail].eqNullSafe(F.lit(_read_ending(plan)))


def _read_ending(plan: DecodePlan) -> float:
    """The bytes behind a payload as the tail of an envelope has them."""
    ending: float = unpack("<d", make_ending_bytes(plan))[0]
    return ending


def read_envelope(plan: DecodePlan, envelope: Column, value: Column) -> Column:
    """The record inside an envelope; `value` is the frame."""
    record = remove_hidden_fields(envelope, plan, value)
    return record.try_cast(plan.engine_type) if has_wide_decimals(read_avro_part(plan).reader_text) else record


def _is_good(plan: DecodePlan) -> Column:
    """Whether a row is a record and nothing else."""
    plan = fit_plan(plan)
    return _is_undamaged(plan, F.col(DECODED), F.col(WRONG_TEXT), _read_wide_number(plan))


def _read_wide_number(plan: DecodePlan) -> Column | None:
    """The column `WIDE_NUMBER`, where it is there."""
    return F.col(WIDE_NUMBER) if has_wide_decimals(read_avro_part(plan).reader_text) else None


def _read_record(plan: DecodePlan, value: Column) -> Column:
    """The record inside an envelope."""
    return read_envelope(fit_plan(plan), F.col(DECODED), value)


def _find_code(plan: DecodePlan, value: Column) -> Column:
    """MALFORMED where nothing came back, or a value that is none; INVALID where a value does not fit its column, or would lose digits;
    TRAILING where the tail is somewhere else.
    """
    envelope = F.col(DECODED)
    code = F.when(
        envelope[read_avro_part(plan).tail].isNull(), F.when(_is_unfit(plan, value), "INVALID").otherwise("MALFORMED")
    )
    # A whole payload whose texts are good is bad for a conversion alone: that has no room for the value, or no place for its digits.
    return code.when(F.col(WRONG_TEXT), "MALFORMED").when(_has_tail(plan, envelope), "INVALID").otherwise("TRAILING")


def _is_unfit(plan: DecodePlan, value: Column) -> Column:
    """Whether a payload that `from_avro` refuses is read without the logical types of values that may not fit their columns."""
    bare = strip_limits(read_avro_part(plan).reader_text)
    return _has_tail(plan, decode_envelope(plan, value, bare)) if bare else F.lit(False)


def _find_message(plan: DecodePlan, value: Column) -> Column:
    """Where a value is that does not fit its column; null for other rows."""
    recipe, decoded = read_avro_part(plan), F.col(DECODED)
    message = F.lit(None).cast("string")
    if strip_limits(recipe.reader_text):
        text = strip_to_limits(recipe.reader_text, recipe.tail)
        envelope = decode_envelope(plan, value, text)
        # The fields alone that have limits may be read where the payload is not, so the code's own condition is asked too.
        is_unfit = decoded[recipe.tail].isNull() & _is_unfit(plan, value) & _has_tail(plan, envelope)
        wide = _read_wide_number(plan)
        is_unfit = is_unfit if wide is None else is_unfit | (wide & ~F.col(WRONG_TEXT) & _has_tail(plan, decoded))
        message = F.when(is_unfit, name_unfit(recipe.reader_text, recipe.tail, envelope))
    overflow = find_overflow(decoded, fit_plan(plan))
    if overflow is None:
        return message
    return F.coalesce(
        message, F.when(overflow & ~F.col(WRONG_TEXT) & _has_tail(plan, decoded), explain_overflow(recipe))
    )


def _is_well_formed(plan: DecodePlan, value: Column) -> Column:
    """Whether a frame of which nothing came back is well formed: its payload is passed over, and nothing but the tail
    is read.
    """
    plan = fit_plan(plan)
    tail = {"name": read_avro_part(plan).tail, "type": "double"}
    reader = {"type": "record", "name": "Envelope", "namespace": "treaty", "fields": [tail]}
    lost = F.col(DECODED)[read_avro_part(plan).tail].isNull()
    return lost & ~_is_unfit(plan, value) & _has_tail(plan, decode_envelope(plan, value, json.dumps(reader)))


def _find_fields(plan: DecodePlan) -> FieldReader | None:
    """What reads a field out of its envelope. None where the record is made of parts of it."""
    recipe, types = read_avro_part(fit_plan(plan)), dict(plan.engine_columns)
    if recipe.layouts or recipe.cuts:
        return None
    record, has_wide = F.col(DECODED)[recipe.whole], has_wide_decimals(recipe.reader_text)
    return lambda name: record[name].try_cast(types[name]) if has_wide else record[name]


SPARK_AVRO = DecodeEngine(_decode, _is_good, _read_record, _find_code, _find_message, _is_well_formed, _find_fields)
