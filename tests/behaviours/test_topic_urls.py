"""URLs of logs on Kafka: each part that is wrong is refused by itself, with what would be right."""

import pytest

from treaty.core.kafka import KafkaSettingsError
from treaty.log.kafka.broker.topic_config import parse_topic_url


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("kafka://h/a%20b", "is no topic"),
        ("kafka://h/a:b", "is no topic"),
        ("kafka://h/ä", "is no topic"),
        ("kafka://h/..", "is no topic"),
        (f"kafka://h/{'a' * 250}", "is no topic"),
        ("kafka://h/t?writers=any&writers=owner", "writers, writers after the topic is not understood"),
        ("kafka://h/t?acks=all", "acks after the topic is not understood"),
        ("kafka://h/t#part", "what stands after the topic is not understood"),
        ("kafka://h/t?writers=one", "writers='one' is none of any and owner"),
        ("kafka://h/t?replication=0", "replication='0' is no number of copies"),
        ("kafka://h/t?replication=1000", "replication='1000' is no number of copies"),
        ("kafka://h/t?replication=-1", "replication='-1' is no number of copies"),
        ("kafka://h/t?replication=", "replication='' is no number of copies"),
        ("kafka://h/t?replication=x", "replication='x' is no number of copies"),
        ("kafka://h/t?writers=", "writers='' is none of any and owner"),
        ("kafka://h/t?acks=", "acks after the topic is not understood"),
        ("kafka://h/.", "is no topic"),
        ("kafka://h/", "is no topic"),
    ],
)
def test_what_is_wrong_in_the_url_of_a_topic_is_named(url: str, message: str) -> None:
    with pytest.raises(KafkaSettingsError, match=message):
        parse_topic_url(url, ())


def test_what_is_right_comes_back_as_its_url() -> None:
    for url in (
        "kafka://h:1/t.x_y-9?writers=any",
        "kafka://h:1/t?writers=owner&replication=3",
        f"kafka://h:9092/{'a' * 249}",
        "kafka://h:1/t?replication=1",
        "kafka://h:1/t?replication=999",
    ):
        found = parse_topic_url(url, ())
        written = found.url
        assert parse_topic_url(written, ()) == found
        assert written.partition("?")[0] == url.partition("?")[0]
    assert (found.writers, found.replication) == ("any", 999)
