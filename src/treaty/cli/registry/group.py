"""`treaty group …`: subjects with settings of their own, with versions or without."""

from typing import Any, TypedDict, Unpack

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.confirmation import confirm
from treaty.cli.terminal.levels import LEVEL, LEVEL_HELP, format_level, level_members, previous_
from treaty.cli.terminal.options import LABEL_POLICIES, LABEL_POLICY_HELP, SubcommandGroup, parse_pairs
from treaty.client.connection import Connection
from treaty.core.messages.groups import FORMAT, GroupFound, GroupSettings
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import Level
from treaty.core.refusals import Forbidden, NotFound
from treaty.core.schema import Pairs
from treaty.core.state.values import PolicyValue

ORIGIN = "treaty"
"""The origin of groups that this program creates."""
TYPES = ("across", "one", "many")
IDENTITIES = ("canonical", "normalised", "exact")
ORDERS = ("registration", "schemaver")

properties_ = click.option(
    "--property", "properties", multiple=True, metavar="NAME=VALUE", help="Property. Repeatable."
)


@click.group("group", cls=SubcommandGroup)
def command() -> None:
    """Create, list, show, change and remove groups. A group is a subject with settings, with versions or without."""


@command.command("list")
@click.argument("context", default=".")
@connection.registry
@connection.as_json
def list_(context: str, *, registry: str, as_json: bool) -> None:
    """List the groups of a CONTEXT, those without versions among them; without it those of the default context.

    \b
    Examples:
      treaty group list
      treaty group list .prod --json
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        groups = client.groups(context)
    if as_json:
        screen.say_json([_group_members(group) for group in groups])
        return
    rows = [
        (group.format, group.types, format_level(group.level), _format_ordinal(group.latest), group.subject)
        for group in groups
    ]
    screen.say_rows(("format", "types", "level", "latest ordinal", "group"), rows)


@command.command("get")
@connection.group_name
@connection.registry
@connection.as_json
def get(subject: str, *, registry: str, as_json: bool) -> None:
    """Show a group: its settings, its properties, and the level in force.

    \b
    Example:
      treaty group get orders
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        group = client.group(subject)
    _say_group(group, as_json=as_json)


class GroupOptions(TypedDict):
    """Options of `treaty group create`; the names are those of click's parameters."""

    types: str
    identity: str
    order: str
    format_name: str | None
    level: Level | None
    partition: str | None
    validators: tuple[str, ...]
    properties: tuple[str, ...]
    id_schemes: tuple[str, ...]
    label_policy: str
    origin: str
    registry: str
    as_json: bool


@command.command("create")
@connection.group_name
@click.option(
    "--types",
    type=click.Choice(TYPES),
    default="across",
    show_default=True,
    help="across: versions of any type are compared. one: all versions have one type. many: a version is compared with those of its type.",
)
@click.option(
    "--identity",
    type=click.Choice(IDENTITIES),
    default="canonical",
    show_default=True,
    help="When two schemas are one version: canonical also compares metadata, normalised does not, exact compares the text as sent.",
)
@click.option(
    "--order", type=click.Choice(ORDERS), default="registration", show_default=True, help="Order of versions."
)
@click.option(
    "--format", "format_name", metavar="NAME", help="The only format of versions: AVRO, JSON, PROTOBUF (default: any)."
)
@click.option("--level", type=LEVEL, metavar="LEVEL", help=f"{LEVEL_HELP} Default: inherited.")
@click.option("--partition", metavar="PARTITION", help="Compare only versions of the same format and type: 'type'.")
@connection.validators
@properties_
@click.option(
    "--id-scheme",
    "id_schemes",
    multiple=True,
    metavar="NAME",
    help="Name versions by sequence, md5, crc-64-avro, sha-256 or a plug-in; the first is that of GROUP/ID. Repeatable.",
)
@click.option(
    "--label-policy",
    type=click.Choice(LABEL_POLICIES),
    default="warn",
    show_default=True,
    help=f"With --order schemaver: {LABEL_POLICY_HELP}",
)
@click.option("--origin", default=ORIGIN, show_default=True, metavar="NAME", help="System that the group comes from.")
@connection.registry
@connection.as_json
def create(subject: str, **options: Unpack[GroupOptions]) -> None:
    """Create a group without versions. One that exists keeps its settings. Types, identity and order never change.

    \b
    Examples:
      treaty group create orders --format AVRO --level FULL --property owner=shop
      treaty group create events --types many --level deny
    """  # noqa: D301 - click wants the control character
    settings = GroupSettings(
        origin=options["origin"],
        types=options["types"],
        order=options["order"],
        identity=options["identity"],
        policy=_policy_of(options),
        properties=_properties(options["properties"], options["format_name"]),
        schemes=options["id_schemes"],
    )
    with connection.open_registry(options["registry"], "create") as client:
        created = client.create_subject(subject, settings, label_policy=options["label_policy"])
    if options["as_json"]:
        screen.say_json({**_group_members(created.group), "created": created.created})
        return
    _say_group(created.group, as_json=False)
    if created.created:
        screen.say(f"Created: {subject}", "green")
    else:
        screen.say(f"{subject} exists and keeps its settings; nothing was changed.")


