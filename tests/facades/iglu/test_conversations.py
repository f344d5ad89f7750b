"""Conversations with Iglu Server's clients, with the ASGI application and with a process; they cover all routes and statuses.

The files are in the form of `tests/facades/confluent/README.md`; they cite sections of the description of Iglu.
"""

from pathlib import Path

import pytest

from tests.facades.confluent.form import Conversation, conversations
from tests.facades.confluent.peers import hold_with_application, hold_with_process
from treaty.api.dialects.router import decode_path
from treaty.api.iglu.routes import ROUTES, TABLE

ALL = conversations(Path(__file__).parents[2] / "cases" / "iglu")
WITH_PROCESS = [one for one in ALL if one.name in {"keys", "bodies", "patches"}]
"""Those that the options of a process matter to."""


def _name(conversation: Conversation) -> str:
    return conversation.name


@pytest.mark.parametrize("conversation", ALL, ids=_name)
def test_with_the_application(conversation: Conversation, tmp_path: Path) -> None:
    hold_with_application(conversation, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("conversation", WITH_PROCESS, ids=_name)
def test_with_a_process(conversation: Conversation, tmp_path: Path) -> None:
    hold_with_process(conversation, tmp_path)


SPOKEN = {
    (found.methods[turn.method][0], turn.method, turn.status)
    for conversation in ALL
    for turn in conversation.turns
    for path in (decode_path(turn.target.partition("?")[0].encode().replace(b"%FF", b"")),)
    for found in (ROUTES.find(path),)
    if found is not None and turn.method in found.methods
}
SUCCESS = frozenset({200, 201})
NEVER_REFUSED = {("/api/meta/health", "GET"), ("/api/meta/health/db", "GET"), ("/api/meta/server", "GET")}


def test_every_route_succeeds_and_is_refused() -> None:
    routes = {(path, method) for path, methods in TABLE.items() for method in methods}
    assert {(path, method) for path, method, status in SPOKEN if status in SUCCESS} == routes
    refused = {(path, method) for path, method, status in SPOKEN if status not in SUCCESS}
    assert routes - refused == NEVER_REFUSED


def test_every_status_is_spoken_of() -> None:
    assert {status for _, _, status in SPOKEN} >= {200, 201, 400, 401, 403, 404, 405, 409, 413, 422}
