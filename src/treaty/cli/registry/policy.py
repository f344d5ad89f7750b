"""`treaty policy …`: the compatibility policy of a group, with its exact ranges, and named policies."""

import click

from treaty.cli.registry import connection, named_policy
from treaty.cli.terminal import screen
from treaty.cli.terminal.levels import LEVEL, format_level, level_members, previous_
from treaty.cli.terminal.options import LABEL_POLICIES, LABEL_POLICY_HELP, SubcommandGroup
from treaty.client.connection import Connection
from treaty.core.messages.groups import GroupFound
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.messages.settings import Config
from treaty.core.policy import STRICTNESS, Level, partition_of


@click.group("policy", cls=SubcommandGroup)
def command() -> None:
    """Show or change the compatibility policy of a group, and keep named policies."""


for subcommand in named_policy.COMMANDS:
    command.add_command(subcommand)


@command.command("get")
@connection.subject
@connection.registry
@connection.as_json
def get(subject: str, *, registry: str, as_json: bool) -> None:
    """Show the policy in force at a group: level, strictness, partition, validators.

    The level is printed as `treaty policy set` takes it.

    \b
    Example:
      treaty policy get orders
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        _say_policy(client, client.group(subject), as_json=as_json)


@command.command("set")
@connection.subject
@click.argument("level", type=LEVEL, required=False)
@previous_
@click.option(
    "--follow", "follows", metavar="NAME", help="Follow this named policy, in place of a level and validators."
)
@connection.validators
@click.option("--no-validators", is_flag=True, help="Take all validators away.")
@click.option("--label-policy", type=click.Choice(LABEL_POLICIES), help=f"For labels of SchemaVer: {LABEL_POLICY_HELP}")
@connection.registry
@connection.as_json
def set_(
    subject: str,
    level: Level | None,
    *,
    previous: Level | None,
    follows: str | None,
    validators: tuple[str, ...],
    no_validators: bool,
    label_policy: str | None,
    registry: str,
    as_json: bool,
) -> None:
    """Set the LEVEL or the validators of a group, the named policy that it follows, or its policy of labels.

    LEVEL is NONE, BACKWARD, FORWARD, FULL, BACKWARD_TRANSITIVE, FORWARD_TRANSITIVE, FULL_TRANSITIVE, deny, or ranges:
    backward=RANGE,forward=RANGE, where RANGE is none, latest, all or till:ORDINAL, and a missing one is none.

    \b
    Examples:
      treaty policy set orders FULL_TRANSITIVE
      treaty policy set orders backward=till:3,forward=latest --previous FULL
      treaty policy set orders --validator documentation
      treaty policy set orders --follow gold
      treaty policy set com.acme/click/jsonschema --label-policy refuse
    """  # noqa: D301 - click wants the control character
    if validators and no_validators:
        raise click.UsageError("give --validator or --no-validators, not both")
    if follows is not None and (level is not None or validators or no_validators):
        raise click.UsageError("--follow takes the place of a level and of validators; give one of them")
    if (level, follows, label_policy) == (None, None, None) and not validators and not no_validators:
        raise click.UsageError(
            "nothing to change; give a level, --follow, --validator, --no-validators or --label-policy"
        )
    names = validators or (() if no_validators else None)
    with connection.open_registry(registry) as client:
        group = client.change_subject(
            subject, level=level, previous=previous, validators=names, follows=follows, label_policy=label_policy
        )
        config = _say_policy(client, group, as_json=as_json)
    if level is not None or names is not None:
        named_policy.warn_follower(group.subject, config.follows)


def _say_policy(client: Connection, group: GroupFound, *, as_json: bool) -> Config:
    """Print the level, and the other members of the policy as the group's config has or inherits them; returns the config."""
    config = client.config(group.subject)
    strictness, partition = config.policy or STRICTNESS[0], partition_of(config.group, config.partition) or ""
    validators = config.validators or ()
    if as_json:
        members = {"strictness": strictness, "partition": partition, "validators": list(validators)}
        if config.follows is not None:
            members["follows"] = config.follows
        if group.order == SCHEMAVER:
            members["labelPolicy"] = group.label_policy
        screen.say_json({"subject": group.subject, **level_members(group.level), **members})
        return config
    facts = {"level": format_level(group.level), "strictness": strictness}
    if partition:
        facts["partition"] = partition
    if config.follows is not None:
        facts["follows"] = config.follows
    if validators:
        facts["validators"] = ", ".join(validators)
    if group.order == SCHEMAVER:
        facts["label policy"] = group.label_policy
    screen.say_facts(facts)
    return config
