"""`treaty sql` as a person uses it, on a file and over HTTP."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from tests.behaviours.served import served
from treaty.cli.main import group
from treaty.cli.metastore.result_printer import say_result
from treaty.cli.terminal import confirmation
from treaty.wire.statements import StatementResultBody

Run = Callable[..., Result]
CREATE = "CREATE STREAM ${n} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '${n}', VALUE_FORMAT = 'AVRO', BAD_ROWS = true)"


@pytest.fixture(params=["file", "http"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    def command(url: str) -> Run:
        def run_words(*words: str, stdin: str | None = None, code: int = 0) -> Result:
            done = CliRunner().invoke(group, ["sql", *words], input=stdin, env={"TREATY_REGISTRY": url})
            assert done.exit_code == code, done.output
            return done

        return run_words

    if request.param == "file":
        yield command(f"sqlite://{tmp_path / 'log.db'}")
    else:
        with served("memory:") as running:
            yield command(running.url)


def test_statements_come_from_options_files_and_standard_input(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "streams.sql"
    file.write_text(CREATE + ";\nSHOW STREAMS;\n", "utf-8")
    done = run("-f", str(file), "--var", "n=flights").stdout
    assert "Stream flights created, and flights_bad" in done
    assert "flights      kafka" in done
    assert "BIGINT  key" in run(stdin="DESCRIBE flights").stdout
    assert run("-e", "SHOW CREATE STREAM flights").stdout.startswith("CREATE STREAM flights (\n  id BIGINT KEY,")
    (result,) = json.loads(run("-e", "SELECT name FROM treaty.sources ORDER BY name DESC", "--json").stdout)
    assert result["rows"] == [["flights_bad"], ["flights"]]


def test_errors_show_their_line_with_a_caret(run: Run) -> None:
    told = run("-e", "SHOW STREAMS;\n  CREATE STREEM x", code=1).output
    assert "line 2, column 10: STREEM stands where" in told
    assert "    CREATE STREEM x\n           ^^^^^^" in told
    listed = json.loads(run("-e", "SHO x", "--json", code=1).stdout)["error"]["diagnostics"]
    assert [one["code"] for one in listed] == ["STATEMENT_UNKNOWN"]
    assert "There is no stream or table x" in run("-e", "DROP STREAM x", code=1).output


def test_properties_list_the_one_that_stands_for_two(run: Run) -> None:
    (listed,) = json.loads(run("-e", "SHOW PROPERTIES", "--json").stdout)
    names = [row[0] for row in listed["rows"]]
    assert names == sorted(names)
    assert ["FORMAT", "AVRO, PROTOBUF, JSON", "KEY_FORMAT and VALUE_FORMAT at once"] in listed["rows"]


TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_times_are_for_people_and_numbers_in_json(run: Run) -> None:
    run("-e", CREATE.replace("${n}", "f"))
    run("-e", "CREATE STREAM gone (created BIGINT) WITH (KAFKA_TOPIC = 'g', VALUE_FORMAT = 'AVRO'); DROP STREAM gone")
    run("-e", "CREATE TYPE t AS INT")
    for text in ("SHOW DROPPED", "SELECT name, created FROM treaty.sources", "SELECT created FROM treaty.types"):
        (result,) = json.loads(run("-e", text, "--json").stdout)
        place = next(place for place, name in enumerate(result["columns"]) if name in {"time", "created"})
        assert all(isinstance(row[place], int) for row in result["rows"])
        shown = run("-e", text).stdout
        assert len(TIME.findall(shown)) == len(result["rows"])
        assert not any(str(row[place]) in shown for row in result["rows"])


def test_columns_of_rows_are_no_times(capsys: pytest.CaptureFixture[str]) -> None:
    for text, shown in (
        ("SELECT * FROM TABLE t", "7"),
        ("SELECT created FROM treaty.types", "1970-01-01T00:00:00.007Z"),
    ):
        say_result(StatementResultBody(text, "SELECT", columns=["created"], rows=[[7]]))
        assert capsys.readouterr().out.split() == ["created", shown]


def test_a_drop_of_what_is_not_there_says_it_once(run: Run) -> None:
    assert run("-e", "DROP STREAM IF EXISTS x").output.count("x does not exist") == 1
    assert "There is no" not in run("-e", "DROP STREAM IF EXISTS x").output
    assert run("-e", "DROP TYPE IF EXISTS x").stdout == "Type x does not exist\n"


def test_a_script_that_fails_on_the_way_is_one_document_of_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    create = CREATE.replace("${n}", "f")
    for words in (["-e", f"{create}; DROP STREAM x"], ["-e", "SHOW TYPES", "-e", "DROP STREAM x"]):
        error = json.loads(run(*words, "--json", code=1).stdout)["error"]
        assert (error["rule"], error["failed"]) == ("SOURCE_NOT_FOUND", "DROP STREAM x")
        assert [result["kind"] for result in error["results"]] == ["CREATE STREAM" if len(words) == 2 else "SHOW TYPES"]
    text = "SHOW TYPES; DROP STREAM f CASCADE"
    unsure = json.loads(run("-e", text, "--json", stdin="y\n", code=2).stdout)["error"]
    assert (unsure["rule"], [result["kind"] for result in unsure["results"]]) == ("USAGE", ["SHOW TYPES"])
    monkeypatch.setattr(confirmation, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    aborted = json.loads(run("-e", text, "--json", stdin="n\n", code=1).stdout)["error"]
    assert (aborted["rule"], [result["kind"] for result in aborted["results"]]) == ("ABORTED", ["SHOW TYPES"])
    assert "results" not in json.loads(run("-e", "DROP STREAM x", "--json", code=1).stdout)["error"]


def test_a_cascade_is_shown_and_asked_for(run: Run) -> None:
    run("-e", CREATE, "--var", "n=f")
    asked = run("-e", "DROP STREAM f CASCADE", stdin="y\n", code=2).output
    assert "CASCADE drops: f_bad, f" in asked
    assert "there is no terminal to confirm on; add --yes" in asked
    assert "f would be dropped" in run("-e", "DROP STREAM f", "--dry-run").output
    assert "f_bad, f dropped" in run("-e", "DROP STREAM f CASCADE", "--yes").output
    assert run("-e", "SHOW STREAMS").stdout == ""


def test_a_statement_without_its_option_is_answered_with_the_form(run: Run) -> None:
    done = run("SHOW STREAMS", code=2)
    assert "statements are given with -e: treaty sql -e 'SHOW STREAMS'" in done.stderr
    assert "unexpected extra argument" in run("streams", code=2).stderr


def test_a_script_of_one_commit_is_carried_out_whole_or_not_at_all(run: Run) -> None:
    run("-e", CREATE, "--var", "n=f")
    script = "CREATE TYPE t AS INT;\nALTER STREAM f ADD COLUMN x t;\n DROP TYPE nosuch"
    failed = run("-e", script, "--atomic", code=1).output
    assert "statement 3, line 3:" in failed
    assert "Nothing of the script was carried out." in failed
    place = json.loads(run("-e", script, "--atomic", "--json", code=1).stdout)["error"]["place"]
    assert (place["index"], script[place["start"] : place["end"]]) == (2, "DROP TYPE nosuch")
    assert run("-e", "SHOW TYPES").stdout == ""
    fit = ("-e", "CREATE TYPE t AS INT", "-e", "ALTER STREAM f ADD COLUMN x t", "--atomic")
    assert "Stream f would be changed" in run(*fit, "--dry-run").output
    assert "Stream f changed" in run(*fit).output
    assert "CASCADE drops: f_bad, f" in run("-e", "DROP STREAM f CASCADE", "--atomic", stdin="y\n", code=2).output
    assert "f_bad, f dropped" in run("-e", "DROP STREAM f CASCADE", "--atomic", "--yes").output
