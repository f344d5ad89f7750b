"""Conversations about JSON Schemas: versions, references, lookups, verdicts in the established words."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.facades.conversation import ANY, Turn, error, hold, registered, version
from tests.real.running import Running, serving


def obj(**properties: dict[str, Any]) -> str:
    return json.dumps({"type": "object", "properties": properties}, separators=(",", ":"))


def posted(text: str, **more: Any) -> dict[str, Any]:
    return {"schemaType": "JSON", "schema": text, **more}


JSON: dict[str, Any] = {"schemaType": "JSON"}
LONG, TEXT = {"type": "integer"}, {"type": "string"}
V1, V2, BAD = obj(id=LONG), obj(id=LONG, note=TEXT), obj(id=TEXT)
SPELT = '{ "properties": { "id": { "type": "integer" } },\n  "type": "object" }'
KEPT = '{"properties":{"id":{"type":"integer"}},"type":"object"}'
ADDED = (
    '{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", description:"The new schema has an open content model '
    "and has a property or item at path '#/properties/note' which is missing in the old schema'}"
)
CHANGED = (
    '{errorType:"TYPE_CHANGED", description:"A type at path \'#/properties/id\' is different between the new schema '
    "and the old schema'}"
)
CLOSING = "{validateFields: 'false', compatibility: 'BACKWARD'}"


def told(*findings: str, number: int = 1, old: str = V1) -> list[str]:
    return [*findings, f"{{oldSchemaVersion: {number}}}", f"{{oldSchema: '{old}'}}", CLOSING]


VERSIONS: list[Turn] = [
    ("POST", "/subjects/j/versions", posted(SPELT), 200, registered(1, 1, KEPT, **JSON)),
    ("POST", "/subjects/j/versions?normalize=true", posted(V1), 200,
     registered(1, 1, KEPT, **JSON, ts=ANY, deleted=False)),
    ("GET", "/subjects/j/versions/1", None, 200, version("j", 1, 1, KEPT, **JSON)),
    ("GET", "/subjects/j/versions/1/schema", None, 200, json.loads(KEPT)),
    ("GET", "/schemas/ids/1", None, 200, {
        "subject": "j", "version": 1, "guid": ANY, **JSON, "schema": KEPT, "ts": ANY, "deleted": False}),
    ("GET", "/schemas/ids/1?format=serialized", None, 200, ANY),
    ("GET", "/schemas/ids/1/schema", None, 200, json.loads(KEPT)),
    ("POST", "/subjects/j", posted(SPELT), 200, version("j", 1, 1, KEPT, **JSON)),
    ("POST", "/subjects/j", posted(V1), 404, error(40403, "Schema not found")),
    ("POST", "/subjects/j?normalize=true", posted(V1), 200, version("j", 1, 1, KEPT, **JSON)),
    ("POST", "/subjects/j", {"schema": V1}, 422, error(42201, ANY)),
    ("POST", "/subjects/j/versions", {"schema": '"int"'}, 409, error(40901,
     'Schema being registered is incompatible with an earlier schema for subject "j", details: '
     f"[Incompatible because of different schema type, {CLOSING}]")),
    ("PUT", "/config/j", {"compatibility": "NONE"}, 200, ANY),
    ("POST", "/subjects/j/versions", {"schema": '"int"'}, 200, registered(2, 2, '"int"')),
    ("GET", "/schemas?latestOnly=false", None, 200, [
        version("j", 1, 1, KEPT, **JSON), version("j", 2, 2, '"int"')]),
]  # fmt: skip

COMPATIBILITY: list[Turn] = [
    ("POST", "/subjects/c/versions", posted(V1), 200, registered(1, 1, V1, **JSON)),
    ("POST", "/compatibility/subjects/c/versions/latest?verbose=true", posted(V2), 200,
     {"is_compatible": False, "messages": told(ADDED)}),
    ("POST", "/compatibility/subjects/c/versions?verbose=true", posted(BAD), 200,
     {"is_compatible": False, "messages": told(CHANGED)}),
    ("POST", "/subjects/c/versions", posted(V2), 409, error(40901,
     'Schema being registered is incompatible with an earlier schema for subject "c", details: '
     f"[{', '.join(told(ADDED))}]")),
    ("PUT", "/config/c", {"compatibilityPolicy": "LENIENT"}, 200, {"compatibilityPolicy": "LENIENT"}),
    ("POST", "/compatibility/subjects/c/versions/1?verbose=true", posted(V2), 200,
     {"is_compatible": True, "messages": []}),
    ("POST", "/subjects/c/versions", posted(V2), 200, registered(2, 2, V2, **JSON)),
    ("POST", "/subjects/c/versions", posted(BAD), 409, error(40901, ANY)),
    ("PUT", "/config/c", {"compatibility": "FULL"}, 200, ANY),
    ("POST", "/compatibility/subjects/c/versions/2?verbose=true", posted(V1), 200,
     {"is_compatible": True, "messages": []}),
    ("POST", "/compatibility/subjects/c/versions/latest", posted("{"), 422, error(42201, ANY)),
    ("POST", "/compatibility/subjects/c/versions/latest?verbose=true", posted("{"), 200,
     {"is_compatible": False, "messages": [ANY]}),
]  # fmt: skip

LONG_OLD = obj(id={"type": "integer", "description": "x" * 10_300})
CUT: list[Turn] = [
    ("POST", "/subjects/l/versions", posted(LONG_OLD), 200, ANY),
    ("POST", "/compatibility/subjects/l/versions/latest?verbose=true", posted(BAD), 200, {
        "is_compatible": False,
        "messages": [
            CHANGED,
            "{oldSchemaVersion: 1}",
            f"{{oldSchema: <truncated> '{LONG_OLD[:10_240]}...'}}",
            CLOSING,
        ]}),
]  # fmt: skip

INVALID: list[Turn] = [
    ("POST", "/subjects/i/versions", posted("{"), 422, error(42201,
     "Invalid schema of type JSON, details: not JSON: expecting property name enclosed in double quotes "
     "(line 1, column 2); expected a JSON text")),
    ("POST", "/subjects/i/versions", posted('{"type":"strin"}'), 422, error(42201, ANY)),
    ("POST", "/subjects/i/versions", posted("[]"), 422, error(42201, ANY)),
    ("POST", "/subjects/i/versions", posted(""), 422, error(42201, "Empty schema")),
    ("POST", "/subjects/i/versions", posted('{"$ref":"http://10.0.0.1/x.json"}'), 422, error(42201, ANY)),
    ("PUT", "/config/i", {"validateFields": True}, 200, ANY),
    ("POST", "/subjects/i/versions", posted(obj(**{"$$id": LONG})), 422, error(42201,
     "Invalid schema of type JSON, details: Field names cannot start with $$ prefix at /properties/$$id; expected "
     "another name, or validateFields=false")),
    ("GET", "/subjects", None, 200, []),
]  # fmt: skip

ORDER = '{"type":"object","properties":{"customer":{"$ref":"customer.json"}}}'
USES = [{"name": "customer.json", "subject": "customer", "version": 1}]
WITH_USES: dict[str, Any] = {**JSON, "references": USES}
REFERENCES: list[Turn] = [
    ("POST", "/subjects/order/versions", posted(ORDER), 422, error(42201, ANY)),
    ("POST", "/subjects/order/versions", posted(ORDER, references=USES), 422, error(42201,
     'No schema reference found for subject "customer" and version 1')),
    ("POST", "/subjects/customer/versions", posted(V1), 200, registered(1, 1, V1, **JSON)),
    ("POST", "/subjects/order/versions", posted(ORDER, references=USES), 200, registered(1, 2, ORDER, **WITH_USES)),
    ("POST", "/subjects/order", posted(ORDER, references=[{**USES[0], "version": -1}]), 200,
     version("order", 1, 2, ORDER, **WITH_USES)),
    ("GET", "/subjects/customer/versions/1/referencedby", None, 200, [2]),
    ("DELETE", "/subjects/customer/versions/1", None, 422, error(42206,
     "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=customer,version=1}.")),
    ("PUT", "/config/customer", {"compatibility": "NONE"}, 200, ANY),
    ("POST", "/subjects/customer/versions", posted(V2), 200, ANY),
    ("DELETE", "/subjects/customer/versions/2", None, 200, 2),
    ("POST", "/subjects/order/versions", posted(ORDER, references=[{**USES[0], "version": 2}]), 422, error(42201,
     'No schema reference found for subject "customer" and version 2')),
    ("DELETE", "/subjects/customer/versions/2?permanent=true", None, 200, 2),
    ("POST", "/subjects/customer/versions", posted(BAD), 200, registered(2, 4, BAD, **JSON)),
    ("POST", "/compatibility/subjects/order/versions/latest?verbose=true",
     posted(ORDER, references=[{**USES[0], "version": 2}]), 200, {
        "is_compatible": False,
        "messages": told(CHANGED.replace("properties/id", "properties/customer/properties/id"), old=ORDER)}),
]  # fmt: skip

EXTERNAL = obj(a={"$ref": "http://example.com/old.json"})
IMPORTED: list[Turn] = [
    ("PUT", "/mode/e", {"mode": "IMPORT"}, 200, ANY),
    ("POST", "/subjects/e/versions", posted(EXTERNAL, id=7, version=3), 200, registered(3, 7, EXTERNAL, **JSON)),
    ("PUT", "/mode/e", {"mode": "READWRITE"}, 200, ANY),
    ("POST", "/compatibility/subjects/e/versions/latest?verbose=true", posted(obj(a=TEXT)), 200, {
        "is_compatible": False,
        "messages": ["A previous schema version contains an unsupported external reference", CLOSING]}),
    ("POST", "/subjects/e/versions", posted(obj(a=TEXT)), 409, error(40901,
     'Schema being registered is incompatible with an earlier schema for subject "e", details: '
     f"[A previous schema version contains an unsupported external reference, {CLOSING}]")),
    ("PUT", "/config/e", {"validateNewSchemas": False}, 200, ANY),
    ("POST", "/compatibility/subjects/e/versions?verbose=true",
     posted(EXTERNAL.replace("old.json", "new.json")), 200, {
         "is_compatible": False,
         "messages": ["A previous schema version contains an unsupported external reference", CLOSING]}),
    ("POST", "/compatibility/subjects/e/versions?verbose=true", posted(EXTERNAL.replace('"a"', '"b"')), 200,
     {"is_compatible": False, "messages": ANY}),
]  # fmt: skip

RESERVED = {"properties": {"confluent:reserved": "note"}}
FIELDS: list[Turn] = [
    ("PUT", "/config/f", {"validateFields": True, "compatibilityPolicy": "LENIENT"}, 200, ANY),
    ("POST", "/subjects/f/versions", posted(V1, metadata=RESERVED), 200, ANY),
    ("POST", "/compatibility/subjects/f/versions/latest?verbose=true", posted(V2), 200, {
        "is_compatible": False,
        "messages": ["The new schema has field that conflicts with the reserved field note.",
                     "{validateFields: 'true', compatibility: 'BACKWARD'}"]}),
    ("PUT", "/config/f", {"validateFields": False, "validators": ["FIELD_DOC_MISSING"]}, 200, ANY),
    ("POST", "/subjects/f/versions", posted(V2), 422, error(42201, ANY)),
    ("POST", "/subjects/f/versions", posted(obj(id={**LONG, "description": "which one"})), 200, ANY),
]  # fmt: skip

STORIES = {
    "versions": VERSIONS,
    "compatibility": COMPATIBILITY,
    "a long old text": CUT,
    "invalid": INVALID,
    "references": REFERENCES,
    "imported": IMPORTED,
    "fields": FIELDS,
}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        yield running


@pytest.mark.parametrize("story", STORIES)
def test_a_conversation(server: Running, story: str) -> None:
    hold(server, STORIES[story])
