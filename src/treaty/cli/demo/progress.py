"""The demo on a terminal: progress bars while it runs, tables when it is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from treaty.cli.demo.demo_run import DemoResult


@dataclass(slots=True)
class ProgressBars:
    """An `Audience` with two bars."""

    progress: Progress
    writing: TaskID
    decoding: TaskID

    def say(self, words: str) -> None:
        """Print a line above the bars."""
        self.progress.console.print(f"  [dim]·[/dim] {words}", highlight=False)

    def wrote(self, rows: int) -> None:
        """Move the first bar."""
        self.progress.update(self.writing, completed=rows)

    def decoded(self, rows: int) -> None:
        """Move the second bar."""
        self.progress.update(self.decoding, completed=rows)


def _format_number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


@contextmanager
def show_progress(console: Console, total: int) -> Iterator[ProgressBars]:
    """Two bars for as long as the block runs."""
    columns = TextColumn("  {task.description:<26}"), BarColumn(40), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        writing = progress.add_task("flights written as events", total=total)
        yield ProgressBars(progress, writing, progress.add_task("events in the two tables", total=total))


def print_report(console: Console, story: DemoResult, page: str) -> None:
    """Print the figures and the proof."""
    figures, proof = story.figures, story.proof
    versions = Table(title="good rows by version", title_justify="left", title_style="bold")
    versions.add_column("version")
    versions.add_column("rows", justify="right")
    for row in figures["versions"]:
        versions.add_row(f"v{row['schema_version']}", f"{row['flights']:,}")
    reasons = Table(title="bad rows by reason", title_justify="left", title_style="bold")
    for name in ("code", "rows", "for instance"):
        reasons.add_column(name, justify="right" if name == "rows" else "left", overflow="fold")
    for row in figures["reasons"]:
        reasons.add_row(row["code"], f"{row['rows']:,}", row["message"])
    airlines = Table(title="three formats, one join", title_justify="left", title_style="bold")
    for name in ("airline (JSON)", "flights (Avro)", "late, dry", "late, rain (Protobuf)", "planes' age (JSON)"):
        airlines.add_column(name, justify="left" if name.startswith("airline") else "right")
    for row in figures["airlines"][:8]:
        airlines.add_row(
            row["airline"], f"{row['flights']:,}", *(_format_number(row[name]) for name in ("dry", "rain", "age"))
        )
    refused = "\n".join(f"[red]✗[/red] {line}" for line in story.refused)
    console.print(
        versions, reasons, airlines, Panel(refused, title="version 4 was refused", title_align="left", highlight=False)
    )
    sign = "[b green]✓ proved[/]" if story.holds else "[b red]✗ NOT PROVED[/]"
    kill = f"killed once in batch {story.killed} and resumed" if story.killed >= 0 else "not killed"
    others = ", ".join(
        f"{name} {one['expected']:,} = {one['good']:,} good + {one['bad']:,} bad"
        for name, one in figures["dimensions"].items()
    )
    console.print(
        f"{sign}  {proof['expected']:,} events = {proof['good']:,} good + {proof['bad']:,} bad, {proof['distinct']:,} distinct, "
        f"{proof['misplaced']} misplaced ({kill})\n"
        f"   {others}\n"
        f"   {story.rate:,.0f} rows/s in the stream, {story.best_rate:,.0f} in its fastest batch, {story.seconds:,.0f} s in all. Report: {page}",
        highlight=False,
    )
