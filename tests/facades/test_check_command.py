"""`treaty check` of files, as a person or a build uses it."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treaty.cli.main import group
from treaty.core.policy import LEVELS

OLD = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"}]}'
WIDER = '{"type":"record","name":"F","fields":[{"name":"a","type":"long"}]}'
MORE = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'
TEXTS = {"old": OLD, "wider": WIDER, "more": MORE, "broken": '{"type": "record"', "bytes": "\xff"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    (tmp_path / "huge").write_text(f'"{"x" * 2**20}"')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(group, ["check", *words], input=stdin)


@pytest.mark.parametrize(
    ("old", "new", "level", "code", "words"),
    [
        ("old", "wider", "BACKWARD", 0, "may follow"),
        (
            "old",
            "wider",
            "full",
            1,
            "of a field in the old schema does not match with the new schema (old: int, new: long)",
        ),
        ("old", "more", "BACKWARD", 1, "READER_FIELD_MISSING_DEFAULT_VALUE"),
        ("old", "more", "NONE", 0, "may follow"),
        ("old", "broken", "BACKWARD", 2, "broken:1:18: JSON_MALFORMED"),
        ("broken", "old", "BACKWARD", 2, "broken is not a valid schema"),
        ("old", "missing", "BACKWARD", 2, "cannot be read: No such file or directory; give a file"),
        ("old", ".", "BACKWARD", 2, "cannot be read: Is a directory; give a file"),
        ("old", "bytes", "BACKWARD", 2, "bytes is not UTF-8: byte 0 is 0xff; save it as UTF-8"),
        ("old", "huge", "BACKWARD", 2, "huge is larger than 1,048,576 bytes, the limit SCHEMA_BYTES"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_verdicts(old: str, new: str, level: str, code: int, words: str) -> None:
    result = check(old, new, "--level", level)

    assert result.exit_code == code
    assert words in result.output


def test_what_no_column_can_hold_is_warned_of(folder: Path) -> None:
    """A long may become a double to Avro, and every row of it was bad to a reader of all versions."""
    for name, kind in {"whole": "long", "part": "double"}.items():
        (folder / name).write_text(OLD.replace('"int"', f'"{kind}"'))
    result = check("whole", "part")
    assert result.exit_code == 0
    assert "version 2 has no part in the union: at /a: double cannot share a column with long" in result.stdout
    assert 'lossy = "double"' in json.loads(check("whole", "part", "--json").stdout)["note"]
    assert json.loads(check("old", "wider", "--json").stdout)["note"] == ""


@pytest.mark.usefixtures("folder")
def test_findings_say_rule_path_old_new_and_remedy() -> None:
    told = json.loads(check("old", "more", "--json").stdout)
    (reason,) = told["olds"][0]["reasons"]

    assert (told["fits"], told["level"], told["policy"], told["format"]) == (False, "BACKWARD", "STRICT", "AVRO")
    assert reason["rule"] == "READER_FIELD_MISSING_DEFAULT_VALUE"
    assert reason["path"] == "/fields/1"
    assert all(reason[member] for member in ("old", "new", "remedy", "sentence"))


@pytest.mark.usefixtures("folder")
def test_faults_are_json_too() -> None:
    result = check("old", "broken", "--json")
    told = json.loads(result.stdout)

    assert result.exit_code == 2
    assert not told["fits"]
    assert [(one["rule"], one["line"], one["column"]) for one in told["faults"]] == [("JSON_MALFORMED", 1, 18)]
    assert not told["levels"]


@pytest.mark.usefixtures("folder")
def test_what_is_unusable_is_json_too() -> None:
    result = check("old", "missing", "--json")

    assert result.exit_code == 2
    assert "missing cannot be read" in json.loads(result.stdout)["error"]["message"]
    assert not check("old", "missing").stdout


@pytest.mark.parametrize(
    ("level", "against"),
    [
        ("BACKWARD", []),
        ("BACKWARD_TRANSITIVE", ["more"]),
        ("FORWARD", ["wider"]),
        ("FORWARD_TRANSITIVE", ["more", "more", "wider"]),
        ("FULL", ["wider"]),
        ("FULL_TRANSITIVE", ["more", "more", "more", "wider"]),
        ("NONE", []),
    ],
)
@pytest.mark.usefixtures("folder")
def test_plain_levels_look_at_the_last_file_and_transitive_ones_at_all(level: str, against: list[str]) -> None:
    Path("both").write_text(WIDER.replace("]}", ',{"name":"c","type":"int","default":0}]}'))
    Path("more").write_text(OLD.replace('"int"', '"string"').replace("]}", ',{"name":"b","type":"int"}]}'))
    Path("wider").write_text(OLD)
    result = check("more", "wider", "both", "--level", level, "--json")
    told = json.loads(result.stdout)

    assert [old["file"] for old in told["olds"] for _ in old["reasons"]] == against
    assert result.exit_code == (1 if against else 0)
    assert told["fits"] == (level in told["levels"])


@pytest.mark.usefixtures("folder")
def test_findings_of_a_history_are_grouped_by_the_older_file_and_a_passing_level_is_named() -> None:
    result = check("more", "wider", "old", "--level", "FULL_TRANSITIVE")

    assert result.exit_code == 1
    assert "(after more)" in result.stdout.splitlines()[0]
    assert "(after wider)" in result.stdout.splitlines()[-3]
    assert "old may not follow 2 earlier schemas under FULL_TRANSITIVE" in result.stdout
    assert "It would pass under NONE, FORWARD" in result.stdout
    assert not result.stderr


@pytest.mark.usefixtures("folder")
def test_every_level_that_is_named_as_passing_passes() -> None:
    named = json.loads(check("old", "more", "--json").stdout)["levels"]

    assert named == [level for level in LEVELS if check("old", "more", "--level", level).exit_code == 0]
    assert named == ["NONE", "FORWARD", "FORWARD_TRANSITIVE"]


def test_a_schema_may_come_from_standard_input_with_references(folder: Path) -> None:
    (folder / "money").write_text('{"type":"fixed","name":"org.Money","size":8}')
    text = '{"type":"record","name":"F","fields":[{"name":"m","type":"org.Money"}]}'
    (folder / "uses.avsc").write_text(text)
    words = ["uses.avsc", "-", "--reference", "org.Money=money"]

    assert check(*words, stdin=text).exit_code == 0
    assert check(*words[:2], stdin=text).exit_code == 2
    assert "NAME=FILE" in check(*words[:3], "org.Money", stdin=text).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["old", "old", "--format", "XML"], "unknown format 'XML'; known are AVRO"),
        (["old"], "give OLD and NEW; or one file with --subject and --registry; or --git-base REF"),
        ([], "give OLD and NEW"),
        (["-", "-"], "only one of the files can be -"),
        (["old", "old", "--subject", "s"], "--subject takes one file, not 2"),
        (["old", "--subject", "s"], "--subject needs --registry URL"),
        (["old", "--subject", "s", "--level", "FULL"], "--level and --subject exclude each other"),
        (["old", "old", "--normalize"], "--normalize needs --subject"),
        (["old", "old", "--level", "SOME"], "BACKWARD_TRANSITIVE"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_use_is_told_with_its_remedy(words: list[str], told: str) -> None:
    result = check(*words)

    assert result.exit_code == 2
    assert told in result.stderr


@pytest.mark.usefixtures("folder")
def test_the_policy_is_taken_into_account() -> None:
    decimal = '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}'
    Path("cents.avsc").write_text(decimal)
    Path("mills.avsc").write_text(decimal.replace('"scale":2', '"scale":3'))

    assert check("cents.avsc", "mills.avsc").exit_code == 0
    assert check("cents.avsc", "mills.avsc", "--policy", "lenient").exit_code == 0
    assert check("cents.avsc", "mills.avsc", "--policy", "logical").exit_code == 1


@pytest.mark.usefixtures("folder")
def test_a_text_that_may_be_of_several_formats_is_not_guessed() -> None:
    Path("some.json").write_text('{"type":"string"}')

    assert "is unknown; add --format" in check("some.json", "some.json").stderr
    assert check("some.json", "some.json", "--format", "avro").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_names_that_hold_terminal_commands_are_shown_as_text() -> None:
    schema = '{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a\\u001b[31mb":{"type":"string"}}}'
    Path("\x1b[31mold.jsonschema").write_text(schema)
    Path("new.jsonschema").write_text(schema.replace("string", "integer"))
    words = ["check", "\x1b[31mold.jsonschema", "new.jsonschema"]
    result = CliRunner().invoke(group, words, color=True)

    assert result.exit_code == 1
    assert r"a\x1b[31mb" in result.stdout
    assert "\x1b[31mb" not in result.output
    assert "\x1b[31mold" not in result.output
    assert json.loads(CliRunner().invoke(group, [*words, "--json"]).stdout)["olds"][0]["file"] == words[1]


def test_file_names_that_are_no_text_are_told_all_the_same(folder: Path) -> None:
    name = os.fsdecode(b"\xff.avsc")
    (folder / name).write_text(OLD)

    assert json.loads(check(name, name, "--json").stdout)["file"] == "\udcff.avsc"
    assert check(name, name).stdout == "\\udcff.avsc may follow \\udcff.avsc under BACKWARD.\n"
