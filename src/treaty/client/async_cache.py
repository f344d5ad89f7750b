"""The client's cache for asyncio: `AsyncLoadingCache`, and `AsyncCachedRegistry`, a registry that caches the answers of
another.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from treaty.client.cached_answers import (
    FOREVER,
    LruEntries,
    TimeToLive,
    is_cacheable,
    is_immutable,
    needs_fresh_answer,
    unwrap_entry,
    weigh_reply,
)
from treaty.client.settings import CachePolicy
from treaty.core.messages.request import Request
from treaty.core.operations import is_command
from treaty.core.refusals import NotFound
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Reply

if TYPE_CHECKING:
    from treaty.core.messages.schemas import SchemaFound

A = TypeVar("A")
K = TypeVar("K")
V = TypeVar("V")


class AsyncLoadingCache(Generic[K, V]):
    """A bounded LRU cache for the tasks of one event loop; concurrent calls with one key share one load."""

    def __init__(
        self, limit: int, weigh: Callable[[V], int] = lambda _: 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Cache entries up to a total weight of `limit`."""
        self._entries: LruEntries[K, V] = LruEntries(limit, weigh, clock)
        self._loads: dict[K, asyncio.Future[V]] = {}

    async def get(
        self,
        key: K,
        make: Callable[[], Awaitable[V]],
        *,
        ttl: float = FOREVER,
        missing_ttl: float = 0.0,
        fresh: bool = False,
    ) -> V:
        """Return the cached value of a key, or that of `make`. A `NotFound` raised by `make` is cached for
        `missing_ttl`. `fresh`: ignore cached values and running loads, and cache the new value.
        """
        while not fresh:
            entry = self._entries.find(key)
            if entry is not None:
                return unwrap_entry(entry)
            load = self._loads.get(key)
            if load is None:
                break
            await asyncio.wait([load])  # who waits may be cancelled without harm to the call
            if not load.cancelled():
                return load.result()
        return await self._load(key, make, TimeToLive(ttl, missing_ttl))

    def clear(self) -> None:
        """Clear the cache, and discard the results of running loads."""
        self._entries.clear()
        self._loads.clear()

    def __len__(self) -> int:
        return len(self._entries)

    async def _load(self, key: K, make: Callable[[], Awaitable[V]], ttl: TimeToLive) -> V:
        load = self._loads[key] = asyncio.get_running_loop().create_future()
        generation = self._entries.generation
        try:
            value = await make()
            self._entries.store(key, value, ttl, generation)
        except Exception as error:
            if isinstance(error, NotFound):
                self._entries.store(key, error, ttl, generation)
            load.set_exception(error)
            load.exception()  # somebody has looked at it, even where nobody waits
            raise
        else:
            load.set_result(value)
            return value
        finally:
            load.cancel()  # where the task was stopped: the next one who waits makes the call
            if self._loads.get(key) is load:
                del self._loads[key]


class AsyncCachedRegistry:
    """An `AsyncRegistry` with a cache. A command sent through it removes the answers that it may change."""

    def __init__(self, registry: AsyncRegistry, policy: CachePolicy | None = None) -> None:
        """Cache the answers of `registry`, which is closed with this object."""
        self._registry = registry
        self._policy = policy or CachePolicy()
        self._schemas: AsyncLoadingCache[object, Reply[SchemaFound]] = AsyncLoadingCache(
            self._policy.schema_bytes, weigh_reply
        )
        self._versions: AsyncLoadingCache[object, Reply[object]] = AsyncLoadingCache(self._policy.versions)

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request from the cache if allowed, else from the registry."""
        cache: AsyncLoadingCache[object, Reply[A]]
        if is_immutable(request):
            cache, ttl = cast("AsyncLoadingCache[object, Reply[A]]", self._schemas), FOREVER
        elif is_cacheable(request):
            cache, ttl = cast("AsyncLoadingCache[object, Reply[A]]", self._versions), self._policy.latest_ttl
        else:
            return await self._forward(request, call)
        return await cache.get(
            request,
            lambda: self._registry.ask(request, call),
            ttl=ttl,
            missing_ttl=self._policy.missing_ttl,
            fresh=needs_fresh_answer(call),
        )

    async def close(self) -> None:
        """Close the underlying registry."""
        await self._registry.close()

    async def _forward(self, request: Request[A], call: CallOptions) -> Reply[A]:
        try:
            return await self._registry.ask(request, call)
        finally:
            if is_command(request):
                self._versions.clear()
