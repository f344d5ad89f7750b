"""The lease of a runner: taken at its start, from a predecessor that is gone too, and given back at its end; and the parts that it assigns."""

import secrets
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from threading import Event

from treaty.core.messages.metastore.query_feed import FedRunner
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart, ReleaseRunner
from treaty.core.refusals import Forbidden, NotFound, NotLatest, OutcomeUnknown, Refusal, RegistryError, Unavailable
from treaty.core.registry import Registry
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.assignment import PartKey, plan_moves
from treaty.spark.runner.service.heartbeat import HeartbeatWatch, RunnerHeartbeat, file_of
from treaty.spark.runner.service.shared_files import SharedFiles, read_root_id
from treaty.spark.runner.service.wanted import QuerySnapshot, WantedPart, read_snapshot

WAIT_SECONDS = 1.0
"""Seconds between two looks at a predecessor that may be alive."""


class LeaseLostError(RuntimeError):
    """The lease of this runner has ended, or is another one's; the message has the remedy."""


@dataclass(frozen=True, slots=True)
class RunnerPlace:
    """A runner among others: its name, the files that they share, and the address of its status."""

    name: str
    files: SharedFiles
    address: str = ""


@dataclass(slots=True)
class OwnLease:
    """The lease that a runner has: its epoch, its heartbeat, and what it knows of the others."""

    registry: Registry
    name: str
    epoch: int
    holder: str
    heartbeat: RunnerHeartbeat
    watch: HeartbeatWatch
    address: str = ""
    root: str = ""
    is_seen: bool = False
    """Whether the feed has had this lease."""

    def choose_parts(self, snapshot: QuerySnapshot, leaving: Collection[PartKey]) -> dict[PartKey, WantedPart]:
        """Return the parts that this runner runs now: takes free ones, ends leases of runners that are gone, and leaves out what it gives up.

        `leaving` are parts whose queries are ended already and not given back yet: they are given back. Raises `LeaseLostError`, and
        `RegistryError` where the registry gives no answer.
        """
        self._check(snapshot)
        alive = self._list_alive(snapshot)
        if self.heartbeat.is_lost:
            self._take_again()
            return {}
        owners = {
            key: part.assigned.runner if part.assigned is not None else "" for key, part in snapshot.parts.items()
        }
        moves = plan_moves(owners, alive, self.name)
        returned = [key for key in leaving if owners.get(key) == self.name and key not in moves.take]
        assigned = self._assign(snapshot, moves.take, returned)
        own = {key for key, owner in owners.items() if owner == self.name} | assigned
        return {key: snapshot.parts[key] for key in own - {*moves.release} - {*returned}}

    def close(self) -> None:
        """Give the lease and all parts back, and take the heartbeat away."""
        with suppress(RegistryError):
            while self.registry.ask(ReleaseRunner(self.name, self.epoch)).answer.more:
                pass
        self.heartbeat.close()

    def _take_again(self) -> None:
        """Take the lease under another holder once the heartbeat can be written again, before anything runs.

        Another runner that decided to end the lease, while this one was silent, names its old epoch, and is refused.
        """
        if self.heartbeat.is_silent:
            return
        holder = secrets.token_hex(8)
        with suppress(RegistryError):  # the feed says whether it was ended; the next turn tries again
            lease = self.registry.ask(AcquireRunner(self.name, holder, self.address, self.epoch, self.root)).answer
            self.holder, self.epoch, self.is_seen = holder, lease.epoch, False
            self.heartbeat.renew({"holder": holder, "epoch": lease.epoch})

    def _check(self, snapshot: QuerySnapshot) -> None:
        row = next((one for one in snapshot.runners if one.name == self.name), None)
        if row is not None and row.epoch >= self.epoch:
            self.is_seen = True
        elif not self.is_seen:
            return  # the node that was asked has not read the lease yet
        if row is None:
            raise LeaseLostError(
                f"the lease of {self.name} was ended by another runner, which had not heard of it: "
                "start it again, with the --root that all runners of this registry have"
            )
        if row.holder != self.holder:
            raise LeaseLostError(
                f"another process is the runner {self.name} now ({row.address or row.holder}): give each runner a --name of its own"
            )

    def _list_alive(self, snapshot: QuerySnapshot) -> set[str]:
        """The runners that are alive. The leases of others are ended."""
        alive = {self.name}
        self.watch.forget_all_but({one.name for one in snapshot.runners})
        for other in snapshot.runners:
            if other.name == self.name:
                continue
            if not self.watch.is_stale(other.name, other.holder):
                alive.add(other.name)
                continue
            # The lease of another principal may not be ours to end.
            with suppress(NotLatest, NotFound, Forbidden, OSError):
                if not self.registry.ask(ReleaseRunner(other.name, other.epoch)).answer.more:
                    self.watch.files.remove(file_of(other.name))
        return alive

    def _assign(self, snapshot: QuerySnapshot, take: Collection[PartKey], release: Collection[PartKey]) -> set[PartKey]:
        """Take parts and give others back; return those taken. What another runner was quicker with is left to it."""
        if not take and not release:
            return set()
        parts = [
            tuple(_part_of(snapshot.parts[key]) for key in keys if key in snapshot.parts) for keys in (take, release)
        ]
        try:
            self.registry.ask(AssignQueries(self.name, self.epoch, *parts))
        except Refusal:
            return set()  # the feed says what is so now
        return {*take}


def acquire_lease(
    registry: Registry, place: RunnerPlace, ending: Event, on_wait: Callable[[str], None]
) -> OwnLease | None:
    """Take the lease of a name, from a predecessor only once that is gone: until then this process waits in reserve, and `on_wait` is called once.

    None where `ending` was set meanwhile. Raises `RegistryError` (`NotPermitted` where runners of another root are there), and `OSError`
    where the shared root can't be written.
    """
    name, root = place.name, read_root_id(place.files)
    holder = secrets.token_hex(8)
    watch = HeartbeatWatch(place.files)
    waited = False
    while not ending.is_set():
        try:
            snapshot = read_snapshot(registry)
        except (Unavailable, OutcomeUnknown):
            if not waited:
                raise
            ending.wait(WAIT_SECONDS)  # a runner in reserve outlives a registry that starts again
            continue
        assert snapshot is not None, "without a token there is always an answer"
        row = next((one for one in snapshot.runners if one.name == name), None)
        if row is None or watch.is_stale(name, row.holder):
            try:
                lease = registry.ask(
                    AcquireRunner(name, holder, place.address, row.epoch if row is not None else 0, root)
                ).answer
            except (NotLatest, NotFound):  # another one was quicker, or the node that was asked has not read it yet
                ending.wait(WAIT_SECONDS)
                continue
            facts = {"holder": holder, "epoch": lease.epoch, "address": place.address}
            heartbeat = RunnerHeartbeat(place.files, name, facts)
            return OwnLease(registry, name, lease.epoch, holder, heartbeat, watch, place.address, root)
        if not waited:
            waited = True
            on_wait(_describe_wait(row))
        ending.wait(WAIT_SECONDS)
    return None


def _describe_wait(row: FedRunner) -> str:
    where = f" at {row.address}" if row.address else ""
    return (
        f"a runner {row.name} has the lease{where}; it is taken once that one has been silent for 15 s. "
        "If it is alive, give this one another --name"
    )


def _part_of(part: WantedPart) -> QueryPart:
    return QueryPart(key_of_name(part.source.name), part.source.generation, part.part)
