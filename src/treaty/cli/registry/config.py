"""`treaty config …`: settings of subjects, contexts and the whole registry."""

from typing import Any

import click

from treaty.cli.registry import connection, named_policy
from treaty.cli.terminal import screen
from treaty.cli.terminal.levels import parse_range
from treaty.cli.terminal.options import SubcommandGroup, UpperChoice
from treaty.core.messages.settings import Config
from treaty.core.policy import LEVELS, NONE, Level, VersionRange, in_words

_OF_POLICY = ("level", "exact_level", "policy", "group", "partition", "validators")
"""Members of a config that a named policy says too."""


def _say_config(config: Config, *, as_json: bool) -> None:
    """Print a config; a level without a name is printed as its two ranges."""
    members = connection.answer_members(config)
    if not as_json and members.pop("treaty", None) and config.exact_level is not None:
        members["exactLevel"] = in_words(config.exact_level)
    if not as_json and config.partition is not None:
        members["partition"] = config.partition
    if not as_json and config.follows is not None:
        members["follows"] = config.follows
    connection.say_members(members, as_json=as_json)


@click.group("config", cls=SubcommandGroup)
def command() -> None:
    """Show or change compatibility levels and other settings."""


@command.command("get")
@connection.scope
@connection.no_defaults
@connection.registry
@connection.as_json
def get(scope: str, *, no_defaults: bool, registry: str, as_json: bool) -> None:
    """Show the config in force at SCOPE: a subject, a context (":.prod:"), "*", or the default context.

    \b
    Examples:
      treaty config get orders-value
      treaty config get --no-defaults
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        _say_config(client.config(scope, resolve=not no_defaults), as_json=as_json)


@command.command("set")
@connection.scope
@click.option(
    "--level",
    type=UpperChoice(LEVELS),
    metavar="LEVEL",
    help="NONE, BACKWARD, FORWARD, FULL, BACKWARD_TRANSITIVE, FORWARD_TRANSITIVE or FULL_TRANSITIVE, in any letter case.",
)
@click.option(
    "--backward",
    callback=parse_range,
    metavar="RANGE",
    help="Range of earlier versions whose data the new one must read, in place of --level: none, latest, all or till:ORDINAL.",
)
@click.option(
    "--forward",
    callback=parse_range,
    metavar="RANGE",
    help="Range of earlier versions that must read data of the new one, in place of --level: none, latest, all or till:ORDINAL.",
)
@click.option("--deny", is_flag=True, help="Refuse every new version, in place of --level.")
@click.option("--policy", type=UpperChoice(["STRICT", "LENIENT", "LOGICAL"]))
@click.option(
    "--compatibility-group",
    "group",
    metavar="PROPERTY",
    help="Compare only versions with the same value of this metadata property.",
)
@click.option("--partition", metavar="PARTITION", help="Compare only versions of the same format and type: 'type'.")
@click.option("--alias", metavar="SUBJECT", help="Make SCOPE an alias of SUBJECT.")
@click.option("--follow", "follows", metavar="NAME", help="Follow this named policy; --unset follows ends that.")
@click.option("--normalize/--no-normalize", default=None, help="Normalize schemas before they are registered.")
@connection.validators
@click.option("--unset", "clear", multiple=True, metavar="MEMBER", help="Member to unset. Repeatable.")
@connection.registry
@connection.as_json
def set_(scope: str, *, clear: tuple[str, ...], registry: str, as_json: bool, **change: Any) -> None:
    """Change the config at SCOPE: a subject, a context (":.prod:"), "*", or the default context.

    \b
    Examples:
      treaty config set orders-value --level FULL_TRANSITIVE
      treaty config set --level BACKWARD --normalize
      treaty config set orders-value --backward till:3 --forward latest
      treaty config set orders-value --unset alias
    """  # noqa: D301 - click wants the control character
    unknown = sorted(set(clear) - set(Config.__dataclass_fields__))
    if unknown:
        members = ", ".join(Config.__dataclass_fields__)
        raise click.BadParameter(f"unknown member {', '.join(unknown)}; known are {members}", param_hint="--unset")
    change["validators"] = change["validators"] or None
    change["exact_level"] = _read_level(change.pop("backward"), change.pop("forward"), deny=change.pop("deny"))
    if not clear and all(value is None for value in change.values()):
        raise click.UsageError("nothing to change; see --help for the settings")
    words = {name: value.upper() if name in {"level", "policy"} and value else value for name, value in change.items()}
    with connection.open_registry(registry) as client:
        config = client.set_config(scope, Config(**words), clear)
    _say_config(config, as_json=as_json)
    if words["follows"] is None and any(words[name] is not None for name in _OF_POLICY):
        named_policy.warn_follower(scope, config.follows)


def _read_level(backward: VersionRange | None, forward: VersionRange | None, *, deny: bool) -> Level | None:
    """Return the level in the options; None if there is none."""
    if backward is None and forward is None and not deny:
        return None
    return Level(backward or NONE, forward or NONE, deny)


@command.command("delete")
@connection.scope
@connection.registry
@connection.as_json
def delete(scope: str, *, registry: str, as_json: bool) -> None:
    """Delete the config at SCOPE, and print what it was.

    \b
    Example:
      treaty config delete orders-value
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        deleted = client.delete_config(scope)
    if not as_json:
        screen.say("Deleted. It was:")
    _say_config(deleted, as_json=as_json)
