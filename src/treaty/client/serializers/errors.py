"""Errors of records (`BadRecordError`): a code, a message, and the payload."""

from enum import StrEnum


class RecordErrorCode(StrEnum):
    """The kinds of unreadable payloads; the same codes are in the error column of Spark tables."""

    TOO_SHORT = "TOO_SHORT"
    """Shorter than a frame header."""
    BAD_MAGIC = "BAD_MAGIC"
    """The first byte is not that of a known frame."""
    UNKNOWN_ID = "UNKNOWN_ID"
    """The registry has no schema with this id or guid."""
    MALFORMED = "MALFORMED"
    """The bytes do not fit the writer's schema: truncated, or an index or length out of range."""
    TRAILING = "TRAILING"
    """Bytes are left after the record."""
    INVALID = "INVALID"
    """The decoded value is not valid against the schema."""
    RESOLUTION = "RESOLUTION"
    """The writer's schema does not resolve to the reader's."""


class BadRecordError(ValueError):
    """A payload cannot be read, and a retry cannot help; otherwise `Unavailable` is raised."""

    def __init__(self, code: RecordErrorCode, message: str, payload: bytes, schema: int | str | None = None) -> None:
        """Keep code and payload; `schema` is the id or guid of the frame, if readable."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.payload = payload
        self.schema = schema


class BadValueError(ValueError):
    """A value does not fit the schema, or the schema is unusable."""
