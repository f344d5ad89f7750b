"""Options of `treaty schema` and `treaty subject` in pairs: each has its effect beside each other one, and none has it that was not given."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.behaviours.served import Served, served
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.client.connection import Connection
from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.messages.registration import ForceReason
from treaty.core.messages.versions import VersionFound
from treaty.core.schema import Draft, Metadata, Reference

NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served("memory:") as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[Connection]:
    with connect(server.url) as connection:
        yield connection


def run(server: Served, *words: str) -> Result:
    return CliRunner().invoke(group, [*words], env={"TREATY_REGISTRY": server.url})


def choose_pairs(options: dict[str, Any]) -> list[tuple[str, ...]]:
    """No option, each alone, and each pair."""
    return [chosen for size in range(3) for chosen in combinations(options, size)]


def name_pair(chosen: tuple[str, ...]) -> str:
    return " and ".join(chosen) or "none"


# ----------------------------------------------------------------------------------------------------- schema register


@dataclass(frozen=True, slots=True)
class Registration:
    """What came of a command over a file, and the version that the registry has."""

    file: Path
    result: Result
    version: VersionFound


def is_json(result: Result) -> bool:
    return result.stdout.startswith(("{", "["))


REFERENCES = tuple(Reference(f"{name}.json", name, 1) for name in ("money", "place"))
REGISTER: dict[str, tuple[tuple[str, ...], Callable[[Registration], bool]]] = {
    "format": (("--format", "JSON"), lambda it: it.version.format == "JSON" and it.file.suffix == ".avsc"),
    "references": (
        ("--reference", "money.json=money:1", "--reference", "place.json=place:latest"),
        lambda it: it.version.references == REFERENCES,
    ),
    "properties": (
        ("--property", "owner=us", "--property", "team=a"),
        lambda it: it.version.metadata == Metadata(properties=(("owner", "us"), ("team", "a"))),
    ),
    "normalize": (("--normalize",), lambda it: it.version.text.startswith('{"$schema"')),
    "force": (("--force", "we know"), lambda it: it.version.forced is not None and it.version.forced.why == "we know"),
    "strict": (("--strict",), lambda it: it.result.exit_code == 1),
    "json": (("--json",), lambda it: is_json(it.result)),
}
"""Words, and whether they had their effect."""


def print_click(name: str, version: str, length: int, *references: str) -> str:
    """A schema that describes itself; its members stand in another order than when it is normalized."""
    own = {"vendor": "com.acme", "name": name, "format": "jsonschema", "version": version}
    properties = {"a": {"type": "string", "maxLength": length}} | {each: {"$ref": each} for each in references}
    return json.dumps({"type": "object", "self": own, "$schema": SELF_DESCRIBING, "properties": properties})


@pytest.mark.parametrize("chosen", choose_pairs(REGISTER), ids=name_pair)
def test_a_registration_has_the_effect_of_each_of_its_options(
    server: Served, client: Connection, tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    """The registry warns of the new version, which can't read data of the one before."""
    name = f"click{next(NUMBERS)}"
    for reference in REFERENCES:
        client.register(reference.subject, Draft('{"type": "integer"}', "JSON"))
    client.publish(f"com.acme/{name}/jsonschema", "1-0-0", print_click(name, "1-0-0", 20))
    file = tmp_path / ("draft.avsc" if "format" in chosen else "draft.json")
    used = [each.name for each in REFERENCES] if "references" in chosen else []
    file.write_text(print_click(name, "1-0-1", 10, *used))
    words = [word for option in chosen for word in REGISTER[option][0]]
    result = run(server, "schema", "register", f"com.acme/{name}/jsonschema", str(file), *words)
    assert result.exit_code in {0, 1}, result.output
    registration = Registration(file, result, client.version(f"com.acme/{name}/jsonschema"))
    assert registration.version.number == 2
    assert {option for option, (_, has_effect) in REGISTER.items() if has_effect(registration)} == {*chosen}
    assert "SCHEMAVER_ADDITION" in result.output


# ------------------------------------------------------------------------------------------------- lookups and checks

ASKING = {option: REGISTER[option][0] for option in ("format", "references", "json")} | {"normalize": ("--normalize",)}
PLAIN = '{"properties":{"a":{"type":"integer"}},"type":"object"}'
OTHER = PLAIN.replace("integer", "string")
REFERRING = '{"properties":{"a":{"$ref":"money.json"},"b":{"$ref":"place.json"}},"type":"object"}'


def write_asked(folder: Path, chosen: tuple[str, ...], plain: str) -> str:
    """Write a schema that can be read with these options alone: its file has the suffix of another format, and it has references."""
    file = folder / ("asked.avsc" if "format" in chosen else "asked.json")
    file.write_text(REFERRING if "references" in chosen else plain)
    return str(file)


@pytest.fixture(scope="module")
def asked(server: Served) -> str:
    """A subject whose first version is plain and whose second one has references."""
    with connect(server.url) as client:
        for reference in REFERENCES:
            client.register(reference.subject, Draft('{"type": "integer"}', "JSON"))
        client.register("asked", Draft(PLAIN, "JSON"))
        client.register("asked", Draft(REFERRING, "JSON", REFERENCES), force=ForceReason("us", "another version"))
    return "asked"


