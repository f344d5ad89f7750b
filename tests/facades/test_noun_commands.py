"""`treaty subject`, `schema`, `config`, `mode` and `context` as a person uses them, on a file and over HTTP."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from tests.behaviours.peer import PEERS, peer
from tests.behaviours.scripted import scripted
from tests.behaviours.served import served
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.cli.terminal import confirmation

Run = Callable[..., Result]

ENUM = '{"type":"enum","name":"E","symbols":["A"]}'
WIDER = '{"type":"enum","name":"E","symbols":["A","B"]}'


@pytest.fixture(params=["file", "http"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "file":
        url = f"sqlite://{tmp_path / 'log.db'}"
        connect(url).close()
        yield url
    else:
        with served("memory:") as running:
            yield running.url


@pytest.fixture
def run(registry: str) -> Run:
    def command(*words: str, stdin: str | None = None, code: int = 0) -> Result:
        done = CliRunner().invoke(group, list(words), input=stdin, env={"TREATY_REGISTRY": registry})
        assert done.exit_code == code, done.output
        return done

    return command


HOSTILE = '{"type":"enum","name":"E","doc":"\u009b31m \u202e gnp.exe \u200b \U000e0061 é 😀","symbols":["A"]}'


def test_a_schema_cant_move_a_cursor(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("schema", "register", "e", "-", stdin=HOSTILE)
    told = run("schema", "get", "e", "--json").stdout
    for seen in (told, run("schema", "list", "--json").stdout, run("schema", "get", "e").stdout):
        assert all(char.isprintable() or char == "\n" for char in seen)
        assert "é" in seen
        assert "😀" in seen

    assert json.loads(told)["schema"] == HOSTILE
    assert run("schema", "get", "e", "--text").stdout == HOSTILE + "\n"  # a file gets what was registered
    monkeypatch.setattr("treaty.cli.terminal.screen.is_terminal", lambda: True)
    shown = run("schema", "get", "e", "--text").stdout
    assert all(char.isprintable() or char == "\n" for char in shown)
    assert "\\x9b31m" in shown


def test_a_day_with_a_subject(run: Run) -> None:
    assert "version 1 of e, id 1" in run("schema", "register", "e", "-", stdin=ENUM).output
    assert "was already version 1" in run("schema", "register", "e", "-", stdin=ENUM).output
    told = json.loads(run("schema", "register", "e", "-", "--json", "--property", "owner=us", stdin=WIDER).stdout)
    assert (told["version"], told["id"], told["created"]) == (2, 2, True)
    assert told["metadata"] == {"properties": {"owner": "us"}}

    assert run("schema", "get", "e", "1", "--text").stdout == ENUM + "\n"
    assert json.loads(run("schema", "get", "id:1", "--json").stdout)["schema"] == ENUM
    guid = json.loads(run("schema", "get", "2", "--json").stdout)["guid"]
    assert WIDER in run("schema", "get", guid).output
    assert "version:  1" in run("schema", "lookup", "e", "-", stdin=ENUM).output
    assert json.loads(run("subject", "list", "--json").stdout) == ["e"]
    assert len(json.loads(run("schema", "list", "--json").stdout)) == 2
    assert len(json.loads(run("schema", "list", "--latest", "--json").stdout)) == 1

    run("schema", "delete", "e", "2", "--yes")
    told = json.loads(run("subject", "get", "e", "--deleted", "--json").stdout)
    assert [one["deleted"] for one in told["versions"]] == [False, True]
    run("schema", "delete", "e", "2", "--yes", "--permanent")
    assert json.loads(run("subject", "delete", "e", "--yes", "--permanent", "--json").stdout) == [1]
    assert run("subject", "list").stdout == ""


def test_config_and_mode(run: Run) -> None:
    run("schema", "register", "e", "-", stdin=WIDER)
    assert json.loads(run("config", "set", "e", "--level", "full", "--alias", "other", "--json").stdout) == {
        "alias": "other",
        "compatibilityLevel": "FULL",
    }
    assert "alias" not in run("config", "set", "e", "--unset", "alias").output
    assert json.loads(run("config", "get", "e", "--no-defaults", "--json").stdout) == {"compatibilityLevel": "FULL"}
    refused = run("schema", "register", "e", "-", "-v", stdin=ENUM, code=1)
    assert "MISSING_ENUM_SYMBOLS" in refused.output
    assert "remedy:" in refused.output
    run("schema", "register", "e", "-", "--force", "we know", stdin=ENUM)

    assert "FIELD_DOC_MISSING" in run("config", "set", "e", "--validator", "FIELD_DOC_MISSING").output
    run("config", "set", "e", "--unset", "validators")

    assert "READONLY" in run("mode", "set", "e", "READONLY").output
    assert "read-only" in run("subject", "delete", "e", "--yes", code=1).output
    assert run("mode", "delete", "e").output.split() == ["Deleted.", "It", "was:", "mode:", "READONLY"]
    assert "READWRITE" in run("mode", "get", "e").output
    assert run("config", "delete", "e").output.startswith("Deleted. It was:\n   compatibilityLevel:")
    assert "BACKWARD" in run("config", "get").output


def test_a_level_that_no_word_names(run: Run) -> None:
    run("schema", "register", "e", "-", stdin=ENUM)
    words = ("config", "set", "e", "--backward", "till:0", "--forward", "latest", "--partition", "type")
    assert json.loads(run(*words, "--json").stdout) == {
        "compatibilityLevel": "FULL_TRANSITIVE",
        "treaty": {
            "policy": {
                "backward": {"range": "till", "ordinal": 0}, "forward": {"range": "latest"}, "deny": False, "partition": "type"
            }
        },
    }  # fmt: skip
    told = run("config", "get", "e").output
    assert "backward till 0, forward latest" in told
    assert "type" in told
    assert "backward till 0" in run("subject", "get", "e").output
    assert "deny" in run("config", "set", "e", "--deny").output
    assert "exactLevel" not in run("config", "set", "e", "--level", "full").output
    assert "no version with the ordinal 7" in run("config", "set", "e", "--forward", "TILL:7", code=1).output
    assert "not one of none, latest" in run("config", "set", "e", "--forward", "till", code=2).output


def test_references_and_contexts(run: Run) -> None:
    run("schema", "register", ":.dev:e", "-", stdin=ENUM)
    use = '{"type":"record","name":"R","fields":[{"name":"e","type":"E"}]}'
    run("schema", "register", ":.dev:r", "-", "--reference", "E=:.dev:e:latest", stdin=use)
    assert "refers to E: :.dev:e version 1" in run("schema", "get", ":.dev:r").output
    assert run("context", "list").stdout.split() == [".", ".dev"]
    assert "not empty" in run("context", "delete", ".dev", "--yes", code=1).output


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("schema", "get", "none"), 1, "Subject 'none' not found"),
        (("schema", "get", "s", "first"), 2, "neither a version number nor 'latest'"),
        (("config", "set", "s"), 2, "nothing to change"),
        (("config", "set", "s", "--unset", "nonsense"), 2, "unknown member nonsense"),
        (("config", "set", "s", "--level", "backwards"), 2, "'BACKWARD_TRANSITIVE'"),
        (("subject", "delete", "s"), 1, "Subject 's' not found"),
        (("subject", "delete", ":.dev:s", "--permanent"), 1, "Subject ':.dev:s' not found"),
        (("schema", "delete", "s", "2"), 1, "Subject 's' not found"),
        (("context", "delete", ".dev"), 0, "Context .dev does not exist; nothing was deleted."),
        (("schema", "register", "s", "-", "--reference", "what"), 2, "NAME=SUBJECT:VERSION"),
        (("schema", "register", "s", "missing.avsc"), 2, "cannot be read"),
    ],
    ids=[
        "absent",
        "version",
        "no change",
        "member",
        "level",
        "no subject",
        "no subject in a context",
        "no version",
        "no context",
        "reference",
        "file",
    ],
)
def test_what_is_wrong_is_told(run: Run, words: tuple[str, ...], code: int, told: str) -> None:
    assert told in run(*words, stdin='"int"' if words[1] == "register" else None, code=code).output


def test_what_is_there_is_deleted_once_somebody_says_yes(run: Run) -> None:
    """Without a terminal nobody can, so --yes has to; what is not there is not asked about."""
    run("schema", "register", "s", "-", stdin=ENUM)
    run("schema", "register", ":.dev:s", "-", stdin=ENUM)
    for words in (("subject", "delete", "s"), ("schema", "delete", "s", "latest"), ("context", "delete", ".dev")):
        assert "there is no terminal to confirm on; add --yes" in run(*words, stdin="y\n", code=2).output
    assert "Version 2 not found" in run("schema", "delete", "s", "2", code=1).output
    assert run("subject", "list").stdout.split() == [":.dev:s", "s"]


def test_a_subject_that_is_deleted_softly_is_asked_about_for_good_alone(run: Run) -> None:
    run("schema", "register", "s", "-", stdin=ENUM)
    run("subject", "delete", "s", "--yes")
    assert (
        "Subject 's' is soft-deleted already: --permanent deletes it completely"
        in run("subject", "delete", "s", code=1).output
    )
    assert (
        "there is no terminal to confirm on; add --yes" in run("subject", "delete", "s", "--permanent", code=2).output
    )
    run("subject", "delete", "s", "--permanent", "--yes")
    assert "Subject 's' not found" in run("subject", "delete", "s", "--permanent", code=1).output


@pytest.mark.parametrize(("answer", "first"), [("y", 2), ("n", 1), ("", 1)])
def test_a_question_names_the_version(run: Run, monkeypatch: pytest.MonkeyPatch, answer: str, first: int) -> None:
    run("schema", "register", "s", "-", stdin=ENUM)
    run("schema", "register", "s", "-", stdin=WIDER)
    monkeypatch.setattr(confirmation, "sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
    asked = run("schema", "delete", "s", "1", stdin=f"{answer}\n", code=0 if answer == "y" else 1).output
    assert "Delete version 1 of s? [y/N]" in asked
    assert json.loads(run("subject", "get", "s", "--json").stdout)["versions"][0]["version"] == first


def test_a_registry_must_be_named() -> None:
    done = CliRunner().invoke(group, ["subject", "list"], env={"TREATY_REGISTRY": None})

    assert done.exit_code == 2
    assert "--registry" in done.output
    assert "TREATY_REGISTRY" in done.output


@pytest.fixture
def namesake(run: Run, registry: str) -> str:
    """A subject with two softly deleted versions; in another context lives one of the same name."""
    run("schema", "register", "h-value", "-", stdin=ENUM)
    run("schema", "register", "h-value", "-", stdin=WIDER)
    run("promote", "h-value", "--registry", registry, "--to-context", ".prod")
    run("schema", "delete", "h-value", "1", "--yes")
    run("subject", "delete", "h-value", "--yes")
    run("schema", "register", "h-value-2", "-", stdin=ENUM)
    return "h-value"


def test_a_subject_is_deleted_for_good_beside_its_namesake(run: Run, namesake: str) -> None:
    again = run("subject", "delete", namesake, "--yes", code=1)
    assert "was soft deleted. Set permanent=true to delete permanently" in again.output
    assert json.loads(run("subject", "delete", namesake, "--permanent", "--yes", "--json").stdout) == [1, 2]
    assert run("subject", "list", "--deleted").stdout.split() == [":.prod:h-value", "h-value-2"]
    assert "not found" in run("subject", "delete", namesake, "--permanent", "--yes", code=1).output
    assert run("subject", "list", "--deleted").stdout.split() == [":.prod:h-value", "h-value-2"]


def test_a_subject_is_not_shown_with_versions_of_its_namesake(run: Run, namesake: str) -> None:
    assert "Subject 'h-value' not found" in run("subject", "get", namesake, code=1).output
    told = json.loads(run("subject", "get", namesake, "--deleted", "--json").stdout)
    assert [(one["version"], one["id"], one["deleted"]) for one in told["versions"]] == [(1, 1, True), (2, 2, True)]
    live = json.loads(run("subject", "get", ":.prod:h-value", "--json").stdout)
    assert [(one["version"], one["id"], one["deleted"]) for one in live["versions"]] == [(1, 1, False)]


def test_versions_are_deleted_beside_a_namesake(run: Run, namesake: str) -> None:
    for version in ("1", "latest"):
        assert "Subject 'h-value' not found" in run("schema", "delete", namesake, version, "--yes", code=1).output
    for version in ("1", "latest"):
        run("schema", "delete", namesake, version, "--permanent", "--yes")
    assert "not found" in run("schema", "delete", namesake, "1", "--permanent", "--yes", code=1).output
    assert run("subject", "list", "--deleted").stdout.split() == [":.prod:h-value", "h-value-2"]


def test_a_namesake_is_not_promoted(run: Run, registry: str, namesake: str) -> None:
    refused = run("promote", namesake, "--registry", registry, "--to-context", ".test", code=2)
    assert "Subject 'h-value' not found" in refused.output
    assert run("context", "list").stdout.split() == [".", ".prod"]


def test_an_alias_is_followed_where_one_subject_is_meant(run: Run, namesake: str) -> None:
    run("config", "set", "old", "--alias", ":.prod:h-value")
    run("config", "set", "plain", "--alias", "h-value-2")
    assert [len(json.loads(run("subject", "get", one, "--json").stdout)["versions"]) for one in ("old", "plain")] == [
        1,
        1,
    ]
    run("schema", "delete", "old", "latest", "--permanent", "--yes")
    run("subject", "delete", "plain", "--permanent", "--yes")
    assert run("subject", "list", "--deleted").stdout.split() == [namesake]


@pytest.mark.parametrize("vendor", sorted(path.stem for path in PEERS.glob("*.json")))
def test_what_is_deleted_at_a_registry_of_others_is_shown_and_deleted_for_good(vendor: str) -> None:
    """Some of them list deleted subjects only beside the living ones."""
    with scripted(peer(vendor).answer) as server:

        def run(*words: str, stdin: str | None = None, code: int = 0) -> str:
            done = CliRunner().invoke(group, [*words, "--registry", server.url], input=stdin)
            assert done.exit_code == code, done.output
            return done.output

        for text in (ENUM, WIDER):
            run("schema", "register", "s", "-", stdin=text)
        run("schema", "register", "s-2", "-", stdin=ENUM)
        run("subject", "delete", "s", "--yes")
        assert "Subject 's' not found" in run("subject", "get", "s", code=1)
        told = json.loads(run("subject", "get", "s", "--deleted", "--json"))
        assert [version["version"] for version in told["versions"]] == [1, 2]
        assert "Subject 's' not found" in run("schema", "delete", "s", "1", "--yes", code=1)
        for number in ("1", "latest"):
            run("schema", "delete", "s", number, "--permanent", "--yes")
        assert run("subject", "list", "--deleted").split() == ["s-2"]
