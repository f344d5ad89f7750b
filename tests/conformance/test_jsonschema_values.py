"""What is wrong with a value is said with its place, what stands there, and what the schema asks for."""

import json

import pytest

from tests.oracle.jsonschema_treaty import model
from treaty.formats.jsonschema.data.value import check_value

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": ["integer", "null"], "maximum": 3},
        "b": {"pattern": "^x"},
        "c": {"enum": [1, 2]},
        "d": {"const": "d"},
        "e": {"items": {"multipleOf": 0.01}},
        "f": {"anyOf": [{"type": "null"}, {"minLength": 2}]},
        "g": False,
        "h": {"propertyNames": {"maxLength": 1}},
    },
    "required": ["a"],
    "additionalProperties": False,
}
# A value, and the rule, the pointer, line, column and what was expected of its only fault.
WRONG: dict[str, tuple[str, tuple[str, str, int, int, str]]] = {
    "type": ('{"a": "x"}', ("TYPE", "/a", 1, 7, "type null or integer, as the schema says at /properties/a/type")),
    "maximum": ('{\n "a": 4}', ("MAXIMUM", "/a", 2, 7, "maximum 3, as the schema says at /properties/a/maximum")),
    "pattern": ('{"a": 1, "b": "y"}', ("PATTERN", "/b", 1, 15, "pattern ^x, as the schema says at /properties/b/pattern")),
    "enum": ('{"a": 1, "c": 3}', ("ENUM", "/c", 1, 15, "enum 1 or 2, as the schema says at /properties/c/enum")),
    "const": ('{"a": 1, "d": 3}', ("CONST", "/d", 1, 15, "const d, as the schema says at /properties/d/const")),
    "item": (
        '{"a": 1, "e": [0.07, 0.075]}',
        ("MULTIPLE_OF", "/e/1", 1, 22, "multipleOf 0.01, as the schema says at /properties/e/items/multipleOf"),
    ),
    "branches": ('{"a": 1, "f": "x"}', ("ANY_OF", "/f", 1, 15, "what the schema says at /properties/f/anyOf")),
    "false": ('{"a": 1, "g": 1}', ("FALSE_SCHEMA", "/g", 1, 15, "what the schema says at /properties/g")),
    "required": ('{"b": "x"}', ("REQUIRED", "", 1, 1, "required a, as the schema says at /required")),
    "member": ('{"a": 1,\n "z": 1}', ("ADDITIONAL_PROPERTIES", "/z", 2, 7, "what the schema says at /additionalProperties")),
    "not JSON": ('{"a": 1,}', ("JSON_MALFORMED", "", 1, 9, "a JSON text")),
    "too deep": ("[" * 201, ("VALUE_TOO_DEEP", "", 0, 0, "at most 200 levels of brackets")),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), [pytest.param(*row, id=name) for name, row in WRONG.items()])
def test_a_fault_of_a_value(text: str, told: tuple[str, str, int, int, str]) -> None:
    found = check_value(model(json.dumps(SCHEMA)), text)

    assert [(one.rule, one.path, one.line, one.column, one.expected) for one in found] == [told]
    assert found[0].message


def test_all_faults_are_told_and_numbers_are_exact() -> None:
    document = model('{"items": {"maximum": 0.3, "multipleOf": 0.1}}')

    assert check_value(document, "[0.3, 0.1, 0.30000000000000000000]") == ()
    assert [one.path for one in check_value(document, "[0.3, 0.30000000000000000001, 36893488147419103232]")] == [
        "/1",
        "/1",
        "/2",
    ]


def test_what_the_validator_can_not_compile_is_said() -> None:
    found = check_value(model('{"pattern": "(?<n>a)\\\\k<n>"}'), '"aa"')

    assert [one.rule for one in found] == ["VALUE_NOT_JUDGED"]
