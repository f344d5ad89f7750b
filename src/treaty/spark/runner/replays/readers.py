"""The queries that read a source: which can take rows that come late, and their bodies over such rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from treaty.core.column_types.tokens import print_name
from treaty.core.registry import Registry
from treaty.core.sources import CHANGES, Source, SourceRead
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.bad_rows import first_generation
from treaty.spark.lake.table import make_empty_frame
from treaty.spark.planner.pseudo_columns import list_pseudo_columns, list_words
from treaty.spark.planner.settings import RESTRICTED
from treaty.spark.planner.views import STREAM
from treaty.spark.runner.checkpoint_files import CheckpointFiles, find_checkpoint_root
from treaty.spark.runner.decode_ledger import ABSENT, DecodeLedger
from treaty.spark.runner.once import list_queries
from treaty.spark.runner.query_start import QueryStarter, key_of, place_of
from treaty.spark.runner.replays.row_places import QueryReadRange
from treaty.spark.runner.source_frames import SourceOpener, expand_columns
from treaty.spark.runner.takeovers import list_streams
from treaty.spark.stream_words import blank_streams

SUPPORTED = ("delta", "kafka")
REPLAYS = 1_000_000
"""Replays of one stream of bad rows whose batches in a topic have numbers of their own."""


@dataclass(frozen=True, slots=True)
class QueryReader:
    """A query that follows a source, with what it has read of it. `refusal` says why rows can't be appended late, and `remedy` what is to be done."""

    source: Source
    read: SourceRead
    read_range: QueryReadRange
    refusal: str = ""
    remedy: str = ""

    @property
    def place(self) -> str:
        """The name of its checkpoint among those of all queries."""
        return place_of(self.source)


def list_readers(starter: QueryStarter, source: Source) -> list[QueryReader]:
    """Return the queries that follow the rows of a source, by name."""
    followers: list[QueryReader] = []
    for query in sorted(list_queries(starter.registry), key=lambda one: one.name):
        if query.query is None:
            continue
        for read in query.query.plan.reads:
            if key_of_name(read.source) == key_of_name(source.name) and read.mode == CHANGES:
                refusal, remedy = explain_refusal(query, source)
                read_range = _find_range(starter, query, source)
                followers.append(QueryReader(query, read, read_range, refusal, remedy))
                break
    return followers


def explain_refusal(query: Source, source: Source) -> tuple[str, str]:
    """Return why a query can't take rows of a source late, and the remedy; empty texts where it can."""
    assert query.query is not None, "what has no query reads nothing"
    plan, name = query.query.plan, print_name(query.name)
    remedy = f"REFRESH {name} FULL" if query.connector == "delta" else f"RESET CHECKPOINT {name} KEEP DATA"
    if plan.fingerprint.plan or plan.output_mode != "append":
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in plan.state)) or "state"
        reason = f"it keeps state ({kinds}): results that are written already would be others with these rows"
        return f"{query.name} can't be appended to, for {reason}", remedy
    if key_of(query) or source.kind != STREAM:
        reason = "it has the newest row of each key, and these rows may be older than those that are there"
        return f"{query.name} can't be appended to, for {reason}", remedy
    if query.connector not in SUPPORTED:
        return (
            f"{query.name} is an {query.connector.capitalize()} table, and replays append to topics and Delta tables: a query of another name with CONNECTOR = 'delta'",
            "",
        )
    return "", ""


def _find_range(starter: QueryStarter, query: Source, source: Source) -> QueryReadRange:
    root = find_checkpoint_root(query, starter.checkpoints)
    ledger = DecodeLedger(CheckpointFiles(starter.spark, root), place_of(query))
    assert query.query is not None, "a reader is a query"
    streams = list_streams(starter.open_result(query), query.query.plan)
    at = [key_of_name(stream.source) for stream in streams].index(key_of_name(source.name))
    log = f"{root}/{ledger.place}/sources/{streams[at].folder}"
    end = ledger.find_end()  # before the entries: one that comes meanwhile holds for later rows alone
    entries = [one for one in ledger.list() if at >= len(one.offsets) or one.offsets[at] != ABSENT]
    former = (f"{first_generation(query)}/{one}" for one in ledger.read_former().places)
    return QueryReadRange(entries, end, at, log, (*former, ledger.place))


def run_body(starter: QueryStarter, reader: QueryReader, rows: DataFrame, session: SparkSession) -> DataFrame:
    """Return the result of a query over rows of the source that it follows: beside them other streams are empty, and tables are as they are now.

    `rows` are of `session`, which is used up: it has the settings and views of the query afterwards.
    """
    query = reader.source.query
    assert query is not None, "a reader is a query"
    for setting, value in (*query.plan.settings, *RESTRICTED.items()):
        session.conf.set(setting, value)
    words = list_words(query.plan.body)
    for read in query.plan.reads:
        upstream = starter.find_upstream(reader.source, read)
        view = print_name(read.spelling or upstream.name)
        if read.source == reader.read.source:
            rows.createOrReplaceTempView(view)
        elif read.mode == CHANGES:
            _make_empty(session, starter.registry, upstream, words).createOrReplaceTempView(view)
        else:
            opener = SourceOpener(session, starter.registry, starter.root, True, starter.clusters)
            columns = expand_columns(starter.registry, upstream)
            opener.open(upstream, streaming=False, columns=columns, words=words).createOrReplaceTempView(view)
    return session.sql(blank_streams(session, query.plan.body))


def _make_empty(session: SparkSession, registry: Registry, source: Source, words: Sequence[str]) -> DataFrame:
    columns = (*expand_columns(registry, source), *list_pseudo_columns(source.columns, words))
    ddl = ", ".join(f"{print_name(one.name)} {one.type}" for one in columns)
    return make_empty_frame(session, ddl)


def append_result(
    starter: QueryStarter, reader: QueryReader, result: DataFrame, place: str, *, bad: Source, number: int
) -> None:
    """Append the result of a replay of bad rows: to a table once, whatever comes twice; to a topic at least once, as `name_batch` says.

    `place` is the checkpoint for which it was decided, of this query or of one before it.
    """
    sink = starter.open_sink(reader.source, result, (), f"treaty-{place}-replay-{first_generation(bad)}")
    sink.write(result, number if reader.source.connector == "delta" else name_batch(first_generation(bad), number))


def check_result(starter: QueryStarter, reader: QueryReader, result: DataFrame) -> None:
    """Compute and encode the result of a replay as `append_result` does, and write nothing. Raises errors of Spark where a row fails."""
    starter.open_sink(reader.source, result, ()).check(result)


def name_batch(generation: int, number: int) -> int:
    """Return the number of a batch that a replay writes into a topic: below 0, and another one for each stream of bad rows.

    Of two batches with one number a consumer keeps the one with the highest attempt, and a query may read two sources with bad rows.
    """
    return -(generation * REPLAYS + number)
