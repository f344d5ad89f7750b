"""Runs a command of the command line in this process."""

from click.testing import CliRunner, Result

from treaty.cli.main import group


def run(*words: str, stdin: str = "") -> Result:
    """Run `treaty` with these words, and return what it printed and its status."""
    return CliRunner().invoke(group, list(words), input=stdin)
