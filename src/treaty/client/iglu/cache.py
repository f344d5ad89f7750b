"""The cache of a resolver: entries with the time when they were stored, the least recently used one evicted first."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from treaty.client.iglu.errors import NO_FAILURES, Failures


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item, and the name of the registry that gave it."""

    item: Any = field(repr=False)
    registry: str


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """An item, or the failures of all registries; and when it was stored, in milliseconds since 1970.

    `stale` has the failures of the registries since a stored item expired; it is empty for a fresh one.
    """

    stored: int
    value: "FoundItem | Failures"
    stale: Failures = field(default_factory=lambda: NO_FAILURES)

    def is_fresh(self, now: int, ttl: int | None) -> bool:
        """Whether fewer than `ttl` milliseconds have passed since it was stored."""
        return ttl is None or now - self.stored < ttl


class ResolverCache:
    """Entries by key; schemas, lists and families have `size` each. Threads may share it."""

    def __init__(self, size: int) -> None:
        """Keep at most `size` entries of each kind."""
        self.size = size
        self._lock = threading.Lock()
        self._kinds: dict[str, OrderedDict[Hashable, CacheEntry]] = {}

    def get(self, kind: str, key: Hashable) -> CacheEntry | None:
        """The entry of a key, expired or not; it becomes the most recently used one."""
        with self._lock:
            entries = self._kinds.get(kind)
            entry = None if entries is None else entries.get(key)
            if entries is not None and entry is not None:
                entries.move_to_end(key)
            return entry

    def put(self, kind: str, key: Hashable, entry: CacheEntry) -> None:
        """Store an entry, and evict the least recently used one past the size."""
        with self._lock:
            entries = self._kinds.setdefault(kind, OrderedDict())
            entries[key] = entry
            entries.move_to_end(key)
            if len(entries) > self.size:
                entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kinds.clear()
