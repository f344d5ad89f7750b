"""Topics of format 1 with any writer: which records are the log, and what state they come to. Pure.

A record that names the last valid append as its parent is the next valid append. A fold is the state at one place in chunks; it
counts when a valid append behind it names its digest. Reading begins at the fold with the highest sequence that counts.
"""

import hashlib
import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import zstandard

from treaty.log.upgrade.old import (
    EMPTY,
    FORMAT,
    NO_DIGEST,
    OldClaim,
    OldLogError,
    OldPlace,
    OldRow,
    read_claim,
    read_commits,
)

CHUNK = b"TRTF"
FOLD_FORMAT = 1
_HEAD = struct.Struct(">4sH16sQ32s32sIIQ")
"""magic, format, identity, sequence, digest, digest of the whole fold, number of the chunk, number of chunks, number of rows."""
_COVERED = struct.Struct(">16sQ32sIQ")
_ROW = struct.Struct(">HII")
MOST_CHUNKS = 20_000

Record = tuple[int, bytes]
"""Offset and value."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    format: int
    place: OldPlace
    told: bytes
    index: int
    count: int
    rows: int
    payload: bytes = field(repr=False)


@dataclass(slots=True)
class _History:
    """The last valid append, and the digests at which others ended since the beginning."""

    tip: OldPlace
    places: dict[int, bytes]

    def follow(self, claim: OldClaim) -> bool:
        """Go on with an append if it is the next one; False for one that lost. Raises `OldLogError`."""
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
            if not follows and base >= min(self.places) and self.places.get(base) != claim.parent:
                raise OldLogError(f"the log holds two histories: sequence {claim.first} was decided on another one")
        if not follows or not claim.length:
            return False
        if claim.format != FORMAT:
            raise OldLogError(f"sequence {claim.first} has envelope format {claim.format}: this is no log of format 1")
        self.tip = claim.place
        self.places[claim.place.sequence] = claim.digest
        return True


def state_of(records: Sequence[Record], first: int) -> tuple[OldPlace, tuple[OldRow, ...]]:
    """Return the end of the log that a partition holds from its `first` offset on, and its live rows. Raises `OldLogError`."""
    appends = [(claim, value) for _, value in records if (claim := read_claim(value)) is not None]
    folds = _folds(records)
    for told, chunks in sorted(folds.items(), key=lambda fold: -fold[1][0].place.sequence):
        if _counts(chunks[0].place, told, appends):
            return _applied(chunks[0].place, _rows_of(chunks), appends)
    if first:
        raise OldLogError(
            f"the front of the log is missing: it begins at offset {first}, and no fold stands for what was there"
        )
    return _applied(EMPTY, (), appends)


def _applied(
    place: OldPlace, rows: Iterable[OldRow], appends: Iterable[tuple[OldClaim, bytes]]
) -> tuple[OldPlace, tuple[OldRow, ...]]:
    live = {(row.table, row.key): row for row in rows}
    history = _History(place, {place.sequence: place.digest})
    for claim, record in appends:
        if history.follow(claim):
            for row in read_commits(record):
                if row.value is None:
                    live.pop((row.table, row.key), None)
                else:
                    live[row.table, row.key] = row
    return history.tip, tuple(live.values())


def _folds(records: Iterable[Record]) -> dict[bytes, list[_Chunk]]:
    """The folds whose chunks are all there and undamaged, by their digests."""
    gathered: defaultdict[bytes, dict[int, _Chunk]] = defaultdict(dict)
    for _, value in records:
        if value[:4] == CHUNK and len(value) >= _HEAD.size:
            _, form, identity, sequence, digest, told, index, count, rows = _HEAD.unpack_from(value)
            if form == FOLD_FORMAT:
                chunk = _Chunk(
                    form, OldPlace(identity, sequence, digest), told, index, count, rows, value[_HEAD.size :]
                )
                gathered[told][index] = chunk
    whole = {}
    for told, by_index in gathered.items():
        count = next(iter(by_index.values())).count
        if 0 < count <= MOST_CHUNKS and sorted(by_index) == [*range(count)]:
            chunks = [by_index[index] for index in range(count)]
            place, digest = chunks[0].place, hashlib.sha256()
            digest.update(_COVERED.pack(place.identity, place.sequence, place.digest, count, chunks[0].rows))
            for chunk in chunks:
                digest.update(chunk.payload)
            if digest.digest() == told:
                whole[told] = chunks
    return whole


def _counts(place: OldPlace, told: bytes, appends: Iterable[tuple[OldClaim, bytes]]) -> bool:
    """Whether a valid append behind a place names the fold there."""
    history = _History(place, {place.sequence: place.digest})
    name = told.hex().encode()
    for claim, record in appends:
        try:
            if history.follow(claim) and name in record and _names(record, told.hex()):
                return True
        except OldLogError:
            return False
    return False


def _names(record: bytes, told: str) -> bool:
    values = (row.value for row in read_commits(record) if row.table == "fold")
    return any(value is not None and json.loads(value).get("told") == told for value in values)


def _rows_of(chunks: Iterable[_Chunk]) -> Iterator[OldRow]:
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
