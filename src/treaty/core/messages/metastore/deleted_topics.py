"""Topics that are to be deleted, and the lease of who changes the topics of a cluster. Requests and answers."""

from dataclasses import dataclass

from treaty.core.messages.request import Request


@dataclass(frozen=True, slots=True)
class DeletedTopic:
    """A topic that was dropped with its last source: it goes at `due` (ms since the epoch). `begun`: it is being deleted."""

    cluster: str
    topic: str
    due: int
    begun: bool = False


@dataclass(frozen=True, slots=True)
class HeldLease:
    """The lease on the topics of a cluster: who has it, its epoch, and how often it was renewed."""

    cluster: str
    holder: str
    epoch: int
    renewals: int = 0


@dataclass(frozen=True, slots=True)
class DeletedTopics:
    """Topics that are to go, the next one first, and all leases on topics."""

    topics: tuple[DeletedTopic, ...] = ()
    leases: tuple[HeldLease, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicsLeased:
    """The lease that the request leaves (None: none), and those of the topics it names that are being deleted now."""

    lease: HeldLease | None
    deleting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeaseTopics(Request[TopicsLeased]):
    """Take or renew the lease on the topics of a cluster, and note what becomes of those that are to go.

    `epoch` is that of the lease that is there: the holder's own renews it, another holder takes it over, 0 takes it where there is
    none. `begin` are topics whose time has come: from then on nothing may use them. `gone` are those that the cluster has not any
    more. `release` ends the lease. Each may be repeated.
    """

    cluster: str
    holder: str
    epoch: int = 0
    begin: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    release: bool = False


@dataclass(frozen=True, slots=True)
class ListDeletedTopics(Request[DeletedTopics]):
    """Topics that are to be deleted, as far as the caller may read them, and who works on it."""
