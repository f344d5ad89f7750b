"""Migration of a log to another backend: the old log is sealed against writes, and its state is written to the new one,
with its origin. The new log has exactly the acknowledged commits of the old one, so ids need no gap.
"""

from dataclasses import dataclass

from treaty.core.state.commit import START, Position
from treaty.core.state.root import roots_of
from treaty.core.state.rows import Row, decode_row, encode_row
from treaty.core.state.values import LogOrigin
from treaty.log.log import Log, LogDelta
from treaty.log.maintenance.dump import DumpHead
from treaty.log.maintenance.restore import (
    LOG_LOCAL_TABLES,
    SUCCESSOR,
    TRIES,
    ConcurrentWriteError,
    ProgressCallback,
    RestoreError,
    append_to_state,
    ignore_progress,
    refuse_used_log,
    refuse_wrong_root,
    restore_log,
)


@dataclass(frozen=True, slots=True)
class MigrationResult:
    """The ends of a move: where the old log ended when it was read, and where the new one begins to be written."""

    source: Position
    target: Position
    rows: int


async def migrate_log(
    source: Log, target: Log, *, time: int, progress: ProgressCallback = ignore_progress
) -> MigrationResult:
    """Seal the source and restore its state into the empty target; cut off, it is begun again and goes through.

    Raises as `restore_log` does, and `RestoreError` where the source was moved elsewhere already.
    """
    await refuse_used_log(target)
    delta = await _read_sealed(source, target.url, time)
    rows = [row for row in delta.rows if row.table not in LOG_LOCAL_TABLES]
    head = DumpHead(source.url, _find_seal_position(delta), roots_of(rows), len(rows), time)
    end = await restore_log(target, head, rows, time=time, gap=0, progress=progress)
    return MigrationResult(delta.tip, end, len(rows))


def _find_seal_position(delta: LogDelta) -> Position:
    """The position that a seal was set at. The end may lie further: a log that makes snapshots names them in appends,
    sealed or not.
    """
    seal = find_seal(delta)
    assert seal is not None
    return Position(delta.tip.identity, seal.sequence, bytes.fromhex(seal.digest))


async def _read_sealed(source: Log, url: str, time: int) -> LogDelta:
    """The state of the source at its seal, which is set where it is missing; nodes may be writing all the time."""
    if source.lockable:
        async with source.lock():
            await _set_seal(source, url, time)
    else:
        for left in reversed(range(TRIES)):
            try:
                await _set_seal(source, url, time)
                break
            except ConcurrentWriteError:
                if not left:
                    raise
    return await source.read(START)


async def _set_seal(source: Log, url: str, time: int) -> None:
    delta = await source.read(START)
    if delta.tip == START:
        raise RestoreError(f"{source.url} is empty: there is nothing to migrate; start the nodes on {url}")
    refuse_wrong_root(source, delta)
    seal = find_seal(delta)
    if seal is not None and seal.url != url:
        raise RestoreError(f"{source.url} was migrated to {seal.url} already; remove the seal with --cancel first")
    if seal is None:
        mark = LogOrigin(delta.tip.identity.hex(), delta.tip.sequence, delta.tip.digest.hex(), time, 0, url)
        await append_to_state(source, delta, [encode_row(Row("log_origin", SUCCESSOR, mark))], time)


def find_seal(delta: LogDelta) -> LogOrigin | None:
    """The seal among the rows of a log; None where there is none."""
    key = encode_row(Row("log_origin", SUCCESSOR, None)).key
    found = next((decode_row(row).value for row in delta.rows if row.table == "log_origin" and row.key == key), None)
    return found if isinstance(found, LogOrigin) else None


async def unseal_log(source: Log, *, time: int) -> LogOrigin | None:
    """Take the seal away, so that the log is written to again; return it, or None where there was none."""
    delta = await source.read(START)
    seal = find_seal(delta)
    if seal is not None:
        await append_to_state(source, delta, [encode_row(Row("log_origin", SUCCESSOR, None))], time)
    return seal
