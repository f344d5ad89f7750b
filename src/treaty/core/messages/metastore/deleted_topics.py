"""The requests that take the lease on the topics of a cluster and list topics to be deleted: their members, defaults and answers; decided in
`core/handlers/metastore/places/deleted_topics.py`.
"""

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
    """The lease on the topics of a cluster, and who has it.

    `epoch` is the sequence of the commit that gave it to this holder, so that a later holder has a higher one. `renewals` counts how often the
    holder renewed it since: a lease whose number stands still may be taken over.
    """

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
    none; with any other `epoch` the request is refused. `begin` are topics whose time has come: from then on nothing may use them. `gone` are
    those that the cluster has not any more. `release` ends the lease; a lease that is not there stays so. Each may be repeated.

    Passed over, without an error: a topic of `begin` that is not to be deleted or is not due yet, and one of `gone` whose deletion has not
    begun, or that `begin` names too.
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
