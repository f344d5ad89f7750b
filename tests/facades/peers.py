"""A server over a member that answers what it was told to, and peers that talk to it byte by byte."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import uvicorn
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tests.facades.twin import Fixed
from treaty.api.application import ServerApplication, build_application
from treaty.api.dispatcher import RunningNode
from treaty.api.http_server import ListenerSettings, serve
from treaty.api.network.hosts import ANY_HOST, AllowedHosts

PLAIN = b"Host: h\r\nAccept: */*\r\nUser-Agent: test\r\n"
PYTHON = (
    b"Host: h:8081\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\nUser-Agent: python-httpx2/2.16.2\r\n"
    b"Accept: application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json\r\n"
    b"Confluent-Client-Version: python/2.16.0\r\n"
)
"""As recorded from confluent-kafka 2.16.0."""


@dataclass
class Server:
    app: ServerApplication
    member: Fixed
    port: int
    stopping: asyncio.Event

    async def connect(self) -> "Peer":
        return Peer(*await asyncio.open_connection("127.0.0.1", self.port))


@dataclass
class Peer:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, target: bytes, headers: bytes = PLAIN, method: bytes = b"GET") -> bytes:
        self.writer.write(method + b" " + target + b" HTTP/1.1\r\n" + headers + b"\r\n")
        return await self.answer(body=method != b"HEAD")

    async def answer(self, *, body: bool = True) -> bytes:
        head = await self.reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", head)
        assert found is not None, head
        return undated(head) + (await self.reader.readexactly(int(found[1])) if body else b"")

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


def undated(head: bytes) -> bytes:
    assert b"\r\ndate: " in head or b"connection: close" in head
    return re.sub(rb"date: [^\r]*\r\n|x-request-id: [0-9a-f-]{36}\r\n", b"", head)


@asynccontextmanager
async def running(
    *, plain: bool = False, access_log: bool = False, hosts: AllowedHosts = ANY_HOST
) -> AsyncIterator[Server]:
    """Run the server; `plain` is with uvicorn's own protocol."""
    member = Fixed()
    async with serving(member, plain=plain, access_log=access_log, hosts=hosts) as (app, port, stopping):
        yield Server(app, member, port, stopping)


@asynccontextmanager
async def serving(
    member: RunningNode, *, plain: bool = False, access_log: bool = False, hosts: AllowedHosts = ANY_HOST
) -> AsyncIterator[tuple[ServerApplication, int, asyncio.Event]]:
    """Run a server over any member: its application, its port, and what stops it."""
    app = build_application(member, hosts=hosts)
    listener = socket.create_server(("127.0.0.1", 0))
    stopping = asyncio.Event()
    work = _plain(app, listener, stopping) if plain else serve(app, ListenerSettings(listener, access_log), stopping)
    server = asyncio.create_task(work)
    try:
        yield app, listener.getsockname()[1], stopping
    finally:
        stopping.set()
        await server


async def _plain(app: ServerApplication, listener: socket.socket, stopping: asyncio.Event) -> None:
    config = Config(
        app.dispatcher, http=HttpToolsProtocol, ws="none", lifespan="off", log_config=None, server_header=False
    )
    server = uvicorn.Server(config)
    served = asyncio.create_task(server._serve([listener]))
    await stopping.wait()
    server.should_exit = True
    await served
