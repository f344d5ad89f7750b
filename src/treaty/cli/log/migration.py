"""`treaty log migrate`: a log is moved to another backend."""

from contextlib import AsyncExitStack
from typing import Any

import click

from treaty.cli.log.log_argument import log_option, now, open_command_log, run
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.core.state.values import LogOrigin
from treaty.log.maintenance.cancellation import cancel_migration
from treaty.log.maintenance.migration import MigrationResult, migrate_log


@click.command("migrate")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO", default="")
@log_option
@click.option("--cancel", is_flag=True, help="Unseal FROM, so that its nodes accept writes again; TO is sealed first.")
@click.option(
    "--gap",
    type=click.IntRange(1),
    help="With --cancel: TO is lost, or was written and is given up. Ids of FROM continue so far above its highest one.",
)
@as_json
def migrate_(*, source: str, target: str, cancel: bool, gap: int | None, as_json: bool) -> None:
    """Move a log FROM one backend TO another, empty one. Acknowledged writes are never lost.

    FROM is sealed first: its nodes answer reads, and refuse writes with the URL of the new log. Start nodes on TO
    afterwards. An interrupted move can be run again.

    No id is given by both logs: --cancel seals TO, and refuses if TO was written since the move. If TO is lost for good,
    leave it out and give a --gap above the number of ids that it gave.

    \b
    Examples:
      treaty log migrate sqlite:///var/lib/treaty/log.db \\
        postgresql://treaty@db/registry
      treaty log migrate sqlite:///var/lib/treaty/log.db \\
        postgresql://treaty@db/registry --cancel
    """  # noqa: D301 - click wants the control character
    if cancel:
        _cancel(source, target, gap or 0, as_json=as_json)
        return
    if not target:
        raise click.UsageError("name the log to move to, or --cancel")
    if gap is not None:
        raise click.UsageError("--gap belongs to --cancel: ids of the new log need no gap")

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


def _cancel(source: str, target: str, gap: int, *, as_json: bool) -> None:
    async def work() -> LogOrigin | None:
        async with AsyncExitStack() as logs:
            old = await logs.enter_async_context(open_command_log(source))
            new = await logs.enter_async_context(open_command_log(target)) if target else None
            return await cancel_migration(old, new, time=now(), gap=gap)

    seal = run(work)
    raised_gap = gap if seal is not None and seal.successor else 0  # where no log became whole none has given ids
    if as_json:
        members: dict[str, Any] = {"seal": None if seal is None else {"place": seal.url, "log": seal.successor}}
        screen.say_json({**members, "gap": raised_gap})
    elif seal is None:
        screen.say("there was no seal", "green")
    else:
        raised = f"; its ids are raised by {raised_gap:,}" if raised_gap else ""
        screen.say(f"the seal for {seal.url} is gone{raised}", "green")
