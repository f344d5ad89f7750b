"""Queries that are run once into a source, before the one that fills it starts: all their rows come in one write.

`once/N` beside the checkpoints of a source are events, in their order: a query was written, all rows were exchanged, or the table went back to
a version. They say which of these queries the table has now, so that each is in it once, whatever became of the rows since.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name
from treaty.core.kafka import KafkaCluster
from treaty.core.refusals import RegistryError
from treaty.core.registry import Registry
from treaty.core.sources import Incarnation, OnceQuery, Source, SourceRead
from treaty.plan.errors import PlanError
from treaty.spark.lake import delta
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.planner.leaf_columns import blank_streams
from treaty.spark.planner.pseudo_columns import list_words
from treaty.spark.planner.settings import RESTRICTED
from treaty.spark.planner.views import STREAM
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.data_roots import DataRoot
from treaty.spark.runner.kafka_sink import KafkaSink
from treaty.spark.runner.kafka_source import SourceNotRunnableError
from treaty.spark.runner.recorded_sources import list_deduplicated
from treaty.spark.runner.row_order import ORDER, propagate_order
from treaty.spark.runner.sinks import LAKES, TableSink
from treaty.spark.runner.source_frames import BAD, SourceOpener, expand_columns, settle

EVENTS = "once"
ERRORS = (PySparkException, Py4JError, RegistryError, PlanError, SourceNotRunnableError)
"""What keeps a query from being run once, and nothing else from running."""
NO_TABLE = -1
"""The version of a table that is not there."""
WRITTEN, EXCHANGED, RESTORED = "written", "exchanged", "restored"


@dataclass(frozen=True, slots=True)
class OnceEvent:
    """What became of the rows: a query was WRITTEN (`number` is where it began), all were EXCHANGED by the commit of this number, or the commit
    had them RESTORED to the version `to`. `version` is the one of the table after it.
    """

    kind: str
    number: int
    version: int
    to: int = 0


@dataclass(frozen=True, slots=True)
class OnceLedger:
    """Which queries that are run once the table of a source has. `table` is None for a topic, which keeps all that is written."""

    spark: SparkSession
    files: CheckpointFiles
    table: LakeTable | None

    def list_missing(self, source: Source) -> Iterator[OnceQuery]:
        """Yield the queries that are to be run, in the order of their commits."""
        contained = find_contained(self._read())
        for once in reversed(source.once):
            if once.began not in contained:
                yield once

    def settle(self, source: Source, version: int) -> None:
        """Note what was written before a runner was killed that had not noted it; `version` is the one of the table."""
        for once in source.once:
            if self.table is not None and LAKES[self.table.format].has_written(
                self.spark, self.table, WriteId(self.name_writer(once), 0)
            ):
                self._add(OnceEvent(WRITTEN, once.began, version))

    def name_writer(self, once: OnceQuery) -> str:
        """Return the name of the next write of a query: one that was written and has gone with all rows is written under another name."""
        times = sum(1 for one in self._read() if (one.kind, one.number) == (WRITTEN, once.began))
        return f"treaty-once-{once.began}-{times}"

    def note_written(self, once: OnceQuery, version: int) -> None:
        """Note that a query is in the table."""
        self._add(OnceEvent(WRITTEN, once.began, version))

    def note_exchanged(self, number: int, version: int) -> None:
        """Note that all rows were exchanged; twice is as once."""
        self._add_new(OnceEvent(EXCHANGED, number, version))

    def note_restored(self, number: int, version: int, to: int) -> None:
        """Note that the table has the rows of a former version again; twice is as once."""
        self._add_new(OnceEvent(RESTORED, number, version, to))

    def _add_new(self, event: OnceEvent) -> None:
        events = self._read()
        is_of_use = any(one.kind == WRITTEN for one in events)
        if is_of_use and not any((one.kind, one.number) == (event.kind, event.number) for one in events):
            self._add(event)

    def _add(self, event: OnceEvent) -> None:
        number = max(self.files.list_numbers(EVENTS), default=-1) + 1
        self.files.write(f"{EVENTS}/{number}", json.dumps([event.kind, event.number, event.version, event.to]))

    def _read(self) -> list[OnceEvent]:
        texts = (self.files.read(f"{EVENTS}/{number}") for number in self.files.list_numbers(EVENTS))
        return [OnceEvent(*json.loads(text)) for text in texts]


def find_contained(events: Sequence[OnceEvent]) -> set[int]:
    """Return where the queries began whose rows a table has after these events."""
    contained: set[int] = set()
    for at, event in enumerate(events):
        if event.kind == WRITTEN:
            contained.add(event.number)
        elif event.kind == EXCHANGED:
            contained = set()
        else:
            contained = find_contained([earlier for earlier in events[:at] if earlier.version <= event.to])
    return contained


def find_version(spark: SparkSession, table: LakeTable) -> int:
    """Return the version of a Delta table, `NO_TABLE` where there is none."""
    if delta.schema(spark, table) is None:
        return NO_TABLE  # a driver that is killed while it makes a table leaves a folder without one
    return int(spark.sql(f"DESCRIBE HISTORY {delta.name(spark, table)} LIMIT 1").collect()[0]["version"])


# --------------------------------------------------------------------------------------------------------- their rows


class OnceStarter(Protocol):
    """What a query is run with: a `QueryStarter`."""

    @property
    def spark(self) -> SparkSession:
        """The session of the runner."""
        ...

    @property
    def registry(self) -> Registry:
        """What sources are described by."""
        ...

    @property
    def root(self) -> DataRoot:
        """The root of folders and tables."""
        ...

    @property
    def clusters(self) -> Mapping[str, KafkaCluster]:
        """The clusters of topics, by name."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Further settings of the session of each query."""
        ...

    @property
    def on_note(self) -> Callable[[str, str], None]:
        """Gets a name and a sentence."""
        ...

    def find_upstream(self, source: Source, read: SourceRead) -> Source:
        """Return the source that a query was planned over."""
        ...

    def find_folder(self, source: Source) -> str:
        """Return the folder of a table."""
        ...

    def open_sink(
        self, source: Source, result: DataFrame, key: tuple[str, ...], writer: str = ""
    ) -> TableSink | KafkaSink:
        """Return where the rows of a query go."""
        ...


