"""The log of a Delta table: the files of each version, whatever checkpoints there are, its time, its batches, and what is left to Spark."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from treaty.arrow.delta_log import (
    NeedsSparkError,
    NoTableError,
    find_version,
    list_delta_files,
    newest_version,
    read_columns,
)
from treaty.arrow.delta_rows import read_batch, read_version

ADD = pa.struct([("path", pa.string())])
VERSIONS = 12


def commit(folder: Path, version: int, *actions: dict[str, Any]) -> None:
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{version:020}.json").write_text("\n".join([*map(json.dumps, actions), ""]))


def checkpoint(folder: Path, version: int, files: list[str], parts: int, written: int) -> None:
    """A checkpoint of so many parts, of which so many are there."""
    for part in range(1, written + 1):
        name = f"{version:020}.checkpoint" + (f".{part:010}.{parts:010}" if parts > 1 else "") + ".parquet"
        rows = [{"path": path} for path in files[part - 1 :: parts]]
        pq.write_table(pa.table({"add": pa.array([*rows, None], ADD)}), folder / "_delta_log" / name)


def write(folder: Path, name: str, **rows: list[Any]) -> str:
    pq.write_table(pa.table(rows), folder / name)
    return name


@pytest.mark.parametrize("seed", range(6))
def test_the_files_of_a_version_are_those_that_its_commits_left(tmp_path: Path, seed: int) -> None:
    """Checkpoints of one part and of several, some of which are half written, and older commits that are gone."""
    dice = random.Random(seed)
    files: list[str] = []
    states: list[list[str]] = []
    for version in range(VERSIONS):
        actions = []
        for path in dice.sample(files, dice.randrange(len(files) + 1)):
            files.remove(path)
            actions.append({"remove": {"path": path}})
        for number in range(dice.randrange(1, 4)):
            files.append(f"a%20{version}-{number}.parquet")
            actions.append({"add": {"path": files[-1]}})
        commit(tmp_path, version, {"commitInfo": {"timestamp": version * 10}}, *actions)
        states.append([*files])
    whole = dice.sample(range(VERSIONS), 3)
    for version in whole:
        checkpoint(tmp_path, version, states[version], parts := dice.randrange(1, 3), parts)
    half = dice.choice([version for version in range(VERSIONS) if version not in whole])
    checkpoint(tmp_path, half, states[half][:1], 3, 2)
    oldest = max(min(whole) - dice.randrange(2), 0)
    for version in range(oldest):
        (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    for version in range(VERSIONS):
        known = version >= min(whole) or oldest == 0
        if known:
            found = {path.name for path in list_delta_files(tmp_path, frozenset(), version)}
            assert found == {path.replace("%20", " ") for path in states[version]}, version
        else:
            with pytest.raises(NoTableError, match=f"no version {version} "):
                list_delta_files(tmp_path, frozenset(), version)
    assert newest_version(tmp_path) == VERSIONS - 1
    assert list_delta_files(tmp_path, frozenset()) == list_delta_files(tmp_path, frozenset(), VERSIONS - 1)
    with pytest.raises(NoTableError):
        list_delta_files(tmp_path, frozenset(), VERSIONS)


def test_the_version_of_a_time_is_the_newest_that_was_committed_then(tmp_path: Path) -> None:
    """Where the log keeps the times of commits itself, these count."""
    commit(tmp_path, 0, {"commitInfo": {"timestamp": 100}})
    commit(tmp_path, 1, {"commitInfo": {"timestamp": 150, "inCommitTimestamp": 200}})
    commit(tmp_path, 2, {"commitInfo": {"timestamp": 300, "inCommitTimestamp": 0}})
    for time, version in ((100, 0), (199, 0), (200, 1), (299, 1), (300, 2), (10**15, 2)):
        assert find_version(tmp_path, time) == version
    with pytest.raises(NoTableError, match="no version of that time"):
        find_version(tmp_path, 99)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ({"protocol": {"readerFeatures": ["v2Checkpoint"], "writerFeatures": []}}, "the feature v2Checkpoint"),
        ({"protocol": {"readerFeatures": ["timestampNtz"], "writerFeatures": ["domainMetadata"]}}, ""),
        ({"protocol": {"minReaderVersion": 1}}, ""),
        ({"metaData": {"partitionColumns": ["k"]}}, "is partitioned by k"),
        ({"metaData": {"partitionColumns": ["other"]}}, ""),
        ({"metaData": {"configuration": {"delta.columnMapping.mode": "name"}}}, "other names of columns"),
        ({"metaData": {"configuration": {"delta.columnMapping.mode": "none"}}}, ""),
        ({"add": {"path": "x", "deletionVector": {"storageType": "u"}}}, "deletion vectors"),
    ],
)
def test_what_is_not_read_here_is_left_to_spark_with_the_reason(
    tmp_path: Path, action: dict[str, Any], why: str
) -> None:
    write(tmp_path, "f.parquet", k=[1], v=[2])
    commit(tmp_path, 0, {"add": {"path": "f.parquet"}})
    commit(tmp_path, 1, action)
    if why:
        with pytest.raises(NeedsSparkError, match=why):
            read_version(tmp_path, ["k", "v"])
    else:
        assert read_version(tmp_path, ["k", "v"]).table.to_pylist() == [{"k": 1, "v": 2}]
    assert read_version(tmp_path, ["k"], 0).table.to_pylist() == [{"k": 1}]


def test_columns_have_their_order_and_null_where_a_file_lacks_them(tmp_path: Path) -> None:
    files = [tmp_path / write(tmp_path, "a", b=[1], a=["x"]), tmp_path / write(tmp_path, "b", a=["y"]), tmp_path / write(tmp_path, "c", c=[2.5], b=[3])]  # fmt: skip
    table = read_columns(files, ["c", "a", "b"])
    assert table.column_names == ["c", "a", "b"]
    assert table.to_pylist() == [
        {"c": None, "a": "x", "b": 1}, {"c": None, "a": "y", "b": None}, {"c": 2.5, "a": None, "b": 3},
    ]  # fmt: skip
    assert read_columns([], ["b", "a"]).column_names == ["b", "a"]


def test_a_batch_is_that_of_its_writer_and_has_the_rows_that_it_added(tmp_path: Path) -> None:
    """Other writers number theirs alike; files that were only moved together hold no new rows."""
    for version, (writer, number) in enumerate([("q", 0), ("other", 0), ("q", 1), ("other", 1), ("", 0)]):
        name = write(tmp_path, f"{version}.parquet", v=[version])
        txn = [{"txn": {"appId": writer, "version": number}}] if writer else []
        moved = write(tmp_path, f"m{version}.parquet", v=[99])
        commit(tmp_path, version, *txn, {"add": {"path": name, "dataChange": True}}, {"add": {"path": moved, "dataChange": False}})  # fmt: skip
    for writer, number, version in (("q", 0, 0), ("other", 0, 1), ("q", 1, 2), ("other", 1, 3), ("q", -1, 2), ("other", -1, 3)):  # fmt: skip
        rows = read_batch(tmp_path, ["v"], writer, number)
        assert (rows.version, rows.batch, rows.table.to_pylist(), rows.deleted) == (
            version, max(number, 0) if number >= 0 else 1, [{"v": version}], 0,
        )  # fmt: skip
    for writer, number in (("q", 2), ("nobody", -1)):
        with pytest.raises(NoTableError):
            read_batch(tmp_path, ["v"], writer, number)
