"""Records of topics of format 1: which of them are the log, and what state they come to. Pure.

With any writer a record that names the last valid append as its parent is the next valid append. A snapshot is the
state at one position in chunks; it counts when a valid append behind it names its digest. Reading begins at the
snapshot with the highest sequence that counts. With one owner there is one record for each row, and an end record
closes every transaction.
"""

import hashlib
import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from json import JSONDecodeError

import zstandard

from treaty.log.upgrade.old_format import (
    EMPTY,
    FORMAT,
    NO_DIGEST,
    OldAppend,
    OldLogError,
    OldPosition,
    OldPrefix,
    OldRow,
    read_prefix,
    read_rows,
    to_canonical_json,
)

CHUNK_MAGIC = b"TRTF"
SNAPSHOT_FORMAT = 1
_HEAD = struct.Struct(">4sH16sQ32s32sIIQ")
"""magic, format, identity, sequence, digest, digest of the whole snapshot, number of the chunk, number of chunks,
number of rows.
"""
_COVERED = struct.Struct(">16sQ32sIQ")
_ROW = struct.Struct(">HII")
MAX_CHUNKS = 20_000

OffsetAndValue = tuple[int, bytes]
"""Offset and value."""


@dataclass(frozen=True, slots=True)
class _SnapshotChunk:
    format: int
    position: OldPosition
    snapshot_digest: bytes
    index: int
    count: int
    rows: int
    payload: bytes = field(repr=False)


@dataclass(slots=True)
class _AppendHistory:
    """The last valid append, and the digests at which others ended since the beginning."""

    tip: OldPosition
    positions: dict[int, bytes]

    def check_and_advance(self, claim: OldPrefix) -> bool:
        """Continue with an append if it is the next one; False for one that lost. Raises `OldLogError`."""
        tip = self.tip
        if not tip.sequence:
            if claim.first > 1:
                raise OldLogError(f"the front of the log is missing: it begins with sequence {claim.first}")
            follows = claim.first == 1 and claim.parent == NO_DIGEST and claim.identity == claim.attempt
        elif claim.identity != tip.identity:
            return False
        elif claim.first > tip.sequence + 1:
            raise OldLogError(f"the log lost data: sequence {claim.first} comes after {tip.sequence}")
        else:
            follows = claim.parent == tip.digest and claim.first == tip.sequence + 1
            base = claim.first - 1
            if not follows and base >= min(self.positions) and self.positions.get(base) != claim.parent:
                raise OldLogError(f"the log holds two histories: sequence {claim.first} was decided on another one")
        if not follows or not claim.length:
            return False
        if claim.format != FORMAT:
            raise OldLogError(f"sequence {claim.first} has envelope format {claim.format}: this is no log of format 1")
        self.tip = claim.position
        self.positions[claim.position.sequence] = claim.digest
        return True


def read_multi_writer_state(records: Sequence[OffsetAndValue], first: int) -> tuple[OldPosition, tuple[OldRow, ...]]:
    """Return the end of the log that a partition holds from its `first` offset on, and its live rows. Raises
    `OldLogError`.
    """
    appends = [(claim, value) for _, value in records if (claim := read_prefix(value)) is not None]
    snapshots = _collect_snapshots(records)
    for snapshot_digest, chunks in sorted(snapshots.items(), key=lambda entry: -entry[1][0].position.sequence):
        if _is_named(chunks[0].position, snapshot_digest, appends):
            return _apply_appends(chunks[0].position, _read_snapshot_rows(chunks), appends)
    if first:
        raise OldLogError(
            f"the front of the log is missing: it begins at offset {first}, and no snapshot stands for what was there"
        )
    return _apply_appends(EMPTY, (), appends)


def _apply_appends(
    position: OldPosition, rows: Iterable[OldRow], appends: Iterable[tuple[OldPrefix, bytes]]
) -> tuple[OldPosition, tuple[OldRow, ...]]:
    live = {(row.table, row.key): row for row in rows}
    history = _AppendHistory(position, {position.sequence: position.digest})
    for claim, record in appends:
        if history.check_and_advance(claim):
            for row in read_rows(record):
                if row.value is None:
                    live.pop((row.table, row.key), None)
                else:
                    live[row.table, row.key] = row
    return history.tip, tuple(live.values())


def _collect_snapshots(records: Iterable[OffsetAndValue]) -> dict[bytes, list[_SnapshotChunk]]:
    """The snapshots whose chunks are all there and undamaged, by their digests."""
    gathered: defaultdict[bytes, dict[int, _SnapshotChunk]] = defaultdict(dict)
    for _, value in records:
        if value[:4] == CHUNK_MAGIC and len(value) >= _HEAD.size:
            _, form, identity, sequence, digest, snapshot_digest, index, count, rows = _HEAD.unpack_from(value)
            if form == SNAPSHOT_FORMAT:
                chunk = _SnapshotChunk(
                    form,
                    OldPosition(identity, sequence, digest),
                    snapshot_digest,
                    index,
                    count,
                    rows,
                    value[_HEAD.size :],
                )
                gathered[snapshot_digest][index] = chunk
    whole = {}
    for snapshot_digest, by_index in gathered.items():
        count = next(iter(by_index.values())).count
        if 0 < count <= MAX_CHUNKS and sorted(by_index) == [*range(count)]:
            chunks = [by_index[index] for index in range(count)]
            position, digest = chunks[0].position, hashlib.sha256()
            digest.update(_COVERED.pack(position.identity, position.sequence, position.digest, count, chunks[0].rows))
            for chunk in chunks:
                digest.update(chunk.payload)
            if digest.digest() == snapshot_digest:
                whole[snapshot_digest] = chunks
    return whole


