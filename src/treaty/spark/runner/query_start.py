"""A query is started: in a session of its own, over views of what it reads, into its sink, on its checkpoint."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from treaty.client.exchanges import versions
from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.names import Subject
from treaty.core.registry import Registry, run_exchange
from treaty.core.sources import CHANGES, EXCHANGES, Incarnation, Source, SourceRead
from treaty.metastore.bad_rows import find_origin, first_generation
from treaty.spark.lake import iceberg
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.pipelines.trigger import StreamTrigger, set_trigger
from treaty.spark.planner.leaf_columns import names_its_columns
from treaty.spark.planner.pseudo_columns import list_words
from treaty.spark.planner.settings import PINNED, RESTRICTED
from treaty.spark.planner.views import STREAM, split_watermark
from treaty.spark.runner.batch_bodies import BatchBody, BatchRead
from treaty.spark.runner.checkpoint_files import CheckpointFiles, find_checkpoint_root, find_query_folder
from treaty.spark.runner.data_roots import DataRoot, print_root
from treaty.spark.runner.decode_ledger import DecodeLedger, describe_decoding
from treaty.spark.runner.file_records import CHECKPOINT, FileRecords
from treaty.spark.runner.kafka_sink import KafkaSink, OnBad, ignore_bad
from treaty.spark.runner.kafka_source import (
    SourceMissingError,
    SourceNotRunnableError,
    find_cluster,
    java_settings,
    require_topic,
)
from treaty.spark.runner.leftovers import LeftoverFiles
from treaty.spark.runner.once_queries.runs import run_once_queries
from treaty.spark.runner.query_end import OUT, NewVersionError, work_off
from treaty.spark.runner.row_order import ORDER, propagate_order
from treaty.spark.runner.sinks import LAKES, TableSink, refuse_lost_checkpoint, require_format
from treaty.spark.runner.source_frames import SourceOpener, expand_columns
from treaty.spark.runner.takeovers import QueryTakeover, is_over

AVAILABLE = StreamTrigger("available")


def write_always(_number: int) -> None:
    """Let every batch be written."""


@dataclass(frozen=True, slots=True)
class QueryRun:
    """How a query is run: when its batches begin, what is called before a batch is written, and whether unknown ids are bad rows.

    `before_batch` gets the number of the batch; if it raises, nothing is written, and the query fails. With `counts_unknown` rows with an
    unknown schema id are bad, else they end the batch before anything is written.
    """

    trigger: StreamTrigger = AVAILABLE
    before_batch: Callable[[int], None] = write_always
    counts_unknown: bool = False
    on_bad: OnBad = ignore_bad
    """Called with a code and a number of rows that a batch could not write, in the thread of the batch."""


@dataclass(frozen=True, slots=True)
class QueryStarter:
    """Starts queries of a registry: their data is below a root, their checkpoints are below another folder."""

    spark: SparkSession
    registry: Registry
    root: DataRoot
    checkpoints: str
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further settings of the session of each query."""
    part: "TakeoverPart | None" = None
    """What of a takeover is carried out; None: queries are run."""
    clusters: Mapping[str, KafkaCluster] = field(default_factory=dict)
    """The Kafka clusters of topics, by name."""
    on_note: Callable[[str, str], None] = lambda _name, _text: None
    """Gets what is to be known before a query starts: its name and a sentence."""

    def start(self, source: Source, run: QueryRun | None = None) -> StreamingQuery:
        """Start the query of a source; of a stream of bad rows, what collects them.

        Raises `SourceNotRunnableError` for what this runner does not do, and errors of Spark.
        """
        chosen = run or QueryRun()
        place, root = place_of(source), find_checkpoint_root(source, self.checkpoints)
        if self.part is None:
            self._note_files(source, root)
        self.take_over(source, chosen)
        CheckpointFiles(self.spark, root).clear_cut_start(place)
        opened = (
            self._open_bad(source, chosen) if source.query is None else self._open_query(source, source.query, chosen)
        )

        noted = DecodeLedger(CheckpointFiles(self.spark, root), place, opened.decoding)

        def write(batch: DataFrame, number: int) -> None:
            chosen.before_batch(number)
            if self.part is None or not self.part.reads_nothing:
                noted.note(number, lambda: self._has_written(source, number))
            if self.part is not None and self.part.reads_nothing:
                # What keeps state has to run, so that the batch has one.
                batch.write.format("noop").mode("overwrite").save()
            else:
                opened.write(batch, number)

        writer = (
            opened.rows.observe(OUT, F.count(F.lit(1)).alias("rows"))
            .writeStream.queryName(f"{source.name} {place.rpartition('/')[2]}")
            .option("checkpointLocation", f"{root}/{place}")
            .outputMode(opened.mode)
            .foreachBatch(write)
        )
        return set_trigger(writer, chosen.trigger).start()

    def find_planned_batch(self, source: Source) -> int:
        """Return the number of the batch that a query has begun and not finished: its records are settled, and it is run first; -1 without one."""
        files, place = CheckpointFiles(self.spark, find_checkpoint_root(source, self.checkpoints)), place_of(source)
        planned = max(files.list_numbers(f"{place}/offsets"), default=-1)
        return planned if planned > max(files.list_numbers(f"{place}/commits"), default=-1) else -1

    def open_result(self, source: Source) -> DataFrame:
        """Return the result of the query of a source, as a stream that is not started. Raises `SourceNotRunnableError`, and errors of Spark."""
        assert source.query is not None, "only queries have results"
        return self._open_query(source, source.query, QueryRun()).rows.drop(ORDER)

    def _open_query(self, source: Source, query: Incarnation, run: QueryRun) -> "OpenedPart":
        session = self.spark.newSession()
        for setting, value in (*query.plan.settings, *RESTRICTED.items(), *self.settings.items()):
            session.conf.set(setting, value)
        start = dict(source.properties).get("START", "")
        key = key_of(source)
        needs = query.plan.reads if names_its_columns(query.plan.body) else ()
        opener = SourceOpener(session, self.registry, self.root, run.counts_unknown, self.clusters, start, reads=needs)
        opener = replace(opener, keeps_order=bool(key))
        words = list_words(query.plan.body)
        reads = [(read, self.find_upstream(source, read)) for read in query.plan.reads]
        if any(is_read_by_batch(upstream, read.mode) for read, upstream in reads):
            if not query.plan.fingerprint.plan:
                return self._open_batches(source, query, opener, reads, run.on_bad)
            _refuse_unmoved(source, reads, run)
        for read, upstream in reads:
            frame = self._open(opener, upstream, streaming=upstream.kind == STREAM, words=words)
            frame.drop(ORDER).createOrReplaceTempView(print_name(read.spelling or upstream.name))
        result = session.sql(query.plan.body)
        sink = self.open_sink(source, result, key, on_bad=run.on_bad)
        rows = propagate_order(result) if key else result
        decoding = describe_decoding(self.registry, opener, [upstream for _, upstream in reads])
        return OpenedPart(rows, query.plan.output_mode, sink.write, decoding)

    def find_upstream(self, source: Source, read: SourceRead) -> Source:
        """Return the source that a query was planned over. Raises `SourceNotRunnableError` where another one has its name by now."""
        upstream = self.registry.ask(DescribeSource(read.source)).answer.source
        if read.generation not in (upstream.generation, *upstream.former):
            message = f"{source.name} reads generation {read.generation} of {read.source}, and another source is called so by now"
            raise SourceNotRunnableError(f"{message}: the next definition of the query is waited for")
        return upstream

    def _open_batches(
        self,
        source: Source,
        query: Incarnation,
        opener: SourceOpener,
        reads: Sequence[tuple[SourceRead, Source]],
        on_bad: OnBad,
    ) -> "OpenedPart":
        """A body without state, which runs over each batch of what it follows."""
        words = list_words(query.plan.body)
        named = [(BatchRead(upstream, read.spelling or upstream.name), read.mode) for read, upstream in reads]
        followed = [one for one, mode in named if mode == CHANGES]
        if len(followed) != 1:
            message = (
                f"{source.name} unites streams beside a table of files, which no runner does: a query for each stream"
            )
            raise SourceNotRunnableError(message)

        def open_table(session: SparkSession, table: Source) -> DataFrame:
            in_batch = SourceOpener(session, self.registry, self.root, opener.counts_unknown, self.clusters)
            return self._open(in_batch, table, streaming=False, words=words)

        is_table = followed[0].source.kind != STREAM
        tables = [one for one, mode in named if mode != CHANGES]
        body = BatchBody(query.plan.body, followed[0], tables, open_table, query.plan.key if is_table else ())

        def write(batch: DataFrame, number: int) -> None:
            body.write(batch, number, lambda result: self.open_sink(source, result, key_of(source), on_bad=on_bad))

        rows = self._open(opener, followed[0].source, streaming=True, words=words)
        return OpenedPart(rows, "append", write, describe_decoding(self.registry, opener, [followed[0].source]))

    def _open_bad(self, bad: Source, run: QueryRun) -> "OpenedPart":
        """The bad rows of a source."""
        source = find_origin(self.registry, bad)
        session = self.spark.newSession()
        for setting, value in (*PINNED, *self.settings.items()):
            session.conf.set(setting, value)
        opener = SourceOpener(session, self.registry, self.root, run.counts_unknown, self.clusters)
        rows = opener.open_bad(source, expand_columns(self.registry, source), bad)
        return OpenedPart(rows, "append", self.open_sink(bad, rows, ()).write)

    def _has_written(self, source: Source, number: int) -> bool:
        """Whether a batch is in the table of a query; a topic does not say, and what is written last counts there."""
        if source.connector not in LAKES:
            return False
        folder = (self.part and self.part.folder) or self.find_folder(source)
        batch = WriteId(_writer_of(source), number)
        return LAKES[source.connector].has_written(self.spark, LakeTable(folder, source.connector), batch)

    def open_sink(
        self, source: Source, result: DataFrame, key: tuple[str, ...], writer: str = "", on_bad: OnBad = ignore_bad
    ) -> TableSink | KafkaSink:
        """Return where the rows of a query go; `writer` names batches that are not those of its checkpoint.

        Raises `SourceNotRunnableError` for a connector that is not written, and where a topic or its cluster is not there.
        """
        if source.connector == "kafka":
            cluster = find_cluster(source, self.clusters)
            require_topic(source, cluster)
            began = source.query.began if source.query is not None else first_generation(source)
            settings = java_settings(cluster)
            return KafkaSink(
                source, self.registry, settings, result.schema, began, lambda: int(time() * 1_000), key, on_bad
            )
        if source.connector not in LAKES:
            message = f"{source.name} writes to {source.connector}, and a runner writes topics, Delta and Iceberg tables: CONNECTOR = 'delta' and PATH"
            raise SourceNotRunnableError(message)
        folder = (self.part and self.part.folder) or self.find_folder(source)
        name = writer or _writer_of(source)
        return TableSink(folder, name, result.schema, key, source.connector, skips_empty=source.query is None)

    def _open(self, opener: SourceOpener, source: Source, *, streaming: bool, words: Collection[str]) -> DataFrame:
        """The frame of a source with its watermark and its DEDUPLICATE, and with the pseudo-columns that a body or these name."""
        properties = dict(source.properties)
        watermark = properties.get("WATERMARK", "") if streaming else ""
        names = [one.strip().strip("`") for one in properties.get("DEDUPLICATE", "").split(",") if one.strip()]
        named = {*words, *list_words(watermark), *map(lower_name, names)}
        frame = opener.open(source, streaming=streaming, columns=expand_columns(self.registry, source), words=named)
        if watermark:
            frame = frame.withWatermark(*split_watermark(watermark))
        if streaming and self.part is not None and self.part.reads_nothing:
            frame = frame.where(F.lit(False))
        return frame.dropDuplicatesWithinWatermark(names) if streaming and names else frame

    def find_folder(self, source: Source) -> str:
        """Return the folder of a table below the root. Raises `SourceNotRunnableError` for one outside of it."""
        return SourceOpener(self.spark, self.registry, self.root).folder(source)

    def find_leftovers(self) -> LeftoverFiles:
        """Return what finds and removes the files of sources that are gone."""
        data = CheckpointFiles(self.spark, print_root(self.root))
        return LeftoverFiles(CheckpointFiles(self.spark, self.checkpoints), self.registry, data)

    def _note_files(self, source: Source, root: str) -> None:
        """Write down what the query has, before it has it. Raises `SourceNotRunnableError` where its checkpoint is gone and its table is not."""
        require_format(self.spark, source)
        table = self.find_folder(source) if source.connector in LAKES else ""
        if table and not CheckpointFiles(self.spark, root).has(f"{place_of(source)}/offsets"):
            refuse_lost_checkpoint(self.spark, source, LakeTable(table, source.connector), f"{root}/{place_of(source)}")
        records = FileRecords(CheckpointFiles(self.spark, self.checkpoints))
        if source.query is not None and records.find(CHECKPOINT, source.query.began, first_generation(source)) is None:
            self._note_expired(source, source.query)
        note = records.note_start(source, f"{root}/{place_of(source)}", table)
        if note:
            self.on_note(source.name, note)

    def _note_expired(self, source: Source, query: Incarnation) -> None:
        """Say before the first start what a new query will not read of Iceberg tables, though it reads them from the start."""
        for read in query.plan.reads:
            upstream = self.find_upstream(source, read)
            if upstream.connector != "iceberg" or read.mode != CHANGES or upstream.kind != STREAM:
                continue
            if iceberg.has_expired(self.spark, LakeTable(self.find_folder(upstream), "iceberg")):
                what = (
                    f"the Iceberg table of {upstream.name} has expired snapshots, and what these had added is not read"
                )
                self.on_note(source.name, f"{what}: a stream begins with the oldest snapshot that is kept")

    def take_over(self, source: Source, run: QueryRun) -> None:
        """Do what a query needs that takes over from another one; nothing where it was done before. Its batches begin as `run` says."""
        query = source.query
        if query is None or self.part is not None:
            return
        files = CheckpointFiles(self.spark, find_query_folder(source, self.checkpoints))
        if not files.has(f"{query.began}/offsets") or (query.start in EXCHANGES and not is_over(files, query)):
            self._refuse_unready(source, query)

        def run_part(row: Source, part: TakeoverPart, kind: str = "once") -> None:
            starter, own = replace(self, part=part), replace(run, trigger=StreamTrigger(kind))
            work_off(lambda: starter.start(row, own), again=own.trigger == AVAILABLE)

        QueryTakeover(
            self.spark,
            files,
            self.find_folder(source) if source.connector == "delta" else "",
            open=lambda row: self._open_query(row, row.query or query, QueryRun()).rows.drop(ORDER),
            finish=lambda row: run_part(row, TakeoverPart()),
            skip=lambda row: run_part(row, TakeoverPart(reads_nothing=True)),
            fill=lambda row, folder: run_part(row, TakeoverPart(folder=folder), "available"),
        ).run(source)
        if source.once:
            run_once_queries(self, source, files)

    def _refuse_unready(self, source: Source, query: Incarnation) -> None:
        """Raise `SourceMissingError` while a query whose changes are followed has its rows to exchange: those that it has are not the ones to read."""
        for read in query.plan.reads:
            if read.mode != CHANGES:
                continue
            upstream = self.find_upstream(source, read)
            followed = upstream.query
            if followed is None or not (followed.start in EXCHANGES or followed.resumed):
                continue
            if not is_over(CheckpointFiles(self.spark, find_query_folder(upstream, self.checkpoints)), followed):
                raise SourceMissingError(f"{source.name} begins once {upstream.name} has exchanged its rows")


