"""Recorded conversations with the real server about Avro schemas, settings, deletes and contexts."""

import json
from collections.abc import Iterator

import pytest

from tests.facades.conversation import ANY, Turn, error, hold, not_there, registered, version
from tests.real.running import Running, serving

STRING = '"string"'
USER = '{"type":"record","name":"User","namespace":"org.example","fields":[{"name":"name","type":"string"}]}'
USER2 = (
    '{"type":"record","name":"User","namespace":"org.example","fields":[{"name":"name","type":"string"},'
    '{"name":"age","type":["null","int"],"default":null}]}'
)
USER_BAD = USER2.replace('"default":null', '"doc":"x"').replace('["null","int"],', '"int",')
OUTER = (
    '{"type":"record","name":"Outer","namespace":"org.example","fields":[{"name":"user","type":"org.example.User"}]}'
)


SOFT = "was soft deleted.Set permanent=true to delete permanently"
LIVE = "was not deleted first before being permanently deleted"
LEVELS = (
    "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
    "forward_transitive, and full_transitive"
)
NO_DEFAULT = (
    "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'age' at path '/fields/1' in the "
    "new schema has no default value and is missing in the old schema', additionalInfo:'age'}"
)

VERSIONS: list[Turn] = [
    ("GET", "/subjects", None, 200, []),
    ("GET", "/subjects/u/versions", None, 404, not_there("u")),
    ("GET", "/subjects/u/versions/latest", None, 404, not_there("u")),
    ("GET", "/subjects/u/versions/1", None, 404, not_there("u")),
    ("POST", "/subjects/u", {"schema": USER}, 404, not_there("u")),
    ("POST", "/subjects/u/versions", {"schema": USER}, 200, registered(1, 1, USER)),
    ("POST", "/subjects/u/versions", {"schema": USER}, 200, registered(1, 1, USER, ts=ANY, deleted=False)),
    ("POST", "/subjects/u/versions", {"schema": USER2}, 200, registered(2, 2, USER2)),
    ("POST", "/subjects/t/versions", {"schema": USER}, 200, registered(1, 1, USER)),
    ("GET", "/subjects", None, 200, ["t", "u"]),
    ("GET", "/subjects/u/versions", None, 200, [1, 2]),
    ("GET", "/subjects/u/versions/1", None, 200, version("u", 1, 1, USER)),
    ("GET", "/subjects/u/versions/latest", None, 200, version("u", 2, 2, USER2)),
    ("GET", "/subjects/u/versions/-1", None, 200, version("u", 2, 2, USER2)),
    ("GET", "/subjects/u/versions/3", None, 404, error(40402, "Version 3 not found.")),
    ("GET", "/subjects/u/versions/1/schema", None, 200, json.loads(USER)),
    ("POST", "/subjects/u", {"schema": USER2}, 200, version("u", 2, 2, USER2)),
    ("POST", "/subjects/u", {"schema": STRING}, 404, error(40403, "Schema not found")),
    ("GET", "/schemas/ids/1?subject=u", None, 200, {
        "subject": "u", "version": 1, "guid": ANY, "schemaType": "AVRO", "schema": USER, "ts": ANY, "deleted": False}),
    ("GET", "/schemas/ids/1?fetchMaxId=true&subject=u", None, 200, {
        "subject": "u", "version": 1, "guid": ANY, "schemaType": "AVRO", "schema": USER, "ts": ANY, "deleted": False,
        "maxId": 2}),
    ("GET", "/schemas/ids/1/schema", None, 200, json.loads(USER)),
    ("GET", "/schemas/ids/9", None, 404, error(40403, "Schema 9 not found")),
    ("GET", "/schemas/ids/9/schema", None, 404, error(40403, "Schema 9 not found")),
    ("GET", "/schemas/ids/9/subjects", None, 404, error(40403, "Schema not found")),
    ("GET", "/schemas/ids/9/versions", None, 404, error(40403, "Schema not found")),
    ("GET", "/schemas/ids/1/subjects", None, 200, ["t", "u"]),
    ("GET", "/schemas/ids/1/versions", None, 200, [{"subject": "t", "version": 1}, {"subject": "u", "version": 1}]),
    ("GET", "/schemas/guids/00000000-0000-0000-0000-000000000000", None, 404,
     error(40403, "Schema 00000000-0000-0000-0000-000000000000 not found")),
    ("GET", "/schemas/guids/00000000-0000-0000-0000-000000000000/ids", None, 200, []),
    ("GET", "/schemas?latestOnly=true", None, 200, [version("t", 1, 1, USER), version("u", 2, 2, USER2)]),
    ("GET", "/schemas?offset=1&limit=1", None, 200, [version("u", 1, 1, USER)]),
    ("GET", "/schemas/types", None, 200, ["JSON", "PROTOBUF", "AVRO"]),
]  # fmt: skip

