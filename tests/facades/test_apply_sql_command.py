"""`treaty apply`, `treaty plan` and `treaty metastore export` of SQL as a person and a CI job use them."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.planning import SelectPlanner
from treaty.cli.main import group
from treaty.cli.metastore import project, wait_notice
from treaty.metastore import PlanningOptions

Run = Callable[..., Result]
STREAM = "CREATE STREAM flights (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '${env}-flights', VALUE_FORMAT = 'AVRO');\n"
SETTINGS = '[project]\nlabel = "flights"\n[project.variables]\nenv = "test"\n'


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run_words(*words: str, stdin: str | None = None, code: int = 0, log: str = "log.db") -> Result:
        url = f"sqlite://{tmp_path / log}"
        done = CliRunner().invoke(group, list(words), input=stdin, env={"TREATY_REGISTRY": url})
        assert done.exit_code == code, done.output
        return done

    return run_words


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sql"
    folder.mkdir()
    folder.joinpath("flights.sql").write_text(STREAM, "utf-8")
    folder.joinpath("treaty.toml").write_text(SETTINGS, "utf-8")
    return folder


def test_a_folder_is_planned_shown_applied_and_then_has_nothing_to_do(run: Run, folder: Path) -> None:
    shown = run("plan", str(folder), code=3).output
    assert f"+ stream flights ({folder / 'flights.sql'}:1)\n    + CREATE STREAM flights (" in shown
    assert "Plan: 1 created." in shown
    assert "there is no terminal to confirm on; add --yes" in run("apply", str(folder), code=2).output
    assert "Applied: 1 statement." in run("apply", str(folder), "--yes").output
    assert "Nothing to do: 1 unchanged." in run("apply", str(folder)).output
    assert "'test-flights'" in run("metastore", "export").output
    plan = json.loads(run("apply", str(folder), "--dry-run", "--var", "env=prod", "--json", code=3).stdout)
    (step,) = plan["steps"]
    assert (step["action"], step["kind"], step["name"], step["line"]) == ("change", "STREAM", "flights", 1)
    assert any("prod-flights" in line for line in step["differences"] if line.startswith("+"))
    assert (plan["label"], plan["dry_run"], plan["applied"], plan["fine"]) == ("flights", True, 0, True)


QUERY = "CREATE STREAM late AS SELECT carrier FROM STREAM flights"


def test_nobody_to_ask_is_said_before_queries_are_planned(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query is planned by a JVM in half a minute; what is refused without one, and nothing to do, are said as ever."""
    folder.joinpath("late.sql").write_text(QUERY, "utf-8")
    planners: list[SelectPlanner] = []

    @contextmanager
    def open_select_planning(*_: object) -> Iterator[PlanningOptions]:
        planners.append(SelectPlanner())
        yield PlanningOptions(planners[-1])

    monkeypatch.setattr(project, "open_planning", open_select_planning)
    assert "there is no terminal to confirm on; add --yes" in run("apply", str(folder), code=2).output
    assert planners[-1].planned == 0
    told = run("apply", str(folder), "--yes").output
    assert "columns: carrier STRING\n" in told
    assert "Nothing to do: 2 unchanged." in run("apply", str(folder)).output
    folder.joinpath("late.sql").write_text("CREATE STREAM late WITH (KAFKA_TOPIC = 'nobody')", "utf-8")
    assert "SUBJECT_NOT_FOUND" in run("apply", str(folder), code=1).output


