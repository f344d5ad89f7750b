"""A registry for a test, which many tests share the words for."""

from collections.abc import Iterator

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.settings import Config, Scope, SetConfig


@pytest.fixture
def registry() -> Iterator[Connection]:
    """A registry of its own for a test, which takes any schema."""
    with connect("memory:") as connection:
        connection.ask(SetConfig(Scope("*"), Config(level="NONE")))
        yield connection
