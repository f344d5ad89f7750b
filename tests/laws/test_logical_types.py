"""Logical types of two leaves at their edges: which are honoured, how one is read as the other, and what holds both."""

import pytest

from treaty.core.limits import DECIMAL_DIGITS
from treaty.formats.avro.model import AvroFixed, AvroPrimitive
from treaty.plan.avro.logical_types import Leaf, find_column_logical, find_logical, resolve_logical, unite_logical


def decimal(precision: int, scale: int = 0, size: int = 0) -> Leaf:
    props = (("logicalType", "decimal"), ("precision", precision), ("scale", scale))
    return AvroFixed("F", size, props=props) if size else AvroPrimitive("bytes", props)


def number(name: str, kind: str = "long") -> Leaf:
    return AvroPrimitive(kind, (("logicalType", name),) if name else ())


@pytest.mark.parametrize(("size", "digits"), [(1, 2), (2, 4), (3, 6), (4, 9), (5, 11), (8, 18), (16, 38)])
def test_a_fixed_has_room_for_the_digits_of_its_bytes(size: int, digits: int) -> None:
    """A number of so many bytes is below 2 ** (8 * size - 1), and all numbers of the digits are."""
    assert 10**digits <= 2 ** (8 * size - 1) < 10 ** (digits + 1)
    for precision in range(1, digits + 2):
        assert (find_logical(decimal(precision, 0, size)) is not None) == (precision <= digits)


@pytest.mark.parametrize(
    ("precision", "scale", "is_decimal"),
    [
        (1, 0, True),
        (1, 1, True),
        (1, 2, False),
        (0, 0, False),
        (3, -1, False),
        (DECIMAL_DIGITS, 0, True),
        (DECIMAL_DIGITS + 1, 0, True),
        (True, 0, False),
    ],
)
def test_a_decimal_has_no_more_digits_behind_its_point_than_it_has(
    precision: int, scale: int, *, is_decimal: bool
) -> None:
    assert (find_logical(decimal(precision, scale)) is not None) == is_decimal
    assert (find_column_logical(decimal(precision, scale)) is not None) == (is_decimal and precision <= DECIMAL_DIGITS)


SAME, CONVERTED, WRONG = "same", "converted", "wrong"
DECIMALS = {
    ((5, 2), (5, 2)): SAME, ((5, 2), (6, 2)): SAME, ((5, 2), (4, 2)): WRONG, ((5, 2), (5, 1)): WRONG, ((5, 2), (5, 3)): WRONG, ((5, 2), (6, 3)): CONVERTED,
    ((5, 0), (DECIMAL_DIGITS, 2)): CONVERTED, ((5, 0), (DECIMAL_DIGITS + 1, 2)): WRONG, ((DECIMAL_DIGITS + 1, 0), (DECIMAL_DIGITS + 1, 0)): SAME,
    ((DECIMAL_DIGITS, 0), (DECIMAL_DIGITS + 1, 0)): SAME,
}  # fmt: skip
TIMES = {
    ("timestamp-millis", "timestamp-micros"): CONVERTED, ("timestamp-micros", "timestamp-nanos"): CONVERTED, ("timestamp-micros", "timestamp-micros"): SAME,
    ("local-timestamp-millis", "local-timestamp-nanos"): CONVERTED, ("timestamp-micros", "local-timestamp-micros"): WRONG, ("time-micros", "timestamp-micros"): WRONG,
    ("", "timestamp-micros"): SAME, ("timestamp-micros", ""): SAME, ("date", "timestamp-micros"): SAME,
}  # fmt: skip


def resolved(old: Leaf, new: Leaf) -> str:
    resolution = resolve_logical(old, new)
    return WRONG if resolution.wrong else CONVERTED if resolution.how else SAME


def test_a_leaf_is_read_as_another_exactly_or_not_at_all() -> None:
    assert {pair: resolved(decimal(*pair[0]), decimal(*pair[1])) for pair in DECIMALS} == DECIMALS
    assert {pair: resolved(number(pair[0]), number(pair[1])) for pair in TIMES} == TIMES
    assert resolved(number("time-millis", "int"), number("time-micros")) == CONVERTED


def united(old: Leaf, new: Leaf) -> str:
    return str(unite_logical(old, new)).partition(" ")[0]


def test_what_holds_both_has_the_digits_or_the_unit_of_both() -> None:
    """Nanoseconds are plain numbers to Spark, and share a column with no other unit, whichever comes first."""
    half = DECIMAL_DIGITS // 2
    assert united(decimal(5, 2), decimal(6, 0)) == united(decimal(6, 0), decimal(5, 2)) == "decimal(8,2)"
    assert united(decimal(half, 0), decimal(half, half)) == f"decimal({DECIMAL_DIGITS},{half})"
    assert united(decimal(half + 1, 0), decimal(half, half)) == str(DECIMAL_DIGITS + 1)
    for way in ("timestamp", "local-timestamp"):
        names = [f"{way}-{unit}" for unit in ("millis", "micros", "nanos")]
        units = {(left, right): united(number(left), number(right)) for left in names for right in names}
        millis, micros, nanos = names
        assert units[millis, micros] == units[micros, millis] == micros
        assert [units[one, one] for one in names] == names
        assert all(
            units[one, nanos] == nanos and units[nanos, one] == one for one in (millis, micros)
        )  # a sentence begins so
        assert all(isinstance(unite_logical(number(one), number(nanos)), str) for one in (millis, micros))
        assert all(isinstance(unite_logical(number(nanos), number(one)), str) for one in (millis, micros))
    assert united(number("timestamp-micros"), number("")) == "timestamp-micros"
    assert isinstance(unite_logical(number(""), number("timestamp-micros")), str)
