"""A registry's topic on a real broker: taken over after compaction, written for another registry, and taken over again."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.commands import run
from tests.dumps import Topic
from tests.dumps import topic as made_up
from tests.servers.kafka import COMPACTED, Kafka
from treaty.assemble import connect
from treaty.client.kafka.registry_topic import read_topic, write_topic
from treaty.client.transfer.dump import read_lines
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read
from treaty.core.kafka import KafkaCluster
from treaty.core.messages.registration import ForceReason

pytestmark = pytest.mark.jvm

NOOP = b'{"keytype":"NOOP","magic":0}'


def producer(kafka: Kafka, **more: Any) -> Producer:
    return Producer({"bootstrap.servers": kafka.bootstrap, "enable.idempotence": True, "log_level": 0, **more})


def fill(kafka: Kafka, topic: str, made: Topic) -> Producer:
    """Write a made-up topic's records, as a registry writes them."""
    writer = producer(kafka)
    for key, value in made.lines:
        text = None if value is None else json.dumps(value, ensure_ascii=False).encode()
        writer.produce(topic, text, json.dumps(key, ensure_ascii=False).encode())
    assert writer.flush(60) == 0
    return writer


def records(kafka: Kafka, topic: str) -> int:
    from treaty.client.kafka.consumer import read_records  # noqa: PLC0415 (its name is taken here)

    return sum(one is not None for one in read_records(KafkaCluster(kafka.bootstrap), topic))


def compact(kafka: Kafka, topic: str, writer: Producer, keys: int) -> int:
    """Wait until the broker has thrown away what later records replaced; returns how many records are left."""
    end = time.monotonic() + 90
    while (left := records(kafka, topic)) > keys + 4:
        assert time.monotonic() < end, "the broker does not compact"
        writer.produce(topic, None, NOOP)  # an idle topic is never compacted
        assert writer.flush(30) == 0
        time.sleep(0.5)
    return left


def url(kafka: Kafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}"


def told(image: RegistryImage) -> tuple[Any, ...]:
    """What an image says, apart from where and when."""
    facts = [
        (one.subject, one.number, one.schema_id, one.text, one.deleted, one.references, one.metadata, one.rules)
        for one in image.versions
    ]
    return facts, image.configs, image.modes


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_compacted_topic_comes_over_and_goes_back(
    kafka: Kafka, tmp_path: Path, seed: int, figure: Callable[[str], None]
) -> None:
    source = kafka.topic(f"schemas-{seed}", settings=COMPACTED)
    made = made_up(seed, 400)
    writer = fill(kafka, source, made)
    expected = read_lines(made.text().splitlines(keepends=True))
    assert read_topic(KafkaCluster(kafka.bootstrap), source) == expected
    last = {json.dumps(key): value for key, value in made.lines}
    left = compact(kafka, source, writer, sum(value is not None for value in last.values()))
    figure(f"{len(made.lines)} records, {left} after compaction")
    compacted = read_topic(KafkaCluster(kafka.bootstrap), source)
    assert replace(compacted, highest=()) == replace(expected, highest=())  # ids that nobody has any more are forgotten

    first, second = (f"sqlite://{tmp_path}/{name}.db" for name in ("first", "second"))
    taken = run("import", url(kafka, source), "--registry", first, "--json")
    assert taken.exit_code == 0, taken.output
    assert json.loads(taken.stdout)["versions"] == len(expected.versions)
    out = run("export", "--registry", first, "--output", url(kafka, f"back-{seed}"))
    assert out.exit_code == 0, out.output
    again = run("import", url(kafka, f"back-{seed}"), "--registry", second, "--json")
    assert again.exit_code == 0, again.output

    with connect(first) as one, connect(second) as other:
        assert told(read(one)) == told(read(other)) == told(expected)
    settings = kafka.settings(f"back-{seed}")
    assert settings["cleanup.policy"] == "compact"


@pytest.mark.soak
def test_fifty_thousand_schemas_come_out_of_a_topic_and_go_into_one(
    kafka: Kafka, topic: str, figure: Callable[[str], None]
) -> None:
    made = made_up(9, 50_000)
    fill(kafka, topic, made)
    expected = read_lines(made.text().splitlines(keepends=True))
    begin = time.monotonic()
    found = read_topic(KafkaCluster(kafka.bootstrap), topic)
    read_in = time.monotonic() - begin
    assert found == expected
    begin = time.monotonic()
    done = write_topic(found, KafkaCluster(kafka.bootstrap), f"{topic}-out")
    wrote_in = time.monotonic() - begin

    back = read_topic(KafkaCluster(kafka.bootstrap), f"{topic}-out")

    assert done.problems == ()
    assert told(back) == told(expected)
    assert back.highest == expected.highest
    assert back.associations == expected.associations
    figure(f"{len(made.lines)} records read in {read_in:.1f} s, {done.written} written in {wrote_in:.1f} s")


