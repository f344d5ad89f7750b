"""Answers kept on the client's side: schemas for ever, versions for a while, "not found" briefly.

`Memo` is the mechanism, `Cached` a `Registry` in front of another one.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from treaty.core.refusals import NotFound
from treaty.core.registry import CALL, Call, Registry, Reply
from treaty.core.requests import (
    DeleteContext,
    DeleteSubject,
    DeleteVersion,
    Derive,
    FindVersion,
    GetGuid,
    GetSchema,
    GetVersion,
    Lookup,
    Register,
    Request,
    SetConfig,
)

if TYPE_CHECKING:
    from treaty.core.answers import SchemaFound

A = TypeVar("A")
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Keep:
    """What a cache may keep, and how long (seconds)."""

    schema_bytes: int = 64 * 2**20
    """Texts of schemas by id and guid. They never change, so only this limit removes one: the one used longest ago."""
    versions: int = 10_000
    """Entries of all other kinds."""
    latest_ttl: float = 60.0
    """How long `latest`, a version by its number or metadata, and a look-up stay."""
    missing_ttl: float = 2.0
    """How long "not found" stays."""


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V | NotFound
    expires: float
    weight: int


@dataclass(slots=True)
class _Flight(Generic[V]):
    """One call under way; who asks for the same thing meanwhile waits for it."""

    landed: threading.Event = field(default_factory=threading.Event)
    value: V | None = None
    error: Exception | None = None


class Memo(Generic[K, V]):
    """A bounded memory for threads: one call under way for each key, least recently used entries go first."""

    def __init__(
        self, limit: int, weigh: Callable[[V], int] = lambda _: 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep entries up to a total weight of `limit`."""
        self._limit = limit
        self._weigh = weigh
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._flights: dict[K, _Flight[V]] = {}
        self._weight = 0
        self._generation = 0

    def get(self, key: K, make: Callable[[], V], *, ttl: float = float("inf"), missing_ttl: float = 0.0) -> V:
        """Return the value of a key, made once; a `NotFound` that `make` raises is kept for `missing_ttl`."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.expires > self._clock():
                self._entries.move_to_end(key)
                return _opened(entry.value)
            flight = self._flights.get(key)
            mine = flight is None
            if flight is None:
                flight = self._flights[key] = _Flight()
            generation = self._generation
        if mine:
            return self._fly(key, flight, make, (ttl, missing_ttl, generation))
        flight.landed.wait()
        if flight.error is not None:
            raise flight.error
        return cast("V", flight.value)

    def clear(self) -> None:
        """Forget everything, and what calls under way will bring."""
        with self._lock:
            self._entries.clear()
            self._flights.clear()
            self._weight = 0
            self._generation += 1

    def __len__(self) -> int:
        return len(self._entries)

    def _fly(self, key: K, flight: _Flight[V], make: Callable[[], V], terms: tuple[float, float, int]) -> V:
        ttl, missing_ttl, generation = terms
        try:
            flight.value = make()
            self._store(key, _Entry(flight.value, self._clock() + ttl, self._weigh(flight.value)), generation)
        except NotFound as refusal:
            flight.error = refusal
            self._store(key, _Entry(refusal, self._clock() + missing_ttl, 1), generation)
            raise
        except BaseException as error:
            flight.error = error if isinstance(error, Exception) else RuntimeError("the call was broken off")
            raise
        else:
            return flight.value
        finally:
            with self._lock:
                if self._flights.get(key) is flight:
                    del self._flights[key]
            flight.landed.set()

    def _store(self, key: K, entry: _Entry[V], generation: int) -> None:
        with self._lock:
            if generation != self._generation or entry.expires <= self._clock() or entry.weight > self._limit:
                return
            old = self._entries.pop(key, None)
            self._weight += entry.weight - (old.weight if old else 0)
            self._entries[key] = entry
            while self._weight > self._limit:
                _, gone = self._entries.popitem(last=False)
                self._weight -= gone.weight


def _opened(value: V | NotFound) -> V:
    """Return a kept value, or raise a kept refusal anew (each thread its own, for the traceback's sake)."""
    if isinstance(value, NotFound):
        raise type(value)(value.reason)
    return value


class Cached:
    """A `Registry` that remembers. Commands that go through it make it forget what they may have changed."""

    def __init__(self, registry: Registry, keep: Keep | None = None) -> None:
        """Stand in front of `registry`, which is closed with this one."""
        self._registry = registry
        self._keep = keep or Keep()
        self._schemas: Memo[object, Reply[SchemaFound]] = Memo(
            self._keep.schema_bytes, lambda reply: 512 + len(reply.answer.text)
        )
        self._versions: Memo[object, Reply[object]] = Memo(self._keep.versions)

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer from memory where that is right, else from the registry behind."""
        fresh = bool(call.after) or call.consistency == "latest"
        if fresh:
            return self._registry.ask(request, call)
        if isinstance(request, GetGuid) or (isinstance(request, GetSchema) and not request.max_id):
            schema = self._schemas.get(
                request, lambda: self._registry.ask(request, call), missing_ttl=self._keep.missing_ttl
            )
            return cast("Reply[A]", schema)
        if isinstance(request, (GetVersion, FindVersion, Lookup)):
            version = self._versions.get(
                request,
                lambda: self._registry.ask(request, call),
                ttl=self._keep.latest_ttl,
                missing_ttl=self._keep.missing_ttl,
            )
            return cast("Reply[A]", version)
        try:
            return self._registry.ask(request, call)
        finally:
            if isinstance(request, (Register, Derive, DeleteVersion, DeleteSubject, DeleteContext, SetConfig)):
                self._versions.clear()

    def close(self) -> None:
        """Close the registry behind."""
        self._registry.close()
