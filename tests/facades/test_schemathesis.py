"""Requests of every kind that `/openapi.json` allows, and some that it does not: no fault of the server, no answer that is
not described. Seeded: the same requests in every run; the soak sends many more.
"""

import base64
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from tests.behaviours.served import Served, served
from treaty.api.confluent.parameters import SHOWN
from treaty.api.dialects.description import AVRO
from treaty.api.openapi.document import document
from treaty.log.memory import MemoryLog, MemoryStore
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import make_thread_service

pytestmark = pytest.mark.slow

EXAMPLES = 3
"""Requests of each kind to each route."""
SOAK = 300
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
RAW = {"getSchemasIdsByIdSchema", "getSubjectsBySubjectVersionsByVersionSchema"}
"""Answers that are a schema's bare text, which is not JSON where it is Protobuf."""

ENUM = '{"type":"enum","name":"E","symbols":["A"]}'
WIDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"n","type":"int","default":0}]}'
OBJECT = '{"type":"object","properties":{"a":{"type":"string"}}}'
MESSAGE = 'syntax = "proto3"; message M { string a = 1; }'
REFERRING = {
    "schema": '{"type":"record","name":"R","fields":[{"name":"e","type":"E"}]}',
    "references": [{"name": "E", "subject": "enum", "version": 1}],
}
RULES = {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}
TOPIC = {"resourceName": "orders", "resourceNamespace": "lkc-1", "resourceId": "r1", "resourceType": "topic"}
OTHER = {**TOPIC, "resourceName": "enums", "resourceId": "r2"}
TAGGED = {"schemaEntity": {"entityPath": "Order.id", "entityType": "sr_field"}, "tags": ["PII"]}
KIND = {"serializationFormat": "Avro", "fullTypeName": "Avro"}
CUSTOM = {"serializationFormat": "Custom", "fullTypeName": "Xml"}
ORDER = {"type": "Order", "serializationFormat": KIND, "schemaData": base64.b64encode(AVRO.encode()).decode()}
FIRST = {"type": "Order", "serializationFormat": "Avro", "version": 0, "id": 0}
TILL = {"backwardPolicy": {"backwardPolicy": {"name": "BackwardTill", "versionInfo": FIRST}}}
GROUP = {
    "serializationFormat": {"serializationFormat": "Any", "fullTypeName": "Any"},
    "compatibility": {"policy": "AllowAny"},
    "allowMultipleTypes": True,
    "properties": {"owner": "orders"},
}
STORY: list[tuple[str, str, Any]] = [
    ("POST", "/subjects/enum/versions", {"schema": ENUM}),
    ("POST", "/subjects/orders-value/versions", {"schema": AVRO, "metadata": {"properties": {"owner": "orders"}}}),
    ("POST", "/subjects/orders-value/versions", {"schema": WIDER, "ruleSet": RULES}),
    ("POST", "/subjects/refers/versions", REFERRING),
    ("POST", "/subjects/json/versions", {"schema": OBJECT, "schemaType": "JSON"}),
    ("POST", "/subjects/proto/versions", {"schema": MESSAGE, "schemaType": "PROTOBUF"}),
    ("POST", "/subjects/:.x:orders-value/versions", {"schema": AVRO}),
    ("POST", "/subjects/gone/versions", {"schema": '"long"'}),
    ("DELETE", "/subjects/gone", None),
    ("POST", "/associations", {**TOPIC, "associations": [{"subject": "orders-value", "associationType": "value"}]}),
    ("POST", "/associations", {**OTHER, "associations": [{"subject": "enum", "lifecycle": "STRONG", "frozen": True}]}),
    ("PUT", "/config/orders-value", {"compatibility": "FULL", "compatibilityGroup": "g"}),
    ("PUT", "/config/aliased", {"alias": "orders-value"}),
    ("PUT", "/mode/json", {"mode": "READONLY"}),
    ("POST", "/v1/groups", {"groupName": "group", "groupProperties": GROUP}),
    ("POST", "/v1/groups/group/schemas", ORDER),
    ("POST", "/v1/groups/group/schemas", {**ORDER, "type": "T", "serializationFormat": CUSTOM}),
    ("POST", "/v1/groups/group/codecTypes", {"name": "gzip", "properties": {"level": "1"}}),
    ("PUT", "/v1/groups/group/encodings", {"versionInfo": FIRST, "codecType": "gzip"}),
    ("POST", "/v1/groups?namespace=x", {"groupName": "group", "groupProperties": GROUP}),
    ("PUT", "/api/schemas/com.acme/click/jsonschema/1-0-0", {"type": "object", "properties": {}}),
    ("PUT", "/api/drafts/com.acme/click/jsonschema/1", {"type": "object"}),
]
"""What is there before: of every format, deleted, referred to, aliased, in another context, read-only."""
SUBJECTS = [
    "orders-value",
    "enum",
    "refers",
    "json",
    "proto",
    "gone",
    "aliased",
    ":.x:orders-value",
    ":.x:",
    ":.:",
    "new",
]
KNOWN: dict[str, list[Any]] = {
    "subject": [*SUBJECTS, ":.__GLOBAL:", ":*:", "a/b"],
    "subjectPrefix": ["", "o", ":.x:", ":*:", ":.x:o"],
    "version": ["1-0-0", "1-0-1", "1", "2", "latest", "-1", "0", "x", "2147483648"],
    "id": [1, 2, 3, 4, 5, 0, -1, 99],
    "guid": [SHOWN["guid"], str(SHOWN["guid"]).replace("-", ""), "0" * 32],
    "command": ["c1", "c2"],
    "context": [".", ".x", "x", ":.x:", "none"],
    "resource": ["r1", "r2", "r3"],
    "namespace": ["lkc-1", "-", "x", ""],
    "group": ["group", "orders-value", "json", "gone", "none"],
    "type": ["Order", "T", "none"],
    "format": ["Avro", "custom", "Xml", "Json", "jsonschema"],
    "vendor": ["com.acme", "org.none"],
    "number": [0, 1, 2],
    "latest": ["0", "1", "x"],
    "name": ["orders", "-", "click"],
    "key": [["owner"], []],
    "value": [["orders"], ["x", "y"]],
    "limit": [0, 1, 2, -1],
    "offset": [0, 1, 2, 99],
}
BODIES: list[Any] = [body for _, _, body in STORY if body is not None] + [
    {"tagsToAdd": [TAGGED]},
    {"tagsToRemove": [TAGGED, None], "rulesToRemove": ["r"]},
    {"requests": [{"resourceId": "r1"}, {"resourceName": "orders"}, None]},
    {"requests": [{**TOPIC, "associations": [{"opType": "UPSERT", "subject": "json", "lifecycle": "STRONG"}]}]},
    {"requests": [{**OTHER, "associations": [{"opType": "DELETE", "associationType": "value"}]}]},
    {},
    [],
    None,
    {"schema": ENUM, "schemaType": "NONE"},
    {"schema": "{", "schemaType": "AVRO"},
    {"schema": AVRO, "id": 7, "version": 7},
    {"schema": '"int"', "metadata": {"tags": {"x": None}, "properties": {"a": None}, "sensitive": ["a"]}},
    {"compatibility": None},
    {"compatibility": "SIDEWAYS"},
    {"schemaInfo": ORDER, "compatibility": {"policy": "Advanced", "advanced": TILL}},
    {"compatibility": {"policy": "Backward"}, "previousCompatibility": {"policy": "AllowAny"}},
    {"mode": "IMPORT"},
    {"mode": None},
]