@dataclass(frozen=True, slots=True)
class TakeoverPart:
    """A run that is a part of a takeover: its batches read and write no rows, or its rows go to another folder than the source's."""

    reads_nothing: bool = False
    folder: str = ""


@dataclass(frozen=True, slots=True)
class OpenedPart:
    """A part that can be started: the rows of its batches, the output mode, and what writes a batch."""

    rows: DataFrame
    mode: str
    write: Callable[[DataFrame, int], None]
    decoding: str = ""
    """How records are decoded, as `describe_decoding` prints it; empty where it is of no interest."""


def is_read_by_batch(upstream: Source, mode: str) -> bool:
    """Return whether a source is read again for each batch: the changes of a table, and the newest rows of a table that is no Delta table."""
    return upstream.kind != STREAM and (mode == CHANGES or upstream.connector != "delta")


def _refuse_unmoved(source: Source, reads: Sequence[tuple[SourceRead, Source]], run: QueryRun) -> None:
    """Raise `SourceNotRunnableError` where a table would stay as it was at the start of a query that runs on."""
    for _, upstream in reads:
        if not run.trigger.bounded and is_read_by_batch(upstream, "table"):
            message = f"{source.name} keeps state beside {upstream.name}, a table of files, whose rows would not move"
            raise SourceNotRunnableError(f"{message}: a Delta table that a query over it fills, or --once")


