"""The conversation with a registry over HTTP, through both drivers, with a real server that answers by a script."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.behaviours.scripted import Hang, Say, Seen, scripted
from tests.servers.ports import free_port
from treaty.client.async_http_registry import AsyncHttpRegistry
from treaty.client.http_registry import HttpRegistry
from treaty.client.properties import settings_of
from treaty.client.settings import ClientSettings
from treaty.core.messages.listings import ListSchemas, ListSubjects
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import DeleteVersion, GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import (
    AlreadyDeleted,
    Incompatible,
    NotOffered,
    OutcomeUnknown,
    Refusal,
    SchemaNotFound,
    SubjectNotFound,
    Unavailable,
    VersionNotFound,
)
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft
from treaty.core.state.commit import PositionToken

Ask = Callable[..., Reply[Any]]

FOUND = Say(200, {"schema": '"int"', "guid": "g", "subject": "s", "version": 3})
REGISTERED = Say(200, {"id": 7, "version": 1, "guid": "g", "schema": '"int"'})
S = Subject(".", "s")
INT = Draft('"int"')


def _ask_in_loop(request: Request[Any], settings: ClientSettings, call: CallOptions = CALL) -> Reply[Any]:
    async def once() -> Reply[Any]:
        registry = AsyncHttpRegistry(settings)
        try:
            return await registry.ask(request, call)
        finally:
            await registry.close()

    return asyncio.run(once())


def _ask(request: Request[Any], settings: ClientSettings, call: CallOptions = CALL) -> Reply[Any]:
    registry = HttpRegistry(settings)
    try:
        return registry.ask(request, call)
    finally:
        registry.close()


@pytest.fixture(params=[_ask, _ask_in_loop], ids=["sync", "asyncio"])
def ask(request: pytest.FixtureRequest) -> Ask:
    found: Ask = request.param
    return found


def quick(url: str) -> ClientSettings:
    return replace(settings_of(url), pause=0.001, max_pause=0.01, rounds=3, attempt_timeout=5.0)


def test_an_answer_comes_with_its_token(ask: Ask) -> None:
    with scripted(replace(FOUND, headers=(("treaty-position", "aa.5.bb"),))) as server:
        reply = ask(GetSchema(7), quick(server.url))
    assert reply.token == PositionToken("aa", 5, "bb")
    assert (reply.answer.schema_id, reply.answer.text, reply.answer.number) == (7, '"int"', 3)
    assert server.seen[0].target == "/schemas/ids/7"


def test_how_a_call_is_made_travels_in_headers(ask: Ask) -> None:
    with scripted(FOUND) as server:
        ask(GetSchema(7), quick(server.url), CallOptions(consistency="latest", after=PositionToken("aa", 5, "bb")))
    headers = server.seen[0].headers
    assert headers["treaty-consistency"] == "latest"
    assert headers["treaty-position"] == "aa.5.bb"
    assert "treaty-command" not in headers


def test_user_and_password_of_the_url_are_sent_and_never_told(ask: Ask) -> None:
    with scripted(FOUND, Say(500)) as server:
        settings = quick(server.url.replace("//", "//me:se%20cret@"))
        ask(GetSchema(7), settings)
        with pytest.raises(Unavailable) as caught:
            ask(GetSchema(7), settings)
    assert server.seen[0].headers["authorization"] == "Basic bWU6c2UgY3JldA=="
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (40401, SubjectNotFound),
        (40402, VersionNotFound),
        (40403, SchemaNotFound),
        (40901, Incompatible),
        (409, Incompatible),
    ],
)
def test_a_refusal_is_raised_at_once(ask: Ask, code: int, kind: type[Refusal]) -> None:
    with scripted(Say(int(str(code)[:3]), {"error_code": code, "message": "no"})) as server, pytest.raises(kind):
        ask(GetVersion(S, 1), quick(server.url))
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "failure",
    [
        Say(500, {"error_code": 50001, "message": "store"}),
        Say(502, b"<html>bad gateway</html>"),
        Say(503, {"error_code": 503, "message": "starting"}, (("Retry-After", "0"),)),
        Say(429, b""),
        Say(200, b"<html>please log in</html>"),
        Say(200, b"\xff\xfe"),
        Say(200, {"schema": 7}),
        Hang(),
    ],
    ids=str,
)
def test_what_is_no_answer_of_a_registry_is_tried_again_and_then_unavailable(ask: Ask, failure: Say | Hang) -> None:
    with scripted(failure, FOUND) as server:
        assert ask(GetSchema(7), quick(server.url)).answer.text == '"int"'
        assert len(server.seen) == 2
    with scripted(failure) as server, pytest.raises(Unavailable):
        ask(GetSchema(7), quick(server.url))
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    "absent",
    [
        Say(404, b"<html>nothing here</html>"),
        Say(404, "Not Found"),
        Say(404, {"detail": "Not Found"}),
        Say(404, {"error_code": 404, "message": "HTTP 404 Not Found"}),
        Say(405, "Method Not Allowed"),
        Say(405, {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}),
        Say(501, b""),
    ],
    ids=str,
)
def test_an_operation_that_nobody_offers_is_asked_for_once_at_each_node(ask: Ask, absent: Say) -> None:
    with scripted(absent) as one, scripted(absent) as two:
        with pytest.raises(NotOffered, match=one.url):
            ask(GetSchema(7), quick(f"{one.url},{two.url}"))
        with pytest.raises(NotOffered):
            ask(Register(S, INT), quick(one.url))
        assert (len(one.seen), len(two.seen)) == (2, 1)
    with scripted(absent) as one, scripted(FOUND) as two:
        assert ask(GetSchema(7), quick(f"{one.url},{two.url}")).answer.text == '"int"'


@pytest.mark.parametrize("status", [401, 403, 407, 418])
def test_a_no_of_somebody_else_is_not_asked_again(ask: Ask, status: int) -> None:
    with scripted(Say(status, b"who are you?")) as server, pytest.raises(Unavailable, match=str(status)):
        ask(GetSchema(7), quick(server.url))
    assert len(server.seen) == 1


def test_a_server_that_is_not_there_is_unavailable(ask: Ask) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(Unavailable, match=url):
        ask(GetSchema(7), quick(url))
    with pytest.raises(Unavailable):
        ask(Register(S, INT), quick(url))


def test_the_next_node_is_asked_where_one_is_gone(ask: Ask) -> None:
    with scripted(FOUND) as server:
        reply = ask(GetSchema(7), quick(f"http://127.0.0.1:{free_port()}/,{server.url}/base/"))
    assert reply.answer.text == '"int"'
    assert server.seen[0].target == "/base/schemas/ids/7"


def test_a_command_that_is_sent_again_is_the_same_command(ask: Ask) -> None:
    with scripted(Hang(), Say(504, b""), REGISTERED) as server:
        assert ask(Register(S, INT), quick(server.url)).answer.version.schema_id == 7
    ids = {seen.headers["treaty-command"] for seen in server.seen}
    assert len(server.seen) == 3
    assert len(ids) == 1
    assert all(len(each) == 32 for each in ids)


def test_a_given_command_id_is_kept(ask: Ask) -> None:
    with scripted(REGISTERED) as server:
        ask(Register(S, INT), quick(server.url), CallOptions(command_id="mine"))
    assert server.seen[0].headers["treaty-command"] == "mine"


@pytest.mark.parametrize(
    "failure",
    [
        Hang(),
        Say(500, b""),
        Say(200, b"<html>"),
        Say(504, {"error_code": 504, "message": "?", "treaty": {"command": "mine"}}),
    ],
    ids=str,
)
def test_a_command_that_may_have_been_done_is_unknown_and_a_query_is_not(ask: Ask, failure: Say | Hang) -> None:
    with scripted(failure, Say(503, {"error_code": 503, "message": "busy"})) as server:
        with pytest.raises(OutcomeUnknown) as caught:
            ask(Register(S, INT), quick(server.url), CallOptions(command_id="mine"))
        assert caught.value.command_id == "mine"
        with pytest.raises(Unavailable):
            ask(ListSubjects(), quick(server.url))


def test_a_busy_registry_has_written_nothing(ask: Ask) -> None:
    with scripted(Say(503, {"error_code": 503, "message": "busy"})) as server, pytest.raises(Unavailable):
        ask(Register(S, INT), quick(server.url))
    assert len(server.seen) == 3


def test_a_refusal_after_a_lost_answer_counts_only_where_commands_are_remembered(ask: Ask) -> None:
    gone = {"error_code": 40406, "message": "soft deleted"}
    with scripted(Hang(), Say(404, gone)) as server, pytest.raises(OutcomeUnknown):
        ask(DeleteVersion(S, 1), quick(server.url))
    with scripted(Hang(), Say(404, gone, (("Treaty-Position", "aa.5.bb"),))) as server, pytest.raises(AlreadyDeleted):
        ask(DeleteVersion(S, 1), quick(server.url))


def test_a_command_that_may_still_wait_somewhere_is_not_refused_for_good(ask: Ask) -> None:
    over = threading.Event()

    def late(_: Seen) -> Hang:
        over.wait(10)
        return Hang()

    gone = Say(404, {"error_code": 40406, "message": "soft deleted"}, (("Treaty-Position", "aa.5.bb"),))
    with scripted(late, gone) as server:
        with pytest.raises(OutcomeUnknown) as raised:
            ask(DeleteVersion(S, 1), replace(quick(server.url), attempt_timeout=0.2))
        assert "the retry was refused: soft deleted" in str(raised.value.__cause__)
        over.set()
    over.clear()
    with scripted(late, gone) as server:  # a question may be asked as often as one likes
        with pytest.raises(Refusal):
            ask(GetVersion(S, 1), replace(quick(server.url), attempt_timeout=0.2))
        over.set()


def test_redirects_stay_within_the_host(ask: Ask) -> None:
    with scripted(Say(307, b"", (("Location", "/there/schemas/ids/7"),)), FOUND) as server:
        assert ask(GetSchema(7), quick(server.url)).answer.text == '"int"'
        assert [seen.target for seen in server.seen] == ["/schemas/ids/7", "/there/schemas/ids/7"]
    with scripted(FOUND) as other, scripted(Say(307, b"", (("Location", f"{other.url}/schemas/ids/7"),))) as server:
        with pytest.raises(Unavailable, match="307"):
            ask(GetSchema(7), quick(server.url))
        assert not other.seen
    with scripted(Say(302, b"", (("Location", "/there"),))) as server, pytest.raises(Unavailable):
        ask(Register(S, INT), quick(server.url))
    assert [seen.method for seen in server.seen] == ["POST"]


def test_redirects_in_a_circle_end(ask: Ask) -> None:
    def next_door(seen: Seen) -> Say:
        return Say(307, b"", (("Location", f"{seen.target}x"),))

    with scripted(next_door) as server, pytest.raises(Unavailable):
        ask(GetSchema(7), quick(server.url))
    assert len(server.seen) == 9


def test_a_server_that_never_answers_is_given_up(ask: Ask) -> None:
    over = threading.Event()

    def wait(_: Seen) -> Say:
        over.wait(30)
        return FOUND

    with scripted(wait) as server:
        try:
            with pytest.raises(Unavailable):
                ask(GetSchema(7), quick(server.url), CallOptions(timeout=0.2))
            with pytest.raises(OutcomeUnknown):
                ask(Register(S, INT), quick(server.url), CallOptions(timeout=0.2))
        finally:
            over.set()


def test_an_answer_past_the_limit_is_not_read(ask: Ask) -> None:
    with scripted(Say(200, b"[" + b" " * 5000 + b"]")) as server, pytest.raises(Unavailable, match="more than 4000"):
        ask(ListSubjects(), replace(quick(server.url), answer_bytes=4000))


def test_connections_are_kept_open_and_not_reused_half_read() -> None:
    long = Say(200, b"[" + b" " * 500_000 + b"]")
    with scripted(FOUND, FOUND, long, FOUND, FOUND) as server:
        registry = HttpRegistry(replace(quick(server.url), answer_bytes=4000, rounds=1))
        for _ in range(2):
            assert registry.ask(GetSchema(7)).answer.text == '"int"'
        with pytest.raises(Unavailable):
            registry.ask(ListSubjects())
        for _ in range(2):
            assert registry.ask(GetSchema(7)).answer.text == '"int"'
        registry.close()
    assert len({seen.peer for seen in server.seen}) == 2


def test_a_long_list_is_asked_for_in_pages(ask: Ask) -> None:
    def page(seen: Seen) -> Say:
        members = dict(part.split("=") for part in seen.target.split("?")[1].split("&"))
        start, size = int(members.get("offset", "0")), int(members["limit"])
        listed = [{"subject": f"s{n}", "version": 1} for n in range(start, min(start + size, 2500))]
        return Say(200, listed, (("Treaty-Position", "aa.5.bb"),))

    with scripted(page) as server:
        found = ask(ListSchemas(limit=10_000), quick(server.url)).answer.versions
        assert [each.subject for each in found] == [f"s{n}" for n in range(2500)]
        assert len(server.seen) == 3
        assert server.seen[1].headers["treaty-position"] == "aa.5.bb"
        assert len(ask(ListSchemas(offset=10, limit=1200), quick(server.url)).answer.versions) == 1200


@pytest.mark.parametrize("url", ["", "localhost:8081", "ftp://host", "http://", "http://host?x=1", " , "])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="http"):
        settings_of(url)
