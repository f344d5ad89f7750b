"""Every route: what it asks of the registry, and how it prints the answer. Nothing here is decided."""

from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import TOKEN, VERSION, Fixed
from treaty.api.application import build_application
from treaty.core import refusals as r
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, ListContexts
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, GuidIds, ReferencedBy, UsesOf
from treaty.core.messages.settings import (
    Config,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup, VersionFound
from treaty.core.names import Subject
from treaty.core.schema import Draft, Metadata, Reference
from treaty.wire.confluent.headers import V1

S = Subject(".", "s")
DRAFT = Draft('"string"')
POSTED = {"schema": '"string"'}
SHOWN = {
    "subject": "s",
    "version": 3,
    "id": 7,
    "guid": VERSION.guid,
    "schemaType": "AVRO",
    "schema": '"string"',
    "ts": 99,
    "deleted": False,
}
BY_ID = {name: value for name, value in SHOWN.items() if name != "id"}


Case = tuple[str, str, Any, Request[Any] | None, Any]
CASES: list[Case] = [
    ("GET", "/", None, None, {}),
    ("GET", "/subjects", None, ListSubjects(Subject("*", "")), ["a", "b", "c"]),
    ("GET", "/subjects?subjectPrefix=", None, ListSubjects(Subject(".", "")), ["a", "b", "c"]),
    ("GET", "/subjects?subjectPrefix=:.x:a&deleted=TRUE", None, ListSubjects(Subject(".x", "a"), "all"), ["a", "b", "c"]),
    ("GET", "/subjects?deleted_only=True&offset=1&limit=1", None, ListSubjects(visible="deleted", offset=1, limit=1), ["a", "b", "c"]),
    ("GET", "/subjects?offset=0&limit=-1", None, ListSubjects(), ["a", "b", "c"]),
    ("GET", "/contexts/x/subjects", None, ListSubjects(Subject(".x", "")), ["a", "b", "c"]),
    ("POST", "/subjects/s", POSTED, Lookup(S, DRAFT), SHOWN),
    ("POST", "/subjects/s?normalize=True&deleted=true", POSTED, Lookup(S, DRAFT, True, True), SHOWN),
    ("DELETE", "/subjects/s", None, DeleteSubject(S), [1, 2]),
    ("DELETE", "/subjects/s?permanent=true", None, DeleteSubject(S, permanent=True), [1, 2]),
    ("GET", "/subjects/s/versions", None, ListVersions(S), [1, 2, 3]),
    ("GET", "/subjects/s/versions?deletedAsNegative=true", None, ListVersions(S, "all"), [1, -2, 3]),
    ("GET", "/subjects/s/metadata?&&key=a&value=b", None, FindVersion(S, (("a", "b"),)), SHOWN),
    ("GET", "/subjects/s/versions/3?name=s", None, GetVersion(S, 3), SHOWN),
    ("GET", "/subjects/s/versions/latest", None, GetVersion(S, LATEST), SHOWN),
    ("GET", "/subjects/s/versions/%20LATEST", None, GetVersion(S, LATEST), SHOWN),
    ("GET", "/subjects/s/versions/-1?deleted=true", None, GetVersion(S, LATEST, deleted=True), SHOWN),
    ("GET", "/subjects/s/versions/3/referencedby", None, ReferencedBy(S, 3), [4, 9]),
    ("DELETE", "/subjects/s/versions/3?permanent=True", None, DeleteVersion(S, 3, permanent=True), 3),
    ("GET", "/schemas?latestOnly=true&limit=9999", None, ListSchemas(latest=True), [SHOWN]),
    ("GET", "/schemas/ids/7", None, GetSchema(7), BY_ID),
    ("GET", "/schemas/ids/7?subject=s&fetchMaxId=true", None, GetSchema(7, S, max_id=True), BY_ID),
    ("GET", "/contexts/.x/schemas/ids/7", None, GetSchema(7, Subject(".x", "")), BY_ID),
    ("GET", "/schemas/ids/7/subjects", None, UsesOf(7), ["s", "t"]),
    (
        "GET",
        "/schemas/ids/7/versions?deleted=true",
        None,
        UsesOf(7, visible="all"),
        [{"subject": "s", "version": 1}, {"subject": "s", "version": 3}, {"subject": "t", "version": 1}],
    ),
    ("GET", f"/schemas/guids/{VERSION.guid.replace('-', '').upper()}", None, GetGuid(VERSION.guid), None),
    (
        "GET",
        f"/schemas/guids/{VERSION.guid}/ids",
        None,
        GetGuidIds(VERSION.guid),
        [{"context": ".", "id": 7}, {"context": ".x", "id": 2}],
    ),
    ("POST", "/compatibility/subjects/s/versions", POSTED, Check(S, DRAFT), {"is_compatible": True}),
    (
        "POST",
        "/compatibility/subjects/s/versions/2?verbose=true",
        POSTED,
        Check(S, DRAFT, 2),
        {"is_compatible": True, "messages": []},
    ),
    ("GET", "/config", None, GetConfig(Scope()), {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/config/s?defaultToGlobal=true", None, GetConfig(Scope(".", "s"), resolve=True), {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/contexts/.x/config", None, GetConfig(Scope(".x", None)), {"compatibilityLevel": "BACKWARD"}),
    ("GET", "/config/:.__GLOBAL:", None, GetConfig(Scope("*", None)), {"compatibilityLevel": "BACKWARD"}),
    (
        "PUT",
        "/config/s",
        {"compatibility": "full", "alias": None, "unknown": 1},
        SetConfig(Scope(".", "s"), Config(level="FULL"), ("alias",)),
        {"alias": "other", "compatibility": "FULL"},
    ),
    ("DELETE", "/config/s", None, DeleteConfig(Scope(".", "s")), {"compatibilityLevel": "NONE"}),
    ("GET", "/mode", None, GetMode(Scope()), {"mode": "READWRITE"}),
    ("PUT", "/mode/s?force=True", {"mode": "import"}, SetMode(Scope(".", "s"), "IMPORT", force=True), {"mode": "import"}),
    ("PUT", "/mode/s", {"mode": None}, SetMode(Scope(".", "s"), None), {"mode": None}),
    ("DELETE", "/mode/s?recursive=true", None, DeleteMode(Scope(".", "s"), recursive=True), {"mode": "READONLY"}),
    ("GET", "/contexts?contextPrefix=.x", None, ListContexts(".x"), [".", ".x"]),
    ("GET", "/associations/resources/-/t?resourceType=topic&associationType=value", None, None, []),
    ("GET", "/associations/resources/t", None, None, []),
    ("GET", "/associations/subjects/a%2Fb", None, None, []),
    ("GET", "/schemas/types", None, None, ["JSON", "PROTOBUF", "AVRO"]),
    ("GET", "/v1/metadata/deployment", None, None, {"attributes": []}),
    ("GET", "/treaty/outcome/c1", None, GetOutcome("c1"), {"command": "c1", "sequence": 5, "result": "{}"}),
    ("GET", "/treaty/outcome/c1?principal=user:ada", None, GetOutcome("c1", "user:ada"), {"command": "c1", "sequence": 5, "result": "{}"}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "target", "body", "asked", "answer"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_a_route_asks_and_prints(
    http: TestClient, member: Fixed, method: str, target: str, body: object, asked: object, answer: object
) -> None:
    got = http.request(method, target, json=body)
    assert got.status_code == 200, got.text
    assert got.headers["content-type"] == V1
    if asked is not None:
        assert member.asked == [asked]
        assert got.headers["treaty-position"] == str(TOKEN)
    if answer is not None:
        assert got.json() == answer


CUT_HERE = [
    "/schemas/ids/7/subjects",
    "/schemas/ids/7/versions",
    "/subjects/s/versions",
    "/subjects/s/versions/3/referencedby",
    "/contexts",
]
"""Lists of which the route itself cuts the page."""


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("target", CUT_HERE)
def test_pages_are_full_and_end_to_end_the_list(http: TestClient, target: str, limit: int) -> None:
    """A page that is shorter than its limit is the last; a client stops there."""
    entries: list[object] = []
    page = [object()] * limit
    while len(page) == limit:
        page = http.get(f"{target}?offset={len(entries)}&limit={limit}").json()
        entries += page
    assert entries == http.get(target).json()


def test_registration_reads_all_of_the_body_and_answers_the_full_form(http: TestClient, member: Fixed) -> None:
    body = {
        "schemaType": "AVRO",
        "schema": "x",
        "version": 4,
        "id": 9,
        "references": [{"name": "n", "subject": "t", "version": 1, "properties": None, "tags": None}],
        "metadata": {"properties": {"a": "b"}},
    }
    got = http.post("/subjects/s/versions?normalize=False", json=body)
    draft = Draft("x", references=(Reference("n", "t", 1),), metadata=Metadata(properties=(("a", "b"),)))
    assert member.asked == [Register(S, draft, number=4, schema_id=9)]
    assert list(got.json()) == ["version", "id", "guid", "schemaType", "schema"]


def test_force_is_told_with_who_forced_it(http: TestClient, member: Fixed) -> None:
    http.post("/subjects/s/versions?force=true", json=POSTED)
    request = member.asked[0]
    assert isinstance(request, Register)
    assert request.force == ForceReason("", "force=true")


@pytest.mark.parametrize(
    ("target", "subject"),
    [
        ("/subjects/a%2Fb/versions/1", Subject(".", "a/b")),
        ("/subjects/a%252Fb/versions/1", Subject(".", "a%2Fb")),
        ("/subjects/%3A.ctx%3As/versions/1", Subject(".ctx", "s")),
        ("/subjects/:.ctx:a%20b/versions/1", Subject(".ctx", "a b")),
        ("/subjects/%C3%A4/versions/1", Subject(".", "ä")),
        ("/subjects//versions/1", Subject(".", "")),
        ("/subjects/:.:s/versions/1", S),
        ("/contexts/ctx/subjects/s/versions/1", Subject(".ctx", "s")),
        ("/contexts/.ctx/subjects/%3A.other%3As/versions/1", Subject(".other", "s")),
        ("/contexts/%3A.ctx%3A/subjects/s/versions/1/", Subject(".ctx", "s")),
        ("/contexts/%3A.%3A/subjects/s/versions/1", S),
    ],
)
def test_subjects_are_decoded_once_and_then_qualified(
    http: TestClient, member: Fixed, target: str, subject: Subject
) -> None:
    assert http.get(target).status_code == 200
    assert member.asked == [GetVersion(subject, 1)]


def test_metadata_encoded_twice_is_tried_as_it_was_meant(http: TestClient, member: Fixed) -> None:
    member.answers[FindVersion] = r.SchemaNotFound.of("SCHEMA", "none")
    assert http.get("/subjects/s/metadata?key=a%2520b&value=c").json()["error_code"] == 40403
    assert member.asked == [FindVersion(S, (("a%20b", "c"),)), FindVersion(S, (("a b", "c"),))]


def test_references_are_shown_qualified_where_asked(http: TestClient, member: Fixed) -> None:
    found = VersionFound(":.x:s", 1, 0, 1, "g", "AVRO", "{}", (Reference("n", "t", 1),))
    member.answers[GetVersion] = found
    plain = http.get("/subjects/:.x:s/versions/1").json()["references"]
    told = http.get("/subjects/:.x:s/versions/1?referenceFormat=qualified").json()["references"]
    assert (plain[0]["subject"], told[0]["subject"]) == ("t", ":.x:t")


def test_raw_texts_keep_the_media_type(http: TestClient) -> None:
    for target in ("/schemas/ids/7/schema", "/subjects/s/versions/3/schema"):
        got = http.get(target)
        assert (got.text, got.headers["content-type"]) == ('"string"', V1)


def test_a_guid_nobody_has_is_not_found_and_has_no_ids(http: TestClient, member: Fixed) -> None:
    member.answers[GetGuidIds] = GuidIds(())
    member.answers[GetGuid] = r.SchemaNotFound.of("SCHEMA", "none")
    assert http.get("/schemas/guids/nonsense").json() == {"error_code": 40403, "message": "Schema nonsense not found"}
    assert http.get(f"/schemas/guids/{VERSION.guid}/ids").json() == []


def test_an_invalid_schema_is_a_verdict_only_where_verbose(http: TestClient, member: Fixed) -> None:
    member.answers[Check] = r.InvalidSchema(r.Reason("R", "Invalid schema of type AVRO, details: x"))
    target = "/compatibility/subjects/s/versions"
    assert http.post(target, json=POSTED).json()["error_code"] == 42201
    assert http.post(f"{target}?verbose=true", json=POSTED).json() == {
        "is_compatible": False,
        "messages": ["Invalid schema of type AVRO, details: x"],
    }


def test_deleting_a_context_has_no_body(http: TestClient, member: Fixed) -> None:
    got = http.delete("/contexts/x")
    assert (got.status_code, got.content) == (204, b"")
    assert member.asked == [DeleteContext(".x")]


# ------------------------------------------------------------------------------------------------ headers and details


def test_the_call_is_read_from_headers_and_query(http: TestClient, member: Fixed) -> None:
    sent = {"Treaty-Position": str(TOKEN), "Treaty-Command": "c1", "Treaty-Consistency": "eventual"}
    http.get("/subjects?consistency=LATEST", headers=sent)
    call = member.calls[0]
    assert (call.after, call.command_id, call.consistency) == (TOKEN, "c1", "latest")


@pytest.mark.parametrize(
    "headers",
    [{"Treaty-Position": "x"}, {"Treaty-Consistency": "maybe"}, {"Treaty-Command": "c" * 129}],
    ids=["token", "consistency", "command"],
)
def test_a_header_that_cannot_be_right_is_refused(http: TestClient, member: Fixed, headers: dict[str, str]) -> None:
    got = http.get("/subjects", headers=headers)
    assert (got.status_code, got.json()["error_code"]) == (400, 400)
    assert member.asked == []


def test_details_are_told_where_asked(http: TestClient, member: Fixed) -> None:
    told = http.get("/subjects/s/versions/3", headers={"Treaty-Details": "true"}).json()
    assert told == {**SHOWN, "treaty": {"ordinal": 2}}
    member.answers[GetVersion] = r.VersionNotFound.of("VERSION", "none", path="/v", allowed="1, 2")
    error = http.get("/subjects/s/versions/3", headers={"Treaty-Details": "true"}).json()["treaty"]
    assert (error["rule"], error["path"], error["allowed"]) == ("VERSION", "/v", "1, 2")


def test_the_request_id_comes_back(http: TestClient) -> None:
    assert http.get("/", headers={"X-Request-ID": "abc"}).headers["x-request-id"] == "abc"
    for given in (None, "", "x" * 201, "a\tb"):
        made = http.get("/", headers=None if given is None else {"X-Request-ID": given}).headers["x-request-id"]
        assert UUID(made).version == 4
    assert http.get("/nowhere").headers["x-request-id"] != http.get("/nowhere").headers["x-request-id"]


def test_head_is_get_without_a_body(http: TestClient) -> None:
    got, head = http.get("/schemas/ids/7"), http.head("/schemas/ids/7")
    assert head.status_code == 200
    assert head.headers["content-length"] == got.headers["content-length"]


@pytest.mark.parametrize("accept", ["text/html, image/gif, image/jpeg, */*; q=0.2", "*/*", V1])
def test_what_clients_accept_is_answered(http: TestClient, accept: str) -> None:
    assert http.get("/subjects", headers={"Accept": accept}).headers["content-type"] == V1


def test_plain_json_is_answered_as_such(http: TestClient) -> None:
    got = http.get("/subjects", headers={"Accept": "application/json"})
    assert got.headers["content-type"] == "application/json"


def test_a_content_type_without_a_body_is_no_matter(http: TestClient) -> None:
    assert http.get("/subjects", headers={"Content-Type": "text/strange"}).status_code == 200
    assert http.delete("/subjects/s", headers={"Content-Type": "text/strange"}).status_code == 200


JSON_LIST = "application/json, text/plain, */*"
CLIENTS: dict[str, dict[str, str]] = {
    "JavaScript": {"Accept": JSON_LIST, "Content-Type": V1, "Accept-Encoding": "gzip, compress, deflate, br"},
    "kafkajs": {"Content-Type": V1, "User-Agent": "@kafkajs/confluent-schema-registry"},
    "Go": {"Content-Type": V1, "User-Agent": "Go-http-client/1.1"},
    "franz-go": {"Accept": V1, "Content-Type": V1},
    "Rust": {"accept": "*/*"},
    "Java": {"Accept": "text/html, image/gif, image/jpeg, */*; q=0.2", "Content-Type": "application/json"},
}
"""What clients send beside the path; some of them a content type without a body."""


@pytest.mark.parametrize("client", CLIENTS)
def test_what_each_client_sends_is_understood(member: Fixed, client: str) -> None:
    http = TestClient(build_application(member).dispatcher)
    http.headers.clear()
    sent = CLIENTS[client]
    for method, target in (
        ("GET", "/schemas/ids/7?deleted=true&subject="),
        ("GET", "/subjects/s/versions/3?name=s"),
        ("GET", "/subjects/s/metadata?deleted=false&&key=a&value=b"),
        ("DELETE", "/subjects/s/versions/3"),
        ("GET", "/associations/resources/-/t?resourceType=topic&associationType=value"),
    ):
        assert http.request(method, target, headers=sent).status_code == 200
    body = b'{"schema":"x","references":[{"name":"n","subject":"s","version":1,"properties":null,"tags":null}]}'
    got = http.post("/subjects/s/versions?normalize=False", content=body, headers={"Content-Type": V1, **sent})
    assert got.json()["id"] == 7
