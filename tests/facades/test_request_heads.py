"""Heads of requests: requests for another protocol, cut anywhere, and those that no server may act on."""

import asyncio
import json
import re
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn import Config
from uvicorn.server import ServerState

from tests.facades.peers import PLAIN, running
from treaty.api.network.caching_protocol import make_protocol
from treaty.api.network.hosts import AllowedHosts
from treaty.api.network.http2_refusal import PREFACE, Http2Refusal
from treaty.api.response_cache import ResponseCache

JAVA = (
    b"Connection: Upgrade, HTTP2-Settings\r\nHost: localhost:8081\r\nHTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAA\r\n"
    b"Upgrade: h2c\r\nUser-Agent: Java-http-client/17.0.15\r\n"
)
"""As recorded from java.net.http of JDK 17."""
UPGRADES = [
    JAVA,
    b"Host: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    b"host: h\r\nconnection: keep-alive, UPGRADE\r\nUPGRADE: TLS/1.2\r\n",
    b"Host: h\r\nConnection: keep-alive\r\nConnection: upgrade\r\nUpgrade: h2c, HTTP/2.0\r\nUpgrade: IRC/6.9\r\n",
    b"Host: h\r\nUpgrade:\t h2c \t\r\nConnection:upgrade , x\r\n",
    b"Host: h\r\nUpgrade: h2c\r\n",
    b"Host: h\r\nUpgrade: \r\nConnection: upgrade\r\n",
    b"Host: h\r\nConnection: upgrade\r\n",
]
PLAINLY = [b"Host: h\r\n", b"Host: h\r\nConnection: keep-alive\r\n"]
BODIES = [
    b'{"schema":"x"}',
    b"GET /stolen HTTP/1.1\r\nHost: h\r\n\r\n",
    b"Upgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    b"\r\n\r\nPOST /stolen HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}",
    b"0\r\n\r\n",
    b"x" * 3_000,
    b"",
]
METHODS = [b"POST", b"PUT", b"DELETE", b"GET"]


@dataclass(frozen=True)
class Sent:
    """A request: what the application should get of it, and its bytes."""

    method: bytes
    target: bytes
    body: bytes
    raw: bytes


def sent(number: int, method: bytes, headers: bytes, body: bytes, chunk: int, *, bare: bool) -> Sent:
    """A request with a body of that length, or in chunks of `chunk` bytes; without a body both can be left out."""
    target = b"/%d" % number
    if not body and bare:
        framing, coded = b"", b""
    elif chunk:
        pieces = [body[place : place + chunk] for place in range(0, len(body), chunk)]
        framing, coded = (
            b"Transfer-Encoding: chunked\r\n",
            b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in (*pieces, b"")),
        )
    else:
        framing, coded = b"Content-Length: %d\r\n" % len(body), body
    return Sent(method, target, body, b"%b %b HTTP/1.1\r\n%b%b\r\n%b" % (method, target, headers, framing, coded))


REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(METHODS), st.sampled_from(UPGRADES + PLAINLY), st.sampled_from(BODIES), st.sampled_from([0, 1, 7, 999]),
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
)  # fmt: skip


