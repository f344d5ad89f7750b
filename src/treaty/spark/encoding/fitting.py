"""Fits as Spark columns: the value that the schema wants, and what may be wrong with it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.core.state.columns import ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import parse_type, type_ddl
from treaty.plan.encoding.fit import ColumnConversion, ConversionPart
from treaty.spark.encoding.checks import Problem, checked

WRITTEN = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]XXX", "timeZone": "UTC"}
"""How JSON is written."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A place as the schema wants it, and what may be wrong with it, in the order of the fields."""

    made: Column
    problems: tuple[Problem, ...]


def fitted(fit: ColumnConversion, column: Column) -> Fitted:
    """A column (for the whole row: a struct) brought to what the schema has there."""
    made = column if fit.same else _made(fit, column)
    missing = (Problem(column.isNull(), F.lit(f"{fit.path or 'the value'} is null, and the schema has no null there")),)
    inside = () if fit.clean else _inside(fit, column)
    return Fitted(made, (*(missing if fit.required else ()), *inside, *checked(fit, column, made)))


def _made(fit: ColumnConversion, column: Column) -> Column:
    match fit.way:
        case "record" | "choose" | "branch":
            struct = F.struct(*(fitted(part.fit, _of(fit, part, column)).made.alias(part.name) for part in fit.parts))
            return F.when(column.isNotNull(), struct)
        case "items":
            return F.transform(column, lambda item: fitted(fit.parts[0].fit, item).made)
        case "entries":
            return _entries(fit, column)
        case "constant":
            return constant(parse_type(fit.type), json.loads(fit.constant))
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
            return F.to_json(column, WRITTEN)
    inner = fitted(fit.parts[0].fit, column).made
    return _carried(fit, inner)


def _carried(fit: ColumnConversion, inner: Column) -> Column:
    """A value in what its format holds it in."""
    match fit.way:
        case "embed":
            return F.try_parse_json(inner)
        case "present":
            text = F.to_json(F.array(inner), WRITTEN)
            return F.try_variant_get(F.try_parse_json(text), "$[0]", "variant")
        case "wrap":
            made = F.struct(inner.alias("value"))
        case "day":
            parts = {"year": F.year(inner), "month": F.month(inner), "day": F.day(inner)}
            made = F.struct(*(one.alias(name) for name, one in parts.items()))
        case _:
            micros = F.unix_micros(inner)
            seconds = F.unix_seconds(inner)
            nanos = F.pmod(micros, F.lit(1_000_000)).cast("int") * F.lit(1000)
            made = F.struct(seconds.alias("seconds"), nanos.alias("nanos"))
    return F.when(inner.isNotNull(), made)


def _of(fit: ColumnConversion, part: ConversionPart, column: Column) -> Column:
    """The column that a part comes from."""
    if fit.way == "branch":
        return column if part.name == fit.constant else F.lit(None)
    if not part.name:  # what a format puts a value into has that value as its only part
        return column
    return column[part.source] if part.source else F.lit(None)


def _entries(fit: ColumnConversion, column: Column) -> Column:
    key, value = (part.fit for part in fit.parts)
    made = column
    if not value.same:
        made = F.transform_values(made, lambda _, one: fitted(value, one).made)
    if key.same:
        return made
    # Two keys that become one would end the job, so such a map is left alone: its row is bad.
    changed = F.transform_keys(made, lambda one, _: fitted(key, one).made)
    return F.when(distinct(fit, column), changed)


def distinct(fit: ColumnConversion, column: Column) -> Column:
    """Whether all keys of a map are there and differ after they were cast."""
    keys = F.transform(F.map_keys(column), lambda one: fitted(fit.parts[0].fit, one).made)
    return F.size(F.array_compact(F.array_distinct(keys))) == F.size(column)


def _inside(fit: ColumnConversion, column: Column) -> tuple[Problem, ...]:
    match fit.way:
        case "items":
            return _each(fit.parts[0].fit, column)
        case "entries":
            keys, values = fit.parts[0].fit, fit.parts[1].fit
            first = () if keys.clean else _each(keys, F.map_keys(column))
            return (*first, *(() if values.clean else _each(values, F.map_values(column))))
    found: list[Problem] = []
    for part in fit.parts:
        if not part.fit.clean:
            inner = fitted(part.fit, _of(fit, part, column)).problems
            # A field of a struct that is null is null too, which is no fault of the field.
            found += [Problem(column.isNotNull() & one.wrong, one.said) for one in inner] if fit.path else inner
    return tuple(found)


def _each(fit: ColumnConversion, items: Column) -> tuple[Problem, ...]:
    """What is wrong with an item of a list, told of the first one that has something."""

    def wrong(item: Column) -> Column:
        return any_of(fitted(fit, item).problems)

    def said(item: Column) -> Column:
        return first_of(fitted(fit, item).problems)

    first = F.try_element_at(F.filter(F.transform(items, said), lambda one: one.isNotNull()), F.lit(1))
    return (Problem(F.coalesce(F.exists(items, wrong), F.lit(False)), first),)


def any_of(problems: Sequence[Problem]) -> Column:
    """Whether there is a problem; never null."""
    found = F.lit(False)
    for one in problems:
        found = found | F.coalesce(one.wrong, F.lit(False))
    return found


def first_of(problems: Sequence[Problem]) -> Column:
    """What the first problem says, or null."""
    said: Any = F
    for one in problems:
        said = said.when(one.wrong, one.said)
    return said if problems else F.lit(None).cast("string")


def constant(kind: ColumnType, value: Any) -> Column:
    """A default as a column."""
    if value is None or kind == Scalar("null"):
        return F.lit(None).cast(type_ddl(kind))
    match kind:
        case Struct():
            return F.struct(*(constant(one.type, value.get(one.name)).alias(one.name) for one in kind.columns))
        case List(element):
            return F.array(*(constant(element, one) for one in value)).cast(type_ddl(kind))
        case Map(_, inside):
            pairs = [part for key, one in value.items() for part in (F.lit(key), constant(inside, one))]
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
