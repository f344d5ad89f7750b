"""Small changes of a value: what lies beside a valid value shows where two schemas differ."""

from decimal import Decimal
from fractions import Fraction

from treaty.formats.jsonschema.data.value import is_valid
from treaty.formats.jsonschema.model import Json, JsonSchema
from treaty.formats.seeded_random import SeededRandom

_ROUNDS = 4


def decimal(number: Fraction) -> Json:
    """A fraction whose denominator has no prime factors but two and five, as an exact JSON number."""
    if number.denominator == 1:
        return number.numerator
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    digits = number.numerator * 10**places // number.denominator
    return Decimal((digits < 0, tuple(map(int, str(abs(digits)))), -places))


def generate_junk(draw: SeededRandom) -> Json:
    """Any small value."""
    plain: tuple[Json, ...] = (
        None,
        True,
        False,
        0,
        1,
        -7,
        Decimal("0.5"),
        10**20,
        "",
        "a",
        "junk",
        [],
        {},
        [1],
        {"a": 1},
    )
    return draw.pick(plain)


def mutate(document: JsonSchema, value: Json, draw: SeededRandom) -> Json:
    """The value after some random changes, each kept only where the value stays valid."""
    for _ in range(_ROUNDS):
        changed = _change_value(value, draw)
        if is_valid(document, changed):
            value = changed
    return value


def _change_value(value: Json, draw: SeededRandom) -> Json:
    if isinstance(value, dict):
        return _member(value, draw)
    if isinstance(value, list):
        return _item(value, draw)
    if draw.chance(25):
        return generate_junk(draw)
    if isinstance(value, str):
        return draw.pick((value + "x", value[:-1], value.upper(), "", value * 2 if len(value) < 200 else value))
    if isinstance(value, bool) or value is None:
        return draw.pick((True, False, None))
    near: tuple[Json, ...] = (value + 1, value - 1, value + Decimal("0.5"), -value, value * 2, 0)
    return draw.pick(near) if -(10**20) < value < 10**20 else value


def _member(value: dict[str, Json], draw: SeededRandom) -> Json:
    names = list(value)
    way = draw.below(4)
    if way == 0 or not names:
        return {**value, draw.pick(("extra", "other", "a", "x-1", "_")): generate_junk(draw)}
    name = draw.pick(names)
    if way == 1:
        return {one: held for one, held in value.items() if one != name}
    return {**value, name: generate_junk(draw) if way == 2 and draw.chance(30) else _change_value(value[name], draw)}


def _item(value: list[Json], draw: SeededRandom) -> Json:
    way = draw.below(4)
    if way == 0 or not value:
        return [*value, draw.pick(value) if value and draw.chance(50) else generate_junk(draw)]
    at = draw.below(len(value))
    if way == 1:
        return value[:at] + value[at + 1 :]
    return [*value[:at], _change_value(value[at], draw), *value[at + 1 :]]
