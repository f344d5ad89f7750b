"""Fields that a message does not have, as the bytes that they are on the wire."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

_VARINT, _FIXED64, _LENGTH, _START, _END, _FIXED32 = range(6)


def list_unknown_fields(payload: bytes, numbers: AbstractSet[int]) -> list[tuple[int, bytes]]:
    """Each field whose number is not known with its bytes, tags included, in the order of the wire.

    The payload is one that Protobuf's runtime has read. Fields of messages inside the message are not looked at.
    """
    unknown_fields: dict[int, bytes] = {}
    for number, start, end in _fields(payload):
        if number not in numbers:
            unknown_fields[number] = unknown_fields.get(number, b"") + payload[start:end]
    return list(unknown_fields.items())


def _fields(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Number, beginning and end of each field; a group is one."""
    at, depth, first = 0, 0, 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _START:
            first = first if depth else start
            depth += 1
            continue
        if kind == _END:
            depth -= 1
            start = first
        elif kind == _VARINT:
            _, at = _varint(data, at)
        elif kind == _LENGTH:
            length, at = _varint(data, at)
            at += length
        else:
            at += 8 if kind == _FIXED64 else 4
        if not depth:
            yield tag >> 3, start, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while data[at] > 0x7F:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1
