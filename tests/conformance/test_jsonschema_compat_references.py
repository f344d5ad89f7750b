"""Schemas that refer to other texts are compared with what these say, wherever the references lead."""

import json
from typing import Any

import pytest

from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.jsonschema.compare.compatibility import compare
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import parse_schema

NEWER = "https://json-schema.org/draft/2020-12/schema"
OLDER = "https://json-schema.org/draft/2019-09/schema"


def document(schema: Any, **texts: Any) -> JsonSchema:
    """A schema and the texts that it names `<name>.json`."""
    bound = tuple(
        ResolvedReference(f"{name}.json", f"subject {name}", 1, ResolvedSchema("JSON", json.dumps(text)))
        for name, text in texts.items()
    )
    return parse_schema(ResolvedSchema("JSON", json.dumps(schema), bound), strict=True)


def told(new: JsonSchema, old: JsonSchema) -> list[tuple[str, str]]:
    return [(one.rule, one.path) for one in compare(new, old)]


USER = {"type": "object", "properties": {"user": {"$ref": "user.json"}, "more": {"$ref": "user.json#/definitions/id"}}}


def user(**changes: Any) -> dict[str, Any]:
    name = {"type": "string", "maxLength": 20, **changes}
    return {
        "type": "object",
        "properties": {"name": name, "boss": {"$ref": "#"}},
        "definitions": {"id": {"type": "integer"}},
    }


def test_a_change_in_a_text_that_is_referred_to_is_found_where_it_is_used() -> None:
    old, narrow, wide = (document(USER, user=user(maxLength=length)) for length in (20, 10, 30))

    assert told(narrow, old) == [("MAX_LENGTH_DECREASED", "#/properties/user/properties/name/maxLength")]
    assert told(wide, old) == []


def test_a_definition_inside_another_text_is_found() -> None:
    old, new = document(USER, user=user()), document(USER, user={**user(), "definitions": {"id": {"type": "string"}}})

    assert told(new, old) == [("TYPE_CHANGED", "#/properties/more")]


def test_a_text_may_be_written_out() -> None:
    alone = {"type": "object", "properties": {"user": {"$ref": "#/definitions/u"}, "more": {"type": "integer"}}}
    inner = user()
    inner["properties"]["boss"] = {"$ref": "#/definitions/u"}
    old, new = document(USER, user=user()), document({**alone, "definitions": {"u": inner}})

    assert told(new, old) == told(old, new) == []


def test_texts_that_refer_to_each_other_are_compared() -> None:
    first = {"type": "object", "properties": {"next": {"$ref": "second.json"}}}

    def second(kind: str) -> Any:
        return {"type": "object", "properties": {"next": {"$ref": "first.json"}, "x": {"type": kind}}}

    root = {"$ref": "first.json"}
    old, same, new = (document(root, first=first, second=second(kind)) for kind in ("integer", "integer", "string"))

    assert told(same, old) == []
    assert told(new, old) == [("TYPE_CHANGED", "#/properties/next/properties/x")]


def test_anchors_lead_to_what_they_name() -> None:
    def anchored(name: str, kind: str) -> JsonSchema:
        schema = {
            "$schema": NEWER,
            "properties": {"x": {"$ref": f"#{name}"}},
            "$defs": {"d": {"$anchor": name, "type": kind}},
        }
        return document(schema)

    assert told(anchored("b", "integer"), anchored("a", "integer")) == []
    assert told(anchored("a", "string"), anchored("a", "integer")) == [("TYPE_CHANGED", "#/properties/x")]


@pytest.mark.parametrize(
    ("draft", "refers", "anchor"),
    [
        (NEWER, {"$dynamicRef": "#node"}, {"$dynamicAnchor": "node"}),
        (OLDER, {"$recursiveRef": "#"}, {"$recursiveAnchor": True}),
    ],
    ids=["$dynamicRef", "$recursiveRef"],
)
def test_dynamic_references_are_followed_where_they_can_mean_one_place_only(
    draft: str, refers: dict[str, Any], anchor: dict[str, Any]
) -> None:
    def tree(kind: str, *, several: bool) -> JsonSchema:
        inner = {"$id": "http://example.com/inner", **anchor} if several else {}
        properties = {"value": {"type": kind}, "next": refers}
        return document({"$schema": draft, **anchor, "type": "object", "properties": properties, "$defs": {"d": inner}})

    assert told(tree("number", several=False), tree("integer", several=False)) == []
    assert told(tree("number", several=True), tree("number", several=True)) == []
    assert ("REFERENCE_UNRESOLVED", "#/properties/next") in told(
        tree("number", several=True), tree("integer", several=True)
    )


def test_keywords_beside_a_reference_count_since_2019_09() -> None:
    def beside(draft: str, **more: Any) -> JsonSchema:
        word = "$defs" if draft == NEWER else "definitions"
        schema = {"$ref": f"#/{word}/d", **more}
        return document({"$schema": draft, "properties": {"x": schema}, word: {"d": {"type": "string"}}})

    seven = "http://json-schema.org/draft-07/schema#"
    assert told(beside(seven, maxLength=3), beside(seven)) == []
    assert told(beside(NEWER, maxLength=3), beside(NEWER)) == [("TYPE_CHANGED", "#/properties/x")]
    assert told(beside(NEWER, maxLength=4), beside(NEWER, maxLength=3)) == []
    assert told(beside(NEWER), beside(NEWER, maxLength=3)) == []


def test_a_reference_that_leads_nowhere_fits_only_itself() -> None:
    old, same, other = (
        parse_schema(ResolvedSchema("JSON", json.dumps({"properties": {"x": {"$ref": to}}})), strict=False)
        for to in ("http://example.com/a", "http://example.com/a", "http://example.com/b")
    )

    assert told(same, old) == []
    assert told(other, old) == [("REFERENCE_UNRESOLVED", "#/properties/x")]
