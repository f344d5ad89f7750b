"""Numbers of documents and messages in columns of decimals: each is there as the column holds it, or is refused as too large."""

from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry.confluent.type import decimal_pb2

from treaty.arrow.jsonschema.values import SCALARS, OversizedValueError, make_converter, read_number
from treaty.arrow.protobuf.values import KNOWN, UnreadableValueError
from treaty.core.state import columns

EXACT = Context(prec=200)
MESSAGE: Any = vars(decimal_pb2)["Decimal"]
"""Confluent's message of a decimal; its class is made at import."""


def written(tenths: int, scale: int) -> Iterator[Any]:
    """A number of so many tenths of a column's unit, as documents have it: with a point, with an exponent, as a text, as an integer."""
    number = Decimal(tenths).scaleb(-scale - 1, EXACT)
    yield from (read_number(f"{number:f}"), read_number(f"{tenths}e{-scale - 1}"), f"{number:f}")
    if number == int(number):
        yield int(number)


@pytest.mark.parametrize(
    ("precision", "scale"), [(1, 0), (3, 0), (1, 1), (5, 2), (9, 9), (18, 4), (38, 0), (38, 10), (38, 38)]
)
def test_a_decimal_is_the_nearest_that_its_column_holds_or_is_refused(precision: int, scale: int) -> None:
    convert, kind = make_converter(columns.Decimal(precision, scale), SCALARS), pa.decimal128(precision, scale)
    end = 10**precision
    for units in (0, 1, end // 2, end - 2, end - 1, end, end + 1):
        for more in (-5, -4, 0, 4, 5, 9):
            for tenths in (10 * units + more, -10 * units - more):
                size = (abs(tenths) + 5) // 10
                for value in written(tenths, scale):
                    if size >= end:
                        with pytest.raises(OversizedValueError):
                            convert(value)
                        continue
                    nearest = Decimal(size if tenths > 0 else -size).scaleb(-scale, EXACT)
                    assert pa.array([convert(value)], kind)[0].as_py() == nearest, value
    for value in (read_number("1e2000000"), read_number("-1e2000000"), "1e2000000"):
        with pytest.raises(OversizedValueError):
            convert(value)


@pytest.mark.parametrize(("precision", "scale"), [(1, 0), (5, 2), (29, 0), (30, 1), (38, 10), (38, 38)])
def test_a_decimal_of_a_message_is_in_its_column_or_is_refused(precision: int, scale: int) -> None:
    """Its own scale is another one; nothing is rounded."""
    convert = KNOWN["confluent.type.Decimal"](MESSAGE.DESCRIPTOR.fields[0], pa.decimal128(precision, scale))
    end = 10**precision
    for units in (0, 1, end - 1, end, end + 1, -1, 1 - end, -end):
        for more in (0, 1, 3):
            sent = MESSAGE(value=(units * 10**more).to_bytes(24, "big", signed=True), scale=scale + more)
            if abs(units) < end:
                assert convert(sent) == Decimal(units).scaleb(-scale, EXACT)
            else:
                with pytest.raises(UnreadableValueError):
                    convert(sent)
