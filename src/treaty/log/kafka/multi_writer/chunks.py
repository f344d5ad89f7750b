"""Snapshots as records: the state at one position of the log, compressed, cut into chunks that are complete or
worthless.

A chunk's head never changes: magic, format, the position (identity, sequence, digest), the digest of the whole
snapshot, number of this chunk, number of chunks, number of rows. In this format the state root of the position follows
it, and the payload begins with what each table adds to that root. The snapshot's digest covers position, root, counts
and all payloads.

Chunks of another format hold a state file of some position, so that a node that starts need not build it from rows. It
is a cache: no append names it, versions that do not know it ignore it, and what deletes the prefix before a newer
snapshot deletes it too. Its kind is a number of those who can read it: for others it is a foreign record.
"""

import hashlib
import json
import struct
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import zstandard

from treaty.core.limits import SNAPSHOT_CHUNK_BYTES, SNAPSHOT_CHUNKS
from treaty.core.state.codec import dumps
from treaty.core.state.commit import NO_ROOT, Position, add_share, as_root, roots_of
from treaty.core.state.rows import EncodedRow, decode_row
from treaty.core.state.values import SnapshotPointer
from treaty.log.kafka.multi_writer.spool import Payload, split_file

CHUNK_MAGIC = b"TRTF"
FORMAT = 1
"""The format of snapshots that this version writes and reads."""
STATE_FILE_FORMAT = 0x4132
"""The format of chunks that hold no snapshot but a state file; their number of rows is its kind."""
SNAPSHOT_TABLE = "snapshot"
"""The state table whose rows name snapshots."""
NEWEST_KEY = ("newest",)
POINTER_TRACE = b'"snapshot"'
"""What an append that names a snapshot has in its bytes."""
LEVEL = 3
_HEAD = struct.Struct(">4sH16sQ32s32sIIQ")
_ROOT = 32
"""Bytes of the root behind the head."""
_COVERED = struct.Struct(">16sQ32s32sIQ")
_ROOTS = struct.Struct(">I")
"""Length of what the payload begins with: JSON, by table what it adds to the state root, in hexadecimal."""
_ROW = struct.Struct(">HII")
_PIECE_BYTES = 1 << 20
"""Bytes of rows that are compressed at once."""


class ChunkError(ValueError):
    """Bytes that are no chunk; `magic`: whether they begin like one."""

    def __init__(self, message: str, *, magic: bool) -> None:
        """Keep whether the magic was there."""
        super().__init__(message)
        self.magic = magic


class SnapshotError(ValueError):
    """A snapshot that can't be read or written; the message says why."""


class SnapshotMismatchError(SnapshotError):
    """Rows that are not those of their position, or bytes that are no rows although their digest fits."""


@dataclass(frozen=True, slots=True)
class SnapshotChunk:
    """One chunk. `snapshot_digest` is the digest of the whole snapshot, `position` where in the log its state was."""

    format: int
    position: Position
    snapshot_digest: bytes
    index: int
    count: int
    rows: int
    payload: Payload = field(repr=False)

    @property
    def record(self) -> bytes:
        """The chunk as one record."""
        position = self.position
        head = _HEAD.pack(
            CHUNK_MAGIC, self.format, position.identity, position.sequence, position.digest, self.snapshot_digest, self.index, self.count, self.rows
        )  # fmt: skip
        return head + position.root + bytes(self.payload)


def read_chunk(value: bytes) -> SnapshotChunk:
    """Read a record as a chunk; raises `ChunkError`."""
    if value[:4] != CHUNK_MAGIC:
        raise ChunkError("no chunk: the magic is missing", magic=False)
    if len(value) < _HEAD.size:
        raise ChunkError("a chunk that was cut short", magic=True)
    _, form, identity, sequence, digest, snapshot_digest, index, count, rows = _HEAD.unpack_from(value)
    start, root = _HEAD.size, NO_ROOT
    if form in {FORMAT, STATE_FILE_FORMAT}:
        start += _ROOT
        root = value[_HEAD.size : start]
        if len(root) < _ROOT:
            raise ChunkError("a chunk that was cut short", magic=True)
    return SnapshotChunk(
        form, Position(identity, sequence, digest, root), snapshot_digest, index, count, rows, value[start:]
    )


