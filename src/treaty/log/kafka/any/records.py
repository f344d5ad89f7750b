"""What a record of the partition claims to be: an append, a chunk of a fold, or something that nobody here wrote."""

from dataclasses import dataclass
from enum import Enum

from treaty.core.commit import EnvelopeError, Prefix, read_prefix
from treaty.log.kafka.any.chunks import Chunk, ChunkError, read_chunk
from treaty.log.kafka.any.spool import Payload

ADDRESS = "treaty-node"
"""Header of an append: the URL under which other nodes reach the one that sent it."""


class Odd(Enum):
    """Records that are neither."""

    ALIEN = "alien"
    """Without the magic: counted and ignored."""
    DAMAGED = "damaged"
    """With the magic, and cut short."""


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
        return read_prefix(value)
    except EnvelopeError as error:
        if error.magic:
            return Odd.DAMAGED
    try:
        return read_chunk(value)
    except ChunkError as strange:
        return Odd.DAMAGED if strange.magic else Odd.ALIEN
