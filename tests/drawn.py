"""Random columns and rows of them, from a seed: what frames may hold and all formats can."""

import datetime as dt
import random
from collections.abc import Callable, Mapping
from decimal import Decimal as Number
from typing import Any

from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct

WORDS = ("boolean", "int32", "int64", "float32", "float64", "string", "binary", "date", "timestamp")
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - Spark gives and takes instants without a zone, in the session's


def columns(dice: random.Random, count: int, *, deep: bool) -> tuple[Column, ...]:
    """Columns of random types; `deep` ones may have nulls, lists and maps in lists and maps."""
    return tuple(Column(f"c{at}", _type(dice, 0, deep=deep), dice.random() < 0.7) for at in range(count))


def _type(dice: random.Random, depth: int, *, deep: bool, inside: bool = False) -> ColumnType:
    choice = dice.random()
    if depth < 3 and choice < 0.15:
        return Struct(
            tuple(Column(f"f{at}", _type(dice, depth + 1, deep=deep), dice.random() < 0.6) for at in range(3))
        )
    if depth < 3 and choice < 0.4 and (deep or not inside):
        part, free = _type(dice, depth + 1, deep=deep, inside=True), deep and dice.random() < 0.4
        return List(part, free) if choice < 0.28 else Map(Scalar("string"), part, free)
    if choice < 0.5:
        digits = dice.randint(1, 38)
        return Decimal(digits, dice.randint(0, digits))
    return Scalar(dice.choice(WORDS))


def row(dice: random.Random, made: tuple[Column, ...]) -> tuple[Any, ...]:
    """A row of the columns."""
    return tuple(value(dice, one.type, nullable=one.nullable) for one in made)


def value(dice: random.Random, kind: ColumnType, *, nullable: bool) -> Any:
    """A value of a type, as Spark takes it."""
    if nullable and dice.random() < 0.25:
        return None
    match kind:
        case Struct(inside):
            return row(dice, inside)
        case List(element, free):
            return [value(dice, element, nullable=free) for _ in range(dice.randrange(4))]
        case Map(_, part, free):
            return {f"ä{at}": value(dice, part, nullable=free) for at in range(dice.randrange(3))}
        case Decimal(precision, scale):
            return Number(dice.randrange(-(10**precision) + 1, 10**precision)).scaleb(-scale)
    return SCALARS[kind.name](dice)


SCALARS: Mapping[str, Callable[[random.Random], Any]] = {
    "boolean": lambda dice: dice.random() < 0.5,
    "int32": lambda dice: dice.choice([0, -(2**31), 2**31 - 1, dice.randrange(1000)]),
    "int64": lambda dice: dice.choice([0, -(2**63), 2**63 - 1, dice.randrange(1000)]),
    "float32": lambda dice: dice.randrange(-1000, 1000) / 8,
    "float64": lambda dice: dice.choice([0.1, -1e300, 5e-324, dice.random()]),
    "string": lambda dice: dice.choice(["", "ä\n\"'\\", "𝄞", "x" * dice.randrange(40)]),
    "binary": lambda dice: dice.randbytes(dice.randrange(20)),
    "date": lambda dice: dt.date(1, 1, 1) + dt.timedelta(days=dice.randrange(3_652_058)),
    "timestamp": lambda dice: EPOCH + dt.timedelta(microseconds=dice.randrange(-(10**16), 10**17)),
}
