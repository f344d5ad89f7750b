"""`treaty log …`: the group of commands that back up, restore, migrate, verify and repair a log."""

import click

from treaty.cli.log.backup import backup, dump, restore_
from treaty.cli.log.info import info
from treaty.cli.log.migration import migrate_
from treaty.cli.log.repair import compact, repair_
from treaty.cli.log.state_file import state
from treaty.cli.log.verification import verify
from treaty.cli.terminal.options import SubcommandGroup


@click.group("log", cls=SubcommandGroup)
def command() -> None:
    """Inspect, verify, back up, move and repair a log. LOG is a URL as for `treaty serve --log`."""


for subcommand in (info, verify, backup, dump, restore_, migrate_, compact, repair_, state):
    command.add_command(subcommand)
