"""Connections: requests in pieces, in heaps, cut anywhere, too slow and too long, with hot reads among them."""

import asyncio
import itertools
import random
import socket
from typing import Any

import pytest

from tests.facades.peers import PLAIN, PYTHON, Peer, running, undated
from treaty.api import http_server
from treaty.api.network import caching_protocol
from treaty.api.network.caching_protocol import HEAD_BYTES


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
            assert server.app.cache.hits == 0
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
            assert server.app.cache.hits == 0
            await peer.ask(b"/schemas/ids/7")
            assert server.app.cache.hits == 1
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
            assert server.app.cache.hits == 0
            assert await peer.ask(b"/schemas/ids/7") == known
            assert server.app.cache.hits == 1
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
            assert server.app.cache.hits == 0
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


@pytest.mark.parametrize("cuts", [(), (5,), (20, 60_000), (HEAD_BYTES + 5_000,)], ids=str)
@pytest.mark.parametrize(
    ("size", "status"), [(HEAD_BYTES - 500, b"400"), (HEAD_BYTES + 1, b"431")], ids=["fits", "too long"]
)
def test_headers_have_one_limit_in_however_many_pieces_they_come(
    cuts: tuple[int, ...], size: int, status: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: asyncio.Queue[Any] = asyncio.Queue()
    meet = caching_protocol.CachingProtocol.connection_made

    def met(self: Any, to: Any) -> None:
        meet(self, to)
        made.put_nowait(self)

    monkeypatch.setattr(caching_protocol.CachingProtocol, "connection_made", met)
    body = b"{" * 20_000  # what follows the headers does not count
    whole = b"POST /subjects/s HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\nX: " + b"x" * size + b"\r\n\r\n" + body

    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            connection = await made.get()
            for start, end in itertools.pairwise((0, *cuts, len(whole))):
                if not connection.transport.is_closing():
                    connection.data_received(whole[start:end])  # as the loop would, in pieces that are known
            assert await peer.reader.readexactly(12) == b"HTTP/1.1 " + status
            await peer.close()

    asyncio.run(story())


@pytest.mark.parametrize(
    "sent", [b"", b"GET /schem", b"POST /subjects/s HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{"]
)
def test_a_peer_that_takes_too_long_is_cut_off(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching_protocol, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(http_server, "KEEP_ALIVE_SECONDS", 0.2)

    async def story() -> None:
        async with running() as server:
            slow, other = await server.connect(), await server.connect()
            slow.writer.write(sent)
            assert b'"guid"' in await other.ask(b"/schemas/ids/7")
            assert await slow.reader.read() == b""
            await slow.close()
            await other.close()

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
            return undated(told), server.app.cache.hits

    expected, none = asyncio.run(story(plain=True))
    got, hits = asyncio.run(story(plain=False))
    assert got == expected
    assert got.count(b"HTTP/1.1 ") == len(requests) + 1
    assert (none, hits > 0) == (0, True)


def test_a_peer_that_does_not_read_is_waited_for() -> None:
    async def story() -> None:
        async with running() as server:
            narrow = socket.socket()  # small buffers, which few requests and answers fill
            for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                narrow.setsockopt(socket.SOL_SOCKET, buffer, 4096)
            narrow.connect(("127.0.0.1", server.port))
            peer = Peer(*await asyncio.open_connection(sock=narrow))
            known = await peer.ask(b"/schemas/ids/7", PYTHON)
            hot = b"GET /schemas/ids/7 HTTP/1.1\r\n" + PYTHON + b"\r\n"
            count = 8_000  # more than the kernel buffers for the server

            async def write() -> None:
                for _ in range(count):
                    peer.writer.write(hot)
                    await peer.writer.drain()

            writing = asyncio.create_task(write())
            await asyncio.sleep(0.3)
            assert not writing.done(), "the server reads on though nobody reads what it answers"
            for _ in range(count):
                assert await peer.answer() == known
            await writing
            await peer.close()

    asyncio.run(story())