COMPATIBILITY: list[Turn] = [
    ("POST", "/compatibility/subjects/c/versions/latest", {"schema": USER}, 200, {"is_compatible": True}),
    ("POST", "/compatibility/subjects/c/versions", {"schema": USER}, 200, {"is_compatible": True}),
    ("POST", "/compatibility/subjects/c/versions/1", {"schema": USER}, 404, error(40402, "Version 1 not found.")),
    ("POST", "/subjects/c/versions", {"schema": USER}, 200, ANY),
    ("POST", "/compatibility/subjects/c/versions/1?verbose=true", {"schema": USER2}, 200,
     {"is_compatible": True, "messages": []}),
    ("POST", "/compatibility/subjects/c/versions/latest", {"schema": USER_BAD}, 200, {"is_compatible": False}),
    ("POST", "/compatibility/subjects/c/versions/latest?verbose=True", {"schema": USER_BAD}, 200, {
        "is_compatible": False,
        "messages": [
            NO_DEFAULT,
            "{oldSchemaVersion: 1}",
            f"{{oldSchema: '{USER}'}}",
            "{validateFields: 'false', compatibility: 'BACKWARD'}",
        ]}),
    ("POST", "/compatibility/subjects/c/versions/latest", {"schema": "{"}, 422, error(42201, ANY)),
    ("POST", "/compatibility/subjects/c/versions/latest?verbose=true", {"schema": "{"}, 200,
     {"is_compatible": False, "messages": [ANY]}),
    ("POST", "/compatibility/subjects/c/versions/latest", {"schema": USER, "schemaType": "X"}, 422,
     error(42201, "Invalid schema type X")),
    ("POST", "/compatibility/subjects/n/versions?verbose=true", {"schema": USER, "schemaType": "X"}, 200,
     {"is_compatible": False, "messages": ["Invalid schema type X"]}),
    ("POST", "/subjects/c", {"schema": USER, "schemaType": "X"}, 422, error(42201, "Invalid schema type X")),
    ("POST", "/subjects/n", {"schema": USER, "schemaType": "X"}, 404, not_there("n")),
    ("POST", "/compatibility/subjects/c/versions/nine", {"schema": USER}, 422, error(42202,
     "The specified version 'nine' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "
     '"latest"')),
    ("POST", "/subjects/c/versions", {"schema": USER_BAD}, 409, error(40901,
     'Schema being registered is incompatible with an earlier schema for subject "c", details: '
     f"[{NO_DEFAULT}, {{oldSchemaVersion: 1}}, {{oldSchema: '{USER}'}}, {{validateFields: 'false', compatibility: 'BACKWARD'}}]")),
    ("POST", "/subjects/c/versions?force=true", {"schema": USER_BAD}, 200, registered(2, ANY, USER_BAD)),
]  # fmt: skip

