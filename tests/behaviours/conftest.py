"""Every way to a registry, for the suites that must hold for all of them."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.behaviours.served import Served, served
from treaty.assemble import connect
from treaty.client.aio import AsyncHttpRegistry
from treaty.client.connection import Connection
from treaty.core.registry import CALL, AsyncRegistry, Call, Reply
from treaty.core.requests import Request

A = TypeVar("A")


class InLoop:
    """An `AsyncRegistry` as a `Registry`: the suite is written once, for both."""

    def __init__(self, registry: AsyncRegistry) -> None:
        self._registry = registry
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        return asyncio.run_coroutine_threadsafe(self._registry.ask(request, call), self._loop).result()

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._registry.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def server() -> Iterator[Served]:
    """A server over a memory log."""
    with served("memory:") as running:
        yield running


@pytest.fixture(params=["memory", "sqlite", "http", "asyncio"])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """A registry with nothing in it, through each door in turn."""
    match request.param:
        case "memory":
            made = connect("memory:")
        case "sqlite":
            made = connect(f"sqlite://{tmp_path / 'log.db'}")
        case "http":
            made = connect(request.getfixturevalue("server").url)
        case _:
            made = Connection(InLoop(AsyncHttpRegistry(request.getfixturevalue("server").url)))
    with made:
        yield made


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[tuple[Connection, Connection]]:
    """Two doors to one log: a node in this process, and a client of a server."""
    url = f"sqlite://{tmp_path / 'log.db'}"
    with served(url) as running, connect(url) as near, connect(running.url) as far:
        yield near, far
