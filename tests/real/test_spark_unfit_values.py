"""Values of Avro that do not fit their columns: Spark names the path, the rule and the value that Treaty's own reader names."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.frames import header, record
from tests.real.test_spark_damaged_bytes import Case, compared, planned
from treaty import arrow
from treaty.formats.protobuf.encoding.wire import encode_varint
from treaty.plan.avro.flat import parse_avro

pytestmark = pytest.mark.jvm

MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
WIDE = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 2}
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
FIXED = {"type": "fixed", "name": "X", "size": 9, "logicalType": "decimal", "precision": 20}
LONG_FIXED = {"type": "fixed", "name": "Y", "size": 16, "logicalType": "decimal", "precision": 10, "scale": 2}
SHORT_FIXED = {"type": "fixed", "name": "Z", "size": 8, "logicalType": "decimal", "precision": 10, "scale": 2}
MOST_DIGITS = {"type": "bytes", "logicalType": "decimal", "precision": 18, "scale": 18}
LINE = {
    "type": "record",
    "name": "Line",
    "fields": [{"name": "s", "type": "int"}, {"name": "p", "type": PRICE}, {"name": "t", "type": MILLIS}],
}
MOST = (2**63 - 1) // 1000


def long(number: int) -> bytes:
    return encode_varint(number << 1 ^ number >> 63)


def text(data: bytes) -> bytes:
    return long(len(data)) + data


def list_numbers(precision: int) -> Iterator[bytes]:
    """Numbers about the bounds of a decimal, in as few bytes as they have and in more, and bytes that are far beyond.

    Some are beyond 64 bits and within the bounds in their lowest 64, which `from_avro` reads alone for a decimal of 18 digits or fewer.
    """
    bound = 10**precision
    for number in (
        bound,
        bound - 1,
        bound + 1,
        -bound,
        -bound + 1,
        -bound - 1,
        0,
        -1,
        127,
        -128,
        2**63,
        -(2**63),
        2**66 + 2**63,
        2**64,
        -(2**64),
        2**64 + 1,
        2**70 - 1,
        10**19,
        2**200,
    ):
        size = number.bit_length() // 8 + 1
        for more in (0, 1, 30):
            yield number.to_bytes(size + more, "big", signed=True)
    yield from (b"", b"\0" * 41, b"\xff" * 41, b"\x7f" * 8, b"\x80" * 8, b"\x7f" * 9, b"\x80" * 40, b"\x7f" * 41)


def list_cases() -> Iterator[Case]:
    """Decimals and times at the top, in records, lists, maps and unions; more than one of a row may not fit."""
    dear, good, far = text((10_000).to_bytes(2, "big")), text(b"\1"), long(MOST + 1)
    line = b"\2" + good + b"\2"
    cut = text((2**64 + 1).to_bytes(9, "big"))
    shapes: list[tuple[Any, list[bytes]]] = [
        (MOST_DIGITS, [text(one) for one in list_numbers(18)]),
        (LONG_FIXED, [one.to_bytes(16, "big", signed=True) for one in (2**64, -(2**64) + 1, 2**120, 10**10, 10**10 - 1, -1, 0)]),
        (SHORT_FIXED, [one.to_bytes(8, "big", signed=True) for one in (2**63 - 1, -(2**63), 10**10, 10**10 - 1, -1, 0)]),
        ({"type": "array", "items": PRICE}, [b"\4" + good + cut + b"\0", b"\2" + good + b"\0", b"\0"]),
        ({"type": "map", "values": ["null", LINE]}, [b"\2" + text(b"k") + b"\2\2" + cut + b"\2\0", b"\2" + text(b"k") + b"\0\0"]),
        (["null", MILLIS, PRICE, "string"], [b"\4" + cut, b"\4" + good, b"\2\2", b"\0"]),
        (PRICE, [text(one) for one in list_numbers(4)]),
        (WIDE, [text(one) for one in list_numbers(38)]),
        (FIXED, [one.to_bytes(9, "big", signed=True) for one in (10**20, 10**20 - 1, -(10**20), -(10**20) + 1, 0, -1)]),
        (MILLIS, [long(one) for one in (MOST, MOST + 1, -MOST, -MOST - 1, 2**63 - 1, -(2**63), 0)]),
        ({"type": "array", "items": LINE}, [b"\4" + line + b"\2" + dear + b"\2\0", b"\4" + line + b"\2" + good + far + b"\0", b"\2\2" + dear + far + b"\0", b"\0"]),
        ({"type": "map", "values": ["null", MILLIS]}, [b"\4" + text(b"k") + b"\0" + text(b"m") + b"\2" + far + b"\0", b"\0"]),
        ({"type": "array", "items": {"type": "map", "values": {"type": "array", "items": PRICE}}}, [b"\4\0\2" + text(b"a/b") + b"\4" + good + dear + b"\0\0\0"]),
        (["null", LINE], [b"\2\2" + dear + b"\2", b"\0", b"\2" + line]),
        (["null", MILLIS, "string", PRICE], [b"\2" + far, b"\4" + text(b"x"), b"\6" + dear, b"\0", b"\6" + good]),
    ]  # fmt: skip
    for shape, payloads in shapes:
        schema = record(("f", shape), ("t", "string"))
        frames = [header(1) + one + b"\2x" for one in payloads]
        yield Case(json.dumps(shape), planned(schema), [*frames, *(one[:-1] for one in frames[:2])])
    lone = [header(1) + one for one in (cut, dear, good)]
    yield Case("of a schema that is no record", planned(json.dumps(PRICE)), lone)
    listed = [header(1) + b"\4" + good + one + b"\0" for one in (cut, dear, good)]
    yield Case("of a list", planned(json.dumps({"type": "array", "items": PRICE})), listed)
    named = record(("n" * 300, PRICE))
    yield Case("a long path", planned(named), [header(1) + dear, header(1) + good])
    texts = [record(("p", {**PRICE, "precision": digits, "scale": scale})) for digits, scale in ((4, 2), (12, 5))]
    shown = [header(at) + one for at in (1, 2) for one in (cut, good, dear, text((10**7).to_bytes(4, "big")))]
    yield Case("of two versions with other scales", planned(*texts), shown)
    defaults = record(
        ("x", "int"),
        ("line", ["string", LINE], {"s": 1, "p": "\1", "t": 2}),
        ("many", {"type": "array", "items": PRICE}, ["\1"]),
    )
    rows = [header(1) + b"\2", *(header(2) + b"\2\2\2" + one + b"\2\2" + one + b"\0" for one in (cut, good))]
    yield Case("of defaults", planned(record(("x", "int")), defaults, reader=parse_avro(defaults)), rows)
    wide = record(*((f"p{at}", PRICE) for at in range(40)))
    yield Case(
        "of many fields",
        planned(wide),
        [header(1) + good * at + one + good * (39 - at) for at in (0, 20, 39) for one in (cut, dear, good)],
    )
    both = record(("a", PRICE), ("s", "string"), ("b", MILLIS), ("c", PRICE))
    rows = [one + b"\2x" + two + three for one in (good, dear) for two in (b"\2", far) for three in (good, dear)]
    yield Case("some of a row", planned(both), [header(1) + one for one in rows])


def test_both_engines_name_the_same_value(spark: SparkSession, tmp_path: Path) -> None:
    cases = list(list_cases())
    messages = [
        error["message"]
        for one in cases
        for error in arrow.decode(pa.array(one.frames, pa.binary()), one.plan).column("error").to_pylist()
        if error and error["code"] == "INVALID"
    ]
    assert len(messages) > 60
    assert all(one.startswith("/") for one in messages)
    compared(spark, tmp_path, cases)
