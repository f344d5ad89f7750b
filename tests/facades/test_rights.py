"""Rights through HTTP: every permission allowed and refused, lists filtered, nothing leaked by ids, names or reasons."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import ROOT, STRING, Door, basic, door, play
from treaty.api.confluent.routes import TABLE
from treaty.api.protection import ProtectionSettings
from treaty.api.request_scope import RequestCaller, set_caller
from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.schemas import GetSchema
from treaty.core.refusals import Unauthenticated

ASKED: dict[str, list[tuple[str, str, Any]]] = {
    "read": [
        ("GET", "/subjects/{}/versions", None),
        ("GET", "/subjects/{}/versions/1", None),
        ("GET", "/subjects/{}/versions/latest/schema", None),
        ("GET", "/subjects/{}/versions/1/referencedby", None),
        ("GET", "/subjects/{}/metadata?key=a&value=b", None),
        ("POST", "/subjects/{}", {"schema": STRING}),
        ("POST", "/compatibility/subjects/{}/versions/latest", {"schema": STRING}),
        ("GET", "/config/{}?defaultToGlobal=true", None),
        ("GET", "/mode/{}?defaultToGlobal=true", None),
    ],
    "register": [("POST", "/subjects/{}/versions", {"schema": STRING})],
    "config": [("PUT", "/config/{}", {"compatibility": "FULL"}), ("DELETE", "/config/{}", None)],
    "mode": [("PUT", "/mode/{}", {"mode": "READONLY"}), ("DELETE", "/mode/{}", None)],
    "delete": [("DELETE", "/subjects/{}/versions/1", None), ("DELETE", "/subjects/{}", None)],
}
HOLDERS = {
    "reader": {"read"},
    "writer": {"read", "register"},
    "deleter": {"delete"},
    "configurer": {"config"},
    "moder": {"mode"},
    "chief": set(ASKED),
    "nobody": set(),
}


def test_every_permission_is_asked_for_and_none_gives_more_than_it_says(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for subject in ("open-a", "shut-a", ":.team:open-a"):
            await it.put(subject, STRING, ROOT)
        for user, held in HOLDERS.items():
            for wanted, requests in ASKED.items():
                for method, path, body in requests:
                    own = (
                        {"/config": "config", "/mode": "mode"}.get(path[: path.rindex("/")], "")
                        if method == "GET"
                        else ""
                    )
                    expected = wanted in held or (own != "" and own in held)
                    code = await it.code(method, path.format("open-a"), basic(user), body)
                    assert (code == 40301) is not expected, (user, method, path, code)
                    assert code in {200, 40301, 40401, 40403, 40404, 40406, 40402}, (user, method, path, code)
                    for other in ("shut-a", ":.team:open-a", ":.other:open-a"):
                        told = await it.code(method, path.format(other), basic(user), body)
                        assert told == 40301, (user, method, path.format(other))
                if wanted in held:  # as it was
                    await it.code("DELETE", "/mode/open-a", ROOT)
                    await it.put("open-a", STRING, ROOT)

    play(tmp_path, story)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/config", {"compatibility": "FULL"}),
        ("PUT", "/config/:.__GLOBAL:", {"compatibility": "FULL"}),
        ("PUT", "/mode", {"mode": "READONLY"}),
        ("PUT", "/mode/:.team:", {"mode": "READONLY"}),
        ("DELETE", "/config", None),
        ("DELETE", "/mode?recursive=true", None),
        ("DELETE", "/contexts/.none", None),
    ],
)
def test_settings_above_subjects_and_contexts_need_all_of_them(
    tmp_path: Path, method: str, path: str, body: object
) -> None:
    async def story(it: Door) -> None:
        for user in HOLDERS:
            assert await it.code(method, path, basic(user), body) == 40301, user
        assert await it.code(method, path, ROOT, body) in {200, 204}

    play(tmp_path, story)


def test_a_team_is_master_of_its_context_and_of_nothing_else(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        tim = basic("tim")
        assert await it.code("POST", "/contexts/team/subjects/x/versions", tim, {"schema": STRING}) == 200
        assert await it.code("PUT", "/contexts/team/config", tim, {"compatibility": "NONE"}) == 200
        assert await it.code("PUT", "/contexts/team/mode", tim, {"mode": "READONLY"}) == 200
        assert await it.code("PUT", "/contexts/teams/config", tim, {"compatibility": "NONE"}) == 40301
        assert await it.code("POST", "/subjects/x/versions", tim, {"schema": STRING}) == 40301
        assert await it.code("DELETE", "/contexts/team", tim) == 40301
        assert await it.ask("GET", "/contexts", tim) == (200, [".", ".team"])
        assert await it.ask("GET", "/contexts", basic("reader")) == (200, ["."])

    play(tmp_path, story)


def test_lists_show_what_may_be_read_page_by_page(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for subject in ("aaa", "open-a", "open-b", "open-c", "zzz", ":.team:open-t"):
            await it.put(subject, STRING, ROOT)
        reader = basic("reader")
        assert await it.ask("GET", "/subjects", reader) == (200, ["open-a", "open-b", "open-c"])
        assert await it.ask("GET", "/subjects?offset=1&limit=1", reader) == (200, ["open-b"])
        assert await it.ask("GET", "/subjects?subjectPrefix=:.team:", reader) == (200, [])
        _, listed = await it.ask("GET", "/schemas?offset=1&limit=1", reader)
        assert [one["subject"] for one in listed] == ["open-b"]
        _, listed = await it.ask("GET", "/schemas?subjectPrefix=:*:", reader)
        assert [one["subject"] for one in listed] == ["open-a", "open-b", "open-c"]
        assert await it.ask("GET", "/schemas/ids/1/subjects", reader) == (200, ["open-a", "open-b", "open-c"])
        _, uses = await it.ask("GET", "/schemas/ids/1/versions", reader)
        assert [one["subject"] for one in uses] == ["open-a", "open-b", "open-c"]
        _, found = await it.ask("GET", "/schemas/ids/1", reader)
        assert found["subject"] == "open-a", "the first use in all is aaa"
        _, guids = await it.ask("GET", f"/schemas/guids/{found['guid']}/ids", reader)
        assert guids == [{"context": ".", "id": 1}]
        assert await it.code("GET", "/subjects", basic("nobody")) == 40301

    play(tmp_path, story)


@pytest.mark.parametrize("who", [{}, basic("reader", "wrong"), basic("stranger")], ids=["none", "wrong", "unknown"])
def test_nothing_is_told_to_who_does_not_come_in(tmp_path: Path, who: Mapping[str, str]) -> None:
    async def story(it: Door) -> None:
        for path, methods in TABLE.items():
            for method in methods:
                answer = await it.http.request(method, path.replace("{}", "1"), headers=dict(who))
                assert answer.status_code == 401, (method, path)
                assert answer.json()["error_code"] == 40101
                assert answer.headers["www-authenticate"] == 'Basic realm="Treaty", charset="UTF-8"'
                assert answer.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
        for path in ("/nowhere", "/metrics", "/status"):
            assert await it.code("GET", path, who) == 40101
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            assert (await it.http.get(path, headers=dict(who))).status_code == 200

    play(tmp_path, story)


def test_pages_of_the_operator(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        assert await it.code("GET", "/status", basic("chief")) == 40301
        assert await it.code("GET", "/status", ROOT) == 200

    play(tmp_path, story)


@pytest.mark.parametrize(
    ("table", "allowed"),
    [
        ("", {"root", "reader", "tim"}),
        ('[metrics]\nwho = "user:reader"\n', {"root", "reader"}),
        ('[metrics]\nwho = ["group:team", "user:nob*"]\n', {"root", "tim", "nobody"}),
        ('[metrics]\nwho = "anonymous"\n', {"root", "reader", "tim", "nobody", "anonymous"}),
    ],
)
def test_who_reads_the_metrics(tmp_path: Path, table: str, allowed: set[str]) -> None:
    """Without a table whoever has any right; with one, those it names and the operator."""

    async def story(it: Door) -> None:
        codes = {name: await metrics(it, basic(name)) for name in ("root", "reader", "tim", "nobody")}
        codes["anonymous"] = await metrics(it, {})
        assert {name for name, code in codes.items() if code == 200} == allowed
        assert set(codes.values()) <= {200, 403}

    async def metrics(it: Door, who: dict[str, str]) -> int:
        return (await it.http.get("/metrics", headers=who)).status_code

    play(tmp_path, story, extra="anonymous = true\n" + table)


def test_refusals_take_the_asked_media_type(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for who in ({}, basic("nobody")):
            answer = await it.http.get("/subjects", headers={**who, "Accept": "application/json"})
            assert answer.status_code == (403 if who else 401)
            assert answer.headers["content-type"] == "application/json"

    play(tmp_path, story)


ANONYMOUS = 'anonymous = true\n[[rule]]\nwho = ["anonymous"]\nmay = ["read"]\nsubjects = ["open-*"]\n'


def test_anonymous_reads_where_it_is_allowed_and_wrong_credentials_are_not_anonymous(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for subject in ("open-a", "shut-a"):
            await it.put(subject, STRING, ROOT)
        assert await it.ask("GET", "/subjects") == (200, ["open-a"])
        assert await it.code("GET", "/subjects/shut-a/versions/1") == 40301
        assert await it.code("POST", "/subjects/open-a/versions", None, {"schema": STRING}) == 40301
        assert await it.ask("GET", "/subjects", basic("nobody")) == (200, ["open-a"]), "what anybody may, all may"
        assert await it.code("GET", "/subjects", basic("nobody", "wrong")) == 40101
        assert await it.code("GET", "/subjects", {"Authorization": "Bearer x"}) == 40101

    play(tmp_path, story, ANONYMOUS)


def test_a_server_that_only_reads_refuses_every_change(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        for requests in ASKED.values():
            for method, path, body in requests:
                code = await it.code(method, path.format("s"), None, body)
                writes = method in {"PUT", "DELETE"} or (
                    path.endswith("/versions") and method == "POST" and "compat" not in path
                )
                assert (code == 42205) is writes, (method, path, code)
        status, told = await it.ask("DELETE", "/contexts/.x")
        assert (status, told["message"]) == (422, "This server is read-only: it was started with --read-only")

    async def run() -> None:
        async with door(ProtectionSettings(read_only=True)) as opened_:
            await story(opened_)

    asyncio.run(run())


def test_without_any_protection_nothing_stands_in_the_way() -> None:
    async def run() -> None:
        async with door(ProtectionSettings()) as it:
            assert it.app.protection is None
            assert it.app.dispatcher.authenticate is None
            assert it.app.cache.digest_key == b""
            assert it.app.dispatcher.dialect.registry is it.app.node  # type: ignore[attr-defined]  # a dialect has one
            assert await it.code("GET", "/subjects") == 200

    asyncio.run(run())


def test_whoever_comes_past_the_gate_is_refused_at_the_door(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        registry = it.app.dispatcher.dialect.registry  # type: ignore[attr-defined]  # a dialect has one
        for request in (ListSubjects(), GetSchema(1), ListContexts()):
            with pytest.raises(Unauthenticated):
                await registry.ask(request)
            set_caller(RequestCaller("user:root"))
            with pytest.raises(Unauthenticated):
                await registry.ask(request)
            set_caller(None)

    play(tmp_path, story)


SAYS_NOTHING = {"/", "/schemas/types", "/v1/metadata/id", "/v1/metadata/version", "/v1/metadata/deployment"}
"""Routes that tell the same to everybody, whatever the registry holds."""


def test_who_has_no_rights_comes_in_and_gets_nowhere(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        guid = "ec7e7a4f-3a77-4fdc-8b0b-6b2f7a2ec7d1"
        body = {"schema": STRING, "compatibility": "FULL", "mode": "READONLY"}
        for path, methods in TABLE.items():
            for method in methods:
                target = path.replace("guids/{}", f"guids/{guid}").replace("{}", "1")
                code = await it.code(method, target, basic("nobody"), body if method in {"POST", "PUT"} else None)
                assert code == (200 if path in SAYS_NOTHING else 40301), (method, path)

    play(tmp_path, story)
