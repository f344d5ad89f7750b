"""`treaty password` reads a password and prints a line with its hash for a password file."""

import sys

import click

from treaty.api.auth.passwords import USUAL_COST, password_line
from treaty.core.limits import PASSWORD_COST
from treaty.distribution import MissingExtraError


@click.command("password")
@click.argument("name")
@click.option(
    "--cost",
    default=USUAL_COST,
    show_default=True,
    type=click.IntRange(4, PASSWORD_COST),
    help="Cost of bcrypt. Each step doubles the time of a check.",
)
def command(name: str, cost: int) -> None:
    """Print the line of the user NAME for a password file of `treaty serve --auth`. Asks for the password, or reads a
    line from stdin if there is no terminal.
    """
    if sys.stdin.isatty():
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    try:
        click.echo(password_line(name, password, cost))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except ModuleNotFoundError as missing:
        raise MissingExtraError("`treaty password`", "bcrypt") from missing
