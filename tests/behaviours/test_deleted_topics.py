"""A topic goes after its last source was dropped with it: once, after its time, and not where a source wants it again."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from treaty import connect
from treaty.assemble.topic_lease import RENEW_SECONDS, STALE_SECONDS, TopicLeases
from treaty.client.connection import Connection
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore.deleted_topics import (
    DeletedTopic,
    DeletedTopics,
    LeaseTopics,
    ListDeletedTopics,
    TopicsLeased,
)
from treaty.core.messages.request import Request
from treaty.core.refusals import Forbidden, Refusal, Unavailable
from treaty.core.registry import CALL, CallOptions, Reply, run_exchange
from treaty.metastore import Metastore
from treaty.metastore.execution.topic_statements import FindObstacles, show_topics

STREAM = "CREATE STREAM {0} (v INT) WITH (KAFKA_TOPIC = '{1}', VALUE_FORMAT = 'AVRO', DELETE_GRACE_MS = {2})"


@pytest.fixture
def it() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


@dataclass
class WithoutBrokers:
    """A registry beside a cluster that does not answer; `asked` has what is asked of the cluster."""

    it: Connection
    asked: list[FindObstacles] = field(default_factory=list)

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if isinstance(request, FindObstacles):
            self.asked.append(request)
            raise Unavailable("no broker answers")
        return self.it.ask(request, call)

    def close(self) -> None:
        self.it.close()


def run(it: Connection, *statements: str) -> str:
    """The message of the last statement, or the rule of what refuses it."""
    try:
        return Metastore(it.registry).run("; ".join(statements))[-1].message
    except Refusal as refusal:
        return refusal.reason.rule


def deleted(it: Connection) -> DeletedTopics:
    return it.ask(ListDeletedTopics()).answer


def lease(it: Connection, holder: str = "a", epoch: int = 0, **more: Any) -> TopicsLeased:
    return it.ask(LeaseTopics("main", holder, epoch, **more)).answer


def refused(it: Connection, holder: str = "a", epoch: int = 0, **more: Any) -> str:
    with pytest.raises(Refusal) as refusal:
        lease(it, holder, epoch, **more)
    return refusal.value.reason.rule


def test_leases_of_clusters_are_bounded(it: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of a cluster is any text, so that without a limit leases could grow."""
    monkeypatch.setattr(limits, "TOPIC_LEASES", 2)
    leases = [it.ask(LeaseTopics(name, "a")).answer.lease for name in ("main", "east")]
    with pytest.raises(Refusal) as refused:
        it.ask(LeaseTopics("west", "a"))
    assert (refused.value.reason.rule, refused.value.reason.path) == ("TOPIC_LEASES", "/cluster")
    assert leases[0] is not None
    assert lease(it, epoch=leases[0].epoch).lease is not None, "what is held is renewed"
    assert lease(it, epoch=leases[0].epoch, release=True).lease is None
    assert it.ask(LeaseTopics("west", "a")).answer.lease is not None


def test_a_topic_goes_after_its_time_and_an_undrop_or_another_source_withdraws_it(it: Connection) -> None:
    run(it, STREAM.format("a", "t", limits.DROP_GRACE))
    assert "goes after" in run(it, "DROP STREAM a DELETE TOPIC")
    (gone,) = deleted(it).topics
    assert (gone.cluster, gone.topic, gone.begun) == ("main", "t", False)
    assert lease(it, begin=("t",)).deleting == (), "its time has not come"
    assert lease(it, epoch=deleted(it).leases[0].epoch, release=True).lease is None
    shown = Metastore(it.registry).run("SHOW TOPICS; SHOW TOPICS EXTENDED")
    assert shown[0].rows[0][:4] == ("t", "main", None, "")
    assert "unless UNDROP" in str(shown[0].rows[0][4])
    assert shown[1].rows[0][7] == "deleted"
    run(it, "UNDROP STREAM a")
    assert deleted(it).topics == ()
    run(it, "DROP STREAM a DELETE TOPIC", STREAM.format("b", "t", 0))
    assert deleted(it).topics == (), "another source stands over it"
    run(it, STREAM.format("c", "t", 0))
    assert run(it, "DROP STREAM b DELETE TOPIC") == "TOPIC_USED"


