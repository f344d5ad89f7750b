"""Two queries run as batches over the same records, of files or of versions of Delta tables, and their rows compared; nothing is written."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.core.column_types import lower_name
from treaty.core.column_types.tokens import print_name, print_text
from treaty.core.limits import COMPARE_SECONDS
from treaty.core.messages.metastore import DescribeSource
from treaty.core.messages.plans import PlannedSource
from treaty.core.refusals import Invalid
from treaty.core.registry import Registry
from treaty.core.sources import QueryPlan, Source
from treaty.metastore.compared_results import ResultComparison
from treaty.metastore.sql.values import EARLIEST, LATEST, ComparedRange
from treaty.plan.errors import PlanError
from treaty.spark.lake import delta
from treaty.spark.lake.table import LakeTable, is_missing
from treaty.spark.planner.leaf_columns import blank_streams
from treaty.spark.planner.pseudo_columns import list_pseudo_columns, list_words
from treaty.spark.planner.settings import RESTRICTED
from treaty.spark.planner.views import STREAM
from treaty.spark.runner.kafka_source import SourceMissingError, SourceNotRunnableError
from treaty.spark.runner.row_differences import FrameDifferences, compare_frames
from treaty.spark.runner.row_order import ORDER, keep_last, propagate_order
from treaty.spark.runner.source_frames import SourceOpener, expand_columns

TAG = "treaty-comparison"
"""The tag of the jobs of a comparison, by which they are cancelled."""
AGAIN_SECONDS = 0.5
"""Seconds after which jobs of a comparison that is given up are cancelled again."""


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """A source of which both queries read the same: its rows, with all pseudo-columns that either query names, and what was read in words."""

    source: Source
    rows: DataFrame
    what: str

    def select(self, words: Sequence[str]) -> DataFrame:
        """Return the rows with the pseudo-columns that a body names."""
        names = [one.name for one in (*self.source.columns, *list_pseudo_columns(self.source.columns, words))]
        named = {lower_name(name) for name in self.rows.columns}
        order = [ORDER] if ORDER in self.rows.columns else []
        return self.rows.select(*(print_name(name) for name in names if lower_name(name) in named), *order)


class BatchComparer:
    """Compares queries whose data is below a root; it is a `QueryComparer` of the metastore."""

    def __init__(
        self, start: Callable[[], SparkSession], registry: Registry, root: Path, seconds: float = COMPARE_SECONDS
    ) -> None:
        """Start Spark by `start` when it is needed. A comparison that takes longer than `seconds` is given up."""
        self._start = start
        self._registry = registry
        self._root = root
        self._seconds = seconds

    def compare(self, old: Source, new: PlannedSource, compared: ComparedRange) -> ResultComparison:
        """Return how the rows of a planned query differ from those of the query of a source, as `QueryComparer` says."""
        assert old.query is not None and new.query is not None  # noqa: PT018 (who asks has looked)
        plans = (old.query.plan, new.query)
        sources = [self._registry.ask(DescribeSource(name)).answer.source for name in _list_names(plans)]
        _refuse_sources(sources, compared)
        keys = (_key_of(old.kind, old, old.query.plan), _key_of(new.kind, new, new.query))
        key = keys[0] if set(map(lower_name, keys[0])) == set(map(lower_name, keys[1])) else ()
        spark = self._start()
        with _limit_time(spark, self._seconds, old.name):
            words = [word for plan in plans for word in list_words(plan.body)]
            session = _open_session(spark, new.query)
            recorded = {lower_name(one.name): self._record(session, one, compared, words) for one in sources}
            frames = [_run_body(session, plan, recorded, own) for plan, own in zip(plans, keys, strict=True)]
            differences = compare_frames(frames[0], frames[1], key)
        ranges = tuple((one.source.name, one.what) for one in recorded.values())
        return ResultComparison(
            ranges, key, differences.counts, differences.faults, differences.lost, differences.added, differences.sample,
            tuple(_list_notes(keys, differences)),
        )  # fmt: skip

    def _record(
        self, session: SparkSession, source: Source, compared: ComparedRange, words: Sequence[str]
    ) -> RecordedSource:
        """Open a source once for both queries: Spark lists its files now, or a version of its table is named."""
        properties = dict(source.properties)
        names = [one.strip().strip("`") for one in properties.get("DEDUPLICATE", "").split(",") if one.strip()]
        opener = SourceOpener(session, self._registry, self._root, counts_unknown=True, recorded=compared)
        if source.connector == "delta":
            folder = opener.folder(source)
            if is_missing(session, f"{folder}/_delta_log"):
                raise SourceMissingError(f"the table of {source.name} is not there yet: {source.place}")
            version, what = _find_version(session, folder, compared.end)
            rows = session.read.format("delta").option("versionAsOf", version).load(folder)
            return RecordedSource(source, rows.select(*(F.col(print_name(one.name)) for one in source.columns)), what)
        named = {*words, *map(lower_name, names)}
        rows = opener.open(
            source, streaming=False, columns=expand_columns(self._registry, source), words=named, keeps_order=True
        )
        files = f"the files of {source.place} from {compared.start} to {compared.end}"
        is_deduplicated = bool(names) and source.kind == STREAM
        return RecordedSource(source, rows.dropDuplicates(names) if is_deduplicated else rows, files)


def _list_names(plans: Sequence[QueryPlan]) -> dict[str, None]:
    return dict.fromkeys(lower_name(read.source) for plan in plans for read in plan.reads)


def _refuse_sources(sources: Sequence[Source], compared: ComparedRange) -> None:
    """Raise `Invalid` for a source of which no range can be read again."""
    for one in sources:
        if one.connector not in {"files", "delta"}:
            raise Invalid.of(
                "COMPARE_SOURCE", f"{one.name} stands over {one.connector}, and COMPARE reads files and Delta tables", path="/sql",
                old=one.connector, allowed="the new query beside this one, as a source of another name, and SELECT … FROM TABLE of both",
            )  # fmt: skip
        if one.connector == "delta" and compared.start != EARLIEST:
            raise Invalid.of(
                "COMPARE_RANGE", f"{one.name} is a Delta table, which COMPARE reads as it was at a time, and not from one", path="/sql",
                new=compared.start, allowed="COMPARE FROM earliest TO 'time'",
            )  # fmt: skip


def _key_of(kind: str, columns: Source | PlannedSource, plan: QueryPlan) -> tuple[str, ...]:
    """The columns by which rows take the place of others, as a runner writes them."""
    if kind == STREAM and plan.output_mode != "update":
        return ()
    return tuple(one.name for one in columns.columns if one.role == "key")


def _open_session(spark: SparkSession, plan: QueryPlan) -> SparkSession:
    session = spark.newSession()
    for setting, value in (*plan.settings, *RESTRICTED.items()):
        session.conf.set(setting, value)
    return session


def _run_body(
    session: SparkSession, plan: QueryPlan, recorded: dict[str, RecordedSource], key: tuple[str, ...]
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


def _find_version(session: SparkSession, folder: str, end: str) -> tuple[int, str]:
    """The version of a Delta table at the end of a range, and its words. Raises `Invalid` where there was none."""
    table = delta.name(session, LakeTable(folder))
    forbidden = session.conf.get("spark.sql.runSQLOnFiles")
    session.conf.set("spark.sql.runSQLOnFiles", "true")  # for this statement of Treaty's own
    try:
        history = session.sql(f"DESCRIBE HISTORY {table}")
        if end != LATEST:
            moment = datetime.fromisoformat(end).astimezone(UTC)
            history = history.where(f"timestamp < TIMESTAMP {print_text(moment.isoformat())}")
        newest = history.agg(F.max("version")).collect()[0][0]
    finally:
        session.conf.set("spark.sql.runSQLOnFiles", forbidden or "false")
    if newest is None:
        raise Invalid.of(
            "COMPARE_RANGE", f"the table at {folder} had no version before {end}", path="/sql", new=end, allowed="TO latest"
        )  # fmt: skip
    return int(newest), f"version {newest} of the Delta table"


@contextmanager
def _limit_time(spark: SparkSession, seconds: float, name: str) -> Iterator[None]:
    """Give the jobs of the block up after some seconds. Raises `Invalid` then, and for what Spark, a plan or a source has to say."""
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
        yield
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
