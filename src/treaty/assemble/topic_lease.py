"""`TopicLeases`: the leases that one server has on the topics of clusters, taken and kept by commits."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from treaty.core.messages.metastore.deleted_topics import HeldLease, LeaseTopics, TopicsLeased
from treaty.core.refusals import NotLatest
from treaty.core.registry import AsyncRegistry

RENEW_SECONDS = 30.0
"""Seconds after which a lease is renewed while it is needed."""
STALE_SECONDS = 90.0
"""Seconds by the clock of who looks on after which a lease that was not renewed is taken over."""


def make_holder() -> str:
    """Return a name for this process that no other one has: host, process and a random part."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class SeenLease:
    """A lease of another server, and since when it has not changed, by the clock here."""

    lease: HeldLease
    since: float


@dataclass(slots=True)
class TopicLeases:
    """Leases by cluster. `clock` is a clock of seconds that never goes back."""

    holder: str = field(default_factory=make_holder)
    clock: Callable[[], float] = time.monotonic
    _held: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By cluster, the epoch of an own lease and when it was renewed."""
    _seen: dict[str, SeenLease] = field(default_factory=dict)

    async def take(
        self, registry: AsyncRegistry, cluster: str, leases: Iterable[HeldLease], begin: tuple[str, ...] = ()
    ) -> TopicsLeased | None:
        """Take or renew the lease on a cluster and begin deletions; None where another server has it. Raises `RegistryError`."""
        present = next((lease for lease in leases if lease.cluster == cluster), None)
        if present is not None and present.holder != self.holder and not self._is_stale(present):
            self._held.pop(cluster, None)
            return None
        epoch = 0 if present is None else present.epoch
        return await self._ask(registry, LeaseTopics(cluster, self.holder, epoch, begin))

    async def keep(self, registry: AsyncRegistry, cluster: str) -> bool:
        """Renew a lease that is RENEW_SECONDS old; return whether it is still there. Raises `RegistryError`."""
        if cluster not in self._held:
            return False
        epoch, renewed = self._held[cluster]
        if self.clock() - renewed < RENEW_SECONDS:
            return True
        return await self._ask(registry, LeaseTopics(cluster, self.holder, epoch)) is not None

    async def note(self, registry: AsyncRegistry, cluster: str, gone: tuple[str, ...], *, release: bool) -> None:
        """Say which topics are gone, and give the lease back if nothing is left to do. Raises `RegistryError`."""
        if cluster in self._held and (gone or release):
            epoch, _ = self._held[cluster]
            await self._ask(registry, LeaseTopics(cluster, self.holder, epoch, gone=gone, release=release))

    async def release(self, registry: AsyncRegistry, cluster: str, leases: Iterable[HeldLease]) -> None:
        """Give the lease on a cluster back, if this server has it. Raises `RegistryError`."""
        own = (lease for lease in leases if (lease.cluster, lease.holder) == (cluster, self.holder))
        for lease in own:
            await self._ask(registry, LeaseTopics(cluster, self.holder, lease.epoch, release=True))

    async def release_all(self, registry: AsyncRegistry) -> None:
        """Give all leases back. Raises `RegistryError`."""
        for cluster in list(self._held):
            await self.note(registry, cluster, (), release=True)

    def _is_stale(self, lease: HeldLease) -> bool:
        """Return whether another server has not renewed its lease for STALE_SECONDS, as far as it was seen from here."""
        before = self._seen.get(lease.cluster)
        if before is None or before.lease != lease:
            self._seen[lease.cluster] = SeenLease(lease, self.clock())
            return False
        return self.clock() - before.since >= STALE_SECONDS

    async def _ask(self, registry: AsyncRegistry, request: LeaseTopics) -> TopicsLeased | None:
        try:
            answer = (await registry.ask(request)).answer
        except NotLatest:  # another server was first
            self._held.pop(request.cluster, None)
            return None
        if answer.lease is None:
            self._held.pop(request.cluster, None)
        else:
            self._held[request.cluster] = (answer.lease.epoch, self.clock())
        return answer