def make_chunks(
    position: Position, rows: Sequence[EncodedRow], *, size: int = SNAPSHOT_CHUNK_BYTES
) -> tuple[SnapshotChunk, ...]:
    """Make the chunks of a snapshot: the rows that were live at a position.

    Raises `SnapshotError` where they would be too many, and `SnapshotMismatchError` where they do not come to the root
    of the position.
    """
    roots = roots_of(rows)
    if as_root(roots) != position.root:
        raise SnapshotMismatchError(
            f"the rows at sequence {position.sequence} come to the state root {as_root(roots).hex()}, "
            f"and the log states {position.root.hex()} there"
        )
    packed = b"".join(_compress(roots, rows))
    payloads = [packed[start : start + size] for start in range(0, len(packed), size)]
    if len(payloads) > SNAPSHOT_CHUNKS:
        raise SnapshotError(
            f"a snapshot of {len(packed)} bytes would have {len(payloads)} chunks, at most {SNAPSHOT_CHUNKS} (SNAPSHOT_CHUNKS)"
        )
    snapshot_digest = digest_snapshot(position, len(rows), payloads)
    return tuple(
        SnapshotChunk(FORMAT, position, snapshot_digest, index, len(payloads), len(rows), payload)
        for index, payload in enumerate(payloads)
    )


def select_if_intact(chunks: Iterable[SnapshotChunk]) -> tuple[SnapshotChunk, ...]:
    """Return the chunks of one snapshot in their order, each once, if all are there and undamaged; nothing otherwise.

    A snapshot of another format is returned as it is: this version cannot read it, and must not choose an older one
    instead.
    """
    ordered = sort_if_all(chunks)
    if not ordered:
        return ()
    first = ordered[0]
    if first.format != FORMAT:
        return () if _has_wrong_format(ordered) else ordered
    return (
        ordered
        if digest_snapshot(first.position, first.rows, [chunk.payload for chunk in ordered]) == first.snapshot_digest
        else ()
    )


def _has_wrong_format(ordered: Sequence[SnapshotChunk]) -> bool:
    """Return whether chunks are a snapshot of this format but for the number of it in the first one: a bit of that has
    changed.
    """
    first = ordered[0]
    data = bytes(first.payload)
    position = replace(first.position, root=data[:_ROOT])
    payloads = [data[_ROOT:], *(chunk.payload for chunk in ordered[1:])]
    return len(data) >= _ROOT and digest_snapshot(position, first.rows, payloads) == first.snapshot_digest


def sort_if_all(chunks: Iterable[SnapshotChunk]) -> tuple[SnapshotChunk, ...]:
    """Return the chunks of one snapshot in their order, each once, damaged or not; nothing where one is missing."""
    by_index = {chunk.index: chunk for chunk in chunks}
    count = next((chunk.count for chunk in by_index.values()), 0)
    if not count or count > SNAPSHOT_CHUNKS or sorted(by_index) != [*range(count)]:
        return ()
    return tuple(by_index[index] for index in range(count))


def read_snapshot_rows(chunks: Sequence[SnapshotChunk]) -> Iterator[EncodedRow]:
    """Read the rows of a whole snapshot; at their end they have been compared with what it says of them.

    Raises `SnapshotError` for another format, and `SnapshotMismatchError`.
    """
    position = chunks[0].position
    if chunks[0].format != FORMAT:
        raise SnapshotError(
            f"the snapshot at sequence {position.sequence} has format {chunks[0].format}, known is {FORMAT}"
        )
    name = f"the snapshot at sequence {position.sequence}"
    count, shares = 0, dict[str, int]()
    try:
        pieces = _decompress(chunks)
        stated = _parse_roots(next(pieces))
        for row in _parse_pieces(pieces):
            count += 1
            add_share(shares, row.table, row.digest)
            yield row
    except (zstandard.ZstdError, struct.error, ValueError, TypeError, StopIteration) as error:
        raise SnapshotMismatchError(f"{name} can't be read ({error!r})") from error
    differing = sorted(table for table in {*shares, *stated} if shares.get(table) != stated.get(table))
    if count != chunks[0].rows or differing:
        raise SnapshotMismatchError(
            f"{name} has rows that are not those which it names, of {', '.join(differing) or 'no table'}"
        )
    if as_root(stated) != position.root:
        raise SnapshotMismatchError(f"the tables of {name} come to another state root than it states")


