"""Subcommands of `treaty policy` for named policies: create, change, show, list and delete them."""

import shlex
from dataclasses import replace
from typing import Any

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.levels import LEVEL, format_level, level_members
from treaty.cli.terminal.options import UpperChoice
from treaty.core.messages.policies import PolicyFound
from treaty.core.policy import STRICTNESS, Level
from treaty.core.state.values import PolicyValue

name_ = click.argument("name")
strictness_ = click.option(
    "--strictness", type=UpperChoice(STRICTNESS), help="Which differences count (default STRICT)."
)
partition_ = click.option(
    "--partition",
    metavar="PARTITION",
    help="Compare only versions of one part: 'type' (same format and type), or property:NAME (same value of a metadata property).",
)


def warn_follower(scope: str, follows: str | None) -> None:
    """Say of a scope, for which members of a policy were set, that it still follows a named one with the same members."""
    if follows is not None:
        words = " ".join(["treaty config set", *([shlex.quote(scope)] if scope else []), "--unset follows"])
        screen.say(
            f"{scope or 'The default context'} still follows the policy {follows}, which says the same: it changes when that "
            f"policy does. To end that, run: {words}",
            "yellow",
            err=True,
        )


@click.command("create")
@name_
@click.argument("level", type=LEVEL)
@partition_
@strictness_
@connection.validators
@connection.registry
@connection.as_json
def create(name: str, level: Level, *, registry: str, as_json: bool, **members: Any) -> None:
    """Create a policy that subjects and contexts may follow. LEVEL is written as for `treaty policy set`.

    \b
    Examples:
      treaty policy create gold FULL_TRANSITIVE --validator documentation
      treaty policy create open NONE --validator 'required-metadata(owner,team)'
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        stored = client.create_policy(name, _with_members(PolicyValue(), level, members))
        _say_policy(stored.found, as_json=as_json)


@click.command("change")
@name_
@click.argument("level", type=LEVEL, required=False)
@partition_
@strictness_
@connection.validators
@click.option("--no-validators", is_flag=True, help="Take all validators away.")
@connection.registry
@connection.as_json
def change(
    name: str, level: Level | None, *, no_validators: bool, registry: str, as_json: bool, **members: Any
) -> None:
    """Change a policy for everything that follows it. What is not given stays.

    If another client changes the policy meanwhile, nothing changes.

    \b
    Examples:
      treaty policy change gold FULL
      treaty policy change gold --validator 'max-depth(5)'
    """  # noqa: D301 - click wants the control character
    if no_validators and members["validators"]:
        raise click.UsageError("give --validator or --no-validators, not both")
    if level is None and not no_validators and not any(members.values()):
        raise click.UsageError("nothing to change; give a level or an option")
    with connection.open_registry(registry) as client:
        old = client.policy(name).policy
        new = _with_members(replace(old, validators=()) if no_validators else old, level, members)
        _say_policy(client.change_policy(name, new, previous=old), as_json=as_json)


@click.command("show")
@name_
@connection.registry
@connection.as_json
def show(name: str, *, registry: str, as_json: bool) -> None:
    """Show a named policy.

    \b
    Example:
      treaty policy show gold
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        _say_policy(client.policy(name), as_json=as_json)


@click.command("list")
@connection.registry
@connection.as_json
def list_(*, registry: str, as_json: bool) -> None:
    """List named policies.

    \b
    Example:
      treaty policy list
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        policies = client.policies()
    if as_json:
        screen.say_json([_members(one) for one in policies])
        return
    for policy in policies:
        screen.say(f"{policy.name}  {_level_of(policy)}")


@click.command("delete")
@name_
@connection.registry
@connection.as_json
def delete(name: str, *, registry: str, as_json: bool) -> None:
    """Delete a policy that nothing follows, and print what it was.

    \b
    Example:
      treaty policy delete gold
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        _say_policy(client.delete_policy(name), as_json=as_json)


COMMANDS = (create, change, show, list_, delete)
"""The subcommands."""


def _with_members(old: PolicyValue, level: Level | None, members: dict[str, Any]) -> PolicyValue:
    """Return a policy with the members that the command line gives."""
    news: dict[str, Any] = {name: value for name, value in members.items() if value}
    if level is not None:
        news |= {"backward": level.backward, "forward": level.forward, "deny": level.deny}
    return replace(old, **news)


def _level_of(policy_found: PolicyFound) -> str:
    policy = policy_found.policy
    return format_level(Level(policy.backward, policy.forward, policy.deny))


def _members(policy_found: PolicyFound) -> dict[str, Any]:
    policy = policy_found.policy
    level = level_members(Level(policy.backward, policy.forward, policy.deny))
    members = {
        "strictness": policy.strictness or STRICTNESS[0],
        "partition": policy.partition,
        "validators": list(policy.validators),
    }
    return {"name": policy_found.name, **level, **members}


def _say_policy(policy_found: PolicyFound, *, as_json: bool) -> None:
    members = _members(policy_found)
    if as_json:
        screen.say_json(members)
        return
    facts = {"name": policy_found.name, "level": _level_of(policy_found), "strictness": members["strictness"]}
    validators = ", ".join(policy_found.policy.validators)
    more = {"partition": policy_found.policy.partition, "validators": validators}
    screen.say_facts({**facts, **{name: value for name, value in more.items() if value}})
