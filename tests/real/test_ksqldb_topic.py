"""The command topic of a ksqlDB is followed while its servers still write: KLIP-18, R45."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from tests.real.running import start
from tests.servers.kafka import Kafka
from treaty import connect
from treaty.core.refusals import Forbidden
from treaty.metastore import Metastore

pytestmark = pytest.mark.jvm  # of the broker
FORMATS = {"keyFormat": {"format": "KAFKA"}, "valueFormat": {"format": "AVRO"}}


def produce(kafka: Kafka, topic: str, *commands: dict[str, Any]) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    for ddl in commands:
        value = {"statement": "a statement", "plan": {"ddlCommand": ddl}, "version": 18}
        producer.produce(topic, json.dumps(value), b'"a/label"')
    assert producer.flush(30) == 0


def stream(name: str) -> dict[str, Any]:
    return {
        "@type": "createStreamV1", "sourceName": f"`{name}`", "schema": "`V` INTEGER", "topicName": name.lower(), "formats": FORMATS,
    }  # fmt: skip


def names(url: str) -> list[object]:
    with connect(url) as connection:
        return [row[0] for row in Metastore(connection.registry).run("SHOW STREAMS")[0].rows]


def test_r45_commands_that_come_while_a_topic_is_followed_are_taken_once(kafka: Kafka, tmp_path: Path) -> None:
    topic = kafka.topic(f"_confluent-ksql-{uuid4().hex}_command_topic")
    url = f"sqlite://{tmp_path / 'log.db'}"
    produce(kafka, topic, stream("S0"), stream("S1"))
    command = [
        sys.executable, "-m", "treaty.cli.main", "metastore", "import", "--from", f"kafka://{kafka.bootstrap}/{topic}", "--follow",
        "--registry", url,
    ]  # fmt: skip
    with (tmp_path / "stdout").open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
    try:
        wait_for(tmp_path / "stdout", "following")
        for number in range(2, 12):
            produce(kafka, topic, stream(f"S{number}"))
        produce(kafka, topic, {"@type": "dropSourceV1", "sourceName": "`S0`"})
        wait_for(tmp_path / "stdout", "STREAM S0 dropped")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert names(url) == sorted(f"S{number}" for number in range(1, 12))
    said = (tmp_path / "stdout").read_text("utf-8")
    assert [said.count(f"STREAM S{number} taken") for number in range(2, 12)] == [1] * 10


class WritingKsql:
    """A ksqlDB whose clients go on: a thread that writes a statement to the command topic every 50 ms until it is stopped."""

    def __init__(self, kafka: Kafka, topic: str) -> None:
        self.written = 0
        self._kafka, self._topic, self._stopping = kafka, topic, threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        while not self._stopping.wait(0.05):
            produce(self._kafka, self._topic, stream(f"S{self.written + 1}"))
            self.written += 1

    def stop(self) -> int:
        """End the clients, and return how many statements they have written: S1 and so on."""
        self._stopping.set()
        self._thread.join()
        return self.written


def test_two_servers_are_switched_from_ksqldb_without_downtime(kafka: Kafka, tmp_path: Path) -> None:
    """KLIP-18's three steps: the topic is followed, servers are bounced with --ddl import, and bounced again when ksqlDB is quiet.

    Clients of ksqlDB write statements all the time until the third step; each is here once, and none is lost. One server at least answers
    at any time, and statements of clients of Treaty are refused until then.
    """
    topic, log = (
        kafka.topic(f"_confluent-ksql-{uuid4().hex}_command_topic"),
        f"kafka://{kafka.bootstrap}/log-{uuid4().hex}",
    )
    produce(kafka, topic, stream("S0"))
    options = ("--log", log)
    servers = [start(tmp_path, *options) for _ in range(2)]
    urls = [one.base for one in servers]
    command = [
        sys.executable, "-m", "treaty.cli.main", "metastore", "import", "--from", f"kafka://{kafka.bootstrap}/{topic}", "--follow",
        "--registry", ",".join(urls),
    ]  # fmt: skip
    said = tmp_path / "stdout"
    with said.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
    clients = None
    try:
        wait_for(said, "following")
        clients = WritingKsql(kafka, topic)
        for place in range(2):
            servers[place].stop()
            begun = clients.written
            wait_for(said, f"STREAM S{begun + 5} taken")
            servers[place] = start(tmp_path, *options, "--ddl", "import", port=int(urls[place].rpartition(":")[2]))
        for url in urls:
            with connect(url) as connection, pytest.raises(Forbidden, match="--ddl import"):
                Metastore(connection.registry).run("CREATE TYPE t AS INT")
        count = clients.stop()
        produce(kafka, topic, {"@type": "dropSourceV1", "sourceName": "`S0`"})
        wait_for(said, "STREAM S0 dropped")
        process.send_signal(signal.SIGINT)
        process.wait(30)
        for place, url in enumerate(urls):
            servers[place].stop()
            assert sorted(map(str, names(urls[1 - place]))) == sorted(f"S{one}" for one in range(1, count + 1))
            servers[place] = start(tmp_path, *options, port=int(url.rpartition(":")[2]))
        with connect(urls[0]) as connection:
            Metastore(connection.registry).run("CREATE TYPE t AS INT")
    finally:
        if clients is not None:
            clients.stop()
        process.kill()
        process.wait(30)
        for one in servers:
            one.stop()
    taken = Counter(re.findall(r"STREAM (S\d+) taken", said.read_text("utf-8")))
    assert taken == dict.fromkeys((f"S{one}" for one in range(1, count + 1)), 1)


def wait_for(path: Path, words: str) -> None:
    """Return when a program has printed these words."""
    for _ in range(600):
        if words in path.read_text("utf-8"):
            return
        time.sleep(0.1)
    raise AssertionError(path.read_text("utf-8"))
