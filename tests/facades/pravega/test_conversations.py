"""Conversations with Pravega's clients, with the ASGI application and with a process; they cover the 45 points and all routes.

The files are in the form of `tests/facades/confluent/README.md`. A target without a version is in the default namespace of
the application, and in a namespace of its own with the process. `6.n` cites a point of the list in the description of
Pravega's registry.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.facades.confluent.form import Conversation, conversations
from tests.facades.confluent.peers import asking, hold, hold_with_application
from tests.real.running import Running, serving
from treaty.api.dialects.router import decode_path
from treaty.api.pravega.routes import ROUTES, TABLE, in_namespace

DATA = Path(__file__).parents[2] / "cases" / "pravega"
ALL = conversations(DATA)
SHARED = [one for one in ALL if not one.own]
POINTS = 45


def _name(conversation: Conversation) -> str:
    return conversation.name


def below(conversation: Conversation, prefix: str) -> Conversation:
    """The conversation with its targets below a prefix; those that name a version, or a page, stay."""
    turns = (
        replace(one, target=f"{prefix}{one.target}") if one.target.startswith(("/groups", "/schemas/added")) else one
        for one in conversation.turns
    )
    return replace(conversation, turns=tuple(turns))


@pytest.fixture(scope="session")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("pravega"), "--log", "memory:") as server:
        yield server


@pytest.mark.parametrize("conversation", ALL, ids=_name)
def test_with_the_application(conversation: Conversation, tmp_path: Path) -> None:
    hold_with_application(below(conversation, "/v1"), tmp_path)


@pytest.mark.parametrize("conversation", SHARED, ids=_name)
def test_in_a_namespace_of_a_process(conversation: Conversation, process: Running) -> None:
    hold(below(conversation, f"/v1/namespace/{conversation.name}"), asking(process))


def test_every_point_is_spoken_of() -> None:
    cited = {one for conversation in ALL for one in conversation.cited}
    assert cited == {f"6.{point}" for point in range(1, POINTS + 1)}


SPOKEN = {
    (found.methods[turn.method][0], turn.method, turn.status)
    for conversation in ALL
    for turn in below(conversation, "/v1").turns
    for path in (in_namespace(decode_path(turn.target.partition("?")[0].encode().replace(b"%FF", b"")), b"")[0],)
    for found in (ROUTES.find(path),)
    if found is not None and turn.method in found.methods
}
SUCCESS = frozenset({200, 201, 204})


def test_every_route_succeeds_and_is_refused() -> None:
    routes = {(path, method) for path, methods in TABLE.items() for method in methods}
    assert {(path, method) for path, method, status in SPOKEN if status in SUCCESS} == routes
    refused = {(path, method) for path, method, status in SPOKEN if status not in SUCCESS}
    never = {("/v1/schemas/addedTo", "POST"), ("/v1/groups/{}", "DELETE")}
    assert routes - refused <= never


def test_every_status_of_the_table_is_spoken_of() -> None:
    assert {status for _, _, status in SPOKEN} >= {200, 201, 204, 400, 404, 409, 412, 415, 417}
