"""`treaty log upgrade_log`: a log, dump or backup of format 1 carried into a new log."""

import sys

import click

from treaty.cli.log.files import lines_of
from treaty.cli.log.opened import now, opened, run, set_up, settings_of
from treaty.cli.nouns.asking import as_json
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.cli.transfer.ends import bar
from treaty.log.upgrade.old_format import OldLog
from treaty.log.upgrade.sources import open_old_log
from treaty.log.upgrade.upgrade import UpgradeResult, cancel_upgrade, upgrade_log

SHOWN = 20
"""Differences that are printed for people; JSON has them all."""


@click.command(
    "upgrade", epilog="Exit code 0: all rows are equal. 1: some differ, or can't be read. 2: it could not be done."
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW", default="")
@set_up
@click.option(
    "--dry-run", is_flag=True, help="Read OLD and say what would be written; nothing is, and OLD is not sealed."
)
@click.option(
    "--gap",
    type=click.IntRange(0),
    help="Ids left free after the highest one; 0 for a log, 10000 for a dump or backup, whose log may have given more since.",
)
@click.option("--cancel", "undo", is_flag=True, help="Take the seal of OLD away, so that its nodes write again.")
@as_json
def upgrade_(*, old: str, new: str, dry_run: bool, gap: int | None, undo: bool, as_json: bool) -> None:
    """Carry OLD, a log of format 1 or a dump or backup of one, into NEW, an empty log of today's format.

    Stop the old nodes first. OLD is sealed, so that nothing is written to it any more, and stays as it is otherwise. NEW
    has all its ids, guids, versions, configs, modes, associations and counters, and an identity of its own: tokens,
    state files and remembered outcomes of commands end. At the end every row is compared. Cut off, run it again.

    \b
    Examples:
      treaty log upgrade sqlite:///var/lib/treaty/log.db sqlite:///var/lib/treaty/log2.db --dry-run
      treaty log upgrade sqlite:///var/lib/treaty/log.db sqlite:///var/lib/treaty/log2.db
      treaty log upgrade 'kafka://kafka:9092/treaty?writers=any' 'kafka://kafka:9092/treaty2?writers=any'
      treaty log upgrade registry.dump.zst postgresql://treaty@db/registry?schema=treaty2
      treaty log upgrade sqlite:///var/lib/treaty/log.db --cancel
    """  # noqa: D301 - click wants the control character
    if undo:
        _cancel(old)
        return
    if not new and not dry_run:
        raise click.UsageError("name the log to carry it to, or --dry-run, or --cancel")

    async def work() -> UpgradeResult:
        source = await open_old_log(old, settings_of(), lines_of)
        try:
            if dry_run:
                return await upgrade_log(source, None, time=now(), gap=gap)
            with bar() as told:
                async with opened(new, new=True) as target:
                    return await upgrade_log(source, target, time=now(), gap=gap, progress=lambda n: told("rows", n, 0))
        finally:
            await source.close()

    done = run(work)
    if as_json:
        screen.say_json(_members(done))
    else:
        _say(done)
    sys.exit(1 if done.find_differences or done.unreadable else 0)


def _cancel(name: str) -> None:
    async def work() -> str:
        source: OldLog = await open_old_log(name, settings_of(), lines_of)
        try:
            if not source.living:
                raise UnusableError(f"{name} is a copy: it has no seal")
            seal = await cancel_upgrade(source, time=now())
            return seal.url if seal else ""
        finally:
            await source.close()

    place = run(work)
    screen.say(f"the seal for {place} is gone" if place else "there was no seal", "green")


def _members(done: UpgradeResult) -> dict[str, object]:
    end = {} if done.end is None else {"identity": done.end.identity.hex(), "sequence": done.end.sequence}
    return {
        "from": {"identity": done.source.identity.hex(), "sequence": done.source.sequence},
        "written": done.end is not None,
        **end,
        "rows": done.rows,
        "gap": done.gap,
        "ended": dict(done.ended),
        "unreadable": [{"table": row.table, "key": row.key} for row in done.unreadable],
        "differences": [
            {"table": one.table, "key": one.key, "old": one.old, "new": one.new} for one in done.find_differences
        ],
    }


def _say(done: UpgradeResult) -> None:
    for row in done.unreadable:
        screen.say(
            f"{row.table} {row.key} can't be read and stays in quarantine: `treaty log repair` moves it aside", "yellow"
        )
    for one in done.find_differences[:SHOWN]:
        screen.say(str(one), "red")
    if len(done.find_differences) > SHOWN:
        screen.say(f"... and {len(done.find_differences) - SHOWN:,} more; --json prints them all", "red")
    for table, count in sorted(done.ended.items()):
        screen.say(f"{count:,} rows of {table} end with the old log")
    place = f"sequence {done.source.sequence:,} of log {done.source.identity.hex()}"
    if done.end is None:
        screen.say(f"{done.rows:,} rows of {place} would be written; nothing was", "green")
    else:
        same = "all are equal" if not done.find_differences else f"{len(done.find_differences):,} differ"
        screen.say(
            f"{done.rows:,} rows of {place} carried into log {done.end.identity.hex()}, ids raised by {done.gap:,}; {same}",
            "red" if done.find_differences else "green",
        )
