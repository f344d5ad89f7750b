"""`treaty validate` and `treaty example`: values of a schema."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.facades.shouting import offer
from treaty.cli.main import group
from treaty.core import limits


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    offer(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    files = {"words.shout": "a b", "none.shout": "", "good.json": '"a"', "bad.json": '\n "c"', "pretty.json": '"a"\n'}
    files |= {"good.jsonl": '"a"\n\n"b"\r\n"a"', "bad.jsonl": '"a"\n"c"\n"b"\n"d"', "lines.log": '"a"\n"\u2028"\n"x"'}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return tmp_path


def validate(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(group, ["validate", "words.shout", *words], input=stdin)


@pytest.mark.parametrize(
    ("words", "code", "count", "places"),
    [
        (["good.json"], 0, 1, []),
        (["pretty.json"], 0, 1, []),
        (["bad.json"], 1, 1, [("bad.json", 1)]),
        (["good.jsonl"], 0, 3, []),
        (["bad.jsonl"], 1, 4, [("bad.jsonl", 2), ("bad.jsonl", 4)]),
        (["lines.log"], 1, 3, [("lines.log", 2), ("lines.log", 3)]),
        (["lines.log", "--lines"], 1, 3, [("lines.log", 2), ("lines.log", 3)]),
        (["good.json", "bad.json", "good.jsonl"], 1, 5, [("bad.json", 1)]),
    ],
)
def test_values_one_in_a_file_or_one_on_every_line(
    words: list[str], code: int, count: int, places: list[tuple[str, int]]
) -> None:
    result = validate(*words, "--json")
    told = json.loads(result.stdout)

    assert result.exit_code == code
    assert (told["valid"], told["values"]) == (code == 0, count)
    assert [(one["file"], one["line"]) for one in told["faults"]] == places


def test_faults_look_like_a_compilers() -> None:
    result = validate("bad.jsonl", "good.json")

    assert result.stdout.splitlines()[0] == 'bad.jsonl:2:1: NOT_A_WORD "c" is none; expected a word'
    assert result.stderr == "2 of 5 values invalid against words.shout.\n"
    assert validate("good.json").stdout == "1 value valid against words.shout.\n"


def test_standard_input() -> None:
    assert validate("-", stdin='"a"\n"b"\n').exit_code == 0
    assert "<stdin>:2:1: NOT_A_WORD" in validate("-", "--lines", stdin='"a"\n"c"\n').stdout


@pytest.mark.parametrize("words", [["--lines"], []])
def test_what_is_huge_or_not_utf_8_is_told(folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VALUE_BYTES", 1000)
    (folder / "huge").write_text(f'"{"x" * 1000}"')
    (folder / "latin").write_bytes(b'"\xff"')
    (folder / "fits").write_text(f'"{"x" * 998}"')

    assert "is larger than 1,000 bytes, the limit VALUE_BYTES" in validate("huge", *words).stderr
    assert "not UTF-8: byte 1 is 0xff" in validate("latin", *words).stderr
    assert validate("huge", *words).exit_code == validate("latin", *words).exit_code == 2
    assert validate("fits", *words).exit_code == 1


def example(*words: str) -> Result:
    return CliRunner().invoke(group, ["example", *words])


def test_examples_are_json_lines_the_same_for_a_seed() -> None:
    assert example("words.shout", "--count", "3").stdout == '"a"\n"b"\n"a"\n'
    assert example("words.shout", "--seed", "1").stdout == '"b"\n'
    assert json.loads(example("words.shout", "--count", "3", "--json").stdout) == ["a", "b", "a"]


def test_examples_are_valid() -> None:
    made = example("words.shout", "--count", "20").stdout

    assert validate("-", stdin=made).stdout == "20 values valid against words.shout.\n"


def test_a_schema_without_a_value_is_told() -> None:
    result = example("none.shout")

    assert result.exit_code == 2
    assert "none.shout has no example: there is no word" in result.stderr
    assert example("words.shout", "--count", "0").exit_code == 2
