"""`treaty pipeline run FILE.toml`: runs the stream, with progress on the terminal and metrics for Prometheus."""

import json
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.pipeline import context
from treaty.cli.pipeline.jvm_end import end_with_spark, silence_libraries
from treaty.cli.spark import verbose
from treaty.cli.spark_progress import BatchHeartbeat, TaskCounter, describe_source
from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError
from treaty.cli.terminal.options import as_json
from treaty.cli.terminal.source import UnusableError

if TYPE_CHECKING:
    from treaty.spark.pipelines.batch_history import BatchReport
    from treaty.spark.pipelines.reports.lag import StreamProgress
    from treaty.spark.pipelines.reports.stream_handle import StreamHandle
    from treaty.spark.pipelines.value import Pipeline

POLL = 1
"""Seconds between two polls of a running stream."""
RESTARTED = "Spark's Kafka source failed after a repeated batch, a known defect of Spark; nothing is lost, and the stream was restarted"
EXIT = "Exit code 0: the stream ended by itself, or was stopped. 1: it failed. 2: unusable input."


@click.command("run", epilog=EXIT)
@context.file
@context.registry
@click.option("--metrics-port", type=click.IntRange(0, 65535), metavar="PORT",
              help="Serve Prometheus metrics on this port of the loopback interface (0: a free port, which is printed).")  # fmt: skip
@click.option("--metrics-host", default="127.0.0.1", show_default=True, help="Address for --metrics-port.")
@verbose
@as_json
def run(file: Path, *, registry: str, metrics_port: int | None, metrics_host: str, as_json: bool) -> None:
    """Run the stream that FILE.toml describes. It continues from its checkpoint.

    SIGTERM and SIGINT stop it after the running batch; a second signal stops it at once. Nothing is lost either way: an
    interrupted batch runs again. With --json every batch is a line of JSON on stdout.

    \b
    Examples:
      treaty pipeline run orders.toml
      treaty pipeline run orders.toml --metrics-port 9464 \\
        --registry http://127.0.0.1:8081
    """  # noqa: D301 - click wants the control character
    from treaty.plan.errors import PlanError  # noqa: PLC0415
    from treaty.spark.pipelines import runner  # noqa: PLC0415 (these load Spark, which --help must not need)
    from treaty.spark.pipelines.reports.stream_handle import StreamFailedError, StreamHandle  # noqa: PLC0415
    from treaty.spark.pipelines.source import SourceError  # noqa: PLC0415
    from treaty.spark.pipelines.value import PipelineError  # noqa: PLC0415

    ending = Event()
    with (
        end_with_spark(ending),
        context.open_pipeline(file, registry, spinner=False) as (described, spark, client),
        ExitStack() as stack,
    ):
        drawn = described.pipeline.trigger.bounded and not as_json and sys.stderr.isatty()
        numbers = _RunProgress(described.name, as_json=as_json, drawn=drawn)
        if not as_json:
            screen.say(describe_source(described.pipeline.source), err=True)
        if metrics_port is not None:
            stack.callback(_serve_metrics(numbers, metrics_port, metrics_host))
        stack.enter_context(_handle_signals(ending))
        try:
            query = runner.run(described.pipeline, client, spark, on_report=numbers.add_batch, ending=ending)
        except (SourceError, PipelineError, PlanError) as error:
            raise UnusableError(str(error)) from error
        stream = numbers.stream = StreamHandle(query, ending)
        tasks = TaskCounter(spark)
        show = stack.enter_context(_show_progress(tasks)) if drawn else _make_heartbeat(tasks, as_json=as_json)
        try:
            while not stream.wait(POLL):
                show(numbers)
                numbers.note_restarts(query.restarts)
        except StreamFailedError as failed:
            raise FailedError(f"the stream failed: {failed}", "STREAM_FAILED") from failed
        show(numbers)
        stack.pop_all().close()
        numbers.note_restarts(query.restarts)
        if not as_json:
            numbers.say_end(stopped=ending.is_set())
            _say_places(described.pipeline, file, numbers.bad)


class FailedError(ReportedError):
    """The stream failed; the message is the reason in one sentence."""

    exit_code = context.FAILED


