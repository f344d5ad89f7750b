"""Iglu's API for all values of its options: visibility and replacement by each way of publishing, forms of an answer, numbers of drafts and models."""

import asyncio
import json
from itertools import product
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import VERSION, Fixed
from treaty.api.application import build_application
from treaty.api.iglu.exchange import IgluExchange, validate_on_thread
from treaty.api.request_scope import RequestCaller, set_caller
from treaty.core import refusals as r
from treaty.core.access.rights import ANONYMOUS, PERMISSIONS, Access, AccessRule
from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.limits import COUNTER
from treaty.core.messages import schemaver as s
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.wire.iglu.documents import DEFAULT_IGLU, IgluSettings

TEXT = '{"type":"object"}'
JSON = s.PublishedSchema(VersionFound("v/n/jsonschema", 1, 0, 1, VERSION.guid, "JSON", TEXT, time=1_000), "1-0-0")
AVRO = s.PublishedSchema(
    VersionFound("v/n/avro", 1, 0, 1, VERSION.guid, "IGLU-AVRO", "", data=b'"int"', time=1_000), "1-0-0"
)


def open_client(member: Fixed, *, patches: bool = False) -> TestClient:
    member.answers |= {
        s.Publish: s.PublishedVersion(JSON, created=True), s.GetPublished: JSON, s.ListPublished: s.PublishedSchemas((JSON,)),
        s.PutDraft: s.DraftFound("v/n/jsonschema", 1, TEXT), s.GetDraft: s.DraftFound("v/n/jsonschema", 1, TEXT),
    } | member.answers  # fmt: skip
    app = build_application(member, iglu=IgluSettings(patches_allowed=patches))
    return TestClient(app.dispatcher, raise_server_exceptions=False)


def self_describing(version: str = "1-0-0") -> dict[str, Any]:
    own = {"vendor": "v", "name": "n", "format": "jsonschema", "version": version}
    return {"$schema": SELF_DESCRIBING, "self": own, "type": "object", "properties": {}}


PUBLICATIONS: dict[str, tuple[str, str, Any]] = {
    "a schema by its path": ("PUT", "/api/schemas/v/n/jsonschema/1-0-0", {"type": "object", "properties": {}}),
    "a schema with self by its path": ("PUT", "/api/schemas/v/n/jsonschema/1-0-0", self_describing()),
    "a schema by itself": ("POST", "/api/schemas", self_describing()),
    "another format": ("PUT", "/api/schemas/v/n/avro/1-0-0", "int"),
}
FLAGS = {"": False, "?isPublic=false": False, "?isPublic=true": True, "?isPublic=TRUE": True, "?isPublic=False": False}


@pytest.mark.parametrize(("name", "query", "patches"), [*product(PUBLICATIONS, FLAGS, (False, True))])
def test_each_way_of_publishing_says_whether_it_is_public_and_may_replace(
    member: Fixed, name: str, query: str, *, patches: bool
) -> None:
    method, path, body = PUBLICATIONS[name]
    answer = open_client(member, patches=patches).request(method, path + query, json=body)
    assert answer.status_code == 201, answer.text
    (request,) = member.asked
    assert isinstance(request, s.Publish)
    assert (request.label, request.private, request.patch) == ("1-0-0", not FLAGS[query], patches)


@pytest.mark.parametrize("word", ["yes", "1", "", "truefalse"])
@pytest.mark.parametrize("name", PUBLICATIONS)
def test_a_word_that_is_neither_true_nor_false_publishes_nothing(member: Fixed, name: str, word: str) -> None:
    method, path, body = PUBLICATIONS[name]
    assert open_client(member).request(method, f"{path}?isPublic={word}", json=body).status_code == 400
    assert member.asked == []


@pytest.mark.parametrize(
    ("number", "draft"),
    [
        ("1", 1),
        ("01", 1),
        (str(COUNTER), COUNTER),
        ("0", None),
        ("-1", None),
        (str(COUNTER + 1), None),
        ("9" * 30, None),
        ("1-0-0", None),
    ],
)
@pytest.mark.parametrize("query", FLAGS)
def test_a_draft_has_a_number_and_is_private_unless_it_is_public(
    member: Fixed, number: str, draft: int | None, query: str
) -> None:
    http, path = open_client(member), f"/api/drafts/v/n/jsonschema/{number}"
    statuses = http.put(path + query, json={"type": "object"}).status_code, http.get(path).status_code
    assert statuses == ((400, 400) if draft is None else (201, 200))
    subject = Subject(".", "v/n/jsonschema")
    stored = (
        []
        if draft is None
        else [s.PutDraft(subject, draft, '{"type":"object"}', not FLAGS[query]), s.GetDraft(subject, draft)]
    )
    assert member.asked == stored


