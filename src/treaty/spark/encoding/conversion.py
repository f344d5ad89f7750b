"""Fits as Spark columns: the value that the schema wants, and what may be wrong with it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.core.state.columns import ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import parse_type, type_ddl
from treaty.plan.encoding.fit import ColumnConversion, ConversionPart
from treaty.spark.encoding.checks import Violation, list_violations
from treaty.spark.engines.engine import join_conditions

JSON_OPTIONS = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]XXX", "timeZone": "UTC"}
"""How JSON is written."""


@dataclass(frozen=True, slots=True)
class ConvertedColumn:
    """A place as the schema wants it, and what may be wrong with it, in the order of the fields."""

    value: Column
    violations: tuple[Violation, ...]


def convert(fit: ColumnConversion, column: Column) -> ConvertedColumn:
    """A column (for the whole row: a struct) brought to what the schema has there."""
    converted = column if fit.same else _convert_value(fit, column)
    missing = (Violation(column.isNull(), _make_null_message(fit)),) if fit.required else ()
    inside = () if fit.clean else _list_inner_violations(fit, column)
    return ConvertedColumn(converted, (*missing, *inside, *list_violations(fit, column, converted)))


def _make_null_message(fit: ColumnConversion) -> Column:
    return F.lit(f"{fit.path or 'the value'} is null, and the schema has no null there")


def _convert_value(fit: ColumnConversion, column: Column) -> Column:
    match fit.way:
        case "record" | "choose" | "branch":
            struct = F.struct(
                *(convert(part.fit, _select_part(fit, part, column)).value.alias(part.name) for part in fit.parts)
            )
            return F.when(column.isNotNull(), struct)
        case "items":
            return F.transform(column, lambda item: convert(fit.parts[0].fit, item).value)
        case "entries":
            return _convert_entries(fit, column)
        case "constant":
            return make_constant(parse_type(fit.type), json.loads(fit.constant))
        case "cast":
            return column.try_cast(fit.type)
        case "nanos":
            return F.try_multiply(F.unix_micros(column.cast("timestamp")), F.lit(1000))
        case "wall_nanos":
            # A time without a zone is cast by the session's; as a text in UTC it is what it says.
            utc = F.concat(column.cast("string"), F.lit("Z")).try_cast("timestamp")
            return F.try_multiply(F.unix_micros(utc), F.lit(1000))
        case "base64":
            return F.base64(column)
        case "json":
            return F.to_json(column, JSON_OPTIONS)
    inner = convert(fit.parts[0].fit, column).value
    return _wrap_value(fit, inner)


def _wrap_value(fit: ColumnConversion, inner: Column) -> Column:
    """A value in what its format holds it in."""
    match fit.way:
        case "embed":
            return F.try_parse_json(inner)
        case "present":
            text = F.to_json(F.array(inner), JSON_OPTIONS)
            return F.try_variant_get(F.try_parse_json(text), "$[0]", "variant")
        case "wrap":
            wrapped = F.struct(inner.alias("value"))
        case "day":
            parts = {"year": F.year(inner), "month": F.month(inner), "day": F.day(inner)}
            wrapped = F.struct(*(one.alias(name) for name, one in parts.items()))
        case _:
            micros = F.unix_micros(inner)
            seconds = F.unix_seconds(inner)
            nanos = F.pmod(micros, F.lit(1_000_000)).cast("int") * F.lit(1000)
            wrapped = F.struct(seconds.alias("seconds"), nanos.alias("nanos"))
    return F.when(inner.isNotNull(), wrapped)


def _select_part(fit: ColumnConversion, part: ConversionPart, column: Column) -> Column:
    """The column that a part comes from."""
    if fit.way == "branch":
        return column if part.name == fit.constant else F.lit(None)
    if not part.name:  # what a format puts a value into has that value as its only part
        return column
    return column[part.source] if part.source else F.lit(None)


def _convert_entries(fit: ColumnConversion, column: Column) -> Column:
    key, value = (part.fit for part in fit.parts)
    entries = column
    if not value.same:
        entries = F.transform_values(entries, lambda _, one: convert(value, one).value)
    if key.same:
        return entries
    # Two keys that become one would end the job, so such a map is left alone: its row is bad.
    changed = F.transform_keys(entries, lambda one, _: convert(key, one).value)
    return F.when(has_distinct_keys(fit, column), changed)


def has_distinct_keys(fit: ColumnConversion, column: Column) -> Column:
    """Whether all keys of a map are there and differ after they were cast."""
    keys = F.transform(F.map_keys(column), lambda one: convert(fit.parts[0].fit, one).value)
    return F.size(F.array_compact(F.array_distinct(keys))) == F.size(column)


def _list_inner_violations(fit: ColumnConversion, column: Column) -> tuple[Violation, ...]:
    match fit.way:
        case "items":
            return _list_item_violations(fit.parts[0].fit, column)
        case "entries":
            keys, values = fit.parts[0].fit, fit.parts[1].fit
            first = () if keys.clean else _list_item_violations(keys, F.map_keys(column))
            return (*first, *(() if values.clean else _list_item_violations(values, F.map_values(column))))
    violations: list[Violation] = []
    for part in fit.parts:
        if not part.fit.clean:
            inner = convert(part.fit, _select_part(fit, part, column)).violations
            # A field of a struct that is null is null too, which is no fault of the field.
            violations += (
                [Violation(column.isNotNull() & violation.is_wrong, violation.message) for violation in inner]
                if fit.path
                else inner
            )
    return tuple(violations)


def _list_item_violations(fit: ColumnConversion, items: Column) -> tuple[Violation, ...]:
    """What is wrong with an item of a list, of the first one that has something.

    Where only nulls can be wrong, all items are asked at once: Spark interprets a function of an item, and compiles nothing of its step.
    """
    places = _list_null_places(fit, items)
    if places is not None:
        return tuple(Violation(_has_null(inside, one.have), _make_null_message(one)) for one, inside in places)

    def is_wrong(item: Column) -> Column:
        return is_any_wrong(convert(fit, item).violations)

    def find_message(item: Column) -> Column:
        return find_first_message(convert(fit, item).violations)

    first = F.try_element_at(F.filter(F.transform(items, find_message), lambda one: one.isNotNull()), F.lit(1))
    return (Violation(F.coalesce(F.exists(items, is_wrong), F.lit(False)), first),)


def _list_null_places(fit: ColumnConversion, items: Column) -> list[tuple[ColumnConversion, Column]] | None:
    """Places in the items of a list that must not be null, each as a list of its own; None where something else may be wrong."""
    if fit.clean:
        return []
    plain = fit.way in {"keep", "cast", "record"} and "MAP<" not in fit.have and "VARIANT" not in fit.have
    if fit.checks or not fit.required or not plain:  # below an item that may be null, a null may be right
        return None
    places = [(fit, items)]
    for part in fit.parts:
        inside = _list_null_places(part.fit, items[part.source]) if fit.way == "record" and part.source else None
        if inside is None and not part.fit.clean:
            return None
        places += inside or []
    return places


UNLIKELY: Mapping[str, str | int | float] = {
    "STRING": "d41b6f0e-52c3-4c57-9a0f-6a1f2a7b93e8", "INT": -1_904_713_207, "BIGINT": -7_316_204_955_118_263_407, "DOUBLE": -7.316204955118263e-207,
}  # fmt: skip
"""By Spark's type, a value that hardly any list holds."""


