"""Answers kept on the client's side, for threads: `Memo` is the mechanism, `Cached` a `Registry` before another one."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
from treaty.core.registry import CALL, Call, Registry, Reply
from treaty.core.requests import Request

if TYPE_CHECKING:
    from treaty.core.answers import SchemaFound

A = TypeVar("A")
K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class _Flight(Generic[V]):
    """One call under way; who asks for the same thing meanwhile waits for it."""

    landed: threading.Event = field(default_factory=threading.Event)
    value: V | None = None
    error: Exception | None = None
    broken: bool = False
    """Whoever made the call was stopped: the next one makes it."""


class Memo(Generic[K, V]):
    """A bounded memory for threads: one call under way for each key, least recently used entries go first."""

    def __init__(
        self, limit: int, weigh: Callable[[V], int] = lambda _: 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep entries up to a total weight of `limit`."""
        self._lock = threading.Lock()
        self._entries: Entries[K, V] = Entries(limit, weigh, clock)
        self._flights: dict[K, _Flight[V]] = {}

    def get(
        self, key: K, make: Callable[[], V], *, ttl: float = FOR_EVER, missing_ttl: float = 0.0, fresh: bool = False
    ) -> V:
        """Return the value of a key, made once; a `NotFound` that `make` raises is kept for `missing_ttl`.

        `fresh`: what is kept, or on its way, is not good enough; what is made now is kept.
        """
        terms = Terms(ttl, missing_ttl)
        while True:
            with self._lock:
                found = None if fresh else self._entries.find(key)
                flight = None if fresh else self._flights.get(key)
                mine = found is None and flight is None
                if mine:
                    flight = self._flights[key] = _Flight()
                generation = self._entries.generation
            if found is not None:
                return opened(found)
            assert flight is not None
            if mine:
                return self._fly(key, flight, make, terms, generation)
            flight.landed.wait()
            if flight.broken:
                continue
            if flight.error is not None:
                raise flight.error
            return cast("V", flight.value)

    def clear(self) -> None:
        """Forget everything, and what calls under way will bring."""
        with self._lock:
            self._entries.clear()
            self._flights.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def _fly(self, key: K, flight: _Flight[V], make: Callable[[], V], terms: Terms, generation: int) -> V:
        flight.broken = True
        try:
            flight.value = make()
            self._store(key, flight.value, terms, generation)
        except Exception as error:
            flight.broken, flight.error = False, error
            if isinstance(error, NotFound):
                self._store(key, error, terms, generation)
            raise
        else:
            flight.broken = False
            return flight.value
        finally:
            with self._lock:
                if self._flights.get(key) is flight:
                    del self._flights[key]
            flight.landed.set()

    def _store(self, key: K, value: V | NotFound, terms: Terms, generation: int) -> None:
        with self._lock:
            self._entries.store(key, value, terms, generation)


class Cached:
    """A `Registry` that remembers. Commands that go through it make it forget what they may have changed."""

    def __init__(self, registry: Registry, keep: Keep | None = None) -> None:
        """Stand in front of `registry`, which is closed with this one."""
        self._registry = registry
        self._keep = keep or Keep()
        self._schemas: Memo[object, Reply[SchemaFound]] = Memo(self._keep.schema_bytes, weight_of)
        self._versions: Memo[object, Reply[object]] = Memo(self._keep.versions)

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer from memory where that is right, else from the registry behind."""
        kept: Memo[object, Reply[A]]
        if keeps_for_ever(request):
            kept, ttl = cast("Memo[object, Reply[A]]", self._schemas), FOR_EVER
        elif keeps_a_while(request):
            kept, ttl = cast("Memo[object, Reply[A]]", self._versions), self._keep.latest_ttl
        else:
            return self._passed(request, call)
        return kept.get(
            request,
            lambda: self._registry.ask(request, call),
            ttl=ttl,
            missing_ttl=self._keep.missing_ttl,
            fresh=wants_the_newest(call),
        )

    def close(self) -> None:
        """Close the registry behind."""
        self._registry.close()

    def _passed(self, request: Request[A], call: Call) -> Reply[A]:
        try:
            return self._registry.ask(request, call)
        finally:
            if is_command(request):
                self._versions.clear()
