"""Folds as records: the state at one place of the log, compressed, cut into chunks that are complete or worthless.

A chunk's head never changes: magic, format, the place (identity, sequence, digest), the digest of the whole fold, number
of this chunk, number of chunks, number of rows. In this format the state root of the place stands behind it, and the payload begins
with what each table adds to that root. The fold's digest covers place, root, counts and all payloads.
"""

import hashlib
import json
import struct
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import zstandard

from treaty.core.codec import dumps
from treaty.core.commit import NO_ROOT, Position, as_root
from treaty.core.limits import FOLD_CHUNK_BYTES, FOLD_CHUNKS
from treaty.core.root import add, roots_of
from treaty.core.rows import Encoded
from treaty.log.kafka.any.spool import Payload

MAGIC = b"TRTF"
FORMAT = 2
"""The format of folds that this version writes and reads."""
AID = 0x4132
"""The format of chunks that hold no fold but a state file (see `aid`); their number of rows is its kind."""
LEVEL = 3
_HEAD = struct.Struct(">4sH16sQ32s32sIIQ")
_ROOT = 32
"""Bytes of the root behind the head."""
_COVERED = struct.Struct(">16sQ32s32sIQ")
_ROOTS = struct.Struct(">I")
"""Length of what the payload begins with: JSON, by table what it adds to the state root, in hexadecimal."""
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


class WrongFoldError(FoldError):
    """Rows that are not those of their place, or bytes that are no rows although their digest fits."""


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
        head = _HEAD.pack(
            MAGIC, self.format, place.identity, place.sequence, place.digest, self.told, self.index, self.count, self.rows
        )  # fmt: skip
        return head + place.root + bytes(self.payload)


def read_chunk(value: bytes) -> Chunk:
    """Read a record as a chunk; raises `ChunkError`."""
    if value[:4] != MAGIC:
        raise ChunkError("no chunk: the magic is missing", magic=False)
    if len(value) < _HEAD.size:
        raise ChunkError("a chunk that was cut short", magic=True)
    _, form, identity, sequence, digest, told, index, count, rows = _HEAD.unpack_from(value)
    start, root = _HEAD.size, NO_ROOT
    if form in {FORMAT, AID}:
        start += _ROOT
        root = value[_HEAD.size : start]
        if len(root) < _ROOT:
            raise ChunkError("a chunk that was cut short", magic=True)
    return Chunk(form, Position(identity, sequence, digest, root), told, index, count, rows, value[start:])


def cut(place: Position, rows: Sequence[Encoded], *, size: int = FOLD_CHUNK_BYTES) -> tuple[Chunk, ...]:
    """Make the chunks of a fold: the rows that were live at a place.

    Raises `FoldError` where they would be too many, and `WrongFoldError` where they do not come to the root of the place.
    """
    roots = roots_of(rows)
    if as_root(roots) != place.root:
        raise WrongFoldError(
            f"the rows at sequence {place.sequence} come to the state root {as_root(roots).hex()}, "
            f"and the log states {place.root.hex()} there"
        )
    packed = b"".join(_compressed(roots, rows))
    payloads = [packed[start : start + size] for start in range(0, len(packed), size)]
    if len(payloads) > FOLD_CHUNKS:
        raise FoldError(
            f"a snapshot of {len(packed)} bytes would have {len(payloads)} chunks, at most {FOLD_CHUNKS} (FOLD_CHUNKS)"
        )
    told = told_of(place, len(rows), payloads)
    return tuple(
        Chunk(FORMAT, place, told, index, len(payloads), len(rows), payload) for index, payload in enumerate(payloads)
    )