@pytest.mark.parametrize(
    "refusal",
    [r.NotFound.of("R", "m"), r.Forbidden.of("R", "m"), r.SubjectNotFound.of("R", "m")],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize(
    "path",
    [
        "/api/schemas/v/n/jsonschema/1-0-0",
        "/api/drafts/v/n/jsonschema/1",
        "/api/schemas/v",
        "/api/schemas/v/n/jsonschema/1",
    ],
)
def test_what_may_not_be_read_is_as_what_is_not_there(member: Fixed, path: str, refusal: Exception) -> None:
    member.answers |= dict.fromkeys((s.GetPublished, s.GetDraft), refusal)
    member.answers[s.ListPublished] = refusal if isinstance(refusal, r.Forbidden) else s.PublishedSchemas(())
    assert open_client(member).get(path).status_code == 404


@pytest.mark.parametrize(
    ("word", "model"),
    [("1", 1), ("7", 7), ("0", COUNTER), ("00", COUNTER), (str(COUNTER), COUNTER), ("9" * 12, COUNTER)],
)
def test_a_number_in_place_of_a_version_is_a_model_and_none_of_them_is_all(
    member: Fixed, word: str, model: int
) -> None:
    open_client(member).get(f"/api/schemas/v/n/jsonschema/{word}")
    (request,) = member.asked
    assert isinstance(request, s.ListPublished)
    assert request.model == model


@pytest.mark.parametrize(("format_", "form"), [*product(("jsonschema", "avro"), ("", "canonical", "meta", "uri"))])
def test_a_schema_of_any_format_is_shown_in_each_form(member: Fixed, format_: str, form: str) -> None:
    published = JSON if format_ == "jsonschema" else AVRO
    member.answers[s.GetPublished] = published
    answer = open_client(member).get(f"/api/schemas/v/n/{format_}/1-0-0{f'?repr={form}' if form else ''}")
    content = json.loads(TEXT) if format_ == "jsonschema" else "int"
    created = {"createdAt": "1970-01-01T00:00:01.000Z", "updatedAt": "1970-01-01T00:00:01.000Z", "isPublic": True}
    described = (
        {**content, "metadata": created} if isinstance(content, dict) else {"text": '"int"', "metadata": created}
    )
    expected = {"uri": f"iglu:v/n/{format_}/1-0-0", "meta": described}.get(form, content)
    assert (answer.status_code, answer.json()) == (200, expected)


@pytest.mark.parametrize(("format_", "status"), [("jsonschema", 200), ("avro", 404)])
def test_values_are_validated_by_json_schemas_alone(member: Fixed, format_: str, status: int) -> None:
    http = open_client(member)
    value = {"schema": f"iglu:v/n/{format_}/1-0-0", "data": {}}
    assert http.post("/api/validation/validate/instance", json=value).status_code == status
    assert http.post(f"/api/schemas/validate/v/n/{format_}/1-0-0", json={}).status_code == status
    assert http.post("/api/validation/validate/instance", json={"schema": value["schema"]}).status_code == 400


RULES = [
    (permission, contexts, private)
    for permission in PERMISSIONS
    for contexts in ((".",), ("*",))
    for private in (False, True)
]


@pytest.mark.parametrize(("permission", "contexts", "private"), RULES)
def test_a_super_key_administers_everything_private_schemas_too(
    permission: Any, contexts: tuple[str, ...], *, private: bool
) -> None:
    rule = AccessRule(("key:a",), frozenset({permission, "read"}), contexts=contexts, private=private)

    async def run() -> bool:
        set_caller(RequestCaller("key:a", Access((rule,))))
        exchange: Any = IgluExchange(None, None, (), DEFAULT_IGLU, validate_on_thread, {})  # type: ignore[arg-type]  # no request
        return bool(exchange.is_super)

    assert asyncio.run(run()) is (permission == "admin" and contexts == ("*",) and private)


@pytest.mark.parametrize(
    ("principal", "has_rights", "anonymous"),
    [("", False, False), (ANONYMOUS, True, True), ("user:a", True, False), (ANONYMOUS, False, False)],
)
def test_a_caller_is_anonymous_where_there_are_rights_and_no_credentials(
    principal: str, *, has_rights: bool, anonymous: bool
) -> None:
    async def run() -> bool:
        set_caller(RequestCaller(principal, Access(()) if has_rights else None))
        exchange: Any = IgluExchange(None, None, (), DEFAULT_IGLU, validate_on_thread, {})  # type: ignore[arg-type]  # no request
        return bool(exchange.is_anonymous)

    assert asyncio.run(run()) is anonymous
