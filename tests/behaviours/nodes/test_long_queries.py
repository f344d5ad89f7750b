"""Lists made in slices while others write: each is the list of one position, and is made once for all who have the same rights."""

import asyncio
import gc
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.behaviours.nodes.lives import living, post, virtual, way
from tests.laws.holder import access
from tests.simulation.disk import Disk
from treaty.core.handlers import listings
from treaty.core.messages.listings import ListSchemas, ListSubjects, Subjects
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import subject_of
from treaty.core.registry import CallOptions
from treaty.node import long_queries
from treaty.node.environment import Environment
from treaty.node.long_queries import LongQueries


@pytest.mark.parametrize("seed", range(5))
def test_a_list_is_that_of_its_token(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_queries, "SLICE_SECONDS", -1.0)  # every pause is one
    monkeypatch.setattr(listings, "PAUSE_ROWS", 1)
    chance = random.Random(seed)

    @virtual
    async def story() -> None:
        async with living(way(Disk(9)), seed) as node:
            others = Environment(
                node._environment.now, node._environment.wall, chance.randbytes, lambda _: asyncio.sleep(0.001)
            )
            node._long_queries._environment = others  # a pause takes a millisecond
            changes: dict[int, list[tuple[str, bool]]] = {}
            lists: list[tuple[int, tuple[str, ...]]] = []

            async def write(name: str) -> None:
                await asyncio.sleep(chance.random())
                reply = await node.ask(post(name))
                changes.setdefault(reply.token.sequence, []).append((name, True))
                if chance.random() < 0.5:
                    await asyncio.sleep(chance.random() / 10)
                    deleted = await node.ask(DeleteSubject(subject_of(name)))
                    changes.setdefault(deleted.token.sequence, []).append((name, False))

            async def read() -> None:
                for _ in range(40):
                    reply = await node.ask(ListSubjects(), CallOptions(chance.choice(["", "eventual", "latest"])))
                    lists.append((reply.token.sequence, reply.answer.names))
                    await asyncio.sleep(chance.random() / 20)

            names = [f"s{number:03}" for number in range(60)]
            chance.shuffle(names)
            await asyncio.gather(*map(write, names), *(read() for _ in range(5)))
            assert len({sequence for sequence, _ in lists}) > 5
            for sequence, found in lists:
                there: dict[str, bool] = {}
                for at in sorted(changes):
                    if at <= sequence:
                        there |= dict(changes[at])
                assert list(found) == sorted(name for name, live in there.items() if live)

    story()


@virtual
async def test_a_list_is_made_once_for_a_position_and_rights() -> None:
    made: list[object] = []
    whole, some = access("read", contexts=("*",)), access("read", subjects=("a*",))
    async with living(way(Disk(9))) as node:
        queries: LongQueries = node._long_queries
        decide = queries._decide

        async def counted(*arguments: object) -> object:
            made.append(arguments)
            return await decide(*arguments)  # type: ignore[arg-type]

        queries._decide = counted  # type: ignore[method-assign,assignment]
        await node.ask(post("a"))
        await node.ask(post("b"))
        for bounds, names in ((None, ("a", "b")), (whole, ("a", "b")), (some, ("a",))):
            for _ in range(3):
                assert (await node.ask(ListSubjects(), CallOptions(access=bounds))).answer.names == names
        assert len(made) == 3
        await node.ask(post("aa"))
        assert (await node.ask(ListSubjects(), CallOptions(access=some))).answer.names == ("a", "aa")
        assert len(made) == 4


@virtual
async def test_those_who_wait_for_the_same_list_get_one_that_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty clients that asked for all schemas had as many lists made, one after the other."""
    monkeypatch.setattr(listings, "PAUSE_ROWS", 1)
    monkeypatch.setattr(long_queries, "SLICE_SECONDS", -1.0)
    made: list[object] = []
    async with living(way(Disk(9))) as node:
        queries: LongQueries = node._long_queries
        decide = queries._decide

        async def counted(*arguments: object) -> object:
            made.append(arguments)
            return await decide(*arguments)  # type: ignore[arg-type]

        queries._decide = counted  # type: ignore[method-assign,assignment]
        rests: list[float] = []
        monkeypatch.setattr(queries, "_plan_rest", rests.append)
        for name in "abc":
            await node.ask(post(name))
        asked = [asyncio.create_task(node.ask(ListSchemas())) for _ in range(10)]
        await asyncio.sleep(0)
        asked[0].cancel()
        found = await asyncio.gather(*asked[1:])
        assert {len(one.answer.versions) for one in found} == {3}
        assert len(made) <= 2, "the first one, and another one where its client had gone"
        assert len(rests) >= 9, "each answer is printed, and others have their time after each"
        await node.ask(post("d"))
        assert len((await node.ask(ListSchemas())).answer.versions) == 4
        assert not queries._awaited
        assert not queries._waiting


@pytest.mark.parametrize("request_list", [ListSchemas, ListSubjects])
def test_a_list_that_is_asked_for_after_a_write_has_it_however_many_wait_for_the_same_list(
    request_list: Callable[[], Request[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listings, "PAUSE_ROWS", 1)
    monkeypatch.setattr(long_queries, "SLICE_SECONDS", -1.0)

    @virtual
    async def story() -> None:
        async with living(way(Disk(9))) as node:
            real = node._environment
            slow = Environment(real.now, real.wall, real.random, lambda _: asyncio.sleep(0.001))
            node._long_queries._environment = slow  # a pause takes a millisecond

            async def keep_asking() -> None:
                while True:
                    await node.ask(request_list(), CallOptions("eventual"))
                    await asyncio.sleep(0.001)

            clients = [asyncio.create_task(keep_asking()) for _ in range(5)]
            for count, name in enumerate("abcdefgh", 1):
                write = await node.ask(post(name))
                for consistency in ("", "latest"):
                    reply = await node.ask(request_list(), CallOptions(consistency))
                    answer = reply.answer
                    assert len(answer.names if isinstance(answer, Subjects) else answer.versions) == count
                    assert reply.token.sequence >= write.token.sequence
                    await asyncio.sleep(0)
            for client in clients:
                client.cancel()
            await asyncio.gather(*clients, return_exceptions=True)

    story()


@virtual
async def test_young_objects_are_collected_after_each_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that drop out of a cache hid from Python how many had come: one collection then took 30 ms."""
    monkeypatch.setattr(listings, "PAUSE_ROWS", 1)
    monkeypatch.setattr(long_queries, "SLICE_SECONDS", -1.0)
    async with living(way(Disk(9))) as node:
        for name in "abcdef":
            await node.ask(post(name))
        gc.disable()
        try:
            before = gc.get_stats()[0]["collections"]
            await node.ask(ListSubjects())
            assert gc.get_stats()[0]["collections"] - before >= 6
        finally:
            gc.enable()


