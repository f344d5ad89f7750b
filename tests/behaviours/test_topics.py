"""SHOW TOPICS and what sources say of the topics that they stand over."""

import pytest

from treaty import connect
from treaty.client.kafka.topic_admin import TopicFacts
from treaty.core.refusals import NotOffered
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.metastore.records.desired_topics import DesiredTopic, compare, list_desired, state_of

WITH = "KAFKA_TOPIC = '{}', VALUE_FORMAT = 'AVRO'"


def source(name: str, generation: int, **properties: str) -> Source:
    return Source("STREAM", name, "", (), generation, place="t", properties=tuple(properties.items()))


def test_of_several_sources_over_a_topic_the_oldest_that_names_a_property_counts() -> None:
    over = [
        source("b", 7, PARTITIONS="5", RETENTION_MS="1", CLEANUP_POLICY="compact"),
        source("a", 9, PARTITIONS="9"),
        source("c", 3, RETENTION_MS="2", REPLICAS="2"),
        Source("STREAM", "f", "", (), 1, connector="files", place="t"),
    ]
    wanted = DesiredTopic("main", "t", ("a", "b", "c"), 5, 2, {"retention.ms": "2", "cleanup.policy": "compact"})
    assert list_desired(over) == [wanted]


@pytest.mark.parametrize(
    ("facts", "state", "words"),
    [
        (None, "creating", "creates it"),
        (TopicFacts(3, 1, {"retention.ms": "7", "cleanup.policy": "delete,compact"}), "present", ""),
        (TopicFacts(4, 1, {"retention.ms": "7", "cleanup.policy": "compact,delete"}), "differs", "it has 4 partitions"),
        (
            TopicFacts(3, 1, {"retention.ms": "8", "cleanup.policy": "compact,delete"}),
            "differs",
            "retention.ms is 8, to be 7",
        ),
    ],
)
def test_a_topic_has_a_state(facts: TopicFacts | None, state: str, words: str) -> None:
    settings = {"retention.ms": "7", "cleanup.policy": "compact,delete"}
    wanted = DesiredTopic("main", "t", ("s",), 3, settings=settings)
    got, detail = state_of(wanted, facts)
    assert got == state
    assert words in detail
    assert compare(wanted, facts).create is (facts is None)


def test_a_missing_topic_without_partitions_is_not_created() -> None:
    wanted = DesiredTopic("main", "t", ("s",))
    assert not compare(wanted, None).create
    assert state_of(wanted, None)[0] == "missing"


def test_topics_are_shown_by_rows_and_the_cluster_is_named_where_it_is_not_known() -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        for name, topic in (("a", "x"), ("b", "x"), ("c", "y")):
            metastore.run(f"CREATE STREAM {name} (v INT) WITH ({WITH.format(topic)}, PARTITIONS = 2)")
        assert metastore.run("SHOW TOPICS")[0].rows == (
            ("x", "main", 2, "a, b", "present"),
            ("y", "main", 2, "c", "present"),
        )
        metastore.run(f"CREATE STREAM d (v INT) WITH ({WITH.format('z')})")
        (_, _, partitions, _, desired) = metastore.run("SHOW TOPICS")[0].rows[2]
        assert partitions is None
        assert "no source says PARTITIONS" in str(desired)
        metastore.run("DROP STREAM d")
        rows = metastore.run("LIST TOPICS EXTENDED")[0].rows
        assert [row[7] for row in rows] == ["unknown", "unknown"]
        assert "--cluster main=FILE" in str(rows[0][8])
        with pytest.raises(NotOffered, match="--cluster main=FILE"):
            metastore.run("ASSERT TOPIC x")
