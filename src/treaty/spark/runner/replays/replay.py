"""The bad rows of a source decoded again: what is good now is appended to what each query fills that left it out, exactly once.

A replay is a number. First it is kept how the rows are decoded, then, in one commit, what becomes of each row (its *result*), then the rows
are appended, by the number. Whatever is killed, the next replay completes it from there, with the same rows. Rows of bad rows are never changed.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from treaty.core.column_types.tokens import print_name
from treaty.core.sources import Source
from treaty.metastore.bad_rows import RESULTS, find_origin
from treaty.plan.rows import AT, PASSED, REPLAY, ROW_ID, BadRowFilter
from treaty.plan.value import DecodePlan
from treaty.spark.lake import delta
from treaty.spark.lake.ddl import print_text
from treaty.spark.lake.table import LakeTable, WriteId, make_empty_frame
from treaty.spark.pipelines.replay_lock import lock_replays
from treaty.spark.planner.pseudo_columns import list_pseudo_columns, list_words
from treaty.spark.planner.settings import PINNED
from treaty.spark.runner.decode_ledger import SourceDecoding, describe_decoding, parse_decoding
from treaty.spark.runner.query_start import QueryStarter
from treaty.spark.runner.replays.readers import QueryReader, append_result, check_result, list_readers, run_body
from treaty.spark.runner.replays.replay_log import ReplayLog
from treaty.spark.runner.replays.row_places import BEFORE, ENTRY, UNREAD, locate_rows
from treaty.spark.runner.replays.row_trials import RowGroup, find_failed_rows
from treaty.spark.runner.row_order import WHY, RecordFrame
from treaty.spark.runner.service.failures import is_of_rows
from treaty.spark.runner.source_frames import BAD, SourceOpener, expand_columns

READER, PLACE, OUTCOME = "reader", "place", "outcome"
BAD_STILL, GOOD, APPENDED, HAD, EARLIER, WAITS, REFUSED, FAILS = (
    "bad", "good", "appended", "had", "before", "unread", "refused", "fails",
)  # fmt: skip
"""What becomes of a row: it is bad still, or good; and for a query: it is appended, was read as a good one, stands before what the query reads,
will be read, can't be appended, or the query fails on it."""
CODES = {WAITS: "NOT_READ", REFUSED: "NEEDS_REFRESH", FAILS: "QUERY_FAILS"}
"""Codes of the results for which a row stays open though it can be decoded."""
RESULT_COLUMNS = (ROW_ID, READER, PLACE, OUTCOME, PASSED, "code", "message")
WRITER = "treaty-replay"


@dataclass(frozen=True, slots=True)
class ResultCount:
    """Rows with one result: the query, empty for the decoding itself, what became of them, and the code and a message of those that stay open."""

    reader: str
    outcome: str
    code: str
    rows: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class SourceReplay:
    """A replay that is over, or what it would do: its number, the stream of bad rows, and how many rows had which result."""

    number: int
    name: str
    counts: tuple[ResultCount, ...] = ()
    remedies: tuple[tuple[str, str], ...] = ()
    """By query that can't be appended to, the statement that helps."""

    def count(self, outcome: str, reader: str = "") -> int:
        """Return the rows with a result."""
        return sum(one.rows for one in self.counts if one.outcome == outcome and one.reader == reader)

    @property
    def left(self) -> int:
        """Rows that are bad still, or that some query lacks, each query by itself."""
        return sum(one.rows for one in self.counts if one.outcome in {BAD_STILL, *CODES})


