"""`treaty iglu resolve` and `validate` as a person uses them: folders, servers on loopback, a registry of Treaty, exit codes, JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import treaty
from tests.behaviours.iglu.loopback import respond, run_registry
from treaty.cli.iglu.resolver_options import ResolverSource
from treaty.cli.main import group
from treaty.core.iglu_key import SELF_DESCRIBING

KEY, MISSING = "iglu:com.acme/click/jsonschema/1-0-0", "iglu:com.acme/none/jsonschema/1-0-0"
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


def run(*words: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
    return CliRunner(env=env).invoke(group, ["iglu", *words], input=stdin)


def write_schema(folder: Path, version: str, schema: Any) -> None:
    file = folder / "schemas/com.acme/click/jsonschema" / version
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(schema))


@pytest.fixture
def place(tmp_path: Path) -> str:
    write_schema(tmp_path, "1-0-0", SCHEMA)
    write_schema(tmp_path, "1-0-1", {**SCHEMA, "$supersededBy": "1-0-2"})
    write_schema(tmp_path, "1-0-2", {"type": "object"})
    return str(tmp_path)


def test_a_schema_its_list_and_its_family(place: str) -> None:
    assert json.loads(run("resolve", KEY, "--registry", place).stdout) == SCHEMA
    found = json.loads(run("resolve", KEY, "--registry", place, "--json").stdout)
    assert (found["key"], found["registry"], found["document"]) == (KEY, place, SCHEMA)
    listed = run("resolve", KEY, "--registry", place, "--list").stdout.split()
    assert [uri[-5:] for uri in listed] == ["1-0-0", "1-0-1", "1-0-2"]
    newest = KEY.replace("1-0-0", "1-0-1")
    family = json.loads(run("resolve", newest, "--registry", place, "--family", "--json").stdout)
    assert [one["key"] for one in family["schemas"]] == [KEY, newest]
    superseding = json.loads(run("resolve", newest, "--registry", place, "--superseding", "--json").stdout)
    assert (superseding["superseded_by"], superseding["document"]) == ("1-0-2", {"type": "object"})


def test_what_is_not_there_is_code_1_and_what_nobody_can_say_is_code_3(place: str) -> None:
    absent = run("resolve", MISSING, "--registry", place)
    assert absent.exit_code == 1
    assert f"{place}: NotFound (1 request" in absent.stderr
    with run_registry({"/schemas/com.acme/none/jsonschema/1-0-0": respond(503)}) as server:
        unsure = run("resolve", MISSING, "--registry", server.base, "--json", env={"TREATY_IGLU_APIKEY": "k"})
        assert server.requests[0][1]["apikey"] == "k"
    assert unsure.exit_code == 3
    error = json.loads(unsure.stdout)["error"]
    assert error["rule"] == "IGLU_UNAVAILABLE"
    assert error["resolution"]["lookupHistory"][1]["errors"][0]["error"] == "RepoFailure"
    assert error["next_attempts"][server.base]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["resolve", KEY], "--resolver FILE"),
        (["resolve", "com.acme/click", "--registry", "."], "iglu:VENDOR/NAME/FORMAT/VERSION"),
        (["resolve", KEY, "--registry", "no-such-folder"], "does not exist"),
        (["resolve", KEY, "--resolver", "no-such-file"], "no-such-file"),
        (["resolve", KEY, "--registry", ".", "--list", "--family"], "exclude each other"),
        (["resolve", KEY, "--treaty", "sqlite:///no-such-file.db"], "does not exist"),
        (["validate", "no-such-file", "--registry", "."], "no-such-file"),
    ],
)
def test_wrong_options_are_code_2_with_the_remedy(words: list[str], message: str) -> None:
    found = run(*words)
    assert found.exit_code == 2
    assert message in found.stderr


def test_a_wrong_configuration_names_its_file_and_member(tmp_path: Path) -> None:
    file = tmp_path / "resolver.json"
    schema = "iglu:com.snowplowanalytics.iglu/resolver-config/jsonschema/1-0-1"
    file.write_text(json.dumps({"schema": schema, "data": {"cacheSize": 1, "cacheTtl": 1, "repositories": []}}))
    found = run("resolve", KEY, "--resolver", str(file))
    assert found.exit_code == 2
    assert f"{file}: data.cacheTtl: " in found.stderr


@pytest.mark.parametrize("error", [ValueError("not of the options"), OSError(28, "No space left on device")], ids=repr)
def test_what_a_command_does_with_its_resolver_is_no_fault_of_the_options(place: str, error: Exception) -> None:
    def work() -> None:
        with ResolverSource(None, (place,), (), None, "current").open() as resolver:
            resolver.lookup(KEY)
            raise error

    with pytest.raises(type(error)) as raised:
        work()
    assert raised.value is error


def test_values_in_lines_each_with_its_reason(place: str, tmp_path: Path) -> None:
    events: list[Any] = [
        {"schema": KEY, "data": {"x": 1}},
        {"schema": KEY, "data": {"x": "1"}},
        {"schema": MISSING, "data": 1},
        {"data": 1},
    ]
    file = tmp_path / "events.jsonl"
    file.write_text("\n".join(map(json.dumps, events)) + "\n\n[\n")
    found = run("validate", str(file), "--registry", place)
    assert found.exit_code == 1
    lines = [line for line in found.stdout.splitlines() if line.startswith(str(file))]
    assert [line.removeprefix(f"{file}:").split(" ")[:2] for line in lines] == [
        ["2:", "invalid_data"],
        ["3:", "not_found"],
        ["4:", "malformed"],
        ["6:", "malformed"],
    ]
    assert f"type $.x: string found, integer expected ({KEY})" in lines[0]
    result = json.loads(run("validate", str(file), "--registry", place, "--json").stdout)
    assert (result["values"], result["valid"], result["invalid"], result["unavailable"]) == (5, 1, 4, 0)
    assert [one["outcome"] for one in result["results"]][:2] == ["valid", "invalid_data"]


def test_a_value_on_standard_input_and_codes_0_and_3(place: str) -> None:
    value = json.dumps({"schema": KEY, "data": {"x": 1}}, indent=1)
    assert run("validate", "-", "--registry", place, stdin=value).exit_code == 0
    unsure = run("validate", "-", "--registry", "http://127.0.0.1:9", stdin=value)
    assert unsure.exit_code == 3
    assert "RepoFailure" in unsure.stdout


def test_a_registry_of_treaty_is_one_of_the_registries(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path}/registry.db"
    own = {"vendor": "com.acme", "name": "click", "format": "jsonschema", "version": "1-0-0"}
    text = json.dumps({"$schema": SELF_DESCRIBING, "self": own, **SCHEMA})
    with treaty.connect(url) as registry:
        registry.register("com.acme/click/jsonschema", treaty.Draft(text, "JSON"))
    assert json.loads(run("resolve", KEY, "--treaty", url).stdout)["self"] == own
    assert run("resolve", KEY, "--treaty", url, "--list").stdout.strip() == KEY
    assert run("resolve", KEY.replace("1-0-0", "1-0-1"), "--treaty", url).exit_code == 1


def test_a_server_whose_names_lead_out_of_the_folder_writes_nothing_there(tmp_path: Path) -> None:
    good, bad = KEY, "iglu:../click/jsonschema/1-0-0"
    text = json.dumps(SCHEMA).encode()
    paths = {f"/api/schemas/{one.removeprefix('iglu:')}": respond(200, text) for one in (good, bad)}
    with run_registry({"/api/schemas?repr=uri": respond(200, json.dumps([good, bad]).encode()), **paths}) as server:
        found = run("pull", str(tmp_path / "out"), "--registry", f"{server.base}/api", "--json")
    assert found.exit_code == 1, found.output
    told = json.loads(found.stdout)
    assert (told["written"], [one["schema"] for one in told["problems"]]) == (1, [bad])
    files = [str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file()]
    assert files == ["out/schemas/com.acme/click/jsonschema/1-0-0"]