def whole(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks of one fold in their order, each once, if all are there and undamaged; nothing otherwise.

    A fold of another format is returned as it is: this version can't tell, and must not choose an older one instead.
    """
    ordered = in_order(chunks)
    if not ordered:
        return ()
    first = ordered[0]
    if first.format != FORMAT:
        return () if _only_format_differs(ordered) else ordered
    return ordered if told_of(first.place, first.rows, [one.payload for one in ordered]) == first.told else ()


def _only_format_differs(ordered: Sequence[Chunk]) -> bool:
    """Tell whether chunks are a fold of this format but for the number of it in the first one: a bit of that has changed."""
    first = ordered[0]
    data = bytes(first.payload)
    place = replace(first.place, root=data[:_ROOT])
    payloads = [data[_ROOT:], *(one.payload for one in ordered[1:])]
    return len(data) >= _ROOT and told_of(place, first.rows, payloads) == first.told


def in_order(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """Return the chunks of one fold in their order, each once, damaged or not; nothing where one is missing."""
    by_index = {one.index: one for one in chunks}
    count = next((one.count for one in by_index.values()), 0)
    if not count or count > FOLD_CHUNKS or sorted(by_index) != [*range(count)]:
        return ()
    return tuple(by_index[index] for index in range(count))


def rows_of(chunks: Sequence[Chunk]) -> Iterator[Encoded]:
    """Read the rows of a whole fold; at their end they have been compared with what it says of them.

    Raises `FoldError` for another format, and `WrongFoldError`.
    """
    place = chunks[0].place
    if chunks[0].format != FORMAT:
        raise FoldError(f"the snapshot at sequence {place.sequence} has format {chunks[0].format}, known is {FORMAT}")
    told = f"the snapshot at sequence {place.sequence}"
    count, found = 0, dict[str, int]()
    try:
        pieces = _decompressed(chunks)
        stated = _stated(next(pieces))
        for row in _each(pieces):
            count += 1
            add(found, row.table, row.digest)
            yield row
    except (zstandard.ZstdError, struct.error, ValueError, TypeError, StopIteration) as error:
        raise WrongFoldError(f"{told} can't be read ({error!r})") from error
    wrong = sorted(table for table in {*found, *stated} if found.get(table) != stated.get(table))
    if count != chunks[0].rows or wrong:
        raise WrongFoldError(f"{told} has rows that are not those which it names, of {', '.join(wrong) or 'no table'}")
    if as_root(stated) != place.root:
        raise WrongFoldError(f"the tables of {told} come to another state root than it states")


def _decompressed(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """What was compressed, piece by piece; the first piece is what stands before the rows."""
    work = zstandard.ZstdDecompressor().decompressobj()
    rest, begun = b"", False
    for chunk in chunks:
        rest += work.decompress(bytes(chunk.payload))
        if not begun and len(rest) >= _ROOTS.size:
            end = _ROOTS.size + _ROOTS.unpack_from(rest)[0]
            if len(rest) < end:
                continue
            yield rest[_ROOTS.size : end]
            rest, begun = rest[end:], True
        if begun:
            yield rest
            rest = b""


def _stated(text: bytes) -> dict[str, int]:
    """What each table adds, as the fold says."""
    members = json.loads(text)
    if type(members) is not dict:
        raise ValueError("no list of tables")
    return {table: int(root, 16) for table, root in members.items()}


def _each(pieces: Iterable[bytes]) -> Iterator[Encoded]:
    rest = b""
    for piece in pieces:
        rest += piece
        end = yield from _rows(rest)
        rest = rest[end:]
    if rest:
        raise ValueError("a row that was cut short")


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


def _compressed(roots: Mapping[str, int], rows: Iterable[Encoded]) -> Iterator[bytes]:
    work = zstandard.ZstdCompressor(level=LEVEL).compressobj()
    stated = dumps({table: f"{root:064x}" for table, root in roots.items()}).encode()
    waiting: list[bytes] = [_ROOTS.pack(len(stated)), stated]
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
    covered = _COVERED.pack(place.identity, place.sequence, place.digest, place.root, len(payloads), rows)
    digest = hashlib.sha256(covered)
    for payload in payloads:
        digest.update(bytes(payload))
    return digest.digest()
