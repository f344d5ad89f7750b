"""Every logical type read as every other one, in fields, unions and maps: what is read is what was meant, or an error."""

import datetime as dt
import itertools
import uuid
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.laws.test_avro_programs import made
from treaty.client.serializers import avro_codec
from treaty.client.serializers.errors import BadRecordError, RecordErrorCode

LOGICAL: Mapping[str, tuple[dict[str, Any], ...]] = {
    "int": tuple({"logicalType": word} for word in ("date", "time-millis", "timestamp-millis")),
    "long": tuple(
        {"logicalType": word}
        for word in (
            "time-micros", "timestamp-millis", "timestamp-micros", "timestamp-nanos", "local-timestamp-millis",
            "local-timestamp-micros", "local-timestamp-nanos", "date",
        )
    ),
    "float": (), "double": (),
    "string": ({"logicalType": "uuid"}, {"logicalType": "mine"}),
    "bytes": (
        {"logicalType": "decimal", "precision": 9, "scale": 2}, {"logicalType": "decimal", "precision": 38, "scale": 38},
        {"logicalType": "decimal", "precision": 9}, {"logicalType": "big-decimal"},
    ),
    "fixed": ({"logicalType": "decimal", "precision": 4, "scale": 2}, {"logicalType": "duration"}),
}  # fmt: skip
LEAVES: list[dict[str, Any]] = [
    ({"type": kind, "name": "F", "size": 12} if kind == "fixed" else {"type": kind}) | more
    for kind, each in LOGICAL.items()
    for more in ({}, *each)
]
RAW: Mapping[str, tuple[Any, ...]] = {
    "int": (0, 1, -1, 65, 16777217, 86_399_999, 2**31 - 1),
    "long": (0, -1, 999, 1_000_002_000, 16777217, 86_399_999_999, 1_709_208_000_123_456, 2**62),
    "float": (0.5, -2.0),
    "double": (0.5, 0.1),
    "string": ("", "A", "ä", "12345678-1234-5678-1234-567812345678"),
    "bytes": (b"", b"A", b"\xff", "ä".encode(), b"\x01\x00", b"12345678-1234-5678-1234-567812345678"),
    "fixed": (bytes(12), b"\xff" * 12),
}
NANOS: Mapping[str, tuple[str, int]] = {
    "timestamp-millis": ("instant", 10**6), "timestamp-micros": ("instant", 10**3), "timestamp-nanos": ("instant", 1),
    "local-timestamp-millis": ("wall", 10**6), "local-timestamp-micros": ("wall", 10**3), "local-timestamp-nanos": ("wall", 1),
    "time-millis": ("time", 10**6), "time-micros": ("time", 10**3),
}  # fmt: skip
MEANT = {
    "int": {"date", "time-millis"}, "long": {*NANOS} - {"time-millis"}, "string": {"uuid"}, "bytes": {"decimal", "big-decimal"},
    "fixed": {"decimal", "duration"},
}  # fmt: skip
"""By type, the logical types that mean something on it; others are ignored."""
PROMOTIONS = {
    ("int", "long"),
    ("int", "float"),
    ("int", "double"),
    ("long", "float"),
    ("long", "double"),
    ("float", "double"),
}
PROMOTIONS |= {("string", "bytes"), ("bytes", "string")}


def promoted(old: str, new: str, raw: Any) -> Any:
    """A plain value as another type has it."""
    if (old, new) == ("bytes", "string"):
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return RecordErrorCode.MALFORMED
    if (old, new) == ("string", "bytes"):
        return raw.encode()
    if new == "float" and isinstance(raw, int):
        bits = max(abs(raw).bit_length() - 24, 0)
        return float(round(Fraction(raw, 2**bits)) * 2**bits)  # to the nearest, to an even one between two
    return float(raw) if new in {"float", "double"} else raw


