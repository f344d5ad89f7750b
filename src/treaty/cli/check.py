"""`treaty check OLD NEW`: may the new schema follow the old one, and if not, why."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from treaty.core.finding import Fault
from treaty.core.limits import SCHEMA_BYTES
from treaty.core.meaning import Binding, Meaning
from treaty.core.policy import LEVELS
from treaty.formats.answer import Parser
from treaty.formats.table import table
from treaty.formats.verdict import Reason, Verdict, verdict

FITS, BREAKS, INVALID = 0, 1, 2
"""Exit codes: the new schema may follow, it may not, one of the texts is no schema."""


@click.command("check", epilog="Exit code 0: it fits. 1: it does not. 2: a text is not a schema, or can't be read.")
@click.argument("old", type=click.Path(allow_dash=True))
@click.argument("new", type=click.Path(allow_dash=True))
@click.option(
    "--level",
    type=click.Choice(list(LEVELS), case_sensitive=False),
    default="BACKWARD",
    show_default=True,
    help="BACKWARD: the new schema reads old data. FORWARD: the old schema reads new data. FULL: both.",
)
@click.option("--format", "format_", default="AVRO", show_default=True, help="Format of both schemas.")
@click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="NAME=FILE",
    help="A schema that both texts refer to by NAME; may be given often, the needed ones first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def command(old: str, new: str, *, level: str, format_: str, references: tuple[str, ...], as_json: bool) -> None:
    """Compare two schema files (``-`` reads standard input).

    \b
    Examples:
      treaty check old.avsc new.avsc
      treaty check --level FULL --json old.avsc new.avsc
      treaty check --reference org.acme.Money=money.avsc old.avsc new.avsc
    """  # noqa: D301 - click wants the control character
    formats = table()
    if format_.upper() not in formats.names:
        raise click.BadParameter(
            f"no format {format_!r} here; known: {', '.join(formats.names)}", param_hint="--format"
        )
    bound: tuple[Binding, ...] = ()
    for one in references:
        name, _, path = one.partition("=")
        bound = (*bound, Binding(name, name, 1, Meaning(format_.upper(), _text(path), bound)))
    meanings = [Meaning(format_.upper(), _text(path), bound) for path in (old, new)]
    told = verdict(Parser(formats), meanings[0], meanings[1], level.upper())
    if as_json:
        click.echo(json.dumps({"fits": told.fits, **asdict(told)}, ensure_ascii=False, indent=2))
    else:
        _print(told, old, new)
    sys.exit(INVALID if told.old_faults or told.new_faults else FITS if told.fits else BREAKS)


class UnreadableError(click.ClickException):
    """A file that can't be read as a schema text."""

    exit_code = INVALID


def _text(path: str) -> str:
    try:
        data = sys.stdin.buffer.read(SCHEMA_BYTES + 1) if path == "-" else Path(path).read_bytes()
        if len(data) > SCHEMA_BYTES:
            raise UnreadableError(f"{path} is larger than {SCHEMA_BYTES} bytes (limit SCHEMA_BYTES)")
        return data.decode()
    except OSError as error:
        raise UnreadableError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is not UTF-8: byte {error.start} is {data[error.start]:#04x}") from error


def _print(told: Verdict, old: str, new: str) -> None:
    for path, faults in ((old, told.old_faults), (new, told.new_faults)):
        for fault in faults:
            _print_fault(path, fault)
    for place, reason in enumerate(told.reasons, 1):
        _print_reason(place, reason)
    if told.fits:
        click.secho(f"{new} may follow {old} under {told.level}.", fg="green")
    elif told.reasons:
        click.secho(f"{new} may not follow {old} under {told.level}: {len(told.reasons)} findings.", fg="red", err=True)


def _print_fault(path: str, fault: Fault) -> None:
    click.secho(f"{path} is not a valid schema: {fault.message}", fg="red", err=True)
    place = f"{fault.path or '/'}" + (f" (line {fault.line}, column {fault.column})" if fault.line else "")
    _lines(rule=fault.rule, path=place, expected=fault.expected)


def _print_reason(place: int, reason: Reason) -> None:
    way = "the new schema reads old data" if reason.direction == "backward" else "the old schema reads new data"
    click.secho(f"{place}. {reason.sentence}", bold=True)
    _lines(rule=reason.rule, path=reason.path, old=reason.old, new=reason.new, when=way, remedy=reason.remedy)


def _lines(**facts: str) -> None:
    for name, fact in facts.items():
        if fact:
            click.echo(f"   {name + ':':<10}{fact}")
