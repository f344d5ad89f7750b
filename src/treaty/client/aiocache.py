"""Answers kept on the client's side, for asyncio: `AsyncMemo` is the mechanism, `AsyncCached` a registry before another."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from treaty.client.keep import (
    FOR_EVER,
    Entries,
    Keep,
    Terms,
    keeps_a_while,
    keeps_for_ever,
    opened,
    wants_the_newest,
    weight_of,
)
from treaty.core.operations import is_command
from treaty.core.refusals import NotFound
from treaty.core.registry import CALL, AsyncRegistry, Call, Reply
from treaty.core.requests import Request

if TYPE_CHECKING:
    from treaty.core.answers import SchemaFound

A = TypeVar("A")
K = TypeVar("K")
V = TypeVar("V")


class AsyncMemo(Generic[K, V]):
    """A bounded memory for the tasks of one loop: one call under way for each key, what was used longest ago goes first."""

    def __init__(
        self, limit: int, weigh: Callable[[V], int] = lambda _: 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep entries up to a total weight of `limit`."""
        self._entries: Entries[K, V] = Entries(limit, weigh, clock)
        self._flights: dict[K, asyncio.Future[V]] = {}

    async def get(
        self,
        key: K,
        make: Callable[[], Awaitable[V]],
        *,
        ttl: float = FOR_EVER,
        missing_ttl: float = 0.0,
        fresh: bool = False,
    ) -> V:
        """Return the value of a key, made once; a `NotFound` that `make` raises is kept for `missing_ttl`.

        `fresh`: what is kept, or on its way, is not good enough; what is made now is kept.
        """
        while not fresh:
            found = self._entries.find(key)
            if found is not None:
                return opened(found)
            flight = self._flights.get(key)
            if flight is None:
                break
            await asyncio.wait([flight])  # who waits may be cancelled without harm to the call
            if not flight.cancelled():
                return flight.result()
        return await self._fly(key, make, Terms(ttl, missing_ttl))

    def clear(self) -> None:
        """Forget everything, and what calls under way will bring."""
        self._entries.clear()
        self._flights.clear()

    def __len__(self) -> int:
        return len(self._entries)

    async def _fly(self, key: K, make: Callable[[], Awaitable[V]], terms: Terms) -> V:
        flight = self._flights[key] = asyncio.get_running_loop().create_future()
        generation = self._entries.generation
        try:
            value = await make()
            self._entries.store(key, value, terms, generation)
        except Exception as error:
            if isinstance(error, NotFound):
                self._entries.store(key, error, terms, generation)
            flight.set_exception(error)
            flight.exception()  # somebody has looked at it, even where nobody waits
            raise
        else:
            flight.set_result(value)
            return value
        finally:
            flight.cancel()  # where the task was stopped: the next one who waits makes the call
            if self._flights.get(key) is flight:
                del self._flights[key]


class AsyncCached:
    """An `AsyncRegistry` that remembers. Commands that go through it make it forget what they may have changed."""

    def __init__(self, registry: AsyncRegistry, keep: Keep | None = None) -> None:
        """Stand in front of `registry`, which is closed with this one."""
        self._registry = registry
        self._keep = keep or Keep()
        self._schemas: AsyncMemo[object, Reply[SchemaFound]] = AsyncMemo(self._keep.schema_bytes, weight_of)
        self._versions: AsyncMemo[object, Reply[object]] = AsyncMemo(self._keep.versions)

    async def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer from memory where that is right, else from the registry behind."""
        kept: AsyncMemo[object, Reply[A]]
        if keeps_for_ever(request):
            kept, ttl = cast("AsyncMemo[object, Reply[A]]", self._schemas), FOR_EVER
        elif keeps_a_while(request):
            kept, ttl = cast("AsyncMemo[object, Reply[A]]", self._versions), self._keep.latest_ttl
        else:
            return await self._passed(request, call)
        return await kept.get(
            request,
            lambda: self._registry.ask(request, call),
            ttl=ttl,
            missing_ttl=self._keep.missing_ttl,
            fresh=wants_the_newest(call),
        )

    async def close(self) -> None:
        """Close the registry behind."""
        await self._registry.close()

    async def _passed(self, request: Request[A], call: Call) -> Reply[A]:
        try:
            return await self._registry.ask(request, call)
        finally:
            if is_command(request):
                self._versions.clear()
