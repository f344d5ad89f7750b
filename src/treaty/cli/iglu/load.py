"""`treaty iglu load FILE.toml`: runs a stream that validates events and loads their parts into tables."""

import json
import os
import signal
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.iglu.resolver_options import ResolverSource
from treaty.cli.pipeline.context import FAILED, start_spark
from treaty.cli.pipeline.description_table import DescriptionError, DescriptionTable, substitute_variables
from treaty.cli.pipeline.jvm_end import end_with_spark, silence_libraries
from treaty.cli.spark import verbose
from treaty.cli.spark_progress import BatchHeartbeat, TaskCounter, describe_source
from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError
from treaty.cli.terminal.options import as_json
from treaty.cli.terminal.source import UnusableError

if TYPE_CHECKING:
    from treaty.spark.iglu.pipeline import EventBatchReport, EventPipeline

POLL = 1
"""Seconds between two looks at the running stream."""
EXIT = "Exit code 0: the stream ended by itself, or was stopped. 1: it failed. 2: unusable input."


@click.command("load", epilog=EXIT)
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@verbose
@as_json
def load(file: Path, *, as_json: bool) -> None:
    """Run the stream of events that FILE.toml describes. It continues from its checkpoint.

    Valid parts go into typed columns or tables, bad events into the table of bad ones with their reasons. Events whose
    schemas no registry can give now are not bad: their batch waits, then fails without having written anything, and
    comes again. SIGTERM and SIGINT stop the stream after the running batch. With --json every batch is a line of JSON.

    \b
    Examples:
      treaty iglu load events.toml
      treaty iglu load events.toml --json
    """  # noqa: D301 - click wants the control character
    described, session, source = _read_file(file)
    from treaty.plan.errors import PlanError  # noqa: PLC0415 (these load Spark, which --help must not need)
    from treaty.spark.iglu.pipeline import run_events  # noqa: PLC0415
    from treaty.spark.pipelines.reports.stream_handle import find_reason  # noqa: PLC0415
    from treaty.spark.pipelines.source import SourceError  # noqa: PLC0415
    from treaty.spark.pipelines.value import PipelineError  # noqa: PLC0415

    totals = _Totals()

    def show(report: "EventBatchReport") -> None:
        totals.add(report)
        facts = {"batch": report.number, "events": report.events, "good": report.good, "bad": report.bad}
        if as_json:
            reasons = [asdict(reason) for reason in report.reasons]
            members = {**facts, "reasons": reasons, "schemas": dict(report.schemas.versions)}
            click.echo(json.dumps(members, separators=(",", ":")))
        else:
            screen.say(f"batch {report.number}: {report.events:,} events, {report.good:,} good, {report.bad:,} bad")
            for reason in report.reasons:
                screen.say(f"  {reason.events:,} {reason.code} {reason.schema}".rstrip(), "yellow")

    if not as_json:
        screen.say(describe_source(described.source), err=True)
    formats = {described.good_table.format, described.bad_table.format}
    ending = Event()
    with (
        source.open() as resolver,
        end_with_spark(ending),
        start_spark(file.stem, session, described.source, formats) as spark,
    ):
        try:
            query = run_events(described, resolver, spark, on_batch=show)
        except (SourceError, PipelineError, PlanError) as error:
            raise UnusableError(f"{file}: {error}") from error
        heartbeat = BatchHeartbeat(TaskCounter(spark))
        with _stop_on_signals(query, ending):
            try:
                while not query.awaitTermination(POLL):
                    if not as_json:
                        heartbeat.beat(totals.batches)
            except Exception as error:
                raise LoadFailedError(f"the stream failed: {find_reason(str(error))}", "STREAM_FAILED") from error
        if not as_json:
            totals.say(described, stopped=ending.is_set())


@dataclass(slots=True)
class _Totals:
    """The sums of the batches of this run."""

    batches: int = 0
    events: int = 0
    bad: int = 0

    def add(self, report: "EventBatchReport") -> None:
        """Add a batch."""
        self.batches, self.events, self.bad = self.batches + 1, self.events + report.events, self.bad + report.bad

    def say(self, pipeline: "EventPipeline", *, stopped: bool) -> None:
        """Print the sums and where the rows are."""
        sums = f"{screen.format_count(self.events, 'event')} ({self.bad:,} bad) in {screen.format_count(self.batches, 'batch')}."
        screen.say(f"{'Stopped: ' if stopped else ''}{sums}", "yellow" if self.bad else "green", err=True)
        tables = {"good": pipeline.good_table, "bad": pipeline.bad_table}
        screen.say_facts({name: f"{table.place} ({table.format})" for name, table in tables.items()}, err=True)


class LoadFailedError(ReportedError):
    """The stream failed; the message is the reason in one sentence."""

    exit_code = FAILED


@contextmanager
def _stop_on_signals(query: Any, ending: Event) -> Iterator[None]:
    """Stop the stream on SIGTERM and SIGINT: a batch that is cut off runs again with the next start."""

    def stop(_number: int, _frame: object) -> None:
        ending.set()
        silence_libraries()
        query.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _read_file(path: Path) -> tuple["EventPipeline", Any, ResolverSource]:
    """Read the description of a pipeline of events. Raises `UnusableError`."""
    from treaty.cli.pipeline.description import read_session  # noqa: PLC0415 (loads Spark, which --help must not need)
    from treaty.spark.pipelines.source import SourceError  # noqa: PLC0415
    from treaty.spark.pipelines.value import PipelineError  # noqa: PLC0415

    try:
        description = DescriptionTable(tomllib.loads(path.read_text("utf-8")))
        source = _read_resolver(description, path)
        pipeline, session = _read_pipeline(description), read_session(description.table("spark"))
        description.refuse_unknown_keys()
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    except tomllib.TOMLDecodeError as error:
        raise UnusableError(f"{path} is not valid TOML: {error}") from error
    except (DescriptionError, SourceError, PipelineError) as error:
        raise UnusableError(f"{path}: {error}") from error
    return pipeline, session, source


def _read_resolver(description: DescriptionTable, path: Path) -> ResolverSource:
    """Where schemas are found: a resolver's configuration beside the file, and further registries."""
    config, environment = description.text("resolver", ""), os.environ  # noqa: TID251 (a file of a pipeline may name variables)
    registries = tuple(substitute_variables("registries", one, environment) for one in description.texts("registries"))
    apikey = description.text_with_variables("apikey", environment, "")
    if not config and not registries:
        hint = description.find_misspelt("resolver") or description.find_misspelt("registries")
        raise DescriptionError(
            f"resolver is missing; {hint}allowed is the file of a resolver's configuration, or registries"
        )
    return ResolverSource(str(path.parent / config) if config else None, registries, (), apikey or None, "current")


def _read_pipeline(description: DescriptionTable) -> "EventPipeline":
    from treaty.cli.pipeline import description as d  # noqa: PLC0415 (loads Spark, which --help must not need)
    from treaty.spark.iglu.pipeline import BAD_ROWS, EventPipeline  # noqa: PLC0415

    patience = description.number("patience_seconds", 30.0)
    keep = description.texts("keep")
    return EventPipeline(
        d.read_table(d.require_table(description, "good")),
        d.read_table(d.require_table(description, "bad")),
        description.text("checkpoint"),
        columns=description.texts("columns") or ("value",),
        keep=keep,
        source=d.read_source(d.require_table(description, "source"), headers="headers" in keep),
        trigger=d.read_trigger(description.table("trigger")),
        patience=30.0 if patience is None else patience,
        bad_rows=description.text("bad_rows", BAD_ROWS[0], BAD_ROWS),
    )
