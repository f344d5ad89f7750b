"""Tables of a pipeline on this machine's disk, read without Spark for `status`: files of plain Parquet, and of Delta by `arrow.delta_log`."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from treaty.arrow.delta_log import NeedsSparkError, NoTableError, list_delta_files, read_columns
from treaty.spark.lake.parquet import COLUMNS as KEPT_COLUMNS
from treaty.spark.lake.parquet import ROWS
from treaty.spark.lake.table import LakeTable

__all__ = ["NeedsSparkError", "find_local_folder", "list_parquet_files", "read_local_table"]
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def find_local_folder(place: str) -> Path:
    """The folder of a place on this machine's disk. Raises `NeedsSparkError` for another file system and for a catalog's name."""
    bare = place.removeprefix("file://").removeprefix("file:")
    if _SCHEME.match(bare):
        raise NeedsSparkError(f"{place} is not on a disk of this machine")
    if "/" not in bare:
        raise NeedsSparkError(f"{place} is a name in a catalog")
    return Path(bare)


def read_local_table(table: LakeTable, columns: Sequence[str]) -> pa.Table | None:
    """Some columns of all rows of a table, null where a file has no such column; None where there is no table.

    Raises `NeedsSparkError` for Iceberg, for a table that is elsewhere, and for features that are not read here.
    """
    if table.format not in {"delta", "parquet"}:
        raise NeedsSparkError(f"{table.place} has the format {table.format}")
    folder = find_local_folder(table.place)
    partitioned = [name for name in table.partitions if name in columns]
    if partitioned:
        raise NeedsSparkError(f"{table.place} is partitioned by {partitioned[0]}")
    if table.format == "parquet":
        if not (folder / KEPT_COLUMNS).exists():
            return None
        files: Iterable[Path] = list_parquet_files(folder / ROWS)
    else:
        try:
            files = list_delta_files(folder, frozenset(columns))
        except NoTableError:
            return None
    return read_columns(files, columns)


def list_parquet_files(folder: Path) -> list[Path]:
    """The Parquet files below a folder, as Spark lists them: nothing in folders and files whose names begin with _ or a point,
    but for those of partitions.
    """
    return sorted(
        file
        for file in folder.rglob("*.parquet")
        if not any(
            part.startswith(".") or (part.startswith("_") and "=" not in part)
            for part in file.relative_to(folder).parts
        )
    )
