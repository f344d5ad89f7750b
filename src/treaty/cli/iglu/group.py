"""`treaty iglu …`: schemas on Iglu servers and in folders, resolution, and self-describing values."""

import click

from treaty.cli.iglu.keygen import keygen
from treaty.cli.iglu.lint import lint
from treaty.cli.iglu.load import load
from treaty.cli.iglu.publish import publish
from treaty.cli.iglu.push import pull, push
from treaty.cli.iglu.resolve import resolve
from treaty.cli.iglu.validate import validate
from treaty.cli.terminal.options import SubcommandGroup


@click.group("iglu", cls=SubcommandGroup)
def command() -> None:
    """Schemas of Iglu: publish, read and lint them (docs/howto/iglu-server.md), find them in registries, and validate
    self-describing values (docs/howto/iglu-resolve.md).
    """


for subcommand in (push, pull, publish, lint, keygen, resolve, validate, load):
    command.add_command(subcommand)
