"""Every conversation, held with the ASGI application over a log in memory, and with a process that serves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.facades.confluent.form import Conversation, conversations
from tests.facades.confluent.peers import Shared, hold_with_application, hold_with_process

ALL = conversations()
OWN = [one for one in ALL if one.own]
OTHERS = [one for one in ALL if not one.own]


def _name(conversation: Conversation) -> str:
    return conversation.name


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    server = Shared(tmp_path_factory.mktemp("shared"))
    yield server
    server.stop()


@pytest.mark.parametrize("conversation", ALL, ids=_name)
def test_with_the_application(conversation: Conversation, tmp_path: Path) -> None:
    hold_with_application(conversation, tmp_path)


@pytest.mark.parametrize("conversation", OTHERS, ids=_name)
def test_with_a_process(conversation: Conversation, shared: Shared) -> None:
    shared.hold(conversation)


@pytest.mark.slow
@pytest.mark.parametrize("conversation", OWN, ids=_name)
def test_with_a_process_of_its_own(conversation: Conversation, tmp_path: Path) -> None:
    hold_with_process(conversation, tmp_path)
