"""Reads what `treaty bad list` says of one table of bad rows: counts by reason and schema id, and samples."""

from datetime import UTC, datetime
from typing import Any

from treaty.arrow.bad_rows import count_reasons, filter_rows, join_results, read_results, read_table, select_listed
from treaty.arrow.delta_log import NeedsSparkError
from treaty.cli.metastore.bad.tables import BadTable
from treaty.cli.terminal.source import UnusableError
from treaty.plan.rows import ROW_ID, BadRowFilter


def read_report(table: BadTable, row_filter: BadRowFilter, limit: int, *, with_replayed: bool) -> dict[str, Any]:
    """What there is to say of a table of bad rows. Raises `UnusableError`."""
    if row_filter.since is not None and not (table.columns.found or table.columns.time):
        raise UnusableError(f'{table.name} has no times: --since needs keep = ["timestamp"] in {table.origin}')
    try:
        rows = read_rows(table)
    except NeedsSparkError as error:
        raise UnusableError(f"{error}, and rows are listed of tables on this disk alone: read {table.name} with Spark", "NEEDS_SPARK") from error  # fmt: skip
    report = {"name": table.name, "origin": table.origin, "counts": [], "rows": [], "unfinished": table.list_unfinished() if table.bad else []}  # fmt: skip
    if rows is None:
        return report
    listed = filter_rows(rows, row_filter, table.columns)
    selected = select_listed(listed, table.columns, with_replayed=with_replayed)
    return report | {"counts": count_reasons(listed), "rows": [_row_members(one, table) for one in selected.slice(0, limit).to_pylist()]}  # fmt: skip


def read_rows(table: BadTable) -> Any:
    """Return the rows of a table of bad rows with what became of them; None where nothing was bad yet. Raises `NeedsSparkError`."""
    stored = table.columns.list_stored()
    if table.described is None:
        rows = read_table(table.folder, stored)
        return None if rows is None else join_results(rows, read_results(table.results, table.list_unfinished()))
    from treaty.spark.pipelines.reports.local_status import read_bad_rows  # noqa: PLC0415 (imports Spark's library)

    return read_bad_rows(table.described.pipeline, stored)


def _row_members(row: dict[str, Any], table: BadTable) -> dict[str, Any]:
    members = {word: row[name] for word, name in table.columns.places.items()}
    members |= {
        name: row[name] for name in ("code", "message", "schema_id", "state", "first_code", "first_message", "replay")
    }
    times = {"time": row[table.columns.time] if table.columns.time else None, "found": row[table.columns.found] if table.columns.found else None}  # fmt: skip
    return {"bad_id": row[ROW_ID], **members, **{name: _show(one) for name, one in (times | {"replayed_at": row["replayed_at"]}).items()}}  # fmt: skip


def _show(time: datetime | None) -> str | None:
    if time is None:
        return None
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="milliseconds")  # fmt: skip
