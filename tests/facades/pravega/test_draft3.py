"""JSON Schemas of draft 3 at Pravega's API: translated to draft 4 for comparing, and given back as they were sent."""

import base64
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.facades.pravega.test_descriptor_sets import ask
from tests.real.running import serving
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.draft3 import translate_draft3
from treaty.formats.jsonschema.format import FORMAT
from treaty.wire.pravega.bodies import SchemaInfoBody, SerializationFormatBody
from treaty.wire.pravega.drafts import draft_of

DRAFT_3, DRAFT_4 = "http://json-schema.org/draft-03/schema#", "http://json-schema.org/draft-04/schema#"
STRING = {"type": "string"}
JSON = {"serializationFormat": "Json", "fullTypeName": "Json"}

TRANSLATED: list[tuple[Any, Any]] = [
    ({"properties": {"a": {"type": "string", "required": True}, "b": STRING}}, {"properties": {"a": STRING, "b": STRING}, "required": ["a"]}),
    ({"properties": {"a": {"required": False}}}, {"properties": {"a": {}}}),
    ({"type": "any"}, {}),
    ({"type": ["string", "any"], "title": "t"}, {"title": "t"}),
    ({"type": ["any", {"title": "t"}]}, {"allOf": [{"anyOf": [{}, {"title": "t"}]}]}),
    ({"type": ["null", {"properties": {"x": {"required": True}}}]}, {"allOf": [{"anyOf": [{"type": "null"}, {"properties": {"x": {}}, "required": ["x"]}]}]}),
    ({"dependencies": {"a": "b", "c": ["d"], "e": {"type": "any"}}}, {"dependencies": {"a": ["b"], "c": ["d"], "e": {}}}),
    ({"$schema": DRAFT_3, "extends": STRING, "divisibleBy": 3}, {"multipleOf": 3, "allOf": [STRING]}),
    ({"$schema": DRAFT_3, "extends": [STRING, {"disallow": ["null", {"type": "any"}]}]}, {"allOf": [STRING, {"allOf": [{"not": {"anyOf": [{"type": "null"}, {}]}}]}]}),
    ({"$schema": DRAFT_3, "items": [{"type": "any"}], "additionalItems": False}, {"items": [{}], "additionalItems": False}),
    ({"$schema": DRAFT_3, "minimum": 1.50, "exclusiveMinimum": True}, {"minimum": 1.50, "exclusiveMinimum": True}),
    ({"type": "any", "definitions": {"extends": {"type": "any"}}, "items": {"$ref": "#/definitions/extends"}}, {"definitions": {"extends": {}}, "items": {"$ref": "#/definitions/extends"}}),
]  # fmt: skip
"""Schemas of draft 3, and what they are in draft 4."""

KEPT: list[Any] = [
    {"properties": {"a": STRING}, "required": ["a"]},
    {"$schema": DRAFT_4, "properties": {"a": {"required": True}}},
    {"extends": STRING},
    {"properties": {"type": {"enum": ["any"]}}},
    {"type": ["string", "null"]},
    [{"required": True}],
]
"""What is valid in a later draft, or names one, or is no schema: it stays as it is."""


@pytest.mark.parametrize(("old", "new"), TRANSLATED)
def test_a_text_of_draft_3_means_the_same_in_draft_4(old: Any, new: Any) -> None:
    text = translate_draft3(json.dumps(old))
    assert text is not None
    assert json.loads(text) == {"$schema": DRAFT_4, **new}
    FORMAT.parse(ResolvedSchema("JSON", text), True)


@pytest.mark.parametrize("schema", KEPT)
def test_other_texts_stay_as_they_are(schema: Any) -> None:
    assert translate_draft3(json.dumps(schema)) is None
    assert translate_draft3(json.dumps(schema)[:-1]) is None


VALUES = [None, 1, 2.5, "x", [], ["x"], {}, {"a": "x"}, {"a": 1}, {"a": "x", "b": "y"}, {"x": 1}]


def test_the_validator_of_draft_4_says_what_draft_3_means() -> None:
    """Each schema with what it allows of the values, said by hand after the text of draft 3."""
    allowed = {
        json.dumps({"properties": {"a": {"type": "string", "required": True}}}): [0, 1, 2, 3, 4, 5, 7, 9],
        json.dumps({"type": ["null", {"type": "object", "properties": {"x": {"required": True}}}]}): [0, 10],
        json.dumps({"$schema": DRAFT_3, "disallow": ["number", "object"]}): [0, 3, 4, 5],
        json.dumps({"$schema": DRAFT_3, "type": "object", "extends": {"properties": {"a": {"type": "string"}}}}): [6, 7, 9, 10],
    }  # fmt: skip
    for text, places in allowed.items():
        validator = jsonschema_rs.Draft4Validator(json.loads(translate_draft3(text) or ""))
        assert [at for at, value in enumerate(VALUES) if validator.is_valid(value)] == places, text


