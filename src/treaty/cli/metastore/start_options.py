"""Options of a server about the metastore: a project that it applies when it starts, and whether statements may change anything."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from treaty.api.workers import HOPELESS
from treaty.cli.terminal.options import parse_pairs
from treaty.metastore.project.start import ProjectStart, ProjectStartError, read_project_start

ON, OFF, IMPORT = "on", "off", "import"
OPTIONS = (
    click.option(
        "--apply",
        "apply_path",
        envvar="TREATY_APPLY",
        type=click.Path(exists=True, path_type=Path),
        metavar="PATH",
        help="File or folder of SQL that is applied before the server listens. A definition that contradicts the metastore stops the start, with the difference.",
    ),
    click.option(
        "--var",
        "variables",
        multiple=True,
        metavar="NAME=VALUE",
        help="Replaces ${NAME} in the files of --apply. Repeatable.",
    ),
    click.option(
        "--ddl",
        envvar="TREATY_DDL",
        type=click.Choice([ON, OFF, IMPORT]),
        default=ON,
        show_default=True,
        help="off: refuse all statements of clients that change sources or types; import: all but those of an import from ksqlDB, which with --auth need the permission import, also with off. --apply is not concerned.",
    ),
)


@dataclass(frozen=True, slots=True)
class StartOptions:
    """The project that a server applies, its variables, and whether statements of clients change anything."""

    path: Path | None = None
    variables: tuple[str, ...] = ()
    ddl: str = ON

    def flags(self, *, is_first: bool) -> Iterator[str]:
        """The same as arguments of a worker; the first one alone has the project."""
        yield from ("--ddl", self.ddl)
        if self.path is not None and is_first:
            yield from ("--apply", str(self.path))
            for variable in self.variables:
                yield from ("--var", variable)


DEFAULT_START = StartOptions()


def add_start_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def read_start_options(path: Path | None, variables: tuple[str, ...], ddl: str, *, read_only: bool) -> StartOptions:
    """Read the options; raises `click.UsageError` for a contradiction."""
    if path is None and variables:
        raise click.UsageError("--var is about the files of --apply, and there is none")
    if path is not None and read_only:
        raise click.UsageError("--apply changes the metastore, and --read-only refuses all changes: leave one out")
    parse_pairs(variables)
    return StartOptions(path, variables, ddl)


def read_project(start: StartOptions) -> ProjectStart:
    """Return the project of --apply; errors of its files end the program."""
    assert start.path is not None, "there is a project"
    try:
        return read_project_start(start.path, dict(parse_pairs(start.variables)))
    except ProjectStartError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(HOPELESS)
