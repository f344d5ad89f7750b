"""`treaty diff`: all that differs, the texts line by line, and what every level says."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.facades.shouting import offer
from treaty import connect
from treaty.cli.main import group
from treaty.core.schema import Draft, Reference

OLD = '{"type":"record","name":"F","fields":[{"name":"a","type":"int"},{"name":"n","type":"double","default":1E+3}]}'
MORE = OLD.replace("]}", ',{"name":"b","type":"int"}]}')
OTHER_DOC = OLD.replace('"name":"F"', '"name":"F","doc":"a, b: {c}"')


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    offer(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    files = {"old.avsc": OLD, "more.avsc": MORE, "doc.avsc": OTHER_DOC, "broken.avsc": "{", "empty.avsc": '"int"'}
    for name, text in (files | {"one.shout": "a b", "two.shout": "b c", "three.shout": "a b c"}).items():
        (tmp_path / name).write_text(text)
    return tmp_path


def diff(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(group, ["diff", *words], input=stdin)


def test_every_difference_says_whom_it_harms() -> None:
    told = json.loads(diff("one.shout", "two.shout", "--json").stdout)

    assert [(one["rule"], one["old"], one["new"], one["harm"]) for one in told["differences"]] == [
        ("WORD_GONE", "a", "", "backward"),
        ("WORD_CAME", "", "c", "forward"),
        ("WORD_MOVED", "a", "b", "none"),
    ]


def test_a_column_for_every_policy_that_judges_differently() -> None:
    result = diff("one.shout", "two.shout")

    assert result.exit_code == 0
    assert "1. The word a is gone from the new schema\n   rule:     WORD_GONE" in result.stdout
    assert "harm:     the new schema cannot read old data" in result.stdout
    assert [line.split("  ")[-1].strip() for line in result.stdout.splitlines()[-5:]] == ["LOGICAL", *["passes"] * 4]
    assert "FULL      refused (2 findings)  passes   passes" in result.stdout


def test_where_a_format_tells_harm_alone_both_directions_are_told() -> None:
    told = json.loads(diff("more.avsc", "old.avsc", "--json").stdout)

    assert [(one["rule"], one["harm"], one["old"]) for one in told["differences"]] == [
        ("READER_FIELD_MISSING_DEFAULT_VALUE", "forward", "b")
    ]
    assert told["levels"]["STRICT"] == ["NONE", "BACKWARD", "BACKWARD_TRANSITIVE"]


def test_the_texts_are_laid_out_line_by_line_with_values_as_they_are() -> None:
    lines = json.loads(diff("old.avsc", "doc.avsc", "--json").stdout)["diff"]

    assert lines[:2] == ["--- old.avsc", "+++ doc.avsc"]
    assert [line for line in lines[3:] if line[0] != " "] == ['+  "doc": "a, b: {c}",']
    assert all(line in diff("old.avsc", "doc.avsc").stdout.splitlines() for line in lines)


def test_levels_are_a_small_table() -> None:
    lines = diff("old.avsc", "more.avsc").stdout.splitlines()

    assert [line.split(maxsplit=1) for line in lines[-5:]] == [
        ["level", "verdict"],
        ["NONE", "passes"],
        ["BACKWARD", "refused (1 finding)"],
        ["FORWARD", "passes"],
        ["FULL", "refused (1 finding)"],
    ]


def test_schemas_that_do_not_differ() -> None:
    Path("spaced.avsc").write_text(OLD.replace(",", " ,\n"))
    result = diff("old.avsc", "spaced.avsc", "--exit-code")

    assert result.exit_code == 0
    assert result.stdout.startswith("The schemas are equal.\n")
    assert diff("old.avsc", "doc.avsc").exit_code == 0
    assert diff("old.avsc", "doc.avsc", "--exit-code").exit_code == 1


def test_other_formats_differ_in_one_word() -> None:
    told = json.loads(diff("old.avsc", "one.shout", "--json").stdout)

    assert [one["rule"] for one in told["differences"]] == ["FORMAT_CHANGED"]
    assert told["levels"]["STRICT"] == ["NONE"]
    assert "Incompatible because of different schema type" in diff("old.avsc", "one.shout").stdout


def test_broken_texts_and_standard_input() -> None:
    assert diff("old.avsc", "broken.avsc").exit_code == 2
    assert diff("-", "old.avsc", stdin=OLD).exit_code == 0
    assert "only one of the files" in diff("-", "-").stderr


def test_a_difference_that_only_another_policy_rejects_is_listed(folder: Path) -> None:
    decimal = '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}'
    (folder / "cents.avsc").write_text(decimal)
    (folder / "mills.avsc").write_text(decimal.replace('"scale":2', '"scale":3'))
    both = json.loads(diff("cents.avsc", "mills.avsc", "--json").stdout)["differences"]

    assert [(one["policy"], one["harm"]) for one in both] == [("LOGICAL", "backward"), ("LOGICAL", "forward")]
    assert "as policy LOGICAL compares" in diff("cents.avsc", "mills.avsc").stdout


RECORDS = {
    "types both ways": ('{"name":"a","type":"int"}', '{"name":"a","type":"string"}'),
    "other fields at one place": ('{"name":"a","type":"int"}', '{"name":"b","type":"int"}'),
    "symbols gone and new": (
        '{"name":"a","type":{"type":"enum","name":"E","symbols":["X","Y"]}}',
        '{"name":"a","type":{"type":"enum","name":"E","symbols":["Y","Z"]}}',
    ),
    "a default gone": ('{"name":"a","type":"int"},{"name":"c","type":"long"}', '{"name":"a","type":"string"}'),
}
SCHEMAS = {
    **{
        name: tuple(OLD.replace(OLD[OLD.index('{"name":"a') : -2], one) for one in both)
        for name, both in RECORDS.items()
    },
    "properties": (
        '{"type":"object","properties":{"a":{"type":"integer"},"b":{}},"additionalProperties":false}',
        '{"type":"object","properties":{"a":{"type":"string"},"c":{}},"required":["c"],"additionalProperties":false}',
    ),
    "numbers": ('syntax = "proto3"; message M { int32 a = 1; }', 'syntax = "proto3"; message M { string a = 1; }'),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_finding_that_a_level_counts_is_shown(name: str) -> None:
    form = {"properties": "JSON", "numbers": "PROTOBUF"}.get(name, "AVRO")
    for file, text in zip(("a.txt", "b.txt"), SCHEMAS[name], strict=True):
        Path(file).write_text(text)
    words = ("a.txt", "b.txt", "--format", form)
    harms = [one["harm"] for one in json.loads(diff(*words, "--json").stdout)["differences"] if "policy" not in one]
    lines = diff(*words).stdout.splitlines()

    shown = {"BACKWARD": harms.count("backward"), "FORWARD": harms.count("forward")}
    shown["FULL"] = sum(shown.values())
    assert shown["FULL"] > 1
    for level, count in shown.items():
        (row,) = [line for line in lines if line.startswith(f"{level} ")]
        counted = "passes" if not count else f"refused ({count} finding{'s' if count > 1 else ''})"
        assert row.split(maxsplit=1)[1].startswith(counted), (row, harms)


def registered(folder: Path) -> str:
    """The URL of a registry in which the first text is a version, and another subject refers to it."""
    url = f"sqlite:///{folder}/registry.db"
    user = '{"type":"record","name":"U","fields":[{"name":"f","type":"F"}]}'
    with connect(url) as registry:
        registry.register("plain", OLD)
        registry.register("user", Draft(user, references=(Reference("F", "plain", 1),)))
    return url


def test_a_file_after_a_version_is_tried_as_the_next_one(folder: Path) -> None:
    url = registered(folder)
    told = json.loads(diff("plain@latest", "more.avsc", "--registry", url, "--json").stdout)

    (one,) = told["differences"]
    assert (one["rule"], one["harm"], one["to"]["line"]) == ("READER_FIELD_MISSING_DEFAULT_VALUE", "backward", 14)
    assert told["to"]["text"].splitlines()[one["to"]["line"] - 1].strip() == "{"
    change = told["change"]
    assert (change["compatible"], change["against"], change["allowed"]) == (
        False,
        1,
        ["NONE", "FORWARD", "FORWARD_TRANSITIVE"],
    )
    assert [(each["kind"], each["name"], each["needs"]) for each in change["touched"]] == [
        ("SUBJECT", "user", "plain version 1")
    ]
    said = diff("plain@latest", "more.avsc", "--registry", url).stdout
    assert "plain has level BACKWARD: the change would be refused." in said
    assert "line:     new 14" in said
    with connect(url) as registry:
        assert registry.versions("plain") == (1,)


def test_versions_guids_and_files_of_a_registry_are_compared(folder: Path) -> None:
    url = registered(folder)
    with connect(url) as registry:
        guid = registry.version("plain").guid
    same = diff("plain@1", guid, "--registry", url, "--exit-code")
    assert (same.exit_code, same.stdout.splitlines()[0]) == (0, "The schemas are equal.")
    assert diff("doc.avsc", "plain@1", "--registry", url, "--exit-code").exit_code == 1
    missing = diff("plain@1", "plain@2", "--registry", url)
    assert (missing.exit_code, missing.stderr) == (1, "Error: Version 2 not found.\nallowed: 1\n")
    without = diff("plain@1", "old.avsc")
    assert (without.exit_code, "give it with --registry URL" in without.stderr) == (2, True)
