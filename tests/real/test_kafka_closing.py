"""What a log opened at Kafka is given back, also at a cluster that says nothing, and whatever was under way."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.open_files import count_steady, wait_until_given_back
from treaty.log.kafka.broker import client, topic
from treaty.log.kafka.broker.election import STALE_SECONDS, GroupElection, ObserverElection
from treaty.log.kafka.broker.sender import RecordSender
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import TopicUrl, parse_topic_url
from treaty.log.log import LogUnavailableError

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

TIMES = 3


@pytest.fixture
def mute(monkeypatch: pytest.MonkeyPatch) -> Iterator[TopicUrl]:
    """The URL of a log at a broker that takes connections and never answers."""
    for one in (client, topic):
        monkeypatch.setattr(one, "ASK_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield parse_topic_url(f"kafka://127.0.0.1:{listener.getsockname()[1]}/log", ())


async def send_and_give_up(url: TopicUrl, held: list[object]) -> None:
    sender = RecordSender(url.cluster, url.topic, url.cluster.servers)
    held.append(sender)
    sending = asyncio.create_task(sender.send(b"value", b"key", ()))
    await asyncio.sleep(0.05)
    sending.cancel()
    closing = asyncio.create_task(sender.close())
    await asyncio.sleep(0.01)
    closing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await closing
    await sender.close()  # who closes again goes on with it


async def open_in_vain(url: TopicUrl, held: list[object]) -> None:
    with pytest.raises(LogUnavailableError) as refused:
        await client.open_kafka_log(url.url, (), address="", create=True, is_command=False)
    held.append(refused)


async def close_behind_questions(url: TopicUrl, held: list[object]) -> None:
    asked = LogTopic(url)
    held.append(asked)
    waiting = [asyncio.create_task(asked.check_same(now=True)) for _ in range(TIMES)]
    await asyncio.sleep(0.05)
    await asked.close()
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert {str(one) for one in ends} == {"this log was closed"}


@pytest.mark.parametrize("use", [send_and_give_up, open_in_vain, close_behind_questions])
def test_a_cluster_that_says_nothing_keeps_nobody_from_giving_back_what_was_opened(
    mute: TopicUrl, use: Callable[[TopicUrl, list[object]], Awaitable[None]]
) -> None:
    held: list[object] = []

    async def once() -> None:
        await use(mute, held)

    asyncio.run(once())  # the first may load what stays for good
    before = count_steady()
    for _ in range(TIMES):
        asyncio.run(once())
    wait_until_given_back(before)


@pytest.mark.jvm
def test_who_left_an_election_asks_nobody_and_keeps_nothing(kafka: "Kafka") -> None:
    url = parse_topic_url(f"kafka://{kafka.bootstrap}/left-{uuid4().hex[:12]}?writers=owner", ())
    held: list[GroupElection | ObserverElection] = []

    async def once() -> None:
        known = LogTopic(url)
        await known.prepare()
        await known.close()
        for one in (GroupElection(url, "http://127.0.0.1:1"), ObserverElection(url)):
            held.append(one)
            await one.leader()
            await one.close()
            await asyncio.sleep(STALE_SECONDS + 0.1)  # what it knew is too old by then
            await one.leader()

    asyncio.run(once())  # the first may load what stays for good
    before = count_steady()
    asyncio.run(once())
    wait_until_given_back(before)
