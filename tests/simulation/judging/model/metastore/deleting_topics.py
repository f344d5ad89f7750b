"""Topics that go after their last source was dropped with them, and who may change the topics of a cluster."""

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import Event, LeaseChanged, TopicDeleted
from tests.simulation.judging.model.metastore.state import Place, leases, unwanted
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may_bind
from tests.simulation.judging.model.rights import Need
from treaty.core import limits
from treaty.core.messages.metastore import deleted_topics as t
from treaty.core.refusals import InvalidSource, NotLatest, TooLarge
from treaty.core.sources import Topic, TopicLease


def of_lease_topics(request: t.LeaseTopics) -> list[Need]:
    """Planning somewhere, and deleting each topic that it is about."""
    named = (*request.begin, *request.gone)
    return [Need(("plan",), source="*"), *(Need(("delete",), topic=(name, "", "value")) for name in named)]


def list_deleted_topics(past: Past, asking: Asking, request: t.ListDeletedTopics) -> Yes:
    """Those that the caller may read, the next one first."""
    due = sorted((row.due, place, row.desired) for place, row in unwanted(past).items())
    topics = tuple(
        t.DeletedTopic(*place, time, desired == "deleting")
        for time, place, desired in due[: limits.TOPICS_DELETED]
        if asking.access is None or may_bind(asking.access, (place[1], "", "value"), "read")
    )
    return Yes((), t.DeletedTopics(topics, tuple(_held(name, lease) for name, lease in leases(past).items())))


def _held(cluster: str, lease: TopicLease) -> t.HeldLease:
    return t.HeldLease(cluster, lease.holder, lease.epoch, lease.renewals)


def lease_topics(past: Past, asking: Asking, request: t.LeaseTopics) -> Yes:
    """Who names the epoch that is there gets the lease, and says which topics go and which are gone."""
    _refuse_bad(request)
    old = leases(past).get(request.cluster)
    if (old.epoch if old else 0) != request.epoch:
        raise No(NotLatest, "TOPIC_LEASE_LOST")
    if old is None and not request.release and len(leases(past)) >= limits.TOPIC_LEASES:
        raise No(TooLarge, "TOPIC_LEASES")
    own = old is not None and old.holder == request.holder
    lease = (
        TopicLease(old.epoch, old.holder, old.renewals + 1)
        if old is not None and own
        else TopicLease(past.sequence + 1, request.holder)
    )
    events: list[Event] = []
    going = unwanted(past)
    begun = [name for name in dict.fromkeys(request.begin) if _begins(going, (request.cluster, name), asking.time)]
    for name in begun:
        place = (request.cluster, name)
        if going[place].desired == "deleted":
            events.append(TopicDeleted(place, Topic("deleting", due=going[place].due)))
    for name in dict.fromkeys(request.gone):
        place = (request.cluster, name)
        if name not in request.begin and place in going and going[place].desired == "deleting":
            events.append(TopicDeleted(place, None))
    if request.release:
        ended = [LeaseChanged(request.cluster, None)] if old is not None else []
        return Yes((*events, *ended), t.TopicsLeased(None, tuple(begun)))
    held = LeaseChanged(request.cluster, lease)
    return Yes((*events, held), t.TopicsLeased(_held(request.cluster, lease), tuple(begun)))


def _begins(going: dict[Place, Topic], place: Place, time: int) -> bool:
    row = going.get(place)
    return row is not None and (row.desired == "deleting" or row.due <= time)


def _refuse_bad(request: t.LeaseTopics) -> None:
    if not 0 < len(request.holder) <= limits.PLANNER_NAME or not request.holder.isprintable():
        raise No(InvalidSource, "TOPIC_LEASE_HOLDER")
    if not 0 < len(request.cluster) <= limits.NAME_LENGTH:
        raise No(InvalidSource, "TOPIC_LEASE_CLUSTER")
    if len(request.begin) + len(request.gone) > limits.TOPICS_DELETED:
        raise No(TooLarge, "TOPICS_DELETED")
