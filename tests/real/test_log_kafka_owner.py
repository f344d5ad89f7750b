"""The log of one owner on a real broker: takeovers in the middle of a transaction, compaction, a topic that was harmed."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import TopicPartition

from tests.behaviours.logs.backends import chain, played, put, row, told, whole
from tests.behaviours.logs.brokers import Crown, Crowned
from treaty.core.state.commit import START, as_root, roots_of
from treaty.log.kafka.broker import topic as topic_module
from treaty.log.kafka.broker.client import KafkaPartitionClient
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import TopicUrl, parse_topic_url
from treaty.log.kafka.broker.transactions import KafkaTransactionalProducer
from treaty.log.kafka.single_writer.log import STEADY_SECONDS, SingleWriterLog
from treaty.log.kafka.single_writer.records import make_transaction
from treaty.log.log import AppendResult, LogDamagedError, LogUnavailableError
from treaty.log.maintenance.repair import accept_state

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

pytestmark = pytest.mark.jvm

QUICK = {
    "segment.ms": "500",
    "min.cleanable.dirty.ratio": "0.0001",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "500",
}
"""Settings with which the cleaner comes within seconds."""


@asynccontextmanager
async def nodes(place: TopicUrl, count: int, horizon: float = 86_400.0) -> AsyncIterator[list[SingleWriterLog]]:
    """Nodes on one topic; who appends is the owner."""
    crown, logs = Crown(), []
    for number in range(1, count + 1):
        topic = LogTopic(place)
        await topic.prepare()
        link, transactions = KafkaPartitionClient(topic), KafkaTransactionalProducer(place)
        logs.append(SingleWriterLog(link, transactions, Crowned(crown, number), horizon=horizon))
    yield logs
    for log in logs:
        await log.close()


def unused(kafka: "Kafka") -> TopicUrl:
    return parse_topic_url(f"kafka://{kafka.bootstrap}/owned-{uuid4().hex[:12]}?writers=owner", ())


@told
async def test_what_an_owner_left_open_is_never_seen_and_stops_nobody(
    kafka: "Kafka", figure: Callable[[str], None]
) -> None:
    place = unused(kafka)
    async with nodes(place, 2) as (old, new):
        base = await put(old, row("a", "1"))
        half = chain(base, [row("a", "2"), row("b", "1")])
        zombie = Producer(
            {"bootstrap.servers": kafka.bootstrap, "transactional.id": f"treaty-{place.topic}", "linger.ms": 0}
        )
        zombie.init_transactions(30)  # the owner, as it stands in the middle of an append
        zombie.begin_transaction()
        for key, value in make_transaction(half):
            zombie.produce(place.topic, value, key, partition=0)
        assert zombie.flush(30) == 0
        assert await new.tip() == base
        begin = asyncio.get_running_loop().time()
        tip = await put(new, row("c", "1"))
        figure(
            f"an owner was followed in the middle of its append in {asyncio.get_running_loop().time() - begin:.1f} s"
        )
        assert tip.sequence == base.sequence + 1
        with pytest.raises(KafkaException):
            zombie.commit_transaction(30)
        for log in (old, new):
            assert (await log.read(base)).rows == (row("c", "1"),)
            assert await whole(log) == {("subject", '["a"]'): "1", ("subject", '["c"]'): "1"}
        assert await old.append(chain(tip, [row("d", "1")])) is AppendResult.ACCEPTED


@told
async def test_nothing_is_written_behind_a_transaction_that_hangs(kafka: "Kafka") -> None:
    """Readers of what is committed are told an end before it, where what was written behind it is not seen."""
    place = unused(kafka)
    async with nodes(place, 2) as (old, new):
        base = await put(old, row("a", "1"))
        stranger = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": f"not-{place.topic}"})
        stranger.init_transactions(30)
        stranger.begin_transaction()
        stranger.produce(place.topic, b"1", b"k", partition=0)
        assert stranger.flush(30) == 0
        for log in (old, new, new, old):
            with pytest.raises(LogUnavailableError, match="somebody's transaction hangs there"):
                await log.append(chain(base, [row("b", "1")]))
            assert await log.tip() == base
        stranger.abort_transaction(30)
        last = await put(new, row("c", "1"))
        assert last.sequence == base.sequence + 1
        assert await put(old, row("d", "1")) == await new.tip()
    async with nodes(place, 1) as (fresh,):
        assert await whole(fresh) == {("subject", f'["{name}"]'): "1" for name in "acd"}


@told
async def test_after_an_append_that_hung_the_next_one_fences(kafka: "Kafka") -> None:
    """What ends that transaction once more, and late, has an older epoch then: it can't commit half of the next one."""
    place = unused(kafka)
    async with nodes(place, 1) as (log,):
        fence, fences = log._producer.fence, Counter[str]()

        async def counted() -> None:
            fences["done"] += 1
            await fence()

        vars(log._producer)["fence"] = counted
        base = await put(log, row("a", "1"))
        base = await put(log, row("b", "1"))
        assert fences["done"] == 1
        kafka.process.send_signal(signal.SIGSTOP)
        append = chain(base, [row("c", "1")])
        slow = asyncio.create_task(log.append(append))
        await asyncio.sleep(STEADY_SECONDS + 0.3)
        kafka.process.send_signal(signal.SIGCONT)
        assert await slow is AppendResult.ACCEPTED
        assert fences["done"] == 1
        for name in "de":
            await put(log, row(name, "1"))
            assert fences["done"] == 2
        assert (await log.tip()).sequence == append.last + 2