def test_what_takes_long_is_said_on_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_SECONDS", 0.01)
    with wait_notice.WaitNotice("planning"):
        while not (told := capsys.readouterr().err):
            time.sleep(0.01)
    assert told == "planning\n"
    with wait_notice.WaitNotice(""):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_what_the_folder_lacks_is_dropped_within_its_label_alone(run: Run, folder: Path) -> None:
    folder.joinpath("old.sql").write_text(STREAM.replace("flights", "old"), "utf-8")
    run("apply", str(folder), "--yes")
    run("sql", "-e", STREAM.replace("flights", "byhand"), "--var", "env=x")
    folder.joinpath("old.sql").unlink()
    told = run("apply", str(folder)).output
    assert "note: old has the label flights and is in no file: --prune would drop it\n" in told
    assert "Nothing to do: 1 unchanged." in told
    noted = json.loads(run("plan", str(folder), "--json").stdout)["notes"]
    assert noted == ["old has the label flights and is in no file: --prune would drop it"]
    assert "- stream old\n    - CREATE STREAM old (" in run("apply", str(folder), "--prune", "--yes").output
    assert "byhand" in run("metastore", "export").output
    folder.joinpath("treaty.toml").unlink()
    told = run("apply", str(folder), "--prune", "--var", "env=test", code=2).output
    assert "--prune drops what has the label of this project, and it has none: give --label NAME" in told


PLACE, WAY = (
    "CREATE TYPE {name} AS STRUCT<city: STRING, country: STRING>",
    "CREATE TYPE way AS STRUCT<from: place, to: place>",
)


def test_types_that_the_folder_lacks_are_dropped_within_its_label_alone(run: Run, folder: Path) -> None:
    """Users go before what they use; a type that something outside of the project uses stays, with its name."""
    run("sql", "-e", PLACE.format(name="byhand"))
    for name, text in (("byhand", PLACE.format(name="byhand")), ("place", PLACE.format(name="place")), ("way", WAY)):
        folder.joinpath(f"{name}.sql").write_text(text, "utf-8")
    run("apply", str(folder), "--yes")
    exported = run("metastore", "export").output
    assert "CREATE TYPE byhand AS STRUCT<city: STRING, country: STRING>;" in exported, "a type keeps what it has"
    assert "CREATE TYPE place AS STRUCT<city: STRING, country: STRING> WITH (LABEL = 'flights');" in exported
    assert "Nothing to do: 4 unchanged." in run("apply", str(folder), "--prune").output
    for name in ("byhand", "place", "way"):
        folder.joinpath(f"{name}.sql").unlink()
    run("sql", "-e", "CREATE TYPE theirs AS ARRAY<way>")
    told = run("apply", str(folder), "--prune", "--yes", code=1).output
    assert "TYPE_USED The type way is used by theirs" in told
    assert "Nothing is written." in told
    assert "Plan: 1 unchanged, 2 refused." in told
    assert "note: way has the label flights and is in no file" in run("plan", str(folder)).output
    run("sql", "-e", "DROP TYPE theirs")
    told = run("apply", str(folder), "--prune", "--yes").output
    assert told.index("dropped: type way") < told.index("dropped: type place")
    assert "CREATE TYPE byhand" in run("metastore", "export").output


def test_a_type_and_the_stream_that_uses_it_go_together(run: Run, folder: Path) -> None:
    folder.joinpath("place.sql").write_text(PLACE.format(name="place"), "utf-8")
    folder.joinpath("old.sql").write_text(
        "CREATE STREAM old (home place) WITH (KAFKA_TOPIC = 'o', VALUE_FORMAT = 'AVRO')", "utf-8"
    )
    run("apply", str(folder), "--yes")
    for name in ("place", "old"):
        folder.joinpath(f"{name}.sql").unlink()
    told = run("apply", str(folder), "--prune", "--yes").output
    assert told.index("dropped: stream old") < told.index("dropped: type place")
    assert "Nothing to do: 1 unchanged." in run("apply", str(folder), "--prune").output


