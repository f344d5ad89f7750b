"""`treaty config …`: settings of subjects, contexts and everything."""

from typing import Any

import click

from treaty.cli.nouns import asking
from treaty.core.answers import Config
from treaty.core.policy import LEVELS


@click.group("config")
def command() -> None:
    """Config: the compatibility level and what goes with it."""


@command.command("get")
@asking.scope
@asking.own
@asking.registry
@asking.as_json
def get(scope: str, *, own: bool, registry: str, as_json: bool) -> None:
    """Show the config in force at SCOPE: a subject, a context (":.prod:"), "*", or the default context.

    \b
    Examples:
      treaty config get orders-value
      treaty config get --own
    """  # noqa: D301 - click wants the control character
    with asking.asked(registry) as found:
        told = asking.members(found.config(scope, resolve=not own))
    asking.say_members(told, as_json=as_json)


@command.command("set")
@asking.scope
@click.option("--level", type=click.Choice(list(LEVELS), case_sensitive=False))
@click.option("--policy", type=click.Choice(["STRICT", "LENIENT", "LOGICAL"], case_sensitive=False))
@click.option(
    "--group", metavar="PROPERTY", help="Compare only versions with the same value of this metadata property."
)
@click.option("--alias", metavar="SUBJECT", help="Another name leads here.")
@click.option("--normalize/--no-normalize", default=None, help="Normalise what is registered.")
@click.option(
    "--validator", "validators", multiple=True, metavar="ID", help="A lint that every new version must follow."
)
@click.option("--clear", multiple=True, metavar="MEMBER", help="Forget a member; may be given often.")
@asking.registry
@asking.as_json
def set_(scope: str, *, clear: tuple[str, ...], registry: str, as_json: bool, **change: Any) -> None:
    """Change the config at SCOPE: a subject, a context (":.prod:"), "*", or the default context.

    \b
    Examples:
      treaty config set orders-value --level FULL_TRANSITIVE
      treaty config set --level BACKWARD --normalize
      treaty config set orders-value --clear alias
    """  # noqa: D301 - click wants the control character
    unknown = sorted(set(clear) - set(Config.__dataclass_fields__))
    if unknown:
        known = ", ".join(Config.__dataclass_fields__)
        raise click.BadParameter(f"no member {', '.join(unknown)}; there are {known}", param_hint="--clear")
    change["validators"] = change["validators"] or None
    if not clear and all(value is None for value in change.values()):
        raise click.UsageError("nothing to change; see --help for what can be set")
    words = {name: value.upper() if name in {"level", "policy"} and value else value for name, value in change.items()}
    with asking.asked(registry) as found:
        told = asking.members(found.set_config(scope, Config(**words), clear))
    asking.say_members(told, as_json=as_json)


@command.command("delete")
@asking.scope
@asking.registry
@asking.as_json
def delete(scope: str, *, registry: str, as_json: bool) -> None:
    """Forget the config at SCOPE; shows what it was.

    \b
    Example:
      treaty config delete orders-value
    """  # noqa: D301 - click wants the control character
    with asking.asked(registry) as found:
        told = asking.members(found.delete_config(scope))
    asking.say_members(told, as_json=as_json)
