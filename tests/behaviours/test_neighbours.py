"""Servers that hand commands to each other over HTTP: strangers at the inner door, neighbours that die, hang, lose answers."""

import asyncio
import http.client
import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.behaviours.between import between
from tests.behaviours.neighbours import SECRET, neighbours
from tests.behaviours.served import Served
from tests.behaviours.test_registry import V1, V2
from treaty.api.peer import PeerAuthenticator, PeerEndpoint
from treaty.api.request_scope import request_id
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.peer_transport import HttpPeerTransport, PeerCredentials
from treaty.core.command import Command
from treaty.core.limits import PEER_BYTES
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, OutcomeUnknown, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.node.peer_batches import PeerBatcher
from treaty.wire.peer.batch import encode_batch, encode_command
from treaty.wire.peer.message import (
    PATH,
    DecidedReply,
    FailedReply,
    ForwardedCommand,
    ForwardReply,
    PeerUnreachableError,
)
from treaty.wire.peer.message import SECRET as HEADER

ORDERS = subject_of("orders")


def plain(url: str) -> Connection:
    """A client of one server, that asks once."""
    return connect({"url": url, "max.retries": 0})


def asked_directly(server: Served, body: bytes, method: str = "POST", **headers: str) -> tuple[int, Any, str | None]:
    """Status, JSON, and whether the inner door says that it took nothing."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    try:
        connection.request(method, PATH, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers.get("treaty-peer")
    finally:
        connection.close()


HANDED = ForwardedCommand(Command(Register(ORDERS, Draft(V1)), "mine", 7, "user:ada"), 5.0, 1_000)


@pytest.fixture
def two() -> Iterator[tuple[Served, Served]]:
    with neighbours(2) as (_, (a, b)):
        yield a, b


# ------------------------------------------------------------------------------------------------- strangers


def test_the_inner_door_is_for_nodes_alone(two: tuple[Served, Served]) -> None:
    owner, _ = two
    body, right = encode_batch([encode_command(HANDED)]), {HEADER: SECRET}
    assert asked_directly(owner, body)[::2] == (401, "refused")
    for wrong in ("x", SECRET[:-1], SECRET + "x", "a", ""):
        status, told, taken = asked_directly(owner, body, **{HEADER: wrong})
        assert (status, taken) == (403, "refused")
        assert SECRET not in json.dumps(told)
    assert asked_directly(owner, b"", "GET", **right)[::2] == (405, "refused")
    status, told, taken = asked_directly(owner, b"{}", **right)
    assert (status, taken) == (400, "refused")
    assert "version None of what nodes say to each other, and this node speaks 3" in told["message"]
    assert asked_directly(owner, b"x" * (PEER_BYTES + 1), **right)[0] == 413
    with plain(owner.url) as it:
        assert it.subjects() == ()
    assert asked_directly(owner, body, **right)[0] == 200


def test_a_forwarded_command_is_noted_with_the_address_that_it_comes_from() -> None:
    senders: list[str] = []

    async def take(forwarded: ForwardedCommand) -> ForwardReply:
        senders.append(forwarded.sender)
        return FailedReply("none")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": encode_batch([encode_command(HANDED)] * 2)}

    async def send(_: object) -> None:
        pass

    endpoint = PeerEndpoint(take, PeerAuthenticator((SECRET.encode(),)))
    headers = [(HEADER.lower().encode(), SECRET.encode())]
    scope = {"type": "http", "method": "POST", "headers": headers, "client": ("10.0.0.7", 4711)}
    asyncio.run(endpoint(scope, receive, send))
    assert senders == ["10.0.0.7"] * 2


def test_two_secrets_in_one_request_are_none(two: tuple[Served, Served]) -> None:
    connection = http.client.HTTPConnection(urlsplit(two[0].url).netloc, timeout=30)
    connection.putrequest("POST", PATH)
    for value in (SECRET, "another"):
        connection.putheader(HEADER, value)
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()


def test_without_a_secret_there_is_no_inner_door() -> None:
    with neighbours(2, trust=None) as (_, (owner, other)):
        assert asked_directly(owner, encode_batch([encode_command(HANDED)]), **{HEADER: SECRET})[::2] == (404, None)
        with pytest.raises(Unavailable, match="accepts no commands of other nodes"):
            other.ask(Register(ORDERS, Draft(V1)), CallOptions(timeout=1.5))


def test_a_node_with_another_secret_is_not_believed_and_its_clients_hear_why() -> None:
    with neighbours(2, secret="of-another-registry") as (_, (owner, other)):
        with pytest.raises(Unavailable, match="does not accept this node") as no:
            other.ask(Register(ORDERS, Draft(V1)), CallOptions(timeout=1.5))
        assert "of-another-registry" not in str(no.value)
        assert owner.node.counts.taken == 0


def test_any_of_several_secrets_will_do() -> None:
    trust = PeerAuthenticator((b"the-next-secret-of-all", SECRET.encode()))
    with neighbours(2, trust=trust) as (_, (_, other)), plain(other.url) as it:
        assert it.register("orders", Draft(V1)).created


def carried(url: str, passport: PeerCredentials, handed: ForwardedCommand = HANDED) -> object:
    async def once() -> object:
        courier = PeerBatcher(HttpPeerTransport(passport))
        try:
            return await (await courier.add(url, handed, 5.0)).reply
        finally:
            await courier.close()

    return asyncio.run(once())


@pytest.mark.parametrize("address", ["http://node.example:8081", "http://10.0.0.7", "ftp://x", "nonsense", "http://"])
def test_the_secret_goes_nowhere_where_others_can_read_it(address: str) -> None:
    with pytest.raises(PeerUnreachableError) as no:
        carried(address, PeerCredentials(SECRET))
    assert not no.value.left
    assert SECRET not in str(no.value)


def test_a_command_is_decided_by_whom_it_is_handed_to(two: tuple[Served, Served]) -> None:
    told = carried(two[0].url, PeerCredentials(SECRET))
    assert isinstance(told, DecidedReply)
    assert told == carried(two[0].url, PeerCredentials(SECRET))
    assert "secret" not in repr(PeerCredentials(SECRET)).replace("PeerCredentials", "").replace("plaintext", "")


# ------------------------------------------------------------------------------------------------- what travels


def test_the_request_is_the_same_one_in_the_log_lines_of_both(
    two: tuple[Served, Served], caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[tuple[str, str]] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append((record.getMessage().split(" ")[1], request_id()))

    keep = Keep()
    caplog.set_level(logging.INFO, "treaty.access")
    logging.getLogger("treaty.access").addHandler(keep)
    try:
        connection = http.client.HTTPConnection(urlsplit(two[1].url).netloc, timeout=30)
        body = json.dumps({"schema": V1})
        headers = {"Content-Type": "application/json", "X-Request-ID": "request-7"}
        connection.request("POST", "/subjects/orders/versions", body, headers)
        assert connection.getresponse().status == 200
        connection.close()
        for server in two:
            server.stop()  # a line may come after its answer
    finally:
        logging.getLogger("treaty.access").removeHandler(keep)
    assert sorted(lines) == [("/subjects/orders/versions", "request-7"), (PATH, "request-7")]


def test_an_answer_over_http_does_not_tell_which_node_decided(two: tuple[Served, Served]) -> None:
    with plain(two[0].url) as near, plain(two[1].url) as far:
        assert far.register("orders", Draft(V1)).version == near.version("orders", 1)
        told = []
        for it in (near, far):
            with pytest.raises(Incompatible) as no:
                it.register("orders", Draft('"int"'))
            told.append((no.value.reason, no.value.findings))
        assert told[0] == told[1]


def test_many_clients_of_all_nodes_write_at_once() -> None:
    with neighbours(3) as (crown, servers), ThreadPoolExecutor(24) as threads:
        clients = [plain(server.url) for server in servers]
        posts = [
            threads.submit(clients[place % 3].register, f"s{place % 30}", Draft(V1 if place // 30 % 2 else V2))
            for place in range(240)
        ]
        created = [post.result().created for post in posts]
        assert created.count(True) == 60
        assert set(crown.appends) == {servers[0].url}
        for each in clients:
            assert len(each.subjects()) == 30
            each.close()


# ------------------------------------------------------------------------------------------------- neighbours that fail


def test_an_owner_that_is_gone_is_a_no_and_the_next_one_is_asked() -> None:
    with neighbours(3) as (crown, (a, b, c)), plain(b.url) as it:
        a.stop()
        with pytest.raises(Unavailable, match="can't be reached"):
            b.ask(Register(ORDERS, Draft(V1)), CallOptions(timeout=1.5))
        crown.holder = c.url
        assert it.register("orders", Draft(V1)).created


def test_an_owner_that_hangs_leaves_it_open_and_one_that_is_gone_does_not() -> None:
    with neighbours(2) as (crown, (a, b)), between(a.url) as way, plain(b.url) as it:
        crown.believed[b.url] = way.url
        way.way = "hang"
        with pytest.raises(OutcomeUnknown):
            b.ask(Register(ORDERS, Draft(V1)), CallOptions(timeout=1.5))
        way.cut()
        with pytest.raises(Unavailable, match="has no effect"):
            b.ask(Register(ORDERS, Draft(V1)), CallOptions(timeout=1.5))
        assert it.subjects() == ()


def test_an_answer_that_is_lost_on_the_way_is_found_in_the_log() -> None:
    with neighbours(2) as (crown, (a, b)), between(a.url) as way, plain(b.url) as it:
        crown.believed[b.url] = way.url
        way.way = "deaf"
        reply = it.ask(Register(ORDERS, Draft(V1)), CallOptions(timeout=20, command_id="mine"))
        assert reply.answer.created
        assert way.lost == 1
        assert it.outcome("mine").sequence == reply.token.sequence == 1


def test_a_command_that_was_sent_twice_to_different_nodes_is_done_once() -> None:
    with neighbours(2) as (_, servers), plain(servers[0].url) as near, plain(servers[1].url) as far:
        first = far.ask(Register(ORDERS, Draft(V1)), CallOptions(command_id="mine"))
        again = near.ask(Register(ORDERS, Draft(V1)), CallOptions(command_id="mine"))
        assert first.answer == again.answer
        assert far.ask(DeleteSubject(ORDERS)).token.sequence == 2


def test_ownership_moves_under_clients_that_write() -> None:
    with neighbours(3) as (crown, servers), ThreadPoolExecutor(12) as threads:
        stop = threading.Event()

        def moving() -> None:
            place = 0
            while not stop.wait(0.15):
                place += 1
                crown.holder = servers[place % 3].url
                crown.believed = {servers[(place + 1) % 3].url: servers[(place + 2) % 3].url} if place % 2 else {}

        mover = threading.Thread(target=moving, daemon=True)
        clients = [plain(server.url) for server in servers]
        mover.start()
        try:
            posts = [
                threads.submit(
                    clients[place % 3].ask, Register(subject_of(f"s{place}"), Draft(V1)), CallOptions(timeout=60)
                )
                for place in range(150)
            ]
            assert all(post.result().answer.created for post in posts)
        finally:
            stop.set()
            mover.join()
            crown.believed = {}
        assert clients[0].ask(DeleteSubject(subject_of("s0"))).token.sequence >= 151
        assert len(set(crown.appends)) > 1
        for each in clients:
            each.close()


def test_a_command_with_more_than_may_travel_is_a_clear_no(two: tuple[Served, Served]) -> None:
    large = replace(HANDED, command=replace(HANDED.command, request=Register(ORDERS, Draft("x" * PEER_BYTES))))
    with pytest.raises(PeerUnreachableError, match="PEER_BYTES") as no:
        carried(two[0].url, PeerCredentials(SECRET), large)
    assert not no.value.left