class _RunProgress:
    """Receives reports of batches, for the terminal, for JSON lines and for Prometheus."""

    def __init__(self, name: str, *, as_json: bool, drawn: bool) -> None:
        """`drawn`: a progress bar is shown, so that batches are not printed as lines."""
        from treaty.spark.pipelines.reports.metrics import PipelineMetrics  # noqa: PLC0415 (loads Spark)

        self.metrics = PipelineMetrics(name, self.lag)
        self.as_json, self.drawn = as_json, drawn
        self.stream: StreamHandle | None = None
        self.rows = self.good = self.bad = self.deletes = 0
        self.restarts = 0

    def add_batch(self, report: "BatchReport") -> None:
        """Receive the report of a batch, on the stream's thread."""
        from treaty.spark.pipelines.batch_history import list_counts, sum_topics  # noqa: PLC0415

        self.metrics.add_report(report)
        row_counts = sum_topics(report.rows)
        self.rows, self.good = self.rows + row_counts.rows, self.good + row_counts.good
        self.bad, self.deletes = self.bad + row_counts.bad, self.deletes + row_counts.deletes
        if self.as_json:
            counts = {
                "rows": row_counts.rows,
                "good": row_counts.good,
                "bad": row_counts.bad,
                "deletes": row_counts.deletes,
            }
            line = {
                "batch": report.batch,
                "seconds": round(report.seconds, 3),
                **counts,
                "by": list_counts(report.rows),
            }
            click.echo(_format_line(line))
        elif not self.drawn:
            sentence = f"batch {report.batch}: {row_counts.rows:,} rows, {row_counts.bad:,} bad, {report.seconds:.1f} s"
            screen.say(sentence, err=True)

    def note_restarts(self, count: int) -> None:
        """Print the reason of each restart once."""
        if count > self.restarts:
            screen.say(RESTARTED, "yellow", err=True)
        self.restarts = count

    def progress(self) -> "StreamProgress | None":
        """Return Spark's progress through the topics."""
        return self.stream.progress() if self.stream is not None else None

    def lag(self) -> int | None:
        """Return the lag in records, for a scrape."""
        progress = self.progress()
        return progress.lag if progress else None

    def say_end(self, *, stopped: bool) -> None:
        """Print a summary of this run as a sentence."""
        parts = [f"{self.bad:,} bad"] if self.bad else []
        parts += [f"{self.deletes:,} delete markers"] if self.deletes else []
        more = f" ({', '.join(parts)})" if parts else ""
        sentence = (
            f"{screen.format_count(self.rows, 'row')}{more} in {screen.format_count(self.metrics.batches, 'batch')}"
        )
        screen.say(f"{'Stopped: ' if stopped else ''}{sentence}.", "yellow" if self.bad else "green", err=True)


def _serve_metrics(numbers: _RunProgress, port: int, host: str) -> Callable[[], None]:
    try:
        end, bound_port = numbers.metrics.serve(port, host)
    except OSError as error:
        raise UnusableError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    screen.say(f"metrics on http://{host}:{bound_port}/metrics", err=True)
    return end


@contextmanager
def _handle_signals(ending: Event) -> Iterator[None]:
    """Stop the stream gracefully at the first SIGTERM or SIGINT; a second one has its default effect."""
    before: dict[signal.Signals, Any] = {}

    def handle_signal(number: int, frame: FrameType | None) -> None:
        ending.set()
        silence_libraries()
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)

    for signal_number in (signal.SIGTERM, signal.SIGINT):
        before[signal_number] = signal.signal(signal_number, handle_signal)
    try:
        yield
    finally:
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)


def _say_places(pipeline: "Pipeline", file: Path, bad: int) -> None:
    """Print where the rows are, and which command comes next."""
    good_table, bad_table = pipeline.good_table, pipeline.bad_table
    facts = {"good": f"{good_table.place} ({good_table.format})", "bad": f"{bad_table.place} ({bad_table.format})"}
    name = shlex.quote(str(file))
    after = f"; treaty pipeline replay {name}, once their cause is gone" if bad else ""
    screen.say_facts({**facts, "next": f"treaty pipeline status {name}{after}"}, err=True)


def _make_heartbeat(tasks: TaskCounter, *, as_json: bool) -> "Callable[[_RunProgress], None]":
    """What shows progress where no bar is drawn: a line about a batch that takes long, and nothing with --json."""
    heartbeat = BatchHeartbeat(tasks)

    def show(numbers: _RunProgress) -> None:
        if not as_json:
            heartbeat.beat(numbers.metrics.batches)

    return show


@contextmanager
def _show_progress(tasks: TaskCounter) -> Iterator[Callable[[_RunProgress], None]]:
    """Show a progress bar on stderr for a stream that ends by itself, if stderr is a terminal."""
    from rich.console import Console  # noqa: PLC0415 (slow to import, and only wanted on a terminal)
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None, said="starting")

        def show(numbers: _RunProgress) -> None:
            progress = numbers.progress()
            counts = screen.format_count(numbers.rows, "row"), screen.format_count(numbers.metrics.batches, "batch")
            sentence = (
                f"{counts[0]}, {numbers.bad:,} bad, {counts[1]}" if numbers.metrics.batches else "the first batch"
            )
            sentence = ", ".join(filter(None, (sentence, tasks.describe())))
            bar.update(
                task,
                total=progress.total if progress else None,
                completed=progress.read if progress else numbers.rows,
                said=sentence,
            )

        yield show


def _format_line(members: dict[str, object]) -> str:
    return json.dumps({**members, "time": round(time.time(), 3)})