def _whole(found: Any) -> Any:
    return found.ok()


SCHEMA = schemathesis.openapi.from_dict(document())
OPERATIONS = {one.label: one for one in map(_whole, SCHEMA.get_all_operations()) if one.path != "/metrics"}


@st.composite
def cases(draw: Callable[..., Any], operation: Any, mode: GenerationMode) -> Case[Any]:
    """A request by the document; about half of what it names is there."""
    case: Case[Any] = draw(operation.as_strategy(generation_mode=mode))
    for place in (_members(case.path_parameters), _members(case.query)):
        for name in list(place):
            if name in KNOWN and draw(st.booleans()):
                place[name] = draw(st.sampled_from(KNOWN[name]))
    for name, value in _members(case.path_parameters).items():
        _members(case.path_parameters)[name] = value if value != "" else "x"  # without a segment it is another path
    if draw(st.booleans()):  # nearly all that are made up are refused
        for name in ("Treaty-Position", "Treaty-Command", "Treaty-Consistency"):
            _members(case.headers).pop(name, None)
        _members(case.query).pop("consistency", None)
    if operation.body and draw(st.booleans()):
        case.body, case.media_type = draw(st.sampled_from(BODIES)), "application/vnd.schemaregistry.v1+json"
    return case


def _members(place: Any) -> dict[str, Any]:
    """A part of a request, empty where it has none."""
    found: dict[str, Any] = {} if place is None else place
    return found


@pytest.fixture(scope="module")
def told() -> MemoryStore:
    """What a log holds after the story."""
    log = MemoryLog()
    with served("", partial(node_over, log)) as running, requests.Session() as session:
        for method, path, body in STORY:
            named = {"Treaty-Command": "c1"} if path == "/subjects/enum/versions" else {}
            answer = session.request(method, running.url + path, json=body, headers=named, timeout=30)
            assert answer.status_code in {200, 201}, (method, path, answer.text)
    return log._store


async def node_over(log: MemoryLog, _: str) -> Node:
    """A node on a log that is there."""
    return Node(log, make_thread_service(), real_environment())


@pytest.fixture
def server(told: MemoryStore) -> Iterator[Served]:
    """A server for which all of the story has happened, and nothing since."""
    log = MemoryLog()
    log._store.tip, log._store.rows, log._store.history = told.tip, dict(told.rows), told.history.copy()
    with served("", partial(node_over, log)) as running:
        yield running


def is_not_offered(answer: Any) -> bool:
    """Whether the answer says that this server has no such part, as one without a search index does."""
    return answer.status_code == 503 and '"kind":"not-offered"' in answer.text


def hold(operation: Any, server: Served, mode: GenerationMode, examples: int) -> None:
    """Send requests and check the answers."""
    checked = [
        one for one in CHECKS if operation.definition.raw["operationId"] not in RAW or "schema" not in one.__name__
    ]

    with requests.Session() as session:

        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases(operation, mode))
        def ask(case: Case[Any]) -> None:
            answer = case.call(base_url=server.url, session=session)
            own = [one for one in checked if one is not not_a_server_error] if is_not_offered(answer) else checked
            case.validate_response(answer, checks=own)

        ask()


MODES = {"allowed": GenerationMode.POSITIVE, "any": GenerationMode.NEGATIVE}
KINDS = [
    (label, mode)
    for label, one in sorted(OPERATIONS.items())
    for mode in MODES
    if mode == "allowed" or one.body or any(True for _ in one.iter_parameters())
]
"""Nothing can be wrong with a request that has no parameter."""
each_kind = pytest.mark.parametrize(("label", "mode"), KINDS)


@each_kind
def test_every_answer_is_described(label: str, mode: str, server: Served) -> None:
    hold(OPERATIONS[label], server, MODES[mode], EXAMPLES)


@pytest.mark.soak
@each_kind
def test_every_answer_is_described_at_length(label: str, mode: str, server: Served) -> None:
    hold(OPERATIONS[label], server, MODES[mode], SOAK)
