"""Who a client says it is: passwords, tokens, tokens that change; and that nobody is ever told a secret."""

import asyncio
import base64
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.behaviours.drivers import Door, Plain, Waiting
from tests.behaviours.scripted import Hang, Say, Seen, scripted
from treaty.client.async_http_registry import AsyncHttpRegistry
from treaty.client.credentials import Credentials, basic, bearer, bearer_file, bearer_from, oauth
from treaty.client.effects import (
    CallProvider,
    Conversation,
    EffectResult,
    Headers,
    RunExclusively,
    SendRequest,
    TokenCache,
)
from treaty.client.http_registry import HttpRegistry
from treaty.client.properties import settings_of
from treaty.client.settings import ClientSettings
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import OutcomeUnknown, Unauthenticated, Unavailable
from treaty.core.schema import Draft
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import answer_bytes

FOUND = Say(200, {"schema": '"int"', "guid": "g", "subject": "s", "version": 3})
WHO = Say(401, {"error_code": 40101, "message": "Unauthorized"})
REGISTER = Register(Subject(".", "s"), Draft('"int"'))


def quick(url: str, credentials: Credentials | None = None) -> ClientSettings:
    return replace(settings_of(url), pause=0.001, max_pause=0.01, rounds=2, credentials=credentials)


def said(server: Any) -> list[str]:
    return [seen.headers.get("authorization", "") for seen in server.seen]


@pytest.mark.parametrize(
    ("credentials", "word"),
    [
        (basic("me", "se cret:ü"), "Basic " + base64.b64encode("me:se cret:ü".encode()).decode()),
        (bearer("a.b-c"), "Bearer a.b-c"),
        (bearer_from(lambda: "from-a-function"), "Bearer from-a-function"),
    ],
    ids=["basic", "bearer", "function"],
)
def test_credentials_go_with_every_request(door: Door, credentials: Credentials, word: str) -> None:
    with scripted(FOUND) as server:
        client = door(quick(server.url, credentials))
        client.ask()
        client.ask()
    assert said(server) == [word, word]


def test_a_token_in_a_file_is_read_again_when_it_changes(door: Door, tmp_path: Path) -> None:
    place = tmp_path / "token"
    place.write_text("one\n")
    with scripted(FOUND) as server:
        client = door(quick(server.url, bearer_file(place)))
        client.ask()
        fresh = tmp_path / "fresh"  # as Kubernetes does it: another file under the same name
        fresh.write_text("two")
        fresh.replace(place)
        client.ask()
        place.write_text("longer")
        client.ask()
        place.unlink()
        with pytest.raises(Unavailable, match="token can't be read from"):
            client.ask()
    assert said(server) == ["Bearer one", "Bearer two", "Bearer longer"]


def test_a_refused_token_is_had_anew_once(door: Door, tmp_path: Path) -> None:
    place = tmp_path / "token"
    place.write_text("old")
    then = place.stat()

    def renewed(_: Seen) -> Say:
        place.write_text("new")
        os.utime(place, ns=(then.st_atime_ns, then.st_mtime_ns))  # a clock too coarse to tell
        return WHO

    with scripted(renewed, FOUND) as server:
        door(quick(server.url, bearer_file(place))).ask()
    assert said(server) == ["Bearer old", "Bearer new"]
    with scripted(WHO) as server:
        client = door(quick(server.url, bearer_file(place)))
        with pytest.raises(Unauthenticated):
            client.ask()
    assert said(server) == ["Bearer new"]
    with scripted(WHO) as server:
        client = door(quick(server.url, basic("me", "wrong")))
        with pytest.raises(Unauthenticated):
            client.ask()
    assert len(server.seen) == 1


def test_a_write_that_was_refused_for_its_token_is_sent_again_as_the_same_command(door: Door) -> None:
    tokens = iter(["old", "new"])
    version = VersionFound("s", 1, 0, 7, "g", "AVRO", '"int"')
    with scripted(WHO, Say(200, answer_bytes(RegisteredVersion(version, created=True))), native=True) as server:
        door(quick(server.url, bearer_from(lambda: next(tokens)))).ask(REGISTER)
    assert said(server) == ["Bearer old", "Bearer new"]
    assert len({seen.headers["treaty-command"] for seen in server.seen}) == 1