def key_of(source: Source) -> tuple[str, ...]:
    """Return the columns by which the rows of a source take the place of others; none where they are appended."""
    is_appended = source.query is None or source.query.plan.output_mode != "update"
    if is_appended and source.kind == STREAM:
        return ()
    return tuple(one.name for one in source.columns if one.role == "key")


def place_of(source: Source) -> str:
    """Return the name of the checkpoint of a query, or of bad rows: by the first generation, so that a source that comes back continues where it was.

    Several queries may begin in one commit, so the number of a query alone names none.
    """
    first = first_generation(source)
    return f"bad-{first}" if source.query is None else f"{first}/{source.query.began}"


def _writer_of(source: Source) -> str:
    """The name under which a query writes its batches; a table has those of one source."""
    return f"treaty-{place_of(source).rpartition('/')[2]}"


class SchemaWatch:
    """Watches the subjects of sources for versions that came since it was made.

    A producer registers a schema before it sends the first record of it. So where the subjects have no new version when a batch begins, each
    id of its records that the query does not know is no id of these subjects.
    """

    def __init__(self, registry: Registry, sources: Iterable[Source]) -> None:
        """Note the versions that are there now. Raises `Unavailable`."""
        self._registry = registry
        parts = (part for source in sources for part in (source.key, source.value))
        pins = (part.pin for part in parts if part is not None and part.framing != "none")
        self._subjects = sorted({str(Subject(pin.context, pin.subject)) for pin in pins if pin is not None})
        self._known = self._read()

    def check(self) -> None:
        """Raise `NewVersionError` where there is a version that was not there before. Raises `Unavailable`."""
        if self._read() != self._known:
            message = f"a version of {' or '.join(self._subjects)} came since the query was started; it starts again"
            raise NewVersionError(message)

    def _read(self) -> tuple[object, ...]:
        return tuple(tuple(run_exchange(self._registry, versions(subject))) for subject in self._subjects)
