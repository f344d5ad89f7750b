"""Where a cluster is and how to get in, read from URLs, words and properties files; what is said without the library."""

import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import KafkaError

from treaty.client.kafka.cluster_settings import parse_cluster
from treaty.core.kafka import KafkaCluster, KafkaSettingsError, LastBrokerError, is_retriable
from treaty.core.limits import CHAIN_BYTES, COMMIT_BYTES, SNAPSHOT_CHUNK_BYTES
from treaty.log.kafka.broker.library import (
    MESSAGE_BYTES,
    make_consumer_settings,
    make_producer_settings,
    make_unavailable_error,
)
from treaty.log.kafka.broker.topic_config import (
    LAG_MILLISECONDS,
    RECORD_BYTES,
    SEGMENT_BYTES,
    TOMBSTONE_MILLISECONDS,
    describe_wrong_settings,
    find_wrong_settings,
    new_topic_settings,
)


@pytest.mark.parametrize(
    ("text", "servers", "topic"),
    [
        ("kafka://h:1/t", "h:1", "t"),
        ("h", "h:9092", ""),
        ("kafka://a:1,b/_schemas/", "a:1,b:9092", "_schemas"),
        ("kafka://[::1]:9/t", "[::1]:9", "t"),
        ("[::1]", "[::1]:9092", ""),
    ],
    ids=["url", "host", "several", "address", "address alone"],
)
def test_urls(text: str, servers: str, topic: str) -> None:
    assert parse_cluster(text) == (KafkaCluster(servers), topic)


