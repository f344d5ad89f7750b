"""What answers of any status, pauses and redirects mean to a client: tables of all of them."""

import time
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.behaviours.scripted import Hang, Say, scripted
from tests.laws.test_talk import said
from treaty.client.effects import Conversation, NoResponse, SendRequest, TokenCache
from treaty.client.protocol.delivery import (
    MAX_REDIRECTS,
    asked_pause,
    is_hopeless,
    may_be_done,
    run_within,
    send_authenticated,
)
from treaty.client.protocol.statements import ScriptRefusedError, StatementClient, UnknownOutcomeError, read_answer
from treaty.client.settings import settings_of_url
from treaty.core.refusals import NotOffered, RegistryError, Unavailable
from treaty.wire.http_response import HttpResponse
from treaty.wire.statements import StatementResultsBody

STATUSES = range(200, 600)

# -------------------------------------------------------------------------------------------------- pauses and outcomes


@pytest.mark.parametrize(
    ("text", "date", "seconds"),
    [
        ("2", "", 2.0),
        ("0", "", 0.0),
        (" 3 ", "", 3.0),
        ("120", "", 120.0),
        ("123456789", "", 123456789.0),
        ("1234567890123", "", 123456789.0),
        ("\u00b2", "", None),
        ("\u0663", "", None),
        ("-5", "", None),
        ("1.5", "", None),
        ("", "", None),
        (" ", "", None),
        ("Sat, 21 Nov 2026 10:00:09 GMT", "Sat, 21 Nov 2026 10:00:05 GMT", 4.0),
        ("Sat, 21 Nov 2026 10:00:01 GMT", "Sat, 21 Nov 2026 10:00:05 GMT", 0.0),
        ("Sat, 21 Nov 2026 10:00:09 GMT", "", None),
        ("Sat, 21 Nov 2026 10:00:09 GMT", "today", None),
    ],
)
def test_a_pause_is_whole_seconds_or_a_date_beside_that_of_the_answer(
    text: str, date: str, seconds: float | None
) -> None:
    assert asked_pause(said(503, Retry_After=text, Date=date)) == seconds
    assert asked_pause(NoResponse("cut")) is None


def test_a_status_says_whether_a_command_may_be_done_and_whether_anything_helps() -> None:
    may, hopeless = ({each for each in STATUSES if tell(said(each))} for tell in (may_be_done, is_hopeless))
    assert may == {*range(200, 300), *range(500, 600)} - {503}
    assert hopeless == {*range(300, 500)} - {408, 429}


def test_a_command_may_be_done_once_it_was_sent() -> None:
    for was_sent in (True, False):
        assert may_be_done(NoResponse("cut", was_sent=was_sent)) == was_sent
        assert not is_hopeless(NoResponse("cut", was_sent=was_sent))


# ------------------------------------------------------------------------------------------------------------ redirects

URL = "http://a:81/x"
LOCATIONS = {
    "/y": "http://a:81/y",
    "y": "http://a:81/y",
    "http://a:81/y?q=1": "http://a:81/y?q=1",
    "//a:81/y": "http://a:81/y",
    URL: None,
    "": None,
    "https://a:81/y": None,
    "http://a/y": None,
    "http://a:82/y": None,
    "http://b:81/y": None,
    "http://u:p@a:81/y": None,
}


def follow(method: str, *events: HttpResponse) -> list[str]:
    """URLs that are asked, until the answers end."""
    conversation = send_authenticated(SendRequest(method, URL, {}, None, 1.0, 1.0), None, TokenCache(), lambda: 0.0)
    step, urls = next(conversation), []
    for event in events:
        assert isinstance(step, SendRequest)
        assert step.method == method
        urls.append(step.url)
        try:
            step = conversation.send(event)
        except StopIteration:
            return urls
    assert isinstance(step, SendRequest)
    return [*urls, step.url]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_only_redirects_within_a_host_are_followed_and_with_the_same_method(method: str) -> None:
    for status in range(300, 310):
        is_followed = status in {307, 308} or (status in {301, 302} and method == "GET")
        for location, target in LOCATIONS.items():
            expected = [URL, target] if is_followed and target else [URL]
            assert follow(method, said(status, Location=location)) == expected, (status, location)


def test_a_few_redirects_are_followed_and_no_more() -> None:
    places = [said(307, Location=f"/{number}") for number in range(9)]
    assert len(follow("GET", *places)) == MAX_REDIRECTS


