"""The upgrade: a log of format 1 is sealed, its rows become those of a new log, and all of them are compared.

A log that is sealed gives no more ids, so those of the new one need no gap. A dump or a backup is a copy: its log may have gone on
after it was made, and ids are raised as a restore raises them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.commit import Position, as_root
from treaty.core.limits import RESTORE_GAP
from treaty.core.root import roots_of
from treaty.log.care.dump import Head
from treaty.log.care.restore import Told, refuse_taken, restore, silent
from treaty.log.log import Log
from treaty.log.state_roots import find_root_mismatches, read_with_table_roots
from treaty.log.upgrade.listing import Difference, differences
from treaty.log.upgrade.old import EMPTY, OldLog, OldLogError, OldPlace, OldRow, OldState, Seal
from treaty.log.upgrade.rows import Converted, converted


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What an upgrade came to. `end` is None where nothing was written; `differences` is empty where all is equal."""

    source: OldPlace
    end: Position | None
    rows: int
    gap: int
    ended: Mapping[str, int]
    """Rows that were not carried over, by their tables of format 1."""
    unreadable: tuple[OldRow, ...]
    """Rows that format 1 could not read: they stay in quarantine as they are."""
    differences: tuple[Difference, ...]


async def upgrade(
    old: OldLog, target: Log | None, *, time: int, gap: int | None = None, told: Told = silent
) -> Upgraded:
    """Carry a log of format 1 into the empty target; cut off, it is begun again and goes through. Without a target nothing is
    written anywhere, and the result says what would be.

    Raises `OldLogError` where the old log is empty, went elsewhere or is still written to, and as `restore` does.
    """
    state = await old.read()
    refuse_gone(state, target)
    new = converted(state.rows)
    raised = gap if gap is not None else 0 if old.living else RESTORE_GAP
    if target is None:
        found = tuple(differences(state.rows, new.rows, 0))
        return Upgraded(state.place, None, len(new.rows), raised, new.ended, new.unreadable, found)
    await refuse_taken(target)
    place = await _sealed(old, state, target.url, time)
    end = await restore(target, _head(state, place, new, time), new.rows, time=time, gap=raised, told=told)
    delta, stated = await read_with_table_roots(target)
    sums = find_root_mismatches(delta.tip.root, stated, roots_of(delta.rows))
    found = (
        *differences(state.rows, delta.rows, raised),
        *(Difference(one.table or "state root", "", "", one.message) for one in sums),
    )
    return Upgraded(place, end, len(new.rows), raised, new.ended, new.unreadable, found)


def refuse_gone(state: OldState, target: Log | None) -> None:
    """Raise `OldLogError` where there is nothing to carry over, or it was carried elsewhere before."""
    if state.place == EMPTY:
        raise OldLogError(f"{state.url} is empty: there is nothing to upgrade; start nodes on a new log")
    seal = state.seal
    if seal is not None and (target is None or seal.url != target.url):
        raise OldLogError(f"{state.url} was moved to {seal.url} already; take that seal away with --cancel first")


async def _sealed(old: OldLog, state: OldState, url: str, time: int) -> OldPlace:
    """The place at which the old log is sealed, by this upgrade or by one that was cut off; of a copy, where it was made."""
    seal = state.seal
    if seal is not None:
        return seal.place
    if old.living:
        await old.write(state.place, Seal(state.place, url).row(time), time)
    return state.place


async def cancel(old: OldLog, *, time: int) -> Seal | None:
    """Take the seal away, so that nodes of format 1 write again; return it, or None where there was none."""
    state = await old.read()
    seal = state.seal
    if seal is not None and old.living:
        await old.write(state.place, OldRow(*seal.row(time)[:2], None), time)
    return seal


def _head(state: OldState, place: OldPlace, new: Converted, time: int) -> Head:
    roots = roots_of(new.rows)
    position = Position(place.identity, place.sequence, place.digest, as_root(roots))
    return Head(state.url, position, roots, len(new.rows), time)
