"""Tables of which two queries read the same rows: a version of a Delta table, or snapshots of an Iceberg table. Neither can change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.core.column_types.tokens import print_name, print_text
from treaty.core.refusals import Invalid
from treaty.core.sources import Source
from treaty.metastore.sql.values import EARLIEST, LATEST, ComparedRange
from treaty.spark.lake import delta, iceberg
from treaty.spark.lake.table import LakeTable, is_missing
from treaty.spark.planner.views import STREAM
from treaty.spark.runner.kafka_source import SourceMissingError
from treaty.spark.runner.sinks import LAKES, require_format

FILE_PATH, SNAPSHOT = "_treaty_file_path", "snapshot_id"
DELETED_ENTRY = 2
"""The status of an entry of a manifest whose file is in the table no more."""


@dataclass(frozen=True, slots=True)
class RecordedTable:
    """Rows of a table, and in words which they are."""

    rows: DataFrame
    words: str


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """A snapshot that the table of a source has had, from when on, and whether another one was before it."""

    number: int
    since: datetime
    has_parent: bool


def refuse_start(source: Source, start: str) -> None:
    """Raise `Invalid` where a range is to begin at a time, and the table of a source can't be read from one."""
    is_appended = source.connector == "iceberg" and source.kind == STREAM
    if source.connector in LAKES and start != EARLIEST and not is_appended:
        what = "a Delta table" if source.connector == "delta" else "an Iceberg table with a key"
        raise _no_range(f"{source.name} is {what}, which COMPARE reads as it was at a time, and not from one", start)


def read_version(
    session: SparkSession, source: Source, table: LakeTable, compared: ComparedRange, arrived: str
) -> RecordedTable:
    """Return the rows of the newest version before the end of a range. `arrived` names the column with the time of a row in ms; empty: none.

    Raises `SourceMissingError`, and `Invalid` for a range that there is not.
    """
    if is_missing(session, f"{table.folder}/_delta_log"):
        raise _make_missing_error(source)
    version = _find_version(session, table, compared.end)
    rows = session.read.format("delta").option("versionAsOf", version).load(table.folder)
    times = [F.unix_millis("_metadata.file_modification_time").alias(arrived)] if arrived else []
    return RecordedTable(rows.select(*_list_cells(source), *times), f"version {version} of the Delta table")


def _make_missing_error(source: Source) -> SourceMissingError:
    return SourceMissingError(f"the table of {source.name} is not there yet: {source.place}")


def _no_range(message: str, time: str, allowed: str = "COMPARE FROM earliest TO 'time'") -> Invalid:
    return Invalid.of("COMPARE_RANGE", message, path="/sql", new=time, allowed=allowed)


def _list_cells(source: Source) -> list[Column]:
    return [F.col(print_name(column.name)) for column in source.columns]


def _find_version(session: SparkSession, table: LakeTable, end: str) -> int:
    """The version of a Delta table at the end of a range. Raises `Invalid` where there was none."""
    forbidden = session.conf.get("spark.sql.runSQLOnFiles")
    session.conf.set("spark.sql.runSQLOnFiles", "true")  # for this statement of Treaty's own
    try:
        history = session.sql(f"DESCRIBE HISTORY {delta.name(session, table)}")
        if end != LATEST:
            moment = datetime.fromisoformat(end).astimezone(UTC)
            history = history.where(f"timestamp < TIMESTAMP {print_text(moment.isoformat())}")
        newest = history.agg(F.max("version")).collect()[0][0]
    finally:
        session.conf.set("spark.sql.runSQLOnFiles", forbidden or "false")
    if newest is None:
        raise _no_range(f"the table at {table.folder} had no version before {end}", end, "TO latest")
    return int(newest)


# -------------------------------------------------------------------------------------------------------------- Iceberg


