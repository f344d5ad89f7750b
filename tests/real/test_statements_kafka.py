"""INSERT over HTTP to a real broker: where records are, and what is said where they can not be."""

import json
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer

from tests.real.running import Running, serving
from tests.servers.kafka import Kafka
from treaty import connect
from treaty.cli.main import group
from treaty.client.kafka import cluster_writer, consumer
from treaty.client.kafka.consumer import TopicRecord, partitions_of, read_records
from treaty.core.kafka import KafkaCluster
from treaty.core.refusals import Unavailable
from treaty.metastore import Metastore
from treaty.metastore.records.destinations import RecordDestinations, RecordsUncertainError

pytestmark = pytest.mark.jvm  # of the broker
STREAM = "CREATE STREAM {0} (id BIGINT KEY, v INT) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"


@pytest.fixture(scope="module")
def server(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    main = folder / "main.properties"
    main.write_text(f"bootstrap.servers={kafka.bootstrap}\n", "utf-8")
    url = f"kafka://{kafka.bootstrap}/log-{uuid4().hex}"
    with serving(folder, "--log", url, "--cluster", f"main={main}") as running:
        running.seen.append(url.rpartition("/")[2])
        yield running


def post(server: Running, sql: str, path: str = "/metastore/v1/statements", member: str = "sql") -> tuple[int, Any]:
    body = json.dumps({member: sql}).encode()
    request = urllib.request.Request(f"{server.base}{path}", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def records(kafka: Kafka, topic: str) -> list[TopicRecord]:
    return [one for one in read_records(KafkaCluster(kafka.bootstrap), topic) if one is not None]


def test_records_are_in_the_topic_and_the_answer_says_where(server: Running, kafka: Kafka) -> None:
    topic = kafka.topic(f"t{uuid4().hex}")
    status, answer = post(server, f"{STREAM.format(topic)}; INSERT INTO {topic} VALUES (1, 2)")
    assert (status, answer["results"][1]["message"]) == (200, f"1 record in topic {topic}, partition 0 offset 0")
    post(server, f"INSERT INTO {topic} (id, v, _timestamp) VALUES (1, 3, 1700000000000), (2, NULL, 1700000000001)")
    found = records(kafka, topic)
    assert [(one.key, one.value and one.value[5:]) for one in found] == [
        (bytes(7) + b"\1", b"\x02\x04"), (bytes(7) + b"\1", b"\x02\x06"), (bytes(7) + b"\2", b"\x00"),
    ]  # fmt: skip
    assert [one.time for one in found[1:]] == [1_700_000_000_000, 1_700_000_000_001]


def test_inserts_of_ksqldbs_rest_are_in_the_topic_and_its_replicas_are_shown(server: Running, kafka: Kafka) -> None:
    topic = kafka.topic(f"t{uuid4().hex}")
    script = f"{STREAM.format(topic)}; INSERT INTO {topic} (id, v) VALUES (1, 2); insert into {topic} values (2, 3); SHOW TOPICS;"
    status, answer = post(server, script, "/ksql", "ksql")
    assert (status, [one["@type"] for one in answer]) == (200, ["currentStatus", "kafka_topics"])
    assert {one["name"]: one["replicaInfo"] for one in answer[1]["topics"]}[topic] == [1]
    assert [one.value and one.value[5:] for one in records(kafka, topic)] == [b"\x02\x04", b"\x02\x06"]


def test_r46_a_missing_topic_and_the_topic_of_the_log_take_nothing(server: Running, kafka: Kafka) -> None:
    """KLIP-18, R46."""
    name = f"t{uuid4().hex}"
    post(server, STREAM.format(name))
    status, answer = post(server, f"INSERT INTO {name} VALUES (1, 2)")
    assert (status, answer["code"]) == (400, "TOPIC_REFUSES")
    (own,) = server.seen
    status, answer = post(server, STREAM.format(name + "2").replace(f"'{name}2'", f"'{own}'"))
    assert (status, answer["code"]) == (400, "TOPIC_RESERVED")
    assert own in answer["message"]


def test_print_and_select_read_a_topic_and_say_what_is_bad(server: Running, kafka: Kafka) -> None:
    topic = kafka.topic(f"t{uuid4().hex}")
    post(server, f"{STREAM.format(topic)}; INSERT INTO {topic} VALUES (1, 2), (2, 3), (3, NULL)")
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    producer.produce(topic, b"junk!", bytes(8))
    assert producer.flush(30) == 0
    post(server, f"INSERT INTO {topic} VALUES (1, 4)")
    where = {"TREATY_REGISTRY": server.base, "TREATY_CLUSTER": f"main=kafka://{kafka.bootstrap}"}

    def sql(text: str, *words: str) -> Any:
        return CliRunner(env=where).invoke(group, ["sql", "-e", text, *words])

    printed = sql(f"PRINT {topic} FROM BEGINNING LIMIT 5")
    lines = printed.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[:5]] == [f"0:{offset}" for offset in range(5)], printed.output
    assert (lines[0].split("  ")[2:], "BAD_MAGIC" in lines[3]) == (["1", '{"v": 2}'], True)
    assert lines[5] == f"5 records of {topic} (1 bad)"
    as_json = [
        json.loads(line) for line in sql(f"PRINT {topic} LIMIT 4", "--from", "earliest", "--json").stdout.splitlines()
    ]
    assert [one["value"] for one in as_json] == [{"v": 2}, {"v": 3}, {"v": None}, {"base64": "anVuayE="}]
    assert as_json[3]["error"]["value"]["code"] == "BAD_MAGIC"
    (selected,) = json.loads(sql(f"SELECT v, _offset FROM STREAM {topic} WHERE id = 1 LIMIT 9", "--json").stdout)
    assert (selected["columns"], selected["rows"], len(selected["warnings"])) == (["v", "_offset"], [[2, 0], [4, 4]], 1)
    (first,) = json.loads(sql(f"SELECT v FROM STREAM {topic} LIMIT 1", "--json").stdout)
    assert first["rows"] == [[2]]
    unknown = CliRunner(env={**where, "TREATY_CLUSTER": ""}).invoke(group, ["sql", "-e", f"PRINT {topic}"])
    assert (unknown.exit_code, "--cluster main=FILE" in unknown.stderr) == (2, True)


def test_what_is_not_acknowledged_may_have_been_written(
    kafka: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker stands still after it has named the topic's partitions."""
    monkeypatch.setattr(cluster_writer, "INSERT_SECONDS", 1)
    monkeypatch.setattr(cluster_writer, "SLACK", 1.0)
    name = f"t{uuid4().hex}"
    with connect("memory:") as connection, closing(RecordDestinations({"main": KafkaCluster(kafka.bootstrap)})) as here:
        metastore = Metastore(connection.registry, destination=here)
        metastore.run(STREAM.format(name).replace(f"'{name}'", f"'{topic}'"))

        def stand_still(*words: Any) -> Any:
            found = partitions_of(*words)
            kafka.process.send_signal(signal.SIGSTOP)
            return found

        monkeypatch.setattr(cluster_writer, "partitions_of", stand_still)
        try:
            with pytest.raises(RecordsUncertainError, match="may have been written"):
                metastore.run(f"INSERT INTO {name} VALUES (1, 2)")
        finally:
            kafka.process.send_signal(signal.SIGCONT)


def test_without_a_broker_nothing_is_written_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer, "ASK", 1.0)
    away = RecordDestinations({"main": KafkaCluster("127.0.0.1:1")})
    with connect("memory:") as connection, closing(away):
        metastore = Metastore(connection.registry, destination=away)
        metastore.run(STREAM.format("gone"))
        with pytest.raises(Unavailable, match="nothing was written to gone: no Kafka broker answers"):
            metastore.run("INSERT INTO gone VALUES (1, 2)")
