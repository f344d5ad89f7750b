"""The demo on a terminal: progress bars while it runs, tables when it is done."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from examples.demo.demo_run import DemoResult
from examples.demo.schemas import SUBJECT


@dataclass(slots=True)
class ProgressBars:
    """A `ProgressListener` with two bars: events written, and events in the tables."""

    progress: Progress
    event_bar: TaskID
    row_bar: TaskID

    def say(self, words: str) -> None:
        """Print a line above the bars."""
        line = Table.grid(padding=(0, 1))
        line.add_row("  [dim]·[/dim]", words)
        self.progress.console.print(line, highlight=False)

    def wrote(self, rows: int) -> None:
        """Move the first bar."""
        self.progress.update(self.event_bar, completed=rows)

    def decoded(self, rows: int) -> None:
        """Move the second bar."""
        self.progress.update(self.row_bar, completed=rows)


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


@contextmanager
def show_progress(console: Console, total: int) -> Iterator[ProgressBars]:
    """Two bars for as long as the block runs."""
    columns = TextColumn("  {task.description:<26}"), BarColumn(40), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        event_bar = progress.add_task("flights written as events", total=total)
        yield ProgressBars(progress, event_bar, progress.add_task("events in the two tables", total=total))


def print_report(console: Console, story: DemoResult, page: Path) -> None:
    """Print the tables of the report, the proof, and where to look next."""
    figures = story.figures
    versions = _open_table("good rows by version", "version", "rows")
    for row in figures["versions"]:
        versions.add_row(f"v{row['schema_version']}", f"{row['flights']:,}")
    reasons = _open_table("bad rows by reason", "code", "rows", "for instance")
    reasons.columns[2].justify, reasons.columns[2].overflow = "left", "fold"
    for row in figures["reasons"]:
        reasons.add_row(row["code"], f"{row['rows']:,}", row["message"])
    airlines = _open_table(
        "flights (Avro) joined with weather (Protobuf), planes and airlines (JSON)\n"
        "minutes late in dry hours and in rain, mean age of the planes in years",
        "airline", "flights", "dry", "rain", "age",
    )  # fmt: skip
    for row in figures["airlines"][:8]:
        numbers = (_format_number(row[name]) for name in ("dry", "rain", "age"))
        airlines.add_row(row["airline"], f"{row['flights']:,}", *numbers)
    refused = "\n".join(f"[red]✗[/red] {line}" for line in story.refused)
    console.print(
        versions, reasons, airlines, Panel(refused, title="version 4 was refused", title_align="left", highlight=False)
    )
    console.print(_format_proof(story), highlight=False)
    treaty = _find_command()
    base = f"sqlite://{page.with_name('registry.db')}"
    console.print(
        f"Report: [link={page.as_uri()}]{page}[/link]\n"
        f"Next:   {treaty} subject get {SUBJECT} --registry {base}\n"
        f"        {treaty} schema get {SUBJECT} 3 --registry {base}",
        highlight=False,
        soft_wrap=True,
    )


def _find_command() -> str:
    """Return how a shell calls `treaty` here: by its name, or by its path where the PATH has none or another one."""
    own, on_path = Path(sys.executable).with_name("treaty"), shutil.which("treaty")
    return "treaty" if on_path is not None and Path(on_path) == own else str(own)


def _open_table(title: str, *names: str) -> Table:
    """A table with its first column to the left, and numbers to the right; only a last column may wrap."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    table.columns[-1].no_wrap = False
    return table


def _format_proof(story: DemoResult) -> str:
    """The counts that were read back from the tables, a line for each topic, and the speed."""
    proof = story.proof
    sign = "[b green]✓ proved[/]" if story.holds else "[b red]✗ NOT PROVED[/]"
    kill = f"killed once in batch {story.killed} and resumed" if story.killed >= 0 else "not killed"
    lines = [
        f"{sign}  {proof['expected']:,} events = {proof['good']:,} good + {proof['bad']:,} bad",
        f"   {proof['distinct']:,} distinct, {proof['misplaced']} misplaced, {kill}",
        *(
            f"   {name} {figures['expected']:,} = {figures['good']:,} good + {figures['bad']:,} bad"
            for name, figures in story.figures["dimensions"].items()
        ),
        *_format_query(story),
        f"   {story.rate:,.0f} rows/s in the stream, {story.best_rate:,.0f} in its fastest batch, {story.seconds:,.0f} s in all",
    ]
    return "\n".join(lines)


def _format_query(story: DemoResult) -> list[str]:
    """A line about the query: what was done to it, and how often its table had the computed rows."""
    query = story.query
    equal = sum(table.holds for table in query.tables)
    killed = ", ".join(map(str, query.killed))
    return [
        f"   query delays: killed in mid batch {killed}, replaced, rolled back; its table {equal} times of {len(query.tables)} equal to a computation without Spark"
    ]
