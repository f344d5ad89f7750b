"""A folder for every rule of compatibility: two schemas and the findings, both ways."""

import json
from pathlib import Path

import pytest

from tests.oracle.avro_treaty import CASES
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.avro.rules import COMPARISON_TOO_LARGE, RULES
from treaty.formats.engine import FormatEngine
from treaty.formats.history import check_compatibility
from treaty.formats.registry import find_formats

FOLDERS = sorted(path.parent for path in CASES.glob("*/verdict.json"))


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FOLDERS])
def test_a_change_gets_its_recorded_findings(folder: Path) -> None:
    old, new = (ResolvedSchema("AVRO", (folder / name).read_text("utf-8")) for name in ("old.avsc", "new.avsc"))
    recorded = json.loads((folder / "verdict.json").read_text("utf-8"))
    said = check_compatibility(FormatEngine(find_formats()), old, new, "FULL", recorded.pop("policy", "STRICT"))

    members = ("rule", "path", "sentence", "detail", "old", "new")
    told = {
        direction: [
            {member: getattr(reason, member) for member in members}
            for reason in said.reasons
            if reason.direction == direction
        ]
        for direction in ("backward", "forward")
    }
    assert told == recorded
    assert all(reason.remedy for reason in said.reasons)


def test_every_rule_has_a_folder_of_its_name_in_which_it_is_broken() -> None:
    for rule in set(RULES) - {COMPARISON_TOO_LARGE.id}:
        recorded = json.loads((CASES / rule / "verdict.json").read_text("utf-8"))
        assert rule in {found["rule"] for found in recorded["backward"]}, rule


def test_every_rule_says_what_it_is_for_and_what_would_help() -> None:
    for rule in RULES.values():
        assert rule.purpose.endswith(".")
        assert rule.remedy
        assert not set("{}") & set(rule.remedy)
