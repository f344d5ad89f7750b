"""Records of Avro put together from what was read, and the repair of fields that came through a hidden field."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from treaty.plan.avro.converted_leaves import LeafConversion, list_conversions, list_places, must_be_exact
from treaty.plan.avro.envelope import make_header
from treaty.plan.avro.limited import widen_decimals
from treaty.plan.avro.logical_types import WALLS
from treaty.plan.format_plans import AvroFormatPlan, CutUnion, FieldRepair, RepairedRecord
from treaty.plan.value import DecodePlan
from treaty.spark.engines.engine import join_conditions
from treaty.spark.engines.wrapped_fields import INSIDE, wrap_fields


def read_avro_part(plan: DecodePlan) -> AvroFormatPlan:
    """What an Avro plan holds for Avro only, with fields in records of their own where Spark's Avro needs that."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    return wrap_fields(plan.recipe)


def remove_hidden_fields(envelope: Column, plan: DecodePlan, value: Column) -> Column:
    """The record of an envelope, without hidden fields; `value` is the frame, whose id says which field counts."""
    recipe = read_avro_part(plan)
    mender = _RecordRepair(recipe, value, list_conversions(recipe))
    if recipe.whole:
        return mender.repair_part(envelope[recipe.whole], ())
    return F.struct(*(mender.field(envelope, (), name).alias(name) for name, _ in plan.engine_columns))


@dataclass(frozen=True, slots=True)
class _RecordRepair:
    recipe: AvroFormatPlan
    value: Column
    conversions: Mapping[FieldRepair, Sequence[LeafConversion]]

    def repair_part(self, part: Column, path: tuple[str, ...]) -> Column:
        """The part of a record at `path`, rebuilt if something in it or below it is repaired."""
        cut = next((cut for cut in self.recipe.cuts if cut.path == path), None)
        return self.rebuild(part, path) if cut is None else _drop_deeper(self.rebuild(part, path), cut)

    def rebuild(self, part: Column, path: tuple[str, ...]) -> Column:
        """The part with all repairs in it and below it; a union still has the members that lie beyond the depth."""
        below = [layout for layout in self.recipe.layouts if layout.path[: len(path)] == path]
        paths = [*(layout.path for layout in below), *(cut.path for cut in self.recipe.cuts)]
        inner = [other for other in paths if other[: len(path)] == path != other]
        if not below and not inner:
            return part
        layout = next((layout for layout in below if layout.path == path), None)
        if layout is not None and not layout.fields:
            (default,) = (default for default in self.recipe.defaults if default.path == path)
            missing = from_avro(F.lit(bytes.fromhex(default.value)), widen_decimals(default.schema))[INSIDE]
            return F.when(part.isNull(), missing).otherwise(self.repair_part(part[INSIDE], (*path, INSIDE)))
        if layout is not None:
            fields = [self.field(part, path, name).alias(name) for name in layout.fields]
            return F.when(part.isNotNull(), F.struct(*fields))
        steps = {other[len(path)] for other in inner}
        return _rebuild(part, steps, lambda item, step: self.repair_part(item, (*path, step)))

    def field(self, record: Column, path: tuple[str, ...], name: str) -> Column:
        """One field of a record: from its hidden field for the writers that fill that one."""
        place = (*path, name)
        chosen = self.repair_part(record[name], place)
        inside = (*place, INSIDE) if RepairedRecord(place, ()) in self.recipe.layouts else place
        for repair in self.recipe.repairs:
            if repair.path == path and repair.field == name:
                of_repair = F.substring(self.value, 1, 5).isin([make_header(number) for number in repair.ids])
                hidden = self.repair_part(record[repair.hidden], inside)
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
        _any_at(record, (*place, repair.hidden, *conversion.path), test)
        for repair, leaves in list_conversions(recipe).items()
        for conversion in leaves
        if (test := choose(conversion)) is not None
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
