"""The parts of a record beside its value, and the order of the rows of a batch: which of two rows with one key is the later one.

A row of a source carries its place below the columns that a body sees. `propagate_order` leads it through the body to the result, so that a
table keeps the last row of each key.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from treaty.core.column_types.tokens import print_name
from treaty.core.sources import Source, SourceColumn
from treaty.spark.jvm_start import find_class
from treaty.spark.planner.pseudo_columns import HEADERS, PSEUDO_TYPES

ORDER = "_treaty_order"
"""The place of a row: the time of its file in ms, the path, and what comes first in the file."""
RECORDS = f"key BINARY, value BINARY, headers {HEADERS}, timestamp TIMESTAMP"
"""Columns of the files of a source."""
FILE, PLACE, ID, PARTITION = "_treaty_file", "_treaty_place", "_treaty_id", "_treaty_partition"
PLACES: Mapping[str, str] = {
    "_topic": FILE,
    "_partition": PARTITION,
    "_offset": PLACE,
    "_timestamp": "timestamp",
    "_headers": "headers",
    "_schema_id": ID,
}
"""The parts of a record that pseudo-columns show, by their names."""
WHY = "_treaty_why"
"""Why a record is bad, with a sentence."""
RECORD_PARTS = frozenset(("key", ORDER, WHY, *PLACES.values()))
"""All parts of a record but its value, and what is said of a bad one."""
NUMBERED = "_treaty_numbered"
DELETED = "_treaty_deleted"
"""Whether a change of a table deletes the row of its key."""


@dataclass(frozen=True, slots=True)
class RecordFrame:
    """Records of a source with their order, and the expressions over them: its columns, its pseudo-columns by name, the code of a bad
    record (null for a good one), why it is bad, and whether it deletes the row of its key.
    """

    frame: DataFrame
    columns: Sequence[Column]
    pseudo: Mapping[str, Column]
    code: Column
    why: Column
    deleted: Column


def list_used_parts(source: Source, pseudo: Collection[str], *, keeps_order: bool) -> frozenset[str]:
    """Return the parts of a record, beside its value, that the rows of a source are made of.

    `pseudo` are the pseudo-columns that are read. A part that a step of Spark does not name makes no work, but steps are chosen by the number of columns.
    """
    used = {PLACES[name] for name in pseudo} | ({ORDER} if keeps_order else set())
    if source.key is not None:
        used.add("key")
    halves = (one for one in (source.key, source.value) if one is not None)
    if any(one.framing == "header" for one in halves) or any(one.role == "header" for one in source.columns):
        used.add("headers")
    return frozenset(used)


def list_pseudo_parts(places: Mapping[str, str]) -> dict[str, Column]:
    """Return all pseudo-columns, from the columns that have them; null where there is none."""
    return {
        name: F.col(places[name]).cast(kind) if name in places else F.lit(None).cast(kind)
        for name, kind in PSEUDO_TYPES.items()
    }


def place_of_record() -> Column:
    """Return the place of a record in a folder of Parquet files: later files come later, then later times and later rows."""
    names = ("_metadata.file_modification_time", "timestamp", "_metadata.file_path", "_metadata.row_index")
    return F.struct(*(F.col(name).alias(f"p{number}") for number, name in enumerate(names)))


def place_of_line() -> Column:
    """Return the place of the part of a file of lines in which a line is: later files come later, then later parts."""
    names = ("_metadata.file_modification_time", "_metadata.file_path", "_metadata.file_block_start")
    return F.struct(*(F.col(name).alias(f"p{number}") for number, name in enumerate(names)))


def fill_columns(frame: DataFrame, columns: Sequence[SourceColumn]) -> DataFrame:
    """Return the frame with all columns of its source: null where they are not there."""
    present, own = set(frame.columns), {column.name for column in columns}
    cells = (
        F.col(print_name(column.name)) if column.name in present else F.lit(None).cast(column.type).alias(column.name)
        for column in columns
    )
    return frame if own <= present else frame.select(*cells, *(name for name in frame.columns if name not in own))


def propagate_order(result: DataFrame) -> DataFrame:
    """Return the rows of a body with the column `ORDER` of the source that they come from.

    Where they come from several (joins, unions), or from none that has the column, the result is the one that was given.
    """
    plan = result._jdf.queryExecution().analyzed()  # noqa: SLF001 (Python has no door to it)
    carried = _propagate(plan)
    if carried is None or ORDER in result.columns:
        return result
    session = result.sparkSession
    frames = find_class(session, "org.apache.spark.sql.classic.Dataset")
    rows = frames.ofRows(session._jsparkSession, carried)  # noqa: SLF001 (Python has no door to it)
    return DataFrame(rows, session)


def _propagate(plan: Any) -> Any:
    """Return a plan whose output has the column; None where it does not come from one child, or ends at an aggregate."""
    if _find(plan) is not None:
        return plan
    children = plan.children()
    if children.size() != 1 or plan.getClass().getSimpleName() == "Aggregate":
        return None
    child = _propagate(children.head())
    if child is None:
        return None
    changed = plan.withNewChildren(children.updated(0, child))
    if plan.getClass().getSimpleName() == "Project":
        changed = plan.copy(plan.projectList().appended(_find(child)), child)
    return changed if _find(changed) is not None else None


def _find(plan: Any) -> Any:
    """Return the attribute `ORDER` in the output of a plan; None without one."""
    output = plan.output()
    return next((output.apply(at) for at in range(output.size()) if output.apply(at).name() == ORDER), None)


def keep_last(batch: DataFrame, key: tuple[str, ...], *, keep_order: bool = False) -> DataFrame:
    """Return the last row of each key of a batch: by the column `ORDER`, if there is one, then as Spark has read them.

    With `keep_order` the rows have that column again.
    """
    ordered = ORDER in batch.columns
    place = F.struct(*([ORDER] if ordered else []), F.monotonically_increasing_id().alias("at"))
    latest = Window.partitionBy(*map(print_name, key)).orderBy(F.col(NUMBERED).desc())
    numbered = batch.withColumn(NUMBERED, place)
    last = numbered.withColumn(NUMBERED, F.row_number().over(latest)).where(F.col(NUMBERED) == 1).drop(NUMBERED)
    return last if keep_order or not ordered else last.drop(ORDER)
