"""`treaty log migrate`: a log is moved to another backend."""

import click

from treaty.cli.log.log_argument import log_option, now, open_command_log, run
from treaty.cli.registry.connection import as_json
from treaty.cli.terminal import screen
from treaty.log.maintenance.migration import MigrationResult, migrate_log, unseal_log


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
