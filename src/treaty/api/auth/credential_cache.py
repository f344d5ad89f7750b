"""Verified credentials, remembered for a while under a digest with a secret key: the credentials are not kept."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Generic, TypeVar

from treaty.core.limits import CREDENTIALS_KNOWN

V = TypeVar("V")


@dataclass(slots=True)
class CredentialCache(Generic[V]):
    """Values by digest, the oldest one forgotten first. `clock` is in monotonic seconds."""

    clock: Callable[[], float]
    most: int = CREDENTIALS_KNOWN
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    known: dict[bytes, tuple[V, float]] = field(default_factory=dict)

    def digest(self, credentials: bytes) -> bytes:
        """Return what credentials are remembered under. Nobody without the key can make two that begin alike."""
        return blake2b(credentials, key=self.key, digest_size=32).digest()

    def get(self, digest: bytes) -> V | None:
        """Return what is remembered and not too old."""
        found = self.known.get(digest)
        if found is None:
            return None
        value, until = found
        if self.clock() < until:
            return value
        del self.known[digest]
        return None

    def put(self, digest: bytes, value: V, until: float) -> None:
        """Remember a value until a time."""
        self.known.pop(digest, None)
        while len(self.known) >= self.most:
            del self.known[next(iter(self.known))]
        self.known[digest] = value, until

    def forget(self) -> None:
        """Forget all."""
        self.known.clear()
