"""`treaty lock` and `treaty compile`: files are pinned to what they take from a registry, and checked without one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treaty.cli.main import group

Run = Callable[..., Result]
OUTER = (
    "CREATE TYPE airport AS STRUCT<code STRING>; CREATE STREAM flights (id BIGINT KEY, origin airport, note STRING COMMENT 'it''s $${x}')"
    " WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"
)
LOCK = """# Written by `treaty lock`: what the files beside it take from the registry. Keep it under version control;
# `treaty compile` checks the files against it without a registry.
format = 1

[source."flights"]
kind = "STREAM"
generation = 2
revision = 1
pins = "flights-value id 1"
columns = [
  "id BIGINT KEY",
  "origin airport",
  "note STRING COMMENT 'it\\\\'s $${x}'",
]

[subject."flights-value"]
format = "AVRO"
version = 1
schema_id = 1
generation = 2
ordinal = 0
guid = "GUID"
columns = [
  "origin STRUCT<code: STRING>",
  "note STRING COMMENT 'it\\\\'s $${x}'",
]

[type."airport"]
generation = 1
definition = "STRUCT<code: STRING>"
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run_words(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(group, list(words), env={"TREATY_REGISTRY": f"sqlite://{tmp_path / 'log.db'}"})
        assert done.exit_code == code, done.output
        return done

    return run_words


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sql"
    folder.mkdir()
    texts = {
        "copy": "CREATE STREAM copy WITH (KAFKA_TOPIC = 'flights')",
        "stops": "CREATE STREAM stops (at airport, n INT) WITH (KAFKA_TOPIC = 'stops', VALUE_FORMAT = 'PROTOBUF')",
        "late": "CREATE STREAM late AS WITH c AS (SELECT * FROM STREAM flights) SELECT * FROM c JOIN stops ON true",
    }
    for name, text in texts.items():
        folder.joinpath(f"{name}.sql").write_text(text, "utf-8")
    return folder


def test_the_lock_is_a_stable_text_and_the_files_are_compiled_against_it(run: Run, folder: Path) -> None:
    run("sql", "-e", OUTER)
    told = run("compile", str(folder), "--no-bodies", code=1).output
    rules = ["SUBJECT_NOT_LOCKED", "READ_NOT_FOUND", "TYPE_NOT_FOUND"]
    assert [line.split()[1] for line in told.splitlines()[:3]] == rules
    assert "treaty.lock is written: 3 objects." in run("lock", str(folder)).output
    text = folder.joinpath("treaty.lock").read_text("utf-8")
    guid = text.partition('guid = "')[2].partition('"')[0]
    assert text == LOCK.replace("GUID", guid)
    assert "is up to date" in run("lock", str(folder), "--check").output
    assert "is up to date" in run("lock", str(folder)).output
    assert folder.joinpath("treaty.lock").read_text("utf-8") == text
    assert run("compile", str(folder), "--no-bodies").output == "3 objects, 0 problems.\n"
    compiled = json.loads(run("compile", str(folder), "--no-bodies", "--json").stdout)
    assert {one["name"]: one["columns"] for one in compiled["objects"]} == {
        "copy": ["origin STRUCT<code: STRING>", "note STRING COMMENT 'it\\'s $${x}'"],
        "stops": ["at airport", "n INT"],
        "late": [],
    }


def test_a_lock_that_is_written_is_not_called_up_to_date(run: Run, folder: Path) -> None:
    """Also where it has nothing in it, or only its text was another one."""
    for name in ("copy", "late", "stops"):
        folder.joinpath(f"{name}.sql").unlink()
    folder.joinpath("t.sql").write_text("CREATE TYPE t AS INT", "utf-8")
    run("sql", "-e", "CREATE TYPE other AS INT")
    assert "treaty.lock is written: 0 objects." in run("lock", str(folder)).output
    assert "treaty.lock is up to date: 0 objects." in run("lock", str(folder)).output
    file = folder / "treaty.lock"
    file.write_text(file.read_text("utf-8") + "# mine\n", "utf-8")
    assert "is up to date" in run("lock", str(folder), "--check").output
    assert "treaty.lock is written: 0 objects." in run("lock", str(folder)).output


def test_what_has_moved_is_named(run: Run, folder: Path, tmp_path: Path) -> None:
    run("sql", "-e", OUTER)
    run("lock", str(folder))
    run(
        "sql",
        "-e",
        "CREATE STREAM more (gate INT, origin airport) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')",
    )
    log = f"sqlite://{tmp_path / 'log.db'}"
    told = run("compile", str(folder), "--no-bodies", "--registry", log, code=1).output
    assert "subject flights-value has moved: it was version 1, schema id 1" in told
    assert "and is version 2, schema id 2" in told
    checked = run("lock", str(folder), "--check", code=1).output
    assert "~ subject flights-value\n    - version 1, schema id 1" in checked
    folder.joinpath("copy.sql").write_text(
        "CREATE STREAM copy WITH (KAFKA_TOPIC = 'flights', VALUE_SCHEMA_ID = 2)", "utf-8"
    )
    assert (
        "SUBJECT_MOVED the subject flights-value has moved: the file says schema id 2, and the lock 1"
        in run("compile", str(folder), "--no-bodies", code=1).output
    )
    run("lock", str(folder))
    assert run("compile", str(folder), "--no-bodies", "--registry", log).output == "3 objects, 0 problems.\n"


def test_a_source_that_is_there_is_locked_to_what_it_is_bound_to(run: Run, folder: Path) -> None:
    run("sql", "-e", OUTER)
    run("sql", "-e", "CREATE STREAM copy WITH (KAFKA_TOPIC = 'flights')")
    run("sql", "-e", "CREATE STREAM more (gate INT) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')")
    run("lock", str(folder))
    assert "version = 1\n" in folder.joinpath("treaty.lock").read_text("utf-8")


def test_heads_are_typed_without_a_registry(run: Run, folder: Path) -> None:
    run("sql", "-e", OUTER)
    run("lock", str(folder))
    folder.joinpath("stops.sql").write_text(
        "CREATE STREAM stops (m MAP<STRING, ARRAY<ARRAY<INT>>>) WITH (KAFKA_TOPIC = 'stops', VALUE_FORMAT = 'PROTOBUF')",
        "utf-8",
    )
    folder.joinpath("x.sql").write_text("CREATE STREAM x (a INT) WITH (VALUE_FORMAT = 'AVRO')", "utf-8")
    folder.joinpath("y.sql").write_text(
        "CREATE STREAM y WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'JSON')", "utf-8"
    )
    folder.joinpath("late.sql").write_text("CREATE STREAM late AS SELECT * FROM STREAM flight", "utf-8")
    annotated = run("compile", str(folder), "--no-bodies", "--output-format", "github", code=1).output
    found = [
        line.partition("title=")[2].partition("::")[0] for line in annotated.splitlines() if line.startswith("::error")
    ]
    assert found == ["READ_NOT_FOUND", "COLUMN_TYPE", "PROPERTY_MISSING", "SOURCE_FORMAT"]
    assert "did you mean flights?" in annotated
    assert f"::error file={folder / 'late.sql'},line=1,col=44,title=READ_NOT_FOUND" in annotated
    folder.joinpath("late.sql").write_text("CREATE TYPE late AS ARRAY<\n airprot>", "utf-8")
    annotated = run("compile", str(folder), "--no-bodies", "--output-format", "github", code=1).output
    assert f"::error file={folder / 'late.sql'},line=2,col=2,title=TYPE_NOT_FOUND" in annotated
    assert "did you mean airport?" in annotated


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("format = 2", "its format is not 1"),
        ("[", "it is no TOML"),
        ("format = 1\n[sauce.x]\na = 1", "it has no table sauce; known are source, subject, type"),
        ("format = 1\n[source]\nx = 1", "source.x is no table"),
        ("format = 1\n[source.x]\ncolumns = [1]", "the columns of source.x are no texts"),
        ("format = 1\n[source.x]\na = 1.5", "a member of source.x is neither a text nor a number"),
        ("format = 1\n[type.x]\ndefinition = 'STRUCT<'", "the definition of type.x is no type"),
    ],
)
def test_a_lock_that_is_none_is_refused(run: Run, folder: Path, text: str, told: str) -> None:
    folder.joinpath("treaty.lock").write_text(text, "utf-8")
    output = run("compile", str(folder), "--no-bodies", code=2).output
    assert told in output
    assert "`treaty lock` writes it anew" in output
