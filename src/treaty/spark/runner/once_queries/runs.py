"""Queries that are run once into a source, before the one that fills it starts: into a table in one commit, into a topic in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name
from treaty.core.kafka import KafkaCluster
from treaty.core.refusals import RegistryError
from treaty.core.registry import Registry
from treaty.core.sources import Incarnation, OnceQuery, Source, SourceRead
from treaty.plan.errors import PlanError
from treaty.spark.lake.table import LakeTable
from treaty.spark.planner.pseudo_columns import list_words
from treaty.spark.planner.settings import RESTRICTED
from treaty.spark.planner.views import STREAM, list_deduplicated
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.data_roots import DataRoot
from treaty.spark.runner.kafka_sink import NULL_KEY, KafkaSink
from treaty.spark.runner.kafka_source import SourceNotRunnableError, find_cluster
from treaty.spark.runner.once_queries.ledger import OnceLedger, find_version
from treaty.spark.runner.once_queries.topics import OnceTopic
from treaty.spark.runner.row_order import ORDER, propagate_order
from treaty.spark.runner.sinks import LAKES, TableSink
from treaty.spark.runner.source_frames import BAD, SourceOpener, expand_columns, settle
from treaty.spark.stream_words import blank_streams

ERRORS = (
    PySparkException,
    Py4JError,
    RegistryError,
    PlanError,
    SourceNotRunnableError,
    KafkaClientError,
    KafkaMissingError,
)
"""What keeps a query from being run once, and nothing else from running."""


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
            write_once(starter, source, once, ledger)
        except ERRORS as error:
            reason = str(error).strip().split("\n", 1)[0][:1_000]
            starter.on_note(
                source.name, f"INSERT INTO ONCE of commit {once.began} is tried again at the next start: {reason}"
            )
            continue
        is_delta = table is not None and source.connector == "delta"
        ledger.note_written(once, find_version(starter.spark, table) if table is not None and is_delta else 0)


def write_once(starter: OnceStarter, source: Source, once: OnceQuery, ledger: OnceLedger) -> None:
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
    sink = starter.open_sink(filled, result.drop(ORDER), key, ledger.name_writer(once))
    if isinstance(sink, TableSink):
        sink.write(result, 0)
        return
    topic = OnceTopic(sink, find_cluster(source, starter.clusters), ledger.files)
    topic.write(result)
    if topic.left_out:
        left_out = f"{topic.left_out:,} rows of INSERT INTO ONCE of commit {once.began} have no key"
        starter.on_note(source.name, f"{left_out}, which the topic of a table needs ({NULL_KEY}): they are left out")


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
    spellings = {lower_name(name): name for name in rows.columns}
    columns = [
        F.col(print_name(spellings[lower_name(column.name)])).alias(column.name)
        if lower_name(column.name) in spellings
        else F.lit(None).cast(column.type).alias(column.name)
        for column in expand_columns(starter.registry, source)
    ]
    return rows.select(*columns, *([ORDER] if ORDER in rows.columns else []))
