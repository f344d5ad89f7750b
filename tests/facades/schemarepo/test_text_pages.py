"""`/status` and `/config` for those who read text, and unchanged for all others."""

import asyncio
from pathlib import Path

from starlette.testclient import TestClient

from tests.facades.doors import ROOT, USERS, Door, basic, play
from tests.facades.twin import Fixed
from treaty.api.application import build_application
from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.settings import Config, ConfigStored, GetConfig
from treaty.core.refusals import Unavailable
from treaty.wire.schemarepo.properties import read_properties

PLAIN = {"accept": "text/plain"}


def test_the_status_begins_with_ok_while_the_log_is_there(http: TestClient, member: Fixed) -> None:
    for accept in ("text/plain", "text/plain, */*"):
        got = http.get("/status", headers={"accept": accept})
        assert (got.status_code, got.text) == (200, "OK : treaty")
        assert got.headers["content-type"] == "text/plain; charset=utf-8"
    assert http.head("/status", headers=PLAIN).status_code == 200
    assert http.post("/status", headers=PLAIN).status_code == 405
    for accept in ("*/*", "application/json", "text/plain, application/json", "text/html, image/gif, */*; q=.2"):
        assert http.get("/status", headers={"accept": accept}).json()["server"], accept
    member.answers[ListContexts] = Unavailable("a secret place is away")
    got = http.get("/status", headers=PLAIN)
    assert (got.status_code, got.text) == (503, "not ready: the log is not reachable")


def test_the_configuration_is_properties(http: TestClient, member: Fixed) -> None:
    member.answers[GetConfig] = ConfigStored(Config(level="FULL", validators=("A", "B")))
    got = http.get("/config", headers=PLAIN)
    assert (got.status_code, got.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    found = read_properties(got.text)
    assert found["schema-repo.class"] == "treaty"
    assert found["schema-repo.validation.default.validators"] == "A,B"
    assert found["treaty.compatibility"] == "FULL"
    assert "treaty.limits.schema_bytes" not in found
    assert (
        read_properties(http.get("/config?includeDefaults=true", headers=PLAIN).text)["treaty.limits.schema_bytes"]
        == "1048576"
    )
    for headers in ({}, {"accept": "text/plain, application/json"}):
        assert http.get("/config", headers=headers).json() == {"compatibilityLevel": "FULL", "validators": ["A", "B"]}
    assert http.get("/config/s", headers=PLAIN).status_code == 406
    assert http.put("/config", json={"compatibility": "FULL"}, headers=PLAIN).status_code == 406


def test_the_status_needs_no_credentials_and_the_configuration_the_right(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for who in ({}, basic("nobody"), basic("root", "wrong")):
            got = await it.http.get("/status", headers={**PLAIN, **who})
            assert (got.status_code, got.text) == (200, "OK : treaty")
        assert (await it.http.get("/status", headers={"accept": "*/*"})).status_code == 401
        assert (await it.http.get("/status", headers={"accept": "*/*", **basic("reader")})).status_code == 403
        for name in USERS:
            got = await it.http.get("/config", headers={**PLAIN, **basic(name)})
            assert got.status_code == (200 if name == "root" else 403), name
            assert got.headers["content-type"] == "text/plain; charset=utf-8"
            assert "error_code" not in got.text
        got = await it.http.get("/config", headers=PLAIN)
        assert (got.status_code, got.text.splitlines()[0]) == (401, "Unauthorized: the request has no credentials")
        assert got.headers["www-authenticate"]
        assert (await it.http.get("/config", headers=ROOT)).json() == {"compatibilityLevel": "BACKWARD"}

    play(tmp_path, story)


def test_answers_as_text_are_not_given_to_others(member: Fixed) -> None:
    app = build_application(member)
    http = TestClient(app.dispatcher)
    for accept in ("text/plain", "*/*", "text/plain", "*/*"):
        got = http.get("/config", headers={"accept": accept})
        assert got.text.startswith("#") is (accept == "text/plain")
    assert app.cache.size == 0
    asyncio.run(member.close())
