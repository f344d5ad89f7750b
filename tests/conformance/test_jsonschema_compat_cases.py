"""A folder for every rule of comparing JSON Schemas: two schemas and the findings, both ways and under both policies."""

import json
from pathlib import Path
from typing import Any

import pytest

from treaty.core.finding import Finding
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.jsonschema.compare.compatibility import compare, find_differences
from treaty.formats.jsonschema.compare.rules.treaty import COMPARISON_TOO_LARGE, OWN_RULES
from treaty.formats.jsonschema.format import ESTABLISHED, RULES
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import parse_schema
from treaty.formats.rule import CompatibilityRule

CASES = Path(__file__).parents[1] / "cases" / "jsonschema"
FOLDERS = sorted(path.parent for path in CASES.glob("*/verdict.json"))


def document(path: Path) -> JsonSchema:
    return parse_schema(ResolvedSchema("JSON", path.read_text("utf-8")), strict=False)


def read(schema: object) -> JsonSchema:
    return parse_schema(ResolvedSchema("JSON", json.dumps(schema)), strict=False)


def full(finding: Finding, *, backward: bool) -> dict[str, str]:
    """A finding with all its words; the new schema is the reader of a backward check."""
    reader, writer = ("new", "old") if backward else ("old", "new")
    assert finding.remedy
    return {
        "rule": finding.rule,
        "path": finding.path,
        "sentence": finding.message(reader=reader, writer=writer),
        "detail": finding.detail,
        writer: finding.writer,
        reader: finding.reader,
    }


def short(findings: tuple[Finding, ...]) -> list[dict[str, str]]:
    return [{"rule": finding.rule, "path": finding.path} for finding in findings]


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_change_gets_its_recorded_findings(folder: Path) -> None:
    old, new = document(folder / "old.json"), document(folder / "new.json")
    recorded = json.loads((folder / "verdict.json").read_text("utf-8"))

    assert [full(one, backward=True) for one in compare(new, old)] == recorded["backward"]
    assert [full(one, backward=False) for one in compare(old, new)] == recorded["forward"]
    assert short(find_differences(new, old)) == recorded["differences"]
    lenient = recorded.get("lenient", recorded)
    assert short(compare(new, old, "LENIENT")) == _short(lenient["backward"])
    assert short(compare(old, new, "LENIENT")) == _short(lenient["forward"])


def _short(recorded: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"rule": one["rule"], "path": one["path"]} for one in recorded]


def told(folder: Path, *lists: str) -> set[str]:
    recorded: dict[str, Any] = json.loads((folder / "verdict.json").read_text("utf-8"))
    return {one["rule"] for name in lists for one in recorded[name]}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=name) for name, rule in RULES.items()])
def test_every_rule_has_a_case_that_tells_it_and_a_near_miss(rule: CompatibilityRule) -> None:
    if rule is COMPARISON_TOO_LARGE:
        return  # its schemas are made by the tests of limits
    assert rule.id in told(CASES / rule.id, "differences")
    assert (rule.id in told(CASES / rule.id, "backward")) == bool(rule.policies)
    misses = [folder for folder in FOLDERS if folder.name.partition("-")[0] == rule.id and folder.name != rule.id]
    assert any(rule.id not in told(folder, "backward", "forward", "differences") for folder in misses)


def test_folders_with_the_name_of_a_rule_name_one_that_exists() -> None:
    named = {folder.name.partition("-")[0] for folder in FOLDERS}

    assert not {name for name in named if name.isupper()} - set(RULES)


def test_the_established_rules_are_all_that_anything_produces() -> None:
    harmless = [rule for rule in ESTABLISHED.values() if not rule.policies]
    lenient = [rule for rule in ESTABLISHED.values() if rule.policies and "LENIENT" not in rule.policies]

    assert len(ESTABLISHED) == 132 - 3  # three are only names, see docs/formats/jsonschema-compatibility.md
    assert (len(harmless), len(lenient)) == (65, 9)
    assert not set(ESTABLISHED) & set(OWN_RULES)


def test_every_rule_says_what_it_is_for_and_what_would_help() -> None:
    for name, rule in RULES.items():
        assert rule.id == name
        assert rule.purpose.endswith(".")
        assert rule.remedy
        assert (rule.harm == "none") == (not rule.policies)
        assert set("{}").isdisjoint(rule.remedy)
        assert "{path}" in rule.sentence or rule is COMPARISON_TOO_LARGE


LEFT_OVER = {"additionalProperties": "unevaluatedProperties", "additionalItems": "unevaluatedItems"}
"""Keywords about what nothing else names, and those of later drafts that ask the same where nothing is combined."""
COMBINED = {"allOf", "anyOf", "oneOf", "not", "if", "$ref", "contains"}
DRAFT = "https://json-schema.org/draft/2019-09/schema"


def keywords(schema: object) -> set[str]:
    if isinstance(schema, list):
        return set[str]().union(*map(keywords, schema))
    return {*schema}.union(*map(keywords, schema.values())) if isinstance(schema, dict) else set()


def in_later_words(schema: object) -> object:
    if isinstance(schema, list):
        return [in_later_words(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {LEFT_OVER.get(word, word): in_later_words(part) for word, part in schema.items()}


def pair_of(folder: Path) -> list[Any]:
    return [json.loads((folder / name).read_text("utf-8")) for name in ("old.json", "new.json")]


def can_use_later_words(folder: Path) -> bool:
    words = keywords(pair_of(folder))
    return bool(words & {*LEFT_OVER}) and not words & {*LEFT_OVER.values(), *COMBINED, "$schema"}


def established(findings: tuple[Finding, ...], *, renamed: bool = False) -> list[tuple[str, ...]]:
    """Findings of the walk over both schemas; rules and paths as they are called in later words if they are renamed."""
    places = [(finding.rule, *finding.path.split("/")) for finding in findings if finding.rule in ESTABLISHED]
    if not renamed:
        return places
    return [
        (rule.replace("ADDITIONAL_", "UNEVALUATED_"), *(LEFT_OVER.get(step, step) for step in path))
        for rule, *path in places
    ]


@pytest.mark.parametrize(
    "folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS if can_use_later_words(folder)]
)
def test_what_is_left_over_is_judged_alike_in_the_words_of_later_drafts(folder: Path) -> None:
    """A schema is as open, and covers as much, whether it says so of additional or of unevaluated parts."""
    pair = [{**schema, "$schema": DRAFT} for schema in pair_of(folder)]
    old, new = map(read, pair)
    later_old, later_new = (read(in_later_words(schema)) for schema in pair)
    for policy in ("STRICT", "LENIENT"):
        assert established(compare(later_new, later_old, policy)) == established(
            compare(new, old, policy), renamed=True
        )
        assert established(compare(later_old, later_new, policy)) == established(
            compare(old, new, policy), renamed=True
        )
    differences = find_differences(later_new, later_old)
    assert established(differences) == established(find_differences(new, old), renamed=True)
