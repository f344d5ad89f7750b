"""From a URL to a log on Kafka: the topic made ready, reached, and read by the discipline that the URL names."""

from treaty.core.schema import Pairs
from treaty.log.kafka.any.log import AnyLog
from treaty.log.kafka.broker.election import BrokerElection, Onlooker, Visitor
from treaty.log.kafka.broker.link import BrokerLink
from treaty.log.kafka.broker.place import place_of
from treaty.log.kafka.broker.topic import Topic
from treaty.log.kafka.broker.transactions import BrokerTransactions
from treaty.log.kafka.owner.log import OwnerLog
from treaty.log.log import Log


async def opened(url: str, settings: Pairs, *, address: str, make: bool, visit: bool) -> Log:
    """Open the log of a URL; see `Terms` for the rest.

    A topic whose front was cut is read at once: by a fold, or the front is lost and the log refused.
    Raises `ClusterError` for a URL or a setting that is none, `LogUnavailableError` and `LogDamagedError`.
    """
    place = place_of(url, settings)
    topic = Topic(place)
    await topic.ready(make=make, visit=visit)
    link = BrokerLink(topic)
    log: Log
    if place.writers == "owner":
        election = Visitor() if visit else BrokerElection(place, address) if address else Onlooker(place)
        horizon = int(topic.settings["delete.retention.ms"]) / 1000
        log = OwnerLog(link, BrokerTransactions(place), election, horizon=horizon)
    else:
        log = AnyLog(link, address=address)
    try:
        if (await link.ends()).first > 0:
            await log.tip()
    except BaseException:
        await log.close()
        raise
    return log
