"""Rows of a Delta table of this machine's disk: of one committed version, or those that one batch of a query has written."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from treaty.arrow.delta_log import (
    NeedsSparkError,
    NoTableError,
    find_file,
    list_commits,
    list_delta_files,
    newest_version,
    read_columns,
)

ArrowTable = pa.Table
NEWEST_BATCH = -1
CHANGE = "_change_type"
"""The column of a file of changes that says what became of a row."""


@dataclass(frozen=True, slots=True)
class DeltaRows:
    """Rows as an Arrow table, with the version that they are of; of a batch also its number, and how many rows it has deleted.

    `needed` says why Spark has read them, and is empty where they were read without.
    """

    table: pa.Table
    version: int
    batch: int = NEWEST_BATCH
    deleted: int = 0
    needed: str = ""


def read_version(folder: Path, columns: Sequence[str], version: int = -1) -> DeltaRows:
    """Return all rows of a version of a table, -1 for the newest. Raises `NoTableError` and `NeedsSparkError`."""
    number = version if version >= 0 else newest_version(folder)
    files = list_delta_files(folder, frozenset(columns), number)
    return DeltaRows(read_columns(files, columns), number)


def read_batch(folder: Path, columns: Sequence[str], writer: str, number: int = NEWEST_BATCH) -> DeltaRows:
    """Return the rows that a batch of a writer has added or changed, -1 for its newest, as they were then.

    A batch that merged its rows into a table is read from the changes that Delta keeps beside it. Raises `NoTableError` where the log does not have the
    batch any more, and `NeedsSparkError`.
    """
    version, batch, actions = _find_batch(folder, writer, number)
    list_delta_files(folder, frozenset(columns), version)  # what can't be read here is refused
    changes = [find_file(folder, action["cdc"]["path"]) for action in actions if action.get("cdc")]
    if not changes:
        added = [action["add"] for action in actions if action.get("add") and action["add"].get("dataChange", True)]
        files = [find_file(folder, one["path"]) for one in added]
        return DeltaRows(read_columns(files, columns), version, batch)
    rows = read_columns(changes, [*columns, CHANGE])
    kinds = rows[CHANGE]
    written = rows.filter(pc.is_in(kinds, pa.array(["insert", "update_postimage"])))
    deleted = pc.sum(pc.equal(kinds, "delete")).as_py() or 0
    return DeltaRows(written.drop_columns([CHANGE]), version, batch, deleted)


def _find_batch(folder: Path, writer: str, number: int) -> tuple[int, int, list[dict[str, Any]]]:
    """The version that a batch has written, its number, and the actions of its commit."""
    numbers: list[int] = []
    for version, commit in sorted(list_commits(folder), reverse=True):
        actions = [json.loads(line) for line in commit.read_text("utf-8").splitlines() if line]
        batches = [int(one["txn"]["version"]) for one in actions if (one.get("txn") or {}).get("appId") == writer]
        numbers += batches
        if batches and number in {NEWEST_BATCH, batches[0]}:
            return version, batches[0], actions
    held = (
        f"batches {min(numbers)} to {max(numbers)} are in its log" if numbers else "its log has no batch of this query"
    )
    raise NoTableError(f"there is no batch{'' if number == NEWEST_BATCH else f' {number}'} in {folder}: {held}")


def keep(rows: DeltaRows, columns: Sequence[str], mask: Sequence[bool] | None) -> DeltaRows:
    """Return some columns of the rows at which a mask is true; all rows without one."""
    table = rows.table if mask is None else rows.table.filter(pa.array(mask, pa.bool_()))
    return replace(rows, table=table.select(list(columns)))


def write_stream(table: pa.Table, sink: BinaryIO) -> None:
    """Write a table as an Arrow IPC stream."""
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


__all__ = [
    "ArrowTable",
    "DeltaRows",
    "NeedsSparkError",
    "NoTableError",
    "keep",
    "read_batch",
    "read_version",
    "write_stream",
]
