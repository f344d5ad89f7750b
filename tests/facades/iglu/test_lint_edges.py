"""Near misses of each check of Iglu's linter: what is at a limit, or has the word that excuses it, is no finding, and one step further is."""

from typing import Any

import pytest

from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.wire.iglu.lint import CHECKS, FORMATS, LONGEST_TEXT, lint_document

SCHEMA: dict[str, Any] = {
    "$schema": SELF_DESCRIBING,
    "self": {"vendor": "com.acme", "name": "click", "format": "jsonschema", "version": "1-0-0"},
    "type": "object",
    "required": ["a"],
    "additionalProperties": False,
}


def text(**words: Any) -> dict[str, Any]:
    return {"a": {"type": "string", **words}}


def number(**words: Any) -> dict[str, Any]:
    return {"a": {"type": "integer", "minimum": 0, "maximum": 9, **words}}


Case = tuple[str, dict[str, Any], dict[str, Any], bool]
"""A check, the properties and further members of a schema, and whether it finds anything."""
LIMITS = [("numericMinimumMaximum", "number", "minimum", "maximum"), ("stringMinMaxLength", "string", "minLength", "maxLength"),
          ("arrayMinMaxItems", "array", "minItems", "maxItems")]  # fmt: skip
MISPLACED: dict[str, tuple[str, dict[str, Any]]] = {
    "numericProperties": ("number", {"multipleOf": 2, "minimum": 0, "maximum": 9}),
    "stringProperties": ("string", {"minLength": 1, "maxLength": 9, "pattern": "a", "format": "uri"}),
    "arrayProperties": ("array", {"items": {}, "additionalItems": False, "minItems": 1, "maxItems": 2, "uniqueItems": True}),
    "objectProperties": ("object", {
        "properties": {}, "additionalProperties": False, "required": ["b"], "patternProperties": {"b": {}}, "minProperties": 1,
        "maxProperties": 2, "dependencies": {"b": ["c"]},
    }),
}  # fmt: skip
CASES: list[Case] = [
    *((check, {"a": {"type": kind, low: 3, high: top}}, {}, top < 3) for check, kind, low, high in LIMITS for top in (2, 3, 4)),
    *(
        (check, {"a": {"type": types, word: value}}, {}, not fits)
        for check, (kind, words) in MISPLACED.items()
        for word, value in words.items()
        for types, fits in ((kind, True), ([kind, "null"], True), (["boolean", kind], True), ("boolean", False), (["boolean", "null"], False))
    ),
    ("numericProperties", {"a": {"type": "integer", "minimum": 0}}, {}, False),
    ("requiredPropertiesExist", text(), {"required": ["a", "b"]}, True),
    ("requiredPropertiesExist", text(), {"required": ["a", "b"], "patternProperties": {"b": {}}}, False),
    ("requiredPropertiesExist", text(), {"required": ["a", "b"], "additionalProperties": True}, False),
    ("requiredPropertiesExist", text(), {"required": ["a", "b"], "additionalProperties": {}}, False),
    ("rootObject", text(), {"type": ["object"]}, False),
    ("rootObject", text(), {"type": ["object", "null"]}, True),
    *(("stringMaxLengthRange", text(maxLength=LONGEST_TEXT + more), {}, more > 0) for more in (-1, 0, 1)),
    *(("unknownFormats", text(format=word), {}, False) for word in sorted(FORMATS)),
    ("unknownFormats", text(format="URI"), {}, True),
    ("numericMinMax", number(), {}, False),
    *(("numericMinMax", {"a": {"type": kind, word: 0}}, {}, True) for kind in ("integer", "number") for word in ("minimum", "maximum")),
    ("numericMinMax", {"a": {"type": "integer", "enum": [1, 2]}}, {}, False),
    ("numericMinMax", {"a": {"type": ["null", "number"]}}, {}, True),
    *(("stringLength", text(**{word: value}), {}, False) for word, value in (("maxLength", 9), ("enum", ["b"]), ("format", "uri"))),
    ("stringLength", text(minLength=1), {}, True),
    ("stringLength", {"a": {"type": ["null", "string"]}}, {}, True),
    *(("bqDisallowedCharacters", {name: {}}, {}, finds) for name, finds in (("a-b.c$_9", False), ("", False), ("a b", True), ("a/b", True), ("é", True))),
    *(
        ("bqIllegalStart", {name: {}}, {}, finds)
        for name, finds in (("_table_a", True), ("_TABLE_a", True), ("_Partition", True), ("__root__a", True), ("a_TABLE_", False), ("_tablea", False))
    ),
    *(("remoteReference", {"a": {"$ref": to}}, {}, finds) for to, finds in (("#", False), ("b.json#", True), ("", True))),
    ("optionalNull", text(), {"required": ["a"]}, False),
    ("optionalNull", text(), {"required": ["b"], "additionalProperties": True}, True),
    ("optionalNull", {"a": {"type": ["string", "null"]}}, {"required": ["b"], "additionalProperties": True}, False),
    ("optionalNull", {"a": {"type": "string", "enum": ["b", None]}}, {"required": ["b"], "additionalProperties": True}, False),
    ("optionalNull", {"a": {"type": "string", "enum": ["b"]}}, {"required": ["b"], "additionalProperties": True}, True),
    ("optionalNull", {"a": {}}, {"required": ["b"], "additionalProperties": True}, False),
    ("description", text(description=""), {}, False),
    ("description", text(), {"description": "of another"}, True),
]  # fmt: skip


@pytest.mark.parametrize(("check", "properties", "members", "finds"), CASES)
def test_a_check_finds_what_is_past_its_limit_and_nothing_before(
    check: str, properties: dict[str, Any], members: dict[str, Any], *, finds: bool
) -> None:
    findings = lint_document({**SCHEMA, "properties": properties, **members}, 40)
    assert "syntax" not in {finding.check for finding in findings}
    assert (check in {finding.check for finding in findings}) is finds


def test_each_check_but_that_of_the_meta_schema_has_a_near_miss() -> None:
    misses = {check for check, _, _, finds in CASES if not finds}
    assert misses == {check.name for check in CHECKS} - {"schemaUri"}


@pytest.mark.parametrize("value", [True, "9", None, [9]])
@pytest.mark.parametrize("word", ["maxLength", "minimum"])
def test_a_limit_that_is_no_number_is_an_error_of_syntax_alone(word: str, value: object) -> None:
    findings = lint_document({**SCHEMA, "properties": {"a": {word: value}}}, 40)
    assert {finding.check for finding in findings} == {"syntax"}
