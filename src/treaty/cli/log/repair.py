"""`treaty log compact` and `treaty log repair`: reclaim space, move unreadable rows into quarantine, lower id counters,
accept a changed state.
"""

import sys
from collections.abc import Iterable

import click

from treaty.cli.log.log_argument import log, now, open_command_log, run
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.confirmation import confirm
from treaty.core.state.reserved import ReservedIds
from treaty.log.log import StoreStats
from treaty.log.maintenance.repair import (
    StateCheck,
    UnreadableRow,
    accept_state,
    check_state,
    find_orphan_rows,
    find_reserved_ids,
    find_unreadable_rows,
    lower_id_counters,
    quarantine_rows,
)
from treaty.log.state_roots import read_with_table_roots


@click.command("compact")
@log
@as_json
def compact(*, log: str, as_json: bool) -> None:
    """Reclaim space in a LOG. Nodes keep running; writes wait.

    \b
    Example:
      treaty log compact sqlite:///var/lib/treaty/log.db
    """  # noqa: D301 - click wants the control character

    async def work() -> tuple[StoreStats, StoreStats]:
        async with open_command_log(log) as opened_log:
            before = await opened_log.read_stats()
            await opened_log.compact()
            return before, await opened_log.read_stats()

    before, after = run(work)
    if as_json:
        sizes = {} if after.bytes < 0 else {"bytesBefore": before.bytes, "bytes": after.bytes}
        screen.say_json({**sizes, "tombstones": after.tombstones})
    else:
        size = f"{before.bytes:,} bytes before, {after.bytes:,} now; " if after.bytes >= 0 else ""
        screen.say(f"{size}{after.tombstones:,} tombstones left", "green")


@click.command("repair", epilog="Exit code 0: no row is unreadable, and the rows match the state root. 1: otherwise.")
@log
@click.option(
    "--accept-state",
    is_flag=True,
    help="Accept the current rows: write a commit with their state root. Without this option a difference is only shown.",
)
@click.option(
    "--quarantine", is_flag=True, help="Move unreadable rows into quarantine. Without this option they are only shown."
)
@click.option(
    "--include-newer",
    "newer",
    is_flag=True,
    help="Include rows that a newer version of Treaty wrote. After an upgrade they would be readable.",
)
@click.option(
    "--ids",
    is_flag=True,
    help="Lower id counters that a few very high ids raised. Without this option they are only shown.",
)
@options.yes
@as_json
def repair_(
    *, log: str, accept_state: bool, quarantine: bool, newer: bool, ids: bool, yes: bool, as_json: bool
) -> None:
    """Show the unreadable rows of a LOG, and move them into quarantine with --quarantine.

    Nodes are read-only while a log has unreadable rows. Quarantined rows are kept in the table `quarantine`. Stop the
    nodes first.

    Rows that were changed outside the log do not match its state root, and nodes are read-only too. Find the changes
    with `treaty log verify LOG --against` a state file, dump, backup or other log. Then restore a copy; or, if the rows
    are right, commit their state root with --accept-state. In a Kafka log with writers=owner that commit also moves
    foreign records and rows of incomplete transactions into `quarantine`, and restores the rows that they replaced, if
    known.

    An import with a very high id can leave no ids or few. --ids lowers the counter to the highest id below it. The high
    ids stay with their schemas and are skipped later. Use it only if no id in between was ever assigned: an id whose
    schema was deleted permanently would be assigned again.

    \b
    Examples:
      treaty log repair sqlite:///var/lib/treaty/log.db
      treaty log repair sqlite:///var/lib/treaty/log.db --quarantine --yes
      treaty log repair sqlite:///var/lib/treaty/log.db --ids
      treaty log repair sqlite:///var/lib/treaty/log.db --accept-state --yes
    """  # noqa: D301 - click wants the control character
    check, unreadable, reserved = run(lambda: _inspect_log(log))
    accepted = False
    if accept_state and not check.fits:
        _say_root(check, err=True)
        confirm("Accept the current rows? Their earlier values are then known from other copies only.", yes=yes)
        run(lambda: _accept_state(log))
        accepted = True
        unreadable = tuple(record for record in unreadable if record not in check.foreign)
    chosen = [one for one in unreadable if newer or not one.newer]
    moved: tuple[UnreadableRow, ...] = ()
    lowered: tuple[ReservedIds, ...] = ()
    if quarantine and chosen:
        _say_rows(chosen, err=True)
        confirm(f"Move {len(chosen)} rows into quarantine?", yes=yes)
        moved = run(lambda: _quarantine_rows(log, newer=newer))
    if ids and reserved:
        _say_reserved(reserved, err=True)
        confirm(f"Lower {len(reserved)} counters? No id in between may have been assigned before.", yes=yes)
        lowered = run(lambda: _lower_counters(log))
    left = [one for one in unreadable if one not in moved]
    held = [one for one in reserved if one not in lowered]
    if as_json:
        facts = {
            "state": _root_members(check, accepted=accepted),
            "lowered": [*map(reserved_members, lowered)],
            "reserved": [*map(reserved_members, held)],
        }
        screen.say_json({"moved": [*map(_row_members, moved)], "left": [*map(_row_members, left)], **facts})
    else:
        if accepted:
            screen.say(f"the state is accepted; {check.quarantined} foreign records moved into quarantine", "green")
        elif not check.fits:
            _say_root(check)
        _say_rows(left)
        _say_reserved(held)
        for lowered_ids in lowered:
            screen.say(f"context {lowered_ids.context}: the next id is {lowered_ids.highest + 1}", "green")
        quarantined = f"{len(moved)} rows moved into quarantine, " if quarantine else ""
        screen.say(f"{quarantined}{len(left)} unreadable rows left", "red" if left else "green")
    sys.exit(1 if left or not (check.fits or accepted) else 0)