INVALID: list[Turn] = [
    ("POST", "/subjects/i/versions", {"schema": "nonsense"}, 422, error(42201, ANY)),
    ("POST", "/subjects/i/versions", {"schema": ""}, 422, error(42201, "Empty schema")),
    ("POST", "/subjects/i/versions", {}, 422, error(42201, "Empty schema")),
    ("POST", "/subjects/i/versions", {"schema": STRING, "schemaType": "X"}, 422,
     error(42201, "Invalid schema type X")),
    ("POST", "/subjects/i/versions", {"schema": STRING, "references": [{"name": "n"}]}, 422, error(42201, ANY)),
    ("POST", "/subjects/i/versions", {"schema": OUTER, "references": [
        {"name": "org.example.User", "subject": "nobody", "version": 1}]}, 422,
     error(42201, 'No schema reference found for subject "nobody" and version 1')),
    ("POST", "/subjects/i/versions", {"schema": STRING, "version": 7}, 422,
     error(42201, "Version is not one more than previous version")),
    ("POST", "/subjects/i/versions", {"schema": STRING, "id": 7}, 422, error(42205, ANY)),
    ("POST", "/subjects/i/versions", {"schema": STRING, "ruleSet": {"domainRules": [{"type": "CEL"}]}}, 422,
     error(42210, "Missing rule name")),
    ("POST", "/subjects/__GLOBAL/versions", {"schema": STRING}, 422,
     error(42208, "The specified subject '__GLOBAL' is not a valid.")),
    ("POST", "/subjects/a%0Ab/versions", {"schema": STRING}, 422,
     error(42208, "The specified subject 'a\nb' is not a valid.")),
    ("POST", "/subjects/i", {"schema": ""}, 404, not_there("i")),
    ("GET", "/subjects", None, 200, []),
]  # fmt: skip