def run_once_queries(starter: OnceStarter, source: Source, files: CheckpointFiles) -> None:
    """Run the queries that the table of a source has not yet. What fails is noted, and left for the next start."""
    table = LakeTable(starter.find_folder(source), source.connector) if source.connector in LAKES else None
    ledger = OnceLedger(starter.spark, files, table)
    for once in list(ledger.list_missing(source)):
        try:
            write_once(starter, source, once, ledger.name_writer(once))
        except ERRORS as error:
            reason = str(error).strip().split("\n", 1)[0][:1_000]
            starter.on_note(
                source.name, f"INSERT INTO ONCE of commit {once.began} is tried again at the next start: {reason}"
            )
            continue
        is_delta = table is not None and source.connector == "delta"
        ledger.note_written(once, find_version(starter.spark, table) if table is not None and is_delta else 0)


def write_once(starter: OnceStarter, source: Source, once: OnceQuery, writer: str) -> None:
    """Run a query that is run once, and write all its rows into a source. Errors as those of `QueryStarter.start`."""
    session = starter.spark.newSession()
    for setting, value in (*once.plan.settings, *RESTRICTED.items(), *starter.settings.items()):
        session.conf.set(setting, value)
    opener = SourceOpener(session, starter.registry, starter.root, counts_unknown=True, clusters=starter.clusters)
    filled = replace(source, query=Incarnation(once.began, 1, once.plan, once.author, once.time))
    key = tuple(one.name for one in source.columns if one.role == "key") if source.kind != STREAM else ()
    for read in once.plan.reads:
        upstream = starter.find_upstream(source, read)
        rows = _open_rows(opener, starter, read, upstream, list_words(once.plan.body))
        rows.drop(ORDER).createOrReplaceTempView(print_name(read.spelling or upstream.name))
    result = session.sql(blank_streams(session, once.plan.body))
    ordered = propagate_order(result) if key and not once.plan.fingerprint.plan else result
    result = _with_columns(ordered, source, starter)
    sink = starter.open_sink(filled, result.drop(ORDER), key, writer)
    sink.write(result, 0)


def _open_rows(
    opener: SourceOpener, starter: OnceStarter, read: SourceRead, upstream: Source, words: Sequence[str]
) -> DataFrame:
    """The rows of a source that are there now, with their order where they have one."""
    columns = expand_columns(starter.registry, upstream)
    if upstream.connector not in {"kafka", "files"}:
        return opener.open(upstream, streaming=False, columns=columns)
    names = list_deduplicated(upstream)
    marked = opener.mark(upstream, columns=columns, words=[*words, *map(lower_name, names)])
    rows = settle(upstream, marked.where(F.col(BAD).isNull()).drop(BAD))
    return rows.dropDuplicates(names) if names and upstream.kind == STREAM else rows


def _with_columns(rows: DataFrame, source: Source, starter: OnceStarter) -> DataFrame:
    """The rows with all columns of the source, in their order; those that the query does not give are null."""
    given = {lower_name(name): name for name in rows.columns}
    columns = [
        F.col(print_name(given[lower_name(one.name)])).alias(one.name)
        if lower_name(one.name) in given
        else F.lit(None).cast(one.type).alias(one.name)
        for one in expand_columns(starter.registry, source)
    ]
    return rows.select(*columns, *([ORDER] if ORDER in rows.columns else []))
