"""Compaction: writes a snapshot to the log and deletes the records before it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from treaty.core.state.commit import Append, Commit, Position, make_append
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.values import SnapshotPointer
from treaty.log.kafka.multi_writer.chunks import (
    NEWEST_KEY,
    SNAPSHOT_TABLE,
    SnapshotChunk,
    SnapshotMismatchError,
    make_chunks,
)
from treaty.log.kafka.multi_writer.reader_state import BufferedAppend, build_state
from treaty.log.kafka.multi_writer.scan import ScanResult
from treaty.log.kafka.partition import PartitionClient
from treaty.log.log import AppendResult, LogDamagedError, LogUnavailableError

SEND_TRIES = 4
"""Times that a chunk is sent where it is not known whether it arrived."""
APPEND_TRIES = 20
"""Times that the append that names a snapshot may come second."""

RunWork = Callable[[Callable[[], tuple[SnapshotChunk, ...]]], Awaitable[tuple[SnapshotChunk, ...]]]


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """What goes into a snapshot: the appends up to a position that ended one of them, and the offset after that
    append's record.
    """

    position: Position
    appends: tuple[BufferedAppend, ...]
    rest: int


def plan_compaction(scanned: ScanResult, margin: int) -> CompactionPlan | None:
    """Choose the position: the end of the log but for `margin` appends. None where nothing came since the last
    snapshot.

    The position is always the end of an append, never inside its chain. Its record is the one that was checked valid by
    who read all before it: another record of the same append may come again, later, and cutting there would lose what
    lies between.
    """
    held = scanned.state.buffered
    appends = tuple(held)[: max(0, len(held) - margin)]
    if not appends:
        return None
    last = appends[-1]
    return CompactionPlan(last.after, appends, last.offset + 1)


async def write_snapshot(
    client: PartitionClient,
    scanned: ScanResult,
    chosen: CompactionPlan,
    *,
    append: Callable[[Append], Awaitable[AppendResult]],
    tip: Callable[[], Awaitable[Position]],
    arrived: Callable[[bytes, Mapping[int, int]], Awaitable[None]],
    knows: Callable[[Position], bool],
    attempt: Callable[[], bytes],
    work: RunWork,
) -> bool:
    """Write a snapshot, name it, and delete what it stands for; return whether that was done.

    Broken off at any step it leaves chunks that no append names, or a prefix that the next snapshot deletes. `arrived`
    returns when all chunks of a snapshot were read back with the CRC-32 that each was sent with, `knows` returns
    whether a position is in the history that the log shows now. Raises `LogDamagedError` where the rows do not come to
    the root that the log states at the place: the prefix is all that can show what they should be.
    """
    try:
        chunks = await work(lambda: make_chunks(chosen.position, build_state(scanned.state.chunks, chosen.appends)))
    except SnapshotMismatchError as error:
        raise LogDamagedError(f"{error}: no snapshot is made there; see `treaty log repair --accept-state`") from error
    for chunk in chunks:
        if not await send_chunk(client, chunk):
            return False
    snapshot_digest = chunks[0].snapshot_digest
    await arrived(snapshot_digest, {chunk.index: crc32(bytes(chunk.payload)) for chunk in chunks})
    row = encode_row(
        Row(
            SNAPSHOT_TABLE,
            NEWEST_KEY,
            SnapshotPointer(chosen.position.sequence, chosen.position.digest.hex(), snapshot_digest.hex()),
        )
    )
    if not await _append_pointer(row, chosen.position, append=append, tip=tip, knows=knows, attempt=attempt):
        return False
    await client.delete_records(chosen.rest)
    return True


async def send_chunk(client: PartitionClient, chunk: SnapshotChunk) -> bool:
    """Send a chunk until it is acknowledged; False where that does not come."""
    for _ in range(SEND_TRIES):
        if await client.send(chunk.record) is not None:
            return True
    return False


async def _append_pointer(
    row: EncodedRow,
    position: Position,
    *,
    append: Callable[[Append], Awaitable[AppendResult]],
    tip: Callable[[], Awaitable[Position]],
    knows: Callable[[Position], bool],
    attempt: Callable[[], bytes],
) -> bool:
    """Get an append that names the snapshot into the log: a snapshot that no append names is worth nothing.

    It repeats the root of its base, as its row does not count in that.
    """
    for _ in range(APPEND_TRIES):
        base = await tip()
        if not knows(position):
            return False  # another history stands there now, or a newer snapshot counts already
        commits: Sequence[Commit] = (Commit(base.sequence + 1, (row,)),)
        result = await append(make_append(base, attempt(), tuple(commits), None))
        if result is AppendResult.ACCEPTED:
            return True
        if result is AppendResult.UNKNOWN:
            raise LogUnavailableError("whether the snapshot was named is not known")
    return False