def test_a_type_of_another_project_is_not_changed(run: Run, folder: Path) -> None:
    run("sql", "-e", f"{PLACE.format(name='place')} WITH (LABEL = 'others')")
    folder.joinpath("place.sql").write_text(PLACE.format(name="place"), "utf-8")
    told = run("apply", str(folder), "--yes", code=1).output
    assert "LABEL_DIFFERS place belongs to the project with the label others" in told
    folder.joinpath("place.sql").write_text(f"{PLACE.format(name='spot')} WITH (LABEL = 'others')", "utf-8")
    told = run("apply", str(folder), "--yes", code=1).output
    assert "LABEL_DIFFERS spot says LABEL = 'others', and the project has the label flights" in told
    told = run("sql", "-e", f"{PLACE.format(name='q')} WITH (KAFKA_TOPIC = 'x')", code=1).output
    assert "KAFKA_TOPIC is no property of a type; a type has LABEL alone" in told


def test_what_is_refused_has_its_file_and_line_and_nothing_is_written(run: Run, folder: Path) -> None:
    folder.joinpath("a.sql").write_text("\nCREATE STREAM a WITH (KAFKA_TOPIC = 'nobody');", "utf-8")
    told = run("apply", str(folder), "--yes", code=1).output
    assert f"{folder / 'a.sql'}:2:1: SUBJECT_NOT_FOUND nobody-value has no schema here" in told
    assert "Nothing is written." in told
    assert run("metastore", "export", code=0).output.strip() == ""
    annotated = run("plan", str(folder), "--output-format", "github", code=1).output
    assert f"::error file={folder / 'a.sql'},line=2,col=1,title=SUBJECT_NOT_FOUND::" in annotated
    folder.joinpath("a.sql").write_text("CREATE STREEM a;\nSHOW STREAMS", "utf-8")
    error = json.loads(run("apply", str(folder), "--json", code=2).stdout)["error"]
    assert [(one["file"], one["line"], one["rule"]) for one in error["problems"]] == [
        (str(folder / "a.sql"), 1, "SYNTAX"),
        (str(folder / "a.sql"), 2, "PROJECT_STATEMENT"),
    ]


@pytest.mark.parametrize(
    ("text", "rule", "place"),
    [
        ("CREATE STREAM a (id INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMT = 'AVRO')", "PROPERTY_UNKNOWN", (1, 51)),
        ("\nSHOW STREAMS", "PROJECT_STATEMENT", (2, 1)),
        ("CREATE TYPE a AS ARRAY<b>; CREATE TYPE b AS ARRAY<a>", "PROJECT_CIRCLE", (1, 1)),
    ],
)
@pytest.mark.parametrize("command", ["plan", "compile"])
def test_errors_of_files_are_annotated_from_the_current_folder(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, text: str, rule: str, place: tuple[int, int]
) -> None:
    """Whatever is wrong with a file is named as GitHub finds it, as text, as an annotation and as JSON."""
    folder.joinpath("nested").mkdir()
    folder.joinpath("nested", "a.sql").write_text(text, "utf-8")
    monkeypatch.chdir(folder.parent)
    done = run(command, "sql", "--output-format", "github", code=2)
    line, column = place
    assert f"::error file=sql/nested/a.sql,line={line},col={column},title={rule}::" in done.stdout
    assert f"sql/nested/a.sql:{line}:{column}: {rule} " in done.stderr
    (problem,) = json.loads(run(command, "sql", "--json", code=2).stdout)["error"]["problems"]
    assert (problem["file"], problem["line"], problem["column"]) == ("sql/nested/a.sql", line, column)