def test_later_settings_count_and_files_may_name_the_brokers(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        "# mine\n! too\nbootstrap.servers = a:1,b\nsasl.password: with = and : in it\nclient.id=x\n\n"
        'sasl.jaas.config=org.example.Login required \\\n  username="ann" password="a \\"b\\" c";\n',
        "utf-8",
    )

    found, _ = parse_cluster("", [str(file), "client.id=y"])

    assert found.servers == "a:1,b:9092"
    assert dict(found.settings) == {"client.id": "y", "sasl.username": "ann", "sasl.password": 'a "b" c'}
    assert parse_cluster("c:3", [str(file)])[0].servers == "c:3"
    assert "ann" not in repr(found)


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("", (), "no Kafka broker is named"),
        ("kafka://ann:geheim@h/t", (), "must not contain user and password"),
        ("h:x", (), "'h:x' is no broker"),
        ("kafka://h/a/b", (), "is no topic's URL"),
        ("h", ("no-such-file",), "neither name=value nor a properties file: No such file"),
        ("h", ("ssl.truststore.location=/geheim",), "say ssl.ca.location"),
        ("h", ("sasl.jaas.config=Krb5 geheim",), "set sasl.username and sasl.password"),
    ],
    ids=["nothing", "password", "port", "path", "file", "java", "login"],
)
def test_what_cannot_be_used_is_told_without_values(text: str, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(KafkaSettingsError) as refused:
        parse_cluster(text, words)

    assert said in str(refused.value)
    assert "geheim" not in str(refused.value)


def test_without_the_library_a_command_says_what_to_install() -> None:
    program = "import sys; sys.modules['confluent_kafka'] = None; from treaty.cli.main import main; main()"
    words = ["consume", "orders", "--kafka", "127.0.0.1:9", "--registry", "memory:"]

    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "pip install 'treaty-registry[kafka]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("writers", ["any", "owner"])
def test_a_log_in_several_copies_wants_two_brokers_to_have_a_write(writers: str) -> None:
    assert new_topic_settings(writers, 1)["min.insync.replicas"] == "1"
    assert new_topic_settings(writers, 3)["min.insync.replicas"] == "2"
    made = new_topic_settings(writers, 3)
    assert [*find_wrong_settings(made, writers, 3)] == []
    assert [one.name for one in find_wrong_settings({**made, "min.insync.replicas": "1"}, writers, 3)] == [
        "min.insync.replicas"
    ]
    assert [
        *find_wrong_settings({**made, "min.insync.replicas": "3", "max.message.bytes": "30000000"}, writers, 3)
    ] == []
    assert [*find_wrong_settings({}, writers, 3)] == [], "what a broker does not know can't be wrong"


LOSING = {
    "unclean.leader.election.enable": ("true",),
    "max.message.bytes": ("1048588", str(RECORD_BYTES - 1), "-1", "many"),
    "compression.type": ("zstd", "uncompressed"),
    "message.timestamp.type": ("CreateTime",),
    "min.insync.replicas": ("1", "0"),
}
LOSING_BY_WRITERS = {
    "any": LOSING | {
        "cleanup.policy": ("compact", "compact,delete"), "retention.ms": ("604800000", "0"), "retention.bytes": ("1073741824",),
    },
    "owner": LOSING | {
        "cleanup.policy": ("delete", "compact,delete"), "delete.retention.ms": (str(TOMBSTONE_MILLISECONDS - 1), "0", "-1"),
    },
}  # fmt: skip
"""Values with which a topic of three copies loses what is in its log, by who writes."""


@pytest.mark.parametrize(
    ("writers", "name"), [(writers, name) for writers, values in LOSING_BY_WRITERS.items() for name in values]
)
def test_each_setting_that_loses_records_is_named_with_the_value_that_keeps_them(writers: str, name: str) -> None:
    good = new_topic_settings(writers, 3)
    for value in LOSING_BY_WRITERS[writers][name]:
        settings = {**good, name: value}
        reasons = {setting.name: setting.reason for setting in find_wrong_settings(settings, writers, 3)}
        description = describe_wrong_settings("t", "h:1", settings, writers, 3)
        assert [*reasons] == [name]
        assert f"{name} is {value}, wanted {good[name]}: {reasons[name]}" in description
        assert description.endswith(f"--entity-name t --alter --add-config {name}={good[name]}")


@pytest.mark.parametrize("writers", LOSING_BY_WRITERS)
def test_a_new_topic_has_each_setting_that_keeps_records_and_all_are_mended_at_once(writers: str) -> None:
    values_by_name, new_settings = LOSING_BY_WRITERS[writers], new_topic_settings(writers, 3)
    wrong_settings = {**new_settings, **{name: values[0] for name, values in values_by_name.items()}}
    assert [setting.name for setting in find_wrong_settings(wrong_settings, writers, 3)] == [
        name for name in new_settings if name in values_by_name
    ]
    command = describe_wrong_settings("t", "h:1", wrong_settings, writers, 3).rpartition("--add-config ")[2]
    assert dict(pair.split("=") for pair in command.split(",")) == {name: new_settings[name] for name in values_by_name}
    preferred = {name: new_settings[name] for name in new_settings if name not in values_by_name}
    compacting = {"min.cleanable.dirty.ratio": "0.2", "min.compaction.lag.ms": str(LAG_MILLISECONDS)}
    assert preferred == {"segment.bytes": str(SEGMENT_BYTES), **(compacting if writers == "owner" else {})}


@pytest.mark.parametrize("more", ["max.message.bytes", "min.insync.replicas", "delete.retention.ms"])
def test_a_setting_that_keeps_more_than_it_has_to_is_left_alone(more: str) -> None:
    good = new_topic_settings("owner", 3)
    for value in (good[more], str(int(good[more]) + 1)):
        assert [*find_wrong_settings({**good, more: value}, "owner", 3)] == []


MINE = KafkaCluster("h:1", (("acks", "1"), ("auto.offset.reset", "earliest"), ("bootstrap.servers", "x:1"),
    ("enable.idempotence", "false"), ("enable.partition.eof", "false"), ("fetch.wait.max.ms", "9"), ("isolation.level", "read_committed"),
    ("linger.ms", "5"), ("message.max.bytes", "1000"), ("client.id", "mine")))  # fmt: skip


@pytest.mark.parametrize("committed", [False, True])
def test_no_setting_of_a_user_lets_a_log_skip_records_or_lose_them(committed: bool) -> None:  # noqa: FBT001
    """Their own are taken where nothing depends on them, and for records that are packed and sent."""
    reads = make_consumer_settings(MINE, committed=committed, own={"fetch.wait.max.ms": 10})
    fixed = {
        "auto.offset.reset": "error", "bootstrap.servers": "h:1", "enable.partition.eof": True, "fetch.wait.max.ms": 10,
        "isolation.level": "read_committed" if committed else "read_uncommitted", "enable.auto.commit": False,
        "allow.auto.create.topics": False, "client.id": "mine",
    }  # fmt: skip
    assert {name: reads[name] for name in fixed} == fixed
    writes = make_producer_settings(MINE, {"delivery.timeout.ms": 10_000})
    fixed = {
        "acks": "all", "bootstrap.servers": "h:1", "enable.idempotence": True, "message.max.bytes": MESSAGE_BYTES, "linger.ms": "5",
        "compression.type": "zstd", "delivery.timeout.ms": 10_000, "client.id": "mine",
    }  # fmt: skip
    assert {name: writes[name] for name in fixed} == fixed


def test_brokers_that_do_not_answer_are_told_with_what_was_heard_last() -> None:
    heard = LastBrokerError()
    for name in ("_RESOLVE", "_ALL_BROKERS_DOWN"):
        heard(KafkaError(getattr(KafkaError, name), f"said {name}"))
    message = str(make_unavailable_error(KafkaError(KafkaError._TIMED_OUT, "in 5 s"), "h:1", heard))
    assert message == "no Kafka broker answers at h:1: in 5 s (said _RESOLVE); check that it runs"
    argument_error = KafkaError(KafkaError._INVALID_ARG, "no such property")
    assert "see --log-config" in str(make_unavailable_error(argument_error, "h:1", heard))


def test_the_largest_commit_fits_a_topic_and_a_chain_fits_easily() -> None:
    assert RECORD_BYTES >= 2 * COMMIT_BYTES
    assert MESSAGE_BYTES > RECORD_BYTES
    assert CHAIN_BYTES * 2 < RECORD_BYTES
    assert SNAPSHOT_CHUNK_BYTES < RECORD_BYTES


@pytest.mark.parametrize(("asked", "made"), [("any", "owner"), ("owner", "any")])
def test_a_topic_of_the_other_layout_is_to_be_opened_by_it_and_left_as_it_is(asked: str, made: str) -> None:
    said = describe_wrong_settings("t", "h:1", new_topic_settings(made, 3), asked, 3)
    assert f"change nothing and write kafka://h:1/t?writers={made}\nif it is not, mend it" in said
    brokers_own = {**new_topic_settings(made, 3), "max.message.bytes": "1048588"}
    assert "change nothing" not in describe_wrong_settings("t", "h:1", brokers_own, asked, 3)


@pytest.mark.parametrize(
    ("name", "helps"),
    [
        ("NOT_LEADER_FOR_PARTITION", True),
        ("LEADER_NOT_AVAILABLE", True),
        ("FENCED_LEADER_EPOCH", True),
        ("OFFSET_NOT_AVAILABLE", True),
        ("NOT_CONTROLLER", True),
        ("REQUEST_TIMED_OUT", True),
        ("TOPIC_AUTHORIZATION_FAILED", False),
        ("MSG_SIZE_TOO_LARGE", False),
        ("INVALID_CONFIG", False),
    ],
)
def test_an_error_that_a_change_of_leaders_brings_is_asked_again(name: str, helps: bool) -> None:  # noqa: FBT001
    """Kafka's protocol calls these retriable; of errors of consumers the library itself never says so."""
    error = KafkaError(getattr(KafkaError, name))
    assert not error.retriable()
    assert is_retriable(error) is helps