def _policy_of(options: GroupOptions) -> Config | None:
    """Return the policy in the options; None where all of it is inherited."""
    policy = Config(
        exact_level=options["level"], partition=options["partition"], validators=options["validators"] or None
    )
    return None if policy == Config() else policy


def _properties(words: tuple[str, ...], format_name: str | None) -> Pairs:
    pairs = parse_pairs(words)
    if format_name is None:
        return pairs
    word = format_name if format_name.lower() == "any" else format_name.upper()
    return tuple(sorted((*pairs, (FORMAT, word))))


@command.command("change")
@connection.group_name
@click.option("--level", type=LEVEL, metavar="LEVEL", help=LEVEL_HELP)
@previous_
@click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME=VALUE",
    help="Property. Repeatable; a property that is not given is removed.",
)
@click.option("--no-properties", is_flag=True, help="Remove all properties.")
@connection.registry
@connection.as_json
def change(
    subject: str,
    *,
    level: Level | None,
    previous: Level | None,
    properties: tuple[str, ...],
    no_properties: bool,
    registry: str,
    as_json: bool,
) -> None:
    """Change the level or the properties of a group in one step.

    \b
    Examples:
      treaty group change orders --property owner=shop --property team=7
      treaty group change orders --level FULL --previous BACKWARD
    """  # noqa: D301 - click wants the control character
    if properties and no_properties:
        raise click.UsageError("give --property or --no-properties, not both")
    if level is None and not properties and not no_properties:
        raise click.UsageError("nothing to change; give --level, --property or --no-properties")
    pairs = parse_pairs(properties) if properties or no_properties else None
    with connection.open_registry(registry) as client:
        group = client.change_subject(subject, level=level, previous=previous, properties=pairs)
    _say_group(group, as_json=as_json)


