"""Serializers and deserializers for asyncio programs, which await every request to the registry.

They run the synchronous ones on a registry that has only fetched answers. If an answer is missing, the work is
interrupted, the answer is fetched without blocking the loop, and the work is repeated. Few records need a fetch.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

from treaty.client.async_cache import AsyncLoadingCache
from treaty.client.serializers.frames import Part
from treaty.client.serializers.settings import DeserializedPart, Deserializer, SerializedPart, Serializer
from treaty.core.messages.request import Request
from treaty.core.refusals import RegistryError, Unavailable
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Registry, Reply

A = TypeVar("A")
W = TypeVar("W", Serializer, Deserializer)
MAX_FETCHES = 2000
"""The most requests for one record."""


class MissingAnswerError(Exception):
    """The answer to a request has not been fetched yet."""

    def __init__(self, request: Request[Any]) -> None:
        """Keep the request."""
        super().__init__(f"{type(request).__name__} has not been asked yet")
        self.request = request


class _FetchedRegistry:
    """A registry with only the answers that were fetched for the current record."""

    def __init__(self) -> None:
        self.given: Mapping[Request[Any], Reply[Any] | RegistryError] = {}

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        answer = self.given.get(request)
        if answer is None:
            raise MissingAnswerError(request)
        if isinstance(answer, RegistryError):
            raise answer
        return answer

    def close(self) -> None:
        pass


class _FetchLoop(Generic[W]):
    """Repeats the work on a record until all needed answers are fetched."""

    def __init__(self, registry: AsyncRegistry, make: Callable[[Registry], W]) -> None:
        self._registry = registry
        self._fetches: AsyncLoadingCache[Request[Any], Reply[Any]] = AsyncLoadingCache(0)
        self._fetched = _FetchedRegistry()
        self._make: Callable[[Registry], W] = make
        self._worker: W | None = None
        self._start = asyncio.Lock()
        with suppress(MissingAnswerError):  # those of groups ask when they are made: in the first `find_worker`
            self._worker = make(self._fetched)

    async def find_worker(self) -> W:
        """Return the synchronous serializer or deserializer, and make it first if it needs answers of the registry for that."""
        async with self._start:
            if self._worker is not None:
                return self._worker
            self._worker = worker = await self.run(lambda: self._make(self._fetched))
            return worker

    async def run(self, work: Callable[[], A]) -> A:
        answers: dict[Request[Any], Reply[Any] | RegistryError] = {}
        for _ in range(MAX_FETCHES):
            self._fetched.given = answers
            try:
                return work()
            except MissingAnswerError as need:
                request = need.request
            finally:
                self._fetched.given = {}
            answers[request] = await self._fetch(request)
        raise Unavailable(f"the record needs more than {MAX_FETCHES} answers of the registry")

    async def _fetch(self, request: Request[Any]) -> Reply[Any] | RegistryError:
        try:
            return await self._fetches.get(request, lambda: self._registry.ask(request), ttl=0.0)
        except RegistryError as error:
            return error


class AsyncSerializer:
    """A serializer whose calls are awaited. Belongs to one event loop; its tasks share fetched answers."""

    def __init__(self, registry: AsyncRegistry, make: Callable[[Registry], Serializer]) -> None:
        """Take the registry, and a function that makes the serializer: ``lambda registry: AvroSerializer(registry,
        Order)``.
        """
        self._loop = _FetchLoop(registry, make)

    async def __call__(self, value: Any, topic: str = "", part: Part = "value") -> SerializedPart:
        """Return the key or value part for this value; see the serializer."""
        serializer = await self._loop.find_worker()
        return await self._loop.run(lambda: serializer(value, topic, part))

    async def prepare(self, topic: str = "", part: Part = "value") -> None:
        """Find the schema of a topic's records in advance."""
        serializer = await self._loop.find_worker()
        await self._loop.run(lambda: serializer.prepare(topic, part))

    async def bind(self, topic: str, part: Part = "value") -> Callable[[Any], bytes | None]:
        """Return a function from values to bytes that makes no requests, for clients that take only a function.

        It raises `Unavailable` if the settings require another request later (`UseLatest`), or if the frame is in a
        header.
        """
        await self.prepare(topic, part)
        serializer = await self._loop.find_worker()

        def serialize(value: Any) -> bytes | None:
            try:
                serialized = serializer(value, topic, part)
            except MissingAnswerError as need:
                raise Unavailable(f"{need}; await the serializer itself") from need
            if serialized.headers:
                raise Unavailable(
                    "the frame is in a header, which this function cannot return; await the serializer itself"
                )
            return serialized.data

        return serialize


class AsyncDeserializer:
    """A deserializer whose calls are awaited. Belongs to one event loop; its tasks share fetched answers."""

    def __init__(self, registry: AsyncRegistry, make: Callable[[Registry], Deserializer]) -> None:
        """Take the registry, and a function that makes the deserializer: ``lambda registry: AvroDeserializer(registry,
        Order)``.
        """
        self._loop = _FetchLoop(registry, make)

    async def __call__(
        self, data: bytes | None, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> Any:
        """Return the value of a key or value part; see the deserializer."""
        return None if data is None else (await self.open(data, topic, part, headers)).value

    async def start(self) -> None:
        """Make the deserializer, if it asks the registry for that; the first record does it otherwise."""
        await self._loop.find_worker()

    async def open(
        self, data: bytes, topic: str = "", part: Part = "value", headers: Iterable[tuple[str, bytes]] = ()
    ) -> DeserializedPart:
        """Return value and writer's schema; see the deserializer."""
        deserializer, all_headers = await self._loop.find_worker(), tuple(headers)
        return await self._loop.run(lambda: deserializer.open(data, topic, part, all_headers))
