"""Folding: the state goes into the log itself, and what was before it is deleted."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from treaty.core.commit import Append, Commit, Position, make_append
from treaty.core.rows import Encoded, Row, encode_row
from treaty.core.values import SnapshotPointer
from treaty.log.kafka.any.chunks import Chunk, WrongFoldError, cut
from treaty.log.kafka.any.reading import FOLD, NEWEST, Held, state
from treaty.log.kafka.any.scan import Scanned
from treaty.log.kafka.link import Link
from treaty.log.log import AppendResult, LogDamagedError, LogUnavailableError

SENT = 4
"""Times that a chunk is sent where nobody says whether it arrived."""
NAMED = 20
"""Times that the append that names a fold may come second."""

Work = Callable[[Callable[[], tuple[Chunk, ...]]], Awaitable[tuple[Chunk, ...]]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is folded: the appends up to a place that ended one of them, and the offset after that append's record."""

    place: Position
    appends: tuple[Held, ...]
    rest: int


def plan(scanned: Scanned, margin: int) -> Plan | None:
    """Choose the place: the end of the log but for `margin` appends. None where nothing came since the last fold.

    The place is always the end of an append, never inside its chain. Its record is the one that was judged valid by
    who read all before it: another record of the same append may come again, later, and cutting there would lose what
    lies between.
    """
    held = scanned.reading.held
    appends = tuple(held)[: max(0, len(held) - margin)]
    if not appends:
        return None
    last = appends[-1]
    return Plan(last.after, appends, last.offset + 1)


async def fold(
    link: Link,
    scanned: Scanned,
    chosen: Plan,
    *,
    append: Callable[[Append], Awaitable[AppendResult]],
    tip: Callable[[], Awaitable[Position]],
    arrived: Callable[[bytes, Mapping[int, int]], Awaitable[None]],
    knows: Callable[[Position], bool],
    attempt: Callable[[], bytes],
    work: Work,
) -> bool:
    """Write a fold, name it, and delete what it stands for; tell whether that was done.

    Broken off at any step it leaves chunks that nobody names, or a prefix that the next fold deletes. `arrived` returns
    when all chunks of a fold were read back with the CRC-32 that each was sent with, `knows` tells whether a place is in the
    history that the log shows now. Raises `LogDamagedError` where the rows do not come to the root that the log states at the
    place: the prefix is all that can show what they should be.
    """
    try:
        chunks = await work(lambda: cut(chosen.place, state(scanned.reading.chunks, chosen.appends)))
    except WrongFoldError as error:
        raise LogDamagedError(f"{error}: no snapshot is made there; see `treaty log repair --accept-state`") from error
    for chunk in chunks:
        if not await sent(link, chunk):
            return False
    told = chunks[0].told
    await arrived(told, {chunk.index: crc32(bytes(chunk.payload)) for chunk in chunks})
    row = encode_row(Row(FOLD, NEWEST, SnapshotPointer(chosen.place.sequence, chosen.place.digest.hex(), told.hex())))
    if not await _name(row, chosen.place, append=append, tip=tip, knows=knows, attempt=attempt):
        return False
    await link.cut(chosen.rest)
    return True


async def sent(link: Link, chunk: Chunk) -> bool:
    """Send a chunk until it is acknowledged; False where that does not come."""
    for _ in range(SENT):
        if await link.send(chunk.record) is not None:
            return True
    return False


async def _name(
    row: Encoded,
    place: Position,
    *,
    append: Callable[[Append], Awaitable[AppendResult]],
    tip: Callable[[], Awaitable[Position]],
    knows: Callable[[Position], bool],
    attempt: Callable[[], bytes],
) -> bool:
    """Get an append that names the fold into the log: a fold that nobody names is worth nothing.

    It repeats the root of its base, as its row does not count in that.
    """
    for _ in range(NAMED):
        base = await tip()
        if not knows(place):
            return False  # another history stands there now, or a newer fold counts already
        commits: Sequence[Commit] = (Commit(base.sequence + 1, (row,)),)
        result = await append(make_append(base, attempt(), tuple(commits), None))
        if result is AppendResult.ACCEPTED:
            return True
        if result is AppendResult.UNKNOWN:
            raise LogUnavailableError("whether the snapshot was named is not known")
    return False