def test_a_lock_with_errors_is_annotated(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.joinpath("treaty.lock").write_text("format = 2", "utf-8")
    monkeypatch.chdir(folder.parent)
    annotated = run("compile", "sql", "--output-format", "github", code=2).stdout
    assert annotated.startswith("::error file=sql/treaty.lock,")


def test_a_folder_without_sql_and_schemas_is_a_wrong_path(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    empty.joinpath("notes.txt").write_text("nothing", "utf-8")
    for words in (["plan"], ["apply", "--yes"], ["apply", "--dry-run"]):
        told = run(*words, str(empty), code=2).output
        assert f"{empty} has no file of SQL (.sql) and no schema (" in told
        assert ".avsc" in told
    assert json.loads(run("plan", str(empty), "--json", code=2).stdout)["error"]["rule"] == "PROJECT_EMPTY"
    for command in ("compile", "lock"):
        assert "PROJECT_EMPTY no file of SQL is here" in run(command, str(empty), code=2).output


def test_a_project_is_emptied_where_its_settings_say_the_label(run: Run, folder: Path, tmp_path: Path) -> None:
    run("apply", str(folder), "--yes")
    folder.joinpath("flights.sql").unlink()
    assert "has no file of SQL" in run("plan", str(folder), code=2).output
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    told = run("apply", str(wrong), "--prune", "--label", "flights", "--yes", code=2).output
    assert "to drop all of a project, keep its treaty.toml in the folder, with its label" in told
    assert "Plan: 1 dropped." in run("plan", str(folder), "--prune", code=3).output
    assert "dropped: stream flights" in run("apply", str(folder), "--prune", "--yes").output
    assert "Nothing to do: no objects." in run("apply", str(folder), "--prune").output


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("[project]\nlable = 'x'", "[project] has no member lable (known are label, variables)"),
        ("[project]\nlabel = 1", "the label is no text, or too long"),
        ("[project.variables]\nenv = 1", "variables are texts"),
        ("project = 1", "project is no table"),
        ("[", "it can't be read"),
    ],
)
def test_settings_that_are_wrong_are_refused(run: Run, folder: Path, settings: str, told: str) -> None:
    folder.joinpath("treaty.toml").write_text(settings, "utf-8")
    assert told in run("plan", str(folder), code=2).output


def test_an_export_is_applied_to_another_registry_and_is_the_same_there(run: Run, folder: Path, tmp_path: Path) -> None:
    run("apply", str(folder), "--yes")
    text = run("metastore", "export").output
    file = tmp_path / "all.sql"
    file.write_text(text, "utf-8")
    run("apply", str(file), "--yes", log="other.db")
    assert run("metastore", "export", log="other.db").output == text
    out = tmp_path / "out"
    assert "1 file written" in run("metastore", "export", "--folder", str(out)).output
    assert "Nothing to do" in run("apply", str(out)).output
    assert "is not empty" in run("metastore", "export", "--folder", str(out), code=2).output
    (one,) = json.loads(run("metastore", "export", "--json").stdout)
    assert (one["kind"], one["name"], one["file"]) == ("STREAM", "flights", "streams/flights.sql")


def test_paths_and_options_that_do_not_go_together_are_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    folder.joinpath("order.avsc").write_text('"string"', "utf-8")
    assert "has files of SQL and schemas, such as order.avsc" in run("apply", str(folder), code=2).output
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "are about SQL" in run("apply", str(empty), "--prune", code=2).output
    empty.joinpath("x.txt").write_text("", "utf-8")
    assert "is no folder and no file of SQL" in run("plan", str(empty / "x.txt"), code=2).output


def test_a_check_says_what_is_wrong_with_the_remedy_and_its_exit_code(run: Run) -> None:
    run("sql", "-e", STREAM, "--var", "env=test")
    assert run("metastore", "check").output == "0 problems, 0 notes.\n"
    run(
        "sql",
        "-e",
        "CREATE STREAM j (x INT) WITH (KAFKA_TOPIC = 'test-flights', VALUE_FORMAT = 'JSON', SUBJECT = 'other')",
    )
    told = run("metastore", "check", code=1).output
    assert (
        "stream j: TOPIC_FORMATS it reads the values of the topic test-flights as JSON prefix, and flights as AVRO prefix"
        in told
    )
    assert "    remedy: one format and framing for a topic, or another topic" in told
    (finding,) = json.loads(run("metastore", "check", "--json", code=1).stdout)["findings"]
    assert (finding["severity"], finding["kind"], finding["name"]) == ("problem", "STREAM", "j")
