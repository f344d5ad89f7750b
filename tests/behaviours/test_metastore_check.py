"""A check of the metastore: what rows are bound to and what is not there, with the remedy of each."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import DescribeSource, DescribeType
from treaty.core.registry import run_exchange
from treaty.core.sources import Incarnation, QueryPlan, SchemaPin, Source, SourceRead
from treaty.metastore import Metastore
from treaty.metastore.project.check import CHECK_RULES, MetastoreFinding, check_metastore, check_pins, check_rows

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"


@pytest.fixture
def connection() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


def told(findings: Iterator[MetastoreFinding] | tuple[MetastoreFinding, ...]) -> list[tuple[str, str]]:
    listed = list(findings)
    assert all(one.message and one.remedy and one.rule in CHECK_RULES for one in listed)
    return [(one.rule, one.name) for one in listed]


def source_of(connection: Connection, name: str) -> Source:
    return connection.ask(DescribeSource(name)).answer.source


def reading(source: Source, read: SourceRead) -> Source:
    return replace(source, query=Incarnation(1, 1, QueryPlan("SELECT 1", (read,))))


def test_what_is_bound_to_what_is_there_has_no_findings(connection: Connection) -> None:
    Metastore(connection.registry).run(
        f"CREATE TYPE t AS INT; {STREAM.format('a').replace('STRING', 't')}; {STREAM.format('b')}"
    )
    assert run_exchange(connection.registry, check_metastore()) == ()


def test_a_later_version_is_a_note_and_a_deleted_one_a_problem(connection: Connection) -> None:
    metastore = Metastore(connection.registry)
    metastore.run(STREAM.format("a"))
    metastore.run("CREATE STREAM c (carrier STRING, more INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')")
    (finding,) = run_exchange(connection.registry, check_metastore())
    assert (finding.severity, finding.rule, finding.name) == ("note", "PIN_OLDER", "a")
    assert finding.remedy == "ALTER STREAM a REFRESH SCHEMA takes its columns"
    metastore.run("ALTER STREAM a REFRESH SCHEMA")
    assert run_exchange(connection.registry, check_metastore()) == ()
    connection.delete_version("a-value", 2)
    assert told(run_exchange(connection.registry, check_metastore())) == [("PIN_DELETED", "a"), ("PIN_DELETED", "c")]


def test_a_version_of_another_subject_of_the_same_name_is_gone(connection: Connection) -> None:
    Metastore(connection.registry).run(STREAM.format("a"))
    source = source_of(connection, "a")
    assert source.value is not None
    assert source.value.pin is not None
    for pin in (replace(source.value.pin, generation=99), SchemaPin(".", "nobody", 1, 0, 77)):
        moved = replace(source, value=replace(source.value, pin=pin))
        assert told(run_exchange(connection.registry, check_pins([moved]))) == [("PIN_GONE", "a")]


def test_reads_are_of_the_generation_and_the_schemas_that_their_sources_have(connection: Connection) -> None:
    Metastore(connection.registry).run(f"{STREAM.format('a')}; {STREAM.format('q')}")
    a, q = source_of(connection, "a"), source_of(connection, "q")
    assert a.value is not None
    fine = SourceRead("a", a.generation, value=a.value.pin)
    assert told(check_rows([a, reading(q, fine)], ())) == []
    cases = {
        "READ_MISSING": replace(fine, source="gone"),
        "READ_GENERATION": replace(fine, generation=99),
        "READ_PIN": replace(fine, value=SchemaPin(".", "a-value", 1, 7, 7)),
    }
    for rule, read in cases.items():
        assert told(check_rows([a, reading(q, read)], ())) == [(rule, "q")]
    back = replace(a, generation=99, former=(a.generation,))
    assert told(check_rows([back, reading(q, fine)], ())) == []


def test_types_bad_rows_and_topics_are_compared(connection: Connection) -> None:
    metastore = Metastore(connection.registry)
    metastore.run("CREATE TYPE t AS INT; CREATE TYPE u AS STRUCT<x t>")
    metastore.run(STREAM.format("a").replace("STRING", "t").replace("'AVRO'", "'AVRO', BAD_ROWS = true"))
    a, bad = source_of(connection, "a"), source_of(connection, "a_bad")
    t, u = (connection.ask(DescribeType(name)).answer.type for name in "tu")
    assert told(check_rows([a, bad], [t, u])) == []
    assert told(check_rows([a, bad], [u])) == [("TYPE_MISSING", "a"), ("TYPE_MISSING", "u")]
    assert told(check_rows([a], [t])) == [("BAD_ROWS_MISSING", "a")]
    assert told(check_rows([bad], [t])) == [("BAD_ROWS_LEFT", "a_bad")]
    metastore.run("CREATE STREAM j (carrier INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'JSON', SUBJECT = 'other')")
    assert told(run_exchange(connection.registry, check_metastore())) == [("TOPIC_FORMATS", "j")]


def test_a_read_is_of_the_key_and_of_the_value_and_what_a_query_makes_is_no_older_pin(connection: Connection) -> None:
    """A query has the schema that it makes; a later version by somebody else is no reason to refresh it."""
    metastore = Metastore(connection.registry)
    avro = STREAM.format("a").replace("VALUE_FORMAT", "KEY_FORMAT = 'AVRO', VALUE_FORMAT")
    metastore.run(f"{avro}; {STREAM.format('q')}")
    a, q = source_of(connection, "a"), source_of(connection, "q")
    assert a.key is not None
    assert a.value is not None
    fine = SourceRead("a", a.generation, key=a.key.pin, value=a.value.pin)
    other = SchemaPin(".", "other", 1, 7, 7)
    cases: dict[SourceRead, list[str]] = {fine: [], replace(fine, key=None): [], replace(fine, value=None): []}
    cases |= {replace(fine, key=other): ["READ_PIN"], replace(fine, value=other): ["READ_PIN"]}
    for read, rules in cases.items():
        assert [rule for rule, _ in told(check_rows([a, reading(q, read)], ()))] == rules
    metastore.run("CREATE STREAM c (carrier STRING, more INT) WITH (KAFKA_TOPIC = 'q', VALUE_FORMAT = 'AVRO')")
    assert told(run_exchange(connection.registry, check_pins([q]))) == [("PIN_OLDER", "q")]
    assert told(run_exchange(connection.registry, check_pins([reading(q, fine)]))) == []


TOPICS = {
    "KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO'": [],
    "KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO', FRAMING = 'header'": ["TOPIC_FORMATS"],
    "KAFKA_TOPIC = 'a', VALUE_FORMAT = 'JSON'": ["TOPIC_FORMATS"],
    "KAFKA_TOPIC = 'a', VALUE_FORMAT = 'JSON', CLUSTER = 'east'": [],
    "KAFKA_TOPIC = 'b', VALUE_FORMAT = 'JSON'": [],
    "CONNECTOR = 'files', PATH = 'a', VALUE_FORMAT = 'JSON'": [],
}


@pytest.mark.parametrize("words", TOPICS)
def test_sources_over_one_topic_of_one_cluster_read_it_alike(connection: Connection, words: str) -> None:
    metastore = Metastore(connection.registry)
    metastore.run(STREAM.format("a"))
    metastore.run(f"CREATE STREAM z (carrier STRING) WITH (SUBJECT = 'z', {words})")
    assert [rule for rule, _ in told(run_exchange(connection.registry, check_metastore()))] == TOPICS[words]
