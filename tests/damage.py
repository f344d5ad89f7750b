"""Damaged and random bytes: frames of many schemas, each spoilt in a way of its own, the same for the same seed."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.frames import frame
from tests.pairs import Pairs

Deed = Callable[[bytes, random.Random], bytes]
"""From a payload to another one."""


def varint(number: int, size: int = 0) -> bytes:
    """A number as a varint of at least so many bytes, without zig-zag."""
    made = bytearray()
    while number > 127 or len(made) + 1 < size:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


NUMBERS = (
    *(varint(one) for one in (1, 3, 5, 7, 9, 127, 2**31 - 1, 2**32 - 1, 2**32, 2**35 - 1, 2**35, 2**63, 2**64 - 1)),
    *(varint(one, size) for one in (0, 2, 3) for size in (2, 5, 6, 10, 11)),
    b"\xff" * 4 + b"\x7f", b"\xff" * 5, b"\xff" * 9 + b"\x7f", b"\xff" * 9 + b"\x01", b"\xff" * 10, b"\xff" * 12, b"\x80" * 11 + b"\0",
)  # fmt: skip
"""Numbers that end a row, or that lead elsewhere: negative, too large, of too many bytes, with bits beyond their last one."""


def _put(value: bytes, dice: random.Random, more: bytes, over: int) -> bytes:
    at = dice.randrange(len(value) + 1)
    return value[:at] + more + value[at + over :]


DEEDS: Mapping[str, Deed] = {
    "nothing": lambda value, _: value,
    "cut short": lambda value, dice: value[: dice.randrange(len(value) + 1)],
    "bytes behind": lambda value, dice: value + dice.randbytes(dice.randrange(1, 12)),
    "a bit": lambda value, dice: bytes(
        one ^ (1 << dice.randrange(8) if at == place else 0)
        for place in [dice.randrange(len(value) or 1)]
        for at, one in enumerate(value)
    ),
    "a number instead": lambda value, dice: _put(value, dice, dice.choice(NUMBERS), 1),
    "a number more": lambda value, dice: _put(value, dice, dice.choice(NUMBERS), 0),
    "a small byte": lambda value, dice: _put(value, dice, bytes([dice.randrange(16)]), 1),
    "bytes elsewhere": lambda value, dice: _put(value, dice, dice.randbytes(dice.randrange(1, 9)), dice.randrange(9)),
    "a part twice": lambda value, dice: value[: (cut := dice.randrange(len(value) + 1))] + value[cut // 2 :],
    "random bytes": lambda _, dice: dice.randbytes(dice.randrange(40)),
    "small random bytes": lambda _, dice: bytes(
        dice.choice((0, 1, 2, 3, 4, 6, 255)) for _ in range(dice.randrange(40))
    ),
}


MILLIS, MICROS, NANOS = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros", "nanos"))
LOCAL_MICROS, LOCAL_NANOS = ({"type": "long", "logicalType": f"local-timestamp-{unit}"} for unit in ("micros", "nanos"))
UNITS: Mapping[str, tuple[Any, ...]] = {
    "timestamp-millis": (MICROS, NANOS),
    "timestamp-micros": (MILLIS, NANOS),
    "timestamp-nanos": (MILLIS, MICROS),
    "local-timestamp-micros": (LOCAL_NANOS,),
    "local-timestamp-nanos": (LOCAL_MICROS,),
    "time-millis": ({"type": "long", "logicalType": "time-micros"},),
}
"""What each logical type may be read as, by a conversion that Avro itself has not."""


class Logical(Pairs):
    """Pairs with logical types among them, and readers with other units and digits."""

    def changed(self, kind: Any, share: float) -> Any:
        if isinstance(kind, dict) and "logicalType" in kind:
            if kind["logicalType"] == "decimal":
                digits = {"precision": kind["precision"] + 3, "scale": kind["scale"] + 2}
                return {**kind, **digits} if kind["type"] == "bytes" else kind
            return self.dice.choice(UNITS.get(kind["logicalType"], (kind,)))
        if isinstance(kind, list) and self.dice.random() < 0.7:
            return [self.changed(one, share) if isinstance(one, dict) and "logicalType" in one else one for one in kind]
        return super().changed(kind, share)

    def kind(self, depth: int) -> Any:
        if self.dice.random() < 0.2:
            return self.dice.choice((
                {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
                {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 5},
                {"type": "fixed", "name": self.name("D"), "size": 5, "logicalType": "decimal", "precision": 10, "scale": 1},
                MILLIS, MICROS, NANOS, {"type": "long", "logicalType": "local-timestamp-millis"}, LOCAL_MICROS, LOCAL_NANOS,
                {"type": "int", "logicalType": "date"}, {"type": "int", "logicalType": "time-millis"},
            ))  # fmt: skip
        return super().kind(depth)

    def value(self, kind: Any) -> Any:
        if isinstance(kind, dict) and "logicalType" in kind:
            bare = {"bytes": b"\x01\x02", "fixed": b"\0\0\0\1\2"}
            return bare.get(kind["type"], self.dice.choice([0, -1, 10**6]))
        return super().value(kind)


def damaged(seed: int, writer: Any, values: list[Any], count: int) -> Iterator[tuple[str, bytes]]:
    """So many frames of a writer (id 1), and what was done to each."""
    dice = random.Random(seed)
    whole = [_written(writer, value)[5:] for value in values]
    for turn in range(count):
        name = list(DEEDS)[turn % len(DEEDS)]
        yield name, b"\0\0\0\0\1" + DEEDS[name](dice.choice(whole), dice)


def _written(writer: Any, value: Any) -> bytes:
    import json  # noqa: PLC0415

    return frame(1, json.dumps(bare(writer)), value)


def bare(schema: Any) -> Any:
    """The schema without logical types: fastavro writes their raw values then."""
    if isinstance(schema, list):
        return [bare(one) for one in schema]
    if isinstance(schema, dict):
        return {name: bare(one) if name != "default" else one for name, one in schema.items() if name != "logicalType"}
    return schema
