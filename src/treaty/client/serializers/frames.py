"""Frames (Confluent's wire format): the id before the payload (V0), or the guid in a header (V1).

V0 is ``00``, the id as a big-endian int32, the payload. V1 is ``01`` and the sixteen bytes of the guid; it travels in
the header ``__key_schema_id`` or ``__value_schema_id`` without changing the payload, and is also read before a payload.
"""

import struct
import uuid
from collections.abc import Iterable
from typing import Literal

import msgspec

from treaty.client.serializers.errors import BadRecordError, RecordErrorCode

Part = Literal["key", "value"]
"""The part of a record."""

Headers = tuple[tuple[str, bytes], ...]
"""Headers of a record, as Kafka clients represent them."""

HEADER_OF: dict[Part, str] = {"key": "__key_schema_id", "value": "__value_schema_id"}
MAGIC_ID = 0
MAGIC_GUID = 1
MAGIC_ENCODING = 1
"""The first byte of Pravega's frames. A reader must be set to them: V1 begins with it too."""
ID_FRAME = struct.Struct(">bI")
GUID_FRAME = struct.Struct(">b16s")
MAX_ID = 2**31 - 1


class Frame(msgspec.Struct, frozen=True):
    """A payload and its writer's schema: an id (V0) or a guid (V1), never both."""

    payload: bytes
    schema: int | str
    head: bytes | None = None
    """The rest of a header after the guid; None if the frame was before the payload."""


def encode_id(schema_id: int) -> bytes:
    """Return the five-byte header of V0. Raises `ValueError` for an id that is not a non-negative int32."""
    if not 0 <= schema_id <= MAX_ID:
        raise ValueError(f"schema id {schema_id} does not fit the frame; allowed are 0 to {MAX_ID}")
    return ID_FRAME.pack(MAGIC_ID, schema_id)


def encode_guid(guid: str) -> bytes:
    """Return the seventeen-byte header of V1. Raises `ValueError` if `guid` is not a guid."""
    return GUID_FRAME.pack(MAGIC_GUID, uuid.UUID(guid).bytes)


def encode_encoding(encoding_id: int) -> bytes:
    """Return Pravega's five-byte header: ``01`` and the encoding id as a big-endian int32."""
    if not 0 <= encoding_id <= MAX_ID:
        raise ValueError(f"encoding id {encoding_id} does not fit the frame; allowed are 0 to {MAX_ID}")
    return ID_FRAME.pack(MAGIC_ENCODING, encoding_id)


def split_encoding(data: bytes) -> tuple[int, bytes]:
    """Return the encoding id of Pravega's frame, and what follows it. Raises `BadRecordError`: TOO_SHORT, BAD_MAGIC, or
    UNKNOWN_ID for an id that no registry assigns.
    """
    if len(data) < ID_FRAME.size:
        message = f"{len(data)} bytes; a frame with an encoding id has {ID_FRAME.size} before its payload"
        raise BadRecordError(RecordErrorCode.TOO_SHORT, message, data)
    magic, encoding_id = ID_FRAME.unpack_from(data)
    if magic != MAGIC_ENCODING:
        message = f"first byte is {data[0]:#04x}; a frame with an encoding id begins with 0x01"
        raise BadRecordError(RecordErrorCode.BAD_MAGIC, message, data)
    if encoding_id > MAX_ID:
        message = f"encoding id {encoding_id} is not valid: ids are int32, at most {MAX_ID}"
        raise BadRecordError(RecordErrorCode.UNKNOWN_ID, message, data, encoding_id)
    return encoding_id, data[ID_FRAME.size :]


def unframe(
    data: bytes, headers: Iterable[tuple[str, bytes]] = (), part: Part = "value", *, headed: bool = False
) -> Frame:
    """Parse the frame of a key or value: by its header, the first of that name, else by its first byte.

    `headed`: the format adds data after the guid in a header (Protobuf's message indexes). Raises `BadRecordError`:
    TOO_SHORT, BAD_MAGIC, or UNKNOWN_ID for an id that no registry assigns.
    """
    header_name = HEADER_OF[part]
    for name, content in headers or ():
        if name == header_name:
            schema, end = _read(content)
            if end != len(content) and not headed:
                message = f"header {header_name} has {len(content)} bytes, its magic byte requires {end}"
                raise BadRecordError(RecordErrorCode.BAD_MAGIC, message, content)
            return Frame(data, schema, content[end:])
    if len(data) > 4 and data[0] == MAGIC_ID and data[1] < 128:
        return Frame(data[5:], int.from_bytes(data[1:5]))
    schema, end = _read(data)
    return Frame(data[end:], schema)


def _read(data: bytes) -> tuple[int | str, int]:
    """Return id or guid, and the end of the frame header.

    The first byte is read first: how long a frame has to be depends on it. Spark and Arrow, where only an id
    stands before a payload, say TOO_SHORT before BAD_MAGIC.
    """
    if not data:
        raise BadRecordError(RecordErrorCode.TOO_SHORT, "no bytes; a frame has 5 (id) or 17 (guid)", data)
    kind = ID_FRAME if data[0] == MAGIC_ID else GUID_FRAME if data[0] == MAGIC_GUID else None
    if kind is None:
        message = f"first byte is {data[0]:#04x}; a frame begins with 0x00 (id) or 0x01 (guid)"
        raise BadRecordError(RecordErrorCode.BAD_MAGIC, message, data)
    if len(data) < kind.size:
        message = f"{len(data)} bytes; a frame that begins with {data[0]:#04x} has {kind.size}"
        raise BadRecordError(RecordErrorCode.TOO_SHORT, message, data)
    if kind is GUID_FRAME:
        return str(uuid.UUID(bytes=bytes(data[1:17]))), kind.size
    schema_id = int(kind.unpack_from(data)[1])
    if schema_id > MAX_ID:
        message = f"id {schema_id} is not valid: ids are int32, at most {MAX_ID}"
        raise BadRecordError(RecordErrorCode.UNKNOWN_ID, message, data, schema_id)
    return schema_id, kind.size
