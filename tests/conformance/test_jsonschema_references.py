"""References lead where the standard says: a value shows it, for the schema itself and for its resolved text alone."""

import json
from typing import Any

import jsonschema_rs
import pytest

from tests.oracle.jsonschema_treaty import model
from treaty.formats.jsonschema.canonical import print_resolved, print_value
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.references import follow_reference, get_child, is_ambiguous

NEW = "https://json-schema.org/draft/2020-12/schema"
OLD = "http://json-schema.org/draft-04/schema#"
CLASSES = {
    4: jsonschema_rs.Draft4Validator,
    7: jsonschema_rs.Draft7Validator,
    2019: jsonschema_rs.Draft201909Validator,
    2020: jsonschema_rs.Draft202012Validator,
}


def ref(to: str, **more: Any) -> dict[str, Any]:
    return {"$ref": to, **more}


def text(name: str, schema: Any, *references: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "schema": schema, "references": list(references)}


NULL, TEXT = {"type": "null"}, {"type": "string"}
CASES: dict[str, tuple[Any, list[dict[str, Any]], Any, Any]] = {
    "a name": (ref("a.json"), [text("a.json", NULL)], None, "x"),
    "a name and a pointer": (ref("a.json#/definitions/b"), [text("a.json", {"definitions": {"b": NULL}})], None, "x"),
    "a name that is not the URI of its text": (
        {"items": ref("mine")},
        [text("mine", {"$id": "http://example.org/theirs", "items": ref("#/definitions/b"), "definitions": {"b": NULL}})],
        [[None]],
        [["x"]],
    ),
    "two names of one text": ({"items": [ref("a"), ref("b")]}, [text("a", NULL), text("b", NULL)], [None, None], [None, 1]),
    "its URI and its name": (
        {"items": [ref("http://example.org/a"), ref("b")]},
        [text("b", {"$id": "http://example.org/a", **NULL})],
        [None, None],
        [None, 1],
    ),
    "a relative name beside a URI": (
        {"$id": "http://example.org/dir/root", "items": ref("a.json")},
        [text("a.json", {"items": ref("b.json")}, text("b.json", NULL))],
        [[None]],
        [["x"]],
    ),
    "a name inside an embedded resource": (
        {"$schema": NEW, "$id": "http://example.org/r", "items": ref("e"), "$defs": {"e": {"$id": "e", "items": ref("deep/a")}}},
        [text("deep/a", NULL)],
        [[None]],
        [["x"]],
    ),
    "a very name from another place": (
        {"$schema": NEW, "$id": "http://example.org/r", "items": ref("x/e"), "$defs": {"e": {"$id": "x/e", "items": ref("a.json")}}},
        [text("a.json", NULL)],
        [[None]],
        [["x"]],
    ),
    "a root that is a reference": (
        ref("a.json#/definitions/b"),
        [text("a.json", ref("#/definitions/c", definitions={"b": NULL, "c": TEXT}))],
        None,
        "x",
    ),
    "a text that is a reference into itself": (
        {"items": ref("a.json")},
        [text("a.json", ref("#/definitions/b", definitions={"b": NULL}, minimum=5))],
        [None],
        ["x"],
    ),
    "a text that is a reference to another one": ({"items": ref("a")}, [text("a", ref("b"), text("b", NULL))], [None], [1]),
    "a text that is false": ({"items": ref("a")}, [text("a", False)], [], [1]),
    "a text that is true": ({"items": [ref("a"), False]}, [text("a", True)], [1], [1, 1]),
    "a circle of two texts": (
        {"properties": {"a": ref("a")}, "additionalProperties": False},
        [text("a", {"properties": {"b": ref("b")}, "additionalProperties": False}, text("b", {"items": ref("a")}))],
        {"a": {"b": [{"b": []}]}},
        {"a": {"b": [{"c": []}]}},
    ),
    "a text that leads back to the first": (
        {"$id": "http://example.org/r", "properties": {"a": ref("a")}, "additionalProperties": False},
        [text("a", {"items": ref("http://example.org/r")})],
        {"a": [{"a": []}]},
        {"a": [{"b": []}]},
    ),
    "an anchor of another text": (
        {"$schema": NEW, "items": ref("a#x")},
        [text("a", {"$schema": NEW, "$defs": {"y": {"$anchor": "x", **NULL}}})],
        [None],
        ["x"],
    ),
    "a reference with siblings, 2020-12": (
        {"$schema": NEW, "items": ref("a", maxLength=1)},
        [text("a", {"$schema": NEW, **TEXT})],
        ["x"],
        ["xx"],
    ),
    "an older draft inside a newer one": (
        {"$schema": NEW, "items": ref("a")},
        [text("a", {"$schema": OLD, "maximum": 3, "exclusiveMaximum": True})],
        [2],
        [3],
    ),
    "a meta-schema": ({"items": ref("http://json-schema.org/draft-07/schema#")}, [], [{"type": "null"}], [{"type": "x"}]),
    "definitions of one name": (
        {"items": [ref("a"), ref("#/definitions/a")], "definitions": {"a": TEXT}},
        [text("a", NULL)],
        [None, "x"],
        ["x", None],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "references", "good", "bad"), [pytest.param(*row, id=name) for name, row in CASES.items()]
)
def test_a_reference_leads_to_its_text(schema: Any, references: list[dict[str, Any]], good: Any, bad: Any) -> None:
    document = model(json.dumps(schema), references)
    alone = CLASSES[document.root.draft.number](json.loads(print_resolved(document)), offline=True)

    assert check_value(document, print_value(good)) == ()
    assert check_value(document, print_value(bad))
    assert alone.is_valid(good)
    assert not alone.is_valid(bad)
    again = model(print_resolved(document), strict=len({root.draft for root in document.roots}) == 1)
    assert check_value(again, print_value(good)) == ()
    assert check_value(again, print_value(bad))


