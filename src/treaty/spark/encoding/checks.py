"""What may be wrong with a value that is not null, as Spark columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.plan.encoding.fit import ColumnConversion, LossCheck, sentence


@dataclass(frozen=True, slots=True)
class Problem:
    """A condition (null counts as false) and what a row with it is told."""

    wrong: Column
    said: Column


def checked(fit: ColumnConversion, column: Column, made: Column) -> tuple[Problem, ...]:
    """The checks of a place; `column` goes in and `made` comes out."""
    return tuple(
        Problem(CHECKS[one.name](fit, one, column, made), F.lit(sentence(fit, one)))
        for one in fit.checks
        if one.name != "finite" or fit.type in {"FLOAT", "DOUBLE"}
    )


Wrong = Callable[[ColumnConversion, LossCheck, Column, Column], Column]


def _lost(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, check
    return column.isNotNull() & made.isNull()


_GREATEST = {"INT": 2**31 - 1, "BIGINT": 2**63 - 1}
_SHORTER = frozenset({("FLOAT", "INT"), ("FLOAT", "BIGINT"), ("DOUBLE", "BIGINT")})
"""Floating numbers that do not have the greatest whole number; Spark casts the next one to it, and back."""


def _inexact(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del check
    lost = made.isNotNull() & ~made.try_cast(fit.have).eqNullSafe(column)
    if (fit.have, fit.type) in _SHORTER:
        return lost | (made == F.lit(_GREATEST[fit.type]))
    return lost | (column == F.lit(_GREATEST[fit.have])) if (fit.type, fit.have) in _SHORTER else lost


_ALL_DIGITS = {"FLOAT": 6, "DOUBLE": 15}
"""Digits of a text that each floating number has."""


def _fewer_digits(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    """Whether a number has not the digits of the text that it was read from; `Infinity` has none."""
    del check
    before, after = _digits(column), _digits(made.cast("string"))
    if fit.type not in _ALL_DIGITS:
        return before != after
    long = F.length(before) > F.lit(_ALL_DIGITS[fit.type])
    return (before != after) & (long | (after == F.lit("")))


def _digits(text: Column) -> Column:
    """The digits of a number that count: no zeros at either end, no sign, point or exponent."""
    mantissa = F.regexp_replace(text, "[eE].*$", "")
    return F.regexp_replace(F.regexp_replace(mantissa, "[^0-9]", ""), "^0+|0+$", "")


_TEXTS = {
    "DATE": r"^\s*[+-]?\d{4,7}(-\d{1,2}){0,2}\s*$",
    "TIMESTAMP": r"^\s*[+-]?\d{4,7}([^.]|\.\d{0,6}0*(\D|$))*$",
    "TIMESTAMP_NTZ": r"^\s*[+-]?\d{4,7}(-\d{1,2}){0,2}([ T](\d{1,2}(:\d{1,2}){0,2}(\.\d{0,6}0*)?)?)?\s*$",
}
"""Texts that say what the type holds: a date without a time, no part of a microsecond, no time zone where there is none."""


def _inexact_text(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del check
    return made.isNotNull() & ~column.rlike(_TEXTS[fit.type])


def _microseconds(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, check, column
    return F.pmod(F.unix_micros(made.cast("timestamp")), F.lit(1000)) != 0


_WIDE = r"[0-9.]{40,}|[0-9.]{17,}[eE]|[eE]\+?0*(309|3[1-9]\d|[4-9]\d\d|\d{4,})"
"""Numbers that Spark's JSON values hold as a double, with fewer digits, or not at all."""


def _wide_number(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, check, column
    return F.regexp_replace(made, r'"(\\.|[^"\\])*"', '""').rlike(_WIDE)


def _overflow(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, check
    infinity = F.lit(float("inf"))
    return (F.abs(made) == infinity) & (F.abs(column) != infinity)


def _infinite(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, check, column
    return F.isnan(made) | (F.abs(made) == F.lit(float("inf")))


def _outside(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del column
    low, high = (F.lit(one).cast(fit.type) for one in check.args)
    return (made < low) | (made > high)


def _strange(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, column
    return ~made.isin(list(check.args))


def _no_value(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    return _strange(fit, check, column, made) & made.try_cast("int").isNull()


def _size(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, column
    return F.octet_length(made) != F.lit(int(check.args[0]))


def _no_utf8(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, check, column
    return ~F.is_valid_utf8(made)


def _keys(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del fit, check
    return column.isNotNull() & made.isNull()


def _not_one(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del check, made
    return column.isNotNull() & (_count([column[part.source] for part in fit.parts if part.source]) != 1)


def _not_oneof(fit: ColumnConversion, check: LossCheck, column: Column, made: Column) -> Column:
    del made
    sources = {part.name: part.source for part in fit.parts}
    return _count([column[sources[name]] for name in check.args]) > 1


def _count(columns: list[Column]) -> Column:
    return reduce(lambda one, other: one + other, (one.isNotNull().cast("int") for one in columns))


CHECKS: Mapping[str, Wrong] = {
    "fits": _lost,
    "exact": _inexact,
    "digits": _fewer_digits,
    "clock": _inexact,
    "text": _inexact_text,
    "millis": _microseconds,
    "wide": _wide_number,
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
