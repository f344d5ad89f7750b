"""`treaty encoding …`: encoding ids, which stand for one version and one codec of a group."""

import click
import msgspec

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import SubcommandGroup
from treaty.core.encodings import NO_CODEC, AssignEncoding
from treaty.core.names import subject_of
from treaty.wire.confluent.versions import version_body

COUNT = click.IntRange(min=0)


@click.group("encoding", cls=SubcommandGroup)
def command() -> None:
    """Show and assign encoding ids. An encoding id stands for one version and one codec of a group."""


@command.command("get")
@connection.subject
@click.argument("encoding_id", metavar="ID", type=COUNT)
@connection.registry
@connection.as_json
def get(subject: str, encoding_id: int, *, registry: str, as_json: bool) -> None:
    """Show the version and the codec that an encoding ID stands for; the version may be deleted.

    \b
    Example:
      treaty encoding get orders 0
    """  # noqa: D301 - click wants the control character
    with connection.open_registry(registry) as found:
        one = found.encoding(subject, encoding_id)
    codec = {"name": one.codec.name, "properties": dict(one.codec.properties)}
    if as_json:
        version = msgspec.to_builtins(version_body(one.version, details=True))
        screen.say_json({"encoding": one.encoding_id, "codec": codec, "version": version})
        return
    facts = {"encoding": str(one.encoding_id), "codec": one.codec.name or "none", "ordinal": str(one.version.ordinal)}
    screen.say_facts(facts)
    for name, value in one.codec.properties:
        screen.say(f"   property {name}: {value}")
    connection.say_version(one.version, as_json=False)


@command.command("assign")
@connection.subject
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
    with connection.open_registry(registry) as found:
        done = found.ask(AssignEncoding(subject_of(subject), ordinal, codec)).answer
    if as_json:
        facts = {"subject": subject, "ordinal": ordinal, "codec": codec}
        screen.say_json({**facts, "encoding": done.encoding_id, "created": done.created})
        return
    word = "is now" if done.created else "was already"
    pair = f"ordinal {ordinal} of {subject}{f' with {codec}' if codec else ''}"
    screen.say(f"It {word} encoding {done.encoding_id}: {pair}.", "green")
