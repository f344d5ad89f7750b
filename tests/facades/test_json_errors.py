"""With --json an error is a JSON object on stdout, whatever went wrong, and the output of a full disk is no traceback."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import treaty
from treaty.cli.main import group

Run = Callable[..., Result]
ENUM = '{"type":"enum","name":"E","symbols":["A"]}'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command with a registry that has one subject."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite://{tmp_path}/r.db"
    with treaty.connect(url) as registry:
        registry.register("e", ENUM)

    def command(*words: str, code: int = 0, stdin: str | None = None) -> Result:
        done = CliRunner().invoke(group, list(words), env={"TREATY_REGISTRY": url}, input=stdin)
        assert done.exit_code == code, done.output
        return done

    return command


@pytest.mark.parametrize(
    ("words", "code", "rule"),
    [
        (("schema", "get", "nope", "--json"), 1, "SUBJECT_NOT_FOUND"),
        (("schema", "get", "e", "7", "--json"), 1, "VERSION_NOT_FOUND"),
        (("schema", "get", "e", "x", "--json"), 2, "USAGE"),
        (("schema", "get", "--json"), 2, "USAGE"),
        (("nonsense", "--json"), 2, "USAGE"),
        (("canonical", "gone.avsc", "--json"), 2, "UNUSABLE"),
        (("canonical", "-", "--json"), 2, "INVALID_SCHEMA"),
        (("check", "-", "gone.avsc", "--output-format", "json"), 2, "UNUSABLE"),
        (("subject", "list", "--registry", "http://127.0.0.1:9", "--json"), 2, "REGISTRY_UNREACHABLE"),
        (("subject", "list", "--registry", "sqlite:///nowhere/at/all.db", "--json"), 2, "UNUSABLE"),
        (("subject", "list", "--registry", "127.0.0.1:8081", "--json"), 2, "REGISTRY_UNREACHABLE"),
        (("export", "--registry", "http://127.0.0.1:9", "--json"), 2, "USAGE"),
    ],
)
def test_every_error_is_json_where_json_is_asked_for(run: Run, words: tuple[str, ...], code: int, rule: str) -> None:
    done = run(*words, code=code, stdin='{"type": "record"')
    error = json.loads(done.stdout)["error"]

    assert error["rule"] == rule
    assert error["message"]
    assert error["message"].splitlines()[0] in done.stderr


def test_a_refusal_has_its_code_and_what_would_be_allowed(run: Run) -> None:
    error = json.loads(run("schema", "get", "nope", "--json", code=1).stdout)["error"]

    assert (error["code"], error["subject"]) == (40401, "nope")


def test_what_deletes_and_what_exports_prints_json(run: Run, tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/r.db"
    exported = json.loads(run("export", "--registry", url, "--output", "dump.jsonl", "--json").stdout)
    gone = json.loads(run("schema", "delete", "e", "1", "--yes", "--json").stdout)

    assert (exported["versions"], exported["problems"]) == (1, [])
    assert gone == {"subject": "e", "version": 1, "id": 1, "permanent": False}


def test_a_context_that_is_not_there_is_not_said_to_be_deleted(run: Run) -> None:
    assert json.loads(run("context", "delete", ".dev", "--yes", "--json").stdout) == {
        "context": ".dev",
        "deleted": False,
    }
    assert "nothing was deleted" in run("context", "delete", ".dev", "--yes").stdout


def test_all_versions_are_listed(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/many.db"
    with treaty.connect(url) as registry:
        for number in range(1_005):
            registry.register(f"s{number:04}", ENUM)
    words = ["schema", "list", "--registry", url, "--json"]

    assert len(json.loads(CliRunner().invoke(group, words).stdout)) == 1_005
    assert len(json.loads(CliRunner().invoke(group, [*words, "--limit", "1003"]).stdout)) == 1_003


def test_a_full_disk_is_an_error_and_no_traceback() -> None:
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "treaty.cli.main", "openapi"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "Error: the output cannot be written: No space left on device\n"


def test_a_misspelt_command_is_answered_with_the_nearest_ones(run: Run) -> None:
    assert "No such command 'schem'; did you mean schema?" in run("schem", code=2).stderr
    assert run("-V").stdout.startswith("treaty, version ")


def test_a_text_that_is_no_schema_is_not_taken_for_protobuf(run: Run) -> None:
    Path("x.txt").write_text("hello")

    assert "the format of x.txt is unknown; add --format" in run("canonical", "x.txt", code=2).stderr