def _root_members(check: StateCheck, *, accepted: bool) -> dict[str, object]:
    return {
        "fits": check.fits or accepted,
        "accepted": accepted,
        "statedRoot": check.position.root.hex(),
        "foundRoot": check.root.hex(),
        "tables": [*check.tables],
        "foreign": [*map(_row_members, check.foreign)],
        "unmarked": [{"table": one.row.table, "key": one.row.key, "shown": one.visible} for one in check.orphan_rows],
    }


async def _inspect_log(url: str) -> tuple[StateCheck, tuple[UnreadableRow, ...], tuple[ReservedIds, ...]]:
    async with open_command_log(url) as opened_log:
        delta, stated = await read_with_table_roots(opened_log)
        check = check_state(delta, stated, await find_orphan_rows(opened_log))
        return check, find_unreadable_rows(delta.rows), find_reserved_ids(delta.rows)


async def _accept_state(url: str) -> None:
    async with open_command_log(url) as opened_log:
        await accept_state(opened_log, time=now())


def _say_root(check: StateCheck, *, err: bool = False) -> None:
    if check.root != check.position.root:
        stated = f"the log states the state root {check.position.root.hex()} at sequence {check.position.sequence:,}"
        screen.say(
            f"{stated}, the root of its rows is {check.root.hex()}: they were changed outside the log", "red", err=err
        )
    if check.tables:
        screen.say(
            f"the rows of the tables {', '.join(check.tables)} do not match the roots that the log states",
            "red",
            err=err,
        )
    foreign = (f"a foreign record, key {one.key[0]}: Treaty did not write it" for one in check.foreign)
    screen.say_first(foreign, "red", err=err)
    orphans = (f"a row that belongs to no append: {row.row.table} {row.row.key}" for row in check.orphan_rows)
    screen.say_first(orphans, "red", err=err)


async def _quarantine_rows(url: str, *, newer: bool) -> tuple[UnreadableRow, ...]:
    async with open_command_log(url) as opened_log:
        return (await quarantine_rows(opened_log, time=now(), newer=newer))[0]


async def _lower_counters(url: str) -> tuple[ReservedIds, ...]:
    async with open_command_log(url) as opened_log:
        return (await lower_id_counters(opened_log, time=now()))[0]


def reserved_members(reserved: ReservedIds) -> dict[str, object]:
    """Return reserved ids as JSON members."""
    ranges = [list(each) for each in reserved.ranges]
    return {
        "context": reserved.context, "counter": reserved.counter, "highest": reserved.highest, "ranges": ranges, "schemas": reserved.schemas
    }  # fmt: skip


def _say_reserved(reserved: Iterable[ReservedIds], *, err: bool = False) -> None:
    screen.say_first((f"reserved ids: {one}" for one in reserved), "yellow", err=err)


def _row_members(row: UnreadableRow) -> dict[str, object]:
    return {"table": row.table, "key": list(row.key), "why": row.why, "newer": row.newer, "text": row.text}


def _say_rows(rows: list[UnreadableRow], *, err: bool = False) -> None:
    for row in rows:
        hint = "; a newer version of Treaty may read it: upgrade first" if row.newer else ""
        screen.say(f"{row.table} {list(row.key)}: {row.why}{hint}", "red", err=err)
        screen.say(f"   {row.text[:200]}", err=err)
