"""What the commands print: a line for every fault, a few for every reason, colours only for people."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import click

from treaty.core.finding import Diagnostic
from treaty.formats.json_pointer import find_positions

T = TypeVar("T")
MANY = 20
"""Files from which on a progress bar is worth its place."""
DIRECTIONS = {"backward": "the new schema reads old data", "forward": "the old schema reads new data"}


def escape_controls(text: str) -> str:
    """A text that can't move a terminal's cursor: control characters and halves of surrogates as escapes."""
    if text.isprintable():
        return text
    shown = (char if char.isprintable() or char in "\n\t" else char.encode("unicode_escape").decode() for char in text)
    return "".join(shown)


def say(text: str, colour: str | None = None, *, bold: bool = False, err: bool = False) -> None:
    """Print a line; the colour is left out where nobody sees it."""
    click.secho(escape_controls(text), fg=colour, bold=bold or None, err=err)


def format_count(count: int, what: str) -> str:
    """A number and what it counts: ``1 record``, ``2,000 records``, ``3 batches``."""
    many = "es" if what.endswith("ch") else "s"
    return f"{count:,} {what}{'' if count == 1 else many}"


def one_line(value: str) -> str:
    """A JSON text on one line; its strings hold no line breaks."""
    return " ".join(value.split("\n"))


def say_json(value: object) -> None:
    """Print a value as JSON that has a UTF-8 form and can't move a cursor, whatever its strings hold."""
    click.echo(json_text(value, indent=2))


def json_text(value: object, *, indent: int | None = None) -> str:
    """A value as JSON: what a terminal might obey, and what no UTF-8 has, as escapes of the same characters."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def say_text(text: str) -> None:
    """Print a text as it is, byte by byte; on a terminal what it might obey comes as escapes."""
    click.echo(escape_controls(text) if is_terminal() else text.encode())


def is_terminal() -> bool:
    """Whether a person reads the output on a terminal, and no program or file."""
    return sys.stdout.isatty()


def locate_diagnostics(text: str, faults: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Faults of a text, with line and column where only the path was known.

    A fault without a path is about the whole text, which may be no JSON at all, or nest without end.
    """
    found = tuple(faults)
    unknown = {one.path for one in found if one.path and not one.line}
    if not unknown or text.lstrip()[:1] not in {"{", "["}:
        return tuple(one if one.line or one.path else replace(one, line=1, column=1) for one in found)
    places = find_positions(text, {*unknown, ""})
    return tuple(
        one if one.line else replace(one, line=places[one.path][0], column=places[one.path][1]) for one in found
    )


def fault_line(name: str, fault: Diagnostic) -> str:
    """A fault as compilers print it: ``file:line:column: RULE message; expected …``."""
    where = f"{name}:{fault.line}:{fault.column}" if fault.line else name
    path = f" at {fault.path}" if fault.path else ""
    hint = f"; expected {fault.expected}" if fault.expected else ""
    return f"{where}: {fault.rule} {fault.message}{path}{hint}"


def say_faults(name: str, faults: Iterable[Diagnostic], *, err: bool = False) -> None:
    """Print faults, one a line."""
    for fault in faults:
        say(fault_line(name, fault), "red", err=err)


def say_facts(facts: dict[str, str], *, err: bool = False) -> None:
    """Print names and facts below each other."""
    width = max(9, *(len(name) + 2 for name in facts)) if facts else 0
    for name, fact in facts.items():
        say(f"   {name + ':':<{width}} {fact}", err=err)


def say_rows(heads: Sequence[str], rows: Sequence[Sequence[str]], *, err: bool = False) -> None:
    """Print a table of words; the last column may be as long as it likes."""
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    for line, row in enumerate((heads, *rows)):
        words = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        say("  ".join(words).rstrip(), bold=line == 0, err=err)


def track_progress(items: Sequence[T], what: str, *, printing: bool = False) -> Iterator[T]:
    """The items, with a progress bar on stderr while there are many and a person is looking.

    `printing` says that the caller prints on stdout meanwhile: no bar is drawn into that on the same terminal.
    """
    if len(items) < MANY or not sys.stderr.isatty() or (printing and sys.stdout.isatty()):
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 (slow to import, and only wanted on a terminal)
    from rich.progress import track  # noqa: PLC0415

    yield from track(items, description=what, console=Console(stderr=True), transient=True)


@contextmanager
def show_progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on stderr while a person is looking; elsewhere nothing is shown.

    It is called with what is done, how many of it, and of how many (0: not known).
    """
    if not sys.stderr.isatty():
        yield lambda _what, _done, _of: None
        return
    from rich.console import Console  # noqa: PLC0415 (slow to import, and only wanted on a terminal)
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def progress(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=of or None)
            bars.update(tasks[what], completed=done, total=of or None)

        yield progress


def as_json(fault: Diagnostic) -> dict[str, Any]:
    """A fault as a JSON object."""
    return {
        "rule": fault.rule,
        "path": fault.path,
        "message": fault.message,
        "expected": fault.expected,
        "line": fault.line,
        "column": fault.column,
    }
