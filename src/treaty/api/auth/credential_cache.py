"""A cache of verified credentials by keyed digest; the credentials themselves are not kept."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, TypeVar

from treaty.core.limits import CREDENTIALS_KNOWN

V = TypeVar("V")


@dataclass(slots=True)
class CredentialCache(Generic[V]):
    """Values by digest, oldest first out. `clock` is in monotonic seconds."""

    clock: Callable[[], float]
    capacity: int = CREDENTIALS_KNOWN
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    entries: dict[bytes, tuple[V, float]] = field(default_factory=dict)

    def digest(self, credentials: bytes) -> bytes:
        """Return the keyed digest of credentials; without the key collisions cannot be constructed."""
        return blake2b(credentials, key=self.key, digest_size=32).digest()

    def get(self, digest: bytes) -> V | None:
        """Return the unexpired value of a digest."""
        entry = self.entries.get(digest)
        if entry is None:
            return None
        value, until = entry
        if self.clock() < until:
            return value
        del self.entries[digest]
        return None

    def put(self, digest: bytes, value: V, until: float) -> None:
        """Cache a value until a time."""
        self.entries.pop(digest, None)
        while len(self.entries) >= self.capacity:
            del self.entries[next(iter(self.entries))]
        self.entries[digest] = value, until

    def forget(self) -> None:
        """Forget all."""
        self.entries.clear()
