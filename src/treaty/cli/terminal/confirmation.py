"""Commands ask before they delete, unless --yes says it; without a terminal to ask on, --yes is required."""

import sys

import click


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation; without a terminal --yes is required.

    Raises `click.UsageError` (exit code 2) without a terminal, and `click.Abort` (exit code 1) for any answer but yes. A command
    asks once it knows that what it would delete is there.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to confirm on; add --yes")
    click.confirm(question, abort=True, err=True)
