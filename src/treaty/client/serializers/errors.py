"""What can be wrong with a record: a code for machines, a sentence for people, and the payload itself."""

from enum import StrEnum


class RecordErrorCode(StrEnum):
    """Why a payload could not be read. The same words stand in the error column of Spark tables."""

    TOO_SHORT = "TOO_SHORT"
    """Shorter than a frame: magic byte and id, or guid."""
    BAD_MAGIC = "BAD_MAGIC"
    """The first byte is not that of a known frame."""
    UNKNOWN_ID = "UNKNOWN_ID"
    """The registry says that no schema has this id or guid."""
    MALFORMED = "MALFORMED"
    """The bytes are not what the writer's schema says: cut off, or an index or length out of range."""
    TRAILING = "TRAILING"
    """Bytes are left after the record."""
    INVALID = "INVALID"
    """The value is read and is not what the schema asks for."""
    RESOLUTION = "RESOLUTION"
    """The writer's schema cannot be read as the reader's."""


class BadRecordError(ValueError):
    """A payload that cannot be read. Asking again is pointless; `Unavailable` is raised where it is not."""

    def __init__(self, code: RecordErrorCode, message: str, payload: bytes, schema: int | str | None = None) -> None:
        """Keep code and payload; `schema` is the id or guid of the frame, where it was readable."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.payload = payload
        self.schema = schema


class BadValueError(ValueError):
    """A value that the schema cannot write, or a schema that this library cannot write with."""
