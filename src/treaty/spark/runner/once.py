"""Queries worked off once: what is there is read, written exactly once, and the run ends."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from treaty.core.column_types.tokens import print_name
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.registry import Registry
from treaty.core.sources import RUNNING, Source
from treaty.spark.runner.data_roots import DataRoot, print_root
from treaty.spark.runner.file_records import QueryFileRecord
from treaty.spark.runner.kafka_source import SourceMissingError
from treaty.spark.runner.leftovers import describe_error
from treaty.spark.runner.query_end import OUT, work_off
from treaty.spark.runner.query_start import QueryRun, QueryStarter
from treaty.spark.runner.service.failures import SPARK_ERRORS, describe_failure
from treaty.spark.runner.source_frames import UNKNOWN

KEPT = {"spark.sql.streaming.numRecentProgressUpdates": "100000"}
"""Settings of the session of each query: what is said of all its batches is kept until its end, where it is counted."""
FILES = "files that no source needs"
"""The name under which is noted what could not be removed."""


@dataclass(frozen=True, slots=True)
class QueryReport:
    """What a query, or what collects bad rows, has done: rows that it read, that could not be decoded, that it wrote, and batches.

    `error` says why it failed, and `note` why it had nothing to do; they are empty otherwise.
    """

    name: str
    rows: int = 0
    bad: int = 0
    batches: int = 0
    error: str = ""
    written: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class OnceRunner:
    """Works off the queries of a registry whose data is below a root; their checkpoints are below another folder."""

    spark: SparkSession
    registry: Registry
    root: DataRoot
    checkpoints: DataRoot
    clusters: Mapping[str, KafkaCluster] = field(default_factory=dict)
    on_note: Callable[[str, str], None] = lambda _name, _text: None
    on_removed: Callable[[QueryFileRecord], None] = lambda _: None
    """Gets what was removed since no source needs it; a run of all queries looks for that at its end."""

    def run(self, on_report: Callable[[QueryReport], None], names: tuple[str, ...] = ()) -> bool:
        """Run all queries whose desired state is RUNNING, or those named, each after those that it reads; return whether none failed.

        A name that no query has, and one of a paused query, is reported as an error.
        """
        missing = {name.lower(): name for name in names}
        fine = True
        for source in order_queries(list_queries(self.registry)):
            is_named = missing.pop(source.name.lower(), None) is not None
            if names and not is_named:
                continue
            if source.desired != RUNNING:
                if is_named:
                    on_report(QueryReport(source.name, error=f"it is paused: RESUME {print_name(source.name)}"))
                    fine = False
                continue
            report = self._run_query(source)
            on_report(report)
            fine = fine and not report.error
        for name in missing.values():
            on_report(QueryReport(name, error="there is no query of this name: SHOW QUERIES lists them"))
        if not names:
            self._sweep()
        return fine and not missing

    def _sweep(self) -> None:
        """Remove what no source needs; what can't be removed is noted, and the next run looks again."""
        try:
            swept = self._make_starter().find_leftovers().sweep()
        except (*SPARK_ERRORS, OSError) as error:
            self.on_note(FILES, f"they could not be looked at: {describe_error(error)}")
            return
        for record in swept.removed:
            self.on_removed(record)
        for text in swept.errors:
            self.on_note(FILES, text)

    def _make_starter(self) -> QueryStarter:
        place = print_root(self.checkpoints)  # where the JVM is does not matter
        return QueryStarter(
            self.spark, self.registry, self.root, place, KEPT, clusters=self.clusters, on_note=self.on_note
        )

    def _run_query(self, source: Source) -> QueryReport:
        starter = self._make_starter()
        unwritten: list[int] = []

        def on_bad(_code: str, rows: int) -> None:
            unwritten.append(rows)

        try:
            try:
                progress = work_off(lambda: starter.start(source, QueryRun(on_bad=on_bad)))
            except StreamingQueryException as error:
                if UNKNOWN not in str(error):
                    raise
                # The plan is made anew. An id that the registry does not know then makes a bad row.
                progress = work_off(lambda: starter.start(source, QueryRun(counts_unknown=True, on_bad=on_bad)))
        except SourceMissingError as missing:
            return QueryReport(source.name, note=str(missing))
        except SPARK_ERRORS as error:
            return QueryReport(source.name, error=describe_failure(error, 1).reason)
        report = summarize(source.name, progress)
        return replace(report, bad=report.bad + sum(unwritten), written=report.written - sum(unwritten))


def list_queries(registry: Registry) -> list[Source]:
    """Return all sources of a registry that are run: they have a query, or the bad rows of another source."""
    listed: list[Source] = []
    after = ""
    while True:
        page = registry.ask(ListQueries(after=after)).answer
        listed += (one.source for one in page.queries)
        if not page.last:
            return listed
        after = page.last


def order_queries(queries: list[Source]) -> Iterator[Source]:
    """List queries so that each comes after those whose results it reads; there are no cycles."""
    waiting = {source.name.lower(): source for source in queries}
    while waiting:
        ready = [
            name
            for name, source in waiting.items()
            if source.query is None or not any(read.source.lower() in waiting for read in source.query.plan.reads)
        ]
        for name in ready or [*waiting]:
            yield waiting.pop(name)


def summarize(name: str, progress: Sequence[Mapping[str, Any]]) -> QueryReport:
    """Return the report of a query from the progress of its batches."""
    rows = sum(int(one.get("numInputRows", 0)) for one in progress)
    observed = [dict(one.get("observedMetrics") or {}) for one in progress]
    bad = sum(int(value.get("bad") or 0) for one in observed for value in one.values())
    written = sum(int((one.get(OUT) or {}).get("rows") or 0) for one in observed)
    batches = sum(1 for one in progress if int(one.get("numInputRows", 0)))
    return QueryReport(name, rows, bad, batches, written=written)
