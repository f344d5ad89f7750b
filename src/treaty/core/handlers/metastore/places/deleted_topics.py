"""Topics that go after the last source over them was dropped, and the lease of who changes the topics of a cluster."""

from dataclasses import replace
from itertools import islice
from typing import Any

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.access.rights import TopicPart
from treaty.core.command import Command, Decision
from treaty.core.messages.metastore.deleted_topics import (
    DeletedTopic,
    DeletedTopics,
    HeldLease,
    LeaseTopics,
    ListDeletedTopics,
    TopicsLeased,
)
from treaty.core.refusals import InvalidSource, NotLatest, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import DELETED, DELETING, Source, Topic, TopicLease
from treaty.core.state.metastore.indexes import TOPIC_BY_DUE
from treaty.core.state.metastore.keys import TopicKey, TopicLeaseKey
from treaty.core.state.metastore.tables import TOPIC, TOPIC_LEASE
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.view import ALL_KEYS, View

GRACE = "DELETE_GRACE_MS"
"""The property of a source that shortens the time for which its topic stays after DROP … DELETE TOPIC."""


def due_of(source: Source, time: int) -> int:
    """Return when the topic of a source that is dropped at `time` goes, in ms: after DROP_GRACE, or what its property says."""
    text = dict(source.properties).get(GRACE, "")
    grace = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else limits.DROP_GRACE
    return time + min(grace, limits.DROP_GRACE)


def refuse_many_deleted(view: View) -> None:
    """Raise `TooLarge` where limits.TOPICS_DELETED topics are to go already."""
    if sum(1 for _ in _walk_deleted(without_filter(view)[0])) >= limits.TOPICS_DELETED:
        raise TooLarge.of(
            "TOPICS_DELETED",
            "Too many topics are to be deleted",
            path="/delete_topic",
            allowed=f"at most {limits.TOPICS_DELETED}; start a server with their clusters, `treaty serve --cluster NAME=FILE`",
        )


def _walk_deleted(base: View) -> "islice[Any]":
    return islice(base.walk(TOPIC_BY_DUE, ("",), ("\0",)), limits.TOPICS_DELETED)


def list_deleted_topics(
    view: View, command: Command[ListDeletedTopics], engine: SchemaEngine
) -> Decision[DeletedTopics]:
    """Return the topics that are to go, and the leases."""
    base, access = without_filter(view)[0], command.access
    topics = []
    for _, due, cluster, topic in _walk_deleted(base):
        row = base.get(TOPIC, TopicKey(cluster, topic))
        if row is not None and (access is None or access.may_associate("read", TopicPart(topic, "", "value"))):
            topics.append(DeletedTopic(cluster, topic, due, row.desired == DELETING))
    leased = ((key.cluster, base.get(TOPIC_LEASE, key)) for key in base.walk(TOPIC_LEASE, *ALL_KEYS))
    leases = tuple(_describe(cluster, lease) for cluster, lease in leased if lease is not None)
    return Decision((), DeletedTopics(tuple(topics), leases))


def _describe(cluster: str, lease: TopicLease) -> HeldLease:
    return HeldLease(cluster, lease.holder, lease.epoch, lease.renewals)


def lease_topics(view: View, command: Command[LeaseTopics], engine: SchemaEngine) -> Decision[TopicsLeased]:
    """Take, renew or end a lease, and change the rows of topics that it is about."""
    request, base = command.request, without_filter(view)[0]
    _refuse_bad_request(request)
    key = TopicLeaseKey(request.cluster)
    stored = base.get(TOPIC_LEASE, key)
    if request.epoch != (0 if stored is None else stored.epoch):
        raise NotLatest.of(
            "TOPIC_LEASE_LOST",
            f"The lease on the topics of the cluster {request.cluster} is another one",
            path="/epoch",
            old="no lease" if stored is None else f"{stored.holder} at {stored.epoch}",
            new=f"{request.holder} at {request.epoch}",
            allowed="look at the leases, and take one that is not renewed any more by its epoch; 0 where there is none",
        )
    if stored is None and not request.release:
        _refuse_many_leases(base)
    if stored is not None and stored.holder == request.holder:
        lease = replace(stored, renewals=stored.renewals + 1)
    else:
        extra = () if stored is None else stored.extra
        lease = TopicLease(base.sequence + 1, request.holder, extra=extra)
    topics, deleting = _changed_topics(base, command)
    if request.release:
        rows = () if stored is None else (make_tombstone(TOPIC_LEASE, key),)
        return Decision((*topics, *rows), TopicsLeased(None, deleting))
    return Decision((*topics, make_row(TOPIC_LEASE, key, lease)), TopicsLeased(_describe(key.cluster, lease), deleting))


def _refuse_many_leases(base: View) -> None:
    if sum(1 for _ in islice(base.walk(TOPIC_LEASE, *ALL_KEYS), limits.TOPIC_LEASES)) >= limits.TOPIC_LEASES:
        raise TooLarge.of(
            "TOPIC_LEASES",
            "The topics of too many clusters are being changed",
            path="/cluster",
            allowed=f"at most {limits.TOPIC_LEASES}; release the leases of clusters that are done",
        )


def _changed_topics(base: View, command: Command[LeaseTopics]) -> tuple[list[Row], tuple[str, ...]]:
    """Return rows of topics whose deletion begins or has ended, and the names of those that are being deleted."""
    request, rows, deleting = command.request, list[Row](), list[str]()
    for name in dict.fromkeys(request.begin):
        key = TopicKey(request.cluster, name)
        row = base.get(TOPIC, key)
        if row is not None and row.desired == DELETED and row.due <= command.time:
            rows.append(make_row(TOPIC, key, Topic(DELETING, due=row.due, extra=row.extra)))
            deleting.append(name)
        elif row is not None and row.desired == DELETING:
            deleting.append(name)
    for name in dict.fromkeys(request.gone):
        key = TopicKey(request.cluster, name)
        row = base.get(TOPIC, key)
        if row is not None and row.desired == DELETING and name not in request.begin:
            rows.append(make_tombstone(TOPIC, key))
    return rows, tuple(deleting)


def _refuse_bad_request(request: LeaseTopics) -> None:
    if not request.holder or len(request.holder) > limits.PLANNER_NAME or not request.holder.isprintable():
        raise InvalidSource.of(
            "TOPIC_LEASE_HOLDER",
            f"'{request.holder[:100]}' can't be the name of who holds a lease",
            path="/holder",
            new=request.holder[: limits.PLANNER_NAME],
            allowed=f"1 to {limits.PLANNER_NAME} printable characters, other ones for each process",
        )
    if not request.cluster or len(request.cluster) > limits.NAME_LENGTH:
        raise InvalidSource.of(
            "TOPIC_LEASE_CLUSTER",
            f"'{request.cluster[:100]}' can't be the name of a cluster",
            path="/cluster",
            new=request.cluster[: limits.PLANNER_NAME],
            allowed=f"1 to {limits.NAME_LENGTH} characters",
        )
    if len(request.begin) + len(request.gone) > limits.TOPICS_DELETED:
        raise TooLarge.of(
            "TOPICS_DELETED",
            "One request is about too many topics",
            path="/begin",
            new=str(len(request.begin) + len(request.gone)),
            allowed=f"at most {limits.TOPICS_DELETED}",
        )
