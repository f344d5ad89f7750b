"""Statements as text for a server: what is sent, and what a lost or refused answer means; a server answers by a script."""

import json
from dataclasses import replace

import pytest

from tests.behaviours.scripted import Hang, Say, scripted
from treaty.client.protocol.delivery import NoResponseError
from treaty.client.protocol.statements import ScriptRefusedError, StatementClient, UnknownOutcomeError
from treaty.client.settings import settings_of_url
from treaty.core.refusals import NotOffered, RegistryError

RESULT = {"statement": "SHOW STREAMS", "kind": "SHOW STREAMS", "columns": ["name"], "rows": [["s"]]}
DONE = Say(200, {"results": [RESULT]})
REFUSED = Say(
    409, {"code": "SOURCE_EXISTS", "message": "There is a stream s", "allowed": "another name", "results": [RESULT]}
)
AWAY = Say(503, {"code": "unavailable", "message": "no planner"})


def client_of(*urls: str) -> StatementClient:
    settings = settings_of_url(",".join(urls))
    return StatementClient(replace(settings, rounds=3, pause=0.001, max_pause=0.001))


def test_a_script_is_one_request_with_a_command_id() -> None:
    with scripted(DONE) as script:
        client = client_of(script.url)
        (result,) = client.run("SHOW STREAMS", dry_run=True, variables={"n": "s"})
        client.close()
    (seen,) = script.seen
    assert (result.columns, result.rows) == (["name"], [["s"]])
    assert (seen.method, seen.target) == ("POST", "/metastore/v1/statements")
    assert json.loads(seen.body) == {"sql": "SHOW STREAMS", "dryRun": True, "variables": {"n": "s"}}
    assert seen.headers["treaty-command"]


def test_a_lost_answer_is_asked_for_again_as_the_same_command() -> None:
    with scripted(Hang(), Hang(), DONE) as script:
        client = client_of(script.url)
        assert len(client.run("CREATE TYPE t AS INT")) == 1
        client.close()
    assert len({seen.headers["treaty-command"] for seen in script.seen}) == 1
    assert ["treaty-retry" in seen.headers for seen in script.seen] == [False, True, True]


def test_records_are_not_sent_again_where_they_may_have_been_written() -> None:
    with scripted(Hang(), DONE) as script:
        client = client_of(script.url)
        with pytest.raises(UnknownOutcomeError, match="look before you send them again"):
            client.run("INSERT INTO s VALUES (1)")
        client.close()
    assert len(script.seen) == 1


@pytest.mark.parametrize(
    ("steps", "error", "asked"),
    [
        ((REFUSED,), ScriptRefusedError, 1),
        ((AWAY,), ScriptRefusedError, 1),
        ((Say(404, b"<html>"),), NotOffered, 1),
        ((Say(502, b"<html>"), Hang()), NoResponseError, 3),
    ],
)
def test_an_error_ends_the_script_and_a_gateway_is_asked_again(
    steps: tuple[Say | Hang, ...], error: type[RegistryError], asked: int
) -> None:
    with scripted(*steps) as script:
        client = client_of(script.url)
        with pytest.raises(error):
            client.run("CREATE TYPE t AS INT")
        client.close()
    assert len(script.seen) == asked


def test_the_next_server_is_asked_where_one_is_away() -> None:
    with scripted(DONE) as script:
        client = client_of("http://127.0.0.1:1", script.url)
        assert len(client.run("SHOW STREAMS")) == 1
        client.close()
