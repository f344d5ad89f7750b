"""Prints lines, tables, JSON, faults and progress bars; colours only on a terminal that wants them."""

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import click

from treaty.core.finding import Diagnostic
from treaty.formats.json_pointer import find_positions

T = TypeVar("T")
MANY = 20
"""A progress bar is shown from this number of files on."""
FIRST_LINES = 20
"""Lines of a list that comes beside what a command prints, such as what it left out."""
LAST_COLUMN = 24
"""Columns that a last column of a table has at least; with less room it goes below its row."""
DIRECTIONS = {"backward": "the new schema reads old data", "forward": "the old schema reads new data"}


def escape_controls(text: str) -> str:
    """Return a text that is safe for a terminal: control characters and lone surrogates are escaped."""
    if text.isprintable():
        return text
    characters = (
        char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode() for char in text
    )
    return "".join(characters)


def escape_line(text: str) -> str:
    """Return a text that stays on one line of a terminal: line ends and tabs are escaped too."""
    return escape_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def say(text: str, colour: str | None = None, *, bold: bool = False, err: bool = False) -> None:
    """Print a line, with colour on a terminal only."""
    click.secho(escape_controls(text), fg=colour, bold=bold or None, err=err)


def say_first(lines: Iterable[str], colour: str | None = None, *, err: bool = False) -> None:
    """Print the first lines of a list that may be long, each on one line, and how many more there are."""
    count = 0
    for count, line in enumerate(lines, 1):
        if count <= FIRST_LINES:
            say(escape_line(line), colour, err=err)
    if count > FIRST_LINES:
        say(f"... and {count - FIRST_LINES:,} more", colour, err=err)


def format_count(count: int, what: str) -> str:
    """A number and what it counts: ``1 record``, ``2,000 records``, ``3 batches``."""
    many = "es" if what.endswith("ch") else "s"
    return f"{count:,} {what}{'' if count == 1 else many}"


def one_line(value: str) -> str:
    """Return a JSON text on one line."""
    return " ".join(value.split("\n"))


def say_json(value: object) -> None:
    """Print a value as JSON that is valid UTF-8 and safe for a terminal."""
    click.echo(json_text(value, indent=2))


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON; control characters and lone surrogates are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def say_text(text: str) -> None:
    """Print a text unchanged; on a terminal control characters are escaped."""
    click.echo(escape_controls(text) if is_terminal() else text.encode())


def is_terminal() -> bool:
    """Return whether the output is a terminal."""
    return sys.stdout.isatty()


def locate_diagnostics(text: str, faults: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Add line and column to faults that have only a path. A fault without a path is about the whole text, which may
    not be JSON.
    """
    listed = tuple(faults)
    unknown = {one.path for one in listed if one.path and not one.line}
    if not unknown or text.lstrip()[:1] not in {"{", "["}:
        return tuple(fault if fault.line or fault.path else replace(fault, line=1, column=1) for fault in listed)
    places = find_positions(text, {*unknown, ""})
    return tuple(
        fault if fault.line else replace(fault, line=places[fault.path][0], column=places[fault.path][1])
        for fault in listed
    )


def fault_line(name: str, fault: Diagnostic) -> str:
    """Return a fault in the form of compilers: ``file:line:column: RULE message; expected …``."""
    where = f"{name}:{fault.line}:{fault.column}" if fault.line else name
    path = f" at {fault.path}" if fault.path else ""
    hint = f"; expected {fault.expected}" if fault.expected else ""
    return f"{where}: {fault.rule} {fault.message}{path}{hint}"


def say_faults(name: str, faults: Iterable[Diagnostic], *, err: bool = False) -> None:
    """Print faults, one a line."""
    for fault in faults:
        say(fault_line(name, fault), "red", err=err)


def say_facts(facts: dict[str, str], *, err: bool = False) -> None:
    """Print names and values, one pair per line."""
    width = max(9, *(len(name) + 2 for name in facts)) if facts else 0
    for name, fact in facts.items():
        say(f"   {name + ':':<{width}} {escape_line(fact)}", err=err)


def say_rows(heads: Sequence[str], rows: Sequence[Sequence[str]], *, err: bool = False) -> None:
    """Print a table. On a terminal a last column that does not fit is wrapped, below its row where there is little room."""
    rows = [[escape_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    columns = shutil.get_terminal_size().columns if is_terminal() else 0
    left = sum(widths[:-1]) + 2 * len(widths[:-1])
    fits = not columns or left + widths[-1] <= columns
    for line, row in enumerate((heads, *rows)):
        *words, last = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        first = "".join(f"{word}  " for word in words)
        if fits:
            say(f"{first}{last}".rstrip(), bold=line == 0, err=err)
        elif columns - left < LAST_COLUMN:
            say(first.rstrip(), bold=line == 0, err=err)
            for part in textwrap.wrap(last.strip(), max(LAST_COLUMN, columns - 4)):
                say(f"    {part}", bold=line == 0, err=err)
        else:
            for number, part in enumerate(textwrap.wrap(last.strip(), columns - left) or [""]):
                say(f"{' ' * left if number else first}{part}".rstrip(), bold=line == 0, err=err)


def track_progress(items: Sequence[T], what: str, *, printing: bool = False) -> Iterator[T]:
    """Yield the items, with a progress bar on stderr if there are many and stderr is a terminal.

    `printing`: the caller prints on stdout meanwhile, so no bar is drawn if that is the same terminal.
    """
    if len(items) < MANY or not sys.stderr.isatty() or (printing and sys.stdout.isatty()):
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 (slow to import, and only wanted on a terminal)
    from rich.progress import track  # noqa: PLC0415

    yield from track(items, description=what, console=Console(stderr=True), transient=True)


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar on stderr, if it is a terminal.

    It is called with what is done, how many of it, and of how many (0: not known).
    """
    if not sys.stderr.isatty():
        yield lambda _what, _done, _of: None
        return
    from rich.console import Console  # noqa: PLC0415 (slow to import, and only wanted on a terminal)
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def progress(what: str, count: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=of or None)
            bars.update(tasks[what], completed=count, total=of or None)

        yield progress


def as_json(fault: Diagnostic) -> dict[str, Any]:
    """Return a fault as a JSON object."""
    return {
        "rule": fault.rule,
        "path": fault.path,
        "message": fault.message,
        "expected": fault.expected,
        "line": fault.line,
        "column": fault.column,
    }
