"""A server in a thread of this process: a real node behind real HTTP on loopback, quick enough for every test."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import uvicorn

from treaty.api.application import build_application
from treaty.api.network.caching_protocol import make_protocol
from treaty.api.peer import PeerAuthenticator, PeerEndpoint
from treaty.core.messages.request import Request
from treaty.core.registry import CallOptions, Reply
from treaty.log.urls import open_log
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import make_thread_service
from treaty.wire.native import PATH as NATIVE_PATH


async def node_on(url: str) -> Node:
    """A node on the log that a URL names, not yet started."""
    return Node(await open_log(url), make_thread_service(), real_environment())


class Served:
    """A server that may be stopped before its time."""

    def __init__(
        self,
        log: str,
        make: Callable[[str], Awaitable[Node]] = node_on,
        *,
        at: Callable[[str], Awaitable[Node]] | None = None,
        trust: PeerAuthenticator | None = None,
        native: bool = True,
    ) -> None:
        """`at` makes a node that knows its own URL; `trust` opens the door of other nodes. Without `native` it has no API
        of Treaty's own, as older versions.
        """
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self._stop: Callable[[], object] = bool
        self._ready = threading.Event()
        self._trust = trust
        self._native = native
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(at(self.url) if at else make(log))))
        self._thread.start()
        assert self._ready.wait(30)

    async def _run(self, making: Awaitable[Node]) -> None:
        """What `uvicorn.Server.serve` does, without its sleeps: a suite starts hundreds of servers."""
        node = await making
        await node.start()
        self.node, self.loop = node, asyncio.get_running_loop()
        internal = None if self._trust is None else PeerEndpoint(node.take, self._trust)
        app = build_application(node, internal=internal)
        dialects = app.dispatcher.mounted
        others = {prefix: dialect for prefix, dialect in dialects.items() if prefix != NATIVE_PATH.encode()}
        gate = replace(app.dispatcher, mounted=dialects if self._native else others)
        config = uvicorn.Config(gate, http=make_protocol(app.cache), ws="none", lifespan="off", log_config=None)
        config.load()
        uvicorn_server = uvicorn.Server(config)
        uvicorn_server.lifespan = config.lifespan_class(config)
        loop, stopped = asyncio.get_running_loop(), asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        # asyncio sets TCP_NODELAY only where the socket says that it speaks TCP
        tcp = socket.socket(fileno=self.socket.detach())
        await uvicorn_server.startup(sockets=[tcp])
        await uvicorn_server.on_tick(0)
        self._ready.set()
        try:
            await stopped.wait()
        finally:
            for each in uvicorn_server.servers:
                each.close()
            for connection in list(uvicorn_server.server_state.connections):
                connection.shutdown()
            await asyncio.gather(*uvicorn_server.server_state.tasks)
            await node.close()

    def ask(self, request: Request[Any], call: CallOptions) -> Reply[Any]:
        """Ask the node itself, with a deadline of one's own."""
        return asyncio.run_coroutine_threadsafe(self.node.ask(request, call), self.loop).result()

    def stop(self) -> None:
        """Stop the server and give everything back. Stopping twice is stopping once."""
        if self._thread.is_alive():
            self._stop()
        self._thread.join()


@contextmanager
def served(log: str, make: Callable[[str], Awaitable[Node]] = node_on, *, native: bool = True) -> Iterator[Served]:
    """Serve a log while the block runs."""
    server = Served(log, make, native=native)
    try:
        yield server
    finally:
        server.stop()
