"""Clients that hold what others need: answers left unread, connections by the thousand, and going away in mid answer."""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import uvloop

from tests.facades.peers import PLAIN, Peer, Server, running
from tests.facades.twin import Fixed
from treaty.api import http_server
from treaty.api.network import caching_protocol
from treaty.api.network.connections import ConnectionTable
from treaty.core.messages.listings import ListSubjects, Subjects
from treaty.core.messages.versions import DeleteSubject

LARGE = tuple(f"{number:07d}-{'x' * 993}" for number in range(6_000))
"""Names of 6 MB: more than the operating system takes for a client that does not read."""
LIST = b"GET /subjects HTTP/1.1\r\n" + PLAIN + b"\r\n"


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have servers of this test made with other bounds, and look at their connections ten times as often."""

    def bound(**members: Any) -> None:
        monkeypatch.setattr(http_server, "ConnectionTable", partial(ConnectionTable, **members))
        monkeypatch.setattr(http_server, "BEAT_SECONDS", 0.1)

    return bound


async def stuck(server: Server, data: bytes = LIST) -> socket.socket:
    """A client that asks and does not read."""
    client = narrow(server)
    client.sendall(data)
    client.setblocking(False)
    await asyncio.sleep(0.05)
    return client


def narrow(server: Server) -> socket.socket:
    """A client for which the operating system holds little, so that the server sees what it reads."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 131_072)
    client.connect(("127.0.0.1", server.port))
    return client


async def until(true: Callable[[], bool]) -> None:
    for _ in range(200):
        if true():
            return
        await asyncio.sleep(0.05)
    pytest.fail("it never came to be")


def table_of(connections: list[caching_protocol.CachingProtocol]) -> ConnectionTable:
    return connections[0].table


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[caching_protocol.CachingProtocol]:
    """The connections that servers of this test have, as the server sees them."""
    found: list[caching_protocol.CachingProtocol] = []
    real = caching_protocol.CachingProtocol.connection_made

    def note(self: caching_protocol.CachingProtocol, transport: asyncio.Transport) -> None:
        found.append(self)
        real(self, transport)

    monkeypatch.setattr(caching_protocol.CachingProtocol, "connection_made", note)
    return found


# ---------------------------------------------------------------------------------------------------- unread answers


def test_a_client_that_does_not_read_is_cut_off_and_one_that_reads_slowly_is_not(
    bounds: Callable[..., None], made: list[caching_protocol.CachingProtocol], caplog: pytest.LogCaptureFixture
) -> None:
    bounds(seconds=1.0)

    async def story() -> None:
        async with running() as server:
            server.member.answers[ListSubjects] = Subjects(LARGE)
            slow = Peer(*await asyncio.open_connection(sock=narrow(server)))
            slow.writer.write(LIST)
            idle = [await stuck(server, sent) for sent in (LIST, LIST * 3)]
            head = await slow.reader.readuntil(b"\r\n\r\n")
            left = int(head.partition(b"content-length: ")[2].split()[0])
            for _ in range(20):  # twice the time that a client has which takes nothing
                await slow.reader.readexactly(100_000)
                left -= 100_000
                await asyncio.sleep(0.1)
            await until(lambda: table_of(made).cut_off == 2)
            assert not made[0].transport.is_closing()
            assert [one.transport.is_closing() for one in made[1:3]] == [True, True]
            assert (await slow.reader.readexactly(left)).endswith(b'"]')
            assert server.app.metrics.in_flight == 0
            assert table_of(made).unread_bytes < 1_000_000
            for one in idle:
                one.close()
            await slow.close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(story())
    assert "2 cut off with unread answers (limits UNREAD_SECONDS and UNREAD_BYTES)" in caplog.text.replace(
        "1 cut off", "2 cut off"
    )


def test_the_next_request_of_a_client_that_does_not_read_is_not_begun(
    bounds: Callable[..., None], made: list[caching_protocol.CachingProtocol]
) -> None:
    bounds(seconds=0.6)

    async def story() -> None:
        async with running() as server:
            server.member.answers[ListSubjects] = Subjects(LARGE)
            change = b"DELETE /subjects/s HTTP/1.1\r\n" + PLAIN + b"\r\n"
            client = await stuck(server, LIST + change)
            asked = [type(one) for one in server.member.asked]
            assert (asked, server.app.metrics.in_flight) == ([ListSubjects], 0)
            await until(lambda: table_of(made).cut_off == 1)
            await asyncio.sleep(0.1)
            assert [type(one) for one in server.member.asked] == [ListSubjects]
            client.close()

    asyncio.run(story())


def test_unread_answers_are_bounded_before_they_are_sent_and_who_reads_gets_theirs(
    bounds: Callable[..., None], made: list[caching_protocol.CachingProtocol]
) -> None:
    bounds(seconds=60.0, most_unread=13_000_000)

    async def story() -> None:
        async with running() as server:
            server.member.answers[ListSubjects] = Subjects(LARGE)
            idle = []
            for _ in range(6):
                idle.append(await stuck(server))
                assert table_of(made).unread_bytes <= 13_000_000
            refused = [client for client in idle if b" 503 " in client.recv(4_096, socket.MSG_PEEK)]
            assert refused
            assert b"UNREAD_BYTES" in refused[0].recv(4_096)
            assert table_of(made).cut_off == 0
            peer = await server.connect()
            for _ in range(60):  # those who take nothing give room after two seconds
                peer.writer.write(LIST)
                answer = await peer.answer()
                assert table_of(made).unread_bytes <= 13_000_000
                if answer.endswith(b'"]'):
                    break
                await asyncio.sleep(0.1)
            assert answer.endswith(b'"]')
            assert table_of(made).cut_off >= 1
            for one in idle:
                one.close()
            await peer.close()

    asyncio.run(story())