def test_an_export_is_run_again_and_writes_what_is_missing(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    registry = f"sqlite://{tmp_path}/log.db"
    target = f"{topic}-out"
    with connect(registry) as found:
        found.register("a", '"string"')
        found.register("b", '"int"')
    dry = run("export", "--registry", registry, "--output", url(kafka, target), "--dry-run")
    assert dry.exit_code == 0
    assert "2 records would be written" in dry.output
    assert target not in kafka.admin.list_topics(timeout=10).topics
    assert "2 records written" in run("export", "--registry", registry, "--output", url(kafka, target)).output
    with connect(registry) as found:
        found.register("a", '"bytes"')
        found.delete_subject("b")

    more = run("export", "--registry", registry, "--output", url(kafka, target))

    assert "2 records written" in more.output
    assert "1 there already" in more.output
    assert records(kafka, target) == 4
    assert "0 records written" in run("export", "--registry", registry, "--output", url(kafka, target)).output
    with connect(registry) as found:
        assert read_topic(KafkaCluster(kafka.bootstrap), target).versions == tuple(
            replace(one, ordinal=-1, type_name="", type_version=0) for one in read(found).versions
        )


def test_what_records_have_no_word_for_comes_along(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    """Why a version was forced, its properties, and ids that are used up, also where nobody has them any more."""
    first, second = (f"sqlite://{tmp_path}/{name}.db" for name in ("first", "second"))
    target = f"{topic}-out"
    with connect(first) as found:
        found.register("a", '"string"', properties=(("owner", "shop"),))
        found.register("a", '"int"', force=ForceReason("ann", "nobody reads it"))
        found.register("b", '"bytes"')
        found.delete_subject("b")
        found.delete_subject("b", permanent=True)
        before = read(found)
    assert before.highest == ((".", 3),)

    assert run("export", "--registry", first, "--output", url(kafka, target)).exit_code == 0
    assert "0 records written" in run("export", "--registry", first, "--output", url(kafka, target)).output
    assert run("import", url(kafka, target), "--registry", second).exit_code == 0

    with connect(second) as found:
        after = read(found)
        assert found.register("c", '"double"').version.schema_id == 4
    assert [(one.forced, one.properties) for one in after.versions] == [
        (one.forced, one.properties) for one in before.versions
    ]
    assert after.versions[1].forced is not None
    assert after.highest == before.highest


def test_what_belongs_to_another_schema_is_told_and_kept(kafka: Kafka, tmp_path: Path) -> None:
    target = kafka.topic("taken", settings={"cleanup.policy": "compact"})
    key = {"keytype": "SCHEMA", "subject": "a", "version": 1, "magic": 1}
    value = {"subject": "a", "version": 1, "id": 1, "schema": '"long"', "deleted": False}
    made = Topic(0)
    made.write(key, value)
    fill(kafka, target, made)
    registry = f"sqlite://{tmp_path}/log.db"
    with connect(registry) as found:
        found.register("a", '"string"')

    done = run("export", "--registry", registry, "--output", url(kafka, target))

    assert done.exit_code == 1
    assert "a version 1: not written: the target has another schema there" in done.output
    assert records(kafka, target) == 1


@pytest.mark.parametrize(
    ("partitions", "settings", "said"),
    [
        (1, {"cleanup.policy": "delete"}, "has cleanup.policy=delete, so its records are deleted over time"),
        (1, {"cleanup.policy": "compact,delete"}, "has cleanup.policy="),
        (2, {"cleanup.policy": "compact"}, "has 2 partitions; a registry's has 1"),
    ],
    ids=["deletes", "both", "partitions"],
)
def test_a_topic_that_would_lose_schemas_is_refused(
    kafka: Kafka, tmp_path: Path, partitions: int, settings: dict[str, str], said: str
) -> None:
    target = kafka.topic(f"unfit-{partitions}-{settings['cleanup.policy'].replace(',', '-')}", partitions, settings)

    connect(f"sqlite://{tmp_path}/log.db").close()
    done = run("export", "--registry", f"sqlite://{tmp_path}/log.db", "--output", url(kafka, target))

    assert done.exit_code == 2
    assert said in done.output
    assert records(kafka, target) == 0


def test_the_end_is_reached_where_the_last_offsets_have_no_record(kafka: Kafka, topic: str) -> None:
    """An aborted transaction ends the topic: its records are not for readers, its marker is no record."""
    made = Topic(0)
    made.write({"keytype": "CONFIG", "subject": None, "magic": 0}, {"compatibilityLevel": "FULL"})
    fill(kafka, topic, made)
    writer = producer(kafka, **{"transactional.id": topic})
    writer.init_transactions(30)
    writer.begin_transaction()
    writer.produce(topic, b'{"compatibilityLevel":"NONE"}', b'{"keytype":"CONFIG","subject":null,"magic":0}')
    writer.flush(30)
    writer.abort_transaction(30)

    found = read_topic(KafkaCluster(kafka.bootstrap), topic)

    assert [config.level for _, config in found.configs] == ["FULL"]
    assert found.problems == ()


def test_records_that_are_none_are_told_by_their_offset(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    writer = producer(kafka)
    writer.produce(topic, b"what", b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}')
    writer.produce(topic, b"{}")
    assert writer.flush(30) == 0

    done = run("import", url(kafka, topic), "--registry", f"sqlite://{tmp_path}/log.db")

    assert done.exit_code == 1
    assert "offset 0: a record: not a record of a registry" in done.output
    assert "offset 1: a record: it has no key" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "kafka://{}/nothing-here"), "there is no topic 'nothing-here'"),
        (("import", "kafka://{}"), "has no topic; that of a Confluent registry is kafka://host:port/_schemas"),
        (("import", "kafka://127.0.0.1:9/x", "--kafka-config", "socket.timeout.ms=500"), "no Kafka broker answers"),
        (("import", "kafka://{}/x", "--kafka-config", "no.such=1"), 'No such configuration property: "no.such"'),
        (("import", "kafka://u:geheim@{}/x"), "a Kafka URL must not contain user and password"),
        (("import", "kafka://{}/x", "--kafka-config", "ssl.truststore.location=/a"), "say ssl.ca.location"),
    ],
    ids=["topic", "none", "nobody", "property", "secret", "java"],
)
def test_what_cannot_be_used_is_told(kafka: Kafka, words: tuple[str, ...], said: str) -> None:
    done = run(*(word.format(kafka.bootstrap) for word in words), "--registry", "memory:")

    assert done.exit_code == 2
    assert said in done.output
    assert "geheim" not in done.output
