"""A body planned from the rows of its sources: checked as parsed, checked as analyzed, and all that a runner has to know of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from treaty.core.column_types import lower_name
from treaty.core.column_types.leaf_paths import parse_path
from treaty.core.column_types.tokens import print_name, split_tokens
from treaty.core.limits import PLANNER_BODY_BYTES
from treaty.core.schema import Pairs
from treaty.core.sources import CHANGES, QueryPlan, SourceRead, StateFingerprint
from treaty.spark.jvm_start import find_class
from treaty.spark.planner.analyzed_check import check_analyzed, check_shape, list_views
from treaty.spark.planner.errors import is_about_body, refuse, refuse_fault
from treaty.spark.planner.fingerprints import fingerprint, select_stateful
from treaty.spark.planner.leaf_columns import find_leaf_columns, find_never_null
from treaty.spark.planner.output import read_output, refuse_bad_keys
from treaty.spark.planner.parsed_check import check_parsed, list_relations, refuse_foreign_forms
from treaty.spark.planner.pseudo_columns import PSEUDO, add_pseudo_columns, list_words
from treaty.spark.planner.questions import BodyPlan, BodyRefusedError, QueryBody, ReadableSource
from treaty.spark.planner.result_modes import choose_mode
from treaty.spark.planner.settings import PINNED, PRINTED, RESTRICTED
from treaty.spark.planner.state_parts import list_state_parts
from treaty.spark.planner.stream_checks import StreamChecks
from treaty.spark.planner.trees import TreeNode, read_analyzed, read_tree
from treaty.spark.planner.views import STREAM, keep_columns, make_views, refuse_bad_watermark
from treaty.spark.stream_words import blank_streams


class BodyPlanner:
    """Plans bodies in sessions of its own of a Spark that runs; Nothing is read, written or started."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        """Take a session; the folders of empty tables are made below `root`."""
        self._root = root
        self._streams = open_session(spark)
        self._batches = open_session(spark)
        self._engine = f"spark {spark.version}"
        self._latest: tuple[str, TreeNode] | None = None

    def list_reads(self, body: str) -> tuple[str, ...]:
        """Return the names that a body reads, each once. Raises `BodyRefusedError`."""
        with _activate(self._streams), _translate_errors(body):
            return _list_names(self._parse(body), body)

    def _parse(self, body: str) -> TreeNode:
        """Return the parsed plan of a body; of the latest one it is kept, as who plans it asks for its names first."""
        if self._latest is None or self._latest[0] != body:
            self._latest = (body, parse_body(self._streams, body))
        return self._latest[1]

    def plan(self, query: QueryBody) -> BodyPlan:
        """Return the plan of a body. Raises `BodyRefusedError`."""
        with _activate(self._streams), _translate_errors(query.text):
            return self._plan(query)

    def _plan(self, query: QueryBody) -> BodyPlan:
        parsed = self._parse(query.text)
        sources = _select_sources(query, _list_names(parsed, query.text))
        words = list_words(query.text)
        query = replace(query, sources=tuple(add_pseudo_columns(one, words) for one in sources))
        _refuse_streams_of_tables(parsed, query)
        for source in query.sources:
            refuse_bad_watermark(source)
        with _views(self._streams, query, self._root):
            frame = self._streams.sql(query.text)
            checks = StreamChecks.of(self._streams, frame)
            check_analyzed(checks.tree, split_tokens(query.text))
            columns = read_output(frame.schema.json())
            views = [name for name, _ in list_views(read_analyzed(frame))]
            check_shape(checks.tree, query)
            mode = choose_mode(checks, query, tuple(one.name for one in columns))
            key = {name.lower() for name in mode.key}
            refuse_bad_keys(column for column in columns if column.name.lower() in key)
        leaves, never_null = self._find_leaves(query)
        columns = tuple(
            replace(column, nullable=column.nullable and column.name not in never_null) for column in columns
        )
        state, parts = self._find_state(query, leaves)
        reads = _with_places(
            [_read(query, source.name, leaves, is_table=mode.is_table) for source in query.sources], views
        )
        plan = QueryPlan(query.text, reads, mode.output, mode.key, state, PINNED, self._engine, parts)
        named = tuple(replace(column, role="key") if column.name.lower() in key else column for column in columns)
        return BodyPlan(plan, named, mode.notes)

    def _find_leaves(self, query: QueryBody) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
        """The leaf columns that the body needs, by source, and the columns that come out without a null."""
        with _activate(self._batches):
            body = blank_streams(self._batches, query.text)
            try:
                leaves = find_leaf_columns(self._batches, body, query.sources, self._root)
                return leaves, find_never_null(self._batches, body, query.sources)
            finally:
                _drop_views(self._batches, query)

    def _find_state(self, query: QueryBody, leaves: dict[str, tuple[str, ...]]) -> tuple[StateFingerprint, Pairs]:
        """The fingerprint of the body over the columns alone that it needs, and the parts of the state in words."""
        needed = {name: {parse_path(path)[0].lower() for path in paths} for name, paths in leaves.items()}
        try:
            return self._digest_state(replace(query, sources=keep_columns(query.sources, needed)))
        except PySparkException:  # the body names a column that it does not need: SELECT * EXCEPT (column)
            words = list_words(query.text)
            return self._digest_state(replace(query, sources=keep_columns(query.sources, needed, words)))

    def _digest_state(self, query: QueryBody) -> tuple[StateFingerprint, Pairs]:
        with _views(self._streams, query, self._root):
            analyzed = self._streams.sql(query.text)._jdf.queryExecution().analyzed()  # noqa: SLF001
            optimizer = self._streams._jsparkSession.sessionState().optimizer()  # noqa: SLF001
            optimized, root = optimizer.execute(analyzed), str(self._root)
            stateful = select_stateful(optimized)
            parts = () if stateful is None else list_state_parts(stateful, root)
            return fingerprint(analyzed, optimized, root), parts


def open_session(spark: SparkSession) -> SparkSession:
    """Return a session with the pinned and restricted settings, and without the views of any other."""
    opened = spark.newSession()
    for name, value in (*PINNED, *RESTRICTED.items(), *PRINTED.items()):
        opened.conf.set(name, value)
    return opened


def parse_body(spark: SparkSession, body: str) -> TreeNode:
    """Return the parsed plan of a body that passes the check, before any name is looked up. Raises `BodyRefusedError`."""
    if len(body.encode()) > PLANNER_BODY_BYTES:
        message = f"the query has {len(body.encode()):,} bytes, and at most {PLANNER_BODY_BYTES:,} are planned (PLANNER_BODY_BYTES)"
        raise BodyRefusedError("BODY_TOO_LARGE", message, "several queries, each reading the one before")
    tokens = split_tokens(body)
    refuse_foreign_forms(tokens)
    tree = read_tree(_parser(spark).parseQuery(body).toJSON())
    check_parsed(tree, tokens)
    return tree


def _parser(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001 (pyspark has no other way to the parser)


@contextmanager
def _activate(spark: SparkSession) -> Iterator[None]:
    """Let the settings of a session hold for what this thread asks the JVM: those that printing and optimizing look at, too."""
    sessions = find_class(spark, "org.apache.spark.sql.classic.SparkSession")
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)  # noqa: SLF001
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


@contextmanager
def _translate_errors(body: str) -> Iterator[None]:
    try:
        yield
    except PySparkException as error:
        raise refuse(error, body) from error
    except Py4JJavaError as error:
        if is_about_body(error):
            raise refuse_fault(error) from error
        if "StackOverflowError" not in str(error.java_exception.getClass().getName()):
            raise
        message = "the query nests deeper than the planner's stack"
        raise BodyRefusedError(
            "BODY_TOO_LARGE", message, "fewer parentheses, subqueries and calls in each other"
        ) from error


@contextmanager
def _views(spark: SparkSession, query: QueryBody, root: Path) -> Iterator[None]:
    make_views(spark, query.sources, root)
    try:
        yield
    finally:
        _drop_views(spark, query)


def _drop_views(spark: SparkSession, query: QueryBody) -> None:
    for source in query.sources:
        spark.catalog.dropTempView(print_name(source.name))


def _list_names(tree: TreeNode, body: str) -> tuple[str, ...]:
    """The names of the sources of a parsed body, in the order in which the text has them."""
    words = list_words(body)
    places = {word: place for place, word in reversed([*enumerate(words)])}
    return tuple(
        sorted(list_relations(tree, split_tokens(body)), key=lambda name: places.get(name.lower(), len(words)))
    )


def _select_sources(query: QueryBody, names: tuple[str, ...]) -> tuple[ReadableSource, ...]:
    """The sources that a body names; raises `BodyRefusedError` for one that is not there."""
    sources = {source.name.lower(): source for source in query.sources}
    for name in names:
        if name.lower() not in sources:
            words = [token for token in split_tokens(query.text) if token.text.strip("`").lower() == name.lower()]
            place = (words[0].start, words[0].end) if words else (-1, -1)
            raise BodyRefusedError(
                "READ_NOT_FOUND",
                f"there is no stream or table {name}",
                "SHOW STREAMS and SHOW TABLES list them",
                *place,
            )
    return tuple(sources[name.lower()] for name in names)


def _refuse_streams_of_tables(tree: TreeNode, query: QueryBody) -> None:
    tables = {one.name.lower(): one.name for one in query.sources if one.kind != STREAM}
    for node in tree.walk():
        if node.kind == "UnresolvedRelation" and node.members.get("isStreaming"):
            name = str(node.members["multipartIdentifier"])[1:-1]
            if name.lower() in tables:
                raise BodyRefusedError(
                    "STREAM_OF_TABLE",
                    f"{name} is a table: read alone its changes come, and beside a stream its newest rows",
                    f"{name} without STREAM",
                )


def _with_places(reads: Sequence[SourceRead], views: Sequence[str]) -> tuple[SourceRead, ...]:
    """Return reads with the places that their offsets have in a checkpoint; `views` are those of the analyzed plan, in its order.

    What WITH defines is there once, however often it is used.
    """
    names = {read.spelling.lower() for read in reads if read.mode == CHANGES}
    followed = [view for view in views if view in names]
    return tuple(
        replace(read, places=tuple(place for place, view in enumerate(followed) if view == read.spelling.lower()))
        for read in reads
    )


def _read(query: QueryBody, name: str, leaves: dict[str, tuple[str, ...]], *, is_table: bool) -> SourceRead:
    source = next(one for one in query.sources if one.name == name)
    mode = "changes" if source.kind == STREAM or is_table else "table"
    pseudo = {
        lower_name(column.name) for column in source.columns if column.role == PSEUDO
    }  # no change of a source takes these away
    columns = tuple(path for path in leaves[name.lower()] if lower_name(parse_path(path)[0]) not in pseudo)
    return SourceRead(
        source.name, source.generation, source.name, mode, columns, source.key, source.value, source.revision
    )
