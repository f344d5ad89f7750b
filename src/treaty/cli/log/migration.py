"""`treaty log migrate` and `treaty log upgrade`: a log is moved to another backend, or from format 1 to the current
format.
"""

import sys

import click

from treaty.cli.log.dump_file import open_lines
from treaty.cli.log.log_argument import log_option, now, open_command_log, read_log_settings, run
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.log.maintenance.migration import MigrationResult, migrate_log, unseal_log
from treaty.log.upgrade.old_format import OldLog
from treaty.log.upgrade.sources import open_old_log
from treaty.log.upgrade.upgrade import UpgradeResult, cancel_upgrade, upgrade_log

SHOWN = 20
"""The most differences that are printed as text; JSON has all of them."""


@click.command("migrate")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO", default="")
@log_option
@click.option("--cancel", is_flag=True, help="Unseal FROM, so that its nodes accept writes again.")
@as_json
def migrate_(*, source: str, target: str, cancel: bool, as_json: bool) -> None:
    """Move a log FROM one backend TO another, empty one. Acknowledged writes are never lost.

    FROM is sealed first: its nodes answer reads, and refuse writes with the URL of the new log. Start nodes on TO
    afterwards. An interrupted move can be run again.

    \b
    Examples:
      treaty log migrate sqlite:///var/lib/treaty/log.db \\
        postgresql://treaty@db/registry
      treaty log migrate sqlite:///var/lib/treaty/log.db --cancel
    """  # noqa: D301 - click wants the control character
    if cancel:
        _unseal(source)
        return
    if not target:
        raise click.UsageError("name the log to move to, or --cancel")

    async def work() -> MigrationResult:
        with screen.show_progress() as progress:
            async with open_command_log(source) as old, open_command_log(target, new=True) as new:
                return await migrate_log(old, new, time=now(), progress=lambda n: progress("rows", n, 0))

    moved = run(work)
    if as_json:
        ends = {"from": moved.source.token, "to": moved.target.token}
        screen.say_json({"rows": moved.rows, **{name: str(token) for name, token in ends.items()}})
    else:
        screen.say(f"{moved.rows:,} rows moved; the old log is sealed at sequence {moved.source.sequence:,}", "green")


def _unseal(source: str) -> None:
    async def work() -> str:
        async with open_command_log(source) as found:
            seal = await unseal_log(found, time=now())
            return seal.url if seal else ""

    place = run(work)
    screen.say(f"the seal for {place} is gone" if place else "there was no seal", "green")


@click.command(
    "upgrade", epilog="Exit code 0: all rows are equal. 1: some differ, or cannot be read. 2: the upgrade failed."
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW", default="")
@log_option
@click.option(
    "--dry-run",
    is_flag=True,
    help="Read OLD and print what would be written. Nothing is written, and OLD is not sealed.",
)
@click.option(
    "--gap",
    type=click.IntRange(0),
    help="Ids to leave unused after the highest one (default: 0 for a log; 10000 for a dump or backup, whose log may have assigned more since).",
)
@click.option("--cancel", "undo", is_flag=True, help="Unseal OLD, so that its nodes accept writes again.")
@as_json
def upgrade_(*, old: str, new: str, dry_run: bool, gap: int | None, undo: bool, as_json: bool) -> None:
    """Upgrade OLD, a log of format 1 or its dump or backup, into NEW, an empty log of the current format.

    Stop the old nodes first. OLD is sealed against writes and otherwise unchanged. NEW has all ids, guids, versions,
    configs, modes, associations and counters of OLD. It has its own identity, so position tokens, state files and
    stored outcomes of OLD become invalid. At the end every row is compared. An interrupted upgrade can be run again.

    \b
    Examples:
      treaty log upgrade sqlite:///var/lib/treaty/log.db \\
        sqlite:///var/lib/treaty/log2.db --dry-run
      treaty log upgrade sqlite:///var/lib/treaty/log.db \\
        sqlite:///var/lib/treaty/log2.db
      treaty log upgrade 'kafka://kafka:9092/treaty?writers=any' \\
        'kafka://kafka:9092/treaty2?writers=any'
      treaty log upgrade registry.dump.zst \\
        postgresql://treaty@db/registry?schema=treaty2
      treaty log upgrade sqlite:///var/lib/treaty/log.db --cancel
    """  # noqa: D301 - click wants the control character
    if undo:
        _unseal_old(old)
        return
    if not new and not dry_run:
        raise click.UsageError("name the new log, or add --dry-run or --cancel")

    async def work() -> UpgradeResult:
        source = await open_old_log(old, read_log_settings(), open_lines)
        answer = FormatEngine(find_formats()).answer
        try:
            if dry_run:
                return await upgrade_log(source, None, answer, time=now(), gap=gap)
            with screen.show_progress() as progress:
                async with open_command_log(new, new=True) as target:
                    return await upgrade_log(
                        source, target, answer, time=now(), gap=gap, progress=lambda n: progress("rows", n, 0)
                    )
        finally:
            await source.close()

    done = run(work)
    if as_json:
        screen.say_json(_upgrade_members(done))
    else:
        _say_upgrade(done)
    sys.exit(1 if done.find_differences or done.unreadable else 0)


def _unseal_old(name: str) -> None:
    async def work() -> str:
        source: OldLog = await open_old_log(name, read_log_settings(), open_lines)
        try:
            if not source.living:
                raise UnusableError(f"{name} is a copy: it has no seal")
            seal = await cancel_upgrade(source, time=now())
            return seal.url if seal else ""
        finally:
            await source.close()

    place = run(work)
    screen.say(f"the seal for {place} is gone" if place else "there was no seal", "green")


def _upgrade_members(done: UpgradeResult) -> dict[str, object]:
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


def _say_upgrade(done: UpgradeResult) -> None:
    for row in done.unreadable:
        screen.say(f"{row.table} {row.key} cannot be read and stays in quarantine; see `treaty log repair`", "yellow")
    for one in done.find_differences[:SHOWN]:
        screen.say(str(one), "red")
    if len(done.find_differences) > SHOWN:
        screen.say(f"... and {len(done.find_differences) - SHOWN:,} more; --json prints them all", "red")
    for table, count in sorted(done.ended.items()):
        screen.say(f"{count:,} rows of {table} are not taken over")
    place = f"sequence {done.source.sequence:,} of log {done.source.identity.hex()}"
    if done.end is None:
        screen.say(f"{done.rows:,} rows of {place} would be written; nothing was", "green")
    else:
        same = "all are equal" if not done.find_differences else f"{len(done.find_differences):,} differ"
        screen.say(
            f"{done.rows:,} rows of {place} written to log {done.end.identity.hex()}, ids raised by {done.gap:,}; {same}",
            "red" if done.find_differences else "green",
        )