def _is_named(position: OldPosition, snapshot_digest: bytes, appends: Iterable[tuple[OldPrefix, bytes]]) -> bool:
    """Whether a valid append behind a position names the snapshot there."""
    history = _AppendHistory(position, {position.sequence: position.digest})
    name = snapshot_digest.hex().encode()
    for claim, record in appends:
        try:
            if history.check_and_advance(claim) and name in record and _names_snapshot(record, snapshot_digest.hex()):
                return True
        except OldLogError:
            return False
    return False


def _names_snapshot(record: bytes, snapshot_digest: str) -> bool:
    values = (row.value for row in read_rows(record) if row.table == "fold")
    return any(value is not None and json.loads(value).get("told") == snapshot_digest for value in values)


def _read_snapshot_rows(chunks: Iterable[_SnapshotChunk]) -> Iterator[OldRow]:
    work = zstandard.ZstdDecompressor().decompressobj()
    data = b"".join(work.decompress(chunk.payload) for chunk in chunks)
    at = 0
    while at < len(data):
        sizes = _ROW.unpack_from(data, at)
        at += _ROW.size
        texts = []
        for size in sizes:
            texts.append(str(data[at : at + size], "utf-8", "surrogatepass"))
            at += size
        yield OldRow(*texts)


END_KEY = b'{"log":"sequence"}'
FOREIGN_TABLE = "?record"
"""The table under which a record stands that Treaty did not write; its key is the record's, in hexadecimal."""

KeyAndValue = tuple[bytes, bytes | None]
"""Key and value."""


def read_single_writer_state(records: Iterable[KeyAndValue]) -> tuple[OldPosition, tuple[OldRow, ...]]:
    """Return the end of the log that committed records come to, and its live rows. Raises `OldLogError`."""
    whole: dict[bytes, bytes | None] = {}
    waiting: dict[bytes, bytes | None] = {}
    here = EMPTY
    for key, value in records:
        if key == END_KEY:
            here = _read_end(here, value)
            whole.update(waiting)
            waiting = {}
        else:
            waiting.pop(key, None)
            waiting[key] = value
    if here == EMPTY and waiting:
        raise OldLogError("it has records, but none says where a log ends: this is no log of format 1")
    return here, tuple(read_keyed_row(key, value) for key, value in whole.items() if value is not None)


def _read_end(here: OldPosition, value: bytes | None) -> OldPosition:
    """The position that a mark says. Compaction takes marks away, but two of one log never contradict each other."""
    try:
        members = json.loads(value or b"")
        if members["v"] != FORMAT:
            raise OldLogError(
                f"the record that says where the log ends has format {members['v']}: this is no log of format 1"
            )
        identity, parent, digest = (bytes.fromhex(members[name]) for name in ("identity", "parent", "digest"))
        first, last = int(members["first"]), int(members["last"])
    except (KeyError, TypeError, ValueError) as error:
        raise OldLogError(f"the record that says where the log ends can't be read ({error!r})") from error
    if here != EMPTY and (
        identity != here.identity or first <= here.sequence or (first == here.sequence + 1 and parent != here.digest)
    ):
        raise OldLogError(f"the log holds two histories: sequence {first} does not follow {here.sequence}")
    return OldPosition(identity, last, digest)


def make_transaction(base: OldPosition, append: OldAppend, row: OldRow) -> list[KeyAndValue]:
    """Return the records of an append of one row."""
    position = append.position
    members = {
        "attempt": append.attempt.hex(), "digest": position.digest.hex(), "first": position.sequence,
        "identity": position.identity.hex(), "last": position.sequence, "parent": base.digest.hex(), "rows": 1, "v": FORMAT,
    }  # fmt: skip
    key = f"[{to_canonical_json(row.table)},{row.key}]".encode("utf-8", "surrogatepass")
    value = None if row.value is None else row.value.encode("utf-8", "surrogatepass")
    return [(key, value), (END_KEY, to_canonical_json(members).encode())]


def read_keyed_row(key: bytes, value: bytes) -> OldRow:
    """Return the row that a record holds. Never fails: what is none of Treaty's is kept as it is."""
    table, text = _parse_key(key)
    try:
        return OldRow(table, text, value.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return OldRow(table, text, to_canonical_json(value.hex()))


def _parse_key(key: bytes) -> tuple[str, str]:
    try:
        text = key.decode("utf-8", "surrogatepass")
        table, end = json.JSONDecoder().raw_decode(text, 1)
        inner = text[end + 1 : -1]
        if type(table) is str and table != FOREIGN_TABLE and f"[{to_canonical_json(table)},{inner}]" == text:
            return table, inner
    except (ValueError, RecursionError, JSONDecodeError):
        pass
    return FOREIGN_TABLE, to_canonical_json([key.hex()])
