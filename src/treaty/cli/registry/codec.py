"""`treaty codec list` and `treaty codec add` print and add the codecs that writers of a group may use; a codec that is there already is said to be."""

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import SubcommandGroup, parse_pairs


@click.group("codec", cls=SubcommandGroup)
def command() -> None:
    """List and add the codecs of a group. A codec says how writers pack their payloads, for example with gzip."""


@command.command("list")
@connection.group_name
@connection.registry
@connection.as_json
def list_(subject: str, *, registry: str, as_json: bool) -> None:
    """List the codecs that were added to a group, by name.

    \b
    Examples:
      treaty codec list orders
      treaty codec list orders --json
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        codecs = client.codecs(subject)
    if as_json:
        screen.say_json([{"name": one.name, "properties": dict(one.properties)} for one in codecs])
        return
    for codec in codecs:
        pairs = ", ".join(f"{name}={value}" for name, value in codec.properties)
        screen.say(f"{codec.name} ({pairs})" if pairs else codec.name)


@command.command("add")
@connection.group_name
@click.argument("name")
@click.option(
    "--property",
    "properties",
    multiple=True,
    metavar="NAME=VALUE",
    help="A property that readers need to unpack payloads, such as level=3. Repeatable.",
)
@connection.registry
@connection.as_json
def add(subject: str, name: str, *, properties: tuple[str, ...], registry: str, as_json: bool) -> None:
    """Add a codec to a group. Its properties never change, because payloads depend on them.

    \b
    Examples:
      treaty codec add orders gzip
      treaty codec add orders zstd --property level=3
    """  # noqa: D301 - click wants the control character
    pairs = parse_pairs(properties)
    with connection.open_registry(registry) as client:
        created = client.add_codec(subject, name, pairs)
    if as_json:
        screen.say_json({"subject": subject, "name": name, "properties": dict(pairs), "created": created})
    elif created:
        screen.say(f"Added: {name}", "green")
    else:
        screen.say(f"{subject} has the codec {name} already; nothing was changed.")
