"""`treaty mode …`: the mode of subjects and contexts: whether and how they accept schemas."""

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import SubcommandGroup, UpperChoice

MODES = ("READWRITE", "READONLY", "IMPORT", "FORWARD")


@click.group("mode", cls=SubcommandGroup)
def command() -> None:
    """Show or change the mode of subjects and contexts: READWRITE, READONLY, IMPORT, FORWARD."""


@command.command("get")
@connection.scope
@connection.no_defaults
@connection.registry
@connection.as_json
def get(scope: str, *, no_defaults: bool, registry: str, as_json: bool) -> None:
    """Show the mode in force at SCOPE: a subject, a context (":.prod:"), "*", or the default context.

    \b
    Example:
      treaty mode get orders-value
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        found_mode = client.mode(scope, resolve=not no_defaults)
    connection.say_members({"mode": found_mode}, as_json=as_json)


@command.command("set")
@click.argument("scope")
@click.argument("mode", type=UpperChoice(MODES))
@click.option("--force", is_flag=True, help="Set IMPORT even if subjects exist.")
@connection.registry
@connection.as_json
def set_(scope: str, mode: str, *, force: bool, registry: str, as_json: bool) -> None:
    """Set the MODE at SCOPE: a subject, a context (":.prod:"), "*", or "" for the default context.

    \b
    Examples:
      treaty mode set orders-value READONLY
      treaty mode set "" IMPORT --force
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        found_mode = client.set_mode(scope, mode.upper(), force=force)
    connection.say_members({"mode": found_mode}, as_json=as_json)


@command.command("delete")
@connection.scope
@click.option("--recursive", is_flag=True, help="Also delete the modes of the context's subjects.")
@connection.registry
@connection.as_json
def delete(scope: str, *, recursive: bool, registry: str, as_json: bool) -> None:
    """Delete the mode at SCOPE, and print what it was.

    \b
    Example:
      treaty mode delete :.prod: --recursive
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        found_mode = client.delete_mode(scope, recursive=recursive)
    if not as_json:
        screen.say("Deleted. It was:")
    connection.say_members({"mode": found_mode}, as_json=as_json)
