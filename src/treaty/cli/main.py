"""`treaty`: the program. It knows its commands by name and loads the one that is asked for."""

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec

import click

COMMANDS = {
    "serve": "Run a registry on this machine.",
    "demo": "Send 336,776 real flights through registry, Spark and back.",
    "check": "Compare two schemas and say what would break.",
    "spark": "Packages and settings for Spark sessions.",
}
"""Commands and what they do. Each is `command` in the module of its name; one whose module is not there is not shown."""


class Commands(click.Group):
    """A group whose commands are modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands that are installed."""
        del ctx
        return [name for name in COMMANDS if find_spec(f"treaty.cli.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None where there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = import_module(f"treaty.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("treaty"), prog_name="treaty")
def group() -> None:
    """Treaty: a schema registry and streaming metastore."""


def main() -> None:
    """Run the program."""
    group(prog_name="treaty")


if __name__ == "__main__":
    main()
