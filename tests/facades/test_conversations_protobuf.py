"""Conversations about Protobuf schemas: texts and descriptors, imports, views, verdicts in the established words."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tests.facades.conversation import ANY, Turn, error, hold, registered, version
from tests.real.running import Running, serving


def file(*lines: str, imports: str = "") -> str:
    """A text as it is printed: lines of one message."""
    inside = "".join(f"  {line}\n" for line in lines)
    return f'syntax = "proto3";\npackage shop;\n\n{imports}message Order {{\n{inside}}}\n'


def posted(text: str, **more: Any) -> dict[str, Any]:
    return {"schemaType": "PROTOBUF", "schema": text, **more}


PROTOBUF: dict[str, Any] = {"schemaType": "PROTOBUF"}
V1 = file("int64 id = 1;")
V2 = file("int64 id = 1;", "string note = 2;")
BAD = file("string id = 1;")
SPELT = '// Orders.\nsyntax = "proto3"; package shop;\nmessage Order { int64 id = 0x1; /* the key */ }'
TURNED = file("string note = 2;", "int64 id = 1;")


def descriptor() -> str:
    """V1 as a client of Python posts it."""
    made = FileDescriptorProto(name="orders.proto", package="shop", syntax="proto3")
    made.message_type.add(name="Order").field.add(name="id", number=1, label=1, type=3, json_name="id")
    return base64.b64encode(made.SerializeToString()).decode()


def served() -> str:
    """V1 as a descriptor that has no name."""
    made = FileDescriptorProto.FromString(base64.b64decode(descriptor()))
    made.name = "default"
    return base64.b64encode(made.SerializeToString()).decode()


CHANGED = (
    '{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path \'#/Order/1\' in the new '
    'schema does not match its kind in the old schema"}'
)
CLOSING = "{validateFields: 'false', compatibility: 'BACKWARD'}"


def told(*findings: str, number: int = 1, old: str = V1) -> list[str]:
    return [*findings, f"{{oldSchemaVersion: {number}}}", f"{{oldSchema: '{old}'}}", CLOSING]


VERSIONS: list[Turn] = [
    ("POST", "/subjects/p/versions", posted(SPELT), 200, registered(1, 1, V1, **PROTOBUF)),
    ("POST", "/subjects/p/versions", posted(V1), 200, registered(1, 1, V1, **PROTOBUF, ts=ANY, deleted=False)),
    ("POST", "/subjects/p", posted(descriptor()), 200, version("p", 1, 1, V1, **PROTOBUF)),
    ("POST", "/subjects/p/versions", posted(descriptor()), 200,
     registered(1, 1, served(), **PROTOBUF, ts=ANY, deleted=False)),
    ("POST", "/subjects/p/versions?format=default", posted(descriptor()), 200,
     registered(1, 1, V1, **PROTOBUF, ts=ANY, deleted=False)),
    ("GET", "/subjects/p/versions/1", None, 200, version("p", 1, 1, V1, **PROTOBUF)),
    ("GET", "/subjects/p/versions/latest?format=serialized", None, 200, version("p", 1, 1, served(), **PROTOBUF)),
    ("GET", "/schemas/ids/1?format=serialized&subject=p", None, 200, {
        "subject": "p", "version": 1, "guid": ANY, **PROTOBUF, "schema": served(), "ts": ANY, "deleted": False}),
    ("GET", "/schemas/ids/1?format=resolved", None, 200, {
        "subject": "p", "version": 1, "guid": ANY, **PROTOBUF, "schema": V1, "ts": ANY, "deleted": False}),
    ("POST", "/subjects/n/versions", posted(TURNED), 200, registered(1, 2, TURNED, **PROTOBUF)),
    ("POST", "/subjects/n", posted(V2), 404, error(40403, "Schema not found")),
    ("POST", "/subjects/n", posted(V2, metadata={"properties": {"a": "b"}}), 404, error(40403, "Schema not found")),
    ("PUT", "/config/m", {"normalize": True}, 200, ANY),
    ("POST", "/subjects/m/versions", posted(TURNED), 200, registered(1, 3, V2, **PROTOBUF)),
    ("POST", "/subjects/m", posted(TURNED), 200, version("m", 1, 3, V2, **PROTOBUF)),
    ("POST", "/subjects/p/versions", {"schema": '"int"'}, 409, error(40901,
     'Schema being registered is incompatible with an earlier schema for subject "p", details: '
     f"[Incompatible because of different schema type, {CLOSING}]")),
]  # fmt: skip

UNFINISHED = (
    "Invalid schema of type PROTOBUF, details: the text ends here (line 1, column 8); expected the name of a message"
)
COMPATIBILITY: list[Turn] = [
    ("POST", "/subjects/c/versions", posted(V1), 200, registered(1, 1, V1, **PROTOBUF)),
    ("POST", "/compatibility/subjects/c/versions/latest?verbose=true", posted(V2), 200,
     {"is_compatible": True, "messages": []}),
    ("POST", "/compatibility/subjects/c/versions?verbose=true", posted(BAD), 200,
     {"is_compatible": False, "messages": told(CHANGED)}),
    ("POST", "/subjects/c/versions", posted(BAD), 409, error(40901,
     'Schema being registered is incompatible with an earlier schema for subject "c", details: '
     f"[{', '.join(told(CHANGED))}]")),
    ("PUT", "/config/c", {"compatibilityPolicy": "LENIENT"}, 200, ANY),
    ("POST", "/subjects/c/versions", posted(BAD), 409, error(40901, ANY)),
    ("PUT", "/config/c", {"compatibility": "FULL_TRANSITIVE"}, 200, ANY),
    ("POST", "/subjects/c/versions", posted(V2), 200, registered(2, 2, V2, **PROTOBUF)),
    ("POST", "/compatibility/subjects/c/versions/1?verbose=true", posted("message"), 200, {
        "is_compatible": False,
        "messages": [UNFINISHED]}),
]  # fmt: skip

MONEY = 'syntax = "proto3";\npackage shop;\n\nmessage Money {\n  int64 units = 1;\n}\n'
USING = file("Money price = 1;", imports='import "money.proto";\nimport "google/protobuf/timestamp.proto";\n\n')
LINKED = file("Money price = 1;", imports='import "google/protobuf/timestamp.proto";\nimport "money.proto";\n\n')
USES = [{"name": "money.proto", "subject": "money", "version": 1}]
WITH_USES: dict[str, Any] = {**PROTOBUF, "references": USES}
REFERENCES: list[Turn] = [
    ("POST", "/subjects/order/versions", posted(USING), 422, error(42201, ANY)),
    ("POST", "/subjects/order/versions", posted(USING, references=USES), 422, error(42201,
     'No schema reference found for subject "money" and version 1')),
    ("POST", "/subjects/money/versions", posted(MONEY), 200, registered(1, 1, MONEY, **PROTOBUF)),
    ("POST", "/subjects/order/versions", posted(USING, references=USES), 200, registered(1, 2, USING, **WITH_USES)),
    ("POST", "/subjects/order", posted(USING, references=[{**USES[0], "version": -1}]), 200,
     version("order", 1, 2, USING, **WITH_USES)),
    ("POST", "/subjects/order?normalize=true", posted(LINKED, references=USES), 404, ANY),
    ("GET", "/subjects/money/versions/1/referencedby", None, 200, [2]),
    ("DELETE", "/subjects/money", None, 422, error(42206,
     "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=money,version=1}.")),
    ("POST", "/subjects/money/versions", posted(MONEY.replace("units = 1;", "units = 1;\n  string currency = 2;")), 200,
     registered(2, 3, ANY, **PROTOBUF)),
    ("POST", "/subjects/order/versions", posted(USING, references=[{**USES[0], "version": 2}]), 200,
     registered(2, 4, USING, **PROTOBUF, references=[{**USES[0], "version": 2}])),
    ("GET", "/schemas/ids/4?format=serialized", None, 200, ANY),
]  # fmt: skip

DOC = "// An order.\n"
RESERVED = {"properties": {"confluent:reserved": "note"}}
FIELDS: list[Turn] = [
    ("PUT", "/config/f", {"validateFields": True}, 200, ANY),
    ("POST", "/subjects/f/versions", posted(V1, metadata=RESERVED), 200, ANY),
    ("POST", "/compatibility/subjects/f/versions/latest?verbose=true", posted(V2), 200, {
        "is_compatible": False,
        "messages": ["The new schema has field that conflicts with the reserved field note.",
                     "{validateFields: 'true', compatibility: 'BACKWARD'}"]}),
    ("PUT", "/config/f", {"validateFields": False, "validators": ["DOC_MISSING"]}, 200, ANY),
    ("POST", "/subjects/f/versions", posted(V2), 422, error(42201, ANY)),
    ("POST", "/subjects/f/versions", posted(V2.replace("message", f"{DOC}message")), 200, ANY),
]  # fmt: skip

HEAD = 'syntax = "proto3";\npackage shop;\n\nimport "google/protobuf/descriptor.proto";\n\n'
EXTEND = "\nextend google.protobuf.FieldOptions {\n  optional string tag = 50000;\n}\n"
TAGGED = f'{HEAD}message Order {{\n  int64 id = 1 [(shop.tag) = "key"];\n}}\n{EXTEND}'
PLAIN = f"{HEAD}message Order {{\n  int64 id = 1;\n}}\n"
VIEWS: list[Turn] = [
    ("POST", "/subjects/v/versions?format=ignore_extensions", posted(TAGGED), 200, registered(1, 1, PLAIN, **PROTOBUF)),
    ("GET", "/subjects/v/versions/1", None, 200, version("v", 1, 1, TAGGED, **PROTOBUF)),
    ("GET", "/subjects/v/versions/1?format=ignore_extensions", None, 200, version("v", 1, 1, PLAIN, **PROTOBUF)),
    ("GET", "/subjects/v/versions/1?format=logical", None, 200, version("v", 1, 1, TAGGED, **PROTOBUF)),
    ("GET", "/schemas?format=ignore_extensions", None, 200, [version("v", 1, 1, PLAIN, **PROTOBUF)]),
]  # fmt: skip

STORIES = {
    "views": VIEWS,
    "versions": VERSIONS,
    "compatibility": COMPATIBILITY,
    "references": REFERENCES,
    "fields": FIELDS,
}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        yield running


@pytest.mark.parametrize("story", STORIES)
def test_a_conversation(server: Running, story: str) -> None:
    hold(server, STORIES[story])
