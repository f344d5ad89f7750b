"""Hot reads: the same bytes as the slow path, whatever way the request comes."""

import asyncio
import random
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from tests.facades.twin import ANSWERS, Fixed
from treaty.api.application import Application, application
from treaty.api.hot import HEAD_BYTES, HotProtocol, Memo, supported
from treaty.api.serving import Listening, serve
from treaty.core import requests as q

PLAIN = b"Host: h\r\nAccept: */*\r\nUser-Agent: test\r\n"
PYTHON = (
    b"Host: h\r\nAccept: application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json"
    b"\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\nUser-Agent: python-httpx\r\n"
    b"Confluent-Accept-Unknown-Properties: true\r\nConfluent-Client-Version: python/2.16.0\r\n"
)


@dataclass
class Server:
    app: Application
    member: Fixed
    port: int

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
    return re.sub(rb"date: [^\r]*\r\n", b"", head)


@asynccontextmanager
async def running(*, plain: bool = False) -> AsyncIterator[Server]:
    """Run the server; `plain` is without hot reads, as with an access log."""
    member = Fixed()
    app = application(member)
    listener = socket.create_server(("127.0.0.1", 0))
    stopping = asyncio.Event()
    server = asyncio.create_task(serve(app, Listening(listener, access_log=plain), stopping))
    try:
        yield Server(app, member, listener.getsockname()[1])
    finally:
        stopping.set()
        await server


TARGETS = [
    b"/schemas/ids/7",
    b"/schemas/ids/7?subject=s&format=",
    b"/schemas/ids/7?subject=%3A.ctx%3As",
    b"/schemas/ids/7/schema",
    b"/schemas/guids/ec7e7a4f-3a77-4fdc-8b0b-6b2f7a2ec7d1",
    b"/subjects/s/versions/3",
    b"/subjects/a%2Fb/versions/3?deleted=False",
    b"/subjects/s/versions/3/schema",
]


@pytest.mark.parametrize(
    "headers",
    [PLAIN, PYTHON, b"Host: h\r\nAccept: application/json\r\n", b"Host: h\r\n", b"host: h\r\nTreaty-Details: true\r\n"],
    ids=["plain", "python", "json", "bare", "details"],
)
def test_the_second_answer_comes_from_memory_with_the_same_bytes(headers: bytes) -> None:
    async def story() -> None:
        async with running() as server:
            peer, other = await server.connect(), await server.connect()
            for place, target in enumerate(TARGETS):
                slow = await peer.ask(target, headers)
                assert (server.app.memo.hits, len(server.member.asked)) == (2 * place, place + 1)
                assert await peer.ask(target, headers) == slow
                assert await other.ask(target, headers) == slow
                assert (server.app.memo.hits, len(server.member.asked)) == (2 * place + 2, place + 1)
            await peer.close()
            await other.close()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("target", "headers", "method"),
    [
        (b"/subjects/s/versions/latest", PLAIN, b"GET"),
        (b"/subjects", PLAIN, b"GET"),
        (b"/config", PLAIN, b"GET"),
        (b"/schemas/ids/7", PLAIN + b"X-Request-ID: 1\r\n", b"GET"),
        (b"/schemas/ids/7", PLAIN + b"Authorization: Basic eDp5\r\n", b"GET"),
        (b"/schemas/ids/7", PLAIN + b"Treaty-Sequence: ab.5.cd\r\n", b"GET"),
        (b"/schemas/ids/7", PLAIN + b"Treaty-Consistency: latest\r\n", b"GET"),
        (b"/schemas/ids/7?consistency=latest", PLAIN, b"GET"),
        (b"/schemas/ids/7", PLAIN + b"Content-Length: 0\r\n", b"GET"),
        (b"/schemas/ids/7", PLAIN, b"HEAD"),
        (b"/schemas/ids/7", PLAIN + b"Content-Length: 0\r\n", b"POST"),
        (b"/schemas/ids/abc", PLAIN, b"GET"),
    ],
)
def test_what_may_differ_the_next_time_is_asked_again(target: bytes, headers: bytes, method: bytes) -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            first = await peer.ask(target, headers, method)
            assert await peer.ask(target, headers, method) == first
            assert (server.app.memo.hits, server.app.memo.size) == (0, 0)
            await peer.close()

    asyncio.run(story())


