"""`treaty bad …`: the group of commands that list bad rows and decode them again."""

import click

from treaty.cli.metastore.bad.bad_list import list_
from treaty.cli.metastore.bad.bad_replay import replay
from treaty.cli.terminal.options import SubcommandGroup


@click.group("bad", cls=SubcommandGroup)
def command() -> None:
    """List the rows that could not be decoded, of sources and of pipelines, and decode them again after a mend."""


for subcommand in (list_, replay):
    command.add_command(subcommand)
