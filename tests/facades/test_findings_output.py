"""Findings are printed alike by every command: a line each with file, line and column, on stdout."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treaty.cli.main import group
from treaty.cli.terminal.findings import LocatedFinding
from treaty.formats.positions import find_position

OLD = """{
  "type": "record", "name": "Order",
  "fields": [
    {"name": "id", "type": "long"},
    {"name": "note", "type": "string"}
  ]
}"""
NEW = """{
  "type": "record", "name": "Order",
  "fields": [
    {"name": "note", "type": "string"},
    {"name": "id", "type": "string"}
  ]
}"""
MISMATCH = "orders-value.avsc:5:28: TYPE_MISMATCH "
RESULTS = ("orders-value.avsc may not ", "orders-value.avsc is not registered", "Nothing is written")
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command in a folder with an old schema and a new one that does not fit; a registry has the old one."""
    monkeypatch.chdir(tmp_path)
    Path("old.avsc").write_text(OLD)
    Path("schemas").mkdir()
    for name in ("orders-value.avsc", "schemas/orders-value.avsc"):
        Path(name).write_text(NEW)

    def command(*words: str, code: int = 0) -> Result:
        done = CliRunner().invoke(group, list(words), env={"TREATY_REGISTRY": f"sqlite://{tmp_path}/r.db"})
        assert done.exit_code == code, done.output
        return done

    command("schema", "register", "orders-value", "old.avsc")
    return command


@pytest.mark.parametrize(
    "words",
    [
        ("check", "old.avsc", "orders-value.avsc"),
        ("check", "orders-value.avsc", "--subject", "orders-value"),
        ("schema", "register", "orders-value", "orders-value.avsc"),
        ("plan", "schemas"),
        ("apply", "schemas"),
    ],
)
def test_every_command_prints_a_line_for_each_finding_and_the_result_below(run: Run, words: tuple[str, ...]) -> None:
    plain, verbose = run(*words, code=1), run(*words, "-v", code=1)
    github = run(*words, "--output-format", "github", code=1)
    first = plain.stdout.splitlines()[0]

    assert not plain.stderr
    assert first.removeprefix("schemas/").startswith(MISMATCH)
    assert first.endswith("(old: long, new: string)")
    assert "{errorType" not in plain.stdout
    assert any(line.startswith(RESULTS) for line in plain.stdout.splitlines()[-2:])
    assert "   remedy:   keep the type, widen it" in verbose.stdout
    assert ",line=5,col=28,title=TYPE_MISMATCH::The type (path '/fields/" in github.stdout


def test_findings_are_json_too(run: Run) -> None:
    registered = json.loads(run("schema", "register", "orders-value", "orders-value.avsc", "--json", code=1).stdout)
    (planned,) = json.loads(run("plan", "schemas", "--json", code=1).stdout)["changes"]
    (checked,) = json.loads(run("check", "old.avsc", "orders-value.avsc", "--json", code=1).stdout)["olds"]

    assert registered["error"]["rule"] == "TYPE_MISMATCH"
    assert registered["error"]["code"] == 40901
    for one in (*registered["error"]["findings"], *planned["findings"], *checked["reasons"]):
        assert (one["rule"], one["line"], one["column"]) == ("TYPE_MISMATCH", 5, 28)


def test_a_promotion_that_is_rejected_has_the_same_lines(run: Run) -> None:
    words = ("--from-context", ".", "--to-context", ".prod", "--registry")
    Path("note.avsc").write_text(OLD.replace('"long"', '"string"'))
    url = f"sqlite://{Path.cwd()}/r.db"
    run("schema", "register", ":.prod:orders-value", "note.avsc")
    done = run("promote", "orders-value", *words, url, code=1)

    assert done.stdout.startswith("orders-value version 1: TYPE_MISMATCH The type")
    assert done.stdout.splitlines()[-1] == "Nothing is written."


def test_every_fault_of_a_text_is_printed_at_registration(run: Run) -> None:
    Path("bad.schema.json").write_text('{"type": "objekt",\n"properties": {"a": {"type": "strin"}}}')
    done = run("schema", "register", "other", "bad.schema.json", code=1)

    assert [line.split(":")[1] for line in done.stdout.splitlines()[:-1]] == ["1", "2"]
    assert done.stdout.splitlines()[-1] == "bad.schema.json is not registered as a version of other: 2 findings."


def test_a_change_that_another_policy_rejects_is_noted(run: Run) -> None:
    decimal = '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}'
    Path("cents.avsc").write_text(decimal)
    Path("mills.avsc").write_text(decimal.replace('"scale":2', '"scale":3'))

    done = run("check", "cents.avsc", "mills.avsc").stdout
    assert "note: rejected under --policy LOGICAL (1 finding: " in done
    assert "note:" not in run("check", "cents.avsc", "cents.avsc").stdout


PROTO = """syntax = "proto3";
// message Wrong { int32 x = 1; }
message Order {
  option (note) = { a: 3 };
  repeated map_of.Thing items = 12 [deprecated = true, (x).y = 4];
  map<string, int64> sums = 4;
  message Line { enum Kind { A = 0; B = 2; }
    oneof price { int32 cents = 7; string text = 8; } }
}
"""


@pytest.mark.parametrize(
    ("path", "position"),
    [
        ("#/Order", (3, 1)),
        ("#/Order/12", (5, 3)),
        ("#/Order/4", (6, 3)),
        ("#/Order/Line/8", (8, 36)),
        ("#/Order/Line/Kind/2", (7, 37)),
        ("#/Order/Line/99", (7, 3)),
        ("#/Gone/1", (0, 0)),
    ],
)
def test_paths_of_protobuf_lead_to_lines(path: str, position: tuple[int, int]) -> None:
    assert find_position("PROTOBUF", path, PROTO) == position


@pytest.mark.parametrize(
    ("path", "reader", "line"),
    [("/fields/0/type", "new", 4), ("/fields/0/type", "old", 5), ("/fields/0/type", "", 3), ("/fields/7", "old", 3)],
)
def test_paths_into_the_old_text_lead_to_the_same_name_in_the_new_one(path: str, reader: str, line: int) -> None:
    assert find_position("AVRO", path, NEW, OLD, reader=reader)[0] == line


@pytest.mark.parametrize("text", ["plain", "100 %", "%0A", "a:b,c", "one\ntwo", "\r\n", "::error::x", "é%25:,\n"])
def test_annotations_have_the_remedy_and_come_back_as_they_were(text: str) -> None:
    """Read as GitHub's runner reads a command: properties between commas, then the message."""
    command = LocatedFinding(
        f"a{text}.avsc", f"R{text}", text, 3, 4, {"remedy": f"do {text}", "path": "/"}
    ).to_annotation()
    assert "\n" not in command
    assert "\r" not in command
    properties, message = command.removeprefix("::error ").split("::", 1)
    values = dict(one.split("=", 1) for one in properties.split(","))
    assert values.keys() == {"file", "line", "col", "title"}
    assert (values["line"], values["col"]) == ("3", "4")
    assert not any(":" in one for one in values.values())
    shown = text.replace("\r", "\\r")  # control characters are shown, here as everywhere
    assert (unescape(values["file"]), unescape(values["title"])) == (f"a{shown}.avsc", f"R{shown}")
    assert unescape(message) == f"{shown}; remedy: do {shown}"
    without = LocatedFinding("a", "R", text, facts={"remedy": ""}).to_annotation()
    assert "remedy" not in without.partition("::error ")[2].replace(text, "")


def unescape(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text