def read_snapshots(
    session: SparkSession, source: Source, table: LakeTable, compared: ComparedRange, arrived: str
) -> RecordedTable:
    """Return the rows of the newest snapshot before the end of a range; from a time on, those of a stream that were appended since.

    `arrived` and errors are those of `read_version`; a row came when the snapshot was made that added its file.
    """
    require_format(session, source)
    if is_missing(session, f"{table.folder}/metadata"):
        raise _make_missing_error(source)
    name = iceberg.name(session, table)
    snapshots = _list_snapshots(session, name)
    ended = [
        snapshot
        for snapshot in snapshots
        if compared.end == LATEST or snapshot.since < datetime.fromisoformat(compared.end)
    ]
    if not ended and compared.end != LATEST:
        raise _no_range(f"the table of {source.name} had no snapshot before {compared.end}", compared.end, "TO latest")
    before = _find_start(source, snapshots, compared.start)
    if not ended or (before is not None and before.number == ended[-1].number):
        return _read_none(session, source, name, arrived)
    last = ended[-1].number
    if before is None:
        rows = session.read.format("iceberg").option("versionAsOf", last).load(name)
        words = f"snapshot {last} of the Iceberg table"
    else:
        options = {"start-snapshot-id": str(before.number), "end-snapshot-id": str(last)}
        rows = session.read.format("iceberg").options(**options).load(name)
        words = f"what was appended to the Iceberg table behind snapshot {before.number}, up to snapshot {last}"
    if not arrived:
        return RecordedTable(rows.select(*_list_cells(source)), words)
    files = _read_file_times(session, name, arrived)
    dated = rows.select(*_list_cells(source), F.col("_file").alias(FILE_PATH))
    return RecordedTable(dated.join(F.broadcast(files), FILE_PATH, "left").drop(FILE_PATH).fillna(0, [arrived]), words)


def _list_snapshots(session: SparkSession, name: str) -> list[TableSnapshot]:
    """The snapshots that the table has had and still keeps, in their order."""
    history = session.table(f"{name}.history").where("is_current_ancestor").orderBy("made_current_at")
    micros = F.unix_micros("made_current_at").alias("since")
    rows = history.select(SNAPSHOT, micros, F.col("parent_id").isNotNull().alias("has_parent")).collect()
    return [
        TableSnapshot(row[SNAPSHOT], datetime.fromtimestamp(row["since"] / 1_000_000, UTC), row["has_parent"])
        for row in rows
    ]


def _find_start(source: Source, snapshots: Sequence[TableSnapshot], start: str) -> TableSnapshot | None:
    """The last snapshot before a range begins; None where it begins with the first one. Raises `Invalid` where that is not known."""
    if start == EARLIEST:
        return None
    before = [snapshot for snapshot in snapshots if snapshot.since < datetime.fromisoformat(start)]
    if before:
        return before[-1]
    if snapshots and snapshots[0].has_parent:
        oldest = snapshots[0].since.isoformat()
        raise _no_range(
            f"the snapshots that the table of {source.name} had before {start} were expired; it keeps those since {oldest}", start,
            f"COMPARE FROM earliest, or from a time after {oldest}",
        )  # fmt: skip
    return None


def _read_none(session: SparkSession, source: Source, name: str, arrived: str) -> RecordedTable:
    times = [F.lit(0).cast("long").alias(arrived)] if arrived else []
    rows = session.table(name).where(F.lit(False)).select(*_list_cells(source), *times)
    return RecordedTable(rows, "no snapshot of the Iceberg table")


def _read_file_times(session: SparkSession, name: str, arrived: str) -> DataFrame:
    """The files of a table with the time in ms of the snapshot that added each; 0 for one that was expired: its rows came before all others."""
    entries = session.table(f"{name}.all_entries").where(F.col("status") != DELETED_ENTRY)
    files = entries.select(F.col("data_file.file_path").alias(FILE_PATH), SNAPSHOT).dropDuplicates([FILE_PATH])
    snapshots = session.table(f"{name}.snapshots").select(SNAPSHOT, F.unix_millis("committed_at").alias(arrived))
    return files.join(snapshots, SNAPSHOT, "left").select(FILE_PATH, arrived)
