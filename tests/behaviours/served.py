"""A server in a thread of this process: a real node behind real HTTP on loopback, quick enough for every test."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from treaty.api.application import application
from treaty.api.hot import protocol
from treaty.log.open import open_log
from treaty.node.node import Node
from treaty.node.pool import thread_desk
from treaty.node.world import real_world


async def node_on(url: str) -> Node:
    """A node on the log that a URL names, not yet started."""
    return Node(await open_log(url), thread_desk(), real_world())


class Served:
    """A server that may be stopped before its time."""

    def __init__(self, log: str) -> None:
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self._log = log
        self._server: uvicorn.Server | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        assert self._ready.wait(30)

    async def _run(self) -> None:
        node = await node_on(self._log)
        await node.start()
        app = application(node)
        config = uvicorn.Config(
            app.gate, http=protocol(app.memo), ws="none", lifespan="off", log_config=None, timeout_graceful_shutdown=2
        )
        self._server = uvicorn.Server(config)
        self.socket.listen(64)
        self._ready.set()
        try:
            await self._server.serve(sockets=[self.socket])
        finally:
            await node.close()

    def stop(self) -> None:
        """Stop the server and give everything back."""
        assert self._server is not None
        self._server.should_exit = True
        self._thread.join()
        self.socket.close()


@contextmanager
def served(log: str) -> Iterator[Served]:
    """Serve a log while the block runs."""
    server = Served(log)
    try:
        yield server
    finally:
        server.stop()
