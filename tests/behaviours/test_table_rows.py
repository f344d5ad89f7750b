"""SELECT … FROM TABLE: rows of a Delta table as of one version, read without Spark."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from treaty import connect
from treaty.arrow.delta_log import NeedsSparkError, NoTableError
from treaty.cli.main import group
from treaty.core.messages.metastore.sources import CreateSource, DescribeSource, SourceDefinition
from treaty.core.refusals import Invalid
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
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
    return CliRunner().invoke(group, ["sql", "--registry", f"sqlite:///{root}/r.db", "-e", sql, *more])


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


FILES = "CREATE {kind} f (id BIGINT{key}, n INT) WITH (CONNECTOR = 'files', PATH = 'rides', VALUE_FORMAT = 'JSON', KEY_FORMAT = 'JSON', FRAMING = 'none')"


@pytest.mark.parametrize("read", ["SELECT * FROM STREAM f LIMIT 10", "SELECT * FROM TABLE f", "PRINT f"])
@pytest.mark.parametrize(
    ("create", "words"),
    [
        (FILES.format(kind="STREAM", key=" KEY"), "AS SELECT * FROM STREAM f, then `treaty runner --once`"),
        (FILES.format(kind="TABLE", key=" PRIMARY KEY"), "CREATE TABLE f_rows WITH (CONNECTOR = 'delta', PATH = 'f_rows') AS SELECT * FROM f, then"),
    ],
)  # fmt: skip
def test_records_in_files_lead_to_what_reads_them(root: Path, create: str, words: str, read: str) -> None:
    run(root, create)
    answer = run(root, read, "--files", str(root))
    assert answer.exit_code != 0
    assert words in answer.output, answer.output
    assert "in the folder rides" in answer.output
    assert "FROM STREAM f LIMIT" not in answer.output.replace(read, "")


def test_rows_of_a_table_lead_from_one_statement_to_the_other(root: Path) -> None:
    assert "SELECT … FROM TABLE t LIMIT 10" in run(root, "PRINT t").output
    assert "SELECT … FROM TABLE t LIMIT 10" in run(root, "SELECT * FROM STREAM t LIMIT 3").output
    run(root, "CREATE STREAM s (a INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON')")
    assert (
        "SELECT … FROM STREAM s LIMIT 10, or PRINT s" in run(root, "SELECT * FROM TABLE s", "--files", str(root)).output
    )


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
    assert "Spark reads" not in shown.output


def write_commit(folder: Path, version: int, *actions: dict[str, Any]) -> None:
    log = folder / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))


def write_file(folder: Path, name: str, **rows: list[Any]) -> str:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(rows), folder / name)
    return name


@pytest.fixture
def batches(tmp_path: Path) -> Path:
    """A table that a query fills: a batch that appends, one that merges (with its changes beside it), and a commit of somebody else."""
    with connect(f"sqlite:///{tmp_path}/r.db") as connection:
        Metastore(connection.registry).run(TABLE)
        columns = (SourceColumn("k", "STRING", role="key"), SourceColumn("n", "BIGINT"))
        plan = QueryPlan(
            "SELECT 1", (SourceRead("t", connection.ask(DescribeSource("t")).answer.source.generation, "t"),)
        )
        defined = SourceDefinition("q", "TABLE", "CREATE", columns, connector="delta", place="q", query=plan)
        connection.ask(CreateSource(defined))
        query = connection.ask(DescribeSource("q")).answer.source.query
    assert query is not None
    folder = tmp_path / "q"
    parts = [
        write_file(folder, "0.parquet", k=["a", "b"], n=[1, 2]),
        write_file(folder, "1.parquet", k=["a", "c"], n=[5, 3]),
    ]
    kinds = ["update_preimage", "update_postimage", "insert", "delete"]
    changes = write_file(folder, "_change_data/c.parquet", k=["a", "a", "c", "b"], n=[1, 5, 3, 2], _change_type=kinds)
    txn = [{"txn": {"appId": f"treaty-{query.began}", "version": number}} for number in range(2)]
    write_commit(folder, 0, txn[0], {"add": {"path": parts[0], "dataChange": True}})
    write_commit(
        folder, 1, txn[1], {"remove": {"path": parts[0]}}, {"add": {"path": parts[1]}}, {"cdc": {"path": changes}}
    )
    write_commit(folder, 2, {"add": {"path": write_file(folder, "2.parquet", k=["x"], n=[9])}})
    return tmp_path


def test_rows_of_one_batch_are_those_that_it_has_written(batches: Path) -> None:
    def rows_of(batch: str) -> tuple[list[list[object]], str]:
        (answer,) = json.loads(
            run(batches, "SELECT * FROM TABLE q", "--json", "--files", str(batches), "--batch", batch).stdout
        )
        return answer["rows"], answer["warnings"][0]

    assert rows_of("0") == ([["a", 1], ["b", 2]], "batch 0, which is version 0 of q")
    assert rows_of("1") == ([["a", 5], ["c", 3]], "batch 1, which is version 1 of q; the batch has deleted 1 rows too")
    assert rows_of("latest") == rows_of("1")
    answer = run(batches, "SELECT * FROM TABLE q", "--files", str(batches), "--batch", "7")
    assert (answer.exit_code, "batches 0 to 1 are in its log" in answer.output) == (2, True), answer.output
    assert "no number of a batch" in run(batches, "SELECT * FROM TABLE q", "--batch", "first").output


def test_rows_are_written_as_lines_of_json_and_as_an_arrow_stream(batches: Path) -> None:
    words = ("--files", str(batches), "--rows-as")
    lines = run(batches, "SELECT n, k FROM TABLE q LIMIT 2", *words, "lines").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [{"n": 5, "k": "a"}, {"n": 3, "k": "c"}]
    stream = run(batches, "SELECT k FROM TABLE q WHERE n = 9", *words, "arrow")
    with pa.ipc.open_stream(stream.stdout_bytes) as reader:
        assert reader.read_all().to_pylist() == [{"k": "x"}]
    assert "version 2 of q" in stream.stderr


def test_a_program_reads_rows_as_arrow(batches: Path) -> None:
    with connect(f"sqlite:///{batches}/r.db") as connection:
        read = connection.metastore.read_table
        assert read("q", batches).to_pydict() == {"k": ["a", "c", "x"], "n": [5, 3, 9]}
        assert read("Q", str(batches), columns=("n",), where={"k": "c"}).to_pylist() == [{"n": 3}]
        assert read("q", batches, version=0).to_pandas()["n"].tolist() == [1, 2]
        assert read("q", batches, batch=-1).num_rows == 2
        with pytest.raises(NoTableError, match="versions 0 to 2"):
            read("q", batches, version=9)
        with pytest.raises(Invalid, match="no column m"):
            read("q", batches, columns=("m",))
        vector = {"storageType": "u"}
        write_commit(batches / "q", 3, {"add": {"path": "2.parquet", "deletionVector": vector}})
        with pytest.raises(NeedsSparkError, match="deletion vectors"):
            read("q", batches)


@pytest.mark.parametrize("batch", [None, -1, 0, 1])
def test_a_batch_of_a_table_that_no_query_fills_is_not_there(root: Path, batch: int | None) -> None:
    """Batch 0 is a batch, and not all rows."""
    with connect(f"sqlite:///{root}/r.db") as connection:
        metastore = Metastore(connection.registry)
        if batch is None:
            assert metastore.read_table("t", root, batch=batch).num_rows == 2
        else:
            with pytest.raises(NoTableError):
                metastore.read_table("t", root, batch=batch)