def test_formats_are_not_asserted() -> None:
    assert check_value(model('{"format": "date"}'), '"tomorrow"') == ()


def test_a_text_without_a_draft_is_draft_7_wherever_it_is_referred_to_from() -> None:
    references = [text("a", {"items": [NULL], "additionalItems": False, "prefixItems": [TEXT]})]
    document = model(json.dumps({"$schema": NEW, "$ref": "a"}), references)

    assert check_value(document, "[null]") == ()
    assert check_value(document, "[null, 1]")
    assert check_value(document, '["x"]')


def test_steps_into_a_schema_know_their_base_and_their_draft() -> None:
    document = model(
        json.dumps({"$id": "http://example.org/r", "items": {"$id": "dir/e", "properties": {"x/y": ref("f")}}}),
        strict=False,
    )
    inner = get_child(document.root, "items", "properties", "x/y")

    assert (inner.base, inner.place, inner.draft.number) == ("http://example.org/dir/e", "/items/properties/x~1y", 7)
    assert follow_reference(document, inner) is None
    assert document.blocked == ("f",)


def test_a_dynamic_reference_may_mean_several_places() -> None:
    tree: dict[str, Any] = {"$schema": NEW, "$id": "http://example.org/tree", "$dynamicAnchor": "node"}
    tree["properties"] = {"next": {"$dynamicRef": "#node"}}
    strict: dict[str, Any] = {
        "$schema": NEW,
        "$id": "http://example.org/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
    }
    strict["unevaluatedProperties"] = False
    alone = model(json.dumps(tree))
    derived = model(json.dumps(strict), [text("tree", tree)])
    inner = get_child(derived.roots[1], "properties", "next")

    assert not is_ambiguous(alone, get_child(alone.root, "properties", "next"))
    assert is_ambiguous(derived, inner)
    assert follow_reference(derived, inner) == derived.roots[1]
    assert check_value(derived, '{"next": {"next": {}}}') == ()
    assert check_value(derived, '{"next": {"other": 1}}'), "the outer schema's node counts inside too"