SETTINGS: list[Turn] = [
    ("GET", "/config", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/config/:.__GLOBAL:", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/config/s", None, 404, error(40408, "Subject 's' does not have subject-level compatibility configured")),
    ("GET", "/config/s?defaultToGlobal=true", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("PUT", "/config/s", {"compatibility": "full", "normalize": True}, 200,
     {"normalize": True, "compatibility": "FULL"}),
    ("PUT", "/config/s", {"alias": "other"}, 200, {"alias": "other", "normalize": True, "compatibility": "FULL"}),
    ("PUT", "/config/s", {"alias": None}, 200, {"normalize": True, "compatibility": "FULL"}),
    ("GET", "/config/s", None, 200, {"normalize": True, "compatibilityLevel": "FULL"}),
    ("PUT", "/config/s", {"compatibility": "sideways"}, 422, error(42203, f"{LEVELS}; not 'SIDEWAYS'")),
    ("DELETE", "/config/s", None, 200, {"normalize": True, "compatibilityLevel": "FULL"}),
    ("DELETE", "/config/s", None, 404, not_there("s")),
    ("PUT", "/config", {"compatibility": "NONE"}, 200, {"compatibility": "NONE"}),
    ("GET", "/config/s?defaultToGlobal=true", None, 200, {"compatibilityLevel": "NONE"}),
    ("DELETE", "/config", None, 200, {"compatibilityLevel": "NONE"}),
    ("GET", "/config", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/mode", None, 200, {"mode": "READWRITE"}),
    ("GET", "/mode/s", None, 404, error(40409, "Subject 's' does not have subject-level mode configured")),
    ("GET", "/mode/s?defaultToGlobal=true", None, 200, {"mode": "READWRITE"}),
    ("PUT", "/mode/s", {"mode": "READONLY"}, 200, {"mode": "READONLY"}),
    ("POST", "/subjects/s/versions", {"schema": STRING}, 422,
     error(42205, "Subject s in context . is in read-only mode")),
    ("PUT", "/config/s", {"compatibility": "NONE"}, 422, error(42205, ANY)),
    ("DELETE", "/mode/s", None, 200, {"mode": "READONLY"}),
    ("DELETE", "/mode/s", None, 404, not_there("s")),
    ("PUT", "/mode/s", {"mode": "sometimes"}, 422,
     error(42204, "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.")),
    ("PUT", "/mode/s", {"mode": "FORWARD"}, 422, error(42204, "Forward mode only supported on global level")),
    ("PUT", "/mode/s", {"mode": "IMPORT"}, 200, {"mode": "IMPORT"}),
    ("POST", "/subjects/s/versions", {"schema": STRING}, 422, error(42205, ANY)),
    ("POST", "/subjects/s/versions", {"schema": STRING, "id": 77, "version": 5}, 200, registered(5, 77, STRING)),
    ("POST", "/subjects/s/versions", {"schema": USER, "id": 77, "version": 6}, 422,
     error(42205, "Overwrite new schema with id 77 in context . is not permitted.")),
    ("PUT", "/mode/s?force=True", {"mode": "READWRITE"}, 200, {"mode": "READWRITE"}),
    ("PUT", "/mode/s", {"mode": "IMPORT"}, 422, error(42205, "Cannot import since found existing subjects")),
    ("POST", "/subjects/s2/versions", {"schema": USER}, 200, registered(1, 78, USER)),
]  # fmt: skip

DELETES: list[Turn] = [
    ("DELETE", "/subjects/d", None, 404, not_there("d")),
    ("DELETE", "/subjects/d/versions/1", None, 404, not_there("d")),
    ("POST", "/subjects/d/versions", {"schema": USER}, 200, ANY),
    ("POST", "/subjects/d/versions", {"schema": USER2}, 200, ANY),
    ("POST", "/subjects/outer/versions", {"schema": OUTER, "references": [
        {"name": "org.example.User", "subject": "d", "version": 1}]}, 200, ANY),
    ("GET", "/subjects/d/versions/1/referencedby", None, 200, [3]),
    ("GET", "/subjects/d/versions/2/referencedby", None, 200, []),
    ("DELETE", "/subjects/d/versions/1", None, 422, error(42206,
     "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=d,version=1}.")),
    ("DELETE", "/subjects/d", None, 422, error(42206,
     "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=d,version=1}.")),
    ("DELETE", "/subjects/outer?permanent=true", None, 404, error(40405, f"Subject 'outer' {LIVE}")),
    ("DELETE", "/subjects/outer", None, 200, [1]),
    ("DELETE", "/subjects/outer", None, 404, error(40404, f"Subject 'outer' {SOFT}")),
    ("DELETE", "/subjects/d/versions/1?permanent=true", None, 404, error(40407, f"Subject 'd' Version 1 {LIVE}")),
    ("DELETE", "/subjects/d/versions/1", None, 200, 1),
    ("DELETE", "/subjects/d/versions/1", None, 404, error(40406, f"Subject 'd' Version 1 {SOFT}")),
    ("DELETE", "/subjects/d/versions/9", None, 404, error(40402, "Version 9 not found.")),
    ("GET", "/subjects/d/versions", None, 200, [2]),
    ("GET", "/subjects/d/versions?deleted=true", None, 200, [1, 2]),
    ("GET", "/subjects/d/versions?deletedOnly=true", None, 200, [1]),
    ("GET", "/subjects/d/versions?deletedAsNegative=true", None, 200, [-1, 2]),
    ("GET", "/subjects/d/versions/1", None, 404, error(40402, "Version 1 not found.")),
    ("GET", "/subjects/d/versions/1?deleted=true", None, 200, version("d", 1, 1, USER, deleted=True)),
    ("GET", "/schemas/ids/1/schema", None, 200, json.loads(USER)),
    ("DELETE", "/subjects/d/versions/1?permanent=true", None, 422, error(42206, ANY)),
    ("DELETE", "/subjects/outer?permanent=true", None, 200, [1]),
    ("DELETE", "/subjects/d/versions/1?permanent=true", None, 200, 1),
    ("DELETE", "/subjects/d", None, 200, [2]),
    ("GET", "/subjects", None, 200, []),
    ("GET", "/subjects?deleted=true", None, 200, ["d"]),
    ("DELETE", "/subjects/d?permanent=true", None, 200, [2]),
    ("GET", "/subjects?deleted=true", None, 200, []),
    ("GET", "/schemas/ids/1", None, 404, error(40403, "Schema 1 not found")),
    ("POST", "/subjects/d/versions", {"schema": USER}, 200, registered(1, 4, USER)),
]  # fmt: skip

STORED = OUTER.replace('"type":"org.example.User"', '"type":"User"')
INLINED = (
    '{"type":"record","name":"Outer","namespace":"org.example","fields":[{"name":"user","type":{"type":"record",'
    '"name":"User","fields":[{"name":"name","type":"string"}]}}]}'
)
FORMATS: list[Turn] = [
    ("POST", "/subjects/u/versions", {"schema": USER}, 200, ANY),
    ("POST", "/subjects/o/versions?format=resolved", {"schema": OUTER, "references": [
        {"name": "org.example.User", "subject": "u", "version": 1}]}, 200, {
            "version": 1, "id": 2, "guid": ANY, "schemaType": "AVRO", "references": ANY, "schema": INLINED}),
    ("GET", "/schemas/ids/2/schema", None, 200, json.loads(STORED)),
    ("GET", "/schemas/ids/2/schema?format=", None, 200, json.loads(STORED)),
    ("GET", "/schemas/ids/2/schema?format=serialized", None, 200, json.loads(STORED)),
    ("GET", "/schemas/ids/2/schema?format=resolved", None, 200, json.loads(INLINED)),
    ("GET", "/subjects/o/versions/1/schema?format=resolved", None, 200, json.loads(INLINED)),
    ("GET", "/subjects/u/versions/latest?format=resolved", None, 200, version("u", 1, 1, USER)),
]  # fmt: skip

CONTEXTS: list[Turn] = [
    ("GET", "/contexts", None, 200, ["."]),
    ("POST", "/subjects/s/versions", {"schema": STRING}, 200, registered(1, 1, STRING)),
    ("POST", "/contexts/x/subjects/s/versions", {"schema": USER}, 200, registered(1, 1, USER)),
    ("GET", "/contexts", None, 200, [".", ".x"]),
    ("GET", "/subjects", None, 200, [":.x:s", "s"]),
    ("GET", "/subjects?subjectPrefix=", None, 200, ["s"]),
    ("GET", "/contexts/.x/subjects", None, 200, [":.x:s"]),
    ("GET", "/contexts/x/schemas/ids/1", None, 200, {
        "subject": ":.x:s", "version": 1, "guid": ANY, "schemaType": "AVRO", "schema": USER, "ts": ANY,
        "deleted": False}),
    ("GET", "/contexts/x/schemas/ids/1/versions", None, 200, [{"subject": ":.x:s", "version": 1}]),
    ("GET", "/contexts/x/subjects/%3A.x%3As/versions/1", None, 200, version(":.x:s", 1, 1, USER)),
    ("GET", "/schemas/ids/1/schema", None, 200, "string"),
    ("PUT", "/contexts/x/config", {"compatibility": "FULL"}, 200, {"compatibility": "FULL"}),
    ("GET", "/config/:.x:s?defaultToGlobal=true", None, 200, {"compatibilityLevel": "FULL"}),
    ("GET", "/config/s?defaultToGlobal=true", None, 200, {"compatibilityLevel": "BACKWARD"}),
    ("DELETE", "/contexts/x", None, 422, error(42211, "The specified context '.x' is not empty.")),
    ("GET", "/contexts/a:b/subjects", None, 400, error(400, "Context name 'a:b' cannot contain a colon")),
    ("DELETE", "/contexts/x/subjects/s", None, 200, [1]),
    ("DELETE", "/contexts/x/subjects/s?permanent=true", None, 200, [1]),
    ("DELETE", "/contexts/x", None, 204, None),
    ("GET", "/contexts", None, 200, ["."]),
    ("PUT", "/config/nick", {"alias": "s"}, 200, {"alias": "s"}),
    ("GET", "/subjects/nick/versions/latest", None, 200, version("s", 1, 1, STRING)),
    ("GET", "/associations/resources/-/topic?resourceType=topic&associationType=value", None, 200, []),
]  # fmt: skip

STORIES = {
    "versions": VERSIONS,
    "compatibility": COMPATIBILITY,
    "invalid": INVALID,
    "settings": SETTINGS,
    "deletes": DELETES,
    "contexts": CONTEXTS,
    "formats": FORMATS,
}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        yield running


@pytest.mark.parametrize("story", STORIES)
def test_a_conversation(server: Running, story: str) -> None:
    hold(server, STORIES[story])
