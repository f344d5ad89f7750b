"""`treaty decode`: explains one framed record byte by byte."""

import base64
import binascii
import sys

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import encoding_
from treaty.client.explain.pieces import RecordPiece
from treaty.client.explain.record import RecordExplanation, explain_record
from treaty.client.groups.explanation import explain_group_record
from treaty.client.serializers.frames import HEADER_OF, Part
from treaty.core.limits import REQUEST_BYTES

FINE, WRONG = 0, 1


@click.command("decode", epilog="Exit code 0: the record is valid. 1: it is not. 2: unusable input.")
@click.argument("data", default="-")
@click.option(
    "--header", metavar="HEX", help="Content of the header __value_schema_id, if the frame is in that header."
)
@encoding_
@click.option(
    "--group", default="", metavar="GROUP", help="The record is of this group, with an encoding id (Pravega's frame)."
)
@click.option("--key", is_flag=True, help="DATA is the key of a record, not its value.")
@connection.registry
@connection.as_json
def command(
    data: str, *, header: str | None, key: bool, group: str, encoding: str, registry: str, as_json: bool
) -> None:
    """Explain a framed record. DATA is hex or base64; ``-``, the default, reads raw bytes, hex or base64 from standard
    input.

    It prints magic byte, schema id or guid, message indexes, and every piece of the payload with its field and value.

    \b
    Examples:
      treaty decode 000000000a0e024f6b --registry http://127.0.0.1:8081
      kcat -C -t orders -c 1 -e | treaty decode --registry http://127.0.0.1:8081
      treaty decode 01000000000674656106 --group orders
    """  # noqa: D301 - click wants the control character
    part: Part = "key" if key else "value"
    record = _read_stdin() if data == "-" else _parse_bytes(data, "DATA")
    headers = () if header is None else ((HEADER_OF[part], _parse_bytes(header, "--header")),)
    with connection.open_registry(registry) as client:
        if group:
            explained = explain_group_record(client, group, record, encoding=encoding)
        else:
            explained = explain_record(client, record, headers, part, encoding=encoding)
    if as_json:
        screen.say_json(_explanation_members(explained))
    else:
        say_explained(explained)
    sys.exit(WRONG if explained.problem else FINE)


def _read_stdin() -> bytes:
    data = sys.stdin.buffer.read(REQUEST_BYTES + 1)
    if len(data) > REQUEST_BYTES:
        raise click.UsageError(f"a record of more than {REQUEST_BYTES} bytes (limit REQUEST_BYTES)")
    if data[:1] in {b"\x00", b"\x01"}:
        return data
    try:
        return _parse_bytes(data.decode("ascii"), "standard input")
    except (UnicodeDecodeError, click.BadParameter):
        return data  # a frame that is none: explained as such


def _parse_bytes(text: str, what: str) -> bytes:
    bare = "".join(text.split()).replace(":", "").removeprefix("0x")
    try:
        return bytes.fromhex(bare)
    except ValueError:
        pass
    try:
        return base64.b64decode(bare, validate=True)
    except (binascii.Error, ValueError):
        raise click.BadParameter("neither hex nor base64", param_hint=what) from None


def _explanation_members(explained: RecordExplanation) -> dict[str, object]:
    steps = [
        {"offset": piece.offset, "bytes": piece.data.hex(), "path": piece.path, "what": piece.what, "says": piece.says}
        for piece in explained.pieces
    ]
    written = None if explained.writer_schema is None else connection.answer_members(explained.writer_schema)
    return {"fine": not explained.problem, "wrong": explained.problem, "schema": written, "steps": steps}


def say_explained(explained: RecordExplanation, *, err: bool = False) -> None:
    """Print the pieces of a record."""
    if explained.writer_schema is not None:
        schema = explained.writer_schema
        used = f", {schema.subject} version {schema.number}" if schema.subject else ""
        screen.say(
            f"written with id {schema.schema_id}{used} ({schema.format}, guid {schema.guid})", bold=True, err=err
        )
    screen.say_rows(
        ("offset", "bytes", "path", "what", "says"), [_step_row(step) for step in explained.pieces], err=err
    )
    if explained.problem:
        screen.say(explained.problem, "red", err=True)


def _step_row(step: RecordPiece) -> tuple[str, str, str, str, str]:
    return (str(step.offset), step.hex, step.path, step.what, step.says)
