"""Delta tables of this machine's disk read without Spark: which can be (`NeedsSparkError` for deletion vectors and the like), the files of one committed
version, and columns of these.

See the section "Action Reconciliation" of Delta's protocol.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

KNOWN_FEATURES = frozenset({"timestampNtz", "typeWidening", "typeWidening-preview", "deletionVectors", "columnMapping"})
"""Features of Delta's protocol with which a table is read here, as long as no file has a deletion vector and no column another name."""
NEWEST = -1
_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet")


class NeedsSparkError(RuntimeError):
    """Something can be read with Spark only; the message is the reason."""


class OutsideFileError(NeedsSparkError):
    """The log of a table names a file outside of its folder: only a program that trusts the log may let Spark read it."""


class NoTableError(LookupError):
    """There is no Delta table in a folder, or not the version of it that was asked for; the message says which are there."""


def find_version(folder: Path, time: int) -> int:
    """Return the newest version of a table that was committed at a time (ms since the epoch) or before. Raises `NoTableError`."""
    versions = [version for version, commit in list_commits(folder) if _read_time(commit) <= time]
    if not versions:
        raise NoTableError(f"{folder} has no version of that time or before: {_describe_versions(folder)}")
    return max(versions)


def _read_time(commit: Path) -> int:
    """The time of a commit: as its writer says, else that of its file."""
    for line in commit.read_text("utf-8").splitlines():
        info = json.loads(line).get("commitInfo") if line else None
        if info and "timestamp" in info:
            return int(info.get("inCommitTimestamp") or info["timestamp"])
    return int(commit.stat().st_mtime * 1_000)


def newest_version(folder: Path) -> int:
    """Return the number of a table's newest version. Raises `NoTableError`."""
    versions = [version for version, _ in list_commits(folder)]
    if not versions:
        raise NoTableError(f"there is no Delta table in {folder}")
    return max(versions)


def list_delta_files(folder: Path, columns: frozenset[str], version: int = NEWEST) -> list[Path]:
    """Return the data files of one version of a table: those of the last checkpoint before, and what later commits add and remove.

    Raises `NeedsSparkError` for what is not read here, and `NoTableError` where the log does not have the version any more.
    """
    commits = dict(list_commits(folder))
    last = max(commits, default=-1) if version == NEWEST else version
    start, names = _find_checkpoint(folder, last)
    needed = range(start + 1, last + 1)
    if last < 0 or any(one not in commits for one in needed):
        raise NoTableError(f"there is no version {last} in {folder}: {_describe_versions(folder)}")
    paths: dict[str, None] = {}
    for action in _read_checkpoint(folder, names):
        _apply_action(folder, action, paths, columns)
    for commit_version in needed:
        for line in commits[commit_version].read_text("utf-8").splitlines():
            if line:
                _apply_action(folder, json.loads(line), paths, columns)
    return [find_file(folder, path) for path in paths]


def find_file(folder: Path, path: str) -> Path:
    """Return a data file by its path in the log. Raises `OutsideFileError` for one outside of the table's folder."""
    return require_inside(folder, folder / unquote(path))


def require_inside(folder: Path, file: Path) -> Path:
    """Return a file of a table. Raises `OutsideFileError` for one outside of the table's folder."""
    if not file.resolve().is_relative_to(folder.resolve()):
        raise OutsideFileError(f"{folder} names the file {str(file)[:200]}, which is not in it")
    return file


def read_columns(files: Iterable[Path], columns: Sequence[str]) -> pa.Table:
    """Return columns of all rows of some files, null where a file has no such column."""
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


def _describe_versions(folder: Path) -> str:
    versions = [version for version, _ in list_commits(folder)]
    return f"versions {min(versions)} to {max(versions)} are in its log" if versions else "there is no Delta table"


def list_commits(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield the versions that are in the log of a table, in any order, each with the file of its commit."""
    for file in (folder / "_delta_log").glob("*.json"):
        if name := _COMMIT.fullmatch(file.name):
            yield int(name[1]), file


def _find_checkpoint(folder: Path, last: int) -> tuple[int, list[str]]:
    """The newest whole checkpoint up to a version, with its files; -1 without one."""
    checkpoints: dict[int, list[tuple[int, str]]] = {}
    for file in (folder / "_delta_log").glob("*.checkpoint*.parquet"):
        if (name := _CHECKPOINT.fullmatch(file.name)) and int(name[1]) <= last:
            checkpoints.setdefault(int(name[1]), []).append((int(name[3] or 1), file.name))
    complete = [version for version, files in checkpoints.items() if len(files) >= files[0][0]]
    newest = max(complete, default=-1)
    return newest, sorted(name for _, name in checkpoints.get(newest, ()))


def _read_checkpoint(folder: Path, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        with pq.ParquetFile(folder / "_delta_log" / name) as opened:
            columns = [part for part in ("add", "protocol", "metaData") if part in opened.schema_arrow.names]
            yield from opened.read(columns=columns).to_pylist(maps_as_pydicts="lossy")


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