def test_a_deletion_that_has_begun_is_ended_and_nothing_uses_the_topic_meanwhile(it: Connection) -> None:
    run(it, STREAM.format("a", "t", 0), "DROP STREAM a DELETE TOPIC")
    held = lease(it, begin=("t", "other"))
    assert held.lease is not None
    assert held.deleting == ("t",)
    assert deleted(it).topics == (DeletedTopic("main", "t", deleted(it).topics[0].due, True),)
    assert run(it, "UNDROP STREAM a") == run(it, STREAM.format("b", "t", 0)) == "TOPIC_DELETING"
    again = lease(it, epoch=held.lease.epoch, begin=("t",))
    assert (again.deleting, again.lease and again.lease.renewals) == (("t",), 1), "it may be repeated"
    assert lease(it, epoch=held.lease.epoch, gone=("t", "other"), release=True) == TopicsLeased(None)
    assert deleted(it) == DeletedTopics()
    assert run(it, "UNDROP STREAM a") == "Stream a restored"


def test_a_cluster_is_asked_once_about_all_topics_that_are_being_deleted(it: Connection) -> None:
    """One that does not answer costs the time of one request, however many topics go."""
    for name in ("a", "b", "c"):
        run(it, STREAM.format(name, name, 0), f"DROP STREAM {name} DELETE TOPIC")
    assert lease(it, begin=("a", "b", "c")).deleting == ("a", "b", "c")
    registry = WithoutBrokers(it)
    listing = run_exchange(registry, show_topics(extended=True))
    assert registry.asked == [FindObstacles("main", ("a", "b", "c"))]
    assert [row[7:] for row in listing.rows] == [("deleting", "is being deleted; no broker answers")] * 3


def test_a_lease_belongs_to_who_names_its_epoch(it: Connection) -> None:
    assert refused(it, epoch=7) == "TOPIC_LEASE_LOST"
    first = lease(it).lease
    assert first is not None
    assert refused(it, "b") == refused(it, "b", first.epoch + 1) == "TOPIC_LEASE_LOST"
    taken = lease(it, "b", first.epoch).lease
    assert taken is not None
    assert taken.epoch > first.epoch
    assert refused(it, epoch=first.epoch, gone=("t",)) == "TOPIC_LEASE_LOST"
    assert refused(it, "", taken.epoch) == "TOPIC_LEASE_HOLDER"
    assert refused(it, "b", taken.epoch, begin=("t",) * (limits.TOPICS_DELETED + 1)) == "TOPICS_DELETED"


def test_so_many_topics_are_to_go(it: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOPICS_DELETED", 1)
    run(it, STREAM.format("a", "t", 0), STREAM.format("b", "u", 0), "DROP STREAM a DELETE TOPIC")
    assert run(it, "DROP STREAM b DELETE TOPIC") == "TOPICS_DELETED"


def test_who_may_not_read_a_topic_does_not_see_that_it_goes(it: Connection) -> None:
    run(it, STREAM.format("a", "t", 0), "DROP STREAM a DELETE TOPIC")

    def as_reader(topics: tuple[str, ...], may: Any = "read") -> CallOptions:
        rule = AccessRule(("user:a",), with_included((may,)), ("*",), topics=topics, sources=("*",))
        return CallOptions(principal="user:a", access=Access((rule,)))

    assert it.ask(ListDeletedTopics(), as_reader(("x",))).answer.topics == ()
    assert len(it.ask(ListDeletedTopics(), as_reader(("t",))).answer.topics) == 1
    with pytest.raises(Forbidden):
        it.ask(LeaseTopics("main", "a", begin=("t",)), as_reader(("*",), "plan"))


@dataclass
class OverLoop:
    """A connection as a registry for asyncio, which counts commits."""

    connection: Connection
    commits: list[LeaseTopics] = field(default_factory=list)

    async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if isinstance(request, LeaseTopics):
            self.commits.append(request)
        return self.connection.ask(request, call)

    async def close(self) -> None:
        self.connection.close()


def test_a_lease_is_renewed_in_time_and_taken_over_once_it_is_stale(it: Connection) -> None:
    registry, now = OverLoop(it), [0.0]
    a, b = (TopicLeases(name, lambda: now[0]) for name in "ab")

    async def story() -> None:
        assert await a.take(registry, "main", deleted(it).leases) is not None
        assert await b.take(registry, "main", deleted(it).leases) is None
        now[0] = RENEW_SECONDS - 1
        assert await a.keep(registry, "main")
        assert len(registry.commits) == 1, "it is young"
        now[0] = RENEW_SECONDS
        assert await a.keep(registry, "main")
        assert len(registry.commits) == 2
        assert await b.take(registry, "main", deleted(it).leases) is None, "it was renewed"
        now[0] += STALE_SECONDS - 1
        assert await b.take(registry, "main", deleted(it).leases) is None
        now[0] += 1
        assert await b.take(registry, "main", deleted(it).leases) is not None
        assert not await a.keep(registry, "main"), "another one has it"
        await b.release_all(registry)

    asyncio.run(story())
    assert deleted(it).leases == ()
