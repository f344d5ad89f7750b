"""`treaty iglu lint` and `treaty iglu publish`: checks with a schema that breaks each, and a static registry of all of Iglu Central."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests import iglu
from treaty.cli.main import group
from treaty.core.iglu_key import SELF_DESCRIBING, IgluKey
from treaty.core.limits import IGLU_FINDINGS
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.wire.iglu.families import find_gaps, list_steps, make_comparison
from treaty.wire.iglu.lint import CHECKS, SKIPPABLE, SYNTAX, UNKNOWN_KEYWORDS, lint_document

SOUND: dict[str, Any] = {
    "$schema": SELF_DESCRIBING,
    "description": "A click",
    "self": {"vendor": "com.acme", "name": "click", "format": "jsonschema", "version": "1-0-0"},
    "type": "object",
    "properties": {"url": {"type": "string", "maxLength": 100, "description": "Where"}},
    "required": ["url"],
    "additionalProperties": False,
}


def with_property(**words: Any) -> dict[str, Any]:
    return {**SOUND, "properties": {"url": {"description": "Where", **words}}}


TEXT = {"type": "string", "maxLength": 100}
BROKEN: dict[str, dict[str, Any]] = {
    "numericMinimumMaximum": with_property(type="integer", minimum=2, maximum=1),
    "stringMinMaxLength": with_property(type="string", minLength=2, maxLength=1),
    "arrayMinMaxItems": with_property(type="array", minItems=2, maxItems=1),
    "numericProperties": with_property(**TEXT, minimum=1),
    "stringProperties": with_property(type="integer", minimum=0, maximum=1, maxLength=1),
    "arrayProperties": with_property(**TEXT, uniqueItems=True),
    "objectProperties": with_property(**TEXT, properties={}),
    "requiredPropertiesExist": {**SOUND, "required": ["url", "other"]},
    "schemaUri": {**SOUND, "$schema": "http://json-schema.org/draft-04/schema#"},
    "rootObject": {**SOUND, "type": ["object", "null"]},
    "stringMaxLengthRange": with_property(type="string", maxLength=65_536),
    "unknownFormats": with_property(**TEXT, format="colour"),
    "numericMinMax": with_property(type="integer", minimum=0),
    "stringLength": with_property(type="string"),
    "bqDisallowedCharacters": {**SOUND, "properties": {"url": TEXT | {"description": ""}, "ü": TEXT | {"description": ""}}, "required": ["url", "ü"]},
    "bqIllegalStart": {**SOUND, "properties": {"url": TEXT | {"description": ""}, "_table_x": TEXT | {"description": ""}}, "required": ["url", "_table_x"]},
    "remoteReference": with_property(**{"$ref": "http://example.org/other#"}),
    "optionalNull": {word: held for word, held in SOUND.items() if word != "required"},
    "description": {**SOUND, "properties": {"url": TEXT}},
    SYNTAX: with_property(type="text"),
    UNKNOWN_KEYWORDS: with_property(**TEXT, colour="red"),
}  # fmt: skip


def test_every_check_has_a_schema_that_breaks_it() -> None:
    assert set(BROKEN) == {one.name for one in CHECKS} | {SYNTAX, UNKNOWN_KEYWORDS}
    assert not lint_document(SOUND, 40)


@pytest.mark.parametrize("name", BROKEN)
def test_a_check_finds_what_breaks_it_and_can_be_skipped_unless_it_is_an_error(name: str) -> None:
    found = lint_document(BROKEN[name], 40)
    assert name in {one.check for one in found}
    assert all(one.pointer == "" or one.pointer.startswith("/") for one in found)
    skipped = lint_document(BROKEN[name], 40, SKIPPABLE)
    levels = {one.check: one.level for one in found}
    assert (name in {one.check for one in skipped}) is (levels[name] == "ERROR")


def test_errors_and_then_warnings_are_found_behind_any_number_of_hints() -> None:
    hints = {f"p{number}": TEXT for number in range(IGLU_FINDINGS)}
    worse = {name: BROKEN[name]["properties"]["url"] for name in ("stringMaxLengthRange", "stringMinMaxLength")}
    found = lint_document({**SOUND, "properties": {**hints, **worse}, "required": [*worse]}, 40)
    assert len(found) == IGLU_FINDINGS
    assert [finding.check for finding in found if finding.level != "INFO"] == [*reversed(worse)]
    assert [finding.level for finding in found[:3]] == ["ERROR", "WARNING", "INFO"]


def test_a_schema_that_is_too_deep_is_an_error_of_syntax() -> None:
    deep: dict[str, Any] = {}
    for _ in range(45):
        deep = {"not": deep}
    assert [one.check for one in lint_document({**SOUND, "not": deep}, 40)] == [SYNTAX]


def run(*words: str) -> tuple[int, str, str]:
    found = CliRunner().invoke(group, ["iglu", *words])
    return found.exit_code, found.stdout, found.stderr


def write(folder: Path, path: str, document: Any) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def version(label: str, **members: Any) -> dict[str, Any]:
    found = {**SOUND, "self": {**SOUND["self"], "version": label}, **members}
    return {word: held for word, held in found.items() if held is not None}


def lint(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run("lint", str(folder), "--json", *words)
    return code, json.loads(out)


def test_versions_are_checked_together(tmp_path: Path) -> None:
    home = "com.acme/click/jsonschema"
    write(tmp_path, f"schemas/{home}/1-0-0", version("1-0-0"))
    write(tmp_path, f"schemas/{home}/1-0-2", version("1-0-2", required=None))
    narrower = {"url": {**SOUND["properties"]["url"], "maxLength": 10}}
    write(tmp_path, f"schemas/{home}/1-0-3", version("1-0-3", properties=narrower, required=["url"]))
    write(tmp_path, f"schemas/{home}/2-0-0", version("2-0-0", properties=narrower, required=["url"]))
    write(tmp_path, "schemas/com.acme/other/jsonschema/1-0-0", version("1-0-0"))
    write(tmp_path, "schemas/readme.md", "no schema")
    code, told = lint(tmp_path)
    found = {(one["schema"].removeprefix("iglu:com.acme/"), one["check"], one["level"]) for one in told["findings"]}
    assert code == 1
    assert found == {
        ("click/jsonschema/1-0-2", "versionGap", "ERROR"),
        ("click/jsonschema/1-0-2", "optionalNull", "INFO"),
        ("click/jsonschema/1-0-3", "labelChange", "WARNING"),
        ("click/jsonschema/2-0-0", "labelChange", "INFO"),
        ("other/jsonschema/1-0-0", "pathMismatch", "ERROR"),
    }
    (label,) = [one for one in told["findings"] if one["level"] == "WARNING"]
    assert label["message"].startswith("1-0-3 must read all data of 1-0-2, but does not: REQUIRED_ATTRIBUTE_ADDED at ")
    assert label["message"].endswith("; call it 3-0-0")  # 2-0-0 is there
    _, less = lint(tmp_path, "--skip-checks", "versionGap,labelChange,optionalNull")
    assert [one["check"] for one in less["findings"]] == ["pathMismatch"]


def test_the_exit_code_is_zero_where_there_is_only_advice(tmp_path: Path) -> None:
    file = write(tmp_path, "com.acme/click/jsonschema/1-0-0", version("1-0-0", required=None))
    assert lint(file)[0] == 0
    assert run("lint", str(file), "--skip-checks", "syntax")[0] == 2
    assert run("lint")[0] == 2
    assert run("lint", str(write(tmp_path, "stranger", "{}")))[0] == 2
    assert "numericMinMax" in run("lint", "--list")[1]


def test_a_file_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "com.acme/click/jsonschema/1-0-0", "{")
    code, told = lint(tmp_path)
    assert (code, [one["check"] for one in told["findings"]]) == (1, [SYNTAX])


def test_iglu_central_has_no_errors_and_no_gaps() -> None:
    texts = {IgluKey.parse_path(path): text for path, text in iglu.schemas().items()}
    found = [one for text in texts.values() for one in lint_document(json.loads(text), 40) if one.level == "ERROR"]
    assert not found
    assert not list(find_gaps(list(texts)))
    steps = list(list_steps(texts, make_comparison(FormatEngine(find_formats())), in_model=True))
    assert len(steps) == 94
    assert sum(step.result == "fits" for step in steps) > 70


def test_a_static_registry_has_the_files_and_their_lists(tmp_path: Path) -> None:
    for path, text in iglu.schemas().items():
        write(tmp_path / "in", f"schemas/{path}", text)
    code, out, _ = run("publish", str(tmp_path / "in"), str(tmp_path / "out"), "--json")
    root = tmp_path / "out" / "schemas"
    assert code == 0
    assert json.loads(out)["schemas"] == 660
    for path, text in iglu.schemas().items():
        assert (root / path).read_text() == text
    listed = json.loads((root / "index.json").read_text())
    assert len(listed) == 660
    models = [one for one in root.rglob("*") if one.is_file() and one.name.isdigit()]
    assert sum(len(json.loads(one.read_text())) for one in models) == 660
    family = json.loads((root / "com.amazon.aws.cloudfront/wd_access_log/jsonschema/1").read_text())
    assert family == [f"iglu:com.amazon.aws.cloudfront/wd_access_log/jsonschema/1-0-{one}" for one in range(7)]
    assert run("publish", str(tmp_path / "in"), str(tmp_path / "in"))[0] == 2
    (tmp_path / "empty").mkdir()
    assert run("publish", str(tmp_path / "empty"), str(tmp_path / "out"))[0] == 2
