"""Requests that cannot be right, and servers that cannot answer: each has its error. Pages of the operator."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import SCHEMA, TOKEN, Fixed
from treaty.api.application import build_application
from treaty.core import refusals as r
from treaty.core.limits import REQUEST_BYTES
from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.registration import Register
from treaty.wire.confluent.headers import V1

POSTED = {"schema": '"string"'}


@pytest.mark.parametrize(
    ("method", "target", "options", "code"),
    [
        ("GET", "/nothing", {}, 404),
        ("GET", "/subjects/s/versions/1/2/3", {}, 404),
        ("GET", "/schemas/ids/abc", {}, 404),
        ("GET", "/schemas/ids/1_0", {}, 404),
        ("GET", "/schemas/ids/99999999999", {}, 404),
        ("GET", "/subjects?offset=x", {}, 404),
        ("PATCH", "/subjects", {}, 405),
        ("PUT", "/subjects/s", {}, 405),
        ("POST", "/associations/resources/t", {}, 405),
        ("GET", "/subjects", {"headers": {"Accept": "text/html"}}, 406),
        ("POST", "/subjects/s", {"content": b"{}", "headers": {"Content-Type": "text/xml"}}, 415),
        ("POST", "/subjects/s", {}, 422),
        ("POST", "/subjects/s", {"content": b"null"}, 422),
        ("POST", "/subjects/s", {"content": b"{"}, 400),
        ("POST", "/subjects/s", {"content": b"[]"}, 400),
        ("POST", "/subjects/s", {"content": b'{"schema":5}'}, 400),
        ("POST", "/subjects/s", {"content": b'{"schema":"x","references":[5]}'}, 400),
        ("POST", "/subjects/s", {"content": b'{"schema":"\xff"}'}, 400),
        ("POST", "/subjects/s", {"content": b'{"schema":"\\ud800"}'}, 400),
        ("POST", "/subjects/s", {"content": b'{"a":' * 100_000}, 400),
        ("POST", "/subjects/s", {"content": b"[" * 100_000}, 400),
        ("POST", "/subjects/s", {"content": b'{"version":1e400}'}, 400),
        ("POST", "/subjects/s", {"content": b" " * (REQUEST_BYTES + 1)}, 413),
        ("PUT", "/config", {"content": b'{"compatibility":{}}'}, 400),
        ("PUT", "/mode", {"content": b"{}"}, 42204),
        ("GET", "/subjects/%FF/versions", {}, 400),
        ("GET", "/contexts/a:b/subjects", {}, 400),
        ("GET", "/subjects/s/versions/0", {}, 42202),
        ("GET", "/subjects/s/versions/-2", {}, 42202),
        ("GET", "/subjects/s/versions/abc", {}, 42202),
        ("GET", "/subjects/s/versions/earliest", {}, 42202),
        ("GET", "/subjects/s/versions/2147483648", {}, 42202),
        ("GET", "/subjects/s/versions/١", {}, 42202),
        ("DELETE", "/subjects/s/versions/x", {}, 42202),
        ("POST", "/compatibility/subjects/s/versions/x", {"content": b"{}"}, 42202),
    ],
)  # fmt: skip
def test_what_cannot_be_right_has_its_error(
    http: TestClient, member: Fixed, method: str, target: str, options: dict[str, Any], code: int
) -> None:
    got = http.request(method, target, **options)
    assert got.json()["error_code"] == code
    assert got.status_code == (code if code < 1000 else code // 100)
    assert got.json()["message"]
    assert got.headers["content-type"] == V1
    assert member.asked == []


def test_generic_errors_say_what_the_original_says(http: TestClient) -> None:
    assert http.get("/nothing").json() == {"error_code": 404, "message": "HTTP 404 Not Found"}
    refused = http.patch("/subjects/s")
    assert refused.json() == {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}
    assert refused.headers["allow"] == "DELETE, OPTIONS, POST"
    assert http.get("/subjects/s/versions/abc").json()["message"] == (
        "The specified version 'abc' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "
        '"latest"'
    )


def test_not_now_says_when_to_come_again(http: TestClient, member: Fixed) -> None:
    member.answers[ListSubjects] = r.Unavailable("the log cannot be reached", 2.5)
    got = http.get("/subjects")
    assert (got.status_code, got.json()["error_code"], got.headers["retry-after"]) == (503, 503, "3")


def test_an_unknown_outcome_names_the_command(http: TestClient, member: Fixed) -> None:
    member.answers[Register] = r.OutcomeUnknown("c77")
    got = http.post("/subjects/s/versions", json=POSTED)
    assert (got.status_code, got.headers["treaty-command"]) == (504, "c77")
    assert got.json()["treaty"]["command"] == "c77"


def test_an_unhandled_exception_is_500_and_logged(
    http: TestClient, member: Fixed, caplog: pytest.LogCaptureFixture
) -> None:
    member.answers[ListSubjects] = ZeroDivisionError("secret")
    got = http.get("/subjects")
    assert got.status_code == 500
    assert got.json() == {"error_code": 500, "message": "Internal Server Error"}
    assert "unhandled exception in GET /subjects" in caplog.text
    assert "secret" in caplog.text


def test_a_host_that_is_none_and_a_path_with_line_ends_do_no_harm(
    http: TestClient, member: Fixed, caplog: pytest.LogCaptureFixture
) -> None:
    assert http.get("/nothing", headers={"Host": "["}).status_code == 404
    assert http.get("/subjects", headers={"Host": "["}).status_code == 200
    member.answers[ListVersions] = ZeroDivisionError()
    assert http.get("/subjects/a%0AERROR forged/versions", headers={"Host": "["}).status_code == 500
    assert "a%0AERROR%20forged" in caplog.text


def test_too_many_requests_at_once_are_told_to_come_again(member: Fixed) -> None:
    app = build_application(member)
    app.metrics.in_flight = 10_000
    got = TestClient(app.dispatcher).get("/subjects")
    assert (got.status_code, got.headers["retry-after"]) == (503, "1")
    assert TestClient(app.dispatcher).get("/healthz").status_code == 200


# --------------------------------------------------------------------------------------------------------- operations


def test_pages_of_the_operator(http: TestClient, member: Fixed) -> None:
    assert http.get("/healthz").json() == {"status": "ok"}
    assert http.get("/readyz").json() == {"status": "ready", "sequence": TOKEN.sequence}
    status = http.get("/status").json()
    assert status["node"] == {"sequence": 5}
    assert status["limits"]["request_bytes"] == REQUEST_BYTES
    assert http.post("/status").status_code == 405
    assert http.get("/readyz/writes").json() == {"status": "ready", "sequence": TOKEN.sequence}
    member.halted = "the disk is full"
    only_reads = {"status": "read-only", "reason": "the disk is full", "sequence": TOKEN.sequence}
    for page, status in (("/readyz", 200), ("/readyz/writes", 503)):
        assert (http.get(page).status_code, http.get(page).json()) == (status, only_reads)
    member.answers[ListContexts] = r.Unavailable("no log")
    for page in ("/readyz", "/readyz/writes"):
        assert http.get(page).status_code == 503
        assert http.get(page).json() == {"status": "not ready", "reason": "no log"}


def test_requests_are_counted_by_route_and_status(http: TestClient) -> None:
    http.get("/schemas/ids/7")
    http.get("/schemas/ids/8")
    http.get("/nowhere/at/all")
    page = http.get("/metrics").text
    assert 'treaty_http_requests_total{method="GET",route="/schemas/ids/{}",status="200"} 2.0' in page
    assert 'treaty_http_requests_total{method="GET",route="other",status="404"} 1.0' in page
    assert 'treaty_http_request_duration_seconds_count{route="/schemas/ids/{}"} 2.0' in page
    assert SCHEMA.guid not in page
