"""`treaty validate SCHEMA VALUE...`: validates JSON values against a schema."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import click

from treaty.cli.terminal import options, screen
from treaty.cli.terminal.references import References
from treaty.cli.terminal.schema_file import load_schema
from treaty.cli.terminal.source import UnusableError, display_path, read_lines, read_text, refuse_second_stdin
from treaty.core.finding import Diagnostic

LINES = (".jsonl", ".ndjson")
"""Suffixes of files with one value per line."""
Check = Callable[[str], tuple[Diagnostic, ...]]


@click.command(
    "validate", epilog="Exit code 0: all values are valid. 1: some are not. 2: not a schema, or a file cannot be read."
)
@click.argument("schema", type=click.Path(allow_dash=True))
@click.argument("values", nargs=-1, required=True, metavar="VALUE...", type=click.Path(allow_dash=True))
@click.option(
    "--lines", is_flag=True, help="One value per line (default for .jsonl files; detected on standard input)."
)
@options.format_
@options.references()
@options.as_json
def command(
    *,
    schema: str,
    values: tuple[str, ...],
    lines: bool,
    format_: str | None,
    references: tuple[str, ...],
    folders: tuple[str, ...],
    as_json: bool,
) -> None:
    """Validate the VALUE files against the SCHEMA. A file holds one JSON document, or one per line. - reads standard
    input.

    Values are in the JSON encoding of the schema's format.

    \b
    Examples:
      treaty validate order.avsc order.json
      treaty validate order.avsc orders.jsonl
      tail -n 100 orders.log | treaty validate order.avsc --lines -
    """  # noqa: D301 - click wants the control character
    refuse_second_stdin([schema, *values])
    schema_file = load_schema(schema, format_, References.parse(references, folders))
    check = schema_file.form.check
    if check is None:
        raise UnusableError(f"values of the format {schema_file.form.name} cannot be validated")
    listed: list[dict[str, object]] = []
    count = invalid = 0
    for path in screen.track_progress(values, "checking", printing=not as_json):
        for faults in _find_faults(
            lambda text: check(schema_file.model, text), path, lines=lines or path.endswith(LINES)
        ):
            count += 1
            invalid += bool(faults)
            if as_json:
                listed += [{"file": path, **screen.as_json(fault)} for fault in faults]
            else:
                screen.say_faults(display_path(path), faults)
    if as_json:
        screen.say_json({"valid": not invalid, "values": count, "invalid": invalid, "faults": listed})
    elif invalid:
        screen.say(
            f"{invalid:,} of {screen.format_count(count, 'value')} invalid against {schema_file.source.name}.",
            "red",
            err=True,
        )
    else:
        screen.say(f"{screen.format_count(count, 'value')} valid against {schema_file.source.name}.", "green")
    sys.exit(1 if invalid else 0)


def _find_faults(check: Check, path: str, *, lines: bool) -> Iterator[tuple[Diagnostic, ...]]:
    """Yield the faults of every value in a file."""
    if not lines:
        text = read_text(path, "VALUE_BYTES")
        if not _has_many_values(text):
            yield screen.locate_diagnostics(text, check(text))
            return
        numbered = enumerate(text.split("\n"), 1)
    else:
        numbered = enumerate(read_lines(path, "VALUE_BYTES"), 1)
    for number, line in numbered:
        if line.strip():
            located = screen.locate_diagnostics(line, check(line))
            yield tuple(replace(one, line=number, column=max(one.column, 1)) for one in located)


def _has_many_values(text: str) -> bool:
    """Return whether a text has one value per line: its first line that is not empty is a complete value."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True
