"""What decoding says about a row: the codes of bad ones with their sentences, and the names of the columns that are added."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from treaty.plan.frame_format import PRAVEGA

CODES = ("TOO_SHORT", "BAD_MAGIC", "UNKNOWN_ID", "WRONG_SUBJECT", "MALFORMED", "TRAILING", "INVALID", "RESOLUTION")
"""Why a row is bad. A null value is none of these: it is a delete marker."""
UNKNOWN_ID = "the registry has no id %d, or not for this subject"
NEGATIVE_ID = "the frame has the id %d, and no id is negative"
UNKNOWN_HEAD = "no schema of the plan has this head (framing %s)"
UNKNOWN_ENCODING = "the group has no encoding %d, or the plan was made before it"
SENTENCES = {
    "TOO_SHORT": "fewer than the five bytes of a frame",
    "BAD_MAGIC": "the first byte is not the magic 0",
    "MALFORMED": "the payload is cut short or not what its schema says",
    "TRAILING": "bytes follow the end of the record",
    "INVALID": "a time has digits that the unit of the reader has not: read with lossy = 'allow', or with a reader of the finer unit",
}
"""By code, for rows of which nothing else is said."""


def describe_unknown_head(framing: str, frame: bytes) -> str:
    """What is said of a frame whose head the plan does not know."""
    return UNKNOWN_ENCODING % int.from_bytes(frame[1:5], signed=True) if framing == PRAVEGA else UNKNOWN_HEAD % framing


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the columns that decoding adds; an empty one is not added.

    `prefix` stands before the names of a record's fields where these get columns of their own.
    """

    record: str = "record"
    error: str = "error"
    schema_id: str = ""
    version: str = ""
    subject: str = ""
    prefix: str = ""


NAMES = Names()

ROW_ID, REPLAY, PASSED, AT = "bad_id", "replay", "passed", "at"
"""Columns of the results: the name of a bad row, the number of a replay, whether the row is good since, and when that was."""
OPEN, REPLAYED = "open", "replayed"
"""States of a bad row."""


@dataclass(frozen=True, slots=True)
class BadRowColumns:
    """How the columns of a table of bad rows are called: the places of a row by the word that people read, its time, and when it was found."""

    places: Mapping[str, str]
    time: str = ""
    found: str = ""

    def list_stored(self) -> list[str]:
        """Return the columns that are read."""
        names = (ROW_ID, "code", "message", "schema_id", *self.places.values(), self.time, self.found)
        return [*dict.fromkeys(name for name in names if name)]


@dataclass(frozen=True, slots=True)
class BadRowFilter:
    """Which bad rows are meant: those of one of some reasons, of a schema id, and found at a time or later. Empty members mean all."""

    reasons: tuple[str, ...] = ()
    schema_id: int | None = None
    since: datetime | None = None


SOURCE_COLUMNS = BadRowColumns(
    {"topic": "_topic", "partition": "_partition", "offset": "_offset"}, "_timestamp", "found_at"
)
"""Of a stream of bad rows."""