# ------------------------------------------------------------------------------------------------------- connections


def test_past_its_bound_an_address_loses_its_oldest_idle_connection(
    bounds: Callable[..., None], made: list[caching_protocol.CachingProtocol]
) -> None:
    bounds(most_each=4)

    async def story() -> None:
        async with running() as server:
            peers = [await server.connect() for _ in range(4)]
            for peer in peers:
                assert b"200 OK" in await peer.ask(b"/schemas/ids/7")
            for _ in range(2):
                peers.append(await server.connect())
                assert b"200 OK" in await peers[-1].ask(b"/schemas/ids/7")
            assert [await one.reader.read() for one in peers[:2]] == [b"", b""]
            assert b"200 OK" in await peers[2].ask(b"/schemas/ids/7")
            assert (table_of(made).count, table_of(made).closed, table_of(made).refused) == (4, 2, 0)
            for peer in peers:
                await peer.close()
            await until(lambda: table_of(made).count == 0)
            assert table_of(made).by_address == {}

    asyncio.run(story())


def test_where_all_connections_are_at_work_a_new_one_is_refused_by_name(
    bounds: Callable[..., None], made: list[caching_protocol.CachingProtocol]
) -> None:
    bounds(most_each=2)
    begun = b"POST /subjects/s HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{"

    async def story() -> None:
        async with running() as server:
            busy = [await server.connect() for _ in range(2)]
            for peer in busy:
                peer.writer.write(begun)
            await until(lambda: server.app.metrics.in_flight == 2)
            refused = await server.connect()
            answer = await refused.reader.read()
            assert answer.startswith(b"HTTP/1.1 503 Service Unavailable")
            assert b"limit CONNECTIONS_EACH" in answer
            for peer in busy:
                peer.writer.write(b'"a":"b"}')
                assert b"HTTP/1.1 " in await peer.answer()
            for peer in (*busy, refused):
                await peer.close()

    asyncio.run(story())


# ------------------------------------------------------------------------------------------------------- going away


def test_clients_that_go_away_in_mid_answer_are_counted_and_leave_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        async with running() as server:
            server.member.answers[ListSubjects] = Subjects(LARGE[:2_000])
            for number in range(60):
                client = socket.create_connection(("127.0.0.1", server.port))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.sendall(LIST * (1 + number % 3))
                if number % 2:
                    await asyncio.sleep(0.001 * (number % 5))
                client.close()  # with a reset
            peer: Peer = await server.connect()
            assert b"200 OK" in await peer.ask(b"/schemas/ids/7")
            await until(lambda: server.app.metrics.in_flight == 0)
            await peer.close()

    with caplog.at_level(logging.INFO):
        asyncio.run(story())
    assert [one for one in caplog.records if one.levelno >= logging.ERROR or one.exc_info] == []


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_clients_that_go_away_while_their_answers_wait_leave_no_traceback(
    loop: Callable[[], asyncio.AbstractEventLoop], caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with running() as server:
            server.member.answers[ListSubjects] = Subjects(LARGE)
            for number in range(2, 6):
                client = await stuck(server, LIST * number)
                await asyncio.sleep(0.1)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.close()  # with a reset
            await until(lambda: server.app.metrics.in_flight == 0)
            await asyncio.sleep(0.1)

    with caplog.at_level(logging.INFO), asyncio.Runner(loop_factory=loop) as runner:
        runner.run(story())
    assert [one for one in caplog.records if one.levelno >= logging.ERROR or one.exc_info] == []


@pytest.mark.parametrize("behind", [b"", LIST], ids=["one request", "another request behind it"])
def test_a_query_ends_when_its_client_is_gone_and_a_command_does_not(
    behind: bytes, bounds: Callable[..., None]
) -> None:
    """The server made lists for clients that were gone, one after the other, while others waited."""
    bounds()
    ended: list[str] = []

    async def wait(self: Fixed, request: Any, call: Any = None) -> Any:
        try:
            await asyncio.sleep(1.0 if isinstance(request, DeleteSubject) else 60.0)
        except asyncio.CancelledError:
            ended.append(type(request).__name__)
            raise
        ended.append("done")

    async def story() -> None:
        async with running() as server:
            object.__setattr__(server.member, "ask", partial(wait, server.member))
            for request in (LIST + behind, b"DELETE /subjects/s HTTP/1.1\r\n" + PLAIN + b"\r\n"):
                client = socket.create_connection(("127.0.0.1", server.port))
                client.sendall(request)
                await until(lambda: server.app.metrics.in_flight == 1)
                client.close()
                await until(lambda: server.app.metrics.in_flight == 0)
            assert ended == ["ListSubjects", "done"]
            assert server.app.metrics.gone >= 1

    asyncio.run(story())
