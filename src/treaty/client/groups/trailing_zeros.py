"""Zeros behind payloads: Pravega's Java serializers pack their whole buffer, of which the payload is only the first part.

So a payload that was packed by a codec may have any number of zero bytes behind it. Its format says where it ends.
"""

from collections.abc import Callable, Mapping

from treaty.client.serializers.avro_skipper import MalformedPayloadError, Skip

Trim = Callable[[bytes], bytes]
"""Returns a payload without the zeros behind it; as it is where they are not all zeros, or it cannot be read."""


def trim_json(payload: bytes) -> bytes:
    """Return a JSON text without the zeros behind it."""
    return payload.rstrip(b"\0")


def trim_message(payload: bytes) -> bytes:
    """Return a Protobuf message without the zeros behind it: no field has the number 0."""
    if not payload.endswith(b"\0"):
        return payload
    at, size = 0, len(payload)
    while at < size:
        start = at
        tag, at = _read_varint(payload, at)
        if tag == 0:
            return payload[:start] if not payload[start:].strip(b"\0") else payload
        kind = tag & 7
        if kind == _LENGTH:
            length, at = _read_varint(payload, at)
            at += length
        elif kind == _VARINT:
            _, at = _read_varint(payload, at)
        else:
            at += _SIZES.get(kind, 0)
    return payload


def trim_record(skip: Skip, payload: bytes) -> bytes:
    """Return an Avro record without the zeros behind it; `skip` finds its end."""
    if not payload.endswith(b"\0"):
        return payload
    try:
        end = skip(payload, 0, 0)
    except (MalformedPayloadError, RecursionError):
        return payload
    return payload if payload[end:].strip(b"\0") else payload[:end]


_VARINT, _LENGTH = 0, 2
_SIZES: Mapping[int, int] = {1: 8, 5: 4}
_LONGEST = 10


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a varint and its end; past the end of the data where it is not whole, so that reading ends."""
    value = 0
    for place, byte in enumerate(data[at : at + _LONGEST]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    return 1, len(data) + 1
