"""`treaty check` as a person or a build uses it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty.cli.check import command

OLD = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"}]}'
WIDER = '{"type":"record","name":"F","fields":[{"name":"a","type":"long"}]}'
MORE = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {"old": OLD, "wider": WIDER, "more": MORE, "broken": '{"type": "record"', "bytes": "\xff"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    return {name: str(tmp_path / name) for name in [*texts, "missing"]}


@pytest.mark.parametrize(
    ("old", "new", "level", "code", "words"),
    [
        ("old", "wider", "BACKWARD", 0, "may follow"),
        ("old", "wider", "full", 1, "the old schema reads new data"),
        ("old", "more", "BACKWARD", 1, "READER_FIELD_MISSING_DEFAULT_VALUE"),
        ("old", "more", "NONE", 0, "may follow"),
        ("old", "broken", "BACKWARD", 2, "not a valid schema"),
        ("old", "missing", "BACKWARD", 2, "can't be read"),
        ("old", "bytes", "BACKWARD", 2, "not UTF-8"),
    ],
)
def test_verdicts(files: dict[str, str], old: str, new: str, level: str, code: int, words: str) -> None:
    result = CliRunner().invoke(command, [files[old], files[new], "--level", level])

    assert result.exit_code == code
    assert words in result.output


def test_findings_say_rule_path_old_new_and_remedy(files: dict[str, str]) -> None:
    result = CliRunner().invoke(command, [files["old"], files["more"], "--json"])
    (reason,) = json.loads(result.stdout)["reasons"]

    assert reason["rule"] == "READER_FIELD_MISSING_DEFAULT_VALUE"
    assert reason["path"] == "/fields/1"
    assert all(reason[member] for member in ("old", "new", "remedy", "sentence"))


def test_a_schema_may_come_from_standard_input_with_references(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "money").write_text('{"type":"fixed","name":"org.Money","size":8}')
    text = '{"type":"record","name":"F","fields":[{"name":"m","type":"org.Money"}]}'
    (tmp_path / "uses").write_text(text)
    arguments = [str(tmp_path / "uses"), "-", "--reference", f"org.Money={tmp_path / 'money'}"]

    assert CliRunner().invoke(command, arguments, input=text).exit_code == 0
    assert CliRunner().invoke(command, arguments[:2], input=text).exit_code == 2


def test_unknown_formats_are_named(files: dict[str, str]) -> None:
    result = CliRunner().invoke(command, [files["old"], files["old"], "--format", "XML"])

    assert result.exit_code == 2
    assert "known: AVRO" in result.output
