"""`treaty log compact` and `treaty log repair`: space given back, and rows that can't be read moved aside."""

import sys

import click

from treaty.cli.log.opened import log, now, opened, run
from treaty.cli.nouns.asking import as_json, sure
from treaty.cli.nouns.asking import yes as yes_option
from treaty.cli.terminal import screen
from treaty.core.commit import START
from treaty.log.care.repair import Strange, repair, strange
from treaty.log.log import Facts


@click.command("compact")
@log
@as_json
def compact(*, log: str, as_json: bool) -> None:
    """Give space back that a LOG does not need any more. Nodes may run meanwhile; writes wait for it.

    \b
    Example:
      treaty log compact sqlite:///var/lib/treaty/log.db
    """  # noqa: D301 - click wants the control character

    async def work() -> tuple[Facts, Facts]:
        async with opened(log) as found:
            before = await found.facts()
            await found.compact()
            return before, await found.facts()

    before, after = run(work)
    if as_json:
        sizes = {} if after.bytes < 0 else {"bytesBefore": before.bytes, "bytes": after.bytes}
        screen.say_json({**sizes, "tombstones": after.tombstones})
    else:
        size = f"{before.bytes:,} bytes before, {after.bytes:,} now; " if after.bytes >= 0 else ""
        screen.say(f"{size}{after.tombstones:,} tombstones left", "green")


@click.command("repair", epilog="Exit code 0: nothing is in quarantine any more. 1: something is still.")
@log
@click.option("--move-aside", is_flag=True, help="Move damaged rows aside; without it they are only shown.")
@click.option(
    "--newer", is_flag=True, help="Rows too that a newer version of Treaty has written: an upgrade reads them."
)
@yes_option
@as_json
def repair_(*, log: str, move_aside: bool, newer: bool, yes: bool, as_json: bool) -> None:
    """Show the rows of a LOG that can't be read (its quarantine), and with --move-aside move them out of the way.

    While there are any, nodes only read. Moved rows are kept in the table `aside`; stop the nodes first.

    \b
    Examples:
      treaty log repair sqlite:///var/lib/treaty/log.db
      treaty log repair sqlite:///var/lib/treaty/log.db --move-aside --yes
    """  # noqa: D301 - click wants the control character

    async def look() -> tuple[Strange, ...]:
        async with opened(log) as found:
            return strange((await found.read(START)).rows)

    async def mend() -> tuple[Strange, ...]:
        async with opened(log) as found:
            return (await repair(found, time=now(), newer=newer))[0]

    there = run(look)
    chosen = [one for one in there if newer or not one.newer]
    moved: tuple[Strange, ...] = ()
    if move_aside and chosen:
        _say(chosen, err=True)
        sure(f"Move {len(chosen)} rows aside?", yes=yes)
        moved = run(mend)
    left = [one for one in there if one not in moved]
    if as_json:
        screen.say_json({"moved": [*map(_members, moved)], "left": [*map(_members, left)]})
    else:
        _say(left)
        screen.say(f"{len(moved)} rows moved aside, {len(left)} in quarantine", "red" if left else "green")
    sys.exit(1 if left else 0)


def _members(one: Strange) -> dict[str, object]:
    return {"table": one.table, "key": list(one.key), "why": one.why, "newer": one.newer, "text": one.text}


def _say(rows: list[Strange], *, err: bool = False) -> None:
    for one in rows:
        hint = "; a newer version of Treaty may read it: upgrade first" if one.newer else ""
        screen.say(f"{one.table} {list(one.key)}: {one.why}{hint}", "red", err=err)
        screen.say(f"   {one.text[:200]}", err=err)
