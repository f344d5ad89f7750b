"""Hot reads: the same bytes as the slow path, and nothing kept that may differ the next time."""

import asyncio
from dataclasses import replace

import pytest
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from tests.behaviours.nodes.lives import FAIR, change_over, file_of, lagging, living, post, way
from tests.facades.peers import PLAIN, PYTHON, Peer, running, serving
from tests.facades.twin import ANSWERS, SCHEMA, VERSION
from tests.simulation.disk import Disk
from tests.simulation.model import Weather
from treaty.api.network.caching_protocol import CachingProtocol, is_supported
from treaty.api.response_cache import ResponseCache
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import DeleteVersion, GetVersion
from treaty.core.names import subject_of
from treaty.core.schema import Reference

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
                assert (server.app.cache.hits, len(server.member.asked)) == (2 * place, place + 1)
                assert await peer.ask(target, headers) == slow
                assert await other.ask(target, headers) == slow
                assert (server.app.cache.hits, len(server.member.asked)) == (2 * place + 2, place + 1)
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
        (b"/schemas/ids/7", PLAIN + b"Treaty-Position: ab.5.cd\r\n", b"GET"),
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
            assert (server.app.cache.hits, server.app.cache.size) == (0, 0)
            await peer.close()

    asyncio.run(story())


def test_a_change_over_to_a_state_file_empties_the_memo() -> None:
    """A worker that lags takes up the file of another one: what it answers from memory is as new as its tables."""

    async def story() -> None:
        disk = Disk(9)
        async with living(way(disk)) as writer, lagging(disk) as (node, tables):
            await writer.ask(post("s"))
            await writer.ask(post("s", '["a","b?"]'))
            await node.follower.catch_up()
            async with serving(node) as (app, port, _):
                peer = Peer(*await asyncio.open_connection("127.0.0.1", port))
                kept = await peer.ask(b"/subjects/s/versions/1")
                assert (await peer.ask(b"/subjects/s/versions/1"), app.cache.hits) == (kept, 1)
                await writer.ask(DeleteVersion(subject_of("s"), 1))
                assert await change_over(node, tables, file_of(disk))
                assert (await peer.ask(b"/subjects/s/versions/1")).startswith(b"HTTP/1.1 404")
                await peer.close()

    asyncio.run(story())


def test_while_the_log_is_away_a_version_by_number_is_kept_or_unknown_and_ids_are_answered() -> None:
    async def story() -> None:
        weather = Weather(FAIR)
        async with living(way(Disk(9), weather)) as node:
            await node.ask(post("kept"))
            guid = (await node.ask(post("s"))).answer.version.guid
            async with serving(node) as (app, port, _):
                peer = Peer(*await asyncio.open_connection("127.0.0.1", port))
                await peer.ask(b"/subjects/kept/versions/1")
                weather.unavailable = 1.0

                async def status(target: str) -> bytes:
                    return (await peer.ask(target.encode())).split()[1]

                assert await status("/subjects/kept/versions/1") == b"200"
                assert app.cache.hits == 1
                assert await status("/subjects/s/versions/1") == b"503"
                assert await status("/subjects/s/versions/1/schema") == b"503"
                assert await status("/subjects/s/versions/1?consistency=eventual") == b"200"
                assert await status("/schemas/ids/1") == b"200"
                assert await status(f"/schemas/guids/{guid}") == b"200"
                assert await status("/schemas/ids/99") == b"503"
                await peer.close()

    asyncio.run(story())


def test_references_of_a_schema_by_id_are_followed_in_memory() -> None:
    """The tables that show a schema show what it refers to: while the log is away both are answered."""

    async def story() -> None:
        async with running() as server:
            reference = Reference("r", "referred", 3)
            text = '{"type":"record","name":"o","fields":[{"name":"f","type":"r"}]}'
            server.member.answers[GetSchema] = replace(SCHEMA, text=text, references=(reference,))
            referred = '{"type":"record","name":"r","fields":[]}'
            server.member.answers[GetVersion] = replace(VERSION, text=referred)
            peer = await server.connect()
            answer = await peer.ask(b"/schemas/ids/7?format=resolved")
            assert b'\\"name\\":\\"r\\"' in answer
            assert [type(one) for one in server.member.asked] == [GetSchema, GetVersion]
            assert [one.consistency for one in server.member.calls] == ["", "eventual"]
            await peer.close()

    asyncio.run(story())


def test_a_commit_empties_the_memo_and_an_answer_begun_before_it_is_not_kept() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            await peer.ask(b"/schemas/ids/7")
            assert server.app.cache.size > 0
            server.member.changed[0]()
            assert server.app.cache.size == 0
            server.member.answers[GetSchema] = ANSWERS[GetSchema]
            asked = len(server.member.asked)
            await peer.ask(b"/schemas/ids/7")
            assert len(server.member.asked) == asked + 1

            server.member.changed[0]()
            server.member.while_asked = server.member.changed[0]
            await peer.ask(b"/schemas/ids/8")
            assert server.app.cache.size == 0
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
            assert server.app.cache.hits == 1
            await peer.close()

    asyncio.run(story())


def test_nothing_is_kept_where_requests_are_logged() -> None:
    async def story() -> None:
        async with running(access_log=True) as server:
            peer = await server.connect()
            assert await peer.ask(b"/schemas/ids/7") == await peer.ask(b"/schemas/ids/7")
            assert len(server.member.asked) == 2
            await peer.close()

    asyncio.run(story())


def test_a_full_memo_keeps_what_it_has() -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            server.app.cache.limit = 1000
            for number in range(20):
                await peer.ask(b"/schemas/ids/%d" % number)
            assert 0 < server.app.cache.size <= 1000
            await peer.ask(b"/schemas/ids/0")
            assert server.app.cache.hits == 1
            await peer.close()

    asyncio.run(story())


def test_what_it_leans_on_is_there_and_missed_where_it_is_not() -> None:
    async def story() -> None:
        made = HttpToolsProtocol(Config(ResponseCache, ws="none", lifespan="off", log_config=None), ServerState(), {})
        assert is_supported(CachingProtocol, made)
        del made.__dict__["pipeline"]
        assert not is_supported(CachingProtocol, made)

    asyncio.run(story())
