"""Exports of a metastore and the files of a folder at their edges: names of files, shared schemas, what stands beside a CREATE, and limits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.behaviours.test_projects import put_query
from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.registry import run_exchange
from treaty.core.schema import Draft
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.project import make_plan, parse_project, read_project_files
from treaty.metastore.project.export import FILE_CHARACTERS, export_objects
from treaty.metastore.project.files import InvalidProjectError, ProjectFile, has_project_files

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')"
MESSAGES = 'syntax = "proto3"; message M { int32 a = 1; } message N { string b = 1; }'
LONG = "n" * FILE_CHARACTERS
NAMES = (
    "A",
    "b.c",
    "b_c",
    "b/c",
    "b%2Fc",
    "..",
    "ä",
    "a b",
    LONG,
    f"{LONG}1",
    f"{LONG}2",
    f"{LONG}.1",
    "é" * 40,
    "é" * 41,
)


@pytest.fixture
def connection() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


def test_every_name_has_a_file_of_its_own_below_the_folder_of_its_kind(connection: Connection, tmp_path: Path) -> None:
    metastore = Metastore(connection.registry)
    metastore.run(
        "; ".join(STREAM.format(f"`{name}`") for name in NAMES) + "; CREATE TYPE a AS INT; CREATE TYPE `b.c` AS INT"
    )
    objects = run_exchange(connection.registry, export_objects())
    assert {one.name for one in objects if one.kind == "STREAM"} == set(NAMES)
    paths = [one.path for one in objects]
    assert len({path.lower() for path in paths}) == len(paths) == len(NAMES) + 2
    for one in objects:
        file = tmp_path / one.path
        assert file.parent == tmp_path / ("types" if one.kind == "TYPE" else "streams")
        file.parent.mkdir(exist_ok=True)
        file.write_text(one.text, "utf-8")
    project = parse_project(read_project_files(tmp_path))
    assert {described.name for described in project.objects} == {*NAMES, "a"}
    assert make_plan(metastore, project).changes == ()


@pytest.mark.parametrize(
    ("words", "shared"),
    [
        (("SUBJECT = 'p'", "SUBJECT = 'p'"), 2),
        (("SUBJECT = 'p', VALUE_SCHEMA_FULL_NAME = 'N'", "SUBJECT = 'p', VALUE_SCHEMA_FULL_NAME = 'N'"), 2),
        (("SUBJECT = 'p', VALUE_SCHEMA_FULL_NAME = 'N'", "SUBJECT = 'p'"), 0),
        (("SUBJECT = 'p'", "SUBJECT = 'q'"), 0),
    ],
)  # fmt: skip
def test_columns_are_left_out_only_where_both_read_the_same_message_of_one_schema(
    connection: Connection, words: tuple[str, str], shared: int
) -> None:
    for subject in "pq":
        connection.register(subject, Draft(MESSAGES, "PROTOBUF"))
    metastore = Metastore(connection.registry)
    for name, word in zip("ab", words, strict=True):
        metastore.run(f"CREATE STREAM {name} WITH (KAFKA_TOPIC = '{name}', {word})")
    objects = run_exchange(connection.registry, export_objects())
    assert sum("(\n" not in one.text for one in objects) == max(0, shared - 1)
    assert make_plan(metastore, parse_project([ProjectFile(one.path, one.text) for one in objects])).changes == ()


def test_what_stands_beside_a_create_is_exported(connection: Connection) -> None:
    metastore = Metastore(connection.registry)
    metastore.run(STREAM.format("s"))
    for name in ("paused", "runs"):
        put_query(metastore, name, "SELECT * FROM STREAM s", ("s",))
    metastore.run("PAUSE paused; ALTER STREAM s SET PROTECTED = true; ALTER STREAM paused SET PROTECTED = true")
    texts = {one.name: one.text for one in run_exchange(connection.registry, export_objects())}
    beside = {
        name: [line for line in text.splitlines() if line.startswith(("ALTER", "PAUSE"))]
        for name, text in texts.items()
    }
    assert beside == {
        "s": ["ALTER STREAM s SET PROTECTED = TRUE;"],
        "paused": ["ALTER STREAM paused SET PROTECTED = TRUE;", "PAUSE paused;"],
        "runs": [],
    }
    assert "id BIGINT KEY" in texts["s"]


def test_a_source_that_a_query_reads_into_the_same_subject_keeps_its_columns(connection: Connection) -> None:
    """Both have one schema, and the columns of the query are those of what it reads: columns that are left out would come from nowhere."""
    metastore = Metastore(connection.registry, planning=PlanningOptions(planner=SelectPlanner()))
    metastore.run(STREAM.format("s"))
    metastore.run("CREATE STREAM q WITH (SUBJECT = 't-value') AS SELECT carrier FROM STREAM s")
    parts = [connection.ask(DescribeSource(name)).answer.source.value for name in "qs"]
    assert [part.pin.subject for part in parts if part is not None and part.pin is not None] == ["t-value"] * 2
    texts = {one.name: one.text for one in run_exchange(connection.registry, export_objects())}
    assert "carrier STRING" in texts["s"]


def test_a_folder_has_as_many_files_as_its_limit_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.metastore.project.files.PROJECT_FILES", 3)
    for name in ("a.sql", "b/c.sql", "b/d.sql", "_skipped/e.sql", ".hidden/f.sql", "b/_g.sql", "b/h.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("CREATE TYPE t AS INT", "utf-8")
    assert [Path(file.path).relative_to(tmp_path).as_posix() for file in read_project_files(tmp_path)] == [
        "a.sql",
        "b/c.sql",
        "b/d.sql",
    ]
    (tmp_path / "z.sql").write_text("", "utf-8")
    with pytest.raises(InvalidProjectError, match="4 files are more than the limit PROJECT_FILES of 3"):
        read_project_files(tmp_path)
    assert (
        has_project_files(tmp_path),
        has_project_files(tmp_path / "_skipped"),
        has_project_files(tmp_path / "b" / "h.txt"),
    ) == (True, True, False)


def test_a_file_is_as_large_as_its_limit_and_no_larger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.metastore.project.files.SCRIPT_BYTES", 5)
    file = tmp_path / "a.sql"
    for text, fits in (("ä---", True), ("ää--", False), ("-----", True), ("------", False)):
        file.write_text(text, "utf-8")
        if fits:
            assert read_project_files(file)[0].text == text
        else:
            with pytest.raises(
                InvalidProjectError, match=f"the file has {len(text.encode())} bytes, and the limit SCRIPT_BYTES is 5"
            ):
                read_project_files(file)
