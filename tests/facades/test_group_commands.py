"""`treaty group`, `policy`, `codec` and `encoding` as a person uses them, on a file and over HTTP."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tests.behaviours.served import served
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.cli.terminal.levels import LEVEL, format_level
from treaty.core.policy import ALL, LATEST, LEVELS, Level, VersionRange

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


def test_named_policies_are_kept_and_followed(run: Run) -> None:
    words = ("--validator", "required-metadata(owner,team)", "--strictness", "lenient", "--partition", "type")
    told = json.loads(run("policy", "create", "gold", "backward=all", *words, "--json").stdout)
    assert told.pop("ranges")["backward"] == {"range": "all"}
    expected = {
        "name": "gold", "level": "BACKWARD_TRANSITIVE", "strictness": "LENIENT", "partition": "type",
        "validators": ["required-metadata(owner,team)"],
    }  # fmt: skip
    assert told == expected
    assert "with another value" in run("policy", "create", "gold", "FULL", code=1).output
    run("group", "create", "g")
    run("policy", "set", "g", "--follow", "gold")
    assert "follows:     gold" in run("policy", "get", "g").output
    run("policy", "change", "gold", "deny", "--no-validators")
    assert json.loads(run("policy", "show", "gold", "--json").stdout)["validators"] == []
    assert json.loads(run("group", "get", "g", "--json").stdout)["level"] == "deny"
    assert "gold  deny" in run("policy", "list").stdout
    assert "used by the config of subject g" in run("policy", "delete", "gold", code=1).output
    run("config", "set", "g", "--unset", "follows")
    assert "deny" in run("policy", "delete", "gold").stdout
    assert run("policy", "list", "--json").stdout.strip() == "[]"
    run("config", "set", "g", "--follow", "gold", code=1)
    run("policy", "set", "g", "FULL", "--follow", "gold", code=2)


def test_who_sets_what_a_followed_policy_says_hears_that_it_is_still_followed(run: Run) -> None:
    run("policy", "create", "gold", "FULL", "--validator", "documentation")
    run("group", "create", "g")
    assert run("policy", "set", "g", "--follow", "gold").stderr == ""
    for words in (
        ("policy", "set", "g", "FULL"),
        ("policy", "set", "g", "--validator", "documentation"),
        ("config", "set", "g", "--level", "FULL"),
    ):
        told = run(*words)
        assert "follows" in told.stdout
        assert "g still follows the policy gold" in told.stderr
        assert "treaty config set g --unset follows" in told.stderr
        assert json.loads(run(*words, "--json").stdout)
    assert run("config", "set", "g", "--normalize").stderr == "", "no member of a policy"
    assert run("policy", "set", "g", "BACKWARD").stderr == "", "another value ends it"
    assert "follows" not in run("policy", "get", "g").stdout
    run("policy", "set", "g", "--follow", "gold")
    run("config", "set", "g", "--unset", "follows")
    assert run("policy", "set", "g", "FULL").stderr == ""
    run("config", "set", "--follow", "gold")
    told = run("config", "set", "--level", "FULL")
    assert "The default context still follows the policy gold" in told.stderr
    run("config", "set", "--unset", "follows")


def test_a_version_is_found_by_its_id_in_a_group(run: Run) -> None:
    run("group", "create", "g", "--id-scheme", "crc-64-avro", "--id-scheme", "sequence", "--level", "NONE")
    for text in ('"int"', '"null"'):
        run("schema", "register", "g", "-", stdin=text)
    assert run("schema", "get", "g/8a8f25cce724dd63", "--text").stdout == '"null"\n'
    assert json.loads(run("schema", "get", "g", "g/8f5c393f1ad57572", "--json").stdout)["version"] == 1
    assert json.loads(run("group", "get", "g", "--json").stdout)["idSchemes"] == ["crc-64-avro", "sequence"]
    (first, _) = json.loads(run("group", "versions", "g", "--json").stdout)
    assert first["names"] == {"crc-64-avro": "8f5c393f1ad57572", "sequence": "1"}
    assert "not found" in run("schema", "get", "g/1", code=1).output
    run("schema", "delete", "g", "g/8f5c393f1ad57572", "--yes")
    assert json.loads(run("schema", "get", "g/8f5c393f1ad57572", "--json").stdout)["deleted"]

    run("group", "create", "plain")
    run("schema", "register", "plain", "-", stdin='"int"')
    assert run("schema", "get", "plain/0", "--text").stdout == '"int"\n'
    assert "allowed: each once: sequence, " in run("group", "create", "x", "--id-scheme", "nobody", code=1).output


def test_a_group_is_created_changed_and_removed(run: Run) -> None:
    options = ("--types", "many", "--identity", "normalised", "--level", "backward=all", "--property", "owner=shop")
    told = json.loads(run("group", "create", "g", "--format", "avro", *options, "--json").stdout)
    assert told.pop("config")["compatibilityLevel"] == "BACKWARD_TRANSITIVE"
    assert told.pop("ranges") == {"backward": {"range": "all"}, "forward": {"range": "none"}, "deny": False}
    assert told == {
        "subject": "g", "origin": "treaty", "types": "many", "order": "registration", "identity": "normalised",
        "format": "AVRO", "level": "BACKWARD_TRANSITIVE", "properties": {"owner": "shop", "treaty.format": "AVRO"},
        "idSchemes": [], "latest": None, "created": True, "private": False, "labelPolicy": "warn",
    }  # fmt: skip
    assert "keeps its settings" in run("group", "create", "g", "--types", "one").output
    assert "types:           many" in run("group", "get", "g").output

    run("group", "create", ":.prod:p")
    assert [one["subject"] for one in json.loads(run("group", "list", "--json").stdout)] == ["g"]
    assert run("group", "list", ".prod").stdout.splitlines()[1].endswith(":.prod:p")

    assert "property team: 7" in run("group", "change", "g", "--property", "team=7").output
    assert json.loads(run("group", "change", "g", "--no-properties", "--json").stdout)["properties"] == {}
    refused = run("group", "change", "g", "--level", "deny", "--previous", "FULL", code=1).output
    assert "it is BACKWARD_TRANSITIVE, not FULL" in refused
    assert "deny" in run("group", "change", "g", "--level", "deny", "--previous", "backward=all").output

    assert "add --yes" in run("group", "remove", "g", code=2).output
    assert json.loads(run("group", "remove", "g", "--yes", "--json").stdout) == {"subject": "g", "removed": True}
    assert "Group g does not exist; nothing was removed." in run("group", "remove", "g").output
    assert "does not exist" in run("group", "remove", "g", "--yes").output
    assert "Subject 'g' not found" in run("group", "get", "g", code=1).output


def test_versions_and_their_policies(run: Run) -> None:
    run("group", "create", "g", "--level", "BACKWARD")
    run("schema", "register", "g", "-", stdin=ENUM)
    run("policy", "set", "g", "forward=latest,backward=till:0", "--previous", "backward")
    run("schema", "register", "g", "-", "--force", "we know", stdin=WIDER)
    run("schema", "register", "g", "-", "--force", "we know", stdin='"int"')

    listed = json.loads(run("group", "versions", "g", "--type", "E", "--json").stdout)
    assert [(one["ordinal"], one["version"], one["typeName"], one["typeVersion"]) for one in listed] == [
        (0, 1, "E", 0),
        (1, 2, "E", 1),
    ]
    assert len(json.loads(run("group", "versions", "g", "--latest", "--json").stdout)) == 2
    assert run("group", "versions", "g").stdout.splitlines()[2].split() == ["1", "2", "2", "AVRO", "E", "1"]

    history = json.loads(run("group", "history", "g", "--json").stdout)
    assert [one["policy"]["level"] for one in history] == ["BACKWARD", *["backward=till:0,forward=latest"] * 2]
    assert [one["forced"] and one["forced"]["why"] for one in history] == [None, "we know", "we know"]
    assert "backward=till:0,forward=latest (forced)" in run("group", "history", "g").output

    run("schema", "delete", "g", "1", "--yes")
    assert [one["ordinal"] for one in json.loads(run("group", "versions", "g", "--json").stdout)] == [1, 2]
    assert run("schema", "get", "g/0", "--text").stdout == ENUM + "\n"
    assert "ordinal 7 not found" in run("schema", "get", "g/7", code=1).output


def test_a_policy(run: Run) -> None:
    run("group", "create", "g")
    assert json.loads(run("policy", "get", "g", "--json").stdout) == {
        "subject": "g",
        "level": "BACKWARD",
        "ranges": {"backward": {"range": "latest"}, "forward": {"range": "none"}, "deny": False},
        "strictness": "STRICT",
        "partition": "",
        "validators": [],
    }
    assert "FIELD_DOC_MISSING" in run("policy", "set", "g", "--validator", "FIELD_DOC_MISSING").output
    run("config", "set", "g", "--partition", "type")
    assert run("policy", "set", "g", "full").output.split() == [
        "level:", "FULL", "strictness:", "STRICT", "partition:", "type", "validators:", "FIELD_DOC_MISSING"
    ]  # fmt: skip
    assert "validators" not in run("policy", "set", "g", "--no-validators").output
    assert "no version with the ordinal 3" in run("policy", "set", "g", "backward=till:3", code=1).output
    assert "Subject 'none' not found" in run("policy", "get", "none", code=1).output
    assert "Subject 'none' not found" in run("policy", "set", "none", "FULL", code=1).output


def test_codecs_and_encodings(run: Run) -> None:
    run("schema", "register", "g", "-", stdin=ENUM)
    assert "Added: gzip" in run("codec", "add", "g", "gzip", "--property", "level=9").output
    assert "nothing was changed" in run("codec", "add", "g", "gzip", "--property", "level=9").output
    assert json.loads(run("codec", "add", "g", "zstd", "--json").stdout)["created"]
    assert run("codec", "list", "g").stdout == "gzip (level=9)\nzstd\n"
    assert json.loads(run("codec", "list", "g", "--json").stdout)[1] == {"name": "zstd", "properties": {}}

    assert (
        "is now encoding 0: ordinal 0 of g with gzip" in run("encoding", "assign", "g", "0", "--codec", "gzip").output
    )
    assert "was already encoding 0" in run("encoding", "assign", "g", "0", "--codec", "gzip").output
    assert json.loads(run("encoding", "assign", "g", "0", "--json").stdout) == {
        "subject": "g", "ordinal": 0, "codec": "", "encoding": 1, "created": True
    }  # fmt: skip
    told = json.loads(run("encoding", "get", "g", "0", "--json").stdout)
    assert told["codec"] == {"name": "gzip", "properties": {"level": "9"}}
    assert (told["version"]["ordinal"], told["version"]["schema"]) == (0, ENUM)
    assert "gzip (level=9)" in run("encoding", "get", "g", "0").output
    assert "codec:     none" in run("encoding", "get", "g", "1").output

    assert "has no codec 'lz4'" in run("encoding", "assign", "g", "0", "--codec", "lz4", code=1).output
    assert "ordinal 4 not found" in run("encoding", "assign", "g", "4", code=1).output
    assert "has no encoding 7" in run("encoding", "get", "g", "7", code=1).output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("group", "change", "g"), "nothing to change"),
        (("group", "change", "g", "--property", "a=b", "--no-properties"), "not both"),
        (("group", "change", "g", "--property", "a"), "NAME=VALUE"),
        (("group", "create", "g", "--types", "some"), "'across', 'one', 'many'"),
        (("policy", "set", "g"), "nothing to change"),
        (("policy", "set", "g", "--validator", "A", "--no-validators"), "not both"),
        (("policy", "set", "g", "BACKWARDS"), "'BACKWARDS' is no level; known are NONE, BACKWARD"),
        (("policy", "set", "g", "sideways=all"), "is no level"),
        (("policy", "set", "g", "backward=all,backward=none"), "is no level"),
        (("policy", "set", "g", "backward=till"), "till:ORDINAL"),
        (("encoding", "get", "g", "-1"), "-1"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_a_wrong_command_line_says_what_is_allowed(words: tuple[str, ...], told: str) -> None:
    done = CliRunner().invoke(group, list(words), env={"TREATY_REGISTRY": "memory:"})
    assert done.exit_code == 2
    assert told in done.output


@pytest.mark.parametrize(
    "level",
    [
        *LEVELS.values(),
        Level(deny=True),
        Level(ALL, LATEST),
        Level(forward=VersionRange("till", 3)),
        Level(VersionRange("till"), ALL),
    ],
    ids=format_level,
)
def test_a_level_is_taken_as_it_is_printed(level: Level) -> None:
    context = click.Context(click.Command("c"))
    assert LEVEL.convert(format_level(level), None, context) == level
    assert LEVEL.convert(format_level(level).upper(), None, context) == level
