"""Rights at the door of Pravega's registry, and errors that arise before its routes: always in its own shape."""

import base64
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.facades.doors import ROOT, Door, basic, play
from tests.facades.twin import Fixed
from treaty.api.application import build_application
from treaty.core.limits import IN_FLIGHT, IN_FLIGHT_EACH
from treaty.core.messages.encodings import CodecTypes, ListCodecs
from treaty.core.messages.groups import GetSubject, RemoveSubject
from treaty.core.refusals import OutcomeUnknown, Unavailable

FORMAT = {"serializationFormat": "Avro", "fullTypeName": "Avro"}
TEXT = '{"type":"record","name":"Order","fields":[]}'
INFO = {"type": "Order", "serializationFormat": FORMAT, "schemaData": base64.b64encode(TEXT.encode()).decode()}
PROPERTIES = {"serializationFormat": FORMAT, "compatibility": {"policy": "AllowAny"}, "allowMultipleTypes": True}
VERSION = {"id": 0, "type": "Order", "serializationFormat": "Avro", "version": 0}
POLICY = {"compatibility": {"policy": "Full"}}
READS = frozenset({"reader", "writer", "chief", "root"})

ASKED: list[tuple[str, str, Any, frozenset[str]]] = [
    ("GET", "/v1/groups/{}", None, READS),
    ("GET", "/v1/groups/{}/history", None, READS),
    ("GET", "/v1/groups/{}/schemas", None, READS),
    ("GET", "/v1/groups/{}/schemas/versions", None, READS),
    ("POST", "/v1/groups/{}/schemas/versions/find", INFO, READS),
    ("POST", "/v1/groups/{}/schemas/versions/validate", {"schemaInfo": INFO}, READS),
    ("POST", "/v1/groups/{}/schemas/versions/canRead", INFO, READS),
    ("GET", "/v1/groups/{}/schemas/schema/0", None, READS),
    ("GET", "/v1/groups/{}/schemas/format/Avro/type/Order/versions/0", None, READS),
    ("GET", "/v1/groups/{}/encodings/0", None, READS),
    ("GET", "/v1/groups/{}/codecTypes", None, READS),
    ("POST", "/v1/groups/{}/schemas", INFO, frozenset({"writer", "chief", "root"})),
    ("PUT", "/v1/groups/{}/encodings", {"versionInfo": VERSION}, frozenset({"writer", "chief", "root"})),
    ("POST", "/v1/groups/{}/codecTypes", {"name": "gzip"}, frozenset({"writer", "chief", "root"})),
    ("PUT", "/v1/groups/{}/compatibility", POLICY, frozenset({"configurer", "chief", "root"})),
    ("POST", "/v1/groups", {"groupName": "{}", "groupProperties": PROPERTIES}, frozenset({"chief", "root"})),
    ("DELETE", "/v1/groups/{}/schemas/schema/0", None, frozenset({"deleter", "chief", "root"})),
    ("DELETE", "/v1/groups/{}/schemas/format/Avro/type/Order/versions/0", None, frozenset({"chief", "root"})),
    ("DELETE", "/v1/groups/{}", None, frozenset({"deleter", "chief", "root"})),
]
"""Requests, and who may make them of a group called open-…; a version by its type is read before it is deleted."""


async def make(it: Door, group: str, namespace: str = "") -> None:
    where = f"/v1/namespace/{namespace}" if namespace else "/v1"
    for method, path, body in (
        ("POST", "/groups", {"groupName": group, "groupProperties": PROPERTIES}),
        ("POST", f"/groups/{group}/schemas", INFO),
        ("PUT", f"/groups/{group}/encodings", {"versionInfo": VERSION, "codecType": ""}),
    ):
        status, told = await it.ask(method, where + path, ROOT, body)
        assert status in {200, 201}, told