@virtual
async def test_a_remembered_list_waits_behind_no_other_one() -> None:
    async with living(way(Disk(9))) as node:
        await node.ask(post("a"))
        await node.ask(ListSubjects())
        queries, began = node._long_queries, asyncio.get_running_loop().time()
        queries._rest_until = node._environment.now() + 100
        other = asyncio.create_task(node.ask(ListSubjects(limit=1), CallOptions(timeout=1_000)))
        await asyncio.sleep(1)
        assert (await node.ask(ListSubjects())).answer.names == ("a",)
        assert asyncio.get_running_loop().time() - began < 50
        other.cancel()


@virtual
async def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_queries, "LIST_ENTRIES_KEPT", 15)
    async with living(way(Disk(9))) as node:
        for name in "abc":
            await node.ask(post(name))
        for limit in range(1, 9):
            assert len((await node.ask(ListSubjects(limit=limit))).answer.names) == min(3, limit)
            assert 0 < node._long_queries._entries <= 15


@virtual
async def test_the_list_that_was_asked_for_longest_ago_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    async with living(way(Disk(9))) as node:
        for name in "abc":  # each commit forgets all lists, and what they weigh
            await node.ask(ListSubjects())
            await node.ask(post(name))
            assert (node._long_queries._entries, len(node._long_queries._kept)) == (0, 0)
        monkeypatch.setattr(long_queries, "LIST_ENTRIES_KEPT", 2 * (long_queries.ENTRIES_OF_LIST + 3) + 4)
        for limit in (3, 4, 3, 5):
            await node.ask(ListSubjects(limit=limit))
        assert [request.limit for request, _ in node._long_queries._kept] == [3, 5]  # type: ignore[attr-defined]


@virtual
async def test_lists_without_names_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for names that are not there, each time for others, fills no memory."""
    monkeypatch.setattr(long_queries, "LIST_ENTRIES_KEPT", 1_000)
    async with living(way(Disk(9))) as node:
        for number in range(200):
            assert (await node.ask(ListSubjects(subject_of(f"none-{number}-")))).answer.names == ()
        assert len(node._long_queries._kept) <= 100
        kept = len(node._long_queries._kept)
        await node.ask(ListSubjects(subject_of("n" * 2_000)))
        assert len(node._long_queries._kept) == kept, "a question that is as long as all of them is not remembered"


@virtual
async def test_after_a_long_list_others_have_as_much_time_as_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "PAUSE_ROWS", 1)
    async with living(way(Disk(9))) as node:
        await asyncio.gather(*(node.ask(post(f"s{number:03}")) for number in range(50)))
        real, queries = node._environment, node._long_queries

        async def sleep(seconds: float) -> None:
            await asyncio.sleep(seconds or 0.01)  # a slice takes ten milliseconds

        queries._environment = Environment(real.now, real.wall, real.random, sleep)
        monkeypatch.setattr(long_queries, "SLICE_SECONDS", -1.0)
        spans: list[tuple[float, float]] = []
        decide = queries._decide

        async def noted(*given: Any) -> Any:
            began = real.now()
            answer = await decide(*given)
            spans.append((began, real.now()))
            return answer

        monkeypatch.setattr(queries, "_decide", noted)
        await asyncio.gather(*(node.ask(ListSubjects(subject_of(prefix))) for prefix in ("s", "s0", "s00")))
        for (began, ended), (after, _) in pairwise(spans):
            assert ended - began > 0.1
            assert after - ended >= ended - began
        asked = real.now()
        await node.ask(ListSubjects(subject_of("s")), CallOptions("eventual"))  # it is kept
        assert real.now() - asked < 0.1
        assert len(spans) == 3