def expected(old: dict[str, Any], new: dict[str, Any], raw: Any) -> Any:
    """What a value means to the reader, or the code of the error."""
    value = promoted(old["type"], new["type"], raw)
    was, wanted = (
        type_.get("logicalType") if type_.get("logicalType") in MEANT.get(type_["type"], ()) else None
        for type_ in (old, new)
    )
    if wanted is None:
        return value
    if was is None or was == wanted:
        return (
            RecordErrorCode.MALFORMED
            if value is RecordErrorCode.MALFORMED
            else meaning(wanted, old if was else new, value)
        )
    if was not in NANOS or wanted not in NANOS or NANOS[was][0] != NANOS[wanted][0]:
        return RecordErrorCode.RESOLUTION
    nanos = raw * NANOS[was][1]
    unit = NANOS[wanted][1]
    if "nanos" not in was + wanted:
        return meaning(was, old, raw)
    if nanos % unit or not -(2**63) <= nanos // unit < 2**63:
        return RecordErrorCode.INVALID
    return meaning(wanted, new, nanos // unit)


def meaning(word: str, leaf: dict[str, Any], value: Any) -> Any:
    """A plain value as Python has it, or the code of the error."""
    try:
        return _MEANINGS[word](leaf, value) if word in _MEANINGS else value
    except (OverflowError, ValueError):
        return RecordErrorCode.MALFORMED


def moment(unit: str, zone: dt.tzinfo | None) -> Callable[[Any, int], dt.datetime]:
    first = dt.datetime.fromisoformat("1970-01-01").replace(tzinfo=zone)
    return lambda _, number: first + dt.timedelta(**{unit: number})


def day_time(nanos: int) -> Callable[[Any, int], dt.time]:
    def time_of(_: Any, number: int) -> dt.time:
        if not 0 <= number * nanos < 86_400 * 10**9:
            raise ValueError("not a time of day")
        return (moment("microseconds", None)(None, number * nanos // 1000)).time()

    return time_of


_MEANINGS: Mapping[str, Callable[[Any, Any], Any]] = {
    "date": lambda _, number: dt.date.fromisoformat("1970-01-01") + dt.timedelta(days=number),
    "time-millis": day_time(10**6),
    "time-micros": day_time(10**3),
    "timestamp-millis": moment("milliseconds", dt.UTC),
    "timestamp-micros": moment("microseconds", dt.UTC),
    "local-timestamp-millis": moment("milliseconds", None),
    "local-timestamp-micros": moment("microseconds", None),
    "uuid": lambda _, text: uuid.UUID(text),
    "decimal": lambda leaf, raw: Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(
        -leaf.get("scale", 0), Context(prec=200)
    ),
}


def found(old: Any, new: Any, payload: bytes) -> Any:
    writer, reader = made(old), made(new)
    try:
        value = avro_codec.read_payload(writer, reader, payload, 1)
    except BadRecordError as bad:
        return bad.code if bad.message else None
    assert repr(value) == repr(avro_codec.read_slowly(writer, reader, (payload, 1), tagged=False))
    return value


WRAPS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "field": (lambda leaf: leaf, lambda value: value),
    "union": (lambda leaf: ["null", leaf], lambda value: value),
    "map": (lambda leaf: {"type": "map", "values": leaf}, lambda value: {"k": value}),
}


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_value_is_read_as_it_was_meant_or_not_at_all(wrap: str) -> None:
    schema_of, value_of = WRAPS[wrap]
    seen: dict[Any, int] = {}
    for old, new in itertools.product(LEAVES, LEAVES):
        if old["type"] != new["type"] and (old["type"], new["type"]) not in PROMOTIONS:
            continue
        plain = {name: member for name, member in old.items() if name not in {"logicalType", "precision", "scale"}}
        sides = [
            {"type": "record", "name": "R", "fields": [{"name": "a", "type": schema_of(leaf)}]}
            for leaf in (plain, old, new)
        ]
        bare = made(sides[0])
        for raw in RAW[old["type"]]:
            payload = avro_codec.write_payload(bare, {"a": value_of(raw)}, check=True)
            wanted = expected(old, new, raw)
            got = found(sides[1], sides[2], payload)
            if not isinstance(wanted, RecordErrorCode):
                wanted = {"a": value_of(wanted)}
            assert repr(got) == repr(wanted), (old, new, raw)
            seen[wanted if isinstance(wanted, RecordErrorCode) else None] = (
                seen.get(wanted if isinstance(wanted, RecordErrorCode) else None, 0) + 1
            )
    assert set(seen) == {None, RecordErrorCode.MALFORMED, RecordErrorCode.RESOLUTION, RecordErrorCode.INVALID}
    assert seen[None] > 200
