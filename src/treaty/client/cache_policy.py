"""What a cache keeps: which answers, for how long, and within which bounds; without threads or loops."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from treaty.core.answers import SchemaFound
from treaty.core.refusals import NotFound
from treaty.core.registry import FRESH, CallOptions, Reply
from treaty.core.requests import FindVersion, GetGuid, GetSchema, GetVersion, Lookup, Request

K = TypeVar("K")
V = TypeVar("V")

FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """What a cache may keep, and how long (seconds)."""

    schema_bytes: int = 64 * 2**20
    """Texts of schemas by id and guid. They never change, so only this limit removes one: the one used longest ago."""
    versions: int = 10_000
    """Entries of all other kinds."""
    latest_ttl: float = 60.0
    """How long `latest`, a version by its number or metadata, and a look-up stay."""
    missing_ttl: float = 2.0
    """How long "not found" stays."""


def is_immutable(request: Request[Any]) -> bool:
    """Return whether an answer never changes: a schema by its id or guid."""
    return isinstance(request, GetGuid) or (isinstance(request, GetSchema) and not request.max_id)


def is_cacheable(request: Request[Any]) -> bool:
    """Return whether an answer is kept until its time is over, or a command may have changed it."""
    return isinstance(request, (GetVersion, FindVersion, Lookup))


def needs_fresh_answer(call: CallOptions) -> bool:
    """Return whether a call asks for more than what was kept can promise."""
    return bool(call.after) or call.consistency in FRESH


def weigh_reply(reply: Reply[SchemaFound]) -> int:
    """Bytes that a kept schema counts as: its text, and what goes with it."""
    return 512 + len(reply.answer.text)


@dataclass(frozen=True, slots=True)
class TimeToLive:
    """How long a value stays, and how long "not found" does (seconds)."""

    found: float = FOREVER
    missing: float = 0.0


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V | NotFound
    expires: float
    weight: int


class LruEntries(Generic[K, V]):
    """Values and kept refusals by key, up to a total weight; what was used longest ago goes first. Holds no lock."""

    def __init__(self, limit: int, weigh: Callable[[V], int], clock: Callable[[], float]) -> None:
        """Keep entries up to a total weight of `limit`; `clock` counts seconds and never goes back."""
        self._limit = limit
        self._weigh = weigh
        self._clock = clock
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._weight = 0
        self.generation = 0
        """Rises whenever everything is forgotten; what was asked for before is not kept."""

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: K) -> V | NotFound | None:
        """Return what is kept and has time left; None where nothing is."""
        entry = self._entries.get(key)
        if entry is None or entry.expires <= self._clock():
            return None
        self._entries.move_to_end(key)
        return entry.value

    def store(self, key: K, value: V | NotFound, ttl: TimeToLive, generation: int) -> None:
        """Keep a value, unless all was forgotten since its `generation`, its time is over, or it is too large."""
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
    """Return a kept value, or raise a kept refusal: a new one for each caller, with its own traceback."""
    if isinstance(value, NotFound):
        raise type(value)(value.reason)
    return value
