"""Hand-made Protobuf files get the verdict, the rule and the place that are recorded beside them."""

from typing import Any

import pytest

from tests.oracle.protobuf_treaty import DIFFERENCES, hand_made, judged
from treaty.core.finding import Diagnostic
from treaty.formats.protobuf.linker.diagnostics import EXPECTED

CASES = hand_made()
LIMITS = {"REFERENCES_TOO_DEEP", "SCHEMA_TOO_LARGE", "TOO_MANY", "TOO_MANY_REFERENCES"}
"""Rules that have tests of their own, in test_protobuf_limits.py."""


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in CASES])
def test_a_hand_made_file_gets_its_recorded_verdict(row: dict[str, Any]) -> None:
    said = judged(row["text"], row.get("references"))

    if row["valid"]:
        assert not isinstance(said, Diagnostic), said
    else:
        assert isinstance(said, Diagnostic)
        assert (said.rule, said.path, said.line, said.column) == (row["rule"], row["path"], row["line"], row["column"])
        assert said.message
        assert said.expected


def test_every_rule_has_a_file_that_breaks_it_and_a_near_miss() -> None:
    broken = {row["rule"] for _, row in CASES if not row["valid"]}
    missed = {row["near_miss"] for _, row in CASES if "near_miss" in row and row["valid"]}

    assert set(EXPECTED) - broken <= LIMITS
    assert set(EXPECTED) - missed <= LIMITS


def test_every_difference_has_a_name_and_every_name_a_case() -> None:
    assert {row["difference"] for _, row in CASES if "difference" in row} == set(DIFFERENCES)
