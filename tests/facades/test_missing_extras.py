"""Every command in an environment without the extras: one line with the command that installs what is missing, never a traceback."""

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from treaty.assemble import connect
from treaty.cli.main import group
from treaty.distribution import EXTRAS

ENUM = '{"type":"enum","name":"E","symbols":["A"]}'
PIPELINE = """
checkpoint = "{folder}/c"
subject = "e"
registry = "{registry}"
[source.files]
path = "{folder}"
schema = "value BINARY"
[good]
place = "{folder}/good"
[bad]
place = "{folder}/bad"
"""
EVENTS = """
checkpoint = "{folder}/c"
registries = ["{registry}"]
[source.files]
path = "{folder}"
[good]
place = "{folder}/good"
[bad]
place = "{folder}/bad"
"""
SERVE = 78
"""Exit code of `treaty serve` for settings that can not be used."""
NEEDS = {
    "password ann": "auth",
    "serve --port 0 --log memory: --auth {folder}/rights.toml": "auth",
    "serve --port 0 --log postgresql://ann@127.0.0.1:1/none": "postgres",
    "serve --port 0 --log kafka://127.0.0.1:1/none": "kafka",
    "serve --port 0 --log memory: --metadata-key-file {folder}/keys": "encryption",
    "subject list --registry postgresql://ann@127.0.0.1:1/none": "postgres",
    "subject list --registry kafka://127.0.0.1:1/none": "kafka",
    "import kafka://127.0.0.1:1/_schemas --registry memory:": "kafka",
    "export --registry {registry} --output kafka://127.0.0.1:1/_schemas": "kafka",
    "metastore import --from kafka://127.0.0.1:1/commands --registry memory:": "kafka",
    "log info postgresql://ann@127.0.0.1:1/none": "postgres",
    "log verify kafka://127.0.0.1:1/none?writers=any": "kafka",
    "produce t --kafka 127.0.0.1:1 --schema {folder}/e.avsc --registry {registry}": "kafka",
    "consume t --kafka 127.0.0.1:1 --registry {registry}": "kafka",
    "iglu load {folder}/events.toml": "spark",
    "pipeline plan {folder}/pipeline.toml": "spark",
    "pipeline replay {folder}/pipeline.toml": "spark",
    "pipeline run {folder}/pipeline.toml": "spark",
    "pipeline status {folder}/pipeline.toml": "spark",
    "table create e --table {folder}/t --registry {registry}": "spark",
    "table create e --table {folder}/t --sql --registry {registry}": "spark",
    "table diff e --table {folder}/t --registry {registry}": "spark",
    "table evolve e --table {folder}/t --registry {registry}": "spark",
    "planner --registry {registry}": "spark",
    "sql --planner local -f {folder}/streams.sql --registry {registry}": "spark",
    "plan {folder}/streams.sql --planner local --registry {registry}": "spark",
    "runner --root {folder}/shared --registry {registry}": "spark",
    "runner --once --files {folder} --registry {registry}": "spark",
    "test {folder}": "spark",
    "bad list --files {folder} --registry {registry}": "arrow",
    "bad replay {folder}/pipeline.toml --yes": "spark",
    "spark packages": "spark",
}
"""Command lines that need an extra, and the extra."""
NEEDS_NONE = (
    "openapi",
    "check {folder}/e.avsc {folder}/e.avsc",
    "diff {folder}/e.avsc {folder}/e.avsc",
    "diff e@1 {folder}/e.avsc --registry {registry}",
    "lint {folder}/e.avsc",
    "canonical {folder}/e.avsc",
    "fingerprint {folder}/e.avsc",
    "validate {folder}/e.avsc {folder}/value.json",
    "example {folder}/e.avsc",
    "metastore export --registry {registry}",
    "lock {folder}/streams.sql --check --registry {registry}",
    "compile {folder}/streams.sql",
    "subject list --registry {registry}",
    "subject get e --registry {registry}",
    "group list --registry {registry}",
    "policy list --registry {registry}",
    "codec list e --registry {registry}",
    "schema list --registry {registry}",
    "schema register e {folder}/e.avsc --registry {registry}",
    "config get --registry {registry}",
    "mode get --registry {registry}",
    "context list --registry {registry}",
    "association list --registry {registry}",
    "iglu lint --list",
    "iglu keygen --super",
    "plan {folder}/empty --registry {registry}",
    "sql -f {folder}/list.sql --registry {registry}",
    "apply {folder}/empty --registry {registry}",
    "export --registry {registry} --output {folder}/out.jsonl",
    "log info {registry}",
    "log dump {registry} {folder}/dump",
    "query watch --once --registry {registry}",
    "completion bash",
)
"""Command lines that work without any."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("without")
    (folder / "empty").mkdir()
    (folder / "empty" / "streams.sql").write_text("-- nothing yet\n")
    (folder / "e.avsc").write_text(ENUM)
    (folder / "streams.sql").write_text("CREATE TYPE t AS INT")
    (folder / "list.sql").write_text("SHOW STREAMS")
    (folder / "value.json").write_text('"A"')
    (folder / "rights.toml").write_text('[basic]\nfile = "passwords"\n[[rule]]\nwho = ["*"]\nmay = ["admin"]\n')
    (folder / "passwords").write_text("")
    (folder / "keys").write_text("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n")
    registry = f"sqlite://{folder / 'log.db'}"
    with connect(registry) as found:
        found.register("e", ENUM)
    for name, text in (("pipeline", PIPELINE), ("events", EVENTS)):
        (folder / f"{name}.toml").write_text(text.format(folder=folder, registry=registry))
    return {"folder": str(folder), "registry": registry}


def run_without(libraries: list[str], lines: list[list[str]]) -> list[tuple[int, str, str, str | None]]:
    program = [sys.executable, "-m", "tests.hidden_libraries", ",".join(libraries)]
    done = subprocess.run(program, input=json.dumps(lines), capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return [tuple(one) for one in json.loads(done.stdout)]


def test_no_command_ends_with_a_traceback(places: dict[str, str]) -> None:
    wanted = {**NEEDS, **dict.fromkeys(NEEDS_NONE, "")}
    lines = [line.format(**places).split() for line in wanted]
    results = run_without([*EXTRAS], [each for line in lines for each in (line, [*line, "--json"])])

    wrong = []
    for (line, extra), plain, with_json in zip(wanted.items(), results[::2], results[1::2], strict=True):
        code, _, err, exception = plain
        remedy = f"pip install 'treaty-registry[{extra}]'"
        codes = (2, SERVE) if extra else (0,)
        if exception or "Traceback" in err or code not in codes or (extra and remedy not in err):
            wrong.append((line, *plain))
        if with_json[3] or "Traceback" in with_json[2]:
            wrong.append((f"{line} --json", *with_json))
    assert wrong == [], "\n".join(map(str, wrong))


def walk_commands(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path.strip(), command
        return
    for name in command.list_commands(click.Context(command)):
        inner = command.get_command(click.Context(command), name)
        assert inner is not None
        yield from walk_commands(inner, f"{path} {name}")


def test_every_option_is_an_argument_of_its_command() -> None:
    """An option that its function does not take ends every call of the command with a traceback."""
    wrong: dict[str, set[str]] = {}
    for path, command in walk_commands(group):
        assert command.callback is not None, path
        arguments = inspect.signature(command.callback, follow_wrapped=False).parameters
        if all(argument.kind is not argument.VAR_KEYWORD for argument in arguments.values()):
            options = {option.name for option in command.params if option.expose_value}
            wrong |= {path: options ^ set(arguments)} if options != set(arguments) else {}
    assert wrong == {}


def test_every_command_has_a_line() -> None:
    paths = [path for path, _ in walk_commands(group)]
    lines = [*NEEDS, *NEEDS_NONE]
    nouns = {name.split()[0] for name in paths}
    assert nouns - {line.split()[0] for line in lines} == {
        "decode",
        "encoding",
        "promote",
        "search",
    }  # these ask a registry and nothing else
    spark = {one for one in paths if one.split()[0] in {"pipeline", "table", "spark"}}
    assert all(any(line.startswith(one) for line in NEEDS) for one in spark)
