"""What a registry warns of is shown by every command that writes versions: on stderr, in JSON, and by --strict as exit code 1."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from tests.behaviours.served import Served, served
from treaty.assemble import connect
from treaty.cli.main import COMMANDS, group
from treaty.cli.terminal.registry_warnings import RegistryWarning, find_warnings, read_warnings
from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.versions import DeletedVersions
from treaty.core.operations import OPERATIONS

NAME = "com.acme/click/jsonschema"
WRITERS = ("schema register", "import", "promote", "plan", "apply", "produce", "iglu push")
"""Commands whose requests register or publish versions, or rehearse it."""


def text(version: str, most: int) -> str:
    own = {"vendor": "com.acme", "name": "click", "format": "jsonschema", "version": version}
    limited = {"type": "object", "properties": {"a": {"type": "string", "maxLength": most}}}
    return json.dumps({"$schema": SELF_DESCRIBING, "self": own, **limited})


FIRST, NARROWER = text("1-0-0", 20), text("1-0-1", 10)


@pytest.fixture
def server() -> Iterator[Served]:
    with served("memory:") as running:
        yield running


@pytest.fixture
def registry(server: Served) -> str:
    """A registry with version 1-0-0, whose subject warns of labels and does not refuse them."""
    with connect(server.url) as found:
        found.publish(NAME, "1-0-0", FIRST)
    return server.url


def run(*words: str, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(group, list(words), env=env)


def by_schema_register(registry: str, folder: Path) -> tuple[str, ...]:
    (folder / "new.schema.json").write_text(NARROWER)
    return ("schema", "register", NAME, str(folder / "new.schema.json"), "--registry", registry)


def by_import(registry: str, folder: Path) -> tuple[str, ...]:
    """The third version of a subject whose second is not there."""
    key = {"keytype": "SCHEMA", "subject": NAME, "version": 3, "magic": 1}
    value = {
        "subject": NAME,
        "version": 3,
        "id": 9,
        "schemaType": "JSON",
        "schema": text("1-0-2", 20),
        "deleted": False,
    }
    (folder / "dump.jsonl").write_text(json.dumps({"key": key, "value": value}) + "\n")
    return ("import", str(folder / "dump.jsonl"), "--registry", registry)


def by_promote(registry: str, folder: Path) -> tuple[str, ...]:
    source = f"sqlite://{folder / 'source.db'}"
    with connect(source) as found:
        found.publish(NAME, "1-0-0", FIRST)
        found.publish(NAME, "1-0-1", NARROWER)
    return ("promote", NAME, "--all-versions", "--registry", source, "--to", registry)


def by_promote_dry(registry: str, folder: Path) -> tuple[str, ...]:
    return (*by_promote(registry, folder), "--dry-run")


def _folder(folder: Path) -> str:
    schemas = folder / "schemas"
    schemas.mkdir()
    (schemas / "click.schema.json").write_text(NARROWER)
    (schemas / "treaty.toml").write_text(f'[plan.subjects."{NAME}"]\nfile = "click.schema.json"\n')
    return str(schemas)


def by_plan(registry: str, folder: Path) -> tuple[str, ...]:
    return ("plan", _folder(folder), "--registry", registry)


def by_apply(registry: str, folder: Path) -> tuple[str, ...]:
    return ("apply", _folder(folder), "--registry", registry)


def by_produce(registry: str, folder: Path) -> tuple[str, ...]:
    (folder / "new.schema.json").write_text(NARROWER)
    (folder / "none.jsonl").write_text("")
    schema = ("--schema", str(folder / "new.schema.json"), "--subject", NAME, "--format", "JSON")
    broker = ("--kafka", "127.0.0.1:1", "--kafka-config", "socket.timeout.ms=100")
    return ("produce", "clicks", str(folder / "none.jsonl"), *schema, *broker, "--registry", registry)


def by_push(registry: str, folder: Path) -> tuple[str, ...]:
    for version, content in (("1-0-0", FIRST), ("1-0-1", NARROWER)):
        file = folder / "iglu" / NAME / version
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return ("iglu", "push", str(folder / "iglu"), "--public", "--registry", f"{registry}/api")


CASES: dict[str, Callable[[str, Path], tuple[str, ...]]] = {
    "schema register": by_schema_register,
    "import": by_import,
    "promote": by_promote,
    "promote --dry-run": by_promote_dry,
    "plan": by_plan,
    "apply": by_apply,
    "iglu push": by_push,
}
RULES = {"import": "LABEL_PRECEDING_MISSING"}
"""What is warned of, where it is not that the label promises too much."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("strict", [False, True], ids=["", "strict"])
def test_a_warning_is_shown(case: str, registry: str, tmp_path: Path, strict: bool) -> None:  # noqa: FBT001
    words = CASES[case](registry, tmp_path)
    done = run(*words, *(["--strict"] if strict else []))

    assert done.exit_code == (1 if strict else 0), done.output
    (line,) = [one for one in done.stderr.splitlines() if one.startswith("warning: ")]
    assert RULES.get(case, "SCHEMAVER_ADDITION") in line
    assert "com.acme/click/jsonschema" in line
    with connect(registry) as found:
        written = len(found.versions(NAME))
    assert written == (1 if case in {"plan", "promote --dry-run"} else 2)  # --strict comes after publishing


