"""A folder for every rule of comparing Protobuf schemas: two schemas and the findings, both ways."""

import json
from pathlib import Path
from typing import Any

import pytest

from treaty.core import limits
from treaty.core.finding import Finding
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.protobuf.compare.comparison import compare, find_differences
from treaty.formats.protobuf.compare.rules.established import ESTABLISHED
from treaty.formats.protobuf.compare.rules.harmless import HARMLESS
from treaty.formats.protobuf.compare.rules.treaty import COMPARISON_TOO_LARGE, OWN
from treaty.formats.protobuf.format import RULES
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.parser import parse_schema
from treaty.formats.rule import POLICIES, CompatibilityRule

CASES = Path(__file__).parents[1] / "cases" / "protobuf"
FOLDERS = sorted(path.parent for path in CASES.glob("*/verdict.json"))


def schema(folder: Path, side: str) -> ProtoSchema:
    """One of the two schemas of a folder, with the file that it may import."""
    text, other = folder / f"{side}.proto", folder / f"{side}.line.proto"
    meaning = ResolvedSchema("PROTOBUF", other.read_text("utf-8")) if other.exists() else None
    bound = (ResolvedReference("line.proto", "line", 1, meaning),) if meaning else ()
    return parse_schema(ResolvedSchema("PROTOBUF", text.read_text("utf-8"), bound), strict=True)


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


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_change_gets_its_recorded_findings(folder: Path) -> None:
    old, new = schema(folder, "old"), schema(folder, "new")
    recorded = json.loads((folder / "verdict.json").read_text("utf-8"))

    assert [full(one, backward=True) for one in compare(new, old)] == recorded["backward"]
    assert [full(one, backward=False) for one in compare(old, new)] == recorded["forward"]
    told = [{"rule": one.rule, "path": one.path} for one in find_differences(new, old)]
    assert told == recorded["differences"]
    assert [one for one in told if RULES[one["rule"]].harm != "none"] == _short(recorded["backward"])
    assert len({compare(new, old, policy) for policy in POLICIES}) == 1


def _short(recorded: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"rule": one["rule"], "path": one["path"]} for one in recorded]


def told(folder: Path, *lists: str) -> set[str]:
    recorded: dict[str, Any] = json.loads((folder / "verdict.json").read_text("utf-8"))
    return {one["rule"] for name in lists for one in recorded[name]}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=name) for name, rule in RULES.items()])
def test_every_rule_has_a_case_that_tells_it_and_a_near_miss(rule: CompatibilityRule) -> None:
    if rule is COMPARISON_TOO_LARGE:
        return  # its schemas are made below
    assert rule.id in told(CASES / rule.id, "differences")
    assert (rule.id in told(CASES / rule.id, "backward")) == bool(rule.policies)
    misses = [folder for folder in FOLDERS if folder.name.partition("-")[0] == rule.id and folder.name != rule.id]
    assert any(rule.id not in told(folder, "backward", "forward", "differences") for folder in misses)


def test_every_rule_says_what_it_is_for_and_what_would_help() -> None:
    assert len(RULES) == len(ESTABLISHED) + len(OWN) + len(HARMLESS)
    for name, rule in RULES.items():
        assert rule.id == name
        assert rule.purpose.endswith(".")
        assert rule.remedy
        assert (rule.harm == "none") == (not rule.policies)
        assert set("{}").isdisjoint(rule.remedy)
        assert "{path}" in rule.sentence or rule is COMPARISON_TOO_LARGE


SYNTAXES = {
    "proto2": ('syntax = "proto2";', "optional {} = 1;", "required {} = 1;"),
    "proto3": ('syntax = "proto3";', "{} = 1;", ""),
    "2023": ('edition = "2023";', "{} = 1;", "{} = 1 [features.field_presence = LEGACY_REQUIRED];"),
    "2023 for the file": ('edition = "2023"; option features.field_presence = LEGACY_REQUIRED;', "", "{} = 1;"),
    "2024": ('edition = "2024";', "{} = 1;", "{} = 1 [features.field_presence = LEGACY_REQUIRED];"),
}
"""Heads of files, and how one says that a field may be missing and that it is required; empty where one can't."""


