"""`treaty`: the program. It knows its commands by name and loads the one that is asked for."""

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import click

from treaty.cli.terminal.errors import exit_with_error


class CommandEntry(NamedTuple):
    """Where a command lies (the `command` of a module, or what stands after a colon), and what it does."""

    module: str
    summary: str


COMMANDS = {
    "serve": CommandEntry("treaty.cli.serve", "Run a registry on this machine."),
    "openapi": CommandEntry("treaty.cli.openapi", "Print the description of the HTTP interface."),
    "password": CommandEntry("treaty.cli.password", "Print a line for a password file."),
    "demo": CommandEntry("treaty.cli.demo", "Send 336,776 real flights through registry, Spark and back."),
    "check": CommandEntry("treaty.cli.schemas.check", "Compare schemas and say what would break."),
    "diff": CommandEntry("treaty.cli.schemas.diff", "Show all that differs between two schemas."),
    "lint": CommandEntry("treaty.cli.schemas.lint", "Say what could be better in schemas."),
    "canonical": CommandEntry("treaty.cli.schemas.canonical", "Print a schema as a registry stores it."),
    "fingerprint": CommandEntry("treaty.cli.schemas.fingerprint", "Print a schema's guid and fingerprints."),
    "validate": CommandEntry("treaty.cli.schemas.validate", "Check values against a schema."),
    "example": CommandEntry("treaty.cli.schemas.example", "Make values of a schema."),
    "subject": CommandEntry("treaty.cli.registry.subject", "List, look at and delete subjects."),
    "schema": CommandEntry("treaty.cli.registry.schema", "Register, look up, read and delete schemas."),
    "config": CommandEntry("treaty.cli.registry.config", "Compatibility levels and what goes with them."),
    "mode": CommandEntry("treaty.cli.registry.mode", "Whether subjects and contexts take schemas."),
    "context": CommandEntry("treaty.cli.registry.context", "List contexts, delete empty ones."),
    "association": CommandEntry("treaty.cli.registry.association", "Bind topics to the subjects of their schemas."),
    "produce": CommandEntry("treaty.cli.records.produce", "Send JSON values to a Kafka topic, under a schema."),
    "consume": CommandEntry("treaty.cli.records.consume", "Print the records of a Kafka topic as JSON."),
    "decode": CommandEntry("treaty.cli.records.decode", "Tell a framed record byte by byte."),
    "import": CommandEntry("treaty.cli.transfer.registry_import", "Take over what another registry or a dump holds."),
    "export": CommandEntry("treaty.cli.transfer.export", "Write what a registry holds as a dump."),
    "plan": CommandEntry(
        "treaty.cli.transfer.desired_state:plan", "Say what applying a folder of schemas would change."
    ),
    "apply": CommandEntry(
        "treaty.cli.transfer.desired_state:apply_", "Make a registry have what a folder of schemas has."
    ),
    "promote": CommandEntry(
        "treaty.cli.transfer.promotion", "Copy subjects to another context or registry, checked first."
    ),
    "log": CommandEntry("treaty.cli.log.group", "Look at, check, carry and mend a log."),
    "completion": CommandEntry("treaty.cli.completion", "Print the script that completes commands in your shell."),
    "pipeline": CommandEntry("treaty.cli.pipeline.group", "Run streams of frames into tables, and look after them."),
    "table": CommandEntry("treaty.cli.table", "Make lake tables from subjects, evolve them, tell where they differ."),
    "spark": CommandEntry("treaty.cli.spark", "Packages and settings for Spark sessions."),
}
"""The commands, in the order of the help."""


class CommandGroup(click.Group):
    """A group whose commands are modules, so that the program starts without loading them."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 (as click has it)
        **extra: Any,
    ) -> Any:
        """Run a command line; errors of all commands are printed in one place."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        words = sys.argv[1:] if args is None else list(args)
        with exit_with_error(words):
            code = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; for a name that there is not, say the nearest ones."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, 3, 0.7)
            hint = f"did you mean {' or '.join(near)}?" if near else "`treaty --help` lists the commands"
            ctx.fail(f"No such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].module.partition(":")
        command = getattr(import_module(module), name or "command")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(None, "-V", "--version", package_name="treaty", prog_name="treaty")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Treaty: a schema registry and streaming metastore."""
    if os.environ.get("NO_COLOR"):  # noqa: TID251 (a convention of terminals, no setting of Treaty)
        ctx.color = False


def main() -> None:
    """Run the program."""
    group(prog_name="treaty")


if __name__ == "__main__":
    main()
