"""From an envelope to its record: fields whose value came through a hidden field take it from there, converted."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import AvroFormatPlan, FieldRepair
from treaty.plan.value import DecodePlan


def repaired(envelope: Column, plan: DecodePlan, value: Column) -> Column:
    """The record of an envelope, without hidden fields; `value` is the frame, whose id says which field counts."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    mender = _Mender(plan.recipe, value)
    if plan.recipe.whole:
        return mender.at(envelope[plan.recipe.whole], ())
    return F.struct(*(mender.field(envelope, (), name).alias(name) for name, _ in plan.engine_columns))


@dataclass(frozen=True, slots=True)
class _Mender:
    recipe: AvroFormatPlan
    value: Column

    def at(self, part: Column, path: tuple[str, ...]) -> Column:
        """The part of a record at `path`, built anew where something in it or below it is repaired."""
        if not any(one.path[: len(path)] == path for one in self.recipe.repairs):
            return part
        layout = next((one for one in self.recipe.layouts if one.path == path), None)
        if layout is not None:
            fields = [self.field(part, path, name).alias(name) for name in layout.fields]
            return F.when(part.isNotNull(), F.struct(*fields))
        steps = {one.path[len(path)] for one in self.recipe.repairs if one.path[: len(path)] == path}
        if steps == {"[]"}:
            return F.transform(part, lambda item: self.at(item, (*path, "[]")))
        if steps == {"{}"}:
            return F.transform_values(part, lambda _, item: self.at(item, (*path, "{}")))
        for step in sorted(steps):  # members of a union
            part = F.when(part.isNotNull(), part.withField(step, self.at(part[step], (*path, step))))
        return part

    def field(self, record: Column, path: tuple[str, ...], name: str) -> Column:
        """One field of a record: from its hidden field for the writers that fill that one."""
        chosen = self.at(record[name], (*path, name))
        for one in self.recipe.repairs:
            if one.path == path and one.field == name:
                mine = F.substring(self.value, 1, 5).isin([make_header(number) for number in one.ids])
                chosen = F.when(mine, converted(record[one.hidden], one)).otherwise(chosen)
        return chosen


def converted(hidden: Column, one: FieldRepair) -> Column:
    """The value of a hidden field as the type of the field it stands for.

    Spark reads both units of a timestamp as the same type, and a cast gives a decimal its scale; what Spark reads as a
    plain number (times of day, nanoseconds) is counted over.
    """
    old, new = one.how.split(",")[0].split(":")[:2]
    if "nanos" not in old + new and not old.startswith("time-"):
        return hidden.cast(one.type)
    return _each(hidden, one.type, lambda leaf: _counted(leaf, old, new))


def _each(column: Column, kind: str, change: Callable[[Column], Column]) -> Column:
    if kind.startswith("ARRAY<"):
        return F.transform(column, lambda item: _each(item, kind[6:-1], change))
    if kind.startswith("MAP<STRING, "):
        return F.transform_values(column, lambda _, item: _each(item, kind[12:-1], change))
    return change(column)


def _counted(leaf: Column, old: str, new: str) -> Column:
    if old.startswith("time-"):
        return leaf.cast("bigint") * 1000 if new == "time-micros" else _thousandth(leaf).cast("int")
    if old.endswith("nanos"):
        instant = F.timestamp_micros(_thousandth(leaf))
        return instant.cast("timestamp_ntz") if new.startswith("local") else instant
    return F.unix_micros(leaf.cast("timestamp")) * 1000


def _thousandth(leaf: Column) -> Column:
    """A whole number's thousandth, rounded down. Spark's `/` goes through doubles, which lose a microsecond of today's nanoseconds."""
    whole = leaf.cast("bigint")
    return F.call_function("div", whole - F.pmod(whole, F.lit(1000)), F.lit(1000))


MOST = (2**63 - 1) // 1000
"""Microseconds beyond these are no nanoseconds of 64 bits: Spark would end the job, and not the row."""


def find_overflow(envelope: Column, plan: DecodePlan) -> Column | None:
    """Whether a hidden field holds a number that its conversion has no room for; never null. None where none can."""
    assert isinstance(plan.recipe, AvroFormatPlan)
    whole = plan.recipe.whole
    record = envelope[whole] if whole else envelope
    found = [
        _some(record, one.path, lambda owner, one=one: _exceeds(owner[one.hidden], one.type))  # type: ignore[misc]  # of this turn
        for one in plan.recipe.repairs
        if one.how.split(",")[0].split(":")[1].endswith("nanos")
    ]
    return reduce(Column.__or__, found) if found else None


def _some(part: Column, path: tuple[str, ...], test: Callable[[Column], Column]) -> Column:
    """Whether the test holds for a record at the path."""
    if not path:
        return test(part)
    if path[0] in {"[]", "{}"}:
        items = part if path[0] == "[]" else F.map_values(part)
        return F.coalesce(F.exists(items, lambda item: _some(item, path[1:], test)), F.lit(False))
    return _some(part[path[0]], path[1:], test)


def _exceeds(hidden: Column, kind: str) -> Column:
    if kind.startswith("ARRAY<"):
        return F.coalesce(F.exists(hidden, lambda item: _exceeds(item, kind[6:-1])), F.lit(False))
    if kind.startswith("MAP<STRING, "):
        return F.coalesce(F.exists(F.map_values(hidden), lambda item: _exceeds(item, kind[12:-1])), F.lit(False))
    micros = F.unix_micros(hidden.cast("timestamp"))
    return F.coalesce((micros > MOST) | (micros < -MOST), F.lit(False))
