"""Heads of AVRO-1124 and of Avro itself: a version or a fingerprint before each payload, which means a schema of a subject."""

import time
from collections.abc import Callable, Mapping
from typing import Literal

from treaty.client.cache import LoadingCache
from treaty.client.references import fetch_resolved_schema
from treaty.client.serializers.errors import BadRecordError, BadValueError, RecordErrorCode
from treaty.client.serializers.frames import Frame
from treaty.core.limits import ENCODINGS_CACHED
from treaty.core.messages.groups import GetOrdinal
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import NotFound
from treaty.core.registry import CALL, CallOptions, Registry
from treaty.core.schema import Reference
from treaty.formats.avro.fingerprint import crc64, md5
from treaty.formats.avro.model import AvroSchema
from treaty.formats.avro.parser import parse_schema
from treaty.formats.protobuf.encoding.wire import encode_varint

Framing = Literal["prefix", "header", "version", "md5", "single-object"]
"""What says the schema of a record: an id before the payload, a guid in a header, or a head of this module."""
MARK = b"\xc3\x01"
"""The first bytes of a single object (Avro specification, "Single-object encoding")."""
FINGERPRINTS: Mapping[str, Callable[[AvroSchema], bytes]] = {
    "md5": md5,
    "single-object": lambda schema: MARK + crc64(schema),
}
"""Heads that follow from an Avro schema, by framing."""
LENGTHS = {"md5": 16, "single-object": 10}
MAX_ORDINAL = 2**31 - 2
_NOW = CallOptions(consistency="latest")
HEAD_SECONDS = 60.0
"""Seconds for which a reader takes a head for what it meant: the versions of a subject that is created again are counted from 0."""


def encode_ordinal(ordinal: int) -> bytes:
    """Return the head of the framing ``version``: ordinal + 1, as Avro writes a long."""
    return encode_varint((ordinal + 1) * 2)


def make_head(
    registry: Registry, framing: str, schema: tuple[str, str, tuple[Reference, ...]], within: Subject, ordinal: int
) -> bytes:
    """Return the head of a schema (format, text, references). Raises `BadValueError` where the framing cannot say it."""
    format_, text, references = schema
    if framing == "version":
        if ordinal < 0:
            raise BadValueError("the framing version says a version of a subject, and the schema was chosen by its id")
        return encode_ordinal(ordinal)
    if format_ != "AVRO":
        raise BadValueError(f"the framing {framing} is Avro's, and the schema is {format_}; choose prefix or version")
    return FINGERPRINTS[framing](parse_schema(fetch_resolved_schema(registry, "AVRO", text, references, within), False))


class SubjectHeads:
    """Finds the schema ids that heads mean in a subject. Thread-safe; a head that means nothing is looked up again.

    A version's number may be given again after the version was removed for good: what was known of it ends then.
    """

    def __init__(self, registry: Registry, framing: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Ask this registry what heads mean; `clock` is a monotonic clock in seconds."""
        self._registry = registry
        self._framing = framing
        self._ids: LoadingCache[tuple[Subject, bytes], int] = LoadingCache(ENCODINGS_CACHED, clock=clock)
        self._heads: LoadingCache[tuple[Subject, int], tuple[bytes, int]] = LoadingCache(ENCODINGS_CACHED, clock=clock)

    def split(self, data: bytes, subject: Subject) -> Frame:
        """Return payload and schema id of a record. Raises `BadRecordError`: TOO_SHORT, BAD_MAGIC or UNKNOWN_ID."""
        head = self._read_head(data)
        try:
            schema_id = self._ids.get_or_expired((subject, head), lambda: self._find(subject, head), ttl=HEAD_SECONDS)
        except NotFound as missing:
            message = f"{subject} has no version with the head {head.hex()} (framing {self._framing})"
            raise BadRecordError(RecordErrorCode.UNKNOWN_ID, message, data) from missing
        return Frame(data[len(head) :], schema_id)

    def _read_head(self, data: bytes) -> bytes:
        if self._framing == "version":
            for place, byte in enumerate(data[:5]):
                if byte < 0x80:
                    return data[: place + 1]
            code = RecordErrorCode.TOO_SHORT if len(data) < 5 else RecordErrorCode.UNKNOWN_ID
            raise BadRecordError(code, "the record does not begin with a version", data)
        length = LENGTHS[self._framing]
        if self._framing == "single-object" and not data.startswith(MARK[: len(data)]):
            raise BadRecordError(RecordErrorCode.BAD_MAGIC, "a single object begins with 0xc3 0x01", data)
        if len(data) < length:
            message = f"{len(data)} bytes; the framing {self._framing} has {length} before its payload"
            raise BadRecordError(RecordErrorCode.TOO_SHORT, message, data)
        return data[:length]

    def _find(self, subject: Subject, head: bytes) -> int:
        if self._framing == "version":
            zigzag = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(head))
            ordinal = zigzag // 2 - 1
            if zigzag % 2 or not 0 <= ordinal <= MAX_ORDINAL:
                raise _no_head(head)
            return self._registry.ask(GetOrdinal(subject, ordinal)).answer.schema_id
        numbers = self._registry.ask(ListVersions(subject, visible="all")).answer.numbers
        schema_id = self._search(subject, numbers, head)
        if schema_id is None and numbers and self._is_given_again(subject, numbers[-1]):
            self._heads.clear()
            schema_id = self._search(subject, numbers, head)
        if schema_id is None:
            raise _no_head(head)
        return schema_id

    def _search(self, subject: Subject, numbers: tuple[int, ...], head: bytes) -> int | None:
        heads = (self._get_head(subject, number) for number in numbers)
        return next((schema_id for known, schema_id in heads if known == head), None)

    def _get_head(self, subject: Subject, number: int) -> tuple[bytes, int]:
        return self._heads.get_or_expired(
            (subject, number), lambda: self._make_head(subject, self._ask(subject, number, CALL)), ttl=HEAD_SECONDS
        )

    def _is_given_again(self, subject: Subject, newest: int) -> bool:
        """Return whether the newest version is another one than was known: only the highest numbers are given again."""
        return self._get_head(subject, newest)[1] != self._ask(subject, newest, _NOW).schema_id

    def _ask(self, subject: Subject, number: int, call: CallOptions) -> VersionFound:
        return self._registry.ask(GetVersion(subject, number, deleted=True), call).answer

    def _make_head(self, subject: Subject, version: VersionFound) -> tuple[bytes, int]:
        if version.format != "AVRO":
            return b"", version.schema_id
        schema = (version.format, version.text, version.references)
        return make_head(self._registry, self._framing, schema, subject, version.ordinal), version.schema_id


def _no_head(head: bytes) -> NotFound:
    return NotFound.of("HEAD_NOT_FOUND", f"no version has the head {head.hex()}", new=head.hex())
