"""Hand-made schemas get the verdict, canonical text and fault that were recorded with the Java library beside them."""

from typing import Any

import pytest

from tests.oracle.avro_treaty import DIFFERENCES, described, hand_made, meaning, text_of
from treaty.formats.avro.parser import parse_schema
from treaty.formats.avro.rules import EXPECTED
from treaty.formats.format import InvalidSchemaError

CASES = hand_made()


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in CASES])
def test_a_hand_made_schema_gets_its_recorded_verdict(row: dict[str, Any]) -> None:
    said = described(text_of(row), row.get("references", ()))

    assert said["valid"] == row["valid"], said
    assert said.get("canonical") == row.get("canonical")
    if not row["valid"]:
        with pytest.raises(InvalidSchemaError) as refused:
            parse_schema(meaning(text_of(row), row.get("references", ())), strict=True)
        first = refused.value.faults[0]
        assert (first.rule, first.path) == (row["rule"], row["path"])
        assert first.message
        assert first.expected


def test_there_are_enough_of_each_kind_and_every_rule_of_validity_is_hit() -> None:
    rules = {row["rule"] for _, row in CASES if not row["valid"]}
    valid = sum(row["valid"] for _, row in CASES)

    assert len(CASES) >= 200
    assert valid >= 0.3 * len(CASES)
    assert len(CASES) - valid >= 0.3 * len(CASES)
    assert set(EXPECTED) - rules <= {"TOO_MANY", "SCHEMA_TOO_DEEP"}, "limits have tests of their own"


def test_every_difference_has_a_name_and_every_name_a_case() -> None:
    assert {row["difference"] for _, row in CASES if "difference" in row} == set(DIFFERENCES)
