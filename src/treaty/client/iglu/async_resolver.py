"""`AsyncResolver`: `Resolver` for asyncio programs; each method that may ask a registry is a coroutine function."""

import asyncio
from collections.abc import AsyncIterator, Hashable, Iterable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from treaty.client.iglu.answers import (
    ConfigSource,
    IgluSchema,
    ResolverOptions,
    SchemaFamily,
    SchemaList,
    cache_size,
    lookup_family,
    lookup_list,
    lookup_schema,
    make_state,
    parse_key,
)
from treaty.client.iglu.flow import AskRegistry, Flow
from treaty.client.iglu.http import IgluHttpClient
from treaty.client.iglu.registries import IgluRegistry, ListKey, LocalSource, RegistryAnswer, RegistryQuestion
from treaty.client.iglu.validation import ValidationResult, ValidatorCache, validate_value
from treaty.core.iglu_key import IgluKey

T = TypeVar("T")


class AsyncResolver:
    """Finds schemas in registries, in the order and with the cache of its configuration. Belongs to one event loop."""

    def __init__(
        self, config: ConfigSource, *, registries: Iterable[IgluRegistry] = (), options: ResolverOptions | None = None
    ) -> None:
        """Take a configuration (read, its JSON value, or the path of its file) and further registries.

        Asks and opens nothing yet. Raises `ResolverConfigError`.
        """
        self._options = options or ResolverOptions()
        self._state = make_state(config, registries, self._options)
        self._validators = ValidatorCache(cache_size(self._state), self._options.depth)
        self._locks: dict[Hashable, tuple[asyncio.Lock, int]] = {}
        self._http = IgluHttpClient(self._options.http)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def registries(self) -> tuple[IgluRegistry, ...]:
        """All registries, the built-in one first, then as configured."""
        return tuple(self._state.registries)

    async def lookup(self, key: IgluKey | str, *, superseding: bool = False) -> IgluSchema:
        """Return a schema, as `Resolver.lookup`."""
        return await self._run(lookup_schema(self._state, parse_key(key), superseding=superseding))

    async def list_schemas(self, vendor: str, name: str, model: int) -> SchemaList:
        """Return the list of a model, as `Resolver.list_schemas`."""
        return await self._run(lookup_list(self._state, ListKey(vendor, name, model), None))

    async def list_schemas_like(self, key: IgluKey | str) -> SchemaList:
        """Return the list of a schema's model, as `Resolver.list_schemas_like`."""
        iglu_key = parse_key(key)
        return await self._run(
            lookup_list(self._state, ListKey(iglu_key.vendor, iglu_key.name, iglu_key.version.model), iglu_key)
        )

    async def lookup_until(self, key: IgluKey | str) -> SchemaFamily:
        """Return all schemas of a model up to one, as `Resolver.lookup_until`."""
        return await self._run(lookup_family(self._state, parse_key(key)))

    async def validate(self, value: Any) -> ValidationResult:
        """Validate a self-describing value, as `Resolver.validate`."""
        return await self._run(validate_value(self._state, self._validators, value))

    def clear_cache(self) -> None:
        """Forget all schemas, lists, failures and validators."""
        if self._state.cache is not None:
            self._state.cache.clear()
        self._validators.clear()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def _run(self, flow: Flow[T]) -> T:
        """Run a generator of effects; it receives what each effect returns or raises."""
        result: Any = None
        error: Exception | None = None
        while True:
            try:
                effect = flow.send(result) if error is None else flow.throw(error)
            except StopIteration as end:
                value: T = end.value
                return value
            result, error = None, None
            try:
                if isinstance(effect, AskRegistry):
                    result = await self._ask(effect.registry, effect.question)
                else:
                    async with self._lock_key(effect.key):
                        result = await self._run(effect.flow())
            except Exception as raised:  # noqa: BLE001 (the flow decides what to do with it)
                error = raised

    async def _ask(self, registry: IgluRegistry, question: RegistryQuestion) -> RegistryAnswer:
        source = registry.source
        if not isinstance(source, LocalSource):
            return await self._http.ask(source, question)
        if source.blocks:
            return await asyncio.to_thread(source.ask, question)
        return source.ask(question)

    @asynccontextmanager
    async def _lock_key(self, key: Hashable) -> AsyncIterator[None]:
        """Hold the lock of a key in the block."""
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = lock, users - 1
