"""The client's cache for threads: `LoadingCache`, and `CachedRegistry`, a registry that caches the answers of another."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
from treaty.core.refusals import NotFound, Unavailable
from treaty.core.registry import CALL, CallOptions, Registry, Reply

if TYPE_CHECKING:
    from treaty.core.messages.schemas import SchemaFound

A = TypeVar("A")
K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class _Load(Generic[V]):
    """A running load, which concurrent callers with the same key wait for."""

    is_done: threading.Event = field(default_factory=threading.Event)
    value: V | None = None
    error: Exception | None = None
    was_stopped: bool = False
    """The caller that ran the load was interrupted; the next one runs it."""


class LoadingCache(Generic[K, V]):
    """A bounded LRU cache for threads; concurrent calls with one key share one load."""

    def __init__(
        self, limit: int, weigh: Callable[[V], int] = lambda _: 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Cache entries up to a total weight of `limit`."""
        self._lock = threading.Lock()
        self._entries: LruEntries[K, V] = LruEntries(limit, weigh, clock)
        self._loads: dict[K, _Load[V]] = {}

    def get(
        self, key: K, make: Callable[[], V], *, ttl: float = FOREVER, missing_ttl: float = 0.0, fresh: bool = False
    ) -> V:
        """Return the cached value of a key, or that of `make`. A `NotFound` raised by `make` is cached for
        `missing_ttl`. `fresh`: ignore cached values and running loads, and cache the new value.
        """
        lifetime = TimeToLive(ttl, missing_ttl)
        while True:
            with self._lock:
                entry = None if fresh else self._entries.find(key)
                load = None if fresh else self._loads.get(key)
                is_loader = entry is None and load is None
                if is_loader:
                    load = self._loads[key] = _Load()
                generation = self._entries.generation
            if entry is not None:
                return unwrap_entry(entry)
            assert load is not None
            if is_loader:
                return self._load(key, load, make, lifetime, generation)
            load.is_done.wait()
            if load.was_stopped:
                continue
            if load.error is not None:
                raise load.error
            return cast("V", load.value)

    def get_or_expired(self, key: K, make: Callable[[], V], *, ttl: float) -> V:
        """Return the value as `get` does; an expired one where `make` raises `Unavailable`."""
        try:
            return self.get(key, make, ttl=ttl)
        except Unavailable:
            with self._lock:
                expired = self._entries.find_expired(key)
            if expired is None:
                raise
            return expired

    def clear(self) -> None:
        """Clear the cache, and discard the results of running loads."""
        with self._lock:
            self._entries.clear()
            self._loads.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def _load(self, key: K, load: _Load[V], make: Callable[[], V], ttl: TimeToLive, generation: int) -> V:
        load.was_stopped = True
        try:
            load.value = make()
            self._store(key, load.value, ttl, generation)
        except Exception as error:
            load.was_stopped, load.error = False, error
            if isinstance(error, NotFound):
                self._store(key, error, ttl, generation)
            raise
        else:
            load.was_stopped = False
            return load.value
        finally:
            with self._lock:
                if self._loads.get(key) is load:
                    del self._loads[key]
            load.is_done.set()

    def _store(self, key: K, value: V | NotFound, ttl: TimeToLive, generation: int) -> None:
        with self._lock:
            self._entries.store(key, value, ttl, generation)


class CachedRegistry:
    """A `Registry` with a cache. A command sent through it removes the answers that it may change."""

    def __init__(self, registry: Registry, policy: CachePolicy | None = None) -> None:
        """Cache the answers of `registry`, which is closed with this object."""
        self._registry = registry
        self._policy = policy or CachePolicy()
        self._schemas: LoadingCache[object, Reply[SchemaFound]] = LoadingCache(self._policy.schema_bytes, weigh_reply)
        self._versions: LoadingCache[object, Reply[object]] = LoadingCache(self._policy.versions)

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request from the cache if allowed, else from the registry."""
        cache: LoadingCache[object, Reply[A]]
        if is_immutable(request):
            cache, ttl = cast("LoadingCache[object, Reply[A]]", self._schemas), FOREVER
        elif is_cacheable(request):
            cache, ttl = cast("LoadingCache[object, Reply[A]]", self._versions), self._policy.latest_ttl
        else:
            return self._forward(request, call)
        return cache.get(
            request,
            lambda: self._registry.ask(request, call),
            ttl=ttl,
            missing_ttl=self._policy.missing_ttl,
            fresh=needs_fresh_answer(call),
        )

    def close(self) -> None:
        """Close the underlying registry."""
        self._registry.close()

    def _forward(self, request: Request[A], call: CallOptions) -> Reply[A]:
        try:
            return self._registry.ask(request, call)
        finally:
            if is_command(request):
                self._versions.clear()
