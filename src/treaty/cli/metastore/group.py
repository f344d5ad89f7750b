"""`treaty metastore …`: the group of commands that export the metastore as SQL, check what it is bound to, and take a ksqlDB over."""

import click

from treaty.cli.metastore.check import command as check
from treaty.cli.metastore.export import command as export
from treaty.cli.metastore.topics.command_topic import command as import_
from treaty.cli.terminal.options import SubcommandGroup


@click.group("metastore", cls=SubcommandGroup)
def command() -> None:
    """Export the metastore as SQL, check what it is bound to, and take a ksqlDB over."""


command.add_command(export)
command.add_command(import_)
command.add_command(check)
