"""Tests carried out as batches: the rows that are given are the sources of a body, and what comes out is compared."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from treaty.core.column_types.tokens import print_name
from treaty.core.sources import SourceColumn
from treaty.metastore.sql.statements import CreateSourceStatement
from treaty.spark.planner.bodies import BodyPlanner, open_session, parse_body
from treaty.spark.planner.pseudo_columns import add_pseudo_columns, list_words
from treaty.spark.planner.questions import BodyPlan, BodyRefusedError, QueryBody, ReadableSource
from treaty.spark.sql_tests.declared import DeclaredSources
from treaty.spark.sql_tests.differences import list_differences
from treaty.spark.sql_tests.files import CaseFolder, CaseRows, InvalidCaseError, SqlCase
from treaty.spark.sql_tests.streams import StreamBatches, run_stream
from treaty.spark.stream_words import blank_streams

PLACE = "_treaty_place"
_ONE_PARTITION = ("spark.sql.shuffle.partitions", "1")
"""Rows of a test are few: each partition of a runner would be a task and a store of its own in each batch."""
SourceLookup = Callable[[str], ReadableSource | None]
"""Finds a source by its name; None where there is none."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a test came to: its differences, none where it passed; why it could not be carried out; and its seconds."""

    name: str
    differences: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0

    @property
    def has_passed(self) -> bool:
        """Whether rows are as expected."""
        return not self.differences and not self.error


