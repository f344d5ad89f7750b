"""The way to a log on a real broker: its topic, its records and their outcomes, transactions, ownership, secrets."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import pytest

from tests.behaviours.logs.backends import told
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.urls import LogUrlError, open_log

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka
from treaty.log.kafka.broker import topic as topics
from treaty.log.kafka.broker.client import KafkaPartitionClient
from treaty.log.kafka.broker.election import GroupElection, ObserverElection
from treaty.log.kafka.broker.library import MESSAGE_BYTES
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import TopicUrl, new_topic_settings, parse_topic_url
from treaty.log.kafka.broker.transactions import KafkaTransactionalProducer
from treaty.log.kafka.partition import OffsetOutOfRangeError, PartitionRecord, ProducerFencedError

pytestmark = pytest.mark.jvm

WHEREVER = 2**40
"""An offset that no transaction of a test comes to."""


def place(kafka: "Kafka", topic: str, writers: str = "any") -> TopicUrl:
    return parse_topic_url(f"kafka://{kafka.bootstrap}/{topic}.log?writers={writers}", ())


async def reached(where: TopicUrl) -> KafkaPartitionClient:
    topic = LogTopic(where)
    await topic.prepare()
    return KafkaPartitionClient(topic)


async def all_of(link: KafkaPartitionClient) -> list[PartitionRecord]:
    ends = await link.fetch_offset_range()
    records: list[PartitionRecord] = []
    at = ends.first
    while at < ends.end:
        batch = await link.fetch(at, 5)
        records += batch.records
        at = batch.next
    return records


async def until(found: Callable[[], Awaitable[object]], seconds: float = 30) -> None:
    """Wait until something is so."""
    limit = asyncio.get_running_loop().time() + seconds
    while not await found():
        assert asyncio.get_running_loop().time() < limit
        await asyncio.sleep(0.05)


# ----------------------------------------------------------------------------------------------------------- topics


@pytest.mark.parametrize("writers", ["any", "owner"])
@told
async def test_a_topic_is_made_with_what_it_needs(kafka: "Kafka", topic: str, writers: str) -> None:
    where = place(kafka, topic, writers)
    with pytest.raises(LogDamagedError, match="there is no topic"):
        await LogTopic(where).prepare(create=False)
    await asyncio.gather(*(LogTopic(where).prepare() for _ in range(3)))
    await LogTopic(where).prepare(create=False)

    found = kafka.settings(where.topic)
    assert {name: found[name] for name in new_topic_settings(writers, 1)} == new_topic_settings(writers, 1)


WRONG: dict[str, tuple[str, Mapping[str, str], tuple[str, ...]]] = {
    "any, kept for a while": ("any", {"retention.ms": "1000", "retention.bytes": "5"}, ("retention.ms is 1000, wanted -1", "retention.bytes is 5")),
    "any, compacted": ("any", {"cleanup.policy": "compact"}, ("cleanup.policy is compact, wanted delete", "change nothing and write")),
    "any, unclean": ("any", {"unclean.leader.election.enable": "true"}, ("wanted false",)),
    "owner, deleted": ("owner", {"cleanup.policy": "delete"}, ("cleanup.policy is delete, wanted compact", "change nothing and write")),
    "owner, both": ("owner", {"cleanup.policy": "compact,delete"}, ("is compact,delete, wanted compact",)),
    "owner, small": ("owner", {"max.message.bytes": "1000"}, ("max.message.bytes is 1000, wanted 25165824",)),
    "owner, forgetful": ("owner", {"delete.retention.ms": "1000"}, ("delete.retention.ms is 1000, wanted 86400000",)),
}  # fmt: skip


@pytest.mark.parametrize(("writers", "settings", "said"), WRONG.values(), ids=WRONG)
@told
async def test_a_topic_that_could_lose_something_is_refused_with_the_remedy(
    kafka: "Kafka", topic: str, writers: str, settings: Mapping[str, str], said: tuple[str, ...]
) -> None:
    where = place(kafka, topic, writers)
    kafka.topic(where.topic, settings={**new_topic_settings(writers, 1), **settings})
    with pytest.raises(LogDamagedError) as refused:
        await open_log(where.url)
    for words in (*said, f"kafka-configs.sh --bootstrap-server {kafka.bootstrap}", f"--entity-name {where.topic}"):
        assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == 2 + len(settings) + ("change nothing and write" in said)


@told
async def test_partitions_and_copies_are_looked_at_too(kafka: "Kafka", topic: str) -> None:
    where = place(kafka, topic)
    kafka.topic(where.topic, partitions=2, settings=new_topic_settings("any", 1))
    with pytest.raises(LogDamagedError, match="has 2 partitions, wanted 1"):
        await open_log(where.url)
    other = place(kafka, f"{topic}.other")
    await LogTopic(other).prepare()
    with pytest.raises(LogDamagedError, match=r"has 1 copies, wanted 2 by its URL.*replication=1"):
        await open_log(f"{other.url}&replication=2")
    with pytest.raises(LogUnavailableError, match=r"can't be made.*retention.ms=-1"):
        await open_log(f"kafka://{kafka.bootstrap}/{topic}.third?replication=2")


@told
async def test_a_topic_that_is_set_otherwise_later_is_noticed(
    kafka: "Kafka", topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "CHECK_SECONDS", 0.0)
    monkeypatch.setattr(topics, "CHECK_SETTINGS_SECONDS", 0.0)
    link = await reached(where := place(kafka, topic))
    await link.send(b"one")
    kafka.set(where.topic, "retention.ms", "1000")

    async def refused() -> bool:
        try:
            return await link.send(b"more") is None
        except LogDamagedError as error:
            return "retention.ms is 1000, wanted -1" in str(error)

    await until(refused)
    await link.close()


@told
async def test_a_topic_that_is_deleted_or_made_again_is_another_one(
    kafka: "Kafka", topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "CHECK_SECONDS", 0.2)
    monkeypatch.setattr(topics, "MISSING_SECONDS", 0.5)
    link = await reached(where := place(kafka, topic))
    assert await link.send(b"one") == 0
    kafka.delete(where.topic)
    await asyncio.sleep(0.5)
    with pytest.raises(LogDamagedError, match="is gone"):
        await link.fetch_offset_range()
    await LogTopic(where).prepare()
    await asyncio.sleep(0.3)
    for ask in (link.fetch_offset_range, lambda: link.fetch(1, 1), lambda: link.send(b"two")):
        with pytest.raises(LogDamagedError, match="deleted and made again"):
            await ask()
    await link.close()


# ---------------------------------------------------------------------------------------------------------- records


@told
async def test_records_come_back_from_any_offset_and_a_cut_prefix_is_told(kafka: "Kafka", topic: str) -> None:
    link = await reached(place(kafka, topic))
    assert await asyncio.gather(*(link.send(b"%d" % n, b"key", [("h", b"x")]) for n in range(100))) == [*range(100)]
    assert [record.value for record in await all_of(link)] == [b"%d" % n for n in range(100)]
    assert (await link.fetch(99, 5)).records == (PartitionRecord(99, b"key", b"99", (("h", b"x"),)),)

    waiting = asyncio.create_task(link.fetch(100, 30))
    assert (await link.fetch(7, 5)).records[0].offset == 7, "who waits is in nobody's way"
    assert await link.send(b"news") == 100
    assert (await waiting).records[0].value == b"news"
    assert (await link.fetch(101, 0.1)).records == ()

    await link.delete_records(40)
    await link.delete_records(40)
    await link.delete_records(10)
    ends = await link.fetch_offset_range()
    assert ends.first == 40
    for offset in (39, ends.end + 1):
        with pytest.raises(OffsetOutOfRangeError):
            await link.fetch(offset, 5)
    assert len(await all_of(link)) == 61
    await link.close()
    with pytest.raises(LogUnavailableError, match="closed"):
        await link.send(b"late")


@told
async def test_what_was_never_sent_is_told_apart_from_what_nobody_knows(
    kafka: "Kafka", topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treaty.log.kafka.broker.sender.SEND_SECONDS", 2.0)
    link = await reached(place(kafka, topic))
    with pytest.raises(LogUnavailableError, match="too large"):
        await link.send(b"x" * (MESSAGE_BYTES + 1))
    assert await link.send(b"first") == 0
    kafka.kill()
    try:
        assert await link.send(b"second") is None
    finally:
        kafka.start()

    async def back() -> bool:
        return await link.send(b"third") is not None

    await until(back)
    values = [record.value for record in await all_of(link)]
    assert values[0] == b"first"
    assert values[-1] == b"third"
    await link.close()


# ----------------------------------------------------------------------------------------------- one owner at a time


@told
async def test_a_transaction_that_does_not_follow_what_was_read_is_aborted(kafka: "Kafka", topic: str) -> None:
    link = await reached(where := place(kafka, topic, "owner"))
    mine = KafkaTransactionalProducer(where)
    await mine.fence()
    assert await mine.commit([(b"a", b"1"), (b"b", b"1")], 0)
    end = await settled(link)
    for _ in range(2):
        await mine.fence()
        with pytest.raises(LogUnavailableError, match="hold what can't be read yet"):
            await mine.commit([(b"a", b"never"), (b"b", b"never")], end - 1)
        end = await settled(link)
    await mine.fence()
    assert await mine.commit([(b"a", b"2")], end)
    await until(lambda: seen(link, b"2"))
    assert [(one.key, one.value) for one in await all_of(link)] == [(b"a", b"1"), (b"b", b"1"), (b"a", b"2")]
    await asyncio.gather(link.close(), mine.close())


@told
async def test_a_new_owner_fences_the_old_one(kafka: "Kafka", topic: str) -> None:
    link = await reached(where := place(kafka, topic, "owner"))
    old, stuck, new = (KafkaTransactionalProducer(where) for _ in range(3))
    with pytest.raises(ProducerFencedError, match="fence first"):
        await old.commit([(b"k", b"0")], WHEREVER)
    await old.fence()
    assert await old.commit([(b"a", b"1"), (b"b", None)], WHEREVER)
    end = await settled(link)
    await stuck.fence()
    stuck._producer.begin_transaction()
    stuck._producer.produce(where.topic, b"never", b"a")
    stuck._producer.flush(10)
    assert (await link.fetch_offset_range()).end == end, "what is open is not there yet"
    await new.fence()
    for _ in range(2):
        with pytest.raises(ProducerFencedError):
            await old.commit([(b"a", b"old")], WHEREVER)
    with pytest.raises(LogUnavailableError, match="too large"):
        await new.commit([(b"a", b"aborted"), (b"b", bytes(range(256)) * (MESSAGE_BYTES // 256 + 1))], WHEREVER)
    await new.fence()
    assert await new.commit([(b"a", b"2")], WHEREVER)
    await until(lambda: seen(link, b"2"))
    found = await all_of(link)
    assert [(one.key, one.value) for one in found] == [(b"a", b"1"), (b"b", None), (b"a", b"2")]
    assert found[-1].offset >= len(found), "markers and what was aborted leave holes"
    assert (await link.fetch_offset_range()).end > found[-1].offset + 1
    await asyncio.gather(old.close(), stuck.close(), new.close(), link.close())


async def settled(link: KafkaPartitionClient) -> int:
    """The end, as soon as the marker of the last commit is there."""
    await until(lambda: seen(link, b"1"))
    return (await link.fetch_offset_range()).end


async def seen(link: KafkaPartitionClient, value: bytes) -> bool:
    return any(one.value == value for one in await all_of(link))


@told
async def test_the_group_says_who_owns_the_log_and_who_leaves_makes_room(
    kafka: "Kafka", topic: str, figure: Callable[[str], None]
) -> None:
    where = place(kafka, topic, "owner")
    await LogTopic(where).prepare()
    stranger = ObserverElection(where)
    found = await stranger.leader()
    assert found is not None
    assert found.is_own, "where nobody is a member, who can't be reached decides"
    members = {f"http://127.0.0.1:{port}": GroupElection(where, f"http://127.0.0.1:{port}") for port in (1, 2, 3)}

    async def agreed() -> bool:
        leaders = [await one.leader() for one in members.values()]
        return len({one.address for one in leaders if one}) == 1 and all(leaders)

    await until(agreed)
    (owner,) = [address for address, one in members.items() if (leader := await one.leader()) and leader.is_own]
    generations = [one.generation for one in members.values()]
    assert sorted(generations) == [0, 0, 1]
    await until(lambda: knows(stranger, owner))
    assert stranger.generation == 2
    await members.pop(owner).close()
    begin = asyncio.get_running_loop().time()

    async def moved() -> bool:
        return any([(leader := await one.leader()) is not None and leader.is_own for one in members.values()])

    await until(moved)
    figure(f"the owner of a log left, another one took over in {asyncio.get_running_loop().time() - begin:.1f} s")
    await asyncio.gather(*(one.close() for one in members.values()))


async def knows(stranger: ObserverElection, owner: str) -> bool:
    leader = await stranger.leader()
    return leader is not None and not leader.is_own and leader.address == owner


# ------------------------------------------------------------------------------------------------- who is let in


@pytest.mark.parametrize("writers", ["any", "owner"])
@told
async def test_passwords_and_certificates_are_passed_on_and_never_shown(
    kafka: "Kafka", topic: str, writers: str
) -> None:
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "ann"}
    good = parse_topic_url(
        f"kafka://{kafka.secured}/{topic}.log?writers={writers}",
        tuple({**login, "sasl.password": "known only to ann"}.items()),
    )
    link = await reached(good)
    assert await link.send(b"hello", b"key") is not None
    transactions = KafkaTransactionalProducer(good)
    await transactions.fence()
    assert await transactions.commit([(b"k", b"v")], WHEREVER)
    await until(lambda: seen(link, b"v"))
    assert "known" not in repr(good) + link.url
    await asyncio.gather(link.close(), transactions.close())

    bad = parse_topic_url(good.url, tuple({**login, "sasl.password": "geheim"}.items()))
    with pytest.raises(LogUnavailableError, match="authentication failed") as refused:
        await LogTopic(bad).prepare()
    assert "geheim" not in str(refused.value)

    certificate, key = kafka.authority.make("node")
    tls = {"security.protocol": "SSL", "ssl.ca.location": str(kafka.authority.file)}
    mine = {**tls, "ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    encrypted = parse_topic_url(f"kafka://{kafka.tls}/{topic}.log?writers={writers}", tuple(mine.items()))
    link = await reached(encrypted)
    assert (await all_of(link))[0].value == b"hello"
    await link.close()
    with pytest.raises(LogUnavailableError):
        await LogTopic(parse_topic_url(encrypted.url, tuple(tls.items()))).prepare()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("kafka://h:1", "'' is no topic"),
        ("kafka:///t", "no Kafka broker is named"),
        ("kafka://ann:geheim@h:1/t", "must not contain user and password"),
        ("kafka://h:1/t?writers=both", "writers='both' is none of any and owner"),
        ("kafka://h:1/t?replication=0", "replication='0' is no number of copies"),
        ("kafka://h:1/t?sasl.password=geheim", "is not understood"),
        ("kafka://h:1/a%20b", "is no topic"),
    ],
    ids=["no topic", "no broker", "password", "writers", "replication", "setting", "name"],
)
def test_a_url_that_names_no_log_is_refused(url: str, said: str) -> None:
    with pytest.raises(LogUrlError) as refused:
        asyncio.run(open_log(url))
    assert said in str(refused.value)
    assert "kafka://host:port" in str(refused.value) or "sasl.username" in str(refused.value)
    assert "geheim" not in str(refused.value)
