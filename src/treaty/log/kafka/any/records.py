"""What a record of the partition claims to be: an append, a chunk of a fold, or something that nobody here wrote."""

from dataclasses import dataclass
from enum import Enum

from treaty.core.commit import ENVELOPE_FORMAT, MAGIC, EnvelopeError, Prefix, read_prefix, undamaged
from treaty.log.kafka.any.chunks import Chunk, ChunkError, read_chunk
from treaty.log.kafka.any.spool import Payload

ADDRESS = "treaty-node"
"""Header of an append: the URL under which other nodes reach the one that sent it."""


class Odd(Enum):
    """Records that are neither."""

    ALIEN = "alien"
    """Without the magic: counted and ignored."""
    DAMAGED = "damaged"
    """With the magic, and cut short; or an append but for the magic or the number of its format."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record that was read: where it stood, what it claims, its bytes, and the address of its sender."""

    offset: int
    claim: Prefix | Chunk | Odd
    value: Payload
    address: str = ""


def claim_of(value: bytes | None) -> Prefix | Chunk | Odd:
    """Read as little of a record as tells what it is; never fails."""
    if value is None:
        return Odd.ALIEN
    try:
        claim = read_prefix(value)
    except EnvelopeError as error:
        if error.magic:
            return Odd.DAMAGED
    else:
        return claim if claim.format == ENVELOPE_FORMAT or not _was_append(value) else Odd.DAMAGED
    try:
        return read_chunk(value)
    except ChunkError as strange:
        return Odd.DAMAGED if strange.magic or _was_append(value) else Odd.ALIEN


def _was_append(value: bytes) -> bool:
    """Tell whether all but the magic and the format is an append of this format: a bit of those has changed."""
    return undamaged(MAGIC + ENVELOPE_FORMAT.to_bytes(2, "big") + value[len(MAGIC) + 2 :])
