"""What a schema says of properties that it does not name decides what becomes of one that comes or goes."""

from typing import Any

import pytest

from tests.conformance.test_jsonschema_compat_cases import read
from treaty.formats.jsonschema.compare.compatibility import compare, find_differences

DRAFT = "https://json-schema.org/draft/2019-09/schema"
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
OTHER = {"patternProperties": {"^other": TEXT}}
"""Words about properties of which none comes or goes here."""
LEFT_OVER: dict[str, tuple[dict[str, Any], str]] = {
    "nothing is said": ({}, "open"),
    "all are allowed": ({"additionalProperties": True}, "open"),
    "all are allowed by a schema": ({"additionalProperties": {}}, "open"),
    "all are allowed in later words": ({"unevaluatedProperties": True}, "open"),
    "none is allowed": ({"additionalProperties": False}, "closed"),
    "none is allowed in later words": ({"unevaluatedProperties": False}, "closed"),
    "some of other names are": (OTHER, "others"),
    "some of other names are, and all": ({**OTHER, "additionalProperties": True}, "others"),
    "those of other names alone": ({**OTHER, "additionalProperties": False}, "closed"),
    "all are texts": ({"additionalProperties": TEXT}, "texts"),
    "all are texts in later words": ({"unevaluatedProperties": TEXT}, "texts"),
    "those of such a name are texts": ({"patternProperties": {"^a": TEXT}}, "texts"),
    "those of such a name are texts, and all are allowed": (
        {"patternProperties": {"^a": TEXT}, "additionalProperties": True},
        "texts",
    ),
    "those of such a name alone": ({"patternProperties": {"^a": TEXT}, "additionalProperties": False}, "texts"),
    "those of such a name are texts, and others numbers": (
        {"patternProperties": {"^a": TEXT}, "additionalProperties": NUMBER},
        "texts",
    ),
    "those of other names are numbers, and others texts": (
        {"patternProperties": {"^other": NUMBER}, "additionalProperties": TEXT},
        "texts",
    ),
}
"""Words of a schema, and what the property `added` may be by them: anything, nothing, or a text. By the established rules an
object that says something of some properties alone (`others`) is not open, though it may have any other.
"""
REMOVED = {
    "open": ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL"],
    "closed": ["PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"],
    "others": ["PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"],
    "a text": ["PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL"],
    "no text": ["PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "TYPE_CHANGED"],
}
UNOPEN = "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
ADDED = {
    "open": ["OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"],
    "closed": [UNOPEN],
    "others": ["TYPE_NOT_READ", UNOPEN],
    "a text": ["PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", UNOPEN],
    "no text": ["PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "TYPE_CHANGED", UNOPEN],
}
HARMLESS = {"removed": {"open", "a text"}, "added": {"closed", "a text"}}
"""Where a reader without the property, or with it, reads all that was written."""


@pytest.mark.parametrize("kind", [TEXT, NUMBER], ids=["a text", "a number"])
@pytest.mark.parametrize("name", LEFT_OVER)
def test_a_property_that_comes_or_goes_is_judged_by_what_is_said_of_those_without_a_name(
    name: str, kind: dict[str, str]
) -> None:
    words, cover = LEFT_OVER[name]
    case = cover if cover != "texts" else "a text" if kind == TEXT else "no text"
    without = {"$schema": DRAFT, "type": "object", **words}
    with_it, without_it = read({**without, "properties": {"added": kind}}), read(without)

    assert [each.rule for each in find_differences(without_it, with_it)] == REMOVED[case]
    assert [each.rule for each in find_differences(with_it, without_it)] == ADDED[case]
    assert (not compare(without_it, with_it)) == (case in HARMLESS["removed"])
    assert (not compare(with_it, without_it)) == (case in HARMLESS["added"])