@told
async def test_owners_who_follow_each_other_at_every_append_lose_nothing(kafka: "Kafka") -> None:
    async with nodes(unused(kafka), 3) as logs:
        appends = [await put(logs[number % 3], row(f"k{number}", "1")) for number in range(9)]
        assert [place.sequence for place in appends] == [*range(1, 10)]
        for log in logs:
            assert len(await whole(log)) == 9
            assert len((await log.read(appends[3])).rows) == 5


def test_a_log_that_the_broker_compacts_keeps_every_row_and_its_sequence(
    kafka: "Kafka", figure: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        topic_module, "find_wrong_settings", lambda *_: iter(())
    )  # tombstones that go at once are refused otherwise
    compacted(kafka, figure)


@told
async def compacted(kafka: "Kafka", figure: Callable[[str], None]) -> None:
    place = unused(kafka)
    async with nodes(place, 2) as (owner, follower):
        first = await put(owner, row("gone", "1"), row("kept", "1"))
        assert await follower.tip() == first
        for name, value in {**QUICK, "delete.retention.ms": "0"}.items():
            kafka.set(place.topic, name, value)
        await put(owner, row("gone", None))
        for number in range(60):
            last = await put(owner, row("same", str(number)))
        loop = asyncio.get_running_loop()
        begin, number = loop.time(), 60
        while (facts := await follower.read_stats()).tombstones or facts.appends > 20:
            assert loop.time() - begin < 90, facts
            last = await put(owner, row("same", str(number)))  # a segment that nobody writes to is never closed
            number += 1
            await asyncio.sleep(0.5)
        figure(f"{number + 2} appends were compacted to {facts.live} rows in {loop.time() - begin:.0f} s")
        state = {("subject", '["kept"]'): "1", ("subject", '["same"]'): str(number - 1)}
        assert last.sequence == number + 2
        assert await whole(follower) == state
        assert await follower.tip() == last
        delta = await follower.read(first)
        assert delta.tip == last
        assert played(delta.rows, {} if delta.reload else {("subject", '["gone"]'): "1"} | state) == state
        assert await owner.append(chain(last, [row("more", "1")])) is AppendResult.ACCEPTED


@told
async def test_a_log_that_lost_its_front_is_refused(kafka: "Kafka") -> None:
    place = unused(kafka)
    async with nodes(place, 2) as (owner, late):
        for number in range(3):
            await put(owner, row(f"k{number}", "1"))
        await owner.tip()
        kafka.set(place.topic, "cleanup.policy", "compact,delete")
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.delete_records([TopicPartition(place.topic, 0, 3)])[TopicPartition(place.topic, 0)].result()
        for log in (late, owner):
            with pytest.raises(LogDamagedError, match="lost its front: it begins at offset 3"):
                await log.read(START)


@told
async def test_a_topic_of_somebody_else_is_refused(kafka: "Kafka") -> None:
    place = unused(kafka)
    async with nodes(place, 1) as (log,):
        producer = Producer({"bootstrap.servers": kafka.bootstrap})
        producer.produce(place.topic, b"what", b"whose", partition=0)
        producer.flush(30)
        with pytest.raises(LogDamagedError, match="no log of Treaty"):
            await log.tip()


@told
async def test_a_strange_record_is_kept_and_shown_and_can_be_taken_away(kafka: "Kafka") -> None:
    place = unused(kafka)
    async with nodes(place, 2) as (one, two):
        base = await put(one, row("a", "1"))
        producer = Producer({"bootstrap.servers": kafka.bootstrap})
        producer.produce(place.topic, b"\xff", b"whose", partition=0)
        producer.flush(30)
        await put(one, row("b", "1"))
        for log in (one, two):
            delta = await log.read(base)
            state = played(delta.rows)
            assert state["?record", f'["{b"whose".hex()}"]'] == '"ff"'
            assert state["subject", '["b"]'] == "1"
        await put(two, row(b"whose".hex(), None, "?record"))
        for log in (one, two):
            assert await whole(log) == {("subject", '["a"]'): "1", ("subject", '["b"]'): "1"}


@told
async def test_half_a_transaction_and_a_record_of_somebody_else_are_noticed_and_taken_back(kafka: "Kafka") -> None:
    place = unused(kafka)
    servers = {"bootstrap.servers": kafka.bootstrap, "linger.ms": 0}
    async with nodes(place, 3) as (log, other, tool):
        base = await put(log, row("a", "1"), row("b", "1"))
        half = make_transaction(chain(base, [row("a", "2"), row("c", "1"), row("d", "1")]))[:2]
        late = Producer({**servers, "transactional.id": f"treaty-{place.topic}"})
        late.init_transactions(30)
        late.begin_transaction()
        for key, value in half:
            late.produce(place.topic, value, key, partition=0)
        late.commit_transaction(30)
        plain = Producer(servers)
        plain.produce(place.topic, b"paid", b"order-17", partition=0)
        assert plain.flush(30) == 0
        for one in (log, other):
            assert await one.tip() == base, "nobody shows what no mark stands behind"
            assert len(await tool.find_orphan_rows()) == 3
        await put(log, row("e", "1"))
        delta = await other.read(START)
        assert as_root(roots_of(delta.rows)) != delta.tip.root
        found, tip = await accept_state(tool, time=9)
        assert {one.row.key for one in found.orphan_rows} == {'["a"]', '["c"]', '["6f726465722d3137"]'}
        for one in (log, other, tool):
            delta = await one.read(START)
            assert delta.tip == tip
            assert as_root(roots_of(delta.rows)) == tip.root == delta.tip.root
            state = {key: value for key, value in (await whole(one)).items() if key[0] != "quarantine"}
            assert state == {("subject", f'["{name}"]'): "1" for name in "abe"}
        await put(log, row("f", "1"))