def _decompress(chunks: Iterable[SnapshotChunk]) -> Iterator[bytes]:
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


def _parse_roots(text: bytes) -> dict[str, int]:
    """What each table adds, as the snapshot says."""
    members = json.loads(text)
    if type(members) is not dict:
        raise ValueError("no list of tables")
    return {table: int(root, 16) for table, root in members.items()}


def _parse_pieces(pieces: Iterable[bytes]) -> Iterator[EncodedRow]:
    rest = b""
    for piece in pieces:
        rest += piece
        end = yield from _parse_rows(rest)
        rest = rest[end:]
    if rest:
        raise ValueError("a row that was cut short")


def _parse_rows(data: bytes) -> Generator[EncodedRow, None, int]:
    """The rows that are whole in some bytes; returns where they end."""
    at, end = 0, len(data)
    while at + _ROW.size <= end:
        table, key, value = _ROW.unpack_from(data, at)
        start = at + _ROW.size
        stop = start + table + key + value
        if stop > end:
            break
        yield EncodedRow(
            str(data[start : start + table], "utf-8", "surrogatepass"),
            str(data[start + table : start + table + key], "utf-8", "surrogatepass"),
            str(data[start + table + key : stop], "utf-8", "surrogatepass"),
        )
        at = stop
    return at


def _compress(roots: Mapping[str, int], rows: Iterable[EncodedRow]) -> Iterator[bytes]:
    work = zstandard.ZstdCompressor(level=LEVEL).compressobj()
    stated = dumps({table: f"{root:064x}" for table, root in roots.items()}).encode()
    waiting: list[bytes] = [_ROOTS.pack(len(stated)), stated]
    size = 0
    for row in rows:
        parts = [text.encode("utf-8", "surrogatepass") for text in (row.table, row.key, row.value or "")]
        waiting += [_ROW.pack(*map(len, parts)), *parts]
        size += sum(map(len, parts))
        if size > _PIECE_BYTES:
            yield work.compress(b"".join(waiting))
            waiting, size = [], 0
    yield work.compress(b"".join(waiting))
    yield work.flush()


def digest_snapshot(position: Position, rows: int, payloads: Sequence[Payload]) -> bytes:
    """The digest of a whole snapshot."""
    covered = _COVERED.pack(position.identity, position.sequence, position.digest, position.root, len(payloads), rows)
    digest = hashlib.sha256(covered)
    for payload in payloads:
        digest.update(bytes(payload))
    return digest.digest()


def find_pointers(rows: Iterable[EncodedRow]) -> list[SnapshotPointer]:
    """The snapshots that some rows name."""
    values = (decode_row(row).value for row in rows if row.table == SNAPSHOT_TABLE)
    return [value for value in values if isinstance(value, SnapshotPointer)]


def make_state_file_chunks(position: Position, path: Path, kind: int) -> tuple[SnapshotChunk, ...]:
    """The chunks of a file; none where they would be too many. Raises `OSError`."""
    payloads = split_file(path, SNAPSHOT_CHUNK_BYTES)
    if len(payloads) > SNAPSHOT_CHUNKS:
        return ()
    snapshot_digest = digest_snapshot(position, kind, payloads)
    return tuple(
        SnapshotChunk(STATE_FILE_FORMAT, position, snapshot_digest, index, len(payloads), kind, payload)
        for index, payload in enumerate(payloads)
    )


def write_state_file_chunks(chunks: Sequence[SnapshotChunk], path: Path) -> bool:
    """Write a state file from its chunks; False, and no file, where it is damaged. Raises `OSError`."""
    first = chunks[0]
    if digest_snapshot(first.position, first.rows, [chunk.payload for chunk in chunks]) != first.snapshot_digest:
        return False
    with path.open("xb") as file:
        path.chmod(0o600)
        file.writelines(bytes(chunk.payload) for chunk in chunks)
    return True
