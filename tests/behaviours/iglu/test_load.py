"""Many look-ups of one key at the same time: one request per registry, in threads and in asyncio, with real servers."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.behaviours.iglu.loopback import LoopbackRegistry, respond, run_registry
from treaty.client.iglu import AsyncResolver, HttpLimits, ResolutionError, Resolver, ResolverConfig, ResolverOptions
from treaty.client.iglu import http_registry as over_http

CALLS = 400
KEY, OTHER = "iglu:com.acme/click/jsonschema/1-0-0", "iglu:com.acme/view/jsonschema/1-0-0"
PATH, LIST = "/schemas/com.acme/click/jsonschema/1-0-0", "/schemas/com.acme/click/jsonschema/1"
OPTIONS = ResolverOptions(http=HttpLimits(connect_timeout=10, timeout=20))


def in_threads(servers: list[LoopbackRegistry], calls: list[Callable[[Any], Any]]) -> list[Any]:
    """Run calls of a blocking resolver in as many threads, all at once."""
    registries = [over_http(str(at), one.base) for at, one in enumerate(servers)]
    barrier = threading.Barrier(len(calls))
    with (
        Resolver(ResolverConfig(), registries=registries, options=OPTIONS) as resolver,
        ThreadPoolExecutor(len(calls)) as pool,
    ):

        def run(call: Callable[[Any], Any]) -> Any:
            barrier.wait()
            try:
                return call(resolver)
            except ResolutionError as error:
                return error

        return list(pool.map(run, calls))


def in_asyncio(servers: list[LoopbackRegistry], calls: list[Callable[[Any], Any]]) -> list[Any]:
    """Run calls of an asyncio resolver at once."""

    async def run() -> list[Any]:
        registries = [over_http(str(at), one.base) for at, one in enumerate(servers)]
        async with AsyncResolver(ResolverConfig(), registries=registries, options=OPTIONS) as resolver:
            return await asyncio.gather(*(call(resolver) for call in calls), return_exceptions=True)

    return asyncio.run(run())


@pytest.mark.parametrize("run", [in_threads, in_asyncio])
def test_point_85_many_calls_for_a_schema_and_its_list_make_one_request_each_to_each_registry(
    run: Callable[[list[LoopbackRegistry], list[Callable[[Any], Any]]], list[Any]],
) -> None:
    replies = {PATH: respond(200, b'{"title": "click"}'), LIST: respond(200, json.dumps([KEY]).encode())}
    with run_registry() as first, run_registry(replies) as second:
        first.delay = second.delay = 0.05
        half: list[Callable[[Any], Any]] = [lambda one: one.lookup(KEY)] * (CALLS // 2)
        found = run([first, second], half + [lambda one: one.list_schemas("com.acme", "click", 1)] * (CALLS // 2))
        assert [one.document for one in found[: CALLS // 2]] == [{"title": "click"}] * (CALLS // 2)
        assert {len(one.schemas) for one in found[CALLS // 2 :]} == {1}
        for server in (first, second):
            assert sorted(path for path, _ in server.requests) == sorted([PATH, LIST])


@pytest.mark.parametrize("run", [in_threads, in_asyncio])
def test_400_calls_that_fail_make_one_request_too_and_all_get_the_same_error(
    run: Callable[[list[LoopbackRegistry], list[Callable[[Any], Any]]], list[Any]],
) -> None:
    with run_registry({PATH: respond(503)}) as server:
        found = run([server], [lambda one: one.lookup(KEY)] * CALLS)
        assert all(isinstance(one, ResolutionError) for one in found)
        # A busy machine begins some calls so late that the registry is asked again: each time is one request.
        of_attempt = {one.failures["0"].attempts: one for one in found}
        assert all(one == of_attempt[one.failures["0"].attempts] for one in found)
        assert len(server.requests) == max(of_attempt) <= 5


def test_calls_for_other_keys_do_not_wait_for_one_that_is_slow() -> None:
    replies = {PATH: respond(200, b"{}"), "/schemas/com.acme/view/jsonschema/1-0-0": respond(200, b"{}")}
    order: list[str] = []
    with run_registry(replies) as server, ThreadPoolExecutor(2) as pool:
        registries = [over_http("0", server.base)]
        with Resolver(ResolverConfig(), registries=registries, options=OPTIONS) as resolver:
            server.delay = 0.5
            slow = pool.submit(resolver.lookup, KEY)
            slow.add_done_callback(lambda _: order.append("slow"))
            while not server.requests:
                threading.Event().wait(0.005)
            server.delay = 0.0
            resolver.lookup(OTHER)
            order.append("other")
            slow.result()
    assert order == ["other", "slow"]
