"""Requests that cannot be right, errors before routing, and servers that can't answer: each in the shape of this dialect."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import TOKEN, Fixed
from treaty.api.application import build_application
from treaty.api.network.hosts import AllowedHosts
from treaty.api.schemarepo.routes import TABLE
from treaty.core import refusals as r
from treaty.core.limits import GZIP_BYTES, IN_FLIGHT, IN_FLIGHT_EACH, REQUEST_BYTES
from treaty.core.messages import groups as g
from treaty.core.messages import names as n
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.settings import Config
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import LEVELS

VERSION = VersionFound("s", 3, 2, 7, "guid", "AVRO", '"string"')
GROUP = g.GroupFound("s", "schema-repo", "across", "registration", "exact", "any", LEVELS["NONE"], Config(), latest=2)
FORM, TEXT = {"content-type": "application/x-www-form-urlencoded"}, {"content-type": "text/plain"}


@pytest.fixture
def member() -> Fixed:
    member = Fixed()
    member.answers |= {
        g.GetSubject: GROUP,
        g.CreateSubject: g.GroupCreated(GROUP, created=True),
        g.ListGroups: g.Groups(()),
        g.ListGroupVersions: g.GroupVersions((VERSION,)),
        g.GetOrdinal: VERSION,
        n.GetNamedVersion: VERSION,
        g.FindSameVersion: VERSION,
        Register: RegisteredVersion(VERSION, created=True),
    }
    return member


@pytest.mark.parametrize(
    ("method", "target", "options", "status"),
    [
        ("GET", "/schema-repo/s/all/x", {}, 404),
        ("GET", "/schema-repo/s/id", {}, 404),
        ("GET", "/schema-repo/s/nothing", {}, 404),
        ("GET", "/avro-1124", {}, 404),
        ("GET", "/avro-1124/groups", {}, 404),
        ("DELETE", "/schema-repo/s", {}, 405),
        ("POST", "/schema-repo/s", {}, 405),
        ("POST", "/schema-repo/s/register", {"content": b"x", "headers": TEXT}, 405),
        ("GET", "/schema-repo/s/register_if_latest", {}, 405),
        ("PATCH", "/avro-1124/schemas/s", {}, 405),
        ("GET", "/schema-repo/%FF", {}, 400),
        ("PUT", "/schema-repo/s", {"content": b"a=%FF", "headers": FORM}, 400),
        ("PUT", "/schema-repo/s", {"content": b"\xff=1", "headers": FORM}, 400),
        ("PUT", "/schema-repo/s", {"content": b"a", "headers": TEXT}, 415),
        ("PUT", "/schema-repo/s", {"content": b"a=1", "headers": {"content-type": "application/json"}}, 415),
        ("PUT", "/schema-repo/s/register", {"content": b"a", "headers": FORM}, 415),
        ("PUT", "/schema-repo/s/register", {"content": b"a", "headers": {"content-type": "text/plain;charset=x"}}, 415),
        ("PUT", "/schema-repo/s/register", {"headers": TEXT}, 400),
        ("PUT", "/schema-repo/s/register", {"headers": {"content-type": "text/plain;charset=x"}}, 400),
        ("PUT", "/schema-repo/s/register", {"content": b"\xff", "headers": TEXT}, 400),
        ("PUT", "/schema-repo/s/register", {"content": b"a" * (REQUEST_BYTES + 1), "headers": TEXT}, 413),
        ("GET", "/schema-repo/s", {"headers": {"Accept": "image/jpeg"}}, 406),
        ("GET", "/schema-repo/s", {"headers": {"Treaty-Position": "x"}}, 400),
        ("GET", "/schema-repo/s?consistency=never", {}, 400),
        ("POST", "/avro-1124/schemas/s", {"content": b"[]", "headers": {"content-type": "application/json"}}, 415),
    ],
)  # fmt: skip
def test_what_cannot_be_right_has_its_error(
    http: TestClient, method: str, target: str, options: dict[str, Any], status: int
) -> None:
    got = http.request(method, target, **options)
    assert (got.status_code, got.headers["content-type"]) == (status, "text/plain; charset=utf-8"), got.text
    assert got.text
    assert "error_code" not in got.text
    options["headers"] = {"Accept": "application/json", **options.get("headers", {})}
    told = http.request(method, target, **options)
    if status != 406:
        assert told.json().keys() >= {"code", "message"}, told.text
        assert "error_code" not in told.text


REASON = r.Reason("RULE", "the sentence", "/at", "before", "after", "this", "s", "1", ("a detail",))
ERRORS = [
    (r.SubjectNotFound(REASON), 404, 404), (r.VersionNotFound(REASON), 404, 404), (r.SchemaNotFound(REASON), 404, 404),
    (r.Incompatible(REASON), 403, 403), (r.InvalidSchema(REASON), 403, 403), (r.NotPermitted(REASON), 403, 403),
    (r.InvalidSubject(REASON), 400, 400), (r.InvalidSetting(REASON), 400, 400), (r.TooLarge(REASON), 403, 403),
    (r.TooLarge(replace(REASON, rule="SCHEMA_BYTES")), 413, 413), (r.TooLarge(replace(REASON, rule="NAME_LENGTH")), 400, 400),
    (r.FormatNotAllowed(REASON), 403, 403), (r.TypeNotAllowed(REASON), 403, 409), (r.NotLatest(REASON), 409, 409),
    (r.Conflicting(REASON), 403, 409), (r.Unauthenticated(REASON, ("Basic",)), 401, 401), (r.Forbidden(REASON), 403, 403),
    (r.Unavailable("busy", 7), 503, 503), (r.OutcomeUnknown("c1"), 504, 504), (ZeroDivisionError("secret"), 500, 500),
]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "registering", "reading"), ERRORS, ids=[f"{at}-{type(one[0]).__name__}" for at, one in enumerate(ERRORS)]
)
def test_every_error_has_its_status(member: Fixed, error: Exception, registering: int, reading: int) -> None:
    http = TestClient(build_application(member).dispatcher, raise_server_exceptions=False)
    member.answers |= {Register: error, g.ListGroupVersions: error}
    for accept, json_ in (("*/*", False), ("application/json", True)):
        got = http.get("/schema-repo/s/all", headers={"accept": accept})
        assert got.status_code == reading
        told = got.json()["message"] if json_ else got.text.split("\n")[0]
        assert "secret" not in got.text
        assert told
    got = http.put("/schema-repo/s/register", content=b'"int"', headers=TEXT)
    assert (got.status_code, "error_code" in got.text) == (registering, False)
    if isinstance(error, r.Unavailable):
        assert got.headers["retry-after"] == "7"
    if isinstance(error, r.OutcomeUnknown):
        assert got.headers["treaty-command"] == "c1"
    if isinstance(error, r.Unauthenticated):
        assert got.headers["www-authenticate"] == "Basic"
    if isinstance(error, r.Refusal):
        told = http.get("/schema-repo/s/all", headers={"accept": "application/json"}).json()
        assert told["remedies"] == ["this"]
        assert told["reasons"][0].endswith(" at /at; old: before; new: after")
        assert told["code"] == r.error_tag(error)
        assert "\nallowed: this" in got.text


@pytest.mark.parametrize(
    "target", ["/schema-repo", "/schema-repo/s/latest", "/schema-repo/x/y/z/1", "/avro-1124/schemas"]
)
def test_errors_before_routing_are_of_the_dialect(member: Fixed, target: str) -> None:
    async def refuse(_scope: object) -> None:
        raise r.Unauthenticated(r.Reason("CREDENTIALS", "Unauthorized: no"), ("Basic",))

    app = build_application(member, hosts=AllowedHosts(frozenset({"mine"}), is_guarded=True))
    for full, each, authenticate, status in (
        (IN_FLIGHT, 0, None, 503),
        (0, IN_FLIGHT_EACH, None, 429),
        (0, 0, refuse, 401),
    ):
        dispatcher = replace(app.dispatcher, authenticate=authenticate)
        app.metrics.in_flight = full
        app.dispatcher.in_flight_by_client["testclient"] = each
        for accept, media in (("*/*", "text/plain; charset=utf-8"), ("application/json", "application/json")):
            got = TestClient(dispatcher, base_url="http://mine").get(target, headers={"accept": accept})
            assert (got.status_code, got.headers["content-type"]) == (status, media), got.text
            assert "error_code" not in got.text
            assert (status == 401) is ("www-authenticate" in got.headers)
            assert (status in {429, 503}) is ("retry-after" in got.headers)
    got = TestClient(app.dispatcher, base_url="http://other").get(target)
    assert (got.status_code, got.headers["content-type"]) == (421, "text/plain; charset=utf-8")
    page = {"origin": "http://other", "content-type": "application/x-www-form-urlencoded"}
    got = TestClient(app.dispatcher, base_url="http://mine").post(target, content="schema=1", headers=page)
    assert (got.status_code, "may change nothing here" in got.text) == (403, True)


def test_paths_beside_the_prefixes_are_of_confluents_dialect(http: TestClient) -> None:
    for target in ("/schema-repository", "/schema-repo2/s", "/avro-11245/schemas", "/schemas-repo"):
        assert http.get(target).json()["error_code"] == 404


def test_headers_of_answers(member: Fixed) -> None:
    app = build_application(member)
    http = TestClient(app.dispatcher)
    got = http.get("/schema-repo/s/latest", headers={"treaty-consistency": "eventual", "x-request-id": "r1"})
    assert (got.text, got.headers["treaty-position"], got.headers["x-request-id"]) == ('2\t"string"', str(TOKEN), "r1")
    assert "no-store" in got.headers["cache-control"]
    assert {call.consistency for call in member.calls} == {"eventual"}
    assert http.head("/schema-repo/s/latest").content == b""
    got = http.options("/schema-repo/s")
    assert (got.status_code, got.headers["allow"]) == (204, "GET, HEAD, OPTIONS, PUT")
    http.put("/schema-repo/s/register", content=b'"int"', headers={**TEXT, "treaty-command": "c9"})
    assert member.calls[-1].command_id == "c9"
    member.answers[g.GetOrdinal] = replace(VERSION, text='"' + "x" * GZIP_BYTES + '"')
    assert http.get("/schema-repo/s/latest").headers["content-encoding"] == "gzip"
    page = app.metrics.page().decode()
    assert 'route="/schema-repo/{}/latest",status="200"' in page.replace('method="GET",', "")
    assert app.cache.size == 0


def test_a_list_of_names_is_read_page_by_page(member: Fixed) -> None:
    pages = iter([("a", "b"), ("c",), ()])

    class Paged(Fixed):
        async def ask(self, request: Any, call: Any = None) -> Any:
            if isinstance(request, g.ListGroups):
                names = next(pages)
                groups = tuple(replace(GROUP, subject=name) for name in names)
                self.answers[g.ListGroups] = g.Groups(groups, names[-1] if names else request.after)
            return await super().ask(request, call)

    paged = Paged()
    assert TestClient(build_application(paged).dispatcher).get("/schema-repo").text == "a\nb\nc\n"
    assert [one.after for one in paged.asked if isinstance(one, g.ListGroups)] == ["", "b", "c"]
    assert [(call.consistency, call.after) for call in paged.calls] == [
        ("", None),
        ("eventual", TOKEN),
        ("eventual", TOKEN),
    ]


def test_every_endpoint_answers_from_a_member(member: Fixed) -> None:
    http = TestClient(build_application(member).dispatcher)
    for path, methods in TABLE.items():
        for method, route in methods.items():
            target = path.replace("{}", "s", 1).replace("{}", "2")
            content, headers = (
                (b"schema=%22int%22", FORM)
                if "application/x-www-form-urlencoded" in route.sent_as
                else (b'"int"', TEXT)
            )
            got = http.request(method, target, content=None if method == "GET" else content, headers=headers)
            assert got.status_code == 200, (method, target, got.text)
