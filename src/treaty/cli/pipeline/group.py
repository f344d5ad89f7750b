"""`treaty pipeline …`: the group of commands that run, inspect and replay pipelines on Spark."""

import click

from treaty.cli.pipeline.replay import replay
from treaty.cli.pipeline.reports import plan, status
from treaty.cli.pipeline.stream_run import run
from treaty.cli.terminal.options import SubcommandGroup


@click.group("pipeline", cls=SubcommandGroup)
def command() -> None:
    """Spark pipelines from Kafka topics into tables, each described by a TOML file (docs/howto/pipelines.md)."""


for subcommand in (run, plan, status, replay):
    command.add_command(subcommand)
