"""The requirements of KLIP-18, by their numbers: a metastore of rows instead of a log of statements."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import pytest

from tests.laws.toy import Bench
from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.command import Command
from treaty.core.decide import decide
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import subject_of
from treaty.core.refusals import (
    InvalidSource,
    NotLatest,
    Refusal,
    RegistryError,
    SchemaPinned,
    SourceExists,
    SourceNotFound,
    SourceUsed,
)
from treaty.core.registry import CallOptions
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.portable import row_schemas
from treaty.core.state.rows import decode_row, encode_row, make_row
from treaty.core.state.state_tables import TABLES
from treaty.log.urls import list_log_topics
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.execution.results import InvalidStatementError
from treaty.wire.peer.errors import encode_error

COLUMNS = (SourceColumn("k", "STRING", nullable=False, role="key"), SourceColumn("v", "INT"))
STREAM = "CREATE STREAM {0} (k STRING KEY, v INT) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"
THREADS = 64
RESERVED = ["_schemas", "_schema_encoders", "__consumer_offsets", "_confluent-ksql-default__command_topic"]


@pytest.fixture
def log(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path / 'log.db'}"


@pytest.fixture
def one(log: str) -> Iterator[Connection]:
    with connect(log) as connection:
        yield connection


@pytest.fixture
def two(log: str, one: Connection) -> Iterator[Connection]:
    """A second node over the same log."""
    with connect(log) as connection:
        yield connection


def definition(name: str, *reads: Source, kind: str = "STREAM", place: str = "") -> m.SourceDefinition:
    query = None
    if reads:
        query = QueryPlan(
            "SELECT k, v FROM x",
            tuple(SourceRead(one.name, one.generation, one.name, revision=one.revision) for one in reads),
        )
    return m.SourceDefinition(name, kind, f"CREATE {kind} {name} …", COLUMNS, place=place or name, query=query)


def create(it: Connection, name: str, *reads: str, **members: str) -> Source:
    upstreams = [describe(it, read) for read in reads]
    it.ask(m.CreateSource(definition(name, *upstreams, **members)))
    return describe(it, name)


def describe(it: Connection, name: str) -> Source:
    return it.ask(m.DescribeSource(name)).answer.source


def names(it: Connection) -> list[str]:
    return [source.name for source in it.ask(m.ListSources()).answer.sources]


def test_r1_a_name_that_is_created_and_dropped_again_and_again_takes_one_row(one: Connection) -> None:
    for _ in range(30):
        create(one, "s")
        one.ask(m.DropSource("s"))
    tables = one.registry.node.follower.tables  # type: ignore[attr-defined]  # an embedded node
    assert [row.table for row in tables.rows() if row.table in {"source", "dropped"}] == ["dropped"]


def test_r2_streams_and_tables_share_one_namespace(one: Connection) -> None:
    create(one, "X")
    with pytest.raises(SourceExists, match="There is a stream X already"):
        create(one, "x", kind="TABLE")


def test_r3_a_row_comes_back_from_json_and_fits_the_published_schema(one: Connection) -> None:
    create(one, "a")
    for source in (create(one, "b", "a"), describe(one, "a")):
        row = make_row(TABLES["source"], (source.name,), source)
        encoded = encode_row(row)
        assert decode_row(encoded).value == source
        schema = {"$ref": "#/$defs/source", "$defs": row_schemas()["$defs"]}
        members = {"key": json.loads(encoded.key), "value": json.loads(encoded.value or "")}
        jsonschema_rs.validator_for(schema).validate(members)
    assert "query" not in json.loads(encoded.value or "")


def test_r4_types_are_the_same_after_a_restart(log: str) -> None:
    with connect(log) as first:
        first.ask(m.CreateType("address", "STRUCT<street STRING>"))
        told = first.ask(m.ListTypes()).answer
    with connect(log) as again:
        assert again.ask(m.ListTypes()).answer == told


def test_r5_a_source_and_its_query_are_one_row_of_one_commit(one: Connection) -> None:
    create(one, "a")
    before = one.ask(m.ListSources()).token.sequence
    source = create(one, "b", "a")
    assert source.query is not None
    assert source.generation == source.query.began == before + 1


def test_r6_statements_for_more_than_one_query_are_refused_with_what_does_the_same(one: Connection) -> None:
    for sql, remedy in (("INSERT INTO a SELECT * FROM b", "UNION ALL"), ("TERMINATE q", "PAUSE")):
        with pytest.raises(InvalidStatementError) as refused:
            Metastore(one.registry).run(sql)
        assert remedy in f"{refused.value} {refused.value.diagnostics[0].hint}"


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER STREAM s ADD COLUMN n INT",
        "ALTER STREAM s RENAME TO t",
        "CREATE OR REPLACE STREAM s (k STRING KEY, v INT, w INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')",
        "CREATE TYPE t AS INT",
        "DROP STREAM s",
    ],
)
def test_r7_a_statement_is_one_commit(one: Connection, sql: str) -> None:
    metastore = Metastore(one.registry)
    (first,) = metastore.run(STREAM.format("s"))
    (second,) = metastore.run(sql)
    assert second.sequence == first.sequence + 1


def test_r8_a_source_that_is_created_again_is_another_one(one: Connection) -> None:
    first = create(one, "s")
    one.ask(m.DropSource("s"))
    second = create(one, "s")
    assert second.generation > first.generation
    with pytest.raises(NotLatest, match="not the expected one"):
        one.ask(m.DropSource("s", expected=m.ExpectedSource(first.generation, first.revision)))


def test_r11_an_error_is_the_same_from_every_node(one: Connection, two: Connection) -> None:
    create(one, "a")
    create(one, "b", "a")
    for request in (m.DropSource("a"), m.DropSource("zz"), m.CreateSource(definition("A"))):
        told = []
        for node in (one, two):
            with pytest.raises(Refusal) as refused:
                node.ask(request)
            told.append(encode_error(refused.value))
        assert told[0] == told[1]


def test_r14_of_many_threads_that_create_one_name_one_wins(one: Connection) -> None:
    def attempt(_number: int) -> str:
        try:
            return "created" if one.ask(m.CreateSource(definition("s"))).answer.created else "unchanged"
        except RegistryError as error:
            return type(error).__name__

    with ThreadPoolExecutor(THREADS) as pool:
        outcomes = list(pool.map(attempt, range(THREADS)))
    assert sorted(outcomes) == ["SourceExists"] * (THREADS - 1) + ["created"]


def test_r20_r21_what_a_query_reads_must_exist(one: Connection) -> None:
    orders = create(one, "Orders")
    missing = replace(orders, name="ordres")
    with pytest.raises(SourceNotFound, match="ordres") as refused:
        one.ask(m.CreateSource(definition("b", missing)))
    assert refused.value.reason.allowed == "did you mean orders?"
    with pytest.raises(NotLatest):
        one.ask(m.CreateSource(definition("b", replace(orders, generation=99))))


def test_r22_r25_what_is_read_is_dropped_after_its_readers(one: Connection) -> None:
    create(one, "a")
    for reader in ("z", "c"):
        create(one, reader, "a")
    with pytest.raises(SourceUsed, match="a is read by c, z") as refused:
        one.ask(m.DropSource("a"))
    assert refused.value.reason.details == ("c", "z")
    for name in ("z", "c", "a"):
        assert one.ask(m.DropSource(name)).answer.dropped


def test_r23_schemas_types_and_sources_are_in_one_commit_of_one_log(one: Connection) -> None:
    """A log of several partitions could not keep them in order; a topic of two is refused in tests/real/test_log_kafka.py."""
    script = "CREATE TYPE p AS INT; CREATE STREAM t (k STRING KEY, v p) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')"
    Metastore(one.registry).run(script, atomic=True)
    source, type_ = describe(one, "t"), one.ask(m.DescribeType("p")).answer.type
    assert source.value is not None
    assert source.value.pin is not None
    commits = {source.generation, source.value.pin.generation, type_.generation}
    assert commits == {one.ask(m.ListSources()).token.sequence}


def test_r24_the_same_drops_are_refused_after_a_restart(log: str) -> None:
    with connect(log) as first:
        create(first, "a")
        create(first, "b", "a")
    with connect(log) as again, pytest.raises(SourceUsed, match="a is read by b"):
        again.ask(m.DropSource("a"))


def test_r26_types_are_kept_by_what_uses_them(one: Connection) -> None:
    one.ask(m.CreateType("a", "INT"))
    one.ask(m.CreateType("b", "ARRAY<a>"))
    one.ask(m.CreateSource(replace(definition("s"), columns=(SourceColumn("x", "MAP<STRING, b>"),))))
    for name, user in (("a", "b"), ("b", "s")):
        with pytest.raises(SourceUsed, match=f"The type {name} is used by {user}"):
            one.ask(m.DropType(name))


def test_r27_a_schema_that_a_source_pins_is_not_deleted_for_good(one: Connection) -> None:
    Metastore(one.registry).run(STREAM.format("t"))
    subject = subject_of("t-value")
    one.ask(DeleteSubject(subject))
    with pytest.raises(SchemaPinned, match="is pinned by t") as refused:
        one.ask(DeleteSubject(subject, permanent=True))
    assert refused.value.reason.details == ("t",)
    one.ask(m.DropSource("t"))
    one.ask(DeleteSubject(subject, permanent=True))


def test_r28_a_create_that_reads_and_a_drop_never_both_win(log: str, one: Connection, two: Connection) -> None:
    for number in range(20):
        source = create(one, f"a{number}")
        with ThreadPoolExecutor(2) as pool:
            made = pool.submit(one.ask, m.CreateSource(definition(f"b{number}", source)))
            dropped = pool.submit(two.ask, m.DropSource(f"a{number}"))
        assert (made.exception() is None) is not (dropped.exception() is None)


def test_r29_r30_every_node_has_the_same_sources(one: Connection, two: Connection) -> None:
    for name in ("a", "b", "c"):
        create(one, name)
    two.ask(m.DropSource("b"))
    assert names(one) == names(two) == ["a", "c"]
    roots = [dict(node.registry.node.follower.tables.roots) for node in (one, two)]  # type: ignore[attr-defined]
    assert roots[0] == roots[1]


def test_r32_a_token_shows_the_own_write_at_every_node(one: Connection, two: Connection) -> None:
    for number in range(10):
        token = one.ask(m.CreateSource(definition(f"s{number}"))).token
        call = CallOptions("eventual", after=token)
        assert f"s{number}" in [source.name for source in two.ask(m.ListSources(), call).answer.sources]


def test_r38_a_node_that_only_followed_decides_as_the_writer_did(one: Connection, two: Connection) -> None:
    create(one, "a")
    assert names(two) == ["a"]
    one.close()
    with pytest.raises(SourceExists):
        create(two, "a")
    assert create(two, "b", "a").query is not None


def test_r41_every_committed_row_fits_the_published_schema(one: Connection) -> None:
    metastore = Metastore(one.registry)
    metastore.run("CREATE TYPE p AS STRUCT<x: INT>")
    with_bad = STREAM.format("a").replace("v INT", "v INT, at ARRAY<p>").replace("'AVRO')", "'AVRO', BAD_ROWS = true)")
    metastore.run(f"{with_bad}; ALTER STREAM a ADD COLUMN w DECIMAL(9, 2)")
    create(one, "b", "a")
    metastore.run("PAUSE b; DROP STREAM b; UNDROP STREAM b; DROP STREAM b")
    kinds = {}
    for row in one.registry.node.follower.tables.rows():  # type: ignore[attr-defined]  # an embedded node
        name = decode_row(row).table
        schema = {"$ref": f"#/$defs/{name}", "$defs": row_schemas()["$defs"]}
        jsonschema_rs.validator_for(schema).validate({"key": json.loads(row.key), "value": json.loads(row.value or "")})
        kinds[name] = name
    assert {"source", "type", "topic", "dropped", "schema", "version", "subject", "outcome"} <= set(kinds)


def test_r44_a_later_version_changes_no_column(one: Connection) -> None:
    metastore = Metastore(one.registry)
    metastore.run(STREAM.format("t"))
    before = metastore.run("DESCRIBE t")[0].rows
    text = one.version("t-value").text.replace("]}", ',{"name":"w","type":["null","int"],"default":null}]}')
    assert one.register("t-value", text).version.number == 2
    assert metastore.run("DESCRIBE t")[0].rows == before


@pytest.mark.parametrize("topic", ["the-log", *RESERVED])
def test_r46_no_source_stands_over_the_topic_of_a_log(topic: str) -> None:
    bench = Bench()
    request = m.CreateSource(definition("t", place=topic))
    refusal = decide(bench.tables, Command(request, "c", 1_000, log_topics=("the-log",)), bench.engine)
    assert isinstance(refusal, InvalidSource)
    assert (refusal.reason.rule, refusal.reason.path) == ("TOPIC_RESERVED", "/definition/place")
    assert list_log_topics("kafka://127.0.0.1:9092/the-log?writers=owner") == ("the-log",)


@pytest.mark.parametrize("topic", ["the-log", *RESERVED])
def test_r46_no_query_writes_to_the_topic_of_a_log(topic: str) -> None:
    """As the sink of a new query, and of one that is there: of both the topic is a place that the law looks at."""
    bench = Bench()
    bench.do(m.CreateSource(definition("t")))
    read = bench.tables.get(SOURCE, SourceKey("t"))
    assert read is not None
    bench.do(m.CreateSource(definition("out", read)))
    for request in (
        m.CreateSource(definition("sink", read, place=topic)),
        m.CreateSource(definition("out", read, place=topic), replace=True),
    ):
        refusal = decide(bench.tables, Command(request, "c", 1_000, log_topics=("the-log",)), bench.engine)
        assert isinstance(refusal, InvalidSource)
        assert (refusal.reason.rule, refusal.reason.new) == ("TOPIC_RESERVED", topic)


@pytest.mark.parametrize(
    ("sink", "rule"),
    [
        *((f"CREATE STREAM sink WITH (KAFKA_TOPIC = '{topic}')", "TOPIC_RESERVED") for topic in RESERVED),
        ("CREATE STREAM _schemas", "TOPIC_RESERVED"),
        ("CREATE STREAM sink WITH (KAFKA_TOPIC = 'taken')", "SINK_TAKEN"),
        ("CREATE STREAM sink WITH (KAFKA_TOPIC = 't')", "SINK_TAKEN"),
        ("CREATE STREAM sink WITH (KAFKA_TOPIC = 'other')", "COLUMN_CLASH"),
        ("CREATE STREAM sink WITH (KAFKA_TOPIC = 'free')", ""),
    ],
)
def test_r46_the_topic_of_a_querys_sink_is_free_and_fits(one: Connection, sink: str, rule: str) -> None:
    """A topic of a log, one where another source is, and one whose subject does not take the rows are refused, and nothing is written."""
    metastore = Metastore(one.registry, planning=PlanningOptions(SelectPlanner()))
    metastore.run(f"{STREAM.format('t')}; {STREAM.format('taken')}")
    one.register("other-value", '{"type":"record","name":"R","fields":[{"name":"v","type":"string"}]}')
    before = (names(one), one.subjects(), one.version("other-value").number)
    outcome = metastore.run_script(f"{sink} AS SELECT k, v FROM STREAM t")
    if rule:
        assert isinstance(outcome.error, Refusal)
        assert outcome.error.reason.rule == rule, outcome.error
        assert (names(one), one.subjects(), one.version("other-value").number) == before
    else:
        assert outcome.error is None
        assert describe(one, "sink").place == "free"


def test_r47_if_not_exists_writes_nothing_the_second_time(one: Connection) -> None:
    metastore = Metastore(one.registry)
    sql = STREAM.format("t").replace("STREAM", "STREAM IF NOT EXISTS")
    (first,) = metastore.run(sql)
    (second,) = metastore.run(sql.replace("v INT", "v STRING"))
    assert second.sequence == first.sequence
    assert second.warnings == ("There is a stream t already",)
    (third,) = metastore.run("CREATE STREAM IF NOT EXISTS t AS SELECT 1")
    assert third.sequence == first.sequence


def test_r49_sources_are_rows_of_the_same_tables_as_schemas(one: Connection) -> None:
    Metastore(one.registry).run(STREAM.format("t"))
    tables = {row.table for row in one.registry.node.follower.tables.rows()}  # type: ignore[attr-defined]
    assert {"source", "schema", "subject", "version", "topic"} <= tables


def test_r50_a_column_is_added_and_system_tables_are_read(one: Connection) -> None:
    metastore = Metastore(one.registry)
    metastore.run(f"{STREAM.format('t')}; ALTER STREAM t ADD COLUMN w DATE")
    assert [row[0] for row in metastore.run("DESCRIBE t")[0].rows] == ["k", "v", "w"]
    assert metastore.run("SELECT name FROM treaty.sources WHERE revision = 2")[0].rows == (("t",),)