@pytest.mark.parametrize("left", [0.5, 2.0])
def test_what_is_sent_has_no_more_time_than_is_left(left: float) -> None:
    """Neither a response nor a connection is waited for beyond it."""

    def talk() -> Conversation[None]:
        yield SendRequest("GET", URL, {}, None, 1.0, 0.9)

    step = next(run_within(left, lambda: 0.0, talk()))
    assert isinstance(step, SendRequest)
    assert (step.timeout, step.connect) == (min(1.0, left), min(0.9, left))


# ----------------------------------------------------------------------------------------------------------- statements

RESULTS = msgspec.json.encode({"results": []})
ERROR = msgspec.json.encode({"code": "X", "message": "no", "results": []})


def test_an_answer_to_statements_has_results_or_an_error_by_its_status() -> None:
    for status in STATUSES:
        done, refused, page = (read_answer(said(status, body), "u") for body in (RESULTS, ERROR, b"<html>"))
        assert isinstance(done, StatementResultsBody) == (status < 300)
        assert isinstance(refused, ScriptRefusedError) == (status >= 300)
        if isinstance(refused, ScriptRefusedError):
            assert (refused.status, refused.body.code) == (status, "X")
        assert type(page) is (NotOffered if status in {404, 405} else Unavailable)


def client_of(*urls: str, **settings: Any) -> StatementClient:
    quick = {"rounds": 2, "pause": 0.001, "max_pause": 0.001} | settings
    return StatementClient(replace(settings_of_url(",".join(urls)), **quick))


DONE = Say(200, {"results": []})
NO_SERVER = "http://127.0.0.1:1"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504])
@pytest.mark.parametrize("has_body", [True, False])
def test_the_next_server_is_asked_after_answers_that_say_nothing_of_the_script(status: int, *, has_body: bool) -> None:
    """And after the last one the round begins again, unless a server of the metastore has read the script."""
    step = Say(status, {"code": "X", "message": "no"} if has_body else b"<html>")
    is_later = status in {408, 429, 502, 503, 504}
    with scripted(step) as first, scripted(DONE) as second:
        client = client_of(first.url, second.url)
        if is_later:
            assert client.run("SHOW STREAMS") == ()
        else:
            with pytest.raises(RegistryError):
                client.run("SHOW STREAMS")
        client.close()
    assert (len(first.seen), len(second.seen)) == (1, is_later)
    with scripted(step, DONE) as only:
        client = client_of(only.url)
        if is_later and not has_body:
            assert client.run("SHOW STREAMS") == ()
        else:
            with pytest.raises(RegistryError):
                client.run("SHOW STREAMS")
        client.close()


@pytest.mark.parametrize("word", ["INSERT INTO s VALUES (1)", "update s set a = 1", "Delete from s"])
def test_records_are_sent_again_only_where_they_were_not_sent(word: str) -> None:
    with scripted(DONE) as script:
        client = client_of(NO_SERVER, script.url)
        assert client.run(word) == ()
        client.close()
    assert ["treaty-retry" in seen.headers for seen in script.seen] == [False]
    with scripted(Hang(), DONE) as script:
        client = client_of(script.url)
        with pytest.raises(UnknownOutcomeError):
            client.run(word)
        client.close()


@pytest.mark.parametrize(
    ("options", "member"),
    [
        ({"dry_run": True}, {"dryRun": True}),
        ({"atomic": True}, {"atomic": True}),
        ({"variables": {"a": "b"}}, {"variables": {"a": "b"}}),
        ({}, {}),
    ],
)
def test_each_option_of_a_script_is_sent(options: Any, member: dict[str, Any]) -> None:
    with scripted(DONE) as script:
        client = client_of(script.url)
        client.run("SHOW STREAMS", **options)
        client.close()
    body = msgspec.json.decode(script.seen[0].body)
    assert {name: value for name, value in body.items() if value} == {"sql": "SHOW STREAMS", **member}


@pytest.mark.parametrize("settings", [{"rounds": 1, "pause": 30.0, "max_pause": 30.0}, {"pause": 30.0}])
def test_nothing_is_waited_for_after_the_last_round_nor_longer_than_the_longest_pause(settings: Any) -> None:
    begun = time.monotonic()
    with scripted(Say(502, b"<html>")) as script:
        client = client_of(script.url, **settings)
        with pytest.raises(Unavailable):
            client.run("SHOW STREAMS")
        client.close()
    assert time.monotonic() - begun < 20
    assert len(script.seen) == settings.get("rounds", 2)
