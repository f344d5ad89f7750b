"""Where a cluster is and how to get in, read from URLs, words and properties files; what is said without the library."""

import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import KafkaError

from treaty.client.kafka.cluster_settings import parse_cluster
from treaty.core.kafka import KafkaCluster, KafkaSettingsError, is_retriable
from treaty.core.limits import CHAIN_BYTES, COMMIT_BYTES, SNAPSHOT_CHUNK_BYTES
from treaty.log.kafka.broker.library import MESSAGE_BYTES
from treaty.log.kafka.broker.topic_config import (
    RECORD_BYTES,
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
