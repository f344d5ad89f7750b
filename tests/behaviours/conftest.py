"""Every way to a registry, for the suites that must hold for all of them."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, cast

import pytest

from tests.behaviours.drivers import Door, Plain, Waiting
from tests.behaviours.neighbours import neighbours
from tests.behaviours.served import Served, served
from treaty.assemble import connect, connect_async
from treaty.client.async_connection import AsyncConnection
from treaty.client.connection import Connection
from treaty.client.settings import ClientSettings


class InLoop:
    """An `AsyncConnection` with the methods of a `Connection`, by name: the suite is written once, for both."""

    def __init__(self, make: Callable[[], AsyncConnection]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._connection = make()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._connection, name)

        def called(*args: Any, **options: Any) -> Any:
            return asyncio.run_coroutine_threadsafe(method(*args, **options), self._loop).result()

        return called

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def server() -> Iterator[Served]:
    """A server over a memory log."""
    with served("memory:") as running:
        yield running


@pytest.fixture
def subject_to_another() -> Iterator[Served]:
    """A server that decides nothing: another one owns the log."""
    with neighbours(2) as (_, (_, other)):
        yield other


@pytest.fixture
def older_server() -> Iterator[Served]:
    """A server over a memory log that speaks Confluent's API alone."""
    with served("memory:", native=False) as running:
        yield running


@pytest.fixture(params=["memory", "sqlite", "asyncio-memory", "http", "asyncio-http", "http-confluent", "peer"])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """A registry with nothing in it, through each door in turn."""
    made: Connection | InLoop
    match request.param:
        case "memory":
            made = connect("memory:")
        case "sqlite":
            made = connect(f"sqlite://{tmp_path / 'log.db'}")
        case "asyncio-memory":
            made = InLoop(lambda: connect_async("memory:"))
        case "http":
            made = connect(request.getfixturevalue("server").url)
        case "http-confluent":
            made = connect(request.getfixturevalue("older_server").url)
        case "peer":
            made = connect(request.getfixturevalue("subject_to_another").url)
        case _:
            url = request.getfixturevalue("server").url
            made = InLoop(lambda: connect_async(url))
    with made:
        yield cast("Connection", made)


@pytest.fixture(params=[Plain, Waiting], ids=["sync", "asyncio"])
def door(request: pytest.FixtureRequest) -> Door:
    """Opens a client over HTTP, through each driver in turn."""

    def opened(settings: ClientSettings) -> Plain:
        made: Plain = request.param(settings)
        request.addfinalizer(made.close)
        return made

    return opened


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[tuple[Connection, Connection]]:
    """Two doors to one log: a node in this process, and a client of a server."""
    url = f"sqlite://{tmp_path / 'log.db'}"
    with served(url) as running, connect(url) as near, connect(running.url) as far:
        yield near, far