class Wire(asyncio.Transport):
    """The side of a connection to which a protocol writes; it keeps what was written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 9), "sockname": ("127.0.0.1", 8)})
        self.written = b""
        self.closing = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        """The test goes on sending, as a full socket would."""

    def resume_reading(self) -> None:
        """As above."""

    def get_write_buffer_size(self) -> int:
        return 0


async def received(chunks: list[bytes]) -> tuple[list[tuple[bytes, bytes, bytes]], Wire]:
    """What an application gets of bytes that come in chunks: method, target and body of each request."""
    got: list[tuple[bytes, bytes, bytes]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            body, more = body + message["body"], message["more_body"]
        got.append((scope["method"].encode(), scope["raw_path"], body))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    config = Config(application, ws="none", lifespan="off", log_config=None, interface="asgi3")
    config.load()
    kind = make_protocol(ResponseCache())
    connection: Any = kind(config, ServerState(), {}, asyncio.get_running_loop())
    wire = Wire()
    connection.connection_made(wire)
    for chunk in chunks:
        connection.data_received(chunk)
        await asyncio.sleep(0)
    for _ in range(12 * len(chunks) + 100):
        await asyncio.sleep(0)
    connection.connection_lost(None)
    return got, wire


def parted(raw: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % len(raw) for cut in cuts} - {0})
    return [raw[start:end] for start, end in zip((0, *places), (*places, len(raw)), strict=True)]


@given(REQUESTS, st.lists(st.integers(0, 10**6), max_size=8))
def test_a_request_for_another_protocol_keeps_its_body_wherever_it_is_cut(
    drawn: list[tuple[bytes, bytes, bytes, int, bool]], cuts: list[int]
) -> None:
    requests = [sent(number, *parts[:4], bare=parts[4]) for number, parts in enumerate(drawn)]
    got, wire = asyncio.run(received(parted(b"".join(one.raw for one in requests), cuts)))
    assert got == [(one.method, one.target, one.body) for one in requests]
    assert wire.written.count(b"HTTP/1.1 200 OK") == len(requests)


@pytest.mark.parametrize("headers", UPGRADES)
def test_a_request_for_another_protocol_keeps_its_body_in_pieces_of_one_byte(headers: bytes) -> None:
    first, second = sent(1, b"POST", headers, BODIES[3], 0, bare=False), sent(2, b"PUT", JAVA, BODIES[1], 5, bare=False)
    raw = first.raw + second.raw
    got, _ = asyncio.run(received([raw[place : place + 1] for place in range(len(raw))]))
    assert got == [(one.method, one.target, one.body) for one in (first, second)]


def test_hot_reads_of_javas_client_come_from_memory() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            slow = await peer.ask(b"/schemas/ids/7", JAVA)
            assert await peer.ask(b"/schemas/ids/7", JAVA) == slow
            assert (server.app.cache.hits, len(server.member.asked)) == (1, 1)
            peer.writer.write(
                sent(0, b"POST", JAVA, b"GET /schemas/ids/7 HTTP/1.1\r\n" + JAVA + b"\r\n", 0, bare=False).raw
            )
            assert (await peer.answer()).startswith(b"HTTP/1.1 404")
            assert server.app.cache.hits == 1
            await peer.close()

    asyncio.run(story())


HOST = b"Host: localhost\r\n"
GUARDED = AllowedHosts(is_guarded=True)
LENGTH = b"Content-Length: 0\r\n"
REFUSED: dict[str, tuple[bytes, int]] = {
    "a coding before chunked": (b"POST /subjects/s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    "a coding in a header before": (b"POST /subjects/s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
    "a coding alone": (b"POST /subjects/s HTTP/1.1\r\n" + HOST + b"transfer-encoding: GZIP\r\n\r\n", 501),
    "identity": (b"POST /subjects/s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: identity\r\n\r\n", 501),
    "a coding, asking for h2c": (b"POST /subjects/s HTTP/1.1\r\n" + JAVA + b"Transfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n", 501),
    "chunked with a parameter": (b"POST /subjects/s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", 400),
    "chunked twice": (b"POST /subjects/s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400),
    "length and chunked": (b"POST /subjects/s HTTP/1.1\r\n" + HOST + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "no host": (b"GET /subjects HTTP/1.1\r\n\r\n", 400),
    "no host, absolute": (b"GET http://localhost/subjects HTTP/1.1\r\n\r\n", 400),
    "no host, asking for h2c": (b"GET /subjects HTTP/1.1\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", 400),
    "two hosts": (b"GET /subjects HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400),
    "two hosts of 1.0": (b"GET /subjects HTTP/1.0\r\n" + HOST + b"Host: evil\r\n\r\n", 400),
    "version 2.0": (b"GET /subjects HTTP/2.0\r\n" + HOST + b"\r\n", 505),
    "version 3.0": (b"GET /subjects HTTP/3.0\r\n" + HOST + b"\r\n", 505),
    "version 1.2": (b"GET /subjects HTTP/1.2\r\n" + HOST + b"\r\n", 505),
    "version 0.9": (b"GET /healthz\r\n", 400),
    "version 0.9 with a header": (b"GET /healthz\r\n" + HOST + b"\r\n", 400),
    "version 0.9, one line feed": (b"GET /healthz\n", 400),
    "a user in the target": (b"GET http://localhost@evil/subjects HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "no host in the target": (b"GET http:///subjects HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a tunnel": (b"CONNECT localhost:443 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_that_no_server_may_act_on_is_refused_and_the_connection_closed(name: str) -> None:
    raw, status = REFUSED[name]

    async def story(*, before: bool) -> bytes:
        async with running() as server:
            peer = await server.connect()
            peer.writer.write((b"GET /schemas/ids/7 HTTP/1.1\r\n" + PLAIN + b"\r\n" if before else b"") + raw)
            answer = await asyncio.wait_for(peer.reader.read(), 20)
            await peer.close()
            assert len(server.member.asked) == before
            return answer

    assert re.match(rb"HTTP/1.1 %d " % status, asyncio.run(story(before=False)))
    behind = asyncio.run(story(before=True))  # an answer to the second would be taken for the first one's
    assert behind.startswith(b"HTTP/1.1 200 OK")
    assert behind.count(b"HTTP/1.1 ") == 1


def read_frames(data: bytes) -> list[tuple[int, int, bytes]]:
    """Kind, stream and payload of each frame of HTTP/2."""
    frames = []
    while data:
        size = int.from_bytes(data[:3], "big")
        frames.append((data[3], int.from_bytes(data[5:9], "big"), data[9 : 9 + size]))
        data = data[9 + size :]
    return frames


FRAMES = b"\0\0\0\4" + bytes(5)
"""The settings that a client of HTTP/2 begins with."""
POST = b"\0\0\1\1\4\0\0\0\3\x83"
"""The headers of a request on stream 3, which is not over."""
BODY = b"\0\0\2\0\1\0\0\0\3{}"


@pytest.mark.parametrize("cut", [0, 1, 17, 20])
@pytest.mark.parametrize("rest", [FRAMES + POST + BODY, FRAMES + POST + b"\0\xff\xff\0\0\0\0\0\3" + bytes(70_000)])
def test_a_client_that_begins_with_http2_gets_the_reason_in_that_protocol(rest: bytes, cut: int) -> None:
    async def story() -> bytes:
        async with running() as server:
            peer = await server.connect()
            for part in (PREFACE[:cut], PREFACE[cut:], rest[:20], rest[20:]):
                peer.writer.write(part)
                await peer.writer.drain()
                await asyncio.sleep(0.01)
            answer = await asyncio.wait_for(peer.reader.read(), 20)
            await peer.close()
            assert not server.member.asked
            return answer

    settings, headers, data, ended = read_frames(asyncio.run(story()))
    assert settings == (4, 0, b"")
    assert (headers[:2], headers[2][:5]) == ((1, 3), b"\x08\x03505")
    assert (data[:2], "speaks HTTP/1.1" in json.loads(data[2])["message"]) == ((0, 3), True)
    assert (ended[:2], ended[2][:8]) == ((7, 0), b"\0\0\0\3\0\0\0\x0d"), "HTTP_1_1_REQUIRED of RFC 9113 7"


def test_frames_of_http2_are_looked_at_once() -> None:
    """However few bytes a client sends at a time, what it has sent before costs nothing again."""

    def count_calls(frames: int) -> int:
        refusal, calls = Http2Refusal(), [0]

        def count(_frame: object, event: str, _argument: object) -> None:
            calls[0] += event in {"call", "c_call"}

        sys.setprofile(count)
        try:
            for _ in range(9 * frames):
                refusal.take(b"\0")
        finally:
            sys.setprofile(None)
        return calls[0]

    assert count_calls(200) < 3 * count_calls(100)


def test_a_bad_body_behind_other_requests_ends_the_connection_behind_their_answers() -> None:
    good = sent(1, b"POST", JAVA, b"{}", 0, bare=False)
    bad = b"POST /2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"
    got, wire = asyncio.run(received([good.raw + bad + good.raw, good.raw]))
    assert got == [(b"POST", b"/1", b"{}")]
    assert (wire.written.count(b"HTTP/1.1 "), wire.closing) == (1, True)


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        (b"http://localhost/subjects", b"localhost", 200),
        (b"http://127.0.0.1:8081/subjects", b"127.0.0.1:8081", 200),
        (b"http://[::1]:8081/subjects", b"localhost", 200),
        (b"HTTP://LOCALHOST/subjects", b"evil.example", 200),
        (b"http://evil.example/subjects", b"localhost", 421),
        (b"https://evil.example:443/subjects", b"127.0.0.1:8081", 421),
        (b"http://localhost.evil.example/subjects", b"localhost", 421),
    ],
)
def test_the_host_of_an_absolute_target_counts_and_not_the_header(target: bytes, host: bytes, status: int) -> None:
    """RFC 9112 3.2.2."""

    async def story() -> bytes:
        async with running(hosts=GUARDED) as server:
            peer = await server.connect()
            answer = [await peer.ask(target, b"Host: " + host + b"\r\n") for _ in range(2)]
            await peer.close()
            assert answer[0] == answer[1]
            return answer[0]

    assert asyncio.run(story()).startswith(b"HTTP/1.1 %d " % status)