def test_a_coroutine_function_gives_tokens_to_asyncio_programs() -> None:
    async def token() -> str:
        await asyncio.sleep(0)
        return "awaited"

    with scripted(FOUND) as server:
        client = Waiting(quick(server.url, bearer_from(token)))
        client.ask()
        client.close()
        assert said(server) == ["Bearer awaited"]
        plain = Plain(quick(server.url, bearer_from(token)))
        with pytest.raises(TypeError, match="asyncio"):
            plain.ask()
        plain.close()


# ---------------------------------------------------------------------------------------------------------- OAuth


def token(word: str, seconds: float | None = 3600) -> Say:
    told = {"access_token": word, "token_type": "Bearer", "scope": "x"}
    return Say(200, told | ({"expires_in": seconds} if seconds is not None else {}))


def test_a_token_is_asked_for_once_and_by_one_of_many(door: Door) -> None:
    def slowly(_: Seen) -> Say:
        threading.Event().wait(0.1)
        return token("t1")

    with scripted(FOUND) as server, scripted(slowly, token("t2")) as provider:
        client = door(
            quick(server.url, oauth(provider.url + "/token", "my id", "my/secret", "read write", audience="a"))
        )
        client.together(8)
        client.ask()
    assert said(server) == ["Bearer t1"] * 9
    (asked,) = provider.seen
    assert (asked.method, asked.target) == ("POST", "/token")
    assert asked.headers["authorization"] == "Basic " + base64.b64encode(b"my+id:my%2Fsecret").decode()
    assert parse_qs(asked.body.decode()) == {
        "grant_type": ["client_credentials"], "scope": ["read write"], "audience": ["a"],
    }  # fmt: skip


def test_a_revoked_token_is_asked_for_anew(door: Door) -> None:
    with scripted(FOUND, WHO, FOUND) as server, scripted(token("t1"), token("t2")) as provider:
        client = door(quick(server.url, oauth(provider.url + "/token", "id", "secret")))
        client.ask()
        client.ask()
    assert said(server) == ["Bearer t1", "Bearer t1", "Bearer t2"]


def test_a_provider_that_fails_is_asked_again_and_one_that_refuses_is_not(door: Door) -> None:
    with scripted(FOUND) as server:
        with scripted(Hang(), Say(503, b"busy"), token("t1")) as provider:
            door(quick(server.url, oauth(provider.url, "id", "hidden-secret"))).ask()
        assert said(server) == ["Bearer t1"]
        with scripted(Say(401, {"error": "invalid_client", "error_description": "who?"})) as provider:
            client = door(quick(server.url, oauth(provider.url, "id", "hidden-secret")))
            with pytest.raises(Unauthenticated, match="invalid_client who") as told:
                client.ask()
            assert len(provider.seen) == 1
            assert "hidden-secret" not in f"{told.value!r}{told.value.reason}"
        with scripted(Say(500, b"<html>")) as provider:
            client = door(quick(server.url, oauth(provider.url, "id", "hidden-secret")))
            with pytest.raises(Unavailable, match="status 500"):
                client.ask()
            assert len(provider.seen) == 3
    assert len(server.seen) == 1


def test_a_write_whose_answer_was_lost_stays_unknown_when_the_next_token_fails(door: Door) -> None:
    with scripted(Hang(), native=True) as server, scripted(token("t1", 0), Say(500, b"")) as provider:
        client = door(quick(server.url, oauth(provider.url, "id", "secret")))
        with pytest.raises(OutcomeUnknown):
            client.ask(REGISTER)
    assert len(server.seen) == 1


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def held(talk: Conversation[Headers], answers: list[HttpResponse]) -> Headers:
    """Hold a conversation about credentials; each request takes an answer from the list."""
    event: EffectResult = None
    try:
        while True:
            match talk.send(event):
                case SendRequest():
                    event = answers.pop(0)
                case RunExclusively(inner):
                    event = held(inner(), answers)
                case CallProvider(function):
                    event = function()  # type: ignore[assignment]  # no coroutine here
                case _:
                    event = None
    except StopIteration as done:
        found: Headers = done.value
        return found


