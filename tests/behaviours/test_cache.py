"""What a cache keeps, for how long, and that many who ask at once are one question: for threads and for asyncio."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

import pytest

from tests.behaviours.test_registry import V1, V2
from treaty.assemble import connect
from treaty.client.async_cache import AsyncCachedRegistry, AsyncLoadingCache
from treaty.client.cache import CachedRegistry, LoadingCache
from treaty.client.connection import Connection
from treaty.client.settings import CachePolicy
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetSchema, UsesOf
from treaty.core.messages.settings import DeleteConfig, Scope
from treaty.core.messages.versions import GetVersion, Lookup
from treaty.core.names import subject_of
from treaty.core.refusals import SchemaNotFound, SettingNotFound, SubjectNotFound, Unavailable
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft

ORDERS = subject_of("orders")


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Kept(Protocol):
    """Either memory, asked without a loop."""

    def get(
        self, key: str, make: Callable[[], Any], *, ttl: float = ..., missing_ttl: float = ..., fresh: bool = ...
    ) -> Any: ...

    def clear(self) -> None: ...

    def __len__(self) -> int: ...


class InLoop:
    """An `AsyncMemo`, whose calls run in a loop each."""

    def __init__(self, limit: int, **options: Any) -> None:
        self.memo: AsyncLoadingCache[str, Any] = AsyncLoadingCache(limit, **options)

    def get(self, key: str, make: Callable[[], Any], **terms: Any) -> Any:
        async def made() -> Any:
            return make()

        return asyncio.run(self.memo.get(key, made, **terms))

    def clear(self) -> None:
        self.memo.clear()

    def __len__(self) -> int:
        return len(self.memo)


Make = Callable[..., Kept]


@pytest.fixture(params=[LoadingCache, InLoop], ids=["threads", "asyncio"])
def memo(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


def test_a_value_is_made_once_and_again_when_its_time_is_over(memo: Make) -> None:
    clock, made = Clock(), iter(range(10))
    kept = memo(10, clock=clock)
    assert [kept.get("a", lambda: next(made), ttl=5) for _ in range(3)] == [0, 0, 0]
    clock.now += 4.9
    assert kept.get("a", lambda: next(made), ttl=5) == 0
    clock.now += 0.2
    assert kept.get("a", lambda: next(made), ttl=5) == 1


def test_what_is_asked_for_anew_is_kept_in_place_of_the_old(memo: Make) -> None:
    made = iter(range(10))
    kept = memo(10)
    assert kept.get("a", lambda: next(made)) == 0
    assert kept.get("a", lambda: next(made), fresh=True) == 1
    assert kept.get("a", lambda: next(made)) == 1
    assert len(kept) == 1


def test_what_was_used_longest_ago_goes_first(memo: Make) -> None:
    kept = memo(10, weigh=len)
    made: list[str] = []

    def ask(text: str) -> None:
        def make() -> str:
            made.append(text)
            return text

        assert kept.get(text, make) == text

    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        ask(text)
    assert made == ["aaaa", "bbbb", "cccc", "bbbb"]


def test_what_is_too_large_is_given_and_not_kept(memo: Make) -> None:
    kept = memo(3, weigh=len)
    assert kept.get("a", lambda: "aaaa") == "aaaa"
    assert len(kept) == 0


def test_not_found_is_kept_briefly_and_unavailable_never(memo: Make) -> None:
    clock, calls = Clock(), []
    kept = memo(10, clock=clock)

    def absent() -> int:
        calls.append("absent")
        raise SchemaNotFound.of("R", "no")

    def down() -> int:
        calls.append("down")
        raise Unavailable("later")

    for _ in range(3):
        with pytest.raises(SchemaNotFound):
            kept.get("a", absent, missing_ttl=2)
    assert calls == ["absent"]
    clock.now += 2.1
    with pytest.raises(SchemaNotFound):
        kept.get("a", absent, missing_ttl=2)
    for _ in range(3):
        with pytest.raises(Unavailable):
            kept.get("b", down)
    assert calls == ["absent", "absent", "down", "down", "down"]


@pytest.mark.parametrize(
    ("answer", "ttl", "stays"),
    [("new", 5.0, True), ("too long", 5.0, False), ("new", 0.0, False), (SchemaNotFound, 5.0, False)],
    ids=["a value", "a large value", "a value for no time", "nothing"],
)
def test_a_newer_answer_ends_an_older_one_whether_or_not_it_stays_itself(
    memo: Make, answer: Any, ttl: float, *, stays: bool
) -> None:
    def make() -> Any:
        if isinstance(answer, str):
            return answer
        raise answer.of("R", "no")

    cache = memo(5, weigh=len)
    assert cache.get("a", lambda: "old") == "old"
    with nullcontext() if isinstance(answer, str) else pytest.raises(answer):
        assert cache.get("a", make, ttl=ttl, fresh=True) == answer
    assert len(cache) == stays
    assert cache.get("a", lambda: "later") == ("new" if stays else "later")


def test_what_was_on_its_way_when_all_was_forgotten_is_not_kept(memo: Make) -> None:
    kept = memo(10)

    def made() -> int:
        kept.clear()
        return 1

    assert kept.get("a", made) == 1
    assert kept.get("a", lambda: 2) == 2


def test_many_threads_that_ask_at_once_are_one_question() -> None:
    memo: LoadingCache[str, int] = LoadingCache(10)
    begun, go, calls, got = threading.Event(), threading.Event(), [], []

    def slowly() -> int:
        calls.append(1)
        begun.set()
        assert go.wait(30)
        return 7

    threads = [threading.Thread(target=lambda: got.append(memo.get("a", slowly))) for _ in range(8)]
    threads[0].start()
    assert begun.wait(30)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert (calls, got) == ([1], [7] * 8)


def test_a_thread_that_is_stopped_leaves_the_call_to_the_next() -> None:
    memo: LoadingCache[str, int] = LoadingCache(10)
    begun, go, got = threading.Event(), threading.Event(), []

    def stopped() -> int:
        begun.set()
        assert go.wait(30)
        raise KeyboardInterrupt

    def first() -> None:
        with pytest.raises(KeyboardInterrupt):
            memo.get("a", stopped)

    threads = [threading.Thread(target=first), threading.Thread(target=lambda: got.append(memo.get("a", lambda: 7)))]
    threads[0].start()
    assert begun.wait(30)
    threads[1].start()
    go.set()
    for thread in threads:
        thread.join()
    assert got == [7]


async def _wait_for(go: asyncio.Event, calls: list[int]) -> int:
    calls.append(1)
    await go.wait()
    return 7


def test_many_tasks_that_ask_at_once_are_one_question() -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        memo: AsyncLoadingCache[str, int] = AsyncLoadingCache(10)
        go, calls = asyncio.Event(), list[int]()
        asking = [asyncio.create_task(memo.get("a", lambda: _wait_for(go, calls))) for _ in range(8)]
        await asyncio.sleep(0)
        go.set()
        return calls, list(await asyncio.gather(*asking))

    assert asyncio.run(scenario()) == ([1], [7] * 8)


@pytest.mark.parametrize("stopped", [0, 1], ids=["who makes the call", "who waits for it"])
def test_a_task_that_is_stopped_harms_nobody_else(stopped: int) -> None:
    async def scenario() -> tuple[int, int]:
        memo: AsyncLoadingCache[str, int] = AsyncLoadingCache(10)
        go, calls = asyncio.Event(), list[int]()
        asking = [asyncio.create_task(memo.get("a", lambda: _wait_for(go, calls))) for _ in range(3)]
        await asyncio.sleep(0)
        asking[stopped].cancel()
        await asyncio.sleep(0)
        go.set()
        done = await asyncio.gather(*asking, return_exceptions=True)
        assert isinstance(done.pop(stopped), asyncio.CancelledError)
        assert done == [7, 7]
        return len(calls), len(memo)

    assert asyncio.run(scenario()) == (2 if stopped == 0 else 1, 1)


class Counted:
    """A registry that counts the questions that reach it; with or without a loop."""

    def __init__(self, registry: Connection) -> None:
        self.registry = registry
        self.asked: list[Request[Any]] = []

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.asked.append(request)
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


class Awaited:
    """The same for asyncio."""

    def __init__(self, registry: Counted) -> None:
        self.registry = registry

    async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        return self.registry.ask(request, call)

    async def close(self) -> None:
        self.registry.close()


class Asked:
    """An `AsyncCached`, asked without a loop."""

    def __init__(self, registry: Counted, keep: CachePolicy | None = None) -> None:
        self.cached = AsyncCachedRegistry(Awaited(registry), keep)

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        return asyncio.run(self.cached.ask(request, call))

    def close(self) -> None:
        asyncio.run(self.cached.close())


Before = type[CachedRegistry] | type[Asked]
both = pytest.mark.parametrize("before", [CachedRegistry, Asked], ids=["threads", "asyncio"])


@contextmanager
def counted() -> Iterator[Counted]:
    with connect("memory:") as connection:
        yield Counted(connection)


@both
def test_schemas_stay_versions_stay_for_a_while_and_commands_make_it_forget(before: Before) -> None:
    with counted() as registry:
        cached = before(registry)
        guid = cached.ask(Register(ORDERS, Draft(V1))).answer.version.guid
        registry.asked.clear()
        kept: list[Request[Any]] = [GetSchema(1), GetGuid(guid), GetVersion(ORDERS, -1), Lookup(ORDERS, Draft(V1))]
        for _ in range(3):
            for request in kept:
                cached.ask(request)
        assert registry.asked == kept
        cached.ask(Register(ORDERS, Draft(V2)))
        assert cached.ask(GetVersion(ORDERS, -1)).answer.number == 2
        cached.ask(GetSchema(1))
        assert registry.asked.count(GetSchema(1)) == 1


READS: Mapping[str, Request[Any]] = {
    "a schema": GetSchema(1),
    "a schema of a subject": GetSchema(1, ORDERS),
    "a schema with the highest id": GetSchema(1, max_id=True),
    "a schema of a subject with the highest id": GetSchema(1, ORDERS, max_id=True),
    "the uses of a schema": UsesOf(1),
    "the latest version": GetVersion(ORDERS, -1),
    "a version": GetVersion(ORDERS, 1),
    "a version by its text": Lookup(ORDERS, Draft(V1)),
    "numbers": ListVersions(ORDERS),
    "subjects": ListSubjects(),
}


@both
@pytest.mark.parametrize("name", READS)
def test_after_a_command_each_answer_is_that_of_the_registry(before: Before, name: str) -> None:
    with counted() as registry:
        cached, asked = before(registry), READS[name]
        for text in (V1, V2):
            cached.ask(Register(ORDERS, Draft(text)))
            cached.ask(Register(subject_of(f"other-{len(text)}"), Draft('"int"')))
            assert cached.ask(asked).answer == registry.ask(asked).answer


@both
def test_a_command_that_fails_makes_it_forget_too(before: Before) -> None:
    with counted() as registry:
        cached = before(registry)
        cached.ask(Register(ORDERS, Draft(V1)))
        cached.ask(GetVersion(ORDERS, -1))
        registry.registry.register("orders", V2)
        assert cached.ask(GetVersion(ORDERS, -1)).answer.number == 1
        with pytest.raises(SettingNotFound):
            cached.ask(DeleteConfig(Scope(".", "nothing")))
        assert cached.ask(GetVersion(ORDERS, -1)).answer.number == 2


@both
def test_who_asks_for_the_newest_gets_it_and_keeps_it_for_all(before: Before) -> None:
    with counted() as registry:
        cached = before(registry)
        with pytest.raises(SubjectNotFound):
            cached.ask(GetVersion(ORDERS, -1))
        token = registry.ask(Register(ORDERS, Draft(V1))).token
        with pytest.raises(SubjectNotFound):
            cached.ask(GetVersion(ORDERS, -1))
        assert cached.ask(GetVersion(ORDERS, -1), CallOptions(consistency="latest")).answer.number == 1
        registry.asked.clear()
        assert cached.ask(GetVersion(ORDERS, -1)).answer.number == 1
        assert not registry.asked
        assert cached.ask(GetVersion(ORDERS, -1), CallOptions(after=token)).answer.number == 1
        assert registry.asked == [GetVersion(ORDERS, -1)]
        impatient = before(registry, CachePolicy(missing_ttl=0))
        assert impatient.ask(GetVersion(ORDERS, -1)).answer.number == 1


@both
def test_a_cache_is_bounded(before: Before) -> None:
    with counted() as registry:
        cached = before(registry, CachePolicy(schema_bytes=1500, versions=2))
        for number in range(4):
            cached.ask(Register(subject_of(f"s{number}"), Draft(V1)))
            cached.ask(Register(subject_of(f"s{number}"), Draft(V2)))
        registry.asked.clear()
        for number in (0, 1, 2, 0):
            cached.ask(GetVersion(subject_of(f"s{number}"), -1))
        assert len(registry.asked) == 4
        registry.asked.clear()
        for request in [GetSchema(1), GetSchema(2), GetSchema(1, subject_of("s0")), GetSchema(1)]:
            cached.ask(request)
        assert len(registry.asked) == 4
