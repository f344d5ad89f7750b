"""Options and arguments that several commands have: words in any letter case, references, and pairs ``NAME=VALUE``; how groups of commands print their help."""

from collections.abc import Callable
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
LABEL_POLICIES = ("warn", "refuse")
LABEL_POLICY_HELP = "whether a label that does not fit its change is reported or refused."


class UpperChoice(click.Choice[str]):
    """One of some words. A person may type it in any letter case; help, errors and completion show upper case."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        """Return the word in upper case."""
        del ctx
        return str(choice).upper()


class SubcommandGroup(click.Group):
    """A group of commands whose help has the whole first sentence of each, on as many lines as it needs."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.get_short_help_str(1000).rstrip(".")) for name, one in commands if one is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


format_ = click.option(
    "--format",
    "format_",
    metavar="NAME",
    help="Schema format: AVRO, JSON, PROTOBUF or that of a plug-in (default: by name or content of the file).",
)

encoding_ = click.option(
    "--encoding",
    default="",
    metavar="NAME",
    help="How payloads are written, for formats of plug-ins that have several ways.",
)


def references(
    help_: str = "A schema that the text refers to by NAME. Repeatable; those that others need come first.",
) -> Decorator:
    """Add the two options for references: by name and by folder."""
    named = click.option("--reference", "references", multiple=True, metavar="NAME=FILE", help=help_)
    folder_help = "Folder with referenced schemas (default: the folder of the file). A name is a file name, with or without suffix; dots may be folders. Repeatable."
    folders = click.option("--reference-folder", "folders", multiple=True, metavar="FOLDER", help=folder_help)
    return lambda command: named(folders(command))


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
registry = click.option(
    "--registry",
    required=True,
    envvar="TREATY_REGISTRY",
    show_envvar=True,
    metavar="URL",
    help="http(s)://[user@]host:port, or the URL of a log such as sqlite:///path.db.",
)
"""Parameters of commands are called as their options: `registry` is a URL, and `client` what is opened by it."""
yes = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")


def parse_pairs(words: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Parse the words of --property, ``NAME=VALUE``, sorted by name."""
    return tuple(sorted(_parse_pair(one) for one in words))


def _parse_pair(word: str) -> tuple[str, str]:
    name, mark, value = word.partition("=")
    if not (name and mark):
        raise click.BadParameter(f"{word!r} is not NAME=VALUE", param_hint="--property")
    return name, value
