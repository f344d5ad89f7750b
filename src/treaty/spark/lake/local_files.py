"""Reads Delta and Parquet tables of this machine's disk without Spark: their files by the table's log, and columns of these."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from treaty.spark.lake.parquet import COLUMNS as KEPT_COLUMNS
from treaty.spark.lake.parquet import ROWS
from treaty.spark.lake.table import LakeTable

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_COMMIT = re.compile(r"\d{20}\.json")
KNOWN_FEATURES = frozenset({"timestampNtz", "typeWidening", "typeWidening-preview", "deletionVectors", "columnMapping"})
"""Features of Delta's protocol with which a table is read here, as long as no file has a deletion vector and no column another name."""


class NeedsSparkError(RuntimeError):
    """Something can be read with Spark only; the message is the reason."""


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
        log = folder / "_delta_log"
        if not any(_list_commits(log, -1)) and not (log / "_last_checkpoint").exists():
            return None
        files = _list_delta_files(folder, frozenset(columns))
    return _read_columns(files, columns)


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


def _read_columns(files: Iterable[Path], columns: Sequence[str]) -> pa.Table:
    parts = []
    for file in files:
        with pq.ParquetFile(file) as opened:
            stored = [name for name in columns if name in opened.schema_arrow.names]
            part = opened.read(columns=stored)
        for name in columns:
            if name not in stored:
                part = part.append_column(name, pa.nulls(len(part)))
        parts.append(part.select(list(columns)))
    if not parts:
        return pa.table({name: pa.nulls(0) for name in columns})
    return pa.concat_tables(parts, promote_options="permissive")


def _list_commits(log: Path, after: int) -> Iterator[Path]:
    """The commits of a Delta log above a version, in order."""
    names = sorted(file.name for file in log.glob("*.json") if _COMMIT.fullmatch(file.name)) if log.exists() else []
    yield from (log / name for name in names if int(name[:20]) > after)


def _list_delta_files(folder: Path, columns: frozenset[str]) -> list[Path]:
    """The files of a Delta table's newest version: those of its last checkpoint, and what later commits add and remove.

    See the section "Action Reconciliation" of Delta's protocol. Raises `NeedsSparkError` for what is not read here.
    """
    log, version = folder / "_delta_log", -1
    paths: dict[str, None] = {}
    if (log / "_last_checkpoint").exists():
        pointer = json.loads((log / "_last_checkpoint").read_text("utf-8"))
        version = pointer["version"]
        for action in _read_checkpoint(log, pointer):
            _apply_action(folder, action, paths, columns)
    for commit in _list_commits(log, version):
        for line in commit.read_text("utf-8").splitlines():
            if line:
                _apply_action(folder, json.loads(line), paths, columns)
    return [folder / unquote(path) for path in paths]


def _read_checkpoint(log: Path, pointer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The actions of a checkpoint in one file or in several parts."""
    name, parts = f"{pointer['version']:020}.checkpoint", pointer.get("parts") or 0
    names = [f"{name}.{part:010}.{parts:010}.parquet" for part in range(1, parts + 1)] if parts else [f"{name}.parquet"]
    for file in names:
        if not (log / file).exists():
            raise NeedsSparkError(f"the checkpoint {name} of {log.parent} has another form")
        with pq.ParquetFile(log / file) as opened:
            known = [name for name in ("add", "protocol", "metaData") if name in opened.schema_arrow.names]
            yield from opened.read(columns=known).to_pylist(maps_as_pydicts="lossy")


def _apply_action(folder: Path, action: dict[str, Any], paths: dict[str, None], columns: frozenset[str]) -> None:
    """Apply one action of the log to the paths of the table's files."""
    if add := action.get("add"):
        if add.get("deletionVector"):
            raise NeedsSparkError(f"{folder} has files with deletion vectors")
        paths[add["path"]] = None
    if remove := action.get("remove"):
        paths.pop(remove["path"], None)
    if protocol := action.get("protocol"):
        unknown = sorted({*(protocol.get("readerFeatures") or ())} - KNOWN_FEATURES)
        if unknown:
            raise NeedsSparkError(f"{folder} has the feature {unknown[0]} of Delta")
    if metadata := action.get("metaData"):
        if (metadata.get("configuration") or {}).get("delta.columnMapping.mode", "none") != "none":
            raise NeedsSparkError(f"the files of {folder} have other names of columns than the table")
        partitioned = columns.intersection(metadata.get("partitionColumns") or ())
        if partitioned:
            raise NeedsSparkError(f"{folder} is partitioned by {min(partitioned)}")
