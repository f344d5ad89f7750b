"""SELECT … FROM TABLE: rows of a Delta table as of one version, read without Spark."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from treaty import connect
from treaty.cli.metastore.sql import command
from treaty.metastore.metastore import Metastore

TABLE = "CREATE TABLE t (k STRING PRIMARY KEY, n BIGINT) WITH (CONNECTOR = 'delta', PATH = 't')"
DAY = 86_400_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A registry, and a table with three versions: two rows, one more, and another row in the place of the first file."""
    with connect(f"sqlite:///{tmp_path}/r.db") as connection:
        Metastore(connection.registry).run(TABLE)
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    files = [{"k": ["a", "b"], "n": [1, 2]}, {"k": ["c"], "n": [3]}, {"k": ["a"], "n": [7]}]
    for version, rows in enumerate(files):
        pq.write_table(pa.table(rows), tmp_path / "t" / f"{version}.parquet")
        actions = [{"commitInfo": {"timestamp": version * DAY}}, {"add": {"path": f"{version}.parquet"}}]
        actions += [{"remove": {"path": "0.parquet"}}] if version == 2 else []
        (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))
    return tmp_path


def run(root: Path, sql: str, *more: str) -> Result:
    return CliRunner().invoke(command, ["--registry", f"sqlite:///{root}/r.db", "-e", sql, *more])


def select(root: Path, sql: str) -> list[list[object]]:
    (answer,) = json.loads(run(root, sql, "--json", "--files", str(root)).stdout)
    rows: list[list[object]] = answer["rows"]
    return sorted(rows, key=str)


def test_rows_are_those_of_one_version(root: Path) -> None:
    assert select(root, "SELECT * FROM TABLE t") == [["a", 7], ["c", 3]]
    assert select(root, "SELECT n FROM TABLE t WHERE k = 'c' LIMIT 1") == [[3]]
    assert select(root, "SELECT * FROM TABLE t AS OF VERSION 1") == [["a", 1], ["b", 2], ["c", 3]]
    assert select(root, "SELECT k FROM TABLE t WHERE n = 2 AS OF TIMESTAMP '1970-01-01T12:00:00Z'") == [["b"]]
    shown = run(root, "SELECT * FROM TABLE t", "--files", str(root))
    assert "version 2 of t" in shown.output


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT * FROM TABLE t AS OF VERSION 9", "versions 0 to 2 are in its log"),
        ("SELECT * FROM TABLE t AS OF TIMESTAMP '1969-01-01T00:00:00Z'", "no version of that time or before"),
        ("SELECT * FROM TABLE t AS OF TIMESTAMP 'noon'", "AS OF TIMESTAMP takes a time in ISO 8601"),
        ("SELECT m FROM TABLE t", "t has no column m"),
        ("SELECT * FROM TABLE nosuch", "There is no stream or table nosuch"),
    ],
)
def test_what_is_not_there_is_said(root: Path, sql: str, words: str) -> None:
    answer = run(root, sql, "--files", str(root))
    assert (answer.exit_code != 0, words in answer.output) == (True, True), answer.output


def test_a_table_needs_the_root_of_files(root: Path) -> None:
    assert "--files ROOT" in run(root, "SELECT * FROM TABLE t").output


@pytest.mark.parametrize("path", ["../outside.parquet", "/etc/outside.parquet", "%2E%2E/outside.parquet"])
def test_a_log_that_names_files_outside_of_the_table_is_not_followed(root: Path, path: str) -> None:
    pq.write_table(pa.table({"k": ["x"], "n": [1]}), root / "outside.parquet")
    commit = root / "t" / "_delta_log" / f"{3:020}.json"
    commit.write_text(json.dumps({"add": {"path": path}}))
    shown = run(root, "SELECT * FROM TABLE t", "--files", str(root))
    assert shown.exit_code != 0
    assert "which is not in it" in shown.output
