"""The broker that tests run on: what it keeps, compacts and hands out."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

pytestmark = pytest.mark.jvm


def all_of(kafka: "Kafka", topic: str) -> list[tuple[bytes | None, bytes | None]]:
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "none", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[tuple[bytes | None, bytes | None]] = []
    while True:
        message = consumer.poll(30)
        assert message is not None
        if message.error():
            consumer.close()
            return found
        found.append((message.key(), message.value()))


def test_what_is_produced_is_there_after_a_restart(kafka: "Kafka", topic: str, figure: Callable[[str], None]) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
    for number in range(100):
        producer.produce(topic, b"%d" % number, b"key")
    assert producer.flush(30) == 0
    kafka.halt()
    kafka.start()
    figure(f"Kafka started in {kafka.seconds:.1f} s and takes {kafka.memory / 2**20:.0f} MiB")

    assert all_of(kafka, topic) == [(b"key", b"%d" % number) for number in range(100)]


def test_jars_that_nobody_hands_out_are_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.servers.jars import classpath  # noqa: PLC0415 (few tests need it)

    monkeypatch.setenv("DEFAULT_ARTIFACT_REPOSITORY", "http://127.0.0.1:9/")

    with pytest.raises(RuntimeError, match="name a mirror in DEFAULT_ARTIFACT_REPOSITORY"):
        classpath("nothing", ("org.example:nothing:1",))


def test_a_compacted_topic_forgets_within_seconds(kafka: "Kafka") -> None:
    from tests.servers.kafka import COMPACTED  # noqa: PLC0415 (loads Kafka's client)

    topic = kafka.topic("compacted", settings=COMPACTED)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
    for number in range(100):
        producer.produce(topic, b"%d" % number, b"%d" % (number % 10))
    assert producer.flush(30) == 0
    end = time.monotonic() + 60
    while len(left := all_of(kafka, topic)) > 40:
        assert time.monotonic() < end
        producer.produce(topic, b"x", b"again")  # an idle topic is never compacted
        assert producer.flush(30) == 0
        time.sleep(0.5)

    assert {key: value for key, value in left if key != b"again"} == {b"%d" % n: b"%d" % (90 + n) for n in range(10)}
