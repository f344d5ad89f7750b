"""`treaty`: the program. It imports the module of a command when the command is used."""

import gc
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import click

from treaty.cli.terminal.errors import exit_with_error
from treaty.distribution import VERSION


class CommandEntry(NamedTuple):
    """The module of a command, optionally with the name of its function after a colon (default `command`), and its line
    of help.
    """

    module: str
    summary: str


COMMANDS = {
    "serve": CommandEntry("treaty.cli.serve", "Run a registry on this machine."),
    "openapi": CommandEntry("treaty.cli.openapi", "Print the description of the HTTP interface."),
    "password": CommandEntry("treaty.cli.password", "Print a line for a password file."),
    "check": CommandEntry("treaty.cli.schemas.check", "Check whether a schema is compatible with earlier ones."),
    "diff": CommandEntry("treaty.cli.schemas.diff", "Show all differences between two schemas."),
    "lint": CommandEntry("treaty.cli.schemas.lint", "Lint schemas."),
    "canonical": CommandEntry("treaty.cli.schemas.canonical", "Print a schema as a registry stores it."),
    "fingerprint": CommandEntry("treaty.cli.schemas.fingerprint", "Print the guid and the fingerprints of a schema."),
    "validate": CommandEntry("treaty.cli.schemas.validate", "Validate JSON values against a schema."),
    "example": CommandEntry("treaty.cli.schemas.example", "Print example values of a schema."),
    "search": CommandEntry("treaty.cli.registry.search", "Find schemas by fields, types, tags and names."),
    "subject": CommandEntry("treaty.cli.registry.subject", "List, show and delete subjects."),
    "group": CommandEntry(
        "treaty.cli.registry.group", "Create, show, change and remove groups: subjects with settings."
    ),
    "policy": CommandEntry("treaty.cli.registry.policy", "Show or change the compatibility policy of a group."),
    "codec": CommandEntry("treaty.cli.registry.codec", "List and add the codecs of a group."),
    "encoding": CommandEntry("treaty.cli.registry.encoding", "Show and assign the encoding ids of a group."),
    "schema": CommandEntry("treaty.cli.registry.schema", "Register, look up, show and delete schemas."),
    "config": CommandEntry("treaty.cli.registry.config", "Show or change compatibility levels and other settings."),
    "mode": CommandEntry("treaty.cli.registry.mode", "Show or change the mode of subjects and contexts."),
    "context": CommandEntry("treaty.cli.registry.context", "List contexts and delete empty ones."),
    "association": CommandEntry(
        "treaty.cli.registry.association", "Associate topics with the subjects of their schemas."
    ),
    "sql": CommandEntry("treaty.cli.metastore.sql", "Describe streams, tables and types in SQL, and list them."),
    "metastore": CommandEntry("treaty.cli.metastore.group", "Export the metastore as SQL, and check it."),
    "iglu": CommandEntry(
        "treaty.cli.iglu.group", "Publish, pull, lint and resolve Iglu schemas; validate self-describing values."
    ),
    "produce": CommandEntry("treaty.cli.records.produce", "Serialize JSON values and send them to a Kafka topic."),
    "consume": CommandEntry("treaty.cli.records.consume", "Print the records of a Kafka topic as JSON."),
    "decode": CommandEntry("treaty.cli.records.decode", "Explain a serialized record byte by byte."),
    "import": CommandEntry(
        "treaty.cli.transfer.registry_import", "Import schemas from another registry, a topic or a dump."
    ),
    "export": CommandEntry("treaty.cli.transfer.export", "Export the schemas of a registry to a dump or a topic."),
    "plan": CommandEntry("treaty.cli.transfer.desired_state:plan", "Show what `apply` would change."),
    "apply": CommandEntry("treaty.cli.transfer.desired_state:apply_", "Apply a folder of schemas, or files of SQL."),
    "lock": CommandEntry("treaty.cli.metastore.lock:lock", "Pin what files of SQL take from a registry."),
    "compile": CommandEntry("treaty.cli.metastore.lock:compile_", "Check files of SQL without a registry."),
    "promote": CommandEntry("treaty.cli.transfer.promotion", "Copy subjects to another context or registry."),
    "log": CommandEntry("treaty.cli.log.group", "Inspect, verify, back up, move and repair a log."),
    "completion": CommandEntry("treaty.cli.completion", "Print the completion script for your shell."),
    "pipeline": CommandEntry("treaty.cli.pipeline.group", "Run Spark pipelines from Kafka topics into tables."),
    "table": CommandEntry("treaty.cli.table", "Create, evolve and compare lake tables of subjects."),
    "planner": CommandEntry("treaty.cli.metastore.planner", "Plan the queries of CREATE … AS for a registry."),
    "test": CommandEntry("treaty.cli.metastore.sql_tests", "Run the tests of queries in files of SQL."),
    "runner": CommandEntry("treaty.cli.metastore.queries.runner", "Run the queries of a registry on Spark."),
    "query": CommandEntry("treaty.cli.metastore.queries.watch", "Watch the queries that runners run."),
    "bad": CommandEntry("treaty.cli.metastore.bad.group", "List bad rows, and decode them again after a mend."),
    "spark": CommandEntry("treaty.cli.spark", "Print packages and settings for Spark sessions."),
}
"""The commands, in the order of the help."""


class CommandGroup(click.Group):
    """A group that imports a command's module when the command is used, so that the program starts fast."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 (as click has it)
        **extra: Any,
    ) -> Any:
        """Run a command line and print the error of any command."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        words = sys.argv[1:] if args is None else list(args)
        with exit_with_error(words):
            code = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; the error for an unknown name suggests similar ones."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, 3, 0.7)
            hint = f"did you mean {' or '.join(near)}?" if near else "`treaty --help` lists the commands"
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].module.partition(":")
        command = getattr(import_module(module), name or "command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, "-V", "--version", prog_name="treaty")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Treaty: a schema registry, and Spark pipelines that decode its records."""
    if os.environ.get("NO_COLOR"):  # noqa: TID251 (a convention of terminals, no setting of Treaty)
        ctx.color = False


def main() -> None:
    """Run the program. What it has loaded is not looked through for garbage as it ends."""
    try:
        group(prog_name="treaty")
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