def draft(text: str) -> Draft:
    return draft_of(SchemaInfoBody("T", SerializationFormatBody("Json"), text.encode()))[0]


def test_the_bytes_stay_as_they_were_sent() -> None:
    text = '{ "properties": {"a": {"required": true}} }'
    made = draft(text)
    assert (made.data, json.loads(made.text)["required"]) == (text.encode(), ["a"])
    assert draft('{"type":"string"}').data is None


MOVED: list[tuple[str, str]] = [
    ("#/extends", "#/allOf/1"),
    ("#/properties/a~1b/type/1", "#/properties/a~1b/allOf/0/anyOf/1"),
    ("#/disallow/0/items", "#/allOf/0/not/anyOf/0/items"),
    ("#/properties/a~1b", "#/properties/a~1b"),
    ("#/properties/%C3%A4%20b/extends/1", "#/properties/%C3%A4%20b/allOf/1"),
    (DRAFT_3, DRAFT_3),
    ("#", "#"),
]
"""References of draft 3, and where they lead in draft 4."""


@pytest.mark.parametrize(("old", "new"), MOVED)
def test_a_reference_follows_the_schema_that_it_leads_to(old: str, new: str) -> None:
    schema = {
        "$schema": DRAFT_3,
        "disallow": [{"items": STRING}],
        "extends": {"title": "t"},
        "properties": {
            "a/b": {"type": ["any", {"title": "second"}]},
            "ä b": {"extends": [STRING, {"title": "x"}]},
            "c": {"$ref": old},
        },
    }
    text = draft(json.dumps(schema)).text
    assert json.loads(text)["properties"]["c"] == {"$ref": new}
    FORMAT.parse(ResolvedSchema("JSON", text), True)


def test_a_reference_to_no_schema_is_refused() -> None:
    text = draft(json.dumps({"$schema": DRAFT_3, "items": {"$ref": "#/extends"}})).text
    with pytest.raises(InvalidSchemaError) as refused:
        FORMAT.parse(ResolvedSchema("JSON", text), True)
    assert [(one.rule, one.path) for one in refused.value.faults] == [("REF_DANGLING", "/items/$ref")]


def pravega_body(schema: object) -> dict[str, Any]:
    data = base64.b64encode(json.dumps(schema).encode()).decode()
    return {"type": "T", "serializationFormat": JSON, "schemaData": data, "properties": {}}


def test_what_has_no_translation_is_a_finding_of_policies_that_compare(tmp_path: Path) -> None:
    def schema(name: str) -> dict[str, Any]:
        return pravega_body({"$schema": DRAFT_3, "properties": {name: {"$ref": DRAFT_3}, "b": {"type": "any"}}})

    with serving(tmp_path, "--log", "memory:") as server:
        for policy, status in (("Backward", 409), ("AllowAny", 201)):
            properties = {"serializationFormat": JSON, "compatibility": {"policy": policy}, "allowMultipleTypes": False}
            group = f"/v1/groups/{policy}"
            assert ask(server, "POST", "/v1/groups", {"groupName": policy, "groupProperties": properties})[0] == 201
            assert ask(server, "POST", f"{group}/schemas", schema("a"))[0] == 201
            assert ask(server, "GET", f"{group}/schemas/schema/0")[1] == schema("a")
            assert ask(server, "POST", f"{group}/schemas", schema("a"))[0] == 201, "the same one again"
            answered, body = ask(server, "POST", f"{group}/schemas", schema("c"))
            assert answered == status, body
            if status == 409:
                assert "/properties/c" in json.dumps(body["reasons"]), body
                assert body["remedies"], body


def test_pravegas_api_compares_them(tmp_path: Path) -> None:
    properties = {"serializationFormat": JSON, "compatibility": {"policy": "Backward"}, "allowMultipleTypes": False}
    first = pravega_body({"type": "object", "properties": {"a": {"type": "string", "required": True}}})
    looser = pravega_body({"type": "object", "properties": {"a": {"type": "string", "required": False}}})
    other = pravega_body({"type": "object", "properties": {"a": {"type": "integer", "required": True}}})
    with serving(tmp_path, "--log", "memory:") as server:
        assert ask(server, "POST", "/v1/groups", {"groupName": "g", "groupProperties": properties})[0] == 201
        for schema, status in ((first, 201), (looser, 201), (other, 409)):
            assert ask(server, "POST", "/v1/groups/g/schemas", schema)[0] == status
        assert ask(server, "GET", "/v1/groups/g/schemas/schema/0")[1] == first
        assert json.loads(ask(server, "GET", "/subjects/g/versions/1")[1]["schema"])["$schema"] == DRAFT_4
