"""A server on a free port of loopback, on the loop that its node runs on: no process, no signal handlers, no waiting."""

import asyncio
import socket

import uvicorn

from treaty.api.application import build_application
from treaty.api.network.caching_protocol import make_protocol
from treaty.node.node import Node


class LocalServer:
    """An open server. All of it belongs to one loop."""

    def __init__(self, server: uvicorn.Server, url: str) -> None:
        """Keep what `opened` has made."""
        self._server = server
        self.url = url

    async def close(self) -> None:
        """Take no more connections, let running requests end, close the rest."""
        for listener in self._server.servers:
            listener.close()
        for connection in list(self._server.server_state.connections):
            connection.shutdown()
        await asyncio.gather(*self._server.server_state.tasks)
        await self._server.lifespan.shutdown()


async def start_server(node: Node) -> LocalServer:
    """Serve a node; returns when it listens.

    It takes the steps of `uvicorn.Server.serve`, without those that belong to a process or wait a tenth of a second.
    """
    app = build_application(node)
    config = uvicorn.Config(app.dispatcher, http=make_protocol(app.cache), ws="none", lifespan="off", log_config=None)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    # asyncio sets TCP_NODELAY only where the socket says that it speaks TCP
    await server.startup(sockets=[socket.socket(fileno=bound.detach())])
    await server.on_tick(0)
    return LocalServer(server, f"http://127.0.0.1:{port}")
