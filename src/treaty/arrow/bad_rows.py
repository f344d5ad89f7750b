"""What became of bad rows: the table of them and the table of the results of replays, put together without Spark."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from treaty.arrow.delta_log import NoTableError, list_delta_files, read_columns
from treaty.plan.rows import AT, OPEN, PASSED, REPLAY, REPLAYED, ROW_ID, BadRowColumns, BadRowFilter


def read_table(folder: Path, columns: Iterable[str]) -> pa.Table | None:
    """Return some columns of a Delta table; None where there is none. Raises `NeedsSparkError`."""
    names = [*columns]
    try:
        return read_columns(list_delta_files(folder, frozenset(names)), names)
    except NoTableError:
        return None


def read_results(folder: Path, unfinished: Iterable[int] = ()) -> pa.Table | None:
    """Return the results of replays, without those of replays that were cut short; None where there are none."""
    marks = read_table(folder, (ROW_ID, REPLAY, PASSED, "code", "message", AT))
    if marks is None or not len(marks):
        return None
    return marks.filter(pc.invert(pc.is_in(marks[REPLAY], pa.array([*unfinished], marks.schema.field(REPLAY).type))))


def join_results(rows: pa.Table, marks: pa.Table | None) -> pa.Table:
    """Return bad rows with their state, their newest reason beside the first one, and the replay that looked at them last.

    A row is replayed where no result of its last replay says that it is still bad, or that a query lacks it.
    """
    first = rows.append_column("first_code", rows["code"]).append_column("first_message", rows["message"])
    if marks is None or not len(marks):
        states = pa.array([OPEN] * len(rows), pa.string())
        nothing = first.append_column("state", states).append_column(REPLAY, pa.nulls(len(rows), pa.int32()))
        return nothing.append_column("replayed_at", pa.nulls(len(rows), pa.timestamp("us", "UTC")))
    last = marks.group_by(ROW_ID).aggregate([(REPLAY, "max")])
    newest = marks.join(last, [ROW_ID, REPLAY], [ROW_ID, f"{REPLAY}_max"], join_type="inner").sort_by(PASSED)
    parts = [(PASSED, "all"), ("code", "first"), ("message", "first"), (REPLAY, "max"), (AT, "max")]
    summary = newest.group_by(ROW_ID, use_threads=False).aggregate(parts)
    joined = first.join(summary, ROW_ID, join_type="left outer")
    passed = pc.coalesce(joined[f"{PASSED}_all"], False)
    columns = {name: joined[name] for name in first.column_names}
    for name in ("code", "message"):
        columns[name] = pc.coalesce(joined[f"{name}_first"], joined[name])
    states = pc.if_else(passed, REPLAYED, OPEN)
    return pa.table(columns | {"state": states, REPLAY: joined[f"{REPLAY}_max"], "replayed_at": joined[f"{AT}_max"]})


def filter_rows(rows: pa.Table, filtered: BadRowFilter, columns: BadRowColumns) -> pa.Table:
    """Return the rows that a filter means. A reason may be the newest of a row, or its first."""
    if filtered.reasons:
        some = pa.array(filtered.reasons, pa.string())
        rows = rows.filter(pc.or_(pc.is_in(rows["code"], some), pc.is_in(rows["first_code"], some)))
    if filtered.schema_id is not None:
        rows = rows.filter(pc.fill_null(pc.equal(rows["schema_id"], filtered.schema_id), fill_value=False))
    name = columns.found or columns.time
    if filtered.since is not None and name:
        late = pc.greater_equal(rows[name], pa.scalar(filtered.since, pa.timestamp("us", "UTC")))
        rows = rows.filter(pc.fill_null(late, fill_value=False))
    return rows


def count_reasons(rows: pa.Table) -> list[dict[str, object]]:
    """Return how many rows there are by state, reason and schema id, those with the most rows first."""
    keys = ["state", "code", "schema_id"]
    groups = rows.group_by(keys).aggregate([([], "count_all")]).to_pylist()
    groups.sort(key=lambda one: (one["state"], -one["count_all"], one["code"], one["schema_id"] or -1))
    return [{**{key: one[key] for key in keys}, "rows": one["count_all"]} for one in groups]


def select_listed(rows: pa.Table, columns: BadRowColumns, *, with_replayed: bool) -> pa.Table:
    """Return the open rows, or all, with the newest first."""
    listed = rows if with_replayed else rows.filter(pc.equal(rows["state"], OPEN))
    time = columns.found or columns.time
    if not time or not len(listed):
        return listed
    return listed.sort_by([(time, "descending"), *((name, "ascending") for name in columns.places.values())])
