"""Rows of a table that a query fills, as Arrow: read from its Delta table without Spark where that can be, else with a Spark that is given."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from treaty.core.column_types import lower_name, parse_column_type
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import Invalid
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Source
from treaty.metastore.bad_rows import first_generation, name_folder
from treaty.metastore.columns.source_refresh import read_user_types
from treaty.metastore.records.reading_places import refuse_place
from treaty.metastore.records.selection import RecordSelection, make_selection
from treaty.metastore.sql.statements import SelectRowsStatement
from treaty.metastore.sql.values import ColumnCondition, SqlLiteral

if TYPE_CHECKING:
    from treaty.arrow.delta_rows import ArrowTable, DeltaRows

NO_BATCH = -2
"""The batch of a place that is no batch; -1 is the newest one."""


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Which rows of a table are read: of a version or time (the newest one by default), or those that a batch has written."""

    version: int = -1
    time: str = ""
    batch: int = NO_BATCH

    @property
    def reads_batch(self) -> bool:
        """Whether the rows are those of a batch."""
        return self.batch != NO_BATCH


def read_table(
    name: str,
    files: str | Path,
    *,
    columns: tuple[str, ...] = (),
    where: Mapping[str, SqlLiteral] | None = None,
    version: int = -1,
    time: str = "",
    batch: int | None = None,
    spark: Any = None,
) -> Exchange["ArrowTable"]:
    """Return rows of a stream or table that is kept as Delta below the root `files`, as a `pyarrow.Table`; `.to_pandas()` makes a frame of it.

    The rows are those of the newest commit, of a `version`, of a `time` in ISO 8601 with its zone, or those alone that a `batch` of its query has written
    (-1: the newest). `where` has values that columns equal. A table that can't be read without Spark is read by the session `spark`.

    Raises `SourceNotFound`, `Invalid` for a column that there is not, a wrong time or another connector, `treaty.arrow.delta_log.NoTableError` for a version or batch
    that is not there, and `NeedsSparkError` where Spark is needed and none was given.
    """
    chosen = TablePlace(version, time, NO_BATCH if batch is None else batch)
    conditions = tuple(ColumnCondition(column, "=", value) for column, value in (where or {}).items())
    source, selection = yield from select_source(SelectRowsStatement(name, columns, conditions))
    return read_selected(source, selection, find_folder(source, Path(files)), chosen, spark).table


def select_source(statement: SelectRowsStatement) -> Exchange[tuple[Source, RecordSelection]]:
    """Return the source of a statement, and what is selected of it. Raises `SourceNotFound` and `Invalid`."""
    source = (yield from request_answer(DescribeSource(statement.name))).source
    types = (yield from read_user_types([parse_column_type(one.type) for one in source.columns])).expanded
    if source.connector != "delta":
        raise refuse_place(source, "FROM TABLE", "Delta tables")
    return source, make_selection(statement, source, types)


def find_folder(source: Source, root: Path) -> Path:
    """Return the folder of a source below a root. Raises `Invalid` for one that is not below it."""
    place = name_folder(source)
    folder = (root / place.lstrip("/")).resolve()
    if not folder.is_relative_to(root.resolve()):
        raise Invalid.of(
            "PATH_OUTSIDE", f"the folder {place} of {source.name} is not below {root}", path="/sql", new=place,
            allowed="a PATH below the root",
        )  # fmt: skip
    return folder


def read_selected(
    source: Source, selection: RecordSelection, folder: Path, place: TablePlace, spark: Any = None
) -> "DeltaRows":
    """Return the selected rows. Raises `NoTableError`, and `NeedsSparkError` where no Spark is given."""
    from treaty.arrow import delta_log, delta_rows  # noqa: PLC0415 (pyarrow is an extra, and large)

    names_by_key = {lower_name(name): name for name in selection.columns}
    names = [
        *names_by_key.values(),
        *dict.fromkeys(name for name, _ in selection.conditions if name not in names_by_key),
    ]
    try:
        if place.reads_batch:
            rows = delta_rows.read_batch(folder, names, writer_of(source), place.batch)
        else:
            version = delta_log.find_version(folder, _milliseconds(place.time)) if place.time else place.version
            rows = delta_rows.read_version(folder, names, version)
    except delta_log.NeedsSparkError as reason:
        if spark is None or place.reads_batch or isinstance(reason, delta_log.OutsideFileError):
            raise
        version = delta_log.find_version(folder, _milliseconds(place.time)) if place.time else place.version
        number = version if version >= 0 else delta_log.newest_version(folder)
        frame = spark.read.format("delta").option("versionAsOf", number).load(str(folder)).select(*map(_quote, names))
        for file in frame.inputFiles():
            delta_log.require_inside(folder, Path(unquote(urlsplit(file).path)))
        rows = delta_rows.DeltaRows(frame.toArrow(), number, needed=str(reason))
    return delta_rows.keep(
        rows, [*names_by_key.values()], _mask(rows.table, selection) if selection.conditions else None
    )


def writer_of(source: Source) -> str:
    """Return the name under which the query of a source writes its batches, or what collects its bad rows; empty where neither does."""
    if source.origin:
        return f"treaty-bad-{first_generation(source)}"
    return "" if source.query is None else f"treaty-{source.query.began}"


def _mask(table: "ArrowTable", selection: RecordSelection) -> list[bool]:
    """Of each row, whether it meets the conditions."""
    named = {name for name, _ in selection.conditions}
    columns = [name for name in table.column_names if lower_name(name) in named]
    cells = ({lower_name(name): value for name, value in row.items()} for row in table.select(columns).to_pylist())
    return [selection.is_met(one) for one in cells]


def _milliseconds(time: str) -> int:
    """The moment of a text; without its zone it would be another one on each machine. Raises `Invalid`."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Invalid.of(
            "TABLE_TIME", f"{time[:100]!r} is no time in ISO 8601 with its zone", path="/time", new=time[:100], allowed="2026-01-31T10:00:00Z"
        )  # fmt: skip
    return int(moment.timestamp() * 1_000)


def _quote(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
