"""Message indexes (Confluent's wire format): the message of a Protobuf file that a payload is, as varints before it.

The path of a message: ``(2, 0)`` is the first message nested in the third of the file. It is encoded as its length and
its numbers, as zig-zag varints; ``(0,)`` is the single byte ``00``.
"""

from treaty.client.serializers.errors import BadRecordError, RecordErrorCode
from treaty.core.limits import SCHEMA_DEPTH
from treaty.formats.protobuf.encoding.wire import encode_varint

Path = tuple[int, ...]
FIRST: Path = (0,)
MAX_INDEX = 2**31 - 1


def encode_path(path: Path) -> bytes:
    """Encode a path."""
    if path == FIRST:
        return b"\x00"
    return b"".join(encode_varint(number * 2) for number in (len(path), *path))


def split_path(data: bytes, schema: int | str) -> tuple[Path, bytes]:
    """Return the path and the remaining bytes. Raises `BadRecordError`: TOO_SHORT, or MALFORMED for an impossible path."""
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
        raise BadRecordError(RecordErrorCode.MALFORMED, f"{path} is not a valid path of message indexes", data, schema)
    return tuple(path), data[at:]


def _read(data: bytes, at: int, schema: int | str) -> tuple[int, int]:
    """Read a zig-zag varint of at most ten bytes; return it and its end."""
    value = 0
    for place in range(10):
        if at + place >= len(data):
            raise BadRecordError(RecordErrorCode.TOO_SHORT, "the message indexes are truncated", data, schema)
        byte = data[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at + place + 1
    raise BadRecordError(RecordErrorCode.MALFORMED, "a message index of more than ten bytes", data, schema)
