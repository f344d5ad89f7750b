"""What decoding says about a row: the codes of bad ones with their sentences, and the names of the columns that are added."""

from dataclasses import dataclass

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
