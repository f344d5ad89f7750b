"""Moving a log to another backend: the old one is sealed, so that nothing is written to it any more, and its state goes
into the new one, which knows where it comes from.

What was acknowledged by the old log is in the new one, and nothing else can be: so ids need no gap.
"""

from dataclasses import dataclass

from treaty.core.commit import START, Position
from treaty.core.root import roots_of
from treaty.core.rows import Row, decode_row, encode_row
from treaty.core.values import LogOrigin
from treaty.log.care.dump import Head
from treaty.log.care.restore import (
    PLACED,
    SUCCESSOR,
    TRIES,
    OvertakenError,
    RestoreError,
    Told,
    put_on,
    refuse_changed,
    refuse_taken,
    restore,
    silent,
)
from treaty.log.log import Log, LogDelta


@dataclass(frozen=True, slots=True)
class Moved:
    """The ends of a move: where the old log ended when it was read, and where the new one begins to be written."""

    source: Position
    target: Position
    rows: int


async def migrate(source: Log, target: Log, *, time: int, told: Told = silent) -> Moved:
    """Seal the source and restore its state into the empty target; cut off, it is begun again and goes through.

    Raises as `restore` does, and `RestoreError` where the source was moved to another place already.
    """
    await refuse_taken(target)
    delta = await _sealed(source, target.url, time)
    rows = [row for row in delta.rows if row.table not in PLACED]
    head = Head(source.url, _left(delta), roots_of(rows), len(rows), time)
    end = await restore(target, head, rows, time=time, gap=0, told=told)
    return Moved(delta.tip, end, len(rows))


def _left(delta: LogDelta) -> Position:
    """The place that a seal was set at. The end may lie further: a log that folds itself writes down that it did, sealed or not."""
    seal = seal_of(delta)
    assert seal is not None
    return Position(delta.tip.identity, seal.sequence, bytes.fromhex(seal.digest))


async def _sealed(source: Log, place: str, time: int) -> LogDelta:
    """The state of the source at its seal, which is set where it is missing; nodes may be writing all the time."""
    if source.lockable:
        async with source.lock():
            await _seal(source, place, time)
    else:
        for left in reversed(range(TRIES)):
            try:
                await _seal(source, place, time)
                break
            except OvertakenError:
                if not left:
                    raise
    return await source.read(START)


async def _seal(source: Log, place: str, time: int) -> None:
    delta = await source.read(START)
    if delta.tip == START:
        raise RestoreError(f"{source.url} is empty: there is nothing to move; point the nodes to {place}")
    refuse_changed(source, delta)
    seal = seal_of(delta)
    if seal is not None and seal.url != place:
        raise RestoreError(f"{source.url} was moved to {seal.url} already; take that seal away with --cancel first")
    if seal is None:
        mark = LogOrigin(delta.tip.identity.hex(), delta.tip.sequence, delta.tip.digest.hex(), time, 0, place)
        await put_on(source, delta, [encode_row(Row("log_origin", SUCCESSOR, mark))], time)


def seal_of(delta: LogDelta) -> LogOrigin | None:
    """The seal among the rows of a log; None where there is none."""
    key = encode_row(Row("log_origin", SUCCESSOR, None)).key
    found = next((decode_row(row).value for row in delta.rows if row.table == "log_origin" and row.key == key), None)
    return found if isinstance(found, LogOrigin) else None


async def unseal(source: Log, *, time: int) -> LogOrigin | None:
    """Take the seal away, so that the log is written to again; return it, or None where there was none."""
    delta = await source.read(START)
    seal = seal_of(delta)
    if seal is not None:
        await put_on(source, delta, [encode_row(Row("log_origin", SUCCESSOR, None))], time)
    return seal