def test_a_commit_empties_the_memo_and_an_answer_begun_before_it_is_not_kept() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            await peer.ask(b"/schemas/ids/7")
            assert server.app.memo.size > 0
            server.member.changed[0]()
            assert server.app.memo.size == 0
            server.member.answers[q.GetSchema] = ANSWERS[q.GetSchema]
            asked = len(server.member.asked)
            await peer.ask(b"/schemas/ids/7")
            assert len(server.member.asked) == asked + 1

            server.member.changed[0]()
            server.member.while_asked = server.member.changed[0]
            await peer.ask(b"/schemas/ids/8")
            assert server.app.memo.size == 0
            await peer.close()

    asyncio.run(story())


def test_head_after_get_has_no_body_and_get_after_head_has_one() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            got = await peer.ask(b"/schemas/ids/7")
            head = await peer.ask(b"/schemas/ids/7", method=b"HEAD")
            again = await peer.ask(b"/schemas/ids/7")
            assert again == got
            assert got.startswith(head)
            assert server.app.memo.hits == 1
            await peer.close()

    asyncio.run(story())


def test_pipelined_requests_are_answered_in_order() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            known = await peer.ask(b"/schemas/ids/7")
            hot = b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n"
            body = b'{"schema":"x"}'
            post = b"POST /subjects/s HTTP/1.1\r\n" + PLAIN + b"Content-Length: %d\r\n\r\n" % len(body) + body
            missing = b"GET /nowhere HTTP/1.1\r\n" + PLAIN + b"\r\n"
            peer.writer.write(hot + post + missing + hot)
            first, second, third, fourth = [await peer.answer() for _ in range(4)]
            assert first == fourth == known
            assert b'"subject":"s"' in second
            assert third.startswith(b"HTTP/1.1 404")
            assert server.app.memo.hits == 0
            peer.writer.write(post)
            await asyncio.sleep(0)
            peer.writer.write(hot)  # in a chunk of its own, while the one before is being answered
            assert (await peer.answer()).startswith(second[:15])
            assert await peer.answer() == known
            await peer.close()

    asyncio.run(story())


def test_a_body_that_looks_like_a_request_is_a_body() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            await peer.ask(b"/schemas/ids/7")
            hot = b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n"
            peer.writer.write(b"POST /subjects/s HTTP/1.1\r\n" + PLAIN + b"Content-Length: %d\r\n\r\n" % len(hot))
            await asyncio.sleep(0.05)
            peer.writer.write(hot)
            assert (await peer.answer()).startswith(b"HTTP/1.1 400")
            assert server.app.memo.hits == 0
            await peer.ask(b"/schemas/ids/7")
            assert server.app.memo.hits == 1
            await peer.close()

    asyncio.run(story())


def test_a_request_in_pieces_is_answered_as_a_whole() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            known = await peer.ask(b"/schemas/ids/7")
            hot = b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n"
            for cut in (1, 10, 29, 31, len(hot) - 1):
                peer.writer.write(hot[:cut])
                await asyncio.sleep(0.02)
                peer.writer.write(hot[cut:])
                assert await peer.answer() == known
            assert server.app.memo.hits == 0
            assert await peer.ask(b"/schemas/ids/7") == known
            assert server.app.memo.hits == 1
            await peer.close()

    asyncio.run(story())


def test_connection_close_closes_and_http_1_0_is_not_kept_alive() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            await peer.ask(b"/schemas/ids/7")
            for _ in range(2):
                closing = await server.connect()
                got = await closing.ask(b"/schemas/ids/7", PLAIN + b"Connection: close\r\n")
                assert b"connection: close" in got
                assert await closing.reader.read() == b""
                await closing.close()
            old = await server.connect()
            old.writer.write(b"GET /schemas/ids/7 HTTP/1.0\r\n" + PLAIN + b"\r\n")
            assert b'"guid"' in await old.reader.read()
            await old.close()
            assert server.app.memo.hits == 0
            await peer.close()

    asyncio.run(story())


