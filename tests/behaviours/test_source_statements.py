"""What statements say of a source is true of it: its kind, its columns, its name."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead
from treaty.metastore.metastore import Metastore

A = TypeVar("A")
BEGIN = """
CREATE TYPE Point AS STRUCT<x: INT>;
CREATE STREAM s (k STRING KEY, v INT, at TIMESTAMP) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO', BAD_ROWS = true, TIMESTAMP = 'at');
CREATE TABLE t (k STRING PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO', COMMENT = 'noted');
"""
OUTPUT = (SourceColumn("v", "INT"), SourceColumn("w", "INT"))


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        Metastore(connection.registry).run(BEGIN.replace(", COMMENT = 'noted'", ""))
        yield connection


def run(registry: Connection, sql: str, *, dry_run: bool = False) -> str:
    """The message of the last statement, or the rule and the remedy of what refuses it."""
    try:
        return Metastore(registry.registry).run(sql, dry_run=dry_run)[-1].message
    except Refusal as refusal:
        return f"{refusal.reason.rule}: {refusal.reason.message}; {refusal.reason.allowed}"


def describe(registry: Connection, name: str) -> Source:
    return registry.ask(m.DescribeSource(name)).answer.source


def state(registry: Connection) -> object:
    asked = (m.ListSources(), m.ListTypes(), m.ListDropped())
    return [registry.ask(one).answer for one in asked]


@pytest.mark.parametrize(
    ("sql", "remedy"),
    [
        ("ALTER STREAM t ADD COLUMN w INT", "ALTER TABLE t"),
        ("ALTER STREAM t RENAME TO u", "ALTER TABLE t"),
        ("ALTER STREAM t REFRESH SCHEMA", "ALTER TABLE t"),
        ("ALTER TABLE s SET PROTECTED = true", "ALTER STREAM s"),
        ("ALTER TABLE s SWAP WITH t", "ALTER STREAM s"),
        ("DESCRIBE TABLE s", "DESCRIBE STREAM s"),
        ("SHOW CREATE STREAM t", "SHOW CREATE TABLE t"),
        ("DROP TABLE s", "DROP STREAM s"),
        ("DROP TABLE t; UNDROP STREAM t", "UNDROP TABLE t"),
    ],
)
def test_a_statement_about_the_wrong_kind_is_refused(registry: Connection, sql: str, remedy: str) -> None:
    refused = run(registry, sql)
    assert refused.startswith("SOURCE_KIND_DIFFERS")
    assert refused.endswith(f"; {remedy}")


@pytest.mark.parametrize("prop", ["TIMESTAMP = 'nope'", "DEDUPLICATE = 'v, nope'", "WATERMARK = 'nope DELAY OF INTERVAL 1 second'"])  # fmt: skip
def test_a_property_names_columns_that_are_there(registry: Connection, prop: str) -> None:
    sql = f"CREATE STREAM n (v INT, at TIMESTAMP) WITH (KAFKA_TOPIC = 'n', VALUE_FORMAT = 'AVRO', {prop})"
    refused = run(registry, sql)
    assert "names nope, which is no column of the source" in refused
    assert refused.startswith("COLUMN_UNKNOWN")
    assert run(registry, sql.replace("nope", "AT")) == "Stream n created"
    assert run(registry, sql.replace("STREAM n", "STREAM p").replace("nope", "_timestamp")) == "Stream p created"


def test_the_key_of_a_query_is_among_its_columns(registry: Connection) -> None:
    source = describe(registry, "s")
    plan = QueryPlan("SELECT 1", (SourceRead("s", source.generation),), key=("nope",))
    defined = m.SourceDefinition("q", "STREAM", "CREATE", OUTPUT, connector="delta", place="q", query=plan)
    with pytest.raises(Refusal, match="GROUP BY names nope"):
        registry.ask(m.CreateSource(defined))


@pytest.mark.parametrize("change", [("drop", SourceColumn("at", "TIMESTAMP")), ("set", SourceColumn("At", "TIMESTAMP"))])  # fmt: skip
def test_a_column_that_a_property_names_stays(registry: Connection, change: tuple[str, SourceColumn]) -> None:
    op, column = change
    request = m.ChangeSource("s", columns=(m.SourceColumnChange(op, column),))  # type: ignore[arg-type]  # one of the words
    if op == "set":
        assert registry.ask(request).answer.replaced
        return
    with pytest.raises(Refusal, match="TIMESTAMP names at, which is no column"):
        registry.ask(request)


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER STREAM s_bad ADD COLUMN w INT",
        "ALTER STREAM s_bad RENAME TO u",
        "ALTER STREAM s_bad SET (RETENTION_MS = '5')",
        "ALTER STREAM s_bad SWAP WITH s",
        "ALTER STREAM s SWAP WITH s_bad",
        "CREATE OR REPLACE STREAM s_bad (v INT) WITH (CONNECTOR = 'delta', PATH = 'x')",
    ],
)
def test_a_stream_of_bad_rows_is_what_its_source_makes_it(registry: Connection, sql: str) -> None:
    before = state(registry)
    assert run(registry, sql).startswith("SOURCE_OF_BAD_ROWS: s_bad has the bad rows of s")
    assert state(registry) == before
    assert run(registry, "ALTER STREAM s_bad SET COMMENT = 'look here'") == "Stream s_bad changed"


def test_a_stream_of_bad_rows_comes_back_with_its_source(registry: Connection) -> None:
    assert run(registry, "DROP STREAM s") == "s_bad, s dropped"
    assert run(registry, "UNDROP STREAM s") == "Stream s restored, and s_bad"
    assert [one.name for one in registry.ask(m.ListSources()).answer.sources] == ["s", "s_bad", "t"]


def test_bad_rows_come_back_to_the_source_that_they_are_of(registry: Connection) -> None:
    again = "CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')"
    run(registry, f"DROP STREAM s; {again}")
    assert run(registry, "UNDROP STREAM s_bad").startswith(
        "ORIGIN_GENERATION: s_bad has the bad rows of another source than the s that there is now"
    )
    assert run(registry, "DROP STREAM s") == "s dropped"
    assert run(registry, "UNDROP STREAM s") == "Stream s restored"
    assert [one.name for one in registry.ask(m.ListSources()).answer.sources] == ["s", "t"]


def test_a_source_comes_back_while_its_types_mean_what_they_did(registry: Connection) -> None:
    lake = "WITH (CONNECTOR = 'delta', PATH = 'd')"
    run(registry, f"CREATE TYPE Way AS ARRAY<Point>; CREATE STREAM d (w Way, p Point) {lake}; DROP STREAM d")
    run(
        registry,
        "DROP TYPE Way; DROP TYPE Point; CREATE TYPE Point AS STRUCT<x: STRING>; CREATE TYPE Way AS ARRAY<Point>",
    )
    for _ in range(2):
        assert run(registry, "UNDROP STREAM d").startswith(
            "TYPE_GENERATION: The type Point is another one since d was dropped; DROP TYPE Point and"
        )
    run(registry, "DROP TYPE Way; DROP TYPE Point; CREATE TYPE Point AS STRUCT<x: INT>")
    assert run(registry, "UNDROP STREAM d").startswith("TYPE_NOT_FOUND")
    run(registry, "CREATE TYPE Way AS ARRAY<Point>")
    assert run(registry, "UNDROP STREAM d") == "Stream d restored"
    assert describe(registry, "d").columns[0].type == "Way"


def test_two_sources_exchange_their_names(registry: Connection) -> None:
    before = {name: describe(registry, name) for name in ("s", "t")}
    assert run(registry, "ALTER STREAM s SWAP WITH t", dry_run=True) == "The names of s and t would be exchanged"
    assert describe(registry, "s") == before["s"]
    assert run(registry, "ALTER STREAM s SWAP WITH t") == "The names of s and t are exchanged"
    assert [describe(registry, name).generation for name in ("t", "s")] == [before[n].generation for n in ("s", "t")]
    assert describe(registry, "s_bad").origin == "t"
    rows = registry.registry.node.follower.tables.rows()  # type: ignore[attr-defined]  # an embedded node
    topics = {row.key: json.loads(row.value)["sources"] for row in rows if row.table == "topic" and row.value}
    assert topics == {'["main","s"]': ["t"], '["main","t"]': ["s"]}
    assert run(registry, "ALTER TABLE s SWAP WITH S").startswith("SWAP_ITSELF")
    assert run(registry, "ALTER TABLE s SWAP WITH nowhere").startswith("SOURCE_NOT_FOUND")


def test_a_source_keeps_its_name_where_a_reader_says_no_name_of_it(registry: Connection) -> None:
    plan = QueryPlan("SELECT 1", (SourceRead("t", describe(registry, "t").generation),))
    defined = m.SourceDefinition("q", "STREAM", "CREATE", OUTPUT, connector="delta", place="q", query=plan)
    registry.ask(m.CreateSource(defined))
    for sql in ("ALTER STREAM s SWAP WITH t", "ALTER TABLE t SWAP WITH s", "ALTER TABLE t RENAME TO u"):
        assert "t is read by q, whose text can't be changed along (no word of it is the source t)" in run(registry, sql)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE TYPE Line AS ARRAY<Point>", "Type Line would be created"),
        ("CREATE TYPE Line AS ARRAY<Nothing>", "TYPE_NOT_FOUND: There is no type nothing; a built-in type, or CREATE TYPE first"),
        ("DROP TYPE Point", "Type Point would be dropped"),
        ("UNDROP TABLE gone", "Table gone would be restored"),
        ("PAUSE q", "The query of q would be paused"),
        ("RESUME s", "QUERY_NONE: s has no query; a stream or table that was made with AS"),
    ],
)  # fmt: skip
def test_a_dry_run_says_what_would_be_and_writes_nothing(registry: Connection, sql: str, message: str) -> None:
    plan = QueryPlan("SELECT 1", (SourceRead("t", describe(registry, "t").generation),))
    defined = m.SourceDefinition("q", "STREAM", "CREATE", OUTPUT, connector="delta", place="q", query=plan)
    registry.ask(m.CreateSource(defined))
    run(registry, "CREATE TABLE gone (k INT PRIMARY KEY) WITH (CONNECTOR = 'delta', PATH = 'g'); DROP TABLE gone")
    before = state(registry)
    assert run(registry, sql, dry_run=True) == message
    assert state(registry) == before


def test_what_can_not_come_back_is_not_shown(registry: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    run(registry, "DROP STREAM s")
    assert [one.name for one in registry.ask(m.ListDropped()).answer.sources] == ["s", "s_bad"]
    monkeypatch.setattr(limits, "DROP_GRACE", -1)
    assert registry.ask(m.ListDropped()).answer.sources == ()
    assert run(registry, "UNDROP STREAM s").startswith("DROPPED_NOT_FOUND")


def test_a_page_of_a_list_has_so_many_characters_and_one_row_at_least(
    registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = f"STRUCT<{', '.join(f'x{number}: INT' for number in range(200))}>"
    run(registry, ";".join(f"CREATE TYPE {name} AS {long}" for name in ("a", "b", "c", "d")))
    run(registry, "DROP STREAM s")
    monkeypatch.setattr(limits, "SOURCES_PAGE_CHARACTERS", 5_000)
    page = registry.ask(m.ListTypes()).answer
    assert [[one.name for one in page.types], page.last] == [["a", "b"], "b"]
    assert [one.name for one in registry.ask(m.ListTypes(after="b")).answer.types] == ["c", "d", "Point"]
    monkeypatch.setattr(limits, "SOURCES_PAGE_CHARACTERS", 1)
    types, dropped = registry.ask(m.ListTypes()).answer, registry.ask(m.ListDropped()).answer
    assert (len(types.types), types.last, len(dropped.sources), dropped.last) == (1, "a", 1, "s")
    assert [row[0] for row in Metastore(registry.registry).run("SHOW TYPES")[0].rows] == ["a", "b", "c", "d", "Point"]


@dataclass(slots=True)
class RegistryThatCounts:
    """A registry that counts what it is asked."""

    inner: Registry
    asked: list[str] = field(default_factory=list)

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        self.asked.append(type(request).__name__)
        return self.inner.ask(request, call)

    def close(self) -> None:
        self.inner.close()


@pytest.mark.parametrize("words", ["", " RECURSIVE"])
def test_dependencies_of_all_sources_are_one_list(registry: Connection, words: str) -> None:
    for name, *reads in (("b", "s"), ("c", "s", "b"), ("d", "c"), ("e", "s_bad")):
        found = tuple(SourceRead(key, describe(registry, key).generation) for key in reads)
        plan = QueryPlan("SELECT 1", found)
        defined = m.SourceDefinition(name, "STREAM", "CREATE", OUTPUT, connector="delta", place=name, query=plan)
        registry.ask(m.CreateSource(defined))
    counted = RegistryThatCounts(registry.registry)
    rows = Metastore(counted).run(f"SHOW DEPENDENCIES{words}")[0].rows
    assert counted.asked == ["ListSources"]
    one_by_one = [
        (one.name, one.kind, one.needs, one.effect, one.depth)
        for name in ("b", "c", "d", "e", "s", "s_bad", "t")
        for one in registry.ask(m.ListDependents(name, recursive=bool(words))).answer.dependents
    ]
    assert sorted(rows) == sorted(one_by_one)


def test_a_recommended_statement_names_its_source_between_back_quotes_where_the_name_needs_them(
    registry: Connection,
) -> None:
    run(registry, "ALTER STREAM s RENAME TO `x; DROP STREAM y`; ALTER STREAM `x; DROP STREAM y` SET PROTECTED = true")
    assert "ALTER STREAM `x; DROP STREAM y` SET PROTECTED" in run(registry, "DROP STREAM `x; DROP STREAM y`")
