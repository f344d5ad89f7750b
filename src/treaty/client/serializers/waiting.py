"""Serializers and deserializers for asyncio programs: the same ones, with every wait for the registry awaited.

They are written for a `Registry` that answers at once. Here it answers from what has been fetched, and where something
has not, the work stops, what is missing is fetched without blocking the loop, and the work begins anew. Nearly all
records need nothing fetched.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from treaty.client.async_cache import AsyncLoadingCache
from treaty.client.serializers.framing import Part
from treaty.client.serializers.settings import Deserializer, Framed, Opened, Serializer
from treaty.core.refusals import RegistryError, Unavailable
from treaty.core.registry import CALL, AsyncRegistry, Call, Registry, Reply
from treaty.core.requests import Request

A = TypeVar("A")
W = TypeVar("W", Serializer, Deserializer)
MAX_FETCHES = 2000
"""Questions that one record may lead to."""


class NeedError(Exception):
    """The work needs the answer to a request that has not been fetched."""

    def __init__(self, request: Request[Any]) -> None:
        """Keep the request."""
        super().__init__(f"{type(request).__name__} has not been asked yet")
        self.request = request


class _Door:
    """A registry that knows only what was fetched for the work at hand."""

    def __init__(self) -> None:
        self.given: Mapping[Request[Any], Reply[Any] | RegistryError] = {}

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        found = self.given.get(request)
        if found is None:
            raise NeedError(request)
        if isinstance(found, RegistryError):
            raise found
        return found

    def close(self) -> None:
        pass


class _Waiting(Generic[W]):
    """Does work as often as it needs something."""

    def __init__(self, registry: AsyncRegistry, make: Callable[[Registry], W]) -> None:
        self._registry = registry
        self._flights: AsyncLoadingCache[Request[Any], Reply[Any]] = AsyncLoadingCache(0)
        self._door = _Door()
        self.worker: W = make(self._door)

    async def done(self, work: Callable[[], A]) -> A:
        given: dict[Request[Any], Reply[Any] | RegistryError] = {}
        for _ in range(MAX_FETCHES):
            self._door.given = given
            try:
                return work()
            except NeedError as need:
                request = need.request
            finally:
                self._door.given = {}
            given[request] = await self._fetched(request)
        raise Unavailable(f"the record leads to more than {MAX_FETCHES} questions")

    async def _fetched(self, request: Request[Any]) -> Reply[Any] | RegistryError:
        try:
            return await self._flights.get(request, lambda: self._registry.ask(request), ttl=0.0)
        except RegistryError as error:
            return error


class AsyncSerializer:
    """A serializer whose calls are awaited. Belongs to one loop; its tasks share what is fetched."""

    def __init__(self, registry: AsyncRegistry, make: Callable[[Registry], Serializer]) -> None:
        """Take the registry, and what makes the serializer: ``lambda registry: AvroSerializer(registry, Order)``."""
        self._waiting = _Waiting(registry, make)

    async def __call__(self, value: Any, topic: str = "", part: Part = "value") -> Framed:
        """Return the record's half for this value, as the serializer does."""
        write = self._waiting.worker
        return await self._waiting.done(lambda: write(value, topic, part))

    async def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records now, not at the first of them."""
        write = self._waiting.worker
        await self._waiting.done(lambda: write.prepare(topic, part))

    async def bound(self, topic: str, part: Part = "value") -> Callable[[Any], bytes | None]:
        """Return a plain function from values to bytes, ready: it asks nobody, and suits clients that take only that.

        It raises `Unavailable` where the settings want to ask again later (`UseLatest`), or where the frame needs a header.
        """
        await self.prepare(topic, part)
        write = self._waiting.worker

        def written(value: Any) -> bytes | None:
            try:
                framed = write(value, topic, part)
            except NeedError as need:
                raise Unavailable(f"{need}; await the serializer itself") from need
            if framed.headers:
                raise Unavailable(
                    "the frame stands in a header, which this function can't return; await the serializer itself"
                )
            return framed.data

        return written


class AsyncDeserializer:
    """A deserializer whose calls are awaited. Belongs to one loop; its tasks share what is fetched."""

    def __init__(self, registry: AsyncRegistry, make: Callable[[Registry], Deserializer]) -> None:
        """Take the registry, and what makes the deserializer: ``lambda registry: AvroDeserializer(registry, Order)``."""
        self._waiting = _Waiting(registry, make)

    async def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the value of a record's half, as the deserializer does."""
        return None if data is None else (await self.open(data, topic, part, headers)).value

    async def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Opened:
        """Return value and writer's schema, as the deserializer does."""
        read, given = self._waiting.worker, tuple(headers)
        return await self._waiting.done(lambda: read.open(data, topic, part, given))