class CaseRunner:
    """Carries out the tests of a folder in one session. `find_source` finds sources that the folder does not create, in a registry."""

    def __init__(
        self, spark: SparkSession, folder: CaseFolder, views: Path, find_source: SourceLookup = lambda _name: None
    ) -> None:
        """Take a session; empty tables for the planner are made below `views`."""
        self._planner = BodyPlanner(spark, views)
        self._views = views
        self._unread: set[str] = set()
        self._spark = open_session(spark)
        self._spark.conf.set(*_ONE_PARTITION)
        self._statements = folder.statements
        self._find_source = find_source
        self._declared = DeclaredSources(folder)
        self._sources: dict[str, ReadableSource] = {}
        self._plans: dict[str, BodyPlan] = {}

    def run(self, case: SqlCase) -> CaseResult:
        """Return what a test came to; errors of it are part of that."""
        start = time.monotonic()
        differences: list[str] = []
        error = ""
        try:
            given_rows: dict[str, list[CaseRows]] = {}
            for rows in case.given:
                given_rows.setdefault(rows.source.lower(), []).append(rows)
            self._unread = set(given_rows)
            for expected in case.expected:
                differences += [f"{expected.source}: {one}" for one in self._compare(expected, given_rows)]
            if self._unread:
                name = given_rows[min(self._unread)][0]
                error = f"line {name.line}: {name.source} is given, and no query that is expected reads it"
        except (
            InvalidCaseError,
            BodyRefusedError,
            PySparkException,
            Py4JJavaError,
            ValueError,
            OverflowError,
        ) as failure:
            thrown = failure.java_exception if isinstance(failure, Py4JJavaError) else failure
            error = next(iter(str(thrown).strip().split("\n")), "") or type(failure).__name__
            if isinstance(failure, BodyRefusedError) and failure.hint:
                error = f"{error}; {failure.hint}"
        return CaseResult(case.name, tuple(differences), error, time.monotonic() - start)

    def _compare(self, expected_rows: CaseRows, given_rows: Mapping[str, Sequence[CaseRows]]) -> list[str]:
        source = self._find(expected_rows.source)
        if source.name.lower() not in self._statements:
            raise InvalidCaseError(
                f"line {expected_rows.line}: no file of this folder creates {source.name}, so no query of it is tested"
            )
        columns = expected_rows.columns or tuple(one.name for one in source.columns)
        names = [print_name(one) for one in columns]
        expected = self._read_rows(replace(expected_rows, columns=columns), source).select(*names)
        came = (
            self._stream(source, given_rows)
            if expected_rows.is_streaming
            else self._frame(source.name, given_rows, is_asked=True)
        )
        came = came.select(*names)
        rows = [[tuple(row) for row in frame.collect()] for frame in (expected, came)]
        return list_differences(columns, rows[0], rows[1], ordered=expected_rows.is_ordered)

    def _find(self, name: str) -> ReadableSource:
        """A source as a body may read it. Raises `InvalidCaseError` for one that is not there, or has no columns."""
        key = name.lower()
        if key not in self._sources:
            self._sources[key] = self._describe(key, name)
        return self._sources[key]

    def _describe(self, key: str, name: str) -> ReadableSource:
        statement = self._statements.get(key)
        if statement is None:
            source = self._declared.find(name) or self._find_source(name)
            if source is None:
                raise InvalidCaseError(
                    f"there is no stream or table {name}: create it in a file of this folder, lock it with `treaty lock`, or give --registry"
                )
            return replace(source, generation=len(self._sources) + 1, is_joinable=True)
        columns = self._columns(statement)
        if not columns:
            source = self._find_source(name)
            if source is None:
                raise InvalidCaseError(
                    f"{name} has no columns in its statement: write them, lock them with `treaty lock`, or give --registry where it is"
                )
            columns = source.columns
        deduplicate = tuple(
            filter(None, (one.strip().strip("`") for one in statement.property("DEDUPLICATE").split(",")))
        )
        kind = statement.kind or "STREAM"
        return ReadableSource(
            statement.name,
            kind,
            len(self._sources) + 1,
            columns,
            statement.property("WATERMARK"),
            deduplicate,
            is_joinable=True,
            has_records=not statement.body,
        )

    def _columns(self, statement: CreateSourceStatement) -> tuple[SourceColumn, ...]:
        if statement.body:
            return self._plan(statement).columns
        return self._declared.list_columns(statement)

    def _plan(self, statement: CreateSourceStatement) -> BodyPlan:
        key = statement.name.lower()
        if key not in self._plans:
            names = self._planner.list_reads(statement.body)
            sources = tuple(self._find(name) for name in names)
            own = tuple(one.name for one in statement.columns if one.role == "key")
            unbounded = statement.property("ALLOW_UNBOUNDED_STATE") == "true"
            self._plans[key] = self._planner.plan(
                QueryBody(
                    statement.name, statement.kind or "STREAM", statement.body, sources, own, statement.final, unbounded
                )
            )
        return self._plans[key]

    def _frame(
        self,
        name: str,
        given_rows: Mapping[str, Sequence[CaseRows]],
        *,
        is_asked: bool = False,
        words: Collection[str] = (),
    ) -> DataFrame:
        """The rows of a source: those that are given, else those of its query, else none."""
        source = self._find(name)
        statement = self._statements.get(name.lower())
        if name.lower() in given_rows and not (is_asked and statement is not None and statement.body):
            self._unread.discard(name.lower())
            frames = [self._read_rows(one, source, words) for one in given_rows[name.lower()]]
            return self._settle(reduce(DataFrame.union, frames), source)
        if statement is None or not statement.body:
            return self._read_rows(CaseRows(source.name, (), "", 0), source, words)
        plan = self._plan(statement)
        for read in plan.plan.reads:
            frame = self._frame(read.source, given_rows, words=list_words(statement.body))
            frame.createOrReplaceTempView(print_name(read.spelling))
        frame = self._spark.sql(blank_streams(self._spark, statement.body))
        return self._settle(frame, replace(source, deduplicate=())) if plan.plan.output_mode == "append" else frame

    def _stream(self, source: ReadableSource, given_rows: Mapping[str, Sequence[CaseRows]]) -> DataFrame:
        """The rows of a query that is carried out as a stream. Raises `InvalidCaseError` for what has no query."""
        statement = self._statements.get(source.name.lower())
        if statement is None or not statement.body:
            raise InvalidCaseError(f"{source.name} has no query that could run as a stream: EXPECT {source.name}")
        plan = self._plan(statement)
        words = list_words(statement.body)
        streams: dict[str, StreamBatches] = {}
        for read in plan.plan.reads:
            upstream = self._find(read.source)
            if upstream.kind != "STREAM":
                self._frame(read.source, given_rows, words=words).createOrReplaceTempView(print_name(read.spelling))
                continue
            listed = [{read.source.lower(): [one]} for one in given_rows.get(read.source.lower(), ())]
            bare = replace(upstream, deduplicate=())
            self._sources[read.source.lower()] = bare  # the stream deduplicates, and not each of its batches
            try:
                batches = [self._frame(read.source, {**given_rows, **batch}, words=words) for batch in listed or [{}]]
            finally:
                self._sources[read.source.lower()] = upstream
            streams[read.spelling] = StreamBatches(upstream, batches)
        if not streams:
            raise InvalidCaseError(f"{source.name} reads no stream: EXPECT {source.name} without STREAM")
        with TemporaryDirectory(dir=self._views) as folder:
            return run_stream(self._spark, plan, streams, Path(folder), source.kind)

    def _settle(self, frame: DataFrame, source: ReadableSource) -> DataFrame:
        """The rows without those that DEDUPLICATE takes away; of a table the last one of each key."""
        if source.deduplicate:
            return frame.dropDuplicates(list(source.deduplicate))
        key = [print_name(one.name) for one in source.columns if one.role == "key"]
        if source.kind == "STREAM" or not key:
            return frame
        placed = frame.withColumn(PLACE, F.monotonically_increasing_id())
        newest = F.row_number().over(Window.partitionBy(*key).orderBy(F.col(PLACE).desc()))
        return placed.withColumn(PLACE, newest).where(F.col(PLACE) == 1).drop(PLACE)

    def _read_rows(self, rows: CaseRows, source: ReadableSource, words: Collection[str] = ()) -> DataFrame:
        """Rows of a test as a frame with the columns of their source; columns that they leave out are null.

        Pseudo-columns that are among `words`, or that the rows give, come after them.
        """
        all_names = rows.columns or tuple(one.name for one in source.columns)
        source = add_pseudo_columns(source, {*words, *(one.lower() for one in rows.columns)})
        types = {one.name.lower(): one for one in source.columns}
        names = all_names
        for name in names:
            if name.lower() not in types:
                raise InvalidCaseError(f"line {rows.line}: {source.name} has no column {name}")
        twice = [name for name in names if [one.lower() for one in names].count(name.lower()) > 1]
        if twice:
            raise InvalidCaseError(f"line {rows.line}: the column {twice[0]} is named twice")
        if not rows.rows:
            ddl = ", ".join(f"{print_name(one.name)} {one.type}" for one in source.columns)
            return self._spark.createDataFrame([], ddl)
        listed = ", ".join(map(print_name, names))
        text = f"SELECT * FROM VALUES {rows.rows} AS rows({listed})"  # noqa: S608 (the rows of a test are SQL, which is checked)
        parse_body(self._spark, text)
        column_names = {name.lower() for name in names}
        cast = [
            f"CAST({print_name(column.name) if column.name.lower() in column_names else 'NULL'} AS {column.type}) AS {print_name(column.name)}"
            for column in source.columns
        ]
        return self._spark.sql(f"SELECT {', '.join(cast)} FROM ({text})")  # noqa: S608
