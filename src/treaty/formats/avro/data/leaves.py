"""Example values without parts, plausible for their logical types."""

from collections.abc import Callable, Mapping

from treaty.formats.avro.model import AvroFixed, AvroPrimitive, ResolvedType
from treaty.formats.avro.normal import logical_of
from treaty.formats.json_printer import Json
from treaty.formats.seeded_random import SeededRandom

_WORDS = ("north", "river", "amber", "Grüße", "a b", "", "7", 'say "hi"', "東京", "quartz", "line\nline")
_DAY = 86_400
_FIRST, _LAST = 946_684_800, 2_051_222_400
"""Seconds of the years 2000 to 2034."""


def leaf(node: ResolvedType, draw: SeededRandom) -> Json:
    """A value of a primitive or fixed type."""
    if not isinstance(node, AvroPrimitive | AvroFixed):
        message = f"a {node.kind} has parts"
        raise TypeError(message)
    logical = logical_of(node) if node.props else None
    if logical == "decimal":
        return _text(_decimal(node, draw))
    if isinstance(node, AvroFixed):
        return _text(_FIXED[logical](draw) if logical in _FIXED else _bytes(draw, node.size))
    return _LOGICAL[logical](draw) if logical in _LOGICAL else _PLAIN[node.kind](draw)


def _text(data: bytes) -> str:
    """Bytes as Avro's JSON encoding has them."""
    return data.decode("latin-1")


def _bytes(draw: SeededRandom, length: int) -> bytes:
    return bytes(draw.below(256) for _ in range(length))


def _whole(bits: int) -> Callable[[SeededRandom], int]:
    """Small numbers as a rule, now and then the least or the greatest."""

    def whole(draw: SeededRandom) -> int:
        if draw.chance(10):
            return draw.pick((-(1 << bits - 1), (1 << bits - 1) - 1))
        return draw.below(2_000) - (500 if draw.chance(30) else 0)

    return whole


def _real(draw: SeededRandom) -> float:
    """Quarters, which 32 bits hold exactly."""
    return (draw.below(8_000) - 2_000) / 4


def _moment(units: int) -> Callable[[SeededRandom], int]:
    """An instant in so many parts of a second."""
    return lambda draw: (_FIRST + draw.below(_LAST - _FIRST)) * units + draw.below(units)


def _time(units: int) -> Callable[[SeededRandom], int]:
    return lambda draw: draw.below(_DAY * units)


def _uuid(draw: SeededRandom) -> bytes:
    """Sixteen bytes of a random UUID (RFC 9562, version 4)."""
    data = bytearray(_bytes(draw, 16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    return bytes(data)


def _uuid_text(draw: SeededRandom) -> str:
    digits = _uuid(draw).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _duration(draw: SeededRandom) -> bytes:
    """Months, days and milliseconds, each four bytes, the least significant first."""
    return b"".join(draw.below(bound).to_bytes(4, "little") for bound in (24, 31, _DAY * 1_000))


def _decimal(node: AvroPrimitive | AvroFixed, draw: SeededRandom) -> bytes:
    """An unscaled number of at most the precision's digits in two's complement, the most significant byte first."""
    precision = dict(node.props)["precision"]
    digits = min(precision, 12) if isinstance(precision, int) else 1
    number = draw.below(10**digits) * (-1 if draw.chance(25) else 1)
    size = node.size if isinstance(node, AvroFixed) else (number.bit_length() // 8) + 1
    return number.to_bytes(size, "big", signed=True)


def _big_decimal(draw: SeededRandom) -> str:
    """Java's encoding: the unscaled number as Avro bytes, then the scale as an Avro int."""
    number, scale = draw.below(1_000_000), draw.below(5)
    data = number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
    return _text(bytes((2 * len(data),)) + data + bytes((2 * scale,)))


_PLAIN: Mapping[str, Callable[[SeededRandom], Json]] = {
    "null": lambda _: None,
    "boolean": lambda draw: draw.chance(50),
    "int": _whole(32),
    "long": _whole(64),
    "float": _real,
    "double": _real,
    "bytes": lambda draw: _text(_bytes(draw, draw.below(6))),
    "string": lambda draw: draw.pick(_WORDS),
}
_LOGICAL: Mapping[str | None, Callable[[SeededRandom], Json]] = {
    "date": lambda draw: (_FIRST + draw.below(_LAST - _FIRST)) // _DAY,
    "time-millis": _time(1_000),
    "time-micros": _time(1_000_000),
    "timestamp-millis": _moment(1_000),
    "timestamp-micros": _moment(1_000_000),
    "timestamp-nanos": _moment(1_000_000_000),
    "local-timestamp-millis": _moment(1_000),
    "local-timestamp-micros": _moment(1_000_000),
    "local-timestamp-nanos": _moment(1_000_000_000),
    "uuid": _uuid_text,
    "big-decimal": _big_decimal,
}
_FIXED: Mapping[str | None, Callable[[SeededRandom], bytes]] = {"uuid": _uuid, "duration": _duration}
