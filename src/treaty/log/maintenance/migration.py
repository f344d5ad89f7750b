"""Migration of a log to another backend: the old log is sealed against writes, and its state is written to the new one,
with its origin. The new log has exactly the acknowledged commits of the old one, so ids need no gap.

Of all copies only one may become whole: the old log's seal names its identity before the append that ends the move.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from treaty.core.state.commit import START, Position, roots_of
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
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

    Raises as `restore_log` does, and `RestoreError` where the source was moved elsewhere already, or the move was
    cancelled meanwhile.
    """
    target_tip = await refuse_used_log(target)

    def set_seal(delta: LogDelta) -> list[EncodedRow]:
        return _make_seal(source, delta, target.url, target_tip.identity.hex(), time)

    delta = await change_log(source, set_seal, time)
    rows = [row for row in delta.rows if row.table not in LOG_LOCAL_TABLES]
    head = DumpHead(source.url, _find_seal_position(delta), roots_of(rows), len(rows), time)

    async def confirm(end: Position) -> None:
        await change_log(source, lambda now: _name_successor(source, now, head.position, end.identity.hex()), time)

    end = await restore_log(target, head, rows, time=time, gap=0, progress=progress, confirm=confirm)
    return MigrationResult(await source.tip(), end, len(rows))


def _find_seal_position(delta: LogDelta) -> Position:
    """The position that a seal was set at. The end may lie further: a log that makes snapshots names them in appends,
    sealed or not.
    """
    seal = find_seal(delta)
    assert seal is not None
    return Position(delta.tip.identity, seal.sequence, bytes.fromhex(seal.digest))


async def change_log(log: Log, change: Callable[[LogDelta], list[EncodedRow]], time: int) -> LogDelta:
    """Append the rows that a change makes of the whole state, if any; return the state after it. Nodes may be writing all
    the time.

    Raises what `change` raises, and as `append_to_state` does.
    """
    if log.lockable:
        async with log.lock():
            await _change_once(log, change, time)
    else:
        for left in reversed(range(TRIES)):
            try:
                await _change_once(log, change, time)
                break
            except ConcurrentWriteError:
                if not left:
                    raise
    return await log.read(START)


async def _change_once(log: Log, change: Callable[[LogDelta], list[EncodedRow]], time: int) -> None:
    delta = await log.read(START)
    rows = change(delta)
    if rows:
        await append_to_state(log, delta, rows, time)


def _make_seal(source: Log, delta: LogDelta, url: str, identity: str, time: int) -> list[EncodedRow]:
    """The row that seals a log; nothing where it is sealed for this target. `identity` is the target's."""
    if delta.tip == START:
        raise RestoreError(f"{source.url} is empty: there is nothing to migrate; start the nodes on {url}")
    refuse_wrong_root(source, delta)
    seal = find_seal(delta)
    if seal is None:
        mark = LogOrigin(delta.tip.identity.hex(), delta.tip.sequence, delta.tip.digest.hex(), time, 0, url)
        return [make_seal_row(mark)]
    if seal.url != url:
        raise RestoreError(
            f"{source.url} was migrated to {seal.url} already; remove the seal first: `treaty log migrate {source.url} {seal.url} --cancel`"
        )
    _refuse_second_successor(source, seal, identity)
    return []


def _name_successor(source: Log, delta: LogDelta, position: Position, identity: str) -> list[EncodedRow]:
    """The seal with the identity of the new log, which is whole after that and may give ids; nothing where it has it."""
    seal = find_seal(delta)
    if seal is None or (seal.sequence, seal.digest) != (position.sequence, position.digest.hex()):
        raise RestoreError(
            f"the migration of {source.url} was cancelled meanwhile: the new log stays unfinished; migrate to a new place"
        )
    _refuse_second_successor(source, seal, identity)
    return [] if seal.successor else [make_seal_row(replace(seal, successor=identity))]


def _refuse_second_successor(source: Log, seal: LogOrigin, identity: str) -> None:
    if seal.successor not in {"", identity}:
        raise RestoreError(
            f"{source.url} was migrated to log {seal.successor} at {seal.url} already, and {seal.url} has another log now: two logs "
            "would give the same ids; start the nodes on the log that it was migrated to. If that is lost, run "
            f"`treaty log migrate {source.url} --cancel --gap N` before another migration, with N above the number of ids it gave"
        )


def make_seal_row(seal: LogOrigin | None) -> EncodedRow:
    """The row that seals a log; None removes the seal."""
    return encode_row(Row("log_origin", SUCCESSOR, seal))


def find_seal(delta: LogDelta) -> LogOrigin | None:
    """The seal among the rows of a log; None where there is none."""
    return find_origin(delta, SUCCESSOR)


def find_origin(delta: LogDelta, role: tuple[str]) -> LogOrigin | None:
    """The row of `log_origin` with a role among the rows of a log; None where there is none."""
    key = encode_row(Row("log_origin", role, None)).key
    value = next((decode_row(row).value for row in delta.rows if row.table == "log_origin" and row.key == key), None)
    return value if isinstance(value, LogOrigin) else None
