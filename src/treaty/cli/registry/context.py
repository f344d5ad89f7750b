"""`treaty context …`: list contexts, and delete empty ones."""

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.confirmation import confirm
from treaty.cli.terminal.options import SubcommandGroup
from treaty.core.names import context_of


@click.group("context", cls=SubcommandGroup)
def command() -> None:
    """Contexts: list, delete."""


@command.command("list")
@connection.registry
@connection.as_json
def list_(*, registry: str, as_json: bool) -> None:
    """List contexts, the default one first.

    \b
    Example:
      treaty context list
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        names = client.contexts()
    if as_json:
        screen.say_json(list(names))
    else:
        for name in names:
            screen.say(name)


@command.command("delete")
@click.argument("context")
@connection.yes
@connection.registry
@connection.as_json
def delete(context: str, *, yes: bool, registry: str, as_json: bool) -> None:
    """Delete an empty CONTEXT.

    \b
    Example:
      treaty context delete .dev
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        is_there = context_of(context) in client.contexts()
        if is_there:
            confirm(f"Delete the context {context}?", yes=yes)
        client.delete_context(context)
    if as_json:
        screen.say_json({"context": context, "deleted": is_there})
    elif is_there:
        screen.say(f"Deleted: {context}", "green")
    else:
        screen.say(f"Context {context} does not exist; nothing was deleted.")
