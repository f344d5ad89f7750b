"""`treaty iglu …`: resolve schemas and validate self-describing values."""

import click

from treaty.cli.iglu.resolve import resolve
from treaty.cli.iglu.validate import validate
from treaty.cli.terminal.options import SubcommandGroup


@click.group("iglu", cls=SubcommandGroup)
def command() -> None:
    """Schemas of Iglu: find them in registries, and validate self-describing values (docs/howto/iglu-resolve.md)."""


for one in (resolve, validate):
    command.add_command(one)
