"""Times, dates and decimals of Protobuf at the edges of their columns: read in whole columns as they are read one by one."""

import datetime as dt
from decimal import Decimal
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from treaty.arrow.protobuf.changes import change_date, change_timestamp
from treaty.arrow.protobuf.unknown import list_unknown_fields
from treaty.arrow.protobuf.values import KNOWN, UnreadableValueError
from treaty.formats.protobuf.encoding.wire import encode_varint

FIELD = Timestamp.DESCRIPTOR.fields_by_name["seconds"]
"""A field that errors name."""
MICROS = pa.timestamp("us", "UTC")


def days_of(parts: tuple[int, int, int]) -> dt.date | None:
    try:
        return dt.date(*parts)
    except ValueError:
        return None


def test_a_date_is_one_from_the_first_year_to_the_last() -> None:
    years, months, days = (
        (-1, 0, 1, 1900, 1970, 2000, 2023, 2024, 9999, 10_000),
        (0, 1, 2, 4, 12, 13),
        (-1, 0, 1, 28, 29, 30, 31, 32),
    )
    rows = [*product(years, months, days)]
    array = pa.array(
        [*({"y": y, "m": m, "d": d} for y, m, d in rows), None], pa.struct([(name, pa.int32()) for name in "ymd"])
    )
    expected = [*map(days_of, rows), None]
    assert change_date(array, lambda _: None).to_pylist() == expected
    read = KNOWN["google.type.Date"](FIELD, pa.date32())
    assert [read(SimpleNamespace(year=y, month=m, day=d)) for y, m, d in rows] == expected[:-1]


def test_a_time_is_one_as_far_as_64_bits_of_microseconds_go() -> None:
    """Nanoseconds may be more than a second, or less than none: nobody checks them on the wire."""
    most = (2**63 - 1) // 10**6 - 2
    rows = [
        (seconds, nanos)
        for seconds in (0, -1, most, -most, most + 1, -most - 1, 2**62, -(2**62))
        for nanos in (0, 999, 1000, 999_999_999, 2**31 - 1, -(2**31))
    ]
    array = pa.array(
        [*({"s": seconds, "n": nanos} for seconds, nanos in rows), None],
        pa.struct([("s", pa.int64()), ("n", pa.int32())]),
    )
    blamed: list[Any] = []
    columns = change_timestamp(MICROS)(array, blamed.append).cast(pa.int64()).to_pylist()
    far = np.logical_or.reduce(blamed).tolist()
    assert far == [*(abs(seconds) > most for seconds, _ in rows), False]
    assert columns[-1] is None
    read = KNOWN["google.protobuf.Timestamp"](FIELD, MICROS)
    for (seconds, nanos), value, is_far in zip(rows, columns, far, strict=False):
        if is_far:
            with pytest.raises(UnreadableValueError):
                read(Timestamp(seconds=seconds, nanos=nanos))
        else:
            assert value == read(Timestamp(seconds=seconds, nanos=nanos)) == seconds * 10**6 + nanos // 1000


@pytest.mark.parametrize(
    ("number", "scale", "expected"),
    [
        (9_999, 2, "99.99"), (-9_999, 2, "-99.99"), (10_000, 2, None), (-10_000, 2, None), (99, 0, "99.00"), (100, 0, None), (99_990, 3, "99.99"), (99_991, 3, None),
        (0, 80, "0.00"), (0, 81, None), (0, -1, None), (5, 2, "0.05"), (0, 0, "0.00"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [4, 31, 32, 33])
def test_a_decimal_has_the_digits_of_its_column_in_32_bytes_at_most(
    number: int, scale: int, expected: str | None, size: int
) -> None:
    read = KNOWN["confluent.type.Decimal"](FIELD, pa.decimal128(4, 2))
    message = SimpleNamespace(value=number.to_bytes(size, "big", signed=True), scale=scale)
    if expected is None or size > 32:
        with pytest.raises(UnreadableValueError):
            read(message)
    else:
        assert str(read(message)) == expected
        assert isinstance(read(message), Decimal)


def test_unknown_fields_have_all_their_bytes_in_the_order_of_the_wire() -> None:
    """One of each wire type, groups inside groups, a number of two bytes, and a field that comes twice."""

    def tag(number: int, kind: int) -> bytes:
        return encode_varint(number << 3 | kind)

    fields = [
        (1, tag(1, 0) + encode_varint(300)), (2, tag(2, 1) + bytes(8)), (3, tag(3, 2) + b"\x03abc"), (4, tag(4, 5) + bytes(4)),
        (5, tag(5, 3) + tag(6, 3) + tag(1, 0) + b"\x07" + tag(6, 4) + tag(1, 0) + b"\x08" + tag(5, 4)), (300, tag(300, 2) + b"\0"), (3, tag(3, 2) + b"\x01z"), (1, tag(1, 0) + b"\0"),
    ]  # fmt: skip
    payload = b"".join(content for _, content in fields)
    for known in (set(), {1}, {3, 5}, {1, 2, 3, 4, 5, 300}):
        expected: dict[int, bytes] = {}
        for number, content in fields:
            if number not in known:
                expected[number] = expected.get(number, b"") + content
        assert list_unknown_fields(payload, known) == [*expected.items()]
