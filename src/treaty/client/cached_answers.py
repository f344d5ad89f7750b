"""Which answers of a registry a client's cache keeps (`is_immutable`, `is_cacheable`), and the entries themselves: until when an
answer or a "not found" counts, and which go first (`LruEntries`). The times are those of a `CachePolicy`. No threads, no event loops.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetSchema, SchemaFound
from treaty.core.messages.versions import FindVersion, GetVersion, Lookup
from treaty.core.refusals import NotFound
from treaty.core.registry import FRESH, CallOptions, Reply

K = TypeVar("K")
V = TypeVar("V")

FOREVER = float("inf")


def is_immutable(request: Request[Any]) -> bool:
    """Return whether an answer is immutable: a schema by id or guid."""
    return isinstance(request, GetGuid) or (isinstance(request, GetSchema) and not request.max_id)


def is_cacheable(request: Request[Any]) -> bool:
    """Return whether an answer is cached with a time to live, until a command may have changed it."""
    return isinstance(request, (GetVersion, FindVersion, Lookup))


def needs_fresh_answer(call: CallOptions) -> bool:
    """Return whether a call demands a newer state than a cached answer guarantees."""
    return bool(call.after) or call.consistency in FRESH


def weigh_reply(reply: Reply[SchemaFound]) -> int:
    """Return the weight of a cached schema in characters: its text and a constant."""
    return 512 + len(reply.answer.text)


@dataclass(frozen=True, slots=True)
class TimeToLive:
    """Times to live, in seconds, of a value and of "not found"."""

    found: float = FOREVER
    missing: float = 0.0


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V | NotFound
    expires: float
    weight: int


class LruEntries(Generic[K, V]):
    """Values and cached refusals by key, up to a total weight, least recently used first out. Not thread-safe."""

    def __init__(self, limit: int, weigh: Callable[[V], int], clock: Callable[[], float]) -> None:
        """Cache entries up to a total weight of `limit`; `clock` is a monotonic clock in seconds."""
        self._limit = limit
        self._weigh = weigh
        self._clock = clock
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._weight = 0
        self.generation = 0
        """Number of clears so far; the result of a load that began before a clear is not cached."""

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: K) -> V | NotFound | None:
        """Return the unexpired entry of a key, or None."""
        entry = self._entries.get(key)
        if entry is None or entry.expires <= self._clock():
            return None
        self._entries.move_to_end(key)
        return entry.value

    def find_expired(self, key: K) -> V | None:
        """Return the value of a key, expired or not; None without one, or for a cached refusal."""
        entry = self._entries.get(key)
        return None if entry is None or isinstance(entry.value, NotFound) else entry.value

    def store(self, key: K, value: V | NotFound, ttl: TimeToLive, generation: int) -> None:
        """Cache a value, unless the cache was cleared since its `generation`, its time to live is zero, or it is too
        large.
        """
        missing = isinstance(value, NotFound)
        seconds = ttl.missing if missing else ttl.found
        weight = 1 if missing else self._weigh(cast("V", value))
        if generation != self.generation:
            return
        old = self._entries.pop(key, None)
        self._weight -= old.weight if old else 0
        if seconds <= 0 or weight > self._limit:
            return
        self._weight += weight
        self._entries[key] = _Entry(value, self._clock() + seconds, weight)
        while self._weight > self._limit:
            _, gone = self._entries.popitem(last=False)
            self._weight -= gone.weight

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self._weight = 0
        self.generation += 1


def unwrap_entry(value: V | NotFound) -> V:
    """Return a cached value, or raise a copy of a cached refusal, so that each caller has its own traceback."""
    if isinstance(value, NotFound):
        raise type(value)(value.reason)
    return value