def _has_null(items: Column, kind: str) -> Column:
    """Whether a list holds a null; never null itself.

    A search for a value that is not there ends in null where the list holds one. Should it be there, the null is looked for itself.
    """
    nothing = F.array(F.lit(None).cast(kind))
    has_null = F.size(F.array_except(nothing, items)) == 0
    if kind in UNLIKELY:
        has_null = F.array_contains(items, F.lit(UNLIKELY[kind]).cast(kind)) & has_null
    return F.coalesce(has_null, items.isNotNull())


def is_any_wrong(violations: Sequence[Violation]) -> Column:
    """Whether there is a problem; never null."""
    conditions = [F.coalesce(violation.is_wrong, F.lit(False)) for violation in violations]
    return join_conditions(conditions, Column.__or__) if conditions else F.lit(False)


def find_first_message(violations: Sequence[Violation]) -> Column:
    """What the first problem says, or null."""
    message: Any = F
    for violation in violations:
        message = message.when(violation.is_wrong, violation.message)
    return message if violations else F.lit(None).cast("string")


def make_constant(kind: ColumnType, value: Any) -> Column:
    """A default as a column."""
    if value is None or kind == Scalar("null"):
        return F.lit(None).cast(type_ddl(kind))
    match kind:
        case Struct():
            return F.struct(*(make_constant(one.type, value.get(one.name)).alias(one.name) for one in kind.columns))
        case List(element):
            return F.array(*(make_constant(element, one) for one in value)).cast(type_ddl(kind))
        case Map(_, inside):
            pairs = [part for key, one in value.items() for part in (F.lit(key), make_constant(inside, one))]
            return F.create_map(*pairs).cast(type_ddl(kind))
        case Scalar("binary"):
            return F.lit(value.encode("latin-1"))
        case Scalar("timestamp"):
            return F.timestamp_micros(F.lit(value))
        case Scalar("timestamp_ntz"):
            return F.timestamp_micros(F.lit(value)).cast("timestamp_ntz")
        case Scalar("date"):
            return F.date_from_unix_date(F.lit(value))
        case Decimal():
            return F.lit(value).cast(type_ddl(kind))
    return F.lit(value).cast(type_ddl(kind))
