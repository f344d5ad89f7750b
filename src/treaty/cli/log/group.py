"""`treaty log …`: look after a log."""

import click

from treaty.cli.log.backing import backup
from treaty.cli.log.carrying import dump, migrate_, restore_
from treaty.cli.log.looking import info
from treaty.cli.log.mending import compact, repair_
from treaty.cli.log.stating import state
from treaty.cli.log.upgrading import upgrade_
from treaty.cli.log.verifying import verify


@click.group("log")
def command() -> None:
    """Look at, check, carry and mend a log; LOG is a URL as `treaty serve --log` takes it."""


for one in (info, verify, backup, dump, restore_, migrate_, compact, repair_, upgrade_, state):
    command.add_command(one)
