"""The upgrade: a log of format 1 is sealed, its rows become those of a new log, and all of them are compared.

A log that is sealed gives no more ids, so those of the new one need no gap. A dump or a backup is a copy: its log may have gone on
after it was made, and ids are raised as a restore raises them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from treaty.core.limits import RESTORE_GAP
from treaty.core.state.commit import Position, as_root
from treaty.core.state.root import roots_of
from treaty.log.log import Log
from treaty.log.maintenance.dump import DumpHead
from treaty.log.maintenance.restore import ProgressCallback, ignore_progress, refuse_used_log, restore_log
from treaty.log.state_roots import find_root_mismatches, read_with_table_roots
from treaty.log.upgrade.comparison import RowDifference, find_differences
from treaty.log.upgrade.conversion import ConvertedRows, convert_rows
from treaty.log.upgrade.lookup_digests import AnswerQuestion, renew_digests
from treaty.log.upgrade.old_format import EMPTY, OldLog, OldLogError, OldPosition, OldRow, OldSeal, OldState


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """What an upgrade came to. `end` is None where nothing was written; `find_differences` is empty where all is equal."""

    source: OldPosition
    end: Position | None
    rows: int
    gap: int
    ended: Mapping[str, int]
    """Rows that were not carried over, by their tables of format 1."""
    unreadable: tuple[OldRow, ...]
    """Rows that format 1 could not read: they stay in quarantine as they are."""
    find_differences: tuple[RowDifference, ...]


async def upgrade_log(
    old: OldLog,
    target: Log | None,
    answer: AnswerQuestion,
    *,
    time: int,
    gap: int | None = None,
    progress: ProgressCallback = ignore_progress,
) -> UpgradeResult:
    """Carry a log of format 1 into the empty target; cut off, it is begun again and goes through. Without a target nothing is
    written anywhere, and the result says what would be. `answer` reads the schemas, of whose formats it knows.

    Raises `OldLogError` where the old log is empty, went elsewhere or is still written to, and as `restore_log` does.
    """
    state = await old.read()
    refuse_moved_log(state, target)
    converted = convert_rows(state.rows)
    new = replace(converted, rows=tuple(renew_digests(converted.rows, answer)))
    raised = gap if gap is not None else 0 if old.living else RESTORE_GAP
    if target is None:
        found = tuple(find_differences(state.rows, new.rows, 0))
        return UpgradeResult(state.position, None, len(new.rows), raised, new.ended, new.unreadable, found)
    await refuse_used_log(target)
    position = await _seal_old_log(old, state, target.url, time)
    end = await restore_log(
        target, _make_head(state, position, new, time), new.rows, time=time, gap=raised, progress=progress
    )
    delta, stated = await read_with_table_roots(target)
    sums = find_root_mismatches(delta.tip.root, stated, roots_of(delta.rows))
    found = (
        *find_differences(state.rows, delta.rows, raised),
        *(RowDifference(one.table or "state root", "", "", one.message) for one in sums),
    )
    return UpgradeResult(position, end, len(new.rows), raised, new.ended, new.unreadable, found)


def refuse_moved_log(state: OldState, target: Log | None) -> None:
    """Raise `OldLogError` where there is nothing to carry over, or it was carried elsewhere before."""
    if state.position == EMPTY:
        raise OldLogError(f"{state.url} is empty: there is nothing to upgrade; start nodes on a new log")
    seal = state.seal
    if seal is not None and (target is None or seal.url != target.url):
        raise OldLogError(f"{state.url} was moved to {seal.url} already; take that seal away with --cancel first")


async def _seal_old_log(old: OldLog, state: OldState, url: str, time: int) -> OldPosition:
    """The position at which the old log is sealed, by this upgrade or by one that was cut off; of a copy, where it was made."""
    seal = state.seal
    if seal is not None:
        return seal.position
    if old.living:
        await old.write(state.position, OldSeal(state.position, url).row(time), time)
    return state.position


async def cancel_upgrade(old: OldLog, *, time: int) -> OldSeal | None:
    """Take the seal away, so that nodes of format 1 write again; return it, or None where there was none."""
    state = await old.read()
    seal = state.seal
    if seal is not None and old.living:
        await old.write(state.position, OldRow(*seal.row(time)[:2], None), time)
    return seal


def _make_head(state: OldState, position: OldPosition, new: ConvertedRows, time: int) -> DumpHead:
    roots = roots_of(new.rows)
    end = Position(position.identity, position.sequence, position.digest, as_root(roots))
    return DumpHead(state.url, end, roots, len(new.rows), time)