@pytest.mark.parametrize("kind", ["string a", "M a"])
def test_a_field_that_became_required_is_told_whatever_the_two_files_are_written_in(kind: str) -> None:
    """Each file by its own syntax or edition: proto2, proto3 and editions on either side."""
    written = [
        (required, bound({}, f"{head} message M {{ {text.format(kind)} }}"))
        for head, *texts in SYNTAXES.values()
        for required, text in enumerate(texts)
        if text
    ]
    for was, old in written:
        for required, new in written:
            rules = {one.rule for one in compare(new, old)}
            assert ("FIELD_BECAME_REQUIRED" in rules) == (required > was), (old, new)


# ------------------------------------------------------------------------------------------------------- limits


def bound(texts: dict[str, str], text: str) -> ProtoSchema:
    """A schema with references, each of which may import the one before it."""
    bindings: list[ResolvedReference] = []
    for name, one in texts.items():
        inner = tuple(bindings[-1:]) if "import" in one else ()
        bindings.append(ResolvedReference(name, name, 1, ResolvedSchema("PROTOBUF", one, inner)))
    return parse_schema(ResolvedSchema("PROTOBUF", text, tuple(bindings)), strict=False)


def chain(files: int, last: str) -> ProtoSchema:
    """Files with messages in a chain, the last one ending in a field of type `last`."""
    texts = {}
    for at in range(files):
        inner = f'import "{at - 1}.proto"; message M{at} {{ N{at - 1} a = 1; N{at - 1} b = 2; }}' if at else ""
        texts[f"{at}.proto"] = f'syntax = "proto3"; {inner} message N{at} {{ {f"M{at}" if at else last} c = 1; }}'
    top = f'syntax = "proto3"; import "{files - 1}.proto"; message Top {{ N{files - 1} a = 1; }}'
    return bound(texts, top)


def test_a_long_chain_of_files_is_compared_in_linear_time() -> None:
    old, new = chain(30, "int32"), chain(30, "string")

    assert compare(old, chain(30, "int64")) == ()
    found = compare(new, old)
    assert [one.rule for one in found if one.path == "#/N0/1"] == ["FIELD_SCALAR_KIND_CHANGED"]
    assert found[-1].path == "#/Top/1"
    assert len(found) == 2 + 29 * 3, "every field on the way is told once"


def test_a_deep_chain_of_messages_needs_no_stack() -> None:
    def deep(last: str) -> ProtoSchema:
        names = "".join(f"message M{at} {{ M{at + 1} a = 1; }}" for at in range(5_000))
        text = f'syntax = "proto3"; {names} message M5000 {{ {last} a = 1; }}'
        return bound({"a.proto": text}, 'syntax = "proto3"; import "a.proto"; message Top { M0 a = 1; }')

    found = compare(deep("string"), deep("int32"))

    assert len(found) == limits.FINDINGS
    assert found[0].path == "#/M5000/1"
    assert compare(deep("int32"), deep("bool")) == ()


def test_too_large_a_comparison_is_refused_and_says_so() -> None:
    fields = "".join(f" int32 f{at} = {at + 1};" for at in range(2_500))
    texts = {f"{at}.proto": f'syntax = "proto3"; package p{at}; message M {{{fields} }}' for at in range(40)}
    imports = "".join(f'import "{at}.proto";' for at in range(40))

    def uses(count: int, *, turned: bool) -> ProtoSchema:
        kinds = [divmod(at, 40)[turned] for at in range(count)]
        body = "".join(f"p{kind}.M u{at} = {at + 1};" for at, kind in enumerate(kinds))
        return bound(texts, f'syntax = "proto3"; {imports} message Top {{ {body} }}')

    assert compare(uses(400, turned=True), uses(400, turned=False)) == ()
    found = compare(uses(1_600, turned=True), uses(1_600, turned=False))
    assert [one.rule for one in found] == ["COMPARISON_TOO_LARGE"], "each pair of two messages costs its fields"


def test_no_more_findings_than_the_limit_are_told() -> None:
    def wide(kind: str) -> ProtoSchema:
        fields = "".join(f" {kind} f{at} = {at + 1};" for at in range(2_000))
        return bound({}, f'syntax = "proto3"; message M {{{fields} }}')

    assert len(compare(wide("int32"), wide("string"))) == limits.FINDINGS
