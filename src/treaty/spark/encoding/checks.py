"""What may be wrong with a value that is not null, as Spark columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.plan.encoding.fit import Check, Fit, sentence


@dataclass(frozen=True, slots=True)
class Problem:
    """A condition (null counts as false) and what a row with it is told."""

    wrong: Column
    said: Column


def checked(fit: Fit, column: Column, made: Column) -> tuple[Problem, ...]:
    """The checks of a place; `column` goes in and `made` comes out."""
    return tuple(
        Problem(CHECKS[one.name](fit, one, column, made), F.lit(sentence(fit, one)))
        for one in fit.checks
        if one.name != "finite" or fit.type in {"FLOAT", "DOUBLE"}
    )


Wrong = Callable[[Fit, Check, Column, Column], Column]


def _lost(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del fit, check
    return column.isNotNull() & made.isNull()


def _inexact(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del check
    return made.isNotNull() & ~made.try_cast(fit.have).eqNullSafe(column)


def _overflow(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del fit, check
    infinity = F.lit(float("inf"))
    return (F.abs(made) == infinity) & (F.abs(column) != infinity)


def _infinite(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del fit, check, column
    return F.isnan(made) | (F.abs(made) == F.lit(float("inf")))


def _outside(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del column
    low, high = (F.lit(one).cast(fit.type) for one in check.args)
    return (made < low) | (made > high)


def _strange(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del fit, column
    return ~made.isin(list(check.args))


def _no_value(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    return _strange(fit, check, column, made) & made.try_cast("int").isNull()


def _size(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del fit, column
    return F.octet_length(made) != F.lit(int(check.args[0]))


def _no_utf8(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del fit, check, column
    return ~F.is_valid_utf8(made)


def _keys(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del fit, check
    return column.isNotNull() & made.isNull()


def _not_one(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del check, made
    return column.isNotNull() & (_count([column[part.source] for part in fit.parts if part.source]) != 1)


def _not_oneof(fit: Fit, check: Check, column: Column, made: Column) -> Column:
    del made
    sources = {part.name: part.source for part in fit.parts}
    return _count([column[sources[name]] for name in check.args]) > 1


def _count(columns: list[Column]) -> Column:
    return reduce(lambda one, other: one + other, (one.isNotNull().cast("int") for one in columns))


CHECKS: Mapping[str, Wrong] = {
    "fits": _lost,
    "exact": _inexact,
    "overflow": _overflow,
    "finite": _infinite,
    "range": _outside,
    "symbols": _strange,
    "enum": _no_value,
    "size": _size,
    "utf8": _no_utf8,
    "json": _lost,
    "keys": _keys,
    "one": _not_one,
    "oneof": _not_oneof,
}
"""By check: whether a value is wrong."""