@pytest.mark.parametrize("case", CASES)
def test_json_has_the_warnings(case: str, registry: str, tmp_path: Path) -> None:
    done = run(*CASES[case](registry, tmp_path), "--json")

    assert done.exit_code == 0, done.output
    (one,) = json.loads(done.stdout)["warnings"]
    assert one["rule"] == RULES.get(case, "SCHEMAVER_ADDITION")
    assert one["message"]
    assert set(one) == {"schema", "rule", "path", "message", "allowed"}


@pytest.mark.parametrize("case", ["schema register", "promote", "apply", "iglu push"])
def test_what_is_there_already_is_no_warning_the_next_time(case: str, registry: str, tmp_path: Path) -> None:
    words = (*CASES[case](registry, tmp_path), "--strict")
    first, second = run(*words), run(*words)

    assert (first.exit_code, second.exit_code) == (1, 0), second.output
    assert "warning: " not in second.stderr


def test_what_produce_registers_is_warned_of_before_the_first_record(registry: str, tmp_path: Path) -> None:
    """No broker is there: the schema is registered first, and the warning is seen although the command fails."""
    done = run(*by_produce(registry, tmp_path), "--strict")

    assert done.exit_code != 0
    assert "SCHEMAVER_ADDITION" in done.stderr


def test_every_command_that_writes_versions_is_strict_when_asked() -> None:
    for words in WRITERS:
        command: click.Command | None = group
        for word in words.split():
            assert isinstance(command, click.Group)
            command = command.get_command(click.Context(command), word)
        assert command is not None
        assert "--strict" in [option for one in command.params for option in one.opts], words
    assert {one.split()[0] for one in WRITERS} <= set(COMMANDS)


def test_every_answer_with_warnings_is_known() -> None:
    """An operation whose answer gets the member `warnings` is one that `find_warnings` reads."""
    answers = {one.answer for one in OPERATIONS.values()}
    assert {one.__name__ for one in answers if "warnings" in getattr(one, "__dataclass_fields__", {})} == {
        "RegisteredVersion",
        "PublishedVersion",
        "DeletedVersions",
        "PublishedDeleted",
        "VersionFound",
    }
    assert find_warnings(object()) == []
    (pinned,) = find_warnings(DeletedVersions((1,), ("flights",)))
    assert (pinned.rule, "flights" in pinned.message) == ("SOURCE_PINNED", True)
    assert RegisteredVersion in answers


@pytest.mark.parametrize(
    "body",
    [None, [], 5, {}, {"treaty": None}, {"treaty": []}, {"treaty": {}}, {"treaty": {"warnings": 5}}, {"treaty": {"warnings": ["x"]}}],
)  # fmt: skip
def test_other_bodies_have_no_warnings(body: Any) -> None:
    assert read_warnings("one", body) == []


def test_a_warning_of_another_server_is_shown_as_it_is() -> None:
    (one,) = read_warnings("iglu:a/b/jsonschema/1-0-0", {"treaty": {"warnings": [{"rule": "R", "message": "is odd"}]}})

    assert one == RegistryWarning("iglu:a/b/jsonschema/1-0-0", "R", "is odd")
    assert one.to_line() == "warning: iglu:a/b/jsonschema/1-0-0: R is odd"
