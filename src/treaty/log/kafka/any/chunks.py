"""Folds as records: the state at one place of the log, compressed, cut into chunks that are complete or worthless.

A chunk's head never changes: magic, format, the place (identity, sequence, digest), the digest of the whole fold, number
of this chunk, number of chunks, number of rows. The fold's digest covers place, counts and all payloads.
"""

import hashlib
import struct
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import zstandard

from treaty.core.commit import Position
from treaty.core.limits import FOLD_CHUNK_BYTES, FOLD_CHUNKS
from treaty.core.rows import Encoded
from treaty.log.kafka.any.spool import Payload

MAGIC = b"TRTF"
FORMAT = 1
"""The newest format of folds that this version writes and reads."""
AID = 0x4149
"""The format of chunks that hold no fold but a state file (see `aid`); their number of rows is its kind."""
LEVEL = 3
_HEAD = struct.Struct(">4sH16sQ32s32sIIQ")
_COVERED = struct.Struct(">16sQ32sIQ")
_ROW = struct.Struct(">HII")
_WRITTEN = 1 << 20
"""Bytes of rows that are compressed at once."""


class ChunkError(ValueError):
    """Bytes that are no chunk; `magic` tells whether they at least claim to be one."""

    def __init__(self, message: str, *, magic: bool) -> None:
        """Keep whether the magic was there."""
        super().__init__(message)
        self.magic = magic


class FoldError(ValueError):
    """A fold that can't be read or written; the message says why."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk. `told` is the digest of the whole fold, `place` where in the log its state was."""

    format: int
    place: Position
    told: bytes
    index: int
    count: int
    rows: int
    payload: Payload = field(repr=False)

    @property
    def record(self) -> bytes:
        """The chunk as one record."""
        place = self.place
        return (
            _HEAD.pack(
                MAGIC, self.format, place.identity, place.sequence, place.digest, self.told, self.index, self.count,
                self.rows,
            )
            + bytes(self.payload)
        )  # fmt: skip


def read_chunk(value: bytes) -> Chunk:
    """Read a record as a chunk; raises `ChunkError`."""
    if value[:4] != MAGIC:
        raise ChunkError("no chunk: the magic is missing", magic=False)
    if len(value) < _HEAD.size:
        raise ChunkError("a chunk that was cut short", magic=True)
    _, form, identity, sequence, digest, told, index, count, rows = _HEAD.unpack_from(value)
    return Chunk(form, Position(identity, sequence, digest), told, index, count, rows, value[_HEAD.size :])


def cut(place: Position, rows: Sequence[Encoded], *, size: int = FOLD_CHUNK_BYTES) -> tuple[Chunk, ...]:
    """Make the chunks of a fold: the rows that were live at a place. Raises `FoldError` where they would be too many."""
    packed = b"".join(_compressed(rows))
    payloads = [packed[start : start + size] for start in range(0, len(packed), size)]
    if len(payloads) > FOLD_CHUNKS:
        raise FoldError(
            f"a fold of {len(packed)} bytes would have {len(payloads)} chunks, at most {FOLD_CHUNKS} (FOLD_CHUNKS)"
        )
    told = told_of(place, len(rows), payloads)
    return tuple(
        Chunk(FORMAT, place, told, index, len(payloads), len(rows), payload) for index, payload in enumerate(payloads)
    )


def whole(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks of one fold in their order, each once, if all are there and undamaged; nothing otherwise.

    A fold of a newer format is returned as it is: this version can't tell, and must not choose an older one instead.
    """
    by_index = {one.index: one for one in chunks}
    count = next((one.count for one in by_index.values()), 0)
    if not count or count > FOLD_CHUNKS or sorted(by_index) != [*range(count)]:
        return ()
    ordered = tuple(by_index[index] for index in range(count))
    first = ordered[0]
    if first.format != FORMAT or told_of(first.place, first.rows, [one.payload for one in ordered]) == first.told:
        return ordered
    return ()


def rows_of(chunks: Sequence[Chunk]) -> Iterator[Encoded]:
    """Read the rows of a whole fold. Raises `FoldError` for a newer format."""
    if chunks[0].format != FORMAT:
        raise FoldError(
            f"the fold at sequence {chunks[0].place.sequence} has format {chunks[0].format}, known is {FORMAT}"
        )
    work = zstandard.ZstdDecompressor().decompressobj()
    rest = b""
    for chunk in chunks:
        rest += work.decompress(bytes(chunk.payload))
        end = yield from _rows(rest)
        rest = rest[end:]


def _rows(data: bytes) -> Generator[Encoded, None, int]:
    """The rows that are whole in some bytes; returns where they end."""
    at, end = 0, len(data)
    while at + _ROW.size <= end:
        table, key, value = _ROW.unpack_from(data, at)
        start = at + _ROW.size
        stop = start + table + key + value
        if stop > end:
            break
        yield Encoded(
            str(data[start : start + table], "utf-8", "surrogatepass"),
            str(data[start + table : start + table + key], "utf-8", "surrogatepass"),
            str(data[start + table + key : stop], "utf-8", "surrogatepass"),
        )
        at = stop
    return at


def _compressed(rows: Iterable[Encoded]) -> Iterator[bytes]:
    work = zstandard.ZstdCompressor(level=LEVEL).compressobj()
    waiting: list[bytes] = []
    size = 0
    for row in rows:
        parts = [text.encode("utf-8", "surrogatepass") for text in (row.table, row.key, row.value or "")]
        waiting += [_ROW.pack(*map(len, parts)), *parts]
        size += sum(map(len, parts))
        if size > _WRITTEN:
            yield work.compress(b"".join(waiting))
            waiting, size = [], 0
    yield work.compress(b"".join(waiting))
    yield work.flush()


def told_of(place: Position, rows: int, payloads: Sequence[Payload]) -> bytes:
    """The digest of a whole fold."""
    digest = hashlib.sha256(_COVERED.pack(place.identity, place.sequence, place.digest, len(payloads), rows))
    for payload in payloads:
        digest.update(bytes(payload))
    return digest.digest()
