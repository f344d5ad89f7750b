"""What a query reads is what it was planned over, and a chain of queries comes back as it was."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import NotLatest, Refusal, RegistryError, SourceNotFound, SourceUsed
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead, StateFingerprint
from treaty.metastore.metastore import Metastore

A = TypeVar("A")
STREAM = (
    "CREATE STREAM a (k STRING KEY, v INT, s STRUCT<x: INT, y: INT>) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')"
)
OUTPUT = (SourceColumn("v", "INT"), SourceColumn("w", "INT"))


@dataclass(slots=True)
class RegistryBetween:
    """A registry in which another session carries statements out just before the first change of a source."""

    inner: Registry
    sql: str

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        if self.sql and isinstance(request, m.CreateSource | m.ChangeSource):
            sql, self.sql = self.sql, ""
            Metastore(self.inner).run(sql)
        return self.inner.ask(request, call)

    def close(self) -> None:
        self.inner.close()


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        Metastore(connection.registry).run(STREAM)
        yield connection


def describe(registry: Connection, name: str) -> Source:
    return registry.ask(m.DescribeSource(name)).answer.source


def plan(registry: Connection, name: str, *columns: str) -> QueryPlan:
    """As a planner makes it now."""
    source = describe(registry, name)
    value = source.value.pin if source.value else None
    read = SourceRead(source.name, source.generation, name, columns=columns, value=value, revision=source.revision)
    return QueryPlan(f"SELECT * FROM {name}", (read,))


def find_rule(registry: Connection, name: str, query: QueryPlan, *, or_replace: bool = False) -> str:
    """The rule that refuses a query; empty where none does."""
    try:
        create(registry, name, query, or_replace=or_replace)
    except Refusal as refusal:
        return refusal.reason.rule
    return ""


def create(registry: Connection, name: str, query: QueryPlan, *, or_replace: bool = False) -> m.SourceStored:
    defined = m.SourceDefinition(name, "STREAM", f"CREATE {name}", OUTPUT, connector="delta", place=name, query=query)
    return registry.ask(m.CreateSource(defined, replace=or_replace)).answer


def comes_back(registry: Connection, name: str) -> bool:
    try:
        return registry.ask(m.UndropSource(name)).answer.created
    except RegistryError:
        return False


@pytest.mark.parametrize(
    "change",
    [
        "CREATE OR REPLACE STREAM a (k STRING KEY, s STRUCT<x: INT, y: INT>) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')",
        "ALTER STREAM a SET (RETENTION_MS = '5')",
    ],
)
def test_a_plan_over_a_source_that_was_changed_since_is_refused(registry: Connection, change: str) -> None:
    query = plan(registry, "a", "v")
    Metastore(registry.registry).run(change)
    with pytest.raises(NotLatest, match="a was changed since the query was planned") as refused:
        create(registry, "b", query)
    reason = refused.value.reason
    assert (reason.rule, reason.old, reason.new) == ("READ_REVISION", "revision 2", "revision 1")
    assert reason.allowed == "plan the query again"
    create(registry, "b", plan(registry, "a", "k"))


def test_the_same_query_over_a_later_revision_changes_nothing(registry: Connection) -> None:
    first = create(registry, "b", plan(registry, "a", "v"))
    Metastore(registry.registry).run("ALTER STREAM a SET (RETENTION_MS = '5')")
    again = create(registry, "b", plan(registry, "a", "v"), or_replace=True)
    assert (again.replaced, again.revision) == (False, first.revision)


def test_a_plan_with_another_schema_than_its_source_has_is_refused(registry: Connection) -> None:
    query = plan(registry, "a", "v")
    (read,) = query.reads
    assert read.value is not None
    other = replace(query, reads=(replace(read, value=replace(read.value, ordinal=7)),))
    assert find_rule(registry, "b", other) == "READ_PIN"


def test_a_replaced_query_keeps_its_state_and_stays_paused(registry: Connection) -> None:
    query = plan(registry, "a", "v")
    create(registry, "b", query)
    registry.ask(m.SetSourceState("b", "PAUSED"))
    other = replace(query, fingerprint=StateFingerprint("x", "x"))
    assert find_rule(registry, "b", other, or_replace=True) == "QUERY_STATE"
    create(registry, "b", replace(query, body="SELECT v FROM a"), or_replace=True)
    assert describe(registry, "b").desired == "PAUSED"


def test_a_replaced_query_follows_the_sources_whose_offsets_its_checkpoint_has(registry: Connection) -> None:
    Metastore(registry.registry).run(STREAM.replace("STREAM a ", "STREAM d ").replace("'a'", "'d'"))
    query, other = plan(registry, "a", "v"), plan(registry, "d", "v")
    create(registry, "b", query)
    (read,) = other.reads
    assert find_rule(registry, "b", other, or_replace=True) == "QUERY_SOURCES"
    both = replace(query, reads=(*query.reads, read))
    assert find_rule(registry, "b", both, or_replace=True) == "QUERY_SOURCES"
    joined = replace(query, reads=(*query.reads, replace(read, mode="table")))
    assert find_rule(registry, "b", joined, or_replace=True) == ""


def test_what_a_cascade_took_comes_back_in_order(registry: Connection) -> None:
    create(registry, "b", plan(registry, "a", "v", "s.x"))
    create(registry, "c", plan(registry, "b"))
    shown = registry.ask(m.DropSource("a", cascade=True)).answer
    registry.ask(m.DropSource("a", cascade=True, digest=shown.digest))
    with pytest.raises(SourceNotFound, match="There is no stream or table a") as refused:
        registry.ask(m.UndropSource("b"))
    assert refused.value.reason.allowed == "UNDROP STREAM a first"
    assert [name for name in ("a", "b", "c") if comes_back(registry, name)] == ["a", "b", "c"]
    there = {name: describe(registry, name) for name in ("a", "b", "c")}
    for reader, name in (("b", "a"), ("c", "b")):
        query = there[reader].query
        assert query is not None
        assert query.plan.reads[0].generation == there[name].generation
        assert query.began in there[reader].former
    assert registry.ask(m.DescribeSource("a")).answer.readers == ("b",)


def test_a_query_does_not_come_back_over_another_source_of_the_name(registry: Connection) -> None:
    create(registry, "b", plan(registry, "a", "v"))
    shown = registry.ask(m.DropSource("a", cascade=True)).answer
    registry.ask(m.DropSource("a", cascade=True, digest=shown.digest))
    Metastore(registry.registry).run(STREAM)
    with pytest.raises(NotLatest, match="a was dropped and created again since b was dropped") as refused:
        registry.ask(m.UndropSource("b"))
    assert refused.value.reason.rule == "READ_GENERATION"


REPLACED = "CREATE OR REPLACE STREAM a (k STRING KEY, v {}, s STRUCT<{}>) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO', VALUE_SUBJECT = 'n')"


def replace_columns(registry: Connection, columns: str) -> None:
    registry.ask(SetConfig(Scope(".", None), Config(level="NONE")))
    sql = f"CREATE OR REPLACE STREAM a (k STRING KEY, {columns}) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')"
    Metastore(registry.registry).run(sql)


def test_a_query_comes_back_if_its_columns_are_as_they_were(registry: Connection) -> None:
    create(registry, "b", plan(registry, "a", "v", "s.x"))
    registry.ask(m.DropSource("b"))
    replace_columns(registry, "v INT, s STRUCT<z: STRING, x: INT>, w INT")
    assert comes_back(registry, "b")
    query = describe(registry, "b").query
    assert query is not None
    assert query.plan.reads[0].revision == 2


@pytest.mark.parametrize("columns", ["v BIGINT, s STRUCT<x: INT>", "v INT, s STRUCT<x: STRING>", "s STRUCT<x: INT>"])
def test_a_query_does_not_come_back_over_other_columns(registry: Connection, columns: str) -> None:
    create(registry, "b", plan(registry, "a", "v", "s.x"))
    registry.ask(m.DropSource("b"))
    replace_columns(registry, columns)
    with pytest.raises(NotLatest, match="a has other columns than b read when it was dropped"):
        registry.ask(m.UndropSource("b"))


def test_a_query_does_not_come_back_without_the_schema_that_it_reads_by(registry: Connection) -> None:
    create(registry, "b", plan(registry, "a", "v"))
    registry.ask(m.DropSource("b"))
    Metastore(registry.registry).run("ALTER STREAM a ADD COLUMN n INT")
    text = registry.version("a-value").text.replace("]}", ',{"name":"n","type":["null","int"],"default":null}]}', 1)
    registry.register("a-value", text)
    Metastore(registry.registry).run("ALTER STREAM a REFRESH SCHEMA")
    registry.ask(DeleteVersion(subject_of("a-value"), 1))
    registry.ask(DeleteVersion(subject_of("a-value"), 1, permanent=True))
    with pytest.raises(NotLatest, match="A schema by which b read a was deleted") as refused:
        registry.ask(m.UndropSource("b"))
    assert refused.value.reason.rule == "READ_PIN"


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE STREAM p (at Point) WITH (KAFKA_TOPIC = 'p', VALUE_FORMAT = 'AVRO')",
        "CREATE OR REPLACE STREAM a (k STRING KEY, at ARRAY<point>) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')",
        "ALTER STREAM d ADD COLUMN at Point",
    ],
)
def test_a_statement_names_the_types_that_it_was_read_with(registry: Connection, sql: str) -> None:
    metastore = Metastore(registry.registry)
    metastore.run("CREATE TYPE Point AS STRUCT<x: INT>; CREATE STREAM d (k INT) WITH (CONNECTOR = 'delta', PATH = 'd')")
    between = RegistryBetween(registry.registry, "DROP TYPE Point; CREATE TYPE Point AS STRING")
    with pytest.raises(NotLatest, match="The type Point was dropped and created again") as refused:
        Metastore(between).run(sql)
    assert refused.value.reason.rule == "TYPE_GENERATION"
    assert metastore.run(sql)[0].message


def test_a_source_that_came_back_and_is_replaced_keeps_the_generations_that_its_readers_name(
    registry: Connection,
) -> None:
    create(registry, "b", plan(registry, "a", "v"))
    for name in ("b", "a"):
        registry.ask(m.DropSource(name))
    assert comes_back(registry, "a")
    Metastore(registry.registry).run(STREAM.replace("CREATE STREAM", "CREATE OR REPLACE STREAM"))
    assert comes_back(registry, "b")


HEADS = (
    "CREATE OR REPLACE STREAM a (k STRING KEY, v INT, {}, other INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')"
)
PLACES = {"value": "h BINARY", "header": "h BINARY HEADER('h')", "another header": "h BINARY HEADER('other')"}
"""Where a column comes from."""


@pytest.mark.parametrize("before", PLACES)
@pytest.mark.parametrize("after", PLACES)
def test_a_column_that_is_read_stays_where_it_comes_from(registry: Connection, before: str, after: str) -> None:
    """A query that is running would read other values under the same name; a column that nobody reads may move."""
    metastore = Metastore(registry.registry)
    metastore.run(HEADS.format(PLACES[before]))
    create(registry, "b", plan(registry, "a", "v"))
    metastore.run(HEADS.format(PLACES[after]))
    metastore.run(HEADS.format(PLACES[before]))
    create(registry, "c", plan(registry, "a", "h"))
    if before == after:
        metastore.run(HEADS.format(PLACES[after]))
        return
    with pytest.raises(SourceUsed, match="The column h is read by c") as refused:
        metastore.run(HEADS.format(PLACES[after]))
    assert refused.value.reason.rule == "COLUMN_READ"
