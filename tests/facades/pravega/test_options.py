"""Pravega's API where a request says little or repeats itself: the empty codec, deletions of deleted schemas, types, policies of versions that are gone."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import VERSION, Fixed
from treaty.core import refusals as r
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages.settings import Config
from treaty.core.policy import Level, VersionRange

GROUP = g.GroupFound("s", "pravega", "many", "registration", "normalised", "AVRO", Level(), Config(), latest=2)


@pytest.fixture
def member() -> Fixed:
    member = Fixed()
    member.answers |= {
        g.GetSubject: GROUP, g.GetOrdinal: VERSION, g.GetTypedVersion: VERSION, g.ListGroupVersions: g.GroupVersions((VERSION,)),
        e.ListCodecs: e.CodecTypes(()),
    }  # fmt: skip
    return member


@pytest.mark.parametrize(
    ("body", "adds"),
    [({"name": ""}, False), ({"name": "", "properties": {}}, False), ({"name": "", "properties": None}, False), ({"name": "", "properties": {"a": "b"}}, True),
     ({"name": "zip"}, True), ({"name": "zip", "properties": {"b": "2", "a": "1"}}, True), ({}, True)],
)  # fmt: skip
def test_a_codec_is_added_unless_it_is_none(
    http: TestClient, member: Fixed, body: dict[str, Any], *, adds: bool
) -> None:
    """Serializers without a codec send the empty one at their start; a group that is not there is said all the same."""
    member.answers[e.AddCodec] = e.CodecAdded(e.CodecType(""), created=True)
    assert http.post("/v1/groups/s/codecTypes", json=body).status_code == 201
    assert [type(request) for request in member.asked] == [e.AddCodec if adds else e.ListCodecs]
    member.answers |= dict.fromkeys((e.AddCodec, e.ListCodecs), r.SubjectNotFound.of("R", "m"))
    assert http.post("/v1/groups/s/codecTypes", json=body).status_code == 404


@pytest.mark.parametrize(
    "path", ["/v1/groups/s/schemas/schema/2", "/v1/groups/s/schemas/format/Avro/type/t/versions/0"]
)
@pytest.mark.parametrize(
    ("refusal", "status"),
    [(None, 204), (r.AlreadyDeleted.of("R", "m"), 204), (r.VersionNotFound.of("R", "m"), 404), (r.Referenced.of("R", "m"), 409), (r.Forbidden.of("R", "m"), 403)],
)  # fmt: skip
def test_a_deletion_that_comes_again_is_done(
    http: TestClient, member: Fixed, path: str, refusal: Exception | None, status: int
) -> None:
    member.answers[g.DeleteOrdinal] = refusal or VERSION
    assert http.delete(path).status_code == status
    assert member.asked[-1] == g.DeleteOrdinal(member.asked[-1].subject, 2)  # type: ignore[attr-defined]  # one of a subject


@pytest.mark.parametrize("path", ["/v1/groups/s/schemas", "/v1/groups/s/schemas/versions"])
@pytest.mark.parametrize("type_", ["", "t", "a b", "a.B"])
def test_schemas_are_listed_of_a_type_where_it_is_named(http: TestClient, member: Fixed, path: str, type_: str) -> None:
    assert http.get(path, params={"type": type_} if type_ else {}).status_code == 200
    (request,) = member.asked
    assert isinstance(request, g.ListGroupVersions)
    assert (request.type_name, request.latest) == (type_, path.endswith("schemas"))


@pytest.mark.parametrize(
    ("refusal", "status"), [(None, 200), (r.Forbidden.of("R", "m"), 200), (r.SubjectNotFound.of("R", "m"), 404)]
)
@pytest.mark.parametrize("previous", [None, {"policy": "Backward"}])
def test_who_may_change_a_policy_need_not_read_it(
    http: TestClient, member: Fixed, refusal: Exception | None, status: int, previous: object
) -> None:
    member.answers[g.ChangeSubject] = GROUP
    if refusal is not None:
        member.answers[g.GetSubject] = refusal
    body = {"compatibility": {"policy": "Full"}, "previousCompatibility": previous}
    assert http.put("/v1/groups/s/compatibility", json=body).status_code == status
    changes = [request for request in member.asked if isinstance(request, g.ChangeSubject)]
    assert [change.previous is not None for change in changes] == ([previous is not None] if status == 200 else [])


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize(
    "level", [Level(VersionRange("till", 0)), Level(VersionRange("till", 1), VersionRange("till", 2))]
)
def test_a_policy_whose_version_is_gone_is_shown_by_its_id(
    http: TestClient, member: Fixed, level: Level, *, is_gone: bool
) -> None:
    member.answers[g.GetSubject] = replace(GROUP, level=level)
    if is_gone:
        member.answers[g.GetOrdinal] = r.VersionNotFound.of("R", "m")
    answer = http.get("/v1/groups/s")
    assert answer.status_code == 200
    backward = answer.json()["compatibility"]["advanced"]["backwardPolicy"]["backwardPolicy"]
    assert backward["name"] == "BackwardTill"
    assert backward["versionInfo"]["id"] == (level.backward.ordinal if is_gone else VERSION.ordinal)


SCHEMA = {"type": "s", "schemaData": "InN0cmluZyI=", "serializationFormat": {"serializationFormat": "Avro"}}


@pytest.mark.parametrize(
    ("method", "path", "body", "member_path"),
    [
        ("PUT", "/v1/groups/s/encodings", {"codecType": ""}, "/versionInfo"),
        ("POST", "/v1/groups", {"groupName": "s", "groupProperties": {}}, "/groupProperties/allowMultipleTypes"),
        ("POST", "/v1/groups/s/schemas", SCHEMA, "/type"), ("POST", "/v1/groups/s/schemas", SCHEMA, "/schemaData"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_null", [False, True])
def test_a_member_that_is_needed_is_neither_left_out_nor_null(
    http: TestClient, member: Fixed, method: str, path: str, body: dict[str, Any], member_path: str, *, is_null: bool
) -> None:
    *outer, name = member_path.strip("/").split("/")
    holder = sent = {key: dict(value) if isinstance(value, dict) else value for key, value in body.items()}
    for key in outer:
        holder = holder[key]
    holder.pop(name, None)
    if is_null:
        holder[name] = None
    answer = http.request(method, path, json=sent)
    assert (answer.status_code, member.asked) == (400, [])
    assert f"The member '{name}' is missing or null" in answer.text