def test_what_is_not_http_gets_an_error_in_the_usual_shape() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            peer.writer.write(b"\x00\x01\x02\r\n\r\n")
            got = await peer.reader.read()
            assert got.startswith(b"HTTP/1.1 400")
            assert got.endswith(b'{"error_code":400,"message":"HTTP 400 Bad Request"}')
            await peer.close()

    asyncio.run(story())


def test_headers_without_end_are_refused() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            peer.writer.write(b"GET /")
            await asyncio.sleep(0.05)
            peer.writer.write(b"x" * (HEAD_BYTES + 1))
            got = await peer.reader.read()
            assert got.startswith(b"HTTP/1.1 431")
            await peer.close()

    asyncio.run(story())


def test_a_full_memo_keeps_what_it_has() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            server.app.memo.limit = 1000
            for number in range(20):
                await peer.ask(b"/schemas/ids/%d" % number)
            assert 0 < server.app.memo.size <= 1000
            await peer.ask(b"/schemas/ids/0")
            assert server.app.memo.hits == 1
            await peer.close()

    asyncio.run(story())


def test_what_it_leans_on_is_there_and_missed_where_it_is_not() -> None:
    async def story() -> None:
        made = HttpToolsProtocol(Config(Memo, ws="none", lifespan="off", log_config=None), ServerState(), {})
        assert supported(HotProtocol, made)
        del made.__dict__["pipeline"]
        assert not supported(HotProtocol, made)

    asyncio.run(story())


KINDS = [
    b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n",
    b"GET /schemas/ids/7 HTTP/1.1\r\n" + PYTHON + b"\r\n",
    b"GET /subjects/s/versions/3 HTTP/1.1\r\n" + PLAIN + b"\r\n",
    b"HEAD /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n",
    b"GET /nowhere HTTP/1.1\r\n" + PLAIN + b"\r\n",
    b"POST /subjects/s HTTP/1.1\r\n" + PLAIN + b"Content-Length: 14\r\n\r\n" + b'{"schema":"x"}',
    b"POST /subjects/s HTTP/1.1\r\n" + PLAIN + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"Content-Length: 3\r\n\r\nGET",
    b"\r\n" + b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n",
]


@pytest.mark.parametrize("seed", range(12))
def test_any_stream_of_requests_cut_anywhere_has_the_answers_of_the_plain_protocol(seed: int) -> None:
    draw = random.Random(seed)
    requests = [draw.choice(KINDS if draw.random() < 0.4 else KINDS[:3]) for _ in range(60)]
    chunks: list[bytes] = []
    for request in requests:
        if chunks and draw.random() < 0.3:
            chunks[-1] += request
        elif draw.random() < 0.3:
            cut = draw.randrange(1, len(request))
            chunks += [request[:cut], request[cut:]]
        else:
            chunks.append(request)
    chunks.append(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")

    async def story(*, plain: bool) -> tuple[bytes, int]:
        async with running(plain=plain) as server:
            peer = await server.connect()
            for chunk in chunks:
                peer.writer.write(chunk)
                await asyncio.sleep(0.003)
            told = await peer.reader.read()
            await peer.close()
            return re.sub(rb"date: [^\r]*\r\n", b"", told), server.app.memo.hits

    expected, none = asyncio.run(story(plain=True))
    got, hits = asyncio.run(story(plain=False))
    assert got == expected
    assert got.count(b"HTTP/1.1 ") == len(requests) + 1
    assert (none, hits > 0) == (0, True)


def test_a_peer_that_does_not_read_is_waited_for() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            known = await peer.ask(b"/schemas/ids/7")
            hot = b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n"
            count = 20_000

            async def write() -> None:
                for _ in range(count):
                    peer.writer.write(hot)
                    await peer.writer.drain()

            writing = asyncio.create_task(write())
            await asyncio.sleep(0.3)
            for _ in range(count):
                assert await peer.answer() == known
            await writing
            await peer.close()

    asyncio.run(story())