@pytest.mark.parametrize("chosen", [each for each in choose_pairs(ASKING) if "normalize" not in each], ids=name_pair)
def test_a_lookup_finds_the_version_that_all_of_its_options_mean(
    server: Served, asked: str, tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    words = [word for option in chosen for word in ASKING[option]]
    result = run(server, "schema", "lookup", asked, write_asked(tmp_path, chosen, PLAIN), *words)
    assert result.exit_code == 0, result.output
    assert is_json(result) is ("json" in chosen)
    number = 2 if "references" in chosen else 1
    assert json.loads(result.stdout)["version"] == number if is_json(result) else f"version:  {number}" in result.stdout


@pytest.mark.parametrize("chosen", choose_pairs(ASKING), ids=name_pair)
def test_a_check_reads_the_schema_as_all_of_its_options_say(
    server: Served, asked: str, tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    """Only the schema with references is the latest version; the other one can't read its data."""
    words = [word for option in chosen for word in ASKING[option]]
    place = ("--subject", asked, "--registry", server.url)
    result = run(server, "check", write_asked(tmp_path, chosen, OTHER), *place, *words)
    assert result.exit_code == (0 if "references" in chosen else 1), result.output
    assert is_json(result) is ("json" in chosen)


# --------------------------------------------------------------------------------------------------------------- lists

VERSIONS = (("a", 1, False), ("a", 2, True), ("b", 1, False), ("b", 2, False), ("c", 1, True))
"""Subject, version, and whether it is deleted."""
Listed = list[tuple[str, int, bool]]


@pytest.fixture(scope="module")
def listed(server: Served) -> str:
    """A context with these versions."""
    with connect(server.url) as client:
        for subject, number, _ in VERSIONS:
            client.register(f":.listed:{subject}", Draft(f'{{"type": "integer", "minimum": {-number}}}', "JSON"))
        for subject, number, deleted in VERSIONS:
            if deleted:
                client.delete_version(f":.listed:{subject}", number)
    return ":.listed:"


def read_rows(result: Result) -> Listed:
    """Read the versions that a command lists, as JSON or as a table."""
    if is_json(result):
        return [(each["subject"][9:], each["version"], each["deleted"]) for each in json.loads(result.stdout)]
    rows = (line.split() for line in result.stdout.splitlines()[1:])
    return [(row[3][9:], int(row[2]), "(deleted)" in row) for row in rows]


def list_expected(chosen: Iterable[str]) -> Listed:
    rows = [row for row in VERSIONS if "deleted" in chosen or not row[2]]
    rows = [row for row in rows if "prefix" not in chosen or row[0] == "b"]
    if "latest" in chosen:
        rows = [row for row, after in zip(rows, [*rows[1:], ("", 0, False)], strict=True) if row[0] != after[0]]
    return rows[:1] if "limit" in chosen else rows


LIST = {
    "deleted": ("--deleted",),
    "latest": ("--latest",),
    "limit": ("--limit", "1"),
    "json": ("--json",),
    "prefix": (),
}


@pytest.mark.parametrize("chosen", choose_pairs(LIST), ids=name_pair)
def test_a_list_of_versions_has_those_that_all_of_its_options_mean(
    server: Served, listed: str, chosen: tuple[str, ...]
) -> None:
    words = [word for option in chosen for word in LIST[option]]
    result = run(server, "schema", "list", f"{listed}b" if "prefix" in chosen else listed, *words)
    assert (read_rows(result), is_json(result)) == (list_expected(chosen), "json" in chosen)


SUBJECT = {option: LIST[option] for option in ("deleted", "json", "prefix")}


@pytest.mark.parametrize("chosen", choose_pairs(SUBJECT), ids=name_pair)
def test_subjects_are_listed_and_shown_as_all_options_say(server: Served, listed: str, chosen: tuple[str, ...]) -> None:
    words = [word for option in chosen for word in SUBJECT[option]]
    result = run(server, "subject", "list", f"{listed}b" if "prefix" in chosen else listed, *words)
    names = json.loads(result.stdout) if is_json(result) else result.stdout.split()
    assert names == list(dict.fromkeys(f"{listed}{row[0]}" for row in list_expected(chosen)))
    assert is_json(result) is ("json" in chosen)
    result = run(server, "subject", "get", f"{listed}a", *words)
    numbers = (
        [each["version"] for each in json.loads(result.stdout)["versions"]]
        if is_json(result)
        else ([int(line.split()[0]) for line in result.stdout.splitlines() if line[:1].isdigit()])
    )
    assert numbers == ([1, 2] if "deleted" in chosen else [1])


# ----------------------------------------------------------------------------------------------------------- deletions

DELETE = {"permanent": ("--permanent",), "json": ("--json",)}


@pytest.mark.parametrize("chosen", choose_pairs(DELETE), ids=name_pair)
@pytest.mark.parametrize("noun", ["schema", "subject"])
def test_a_deletion_goes_as_far_as_its_options_say(
    server: Served, client: Connection, noun: str, chosen: tuple[str, ...]
) -> None:
    subject = f"deleted{next(NUMBERS)}"
    client.register(subject, Draft(PLAIN, "JSON"))
    place = (subject, "1") if noun == "schema" else (subject,)
    result = run(server, noun, "delete", *place, "--yes", *(word for option in chosen for word in DELETE[option]))
    assert (result.exit_code, is_json(result)) == (0, "json" in chosen), result.output
    assert client.subjects(subject) == ()
    assert client.subjects(subject, "all") == (() if "permanent" in chosen else (subject,))
