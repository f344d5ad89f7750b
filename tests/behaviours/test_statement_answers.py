"""What statements answer: rows in order and by condition, lists of several pages, printed statements, and the same whoever plans a query."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import pytest

from tests.planning import PlannerThread, SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.client.kafka.topic_admin import TopicFacts
from treaty.core import limits
from treaty.core.messages.metastore.runners import AcquireRunner, AssignQueries, QueryPart, ReleaseRunner
from treaty.core.messages.metastore.sources import DescribeSource, ExpectedSource
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid, NotFound, NotLatest
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.core.sources import Source
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.execution.system_tables import TABLE_READERS, matches_like
from treaty.metastore.execution.topic_statements import _holds
from treaty.metastore.sql.statements import SYSTEM_TABLES, AssertTopicStatement

FLIGHTS = "CREATE STREAM flights (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


def rows(registry: Connection, sql: str) -> list[tuple[Any, ...]]:
    planning = PlanningOptions(SelectPlanner())
    return list(Metastore(registry.registry, planning=planning).run(sql)[-1].rows)


def describe(registry: Connection, name: str) -> Source:
    return registry.ask(DescribeSource(name)).answer.source


# ------------------------------------------------------------------------------------------------ conditions, order and pages


def test_like_means_what_a_regular_expression_of_its_signs_means() -> None:
    texts = ["".join(signs) for length in range(5) for signs in product("ab", repeat=length)]
    for length in range(6):
        for signs in product("ab%_", repeat=length):
            pattern = "".join(signs)
            meaning = re.compile(pattern.replace("%", ".*").replace("_", "."), re.DOTALL)
            for text in texts:
                assert matches_like(pattern, text) is bool(meaning.fullmatch(text)), (pattern, text)
    for pattern, text in ((r"a\%b", "a%b"), (r"\_", "_"), (r"\\", "\\"), (r"%\%%", "x%y")):
        assert matches_like(pattern, text)
        assert not matches_like(pattern, text.replace("%", "x").replace("_", "x").replace("\\", "x"))


@pytest.mark.parametrize("order", ["connector, name", "connector DESC, name", "connector, name DESC", "revision DESC, connector, name"])  # fmt: skip
def test_rows_are_ordered_by_the_first_term_and_then_by_the_next(registry: Connection, order: str) -> None:
    for name, where in (("b", "delta"), ("A", "kafka"), ("c", "delta"), ("d", "kafka"), ("e", "files")):
        place = f"KAFKA_TOPIC = '{name}'" if where == "kafka" else f"CONNECTOR = '{where}', PATH = '{name}'"
        more = "" if where == "delta" else ", VALUE_FORMAT = 'AVRO'"
        rows(registry, f"CREATE STREAM {name} (v INT) WITH ({place}{more})")
    rows(registry, "ALTER STREAM c SET COMMENT = 'x'")
    wanted = [(name, describe(registry, name)) for name in ("A", "b", "c", "d", "e")]

    def cell(row: tuple[str, Source], column: str) -> Any:
        return row[0].lower() if column == "name" else getattr(row[1], column)

    for term in reversed(order.split(", ")):
        column, _, word = term.partition(" ")
        wanted.sort(key=partial(cell, column=column), reverse=bool(word))
    for limit in (None, 0, 1, 4, 99):
        tail = "" if limit is None else f" LIMIT {limit}"
        names = [name for (name,) in rows(registry, f"SELECT name FROM treaty.sources ORDER BY {order}{tail}")]
        assert names == [name for name, _ in wanted][:limit]


def test_versions_and_subjects_of_all_contexts_are_listed(registry: Connection) -> None:
    for subject in ("a", ":.team:a", ":.team:b"):
        registry.ask(Register(subject_of(subject), Draft('"int"')))
    assert {row[0] for row in rows(registry, "SELECT * FROM treaty.versions")} == {"a", ":.team:a", ":.team:b"}
    assert {row[0] for row in rows(registry, "SELECT * FROM treaty.subjects")} == {
        row[0] for row in rows(registry, "SHOW SUBJECTS")
    }


LISTS = (
    "SHOW STREAMS EXTENDED", "SHOW TABLES", "SHOW TYPES", "SHOW DROPPED", "SHOW QUERIES", "SHOW QUERIES EXTENDED", "SHOW DEPENDENCIES RECURSIVE",
    "SHOW TOPICS", "SELECT * FROM treaty.sources", "SELECT * FROM treaty.types", "SELECT * FROM treaty.queries",
    "SELECT * FROM treaty.dependencies", "SHOW DEPENDENCIES OF t1 RECURSIVE",
)  # fmt: skip


def test_every_list_of_several_pages_is_the_whole_list(registry: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    rows(
        registry,
        f"{FLIGHTS}; CREATE TYPE t1 AS INT; CREATE TYPE t2 AS STRUCT<a t1>; CREATE TYPE t3 AS STRUCT<a t1, b t2>;"
        "CREATE TABLE lake (k t3 PRIMARY KEY, v t2) WITH (CONNECTOR = 'delta', PATH = 'lake');"
        "CREATE STREAM late AS SELECT carrier FROM STREAM flights; CREATE STREAM later AS SELECT carrier FROM STREAM late;"
        "CREATE STREAM x (v INT) WITH (KAFKA_TOPIC = 'x', VALUE_FORMAT = 'AVRO', BAD_ROWS = 'true'); DROP STREAM x",
    )
    whole = {sql: rows(registry, sql) for sql in LISTS}
    assert all(len(found) >= 1 for found in whole.values()), whole
    assert {("t3", "t1"), ("t3", "t2"), ("t2", "t1")} <= {(row[0], row[2]) for row in whole["SELECT * FROM treaty.dependencies"]}  # fmt: skip
    monkeypatch.setattr(limits, "SOURCES_PAGE_CHARACTERS", 1)
    for sql, wanted in whole.items():
        assert sorted(rows(registry, sql), key=str) == sorted(wanted, key=str), sql


def test_who_uses_a_type_in_two_ways_is_listed_for_each_and_followed_once(registry: Connection) -> None:
    rows(
        registry,
        "CREATE TYPE A AS INT; CREATE TYPE B AS STRUCT<x A>; CREATE TYPE C AS STRUCT<x A>; CREATE TYPE D AS STRUCT<x B, y C>;"
        "CREATE STREAM s (v D) WITH (CONNECTOR = 'delta', PATH = 's')",
    )
    found = rows(registry, "SHOW DEPENDENCIES OF a RECURSIVE")
    used = sorted((name, needs, depth) for name, _, needs, _, depth in found if depth)
    assert used == [("B", "A", 1), ("C", "A", 1), ("D", "B", 2), ("D", "C", 2), ("s", "D", 3)]


def test_a_source_says_the_number_of_its_version_as_imports_gave_it(registry: Connection) -> None:
    registry.ask(SetMode(Scope(".", "s-value"), "IMPORT"))
    registry.ask(Register(subject_of("s-value"), Draft('{"type": "record", "name": "R", "fields": [{"name": "v", "type": "int"}]}'), number=7, schema_id=40))  # fmt: skip
    rows(registry, "CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    facts = {row[0]: row[1] for row in rows(registry, "DESCRIBE s EXTENDED")}
    assert facts["pins"] == "s-value version 7 (id 40)"


def test_a_query_runs_where_a_runner_with_a_lease_has_it(registry: Connection) -> None:
    rows(registry, f"{FLIGHTS}; CREATE STREAM Late AS SELECT carrier FROM STREAM flights")

    def state() -> object:
        return rows(registry, "SHOW QUERIES")[0][2]

    assert state() == "NO RUNNER"
    lease = registry.ask(AcquireRunner("r1", "process", "http://r1:1")).answer
    assert state() == "NO RUNNER"
    registry.ask(AssignQueries("r1", lease.epoch, (QueryPart("late", describe(registry, "Late").generation),)))
    assert state() == "RUNNING"
    assert rows(registry, "SHOW QUERIES EXTENDED")[0][8:10] == ("r1", "http://r1:1")
    rows(registry, "PAUSE Late")
    assert state() == "PAUSED"
    rows(registry, "RESUME Late")
    while registry.ask(ReleaseRunner("r1", lease.epoch)).answer.more:
        pass
    assert state() == "NO RUNNER"


# ------------------------------------------------------------------------------------------------------- printed statements

SOURCES = (
    "CREATE STREAM s (k INT KEY, v STRING COMMENT 'it''s') WITH (KAFKA_TOPIC = 't', FORMAT = 'AVRO', CLUSTER = 'west', FRAMING = 'header')",
    "CREATE STREAM s (k STRING KEY, h BINARY HEADER('h'), every ARRAY<STRUCT<key STRING, value BINARY>> HEADERS, v INT NOT NULL) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'JSON')",
    "CREATE TABLE s (k INT PRIMARY KEY, at TIMESTAMP) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'PROTOBUF', TIMESTAMP = 'at', PARTITIONS = 3, FRAMING = 'version')",
    "CREATE STREAM s WITH (KAFKA_TOPIC = 't', FORMAT = 'PROTOBUF', KEY_SUBJECT = 'messages', SUBJECT = 'messages', KEY_SCHEMA_FULL_NAME = 'A', VALUE_SCHEMA_FULL_NAME = 'B')",
    "CREATE STREAM s WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO', SUBJECT = ':.team:orders')",
    "CREATE STREAM s (v INT, m STRUCT<a INT NOT NULL>) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO', VALUE_SCHEMA_FULL_NAME = 'my.Name')",
    "CREATE TABLE s (k INT PRIMARY KEY, v DECIMAL(9, 2)) COMMENT 'all' WITH (CONNECTOR = 'delta', PATH = 'a/b', LABEL = 'p')",
    "CREATE STREAM s (v INT) WITH (CONNECTOR = 'files', PATH = 'a', VALUE_FORMAT = 'JSON', FRAMING = 'none')",
)  # fmt: skip


@pytest.mark.parametrize("sql", SOURCES, ids=range(len(SOURCES)))
def test_a_printed_statement_makes_the_source_that_it_was_printed_of(sql: str) -> None:
    made: list[tuple[object, ...]] = []
    text = sql
    for _ in range(2):
        with connect("memory:") as opened:
            messages = 'syntax = "proto3"; message A { int32 a = 1; } message B { string b = 1; }'
            opened.ask(Register(subject_of("messages"), Draft(messages, "PROTOBUF")))
            opened.ask(Register(subject_of(":.team:orders"), Draft('{"type": "record", "name": "R", "fields": [{"name": "v", "type": "int"}]}')))  # fmt: skip
            rows(opened, text)
            one = describe(opened, "s")
            made.append((one.kind, one.columns, one.key, one.value, one.connector, one.cluster, one.place, one.timestamp, dict(one.properties), one.comment))  # fmt: skip
            (text,) = rows(opened, "SHOW CREATE s")[0]
    assert made[0] == made[1], text


# ------------------------------------------------------------------------------------------------------- whoever plans a query


@pytest.fixture(params=["here", "elsewhere", "here after asking"])
def metastore(request: pytest.FixtureRequest, registry: Connection) -> Iterator[Metastore]:
    """A metastore whose queries are planned by this process, by another one, or by this one as no other took the job."""
    planner = SelectPlanner()
    if request.param == "elsewhere":
        with PlannerThread(registry.registry, planner):
            yield Metastore(registry.registry)
        return
    yield Metastore(
        registry.registry,
        planning=PlanningOptions(planner, ask_seconds=1 if request.param == "here after asking" else 0),
    )


def test_a_query_is_created_alike_whoever_plans_it(registry: Connection, metastore: Metastore) -> None:
    metastore.run(FLIGHTS)
    query = "CREATE STREAM late AS SELECT carrier FROM STREAM flights"
    (dry,) = metastore.run(query, dry_run=True)
    assert (dry.message, dry.warnings) == ("Stream late would be created", ("planned by hand",))
    with pytest.raises(NotFound):
        describe(registry, "late")
    script = f"SET CLUSTER = 'west'; {query}"
    (*_, made) = metastore.run(script)
    assert (made.message, made.warnings) == ("Stream late created", ("planned by hand",))
    late = describe(registry, "late")
    assert (late.cluster, late.place) == ("west", "late")
    replaced = "CREATE OR REPLACE STREAM late WITH (CLUSTER = 'west') AS SELECT carrier FROM STREAM flights"
    for revision, is_right in ((late.revision + 1, False), (late.revision, True)):
        outcome = metastore.run_script(replaced, expected=ExpectedSource(late.generation, revision))
        assert isinstance(outcome.error, NotLatest) is not is_right, outcome.error
        assert (outcome.error is None) is is_right, outcome.error
        assert len(outcome.results) == is_right


def test_errors_of_a_query_have_the_places_of_its_body_whoever_plans_it(metastore: Metastore) -> None:
    """The text of the body stands in a comment before it too, and it begins in the middle of a line."""
    sql = "/* SELECT 1\n */ CREATE STREAM\nx COMMENT 'SELECT 1' AS SELECT 1"
    with pytest.raises(InvalidStatementError) as refused:
        metastore.run(sql)
    (wrong,) = refused.value.diagnostics
    at = sql.rindex("SELECT 1")
    assert (wrong.start, wrong.end, wrong.line, wrong.column) == (at, at + 6, 3, at - sql.rindex("\n"))


# -------------------------------------------------------------------------------------------------- ids, assertions and scripts


@pytest.mark.parametrize("place", [0, 1, 10])
def test_the_id_of_a_script_leaves_room_for_the_places_of_its_statements(registry: Connection, place: int) -> None:
    script = ";".join(f"CREATE TYPE t{number} AS INT" for number in range(place + 1))
    room = len(f".{place}") if place else 0
    longest = limits.COMMAND_ID - room
    Metastore(registry.registry, CallOptions(command_id="c" * longest)).run(script)
    with pytest.raises(Invalid, match="needs room for the place"):
        Metastore(registry.registry, CallOptions(command_id="d" * (longest + 1))).run(script.replace("t", "u"))


def test_a_schema_with_an_id_and_a_subject_is_one_that_the_subject_has(registry: Connection) -> None:
    for subject, text in (("a", '"int"'), ("b", '"long"'), ("b", '["long", "null"]')):
        registry.ask(Register(subject_of(subject), Draft(text)))
    registry.ask(Register(subject_of("b"), Draft('["long", "null", "string"]')))
    registry.ask(DeleteVersion(subject_of("b"), 3))
    cases = {"SUBJECT 'b' ID 4": False, "ID 4": True, "SUBJECT 'a' ID 1": True, "SUBJECT 'b' ID 1": False, "SUBJECT 'b' ID 3": True, "ID 2": True, "ID 9": False, "SUBJECT 'c'": False}  # fmt: skip
    for words, holds in cases.items():
        for negation, is_there in (("", holds), ("NOT EXISTS ", not holds)):
            for sql, atomic in ((f"ASSERT {negation}SCHEMA {words} TIMEOUT 0 SECONDS", False), (f"ASSERT {negation}SCHEMA {words}", True)):  # fmt: skip
                outcome = Metastore(registry.registry).run_script(sql, atomic=atomic)
                assert (outcome.error is None) is is_there, (sql, atomic)


@pytest.mark.parametrize("facts", [None, (3, 2)])
def test_a_topic_holds_where_each_number_that_is_named_is_its_own(facts: tuple[int, int] | None) -> None:
    for partitions, replicas in product((0, 1, 2, 3), repeat=2):
        statement = AssertTopicStatement("t", partitions, replicas)
        topic = None if facts is None else TopicFacts(*facts, {})
        assert _holds(statement, topic) is (facts is not None and partitions in {0, 3} and replicas in {0, 2})


SCRIPTS = (
    "CREATE TYPE T AS INT; CREATE STREAM s (v INT) WITH (CONNECTOR = 'delta', PATH = 's'); ALTER STREAM s ADD COLUMN w T; CREATE TYPE U AS STRUCT<a T>; ALTER STREAM s ADD COLUMN u ARRAY<U>",
    "CREATE STREAM a (v INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO', BAD_ROWS = 'true'); ALTER STREAM a_bad SET PROTECTED = true; CREATE STREAM b (v INT) WITH (KAFKA_TOPIC = 'b', VALUE_FORMAT = 'AVRO'); ALTER STREAM b RENAME TO c; ALTER STREAM c ADD COLUMN w INT",
    "CREATE STREAM a (v INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO'); CREATE STREAM b (w STRING) WITH (KAFKA_TOPIC = 'b', VALUE_FORMAT = 'AVRO'); ALTER STREAM a SWAP WITH b; ALTER STREAM a ADD COLUMN x INT; ALTER STREAM b ADD COLUMN y INT",
    "CREATE STREAM a (v INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO'); CREATE STREAM z (q INT) WITH (KAFKA_TOPIC = 'z', VALUE_FORMAT = 'AVRO'); ALTER STREAM a ADD COLUMN n INT; CREATE STREAM b WITH (KAFKA_TOPIC = 'b', VALUE_FORMAT = 'AVRO', SUBJECT = 'a-value'); ALTER STREAM b REFRESH SCHEMA; ALTER STREAM a REFRESH SCHEMA",
)  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_script_of_one_commit_makes_what_its_statements_make_one_by_one(script: str) -> None:
    made = []
    for atomic in (True, False):
        with connect("memory:") as opened:
            results = Metastore(opened.registry).run(script, atomic=atomic)
            listed = [row[0] for row in rows(opened, "SHOW STREAMS")]
            sources = [describe(opened, name) for name in listed]
            made.append((
                [one.message for one in results],
                [(one.name, one.columns, one.protected, one.value and one.value.pin and (one.value.pin.subject, one.value.pin.ordinal, one.value.pin.schema_id)) for one in sources],
                [(row[0], row[1], row[2]) for row in rows(opened, "SELECT * FROM treaty.versions")],
            ))  # fmt: skip
    assert made[0] == made[1]


def test_each_system_table_that_is_parsed_can_be_read() -> None:
    assert tuple(TABLE_READERS) == SYSTEM_TABLES