def test_every_route_asks_for_the_rights_that_it_needs(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for user in ("reader", "writer", "deleter", "configurer", "moder", "chief", "nobody", "root"):
            await make(it, f"open-{user}")
            await make(it, f"shut-{user}")
            for method, path, body, who in ASKED:
                for group, allowed in ((f"open-{user}", user in who), (f"shut-{user}", user == "root")):
                    sent = json.loads(json.dumps(body).replace("{}", group))
                    status, told = await it.ask(method, path.format(group), basic(user), sent)
                    assert (status == 403) is not allowed, (user, method, path, status, told)
                    assert status != 403 or told["code"] == "forbidden"

    play(tmp_path, story)


def test_lists_have_what_the_caller_may_read_and_tokens_no_other_name(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for group in ("open-a", "open-b", "shut-c", "zzz-hidden"):
            await make(it, group)
        _, page = await it.ask("GET", "/v1/groups", basic("reader"))
        assert list(page["groups"]) == ["open-a", "open-b"]
        shown = base64.urlsafe_b64decode(page["continuationToken"] + "==")
        assert b"hidden" not in shown
        _, last = await it.ask("GET", f"/v1/groups?continuationToken={page['continuationToken']}", basic("reader"))
        assert last == {"groups": {}, "continuationToken": page["continuationToken"]}
        _, added = await it.ask("POST", "/v1/schemas/addedTo", basic("reader"), INFO)
        assert list(added["groups"]) == ["open-a", "open-b"]

    play(tmp_path, story)


def test_missing_credentials_are_told_in_the_shape_of_the_dialect(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for path in ("/v1/groups", "/v1/namespace/x/groups/g", "/v1/schemas/addedTo", "/v1/groups/g/nothing"):
            for who in ({}, basic("root", "wrong")):
                answer = await it.http.get(path, headers=who)
                assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
                assert answer.headers["www-authenticate"].startswith("Basic")
                assert "error_code" not in answer.json()
        assert (await it.http.get("/v1/groupsx")).json()["error_code"] == 40101, "the path of another dialect"
        assert (await it.http.get("/ping")).status_code == 200

    play(tmp_path, story)


def test_modes_and_servers_that_only_read_refuse_changes(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        await make(it, "g")
        assert (await it.ask("PUT", "/mode/g", ROOT, {"mode": "READONLY"}))[0] == 200
        wider = {
            **INFO,
            "schemaData": base64.b64encode(TEXT.replace("[]", '[{"name":"a","type":"int"}]').encode()).decode(),
        }
        for method, path, body in (
            ("POST", "/v1/groups/g/schemas", wider),
            ("PUT", "/v1/groups/g/compatibility", POLICY),
            ("POST", "/v1/groups/g/codecTypes", {"name": "gzip"}),
            ("DELETE", "/v1/groups/g/schemas/schema/0", None),
            ("DELETE", "/v1/groups/g", None),
        ):
            status, told = await it.ask(method, path, ROOT, body)
            assert (status, told["code"]) == (403, "not-permitted"), (method, path)

    play(tmp_path, story)

    async def refused(it: Door) -> None:
        status, told = await it.ask("POST", "/v1/groups", ROOT, {"groupName": "g", "groupProperties": PROPERTIES})
        assert (status, told["reasons"]) == (403, ["READ_ONLY: create-subject"])

    play(tmp_path, refused, read_only=True)


def test_a_full_server_and_a_failing_one_answer_in_the_shape_of_the_dialect(
    member: Fixed, caplog: pytest.LogCaptureFixture
) -> None:
    app = build_application(member)
    http = TestClient(app.dispatcher, raise_server_exceptions=False)
    app.metrics.in_flight = IN_FLIGHT
    got = http.get("/v1/groups/g")
    assert (got.status_code, got.json()["code"], got.headers["retry-after"]) == (503, "unavailable", "1")
    app.metrics.in_flight = 0
    app.dispatcher.in_flight_by_client["testclient"] = IN_FLIGHT_EACH
    got = http.get("/v1/groups/g")
    assert (got.status_code, got.json()["code"], got.headers["retry-after"]) == (429, "too-many-requests", "1")
    app.dispatcher.in_flight_by_client.clear()
    member.answers[GetSubject] = Unavailable("busy", 7)
    got = http.get("/v1/groups/g")
    assert (got.status_code, got.json(), got.headers["retry-after"]) == (
        503,
        {"code": "unavailable", "message": "busy"},
        "7",
    )
    member.answers[RemoveSubject] = OutcomeUnknown("c9")
    got = http.delete("/v1/groups/g")
    assert (got.status_code, got.json()["code"], got.headers["treaty-command"]) == (504, "outcome-unknown", "c9")
    member.answers[GetSubject] = ZeroDivisionError("secret")
    with caplog.at_level(logging.CRITICAL):
        got = http.get("/v1/groups/g")
    assert (got.status_code, got.json()) == (500, {"code": "internal-server-error", "message": "Internal Server Error"})


def test_requests_are_counted_by_route_and_positions_are_told(member: Fixed) -> None:
    app = build_application(member)
    http = TestClient(app.dispatcher)
    member.answers[ListCodecs] = CodecTypes(())
    got = http.get("/v1/namespace/n/groups/g/codecTypes", headers={"x-request-id": "mine"})
    assert (got.json(), got.headers["x-request-id"]) == ({"codecTypes": []}, "mine")
    assert got.headers["treaty-position"]
    assert got.headers["content-type"] == "application/json"
    assert 'route="/v1/groups/{}/codecTypes",status="200"' in app.metrics.page().decode()
