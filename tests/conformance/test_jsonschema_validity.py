"""Hand-made JSON Schemas get the verdict, canonical text and fault that are recorded beside them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.jsonschema_treaty import hand_made, meaning, text_of
from treaty.core.schema import guid
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.canonical import print_texts
from treaty.formats.jsonschema.parser import parse_schema
from treaty.formats.jsonschema.validity import EXPECTED

CASES = hand_made()
TEXT_RULES = {"JSON_MALFORMED", "NUMBER_NOT_ALLOWED", "TEXT_NOT_UNICODE"}


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in CASES])
def test_a_hand_made_schema_gets_its_recorded_verdict(row: dict[str, Any]) -> None:
    asked = meaning(text_of(row), row.get("references"))
    if not row["valid"]:
        with pytest.raises(InvalidSchemaError) as refused:
            parse_schema(asked, strict=True)
        first = refused.value.faults[0]
        assert (first.rule, first.path) == (row["rule"], row["path"])
        assert first.message
        assert first.expected
        return
    document = parse_schema(asked, strict=True)
    canonical = print_texts(document, False).canonical
    assert canonical == row.get("canonical", canonical)
    assert (
        print_texts(parse_schema(meaning(canonical, row.get("references")), strict=True), False).canonical == canonical
    )


def test_there_are_enough_of_each_kind_and_every_rule_of_validity_is_hit() -> None:
    rules = {row["rule"] for _, row in CASES if not row["valid"]}
    valid = sum(row["valid"] for _, row in CASES)

    assert len(CASES) >= 200
    assert 0.3 * len(CASES) <= valid <= 0.7 * len(CASES)
    assert set(EXPECTED) - rules == {"TOO_MANY"}, "this limit has tests of its own"
    assert rules <= {*EXPECTED, *TEXT_RULES}


def test_a_near_miss_is_valid_and_names_a_rule_of_validity() -> None:
    near = [row for _, row in CASES if "near_miss" in row]

    assert near
    assert all(row["valid"] for row in near)
    assert {row["near_miss"] for row in near} <= {*EXPECTED, *TEXT_RULES}


def faults(text: str) -> list[tuple[str, str, int, int]]:
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(meaning(text), strict=True)
    return [(one.rule, one.path, one.line, one.column) for one in refused.value.faults]


def test_all_faults_are_told_each_with_its_place_in_the_order_of_the_text() -> None:
    text = """{"type": "object",
  "properties": {
    "a": {"type": "strin"},
    "b": {"pattern": "("},
    "c": {"$ref": "other.json"}, "d": {"minLength": -1},
    "e": {"$ref": "#/definitions/f"}
}}"""

    assert faults(text) == [
        ("KEYWORD_VALUE_UNKNOWN", "/properties/a/type", 3, 19),
        ("REGEX_INVALID", "/properties/b/pattern", 4, 22),
        ("REF_UNRESOLVED", "/properties/c/$ref", 5, 19),
        ("KEYWORD_OUT_OF_RANGE", "/properties/d/minLength", 5, 53),
        ("REF_DANGLING", "/properties/e/$ref", 6, 19),
    ]


def test_a_fault_reads_as_a_sentence() -> None:
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(meaning('{"properties": {"a": {"type": "strin"}}}'), strict=True)

    assert str(refused.value) == (
        "'strin' can't stand under 'type'; did you mean 'string'? at /properties/a/type (line 1, column 31); expected "
        "one of array, boolean, integer, null, number, object, string or array"
    )


def test_what_is_not_known_is_named_as_the_reference_that_would_make_it_known() -> None:
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(
            meaning('{"$id": "http://example.org/dir/a.json", "items": {"$ref": "../b.json#/x"}}'), strict=True
        )

    assert "'http://example.org/b.json'" in refused.value.faults[0].message
    assert "'../b.json'" in refused.value.faults[0].expected


def test_stored_schemas_are_read_whatever_their_keywords_hold() -> None:
    text = '{"type": 3, "properties": {"a": {"$ref": "gone.json"}, "b": 7}, "pattern": "(", "allOf": {}, "$ref": 4}'
    stored = parse_schema(meaning(text), strict=False)

    assert stored.blocked == ("gone.json",)
    assert print_texts(stored, False).canonical == text.replace(" ", "")


def test_the_canonical_text_gives_the_guid_that_is_recorded() -> None:
    vectors = json.loads((Path(__file__).parent / "data" / "guid-vectors.json").read_text("utf-8"))
    found = [one for one in vectors if one["case"] == "json schema"]

    assert len(found) == 1
    for one in found:
        spread = json.dumps(json.loads(one["text"]), indent=4)
        canonical = print_texts(parse_schema(meaning(spread), strict=True), False).canonical
        assert canonical == one["text"]
        assert guid(canonical, (), None, None) == one["guid"]