@dataclass(frozen=True, slots=True)
class BadRowReplayer:
    """Replays the rows of one stream of bad rows. `on_step` gets what is done, in words."""

    starter: QueryStarter
    bad: Source
    on_step: Callable[[str], None] = lambda _: None

    def run(self, row_filter: BadRowFilter, *, dry_run: bool = False) -> list[SourceReplay]:
        """Complete replays that were cut short, then decode the rows that are meant and still open; with `dry_run` nothing is written.

        Raises `ReplayRunsError` while another one runs, `PlanError`, `SourceNotRunnableError`, and errors of Spark and the registry.
        """
        if dry_run:
            return [self._count(0, self._decide(row_filter, self._decode_now()))]
        with lock_replays(self._log.folder, self.bad.name):
            replays = [self._finish(number) for number in self._log.list_unfinished() if self._is_decided(number)]
            number = self._find_number()
            decoding = self._decode_now()
            self._log.begin(number, decoding)
            self.on_step("decoding")
            results = self._decide(row_filter, decoding)
            results.write.mode("overwrite").parquet(self._draft(number))
            if not self._read_draft(number).head(1):
                self._log.forget(number)
                shutil.rmtree(self._draft(number), ignore_errors=True)
                return replays or [SourceReplay(0, self.bad.name)]
            self._write_results(number, decoding)
            return [*replays, self._finish(number)]

    # ------------------------------------------------------------------------------------------------------------ decisions

    def _decide(self, row_filter: BadRowFilter, decoding: str) -> DataFrame:
        """The results of the rows that are meant and open, before the queries are tried."""
        source = self._source
        readers = list_readers(self.starter, source)
        rows = self._open_rows(row_filter, readers)
        decided = self._check_rows(rows, parse_decoding(decoding, source)).select(
            ROW_ID, F.col(BAD).alias("code"), F.col(WHY)["message"].alias("message")
        )
        outcome = F.when(F.col("code").isNull(), GOOD).otherwise(BAD_STILL)
        own = decided.select(
            ROW_ID, F.lit("").alias(READER), F.lit("").alias(PLACE), outcome.alias(OUTCOME),
            F.col("code").isNull().alias(PASSED), "code", "message",
        )  # fmt: skip
        good = rows.join(decided.where(F.col("code").isNull()).select(ROW_ID), ROW_ID)
        parts = [self._decide_for(reader, good) for reader in readers]
        return reduce(DataFrame.unionByName, parts, own)

    def _decide_for(self, reader: QueryReader, good: DataFrame) -> DataFrame:
        """The results of good rows for one query: what its plan of that time says decides whether it has left a row out."""
        passed = self._read_results(good.sparkSession).where(_has_passed(reader))
        waiting = good.join(passed.select(ROW_ID), ROW_ID, "left_anti")
        located = locate_rows(waiting, self._source, reader.read_range)
        lacking = REFUSED if reader.refusal else APPENDED
        outcome = F.when(F.col(ENTRY) == UNREAD, WAITS).when(F.col(ENTRY) == BEFORE, EARLIER).otherwise(HAD)
        results = located.select(ROW_ID, outcome.alias(OUTCOME), ENTRY)
        left_out = self._list_left_out(reader, located)
        if left_out is not None:
            results = results.join(left_out.withColumn("_left", F.lit(True)), ROW_ID, "left")
            results = results.withColumn(OUTCOME, F.when(F.col("_left"), lacking).otherwise(F.col(OUTCOME)))
        waits = f"{reader.source.name} has not come to it, and reads it by itself"
        message = F.when(F.col(OUTCOME) == WAITS, waits).when(F.col(OUTCOME) == REFUSED, reader.refusal)
        code = reduce(
            lambda so_far, one: so_far.when(F.col(OUTCOME) == one, CODES[one]), CODES, F.when(F.lit(False), "")
        )
        return results.select(
            ROW_ID, F.lit(reader.source.name).alias(READER), F.lit(reader.place).alias(PLACE), OUTCOME,
            (~F.col(OUTCOME).isin([*CODES])).alias(PASSED), code.alias("code"), message.alias("message"),
        )  # fmt: skip

    def _list_left_out(self, reader: QueryReader, located: DataFrame) -> DataFrame | None:
        """The names of the rows that were bad by the plan with which a query has read them; None where it has read none."""
        used = [row[0] for row in located.select(ENTRY).where(F.col(ENTRY) >= 0).distinct().collect()]
        parts: list[DataFrame] = []
        for at in used:
            decoding = reader.read_range.entries[at].of(self._source)
            checked = self._check_rows(located.where(F.col(ENTRY) == at), decoding)
            parts.append(checked.where(F.col(BAD).isNotNull()).select(ROW_ID))
        return reduce(DataFrame.unionByName, parts) if parts else None

    # --------------------------------------------------------------------------------------------------------------- steps

    def _write_results(self, number: int, decoding: str) -> None:
        """Write what becomes of each row, in one commit. A query that fails on some of its rows, or whose topic does not take them, gets the others."""
        drafted = self._read_draft(number)
        for reader, place in self._list_appendable(drafted):
            self.on_step(f"trying {reader.source.name}")
            session = self.starter.spark.newSession()
            chosen = session.read.parquet(self._draft(number)).where(_is_appended(place))
            failed = self._find_failed(reader, chosen, decoding)
            if failed:
                cases = [(_is_appended(place) & one.rows, f"{reader.source.name}: {one.reason}") for one in failed]
                fails = reduce(or_, (rows for rows, _ in cases))
                message = reduce(lambda so_far, one: so_far.when(one[0], one[1]), cases, F.when(F.lit(False), ""))
                values = {"message": message, PASSED: F.lit(False), "code": F.lit(CODES[FAILS]), OUTCOME: F.lit(FAILS)}
                changed = {name: F.when(fails, value).otherwise(F.col(name)) for name, value in values.items()}
                drafted = drafted.withColumns(changed)
        stamped = drafted.withColumns({REPLAY: F.lit(number), AT: F.current_timestamp()})
        delta.append(stamped, LakeTable(self._results), WriteId(WRITER, number))

    def _find_failed(self, reader: QueryReader, chosen: DataFrame, decoding: str) -> Sequence[RowGroup]:
        """The chosen rows of a replay on which a query fails."""

        def run(rows: Column) -> None:
            part = chosen.where(rows)
            check_result(self.starter, reader, self._run_body(reader, part.sparkSession, part, decoding))

        return find_failed_rows(chosen, run)

    def _finish(self, number: int) -> SourceReplay:
        """Append what a replay has decided to append, and keep that it is over. Each step may be done again."""
        decoding = self._log.read(number)
        results = self._read_results(self.starter.spark).where(F.col(REPLAY) == number)
        for reader, place in self._list_appendable(results):
            self.on_step(f"appending to {reader.source.name}")
            self._append(number, reader, place, decoding)
        counted = self._count(number, self._read_results(self.starter.spark).where(F.col(REPLAY) == number))
        self._log.end(number)
        shutil.rmtree(self._draft(number), ignore_errors=True)
        return counted

    def _append(self, number: int, reader: QueryReader, place: str, decoding: str) -> None:
        """Append the rows of a replay for one query. What its topic does not take, as it has another schema by now, is left out first."""
        session = self.starter.spark.newSession()
        chosen = self._read_results(session).where(F.col(REPLAY) == number).where(_is_appended(place))
        result = self._run_body(reader, session, chosen, decoding)
        try:
            append_result(self.starter, reader, result, place, bad=self.bad, number=number)
        except (PySparkException, Py4JError) as error:
            failed = self._find_failed(reader, chosen, decoding) if is_of_rows(str(error)) else ()
            if not failed:
                raise
            self._mark_failed(number, place, {one.condition: f"{reader.source.name}: {one.reason}" for one in failed})
            self._append(number, reader, place, decoding)

    def _mark_failed(self, number: int, place: str, reasons: Mapping[str, str]) -> None:
        """Change the results of rows that were to be appended, by conditions that choose them: the query fails on them."""
        spark, table = self.starter.spark, LakeTable(self._results)
        cases = " ".join(f"WHEN {rows} THEN {print_text(reason)}" for rows, reason in reasons.items())
        chosen = f"{REPLAY} = {number} AND {PLACE} = {print_text(place)} AND {OUTCOME} = '{APPENDED}'"
        values = f"{PASSED} = false, code = '{CODES[FAILS]}', {OUTCOME} = '{FAILS}', message = CASE {cases} END"
        name, rows = delta.name(spark, table), f"{chosen} AND ({' OR '.join(reasons)})"
        spark.sql(f"UPDATE {name} SET {values} WHERE {rows}")  # noqa: S608 (texts are quoted)

    def _run_body(self, reader: QueryReader, session: SparkSession, chosen: DataFrame, decoding: str) -> DataFrame:
        assert reader.source.query is not None, "a reader is a query"
        rows = self._open_bad(session).join(chosen.select(ROW_ID), ROW_ID)
        source = self._source
        own = expand_columns(self.starter.registry, source)
        words = list_pseudo_columns(own, list_words(reader.source.query.plan.body))
        names = [print_name(column.name) for column in (*own, *words)]
        source_decoding = parse_decoding(decoding, source)
        records = self._read_records(rows, source_decoding)
        decoded_names = {column.name for column in source_decoding.columns}
        lacking = [
            F.lit(None).cast(column.type).alias(column.name) for column in own if column.name not in decoded_names
        ]
        pseudo = (records.pseudo[column.name].alias(column.name) for column in words)
        decoded = records.frame.select(*records.columns, *lacking, *pseudo, records.code.alias(BAD))
        return run_body(self.starter, reader, decoded.where(F.col(BAD).isNull()).select(*names), session)

    def _list_appendable(self, results: DataFrame) -> Iterator[tuple[QueryReader, str]]:
        """The queries that get rows, with the checkpoint for which it was decided: its own, or that of a query which it has replaced since, and
        whose table it continues. One that is gone meanwhile gets none.
        """
        places = {row[0] for row in results.where(F.col(OUTCOME) == APPENDED).select(PLACE).distinct().collect()}
        readers = list_readers(self.starter, self._source)
        return ((reader, place) for reader in readers for place in reader.read_range.places if place in places)

    # -------------------------------------------------------------------------------------------------------------- frames

    @property
    def _source(self) -> Source:
        """The source whose rows these are; it may get another name meanwhile, and another one its name."""
        return find_origin(self.starter.registry, self.bad)

    @property
    def _folder(self) -> str:
        return self.starter.find_folder(self.bad)

    @property
    def _results(self) -> str:
        return f"{self._folder}{RESULTS}"

    @property
    def _log(self) -> ReplayLog:
        return ReplayLog(self._folder)

    def _draft(self, number: int) -> str:
        return str(Path(self._log.folder / f"{number}.rows"))

    def _read_draft(self, number: int) -> DataFrame:
        return self.starter.spark.read.parquet(self._draft(number))

    def _find_number(self) -> int:
        """A number that no replay has, even where its files are lost."""
        last = self._read_results(self.starter.spark).agg(F.max(REPLAY)).collect()[0][0]
        return max(self._log.next_number(), (last or 0) + 1)

    def _is_decided(self, number: int) -> bool:
        """Whether the results of a replay that was cut short are written; if not, it is forgotten: it has done nothing."""
        decided = delta.has_written(self.starter.spark, LakeTable(self._results), WriteId(WRITER, number))
        if not decided:
            self._log.forget(number)
            shutil.rmtree(self._draft(number), ignore_errors=True)
        return decided

    def _open_bad(self, session: SparkSession) -> DataFrame:
        return session.read.format("delta").load(self._folder)

    def _read_results(self, session: SparkSession) -> DataFrame:
        """The results of all replays; none where there was no replay yet."""
        table = LakeTable(self._results)
        if delta.schema(session, table) is None:
            kinds = f"{ROW_ID} STRING, {READER} STRING, {PLACE} STRING, {OUTCOME} STRING, {PASSED} BOOLEAN, code STRING, message STRING"
            return make_empty_frame(session, f"{kinds}, {REPLAY} INT, {AT} TIMESTAMP")
        return delta.read(session, table)

    def _open_rows(self, row_filter: BadRowFilter, readers: Sequence[QueryReader]) -> DataFrame:
        """The rows that are open, or that some query may lack as its table has never got them, and that a filter means, by their newest reason
        or their first.
        """
        session = self.starter.spark.newSession()
        for setting, value in PINNED:
            session.conf.set(setting, value)
        rows = self._open_bad(session)
        turn = F.rank().over(Window.partitionBy(ROW_ID).orderBy(F.desc(REPLAY)))
        results = self._read_results(session)
        newest = results.withColumn("_turn", turn).where("_turn = 1").groupBy(ROW_ID)
        states = newest.agg(F.min(PASSED).alias("_done"), F.min_by("code", PASSED).alias("_code"))
        opened = rows.join(states, ROW_ID, "left")
        is_done = F.coalesce("_done", F.lit(False))
        if readers:
            names = {f"_had{at}": F.max(_has_passed(one)) for at, one in enumerate(readers)}
            had = results.groupBy(ROW_ID).agg(*(value.alias(name) for name, value in names.items()))
            opened = opened.join(had, ROW_ID, "left")
            is_done = reduce(and_, (F.coalesce(name, F.lit(False)) for name in names), is_done)
        opened = opened.where(~is_done)
        if row_filter.reasons:
            opened = opened.where(
                F.coalesce("_code", "code").isin([*row_filter.reasons]) | F.col("code").isin([*row_filter.reasons])
            )
        if row_filter.schema_id is not None:
            opened = opened.where(F.col("schema_id") == row_filter.schema_id)
        return opened.select(*rows.columns)

    def _decode_now(self) -> str:
        """How the rows are decoded by what the registry knows now."""
        source, opener = self._source, self._make_opener(self.starter.spark.newSession(), {})
        opener.decode_bad(source, expand_columns(self.starter.registry, source), self._open_bad(opener.spark))
        return describe_decoding(self.starter.registry, opener, [source])

    def _read_records(self, rows: DataFrame, decoding: SourceDecoding) -> RecordFrame:
        opener = self._make_opener(rows.sparkSession, decoding.plans)
        return opener.decode_bad(self._source, decoding.columns, rows)

    def _check_rows(self, rows: DataFrame, decoding: SourceDecoding) -> DataFrame:
        """The names of rows, with the code and the reason of those that are bad by a decoding."""
        records = self._read_records(rows, decoding)
        return records.frame.select(ROW_ID, records.code.alias(BAD), records.why.alias(WHY))

    def _make_opener(self, session: SparkSession, plans: Mapping[str, DecodePlan]) -> SourceOpener:
        return SourceOpener(session, self.starter.registry, self.starter.root, counts_unknown=True, plans={**plans})

    def _count(self, number: int, results: DataFrame) -> SourceReplay:
        keys = (READER, OUTCOME, F.coalesce("code", F.lit("")).alias("code"))
        counted = results.groupBy(*keys).agg(F.count(F.lit(1)).alias("rows"), F.first("message").alias("message"))
        counts = tuple(
            ResultCount(row[READER], row[OUTCOME], row["code"], row["rows"], row["message"] or "")
            for row in counted.orderBy(READER, OUTCOME, "code").collect()
        )
        names = {one.reader for one in counts if one.outcome == REFUSED}
        readers: Sequence[QueryReader] = list_readers(self.starter, self._source) if names else ()
        remedies = tuple((one.source.name, one.remedy) for one in readers if one.source.name in names and one.remedy)
        return SourceReplay(number, self.bad.name, counts, remedies)


def _is_appended(place: str) -> Column:
    return (F.col(PLACE) == place) & (F.col(OUTCOME) == APPENDED)


def _has_passed(reader: QueryReader) -> Column:
    """Whether a result says that a query has a row, or that one before has it, whose table the query continues."""
    return F.col(PLACE).isin([*reader.read_range.places]) & F.col(PASSED)
