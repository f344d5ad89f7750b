"""Message indexes: which message of a Protobuf file a payload is, as varints before it (Confluent's framing).

The path leads from the file's messages to a nested one: ``(2, 0)`` is the first message inside the third one. It is
written as its length and its numbers, zig-zag varints; ``(0,)`` is one byte, ``00``.
"""

from treaty.client.serializers.errors import BadRecordError, RecordErrorCode
from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.protobuf.encoding.wire import encode_varint

Path = tuple[int, ...]
FIRST: Path = (0,)
MAX_INDEX = 2**31 - 1


def encode_path(path: Path) -> bytes:
    """The bytes of a path."""
    if path == FIRST:
        return b"\x00"
    return b"".join(encode_varint(number * 2) for number in (len(path), *path))


def split_path(data: bytes, schema: int | str) -> tuple[Path, bytes]:
    """Path and what follows it. Raises `BadRecordError`: TOO_SHORT, or MALFORMED for numbers that no path has."""
    count, at = _read(data, 0, schema)
    if count == 0:
        return FIRST, data[at:]
    if not 0 < count <= SCHEMA_DEPTH:
        message = f"{count} message indexes; a path has at most {SCHEMA_DEPTH} (limit SCHEMA_DEPTH)"
        raise BadRecordError(RecordErrorCode.MALFORMED, message, data, schema)
    path = []
    for _ in range(count):
        number, at = _read(data, at, schema)
        path.append(number)
    if any(not 0 <= number <= MAX_INDEX for number in path):
        raise BadRecordError(RecordErrorCode.MALFORMED, f"{path} is no path of message indexes", data, schema)
    return tuple(path), data[at:]


def _read(data: bytes, at: int, schema: int | str) -> tuple[int, int]:
    """One zig-zag varint of at most ten bytes, and where it ends."""
    value = 0
    for place in range(10):
        if at + place >= len(data):
            raise BadRecordError(RecordErrorCode.TOO_SHORT, "the message indexes are cut off", data, schema)
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at + place + 1
    raise BadRecordError(RecordErrorCode.MALFORMED, "a message index of more than ten bytes", data, schema)
