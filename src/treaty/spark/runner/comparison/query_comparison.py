"""Two queries run over the same records, of topics, of files or of tables as they were, and their rows compared; nothing is written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from types import MappingProxyType

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name
from treaty.core.kafka import KafkaCluster
from treaty.core.limits import COMPARE_SECONDS
from treaty.core.messages.metastore.plans import PlannedSource
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import Invalid
from treaty.core.registry import Registry
from treaty.core.sources import QueryPlan, Source
from treaty.metastore.compared_results import ResultComparison
from treaty.metastore.sql.values import ComparedRange
from treaty.plan.errors import PlanError
from treaty.spark.locked_temporary_folder import LockedTemporaryFolder
from treaty.spark.planner.pseudo_columns import list_words
from treaty.spark.planner.settings import RESTRICTED
from treaty.spark.planner.views import STREAM
from treaty.spark.runner.comparison.compared_streams import ComparedStreams, ComparedWay, StreamedRows, choose_way
from treaty.spark.runner.comparison.recorded_sources import RecordedSource, SourceRecorder
from treaty.spark.runner.comparison.recorded_tables import refuse_start
from treaty.spark.runner.comparison.row_differences import BUCKETS, FrameDifferences, compare_frames
from treaty.spark.runner.kafka_source import SourceNotRunnableError
from treaty.spark.runner.row_order import ORDER, keep_last, propagate_order
from treaty.spark.runner.source_frames import SourceOpener
from treaty.spark.stream_words import blank_streams

PREFIX = "treaty-compare-"
"""How the folders of comparisons begin."""
TAG = "treaty-comparison"
"""The tag of the jobs of a comparison, by which they are cancelled."""
COMPARED: Mapping[str, str] = {"spark.sql.adaptive.enabled": "false"}
"""Further settings of a comparison: Spark would plan and start each step of it as a job of its own."""
FEW_ROWS = 250_000
"""Rows of sources up to which the rows of both queries are compared at once: to sum them by buckets first costs as much as it spares."""
AGAIN_SECONDS = 0.5
"""Seconds after which jobs of a comparison that is given up are cancelled again."""


class BatchComparer:
    """Compares queries whose data is below a root; it is a `QueryComparer` of the metastore."""

    def __init__(
        self,
        start: Callable[[], SparkSession],
        registry: Registry,
        root: Path | None,
        seconds: float = COMPARE_SECONDS,
        *,
        clusters: Mapping[str, KafkaCluster] = MappingProxyType({}),
    ) -> None:
        """Start Spark by `start` when it is needed. A comparison that takes longer than `seconds` is given up. `clusters` are those of topics; without a root there are topics alone."""
        self._start = start
        self._registry = registry
        self._root = root
        self._seconds = seconds
        self._clusters = clusters

    def compare(self, old: Source, new: PlannedSource, compared: ComparedRange) -> ResultComparison:
        """Return how the rows of a planned query differ from those of the query of a source, as `QueryComparer` says."""
        assert old.query is not None and new.query is not None  # noqa: PT018 (who asks has looked)
        plans = (old.query.plan, new.query)
        sources = {name: self._registry.ask(DescribeSource(name)).answer.source for name in _list_names(plans)}
        _refuse_sources([*sources.values()], compared, has_root=self._root is not None)
        keys = (_key_of(old.kind, old, old.query.plan), _key_of(new.kind, new, new.query))
        way = choose_way(plans, sources)
        spark = self._start()
        with _limit_time(spark, self._seconds, old.name) as late:
            session = _open_session(spark, new.query)
            is_ordered = way.is_streaming or any(
                key and not plan.fingerprint.plan for plan, key in zip(plans, keys, strict=True)
            )
            opener = SourceOpener(
                session, self._registry, self._root or Path(), counts_unknown=True, clusters=self._clusters
            )
            recorder = SourceRecorder(opener, compared, plans, keeps_order=is_ordered, keeps_arrival=way.is_streaming)
            recorded: dict[str, RecordedSource] = {}
            try:
                for name, source in sources.items():
                    recorded[name] = recorder.record(source)
                if way.is_streaming:
                    return _compare_streams(ComparedQueries(session, plans, keys, recorded), way, late)
                return _compare_batches(ComparedQueries(session, plans, keys, recorded), way)
            finally:
                for reader in recorded.values():
                    reader.close()


@dataclass(frozen=True, slots=True)
class ComparedQueries:
    """The old and the new plan with the keys of their rows, and the sources that they read, by their names in small letters."""

    session: SparkSession
    plans: tuple[QueryPlan, QueryPlan]
    keys: tuple[tuple[str, ...], tuple[str, ...]]
    recorded: Mapping[str, RecordedSource]

    def describe(self, frames: Sequence[DataFrame], way: str, late: Sequence[tuple[str, str]] = ()) -> ResultComparison:
        """Return how the rows of the two queries differ."""
        key = self.keys[0] if set(map(lower_name, self.keys[0])) == set(map(lower_name, self.keys[1])) else ()
        row_counts = [source.row_count for source in self.recorded.values()]
        is_small = None not in row_counts and sum(filter(None, row_counts)) <= FEW_ROWS
        differences = compare_frames(frames[0], frames[1], key, buckets=0 if is_small else BUCKETS)
        ranges = tuple((one.source.name, text) for one in self.recorded.values() for text in one.ranges)
        counts = tuple((one.source.name, one.counts) for one in self.recorded.values() if one.counts)
        return ResultComparison(
            way, ranges, key, differences.counts, differences.faults, differences.lost, differences.added, differences.sample,
            tuple(_list_notes(self.keys, differences)), counts, tuple(late),
        )  # fmt: skip


def _compare_batches(queries: ComparedQueries, way: ComparedWay) -> ResultComparison:
    frames = [
        _run_body(queries.session, plan, queries.recorded, key)
        for plan, key in zip(queries.plans, queries.keys, strict=True)
    ]
    return queries.describe(frames, way.words)


def _compare_streams(queries: ComparedQueries, way: ComparedWay, late: Event) -> ResultComparison:
    with closing(LockedTemporaryFolder(PREFIX)) as folder:  # it has the rows of the range
        streams = ComparedStreams(queries.session, queries.recorded, folder.path, late)
        number = streams.write_batches()
        results = [
            (name, streams.run(plan, key, name))
            for name, plan, key in zip(("old", "new"), queries.plans, queries.keys, strict=True)
        ]
        left_out = [(name, _describe_late(result)) for name, result in results]
        words = f"{way.words}; both ran over the same {number} batches, in the order in which rows came"
        return queries.describe([result.rows for _, result in results], words, left_out)


def _describe_late(result: StreamedRows) -> str:
    """What of the rows of a stream is in no result."""
    return f"{result.late:,} left out as they came after the watermark; {result.open:,} still in the state, for windows that are open"


def _list_names(plans: Sequence[QueryPlan]) -> dict[str, None]:
    return dict.fromkeys(lower_name(read.source) for plan in plans for read in plan.reads)


def _refuse_sources(sources: Sequence[Source], compared: ComparedRange, *, has_root: bool) -> None:
    """Raise `Invalid` for a source that is not to be reached from here, or not in this range."""
    for source in sources:
        if source.connector != "kafka" and not has_root:
            raise Invalid.of(
                "COMPARE_ELSEWHERE", f"{source.name} is at {source.place}, below a root that is not known here", path="/sql", new=source.name,
                allowed="--files ROOT, with the root of the folders that PATH names",
            )  # fmt: skip
        refuse_start(source, compared.start)


def _key_of(kind: str, columns: Source | PlannedSource, plan: QueryPlan) -> tuple[str, ...]:
    """The columns by which rows take the place of others, as a runner writes them."""
    if kind == STREAM and plan.output_mode != "update":
        return ()
    return tuple(one.name for one in columns.columns if one.role == "key")


def _open_session(spark: SparkSession, plan: QueryPlan) -> SparkSession:
    session = spark.newSession()
    for setting, value in (*plan.settings, *RESTRICTED.items(), *COMPARED.items()):
        session.conf.set(setting, value)
    return session


def _run_body(
    session: SparkSession, plan: QueryPlan, recorded: Mapping[str, RecordedSource], key: tuple[str, ...]
) -> DataFrame:
    """The rows of a body over recorded sources; without state the last one of each key."""
    words = list_words(plan.body)
    for read in plan.reads:
        source = recorded[lower_name(read.source)]
        view = print_name(read.spelling or source.source.name)
        source.select(words).drop(ORDER).createOrReplaceTempView(view)
    result = session.sql(blank_streams(session, plan.body))
    if not key or plan.fingerprint.plan:
        return result
    return keep_last(propagate_order(result), key)


@contextmanager
def _limit_time(spark: SparkSession, seconds: float, name: str) -> Iterator[Event]:
    """Give the jobs of the block up after some seconds, and set the event that it gets. Raises `Invalid` then, and for what Spark, a plan or a source has to say."""
    context, ended, late = spark.sparkContext, Event(), Event()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            late.set()
            context.cancelJobsWithTag(TAG)
            wait = AGAIN_SECONDS  # a job may begin after those that were cancelled

    watcher = Thread(target=watch, name="comparison limit", daemon=True)
    context.addJobTag(TAG)
    watcher.start()
    try:
        yield late
    except (SourceNotRunnableError, PlanError, PySparkException, Py4JError) as error:
        if late.is_set():
            raise _too_costly(name, seconds) from error
        reason = str(error).strip().split("\n")[0]
        raise Invalid.of(
            "COMPARE_FAILED", f"comparing {name}: {reason}", path="/sql", new=name, allowed="EXPLAIN REPLACE without COMPARE"
        ) from error  # fmt: skip
    finally:
        ended.set()
        watcher.join()
        context.removeJobTag(TAG)
    if late.is_set():
        raise _too_costly(name, seconds)


def _too_costly(name: str, seconds: float) -> Invalid:
    return Invalid.of(
        "COMPARE_TOO_COSTLY", f"comparing {name} takes longer than {seconds:g} seconds (COMPARE_SECONDS), and was given up", path="/sql",
        new=name, allowed="a shorter range: COMPARE FROM 'time' TO 'time'",
    )  # fmt: skip


def _list_notes(keys: tuple[tuple[str, ...], tuple[str, ...]], differences: FrameDifferences) -> Iterator[str]:
    if set(map(lower_name, keys[0])) != set(map(lower_name, keys[1])):
        old, new = (f"the key {', '.join(one)}" if one else "no key" for one in keys)
        yield f"the old result has {old}, and the new one {new}: whole rows are compared"
    if differences.repeated:
        yield f"{differences.repeated} keys are there more than once in a result; one row of each is compared"