@command.command("remove")
@connection.group_name
@connection.yes
@connection.registry
@connection.as_json
def remove(subject: str, *, yes: bool, registry: str, as_json: bool) -> None:
    """Remove a group with all versions, codecs, encodings and settings. It is refused while other schemas refer to it.

    \b
    Example:
      treaty group remove orders --yes
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        is_there = yes or _may_exist(client, subject)
        if is_there:
            confirm(f"Remove {subject} with all its versions?", yes=yes)
        removed = is_there and client.remove_subject(subject)
    if as_json:
        screen.say_json({"subject": subject, "removed": removed})
    elif removed:
        screen.say(f"Removed: {subject}", "green")
    else:
        screen.say(f"Group {subject} does not exist; nothing was removed.")


def _may_exist(client: Connection, subject: str) -> bool:
    """Return whether a group exists, or the caller may not know it."""
    try:
        client.group(subject)
    except NotFound:
        return False
    except Forbidden:
        return True
    return True


@command.command("versions")
@connection.group_name
@click.option("--type", "type_name", default="", metavar="NAME", help="Only versions of this type.")
@click.option("--latest", is_flag=True, help="Only the newest version of each format and type.")
@connection.registry
@connection.as_json
def versions(subject: str, *, type_name: str, latest: bool, registry: str, as_json: bool) -> None:
    """List the versions of a group by ordinal.

    \b
    Examples:
      treaty group versions orders
      treaty group versions events --type shop.Order --latest --json
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        listed = client.group_versions(subject, type_name, latest=latest)
    if as_json:
        screen.say_json([connection.group_version_members(one) for one in listed])
        return
    rows = [(*_version_row(one), f"{one.type_name} {one.type_version}".strip()) for one in listed]
    screen.say_rows((*HEADS, "type"), rows)


@command.command("history")
@connection.group_name
@connection.registry
@connection.as_json
def history(subject: str, *, registry: str, as_json: bool) -> None:
    """List the versions of a group, each with the policy that was in force when it was registered.

    \b
    Example:
      treaty group history orders
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        listed = client.history(subject)
    if as_json:
        screen.say_json(
            [{**connection.group_version_members(one.version), "policy": _policy_members(one.policy)} for one in listed]
        )
        return
    rows = [(*_version_row(one.version), _format_policy(one.version, one.policy)) for one in listed]
    screen.say_rows((*HEADS, "level"), rows)


HEADS = ("ordinal", "version", "id", "format")


def _version_row(version: VersionFound) -> tuple[str, ...]:
    return (str(version.ordinal), str(version.number), str(version.schema_id), version.format)


def _format_policy(version: VersionFound, policy: PolicyValue | None) -> str:
    level = "" if policy is None else format_level(Level(policy.backward, policy.forward, policy.deny))
    notes = ("forced",) * (version.forced is not None) + ("imported",) * version.imported
    return " ".join((level, f"({', '.join(notes)})")) if notes else level


def _policy_members(policy: PolicyValue | None) -> dict[str, Any] | None:
    if policy is None:
        return None
    level = Level(policy.backward, policy.forward, policy.deny)
    members = {"partition": policy.partition, "strictness": policy.strictness, "validators": list(policy.validators)}
    return {**level_members(level), **members}


def _format_ordinal(ordinal: int) -> str:
    return "none" if ordinal < 0 else str(ordinal)


def _group_members(group: GroupFound) -> dict[str, Any]:
    """Return a group as JSON members; `latest` is null without a live version."""
    return {
        "subject": group.subject,
        "origin": group.origin,
        "types": group.types,
        "order": group.order,
        "identity": group.identity,
        "format": group.format,
        **level_members(group.level),
        "config": connection.answer_members(group.config),
        "properties": dict(group.properties),
        "idSchemes": list(group.schemes),
        "private": group.private,
        "labelPolicy": group.label_policy,
        "latest": None if group.latest < 0 else group.latest,
    }


def _say_group(group: GroupFound, *, as_json: bool) -> None:
    if as_json:
        screen.say_json(_group_members(group))
        return
    facts = {name: getattr(group, name) for name in ("subject", "origin", "types", "order", "identity", "format")}
    facts["level"] = format_level(group.level)
    if group.config.partition:
        facts["partition"] = group.config.partition
    if group.config.validators:
        facts["validators"] = ", ".join(group.config.validators)
    if group.order == "schemaver":
        facts |= {"private": "yes" if group.private else "no", "label policy": group.label_policy}
    facts["latest ordinal"] = _format_ordinal(group.latest)
    if group.schemes:
        facts["id schemes"] = ", ".join(group.schemes)
    screen.say_facts(facts)
    for name, value in group.properties:
        screen.say(f"   property {name}: {value}")
