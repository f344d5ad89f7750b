"""What may be wrong with a value that is not null, as Spark columns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.plan.encoding.fit import ColumnConversion, LossCheck, sentence


@dataclass(frozen=True, slots=True)
class Violation:
    """A condition (null counts as false) and the message of a row with it."""

    is_wrong: Column
    message: Column


def list_violations(fit: ColumnConversion, column: Column, result: Column) -> tuple[Violation, ...]:
    """The checks of a place; `column` goes in and `result` comes out."""
    return tuple(
        Violation(CHECKS[check.name](fit, check, column, result), F.lit(sentence(fit, check)))
        for check in fit.checks
        if check.name != "finite" or fit.type in {"FLOAT", "DOUBLE"}
    )


ViolationTest = Callable[[ColumnConversion, LossCheck, Column, Column], Column]


def _is_lost(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, check
    return column.isNotNull() & result.isNull()


_GREATEST = {"INT": 2**31 - 1, "BIGINT": 2**63 - 1}
_SHORTER = frozenset({("FLOAT", "INT"), ("FLOAT", "BIGINT"), ("DOUBLE", "BIGINT")})
"""Floating numbers that do not have the greatest whole number; Spark casts the next one to it, and back."""


def _is_inexact(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del check
    lost = result.isNotNull() & ~result.try_cast(fit.have).eqNullSafe(column)
    if (fit.have, fit.type) in _SHORTER:
        return lost | (result == F.lit(_GREATEST[fit.type]))
    return lost | (column == F.lit(_GREATEST[fit.have])) if (fit.type, fit.have) in _SHORTER else lost


_ALL_DIGITS = {"FLOAT": 6, "DOUBLE": 15}
"""Digits of a text that each floating number has."""


def _has_fewer_digits(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    """Whether a number has not the digits of the text that it was read from; `Infinity` has none."""
    del check
    before, after = _strip_digits(column), _strip_digits(result.cast("string"))
    if fit.type not in _ALL_DIGITS:
        return before != after
    long = F.length(before) > F.lit(_ALL_DIGITS[fit.type])
    return (before != after) & (long | (after == F.lit("")))


def _strip_digits(text: Column) -> Column:
    """The digits of a number that count: no zeros at either end, no sign, point or exponent."""
    mantissa = F.regexp_replace(text, "(?s)[eE].*", "")
    return F.regexp_replace(F.regexp_replace(mantissa, "[^0-9]", ""), "^0+|(?<!0)0+$", "")


# Java matches an alternation under a star by recursion, and overflows its stack at a text of some thousand characters: none here.
_TEXTS = {
    "DATE": r"^\s*[+-]?\d{4,7}(-\d{1,2}){0,2}\s*$",
    "TIMESTAMP": r"(?s)^\s*[+-]?\d{4,7}(?!.*\.\d{6}0*[1-9])",
    "TIMESTAMP_NTZ": r"^\s*[+-]?\d{4,7}(-\d{1,2}){0,2}([ T](\d{1,2}(:\d{1,2}){0,2}(\.\d{0,6}0*)?)?)?\s*$",
}
"""Texts that say what the type holds: a date without a time, no part of a microsecond, no time zone where there is none."""


def _is_inexact_text(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del check
    return result.isNotNull() & ~column.rlike(_TEXTS[fit.type])


def _has_microseconds(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, check, column
    return F.pmod(F.unix_micros(result.cast("timestamp")), F.lit(1000)) != 0


_WIDE = r"[0-9.]{40,}|[0-9.]{17,}[eE]|[eE]\+?0*(309|3[1-9]\d|[4-9]\d\d|\d{4,})"
"""Numbers that Spark's JSON values hold as a double, with fewer digits, or not at all."""
_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""Strings of a JSON text, without a way back into them."""


def _has_wide_number(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, check, column
    return F.regexp_replace(result, _QUOTED, '""').rlike(_WIDE)


def _overflows(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, check
    infinity = F.lit(float("inf"))
    return (F.abs(result) == infinity) & (F.abs(column) != infinity)


def _is_infinite(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, check, column
    return F.isnan(result) | (F.abs(result) == F.lit(float("inf")))


def _is_out_of_range(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del column
    low, high = (F.lit(one).cast(fit.type) for one in check.args)
    return (result < low) | (result > high)


def _is_no_symbol(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, column
    return ~result.isin(list(check.args))


def _is_no_enum_value(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    return _is_no_symbol(fit, check, column, result) & result.try_cast("int").isNull()


def _has_other_size(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, column
    return F.octet_length(result) != F.lit(int(check.args[0]))


def _is_no_utf8(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, check, column
    return ~F.is_valid_utf8(result)


def _has_lost_keys(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del fit, check
    return column.isNotNull() & result.isNull()


def _is_not_one(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del check, result
    return column.isNotNull() & (_count([column[part.source] for part in fit.parts if part.source]) != 1)


def _has_two_of_oneof(fit: ColumnConversion, check: LossCheck, column: Column, result: Column) -> Column:
    del result
    sources = {part.name: part.source for part in fit.parts}
    return _count([column[sources[name]] for name in check.args]) > 1


def _count(columns: list[Column]) -> Column:
    return reduce(lambda one, other: one + other, (one.isNotNull().cast("int") for one in columns))


CHECKS: Mapping[str, ViolationTest] = {
    "fits": _is_lost,
    "exact": _is_inexact,
    "digits": _has_fewer_digits,
    "clock": _is_inexact,
    "text": _is_inexact_text,
    "millis": _has_microseconds,
    "wide": _has_wide_number,
    "overflow": _overflows,
    "finite": _is_infinite,
    "range": _is_out_of_range,
    "symbols": _is_no_symbol,
    "enum": _is_no_enum_value,
    "size": _has_other_size,
    "utf8": _is_no_utf8,
    "json": _is_lost,
    "keys": _has_lost_keys,
    "one": _is_not_one,
    "oneof": _has_two_of_oneof,
}
"""By check: whether a value is wrong."""