def told(status: int, body: bytes) -> HttpResponse:
    return HttpResponse(status, lambda _: None, body)


def test_a_token_is_renewed_before_it_ends_and_used_until_then_where_that_fails() -> None:
    clock, purse = Clock(), TokenCache()
    credentials = oauth("http://127.0.0.1/token", "id", "secret")

    def now(seconds: float, *answers: HttpResponse) -> str:
        clock.now, left = seconds, list(answers)
        word = held(credentials.headers(purse, clock), left)["Authorization"]
        assert not left
        return word

    first = told(200, b'{"access_token": "t1", "expires_in": "100"}')
    assert now(0, first) == "Bearer t1"
    assert now(79) == "Bearer t1"
    down = [told(503, b"")] * 3
    assert now(81, *down) == "Bearer t1"
    assert now(81.5) == "Bearer t1"
    assert now(99, *down) == "Bearer t1"
    with pytest.raises(Unavailable):
        now(100.5, *down)
    assert now(101, told(200, b'{"access_token": "t2"}')) == "Bearer t2"
    assert now(339) == "Bearer t2"
    assert now(342, told(200, b'{"access_token": "t3"}')) == "Bearer t3"


# -------------------------------------------------------------------------------------------------------- secrets


def test_no_secret_is_ever_shown(tmp_path: Path) -> None:
    place = tmp_path / "token"
    place.write_text("hush-file")
    mapping = {"url": "http://h", "basic.auth.user.info": "me:hush-info"}
    shown = [
        settings_of("http://me:hush-url@127.0.0.1:1"),
        settings_of(mapping),
        replace(settings_of("http://h"), headers=(("X-Api-Key", "hush-header"),)),
        *(quick("http://h", each) for each in (basic("me", "hush-basic"), bearer("hush-bearer"), bearer_file(place))),
        quick("http://h", oauth("https://id.example/t?x=1", "id", "hush-oauth")),
        quick("http://h", bearer_from(lambda: "hush-function")),
    ]
    texts = [repr(each) + str(each) for each in shown]
    for settings in shown:
        registry = HttpRegistry(settings)
        texts.append(repr(registry))
        registry.close()
        texts.append(repr(AsyncHttpRegistry(settings)))
    purse = TokenCache()
    purse.headers = {"Authorization": "Bearer hush-purse"}
    texts += [repr(purse), repr(SendRequest("GET", "http://h", {"Authorization": "hush-send"}, b"hush-body", 1, 1))]
    assert not [text for text in texts if "hush" in text]
    assert "basic" in texts[0]
    assert str(place) in texts[5]


@pytest.mark.parametrize(
    "wrong",
    ["hush\n", "hush hush", "hush\r\nX-Other: 1", "hüsh", ""],
    ids=["line", "blank", "header", "umlaut", "empty"],
)
def test_what_can_be_no_token_is_refused_without_showing_it(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII") as refused:
        bearer(wrong)
    place = tmp_path / "token"
    place.write_text(f"a {wrong} b" if wrong else wrong)
    with pytest.raises(ValueError, match="printable ASCII") as in_file:
        held(bearer_file(place).headers(TokenCache(), Clock()), [])
    for one in (refused, in_file):
        assert "sh" not in str(one.value).replace("shows", "").replace("this one is not", "")


def test_a_password_is_never_in_what_goes_wrong(door: Door) -> None:
    with scripted(Say(500, b"")) as server:
        url = server.url.replace("//", "//me:hush@")
        client = door(quick(url, settings_of(url).credentials))
        with pytest.raises(Unavailable) as failed:
            client.ask()
    seen: BaseException | None = failed.value
    while seen is not None:
        assert "hush" not in repr(seen)
        seen = seen.__cause__ or seen.__context__
    with pytest.raises(ValueError, match="URL of a registry") as wrong:
        settings_of("ftp://me:hush@h")
    assert "hush" not in str(wrong.value)
