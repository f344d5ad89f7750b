"""`treaty encoding …`: encoding ids, which stand for one version and one codec of a group."""

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import SubcommandGroup
from treaty.core.messages.encodings import NO_CODEC, AssignEncoding
from treaty.core.names import subject_of

COUNT = click.IntRange(min=0)


@click.group("encoding", cls=SubcommandGroup)
def command() -> None:
    """Show and assign encoding ids. An encoding id stands for one version and one codec of a group."""


@command.command("get")
@connection.group_name
@click.argument("encoding_id", metavar="ID", type=COUNT)
@connection.registry
@connection.as_json
def get(subject: str, encoding_id: int, *, registry: str, as_json: bool) -> None:
    """Show the version and the codec that an encoding ID stands for; the version may be deleted.

    \b
    Example:
      treaty encoding get orders 0
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        encoding = client.encoding(subject, encoding_id)
    codec, version = encoding.codec, encoding.version
    if as_json:
        found_codec = {"name": codec.name, "properties": dict(codec.properties)}
        members = {"encoding": encoding.encoding_id, "codec": found_codec}
        screen.say_json({**members, "version": connection.group_version_members(version)})
        return
    pairs = ", ".join(f"{name}={value}" for name, value in codec.properties)
    screen.say_facts(
        {
            "subject": version.subject,
            "encoding": str(encoding.encoding_id),
            "codec": f"{codec.name or 'none'}{f' ({pairs})' if pairs else ''}",
            "ordinal": f"{version.ordinal}{' (deleted)' if version.deleted else ''}",
            "version": str(version.number),
            "id": str(version.schema_id),
            "format": version.format,
        }
    )
    screen.say(version.text)


@command.command("assign")
@connection.group_name
@click.argument("ordinal", type=COUNT)
@click.option("--codec", default=NO_CODEC, metavar="NAME", help="A codec of the group (default: payloads as they are).")
@connection.registry
@connection.as_json
def assign(subject: str, ordinal: int, *, codec: str, registry: str, as_json: bool) -> None:
    """Print the encoding id of the version with this ORDINAL and a codec; assign one if they have none yet.

    \b
    Examples:
      treaty encoding assign orders 0
      treaty encoding assign orders 0 --codec gzip --json
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as client:
        assigned = client.ask(AssignEncoding(subject_of(subject), ordinal, codec)).answer
    if as_json:
        facts = {"subject": subject, "ordinal": ordinal, "codec": codec}
        screen.say_json({**facts, "encoding": assigned.encoding_id, "created": assigned.created})
        return
    word = "is now" if assigned.created else "was already"
    pair = f"ordinal {ordinal} of {subject}{f' with {codec}' if codec else ''}"
    screen.say(f"It {word} encoding {assigned.encoding_id}: {pair}.", "green")
