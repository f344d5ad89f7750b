"""Every statement that changes something by every option: a dry run writes nothing, what is expected of its source counts, and its kind too; with and
without asyncio, in a commit of its own or of a script.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from tests.planning import SelectPlanner
from treaty import connect, connect_async
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.metastore import sources as m
from treaty.core.names import Subject
from treaty.core.refusals import NotLatest, Refusal, RegistryError
from treaty.core.registry import CallOptions
from treaty.metastore import AsyncMetastore, Metastore, PlanningOptions
from treaty.metastore.execution.results import ScriptOutcome
from treaty.metastore.script_run import parse_statements

FIRST = """
CREATE TYPE Point AS STRUCT<x: INT>; CREATE TYPE Spare AS INT;
CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO');
CREATE TABLE t (k STRING PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO');
CREATE STREAM n (v INT) WITH (KAFKA_TOPIC = 'n', VALUE_FORMAT = 'AVRO');
CREATE STREAM older WITH (KAFKA_TOPIC = 'older', VALUE_FORMAT = 'AVRO', SUBJECT = 'n-value');
ALTER STREAM n ADD COLUMN w INT;
CREATE STREAM q AS SELECT v FROM STREAM s; CREATE STREAM p AS SELECT v FROM STREAM s; PAUSE p;
CREATE STREAM gone (v INT) WITH (KAFKA_TOPIC = 'gone', VALUE_FORMAT = 'AVRO'); DROP STREAM gone;
"""
STATEMENTS: dict[str, tuple[str, str]] = {
    "CREATE STREAM c (v INT) WITH (KAFKA_TOPIC = 'c', VALUE_FORMAT = 'AVRO')": ("", "Stream c created"),
    "CREATE STREAM c AS SELECT v FROM STREAM s": ("", "Stream c created"),
    "CREATE OR REPLACE STREAM n (v INT, w INT, x INT) WITH (KAFKA_TOPIC = 'n', VALUE_FORMAT = 'AVRO')": ("n", "Stream n changed"),
    "CREATE OR REPLACE STREAM q COMMENT 'c' AS SELECT v FROM STREAM s": ("q", "Stream q changed"),
    "CREATE TYPE c AS INT": ("", "Type c created"),
    "DROP TYPE Spare": ("", "Type Spare dropped"),
    "DROP STREAM n": ("n", "n dropped"),
    "DROP TABLE t": ("t", "t dropped"),
    "UNDROP STREAM gone": ("", "Stream gone restored"),
    "ALTER STREAM n ADD COLUMN x INT": ("n", "Stream n changed"),
    "ALTER TABLE t ADD COLUMN x INT": ("t", "Table t changed"),
    "ALTER STREAM n RENAME TO c": ("n", "Stream c changed"),
    "ALTER STREAM n SWAP WITH t": ("n", "The names of n and t are exchanged"),
    "ALTER STREAM n SET (RETENTION_MS = '5')": ("n", "Stream n changed"),
    "ALTER TABLE t SET PROTECTED = TRUE": ("t", "Table t changed"),
    "ALTER STREAM n SET COMMENT = 'c'": ("n", "Stream n changed"),
    "ALTER STREAM older REFRESH SCHEMA": ("", "Stream older changed"),
    "PAUSE q": ("", "The query of q is paused"),
    "RESUME p": ("", "The query of p is running"),
    "RESET CHECKPOINT q KEEP DATA": ("q", "Stream q is changed: it reads from the beginning again"),
    "INSERT INTO ONCE q SELECT v FROM STREAM n": ("q", "The query is run once into stream q"),
}  # fmt: skip
"""Statements with the source of which each may expect something, and what their message begins with."""
WAITING = ("CREATE STREAM c AS", "CREATE OR REPLACE STREAM q", "INSERT INTO ONCE")
"""What statements begin with that are no part of one commit."""
MEMBERS = [(sql, atomic) for sql in STATEMENTS for atomic in (False, True) if not (atomic and sql.startswith(WAITING))]
Run = Callable[..., ScriptOutcome]


class Bench:
    """A metastore with the statements of FIRST, asked with or without asyncio."""

    def __init__(self, *, is_async: bool) -> None:
        self.planning = PlanningOptions(SelectPlanner())
        self.stack, self.runner = AsyncExitStack(), asyncio.Runner()
        self.sync: Any = None
        if is_async:
            connection = self.runner.run(self.stack.enter_async_context(connect_async("memory:")))
            self.metastore: Any = AsyncMetastore(connection.registry, planning=self.planning)
        else:
            self.sync = connect("memory:")
            self.metastore = Metastore(self.sync.registry, planning=self.planning)
        assert self.run(FIRST).error is None

    def wait(self, answer: Any) -> Any:
        return self.runner.run(answer) if asyncio.iscoroutine(answer) else answer

    def run(self, sql: str, **options: Any) -> ScriptOutcome:
        outcome: ScriptOutcome = self.wait(self.metastore.run_script(sql, **options))
        return outcome

    def state(self) -> object:
        asked = (m.ListSources(), m.ListTypes(), m.ListDropped(), ListSchemas(Subject("*", "")))
        return [self.wait(self.metastore.registry.ask(one)).answer for one in asked]

    def row(self, name: str) -> Any:
        return self.wait(self.metastore.registry.ask(m.DescribeSource(name))).answer.source

    def close(self) -> None:
        if self.sync is not None:
            self.sync.close()
        self.runner.run(self.stack.aclose())
        self.runner.close()


@pytest.fixture(params=["plain", "asyncio"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    opened = Bench(is_async=request.param == "asyncio")
    yield opened
    opened.close()


def rule_of(error: RegistryError | None) -> str:
    return error.reason.rule if isinstance(error, Refusal) else repr(error)


@pytest.mark.parametrize("atomic", [False, True], ids=["one by one", "one commit"])
def test_a_statement_does_in_a_dry_run_nothing_and_else_what_it_says(bench: Bench, *, atomic: bool) -> None:
    for sql, atomic_too in MEMBERS:
        if atomic_too is not atomic:
            continue
        before = bench.state()
        dry = bench.run(sql, dry_run=True, atomic=atomic)
        assert (dry.error, bench.state() == before) == (None, True), sql
        assert "would be" in dry.results[0].message, sql
    for sql in () if bench.sync is None else STATEMENTS:
        if (sql, atomic) not in MEMBERS:
            continue
        opened = Bench(is_async=False)
        before = opened.state()
        done = opened.run(sql, atomic=atomic)
        assert (done.error, opened.state() != before) == (None, True), sql
        assert done.results[0].message.startswith(STATEMENTS[sql][1]), sql
        opened.close()


@pytest.mark.parametrize("atomic", [False, True], ids=["one by one", "one commit"])
def test_a_statement_that_expects_something_of_its_source_is_refused_where_it_is_not_so(
    bench: Bench, *, atomic: bool
) -> None:
    for sql, (name, _) in STATEMENTS.items():
        if not name or (sql, atomic) not in MEMBERS:
            continue
        row, before = bench.row(name), bench.state()
        for generation, revision in ((row.generation, row.revision + 1), (row.generation + 1, row.revision)):
            wrong = m.ExpectedSource(generation, revision)
            outcome = bench.run(sql, expected=wrong, atomic=atomic)
            assert isinstance(outcome.error, NotLatest), (sql, outcome)
            assert (rule_of(outcome.error), bench.state() == before) == ("SOURCE_EXPECTED", True), sql
        own = m.ExpectedSource(row.generation, row.revision)
        assert bench.run(sql, expected=own, dry_run=True, atomic=atomic).error is None, sql


@pytest.mark.parametrize("atomic", [False, True], ids=["one by one", "one commit"])
def test_a_statement_that_says_the_other_kind_of_its_source_is_refused(bench: Bench, *, atomic: bool) -> None:
    before = bench.state()
    for sql in STATEMENTS:
        if not sql.startswith(("ALTER", "DROP", "UNDROP")) or "TYPE" in sql:
            continue
        other = sql.replace("STREAM", "TABLE", 1) if "STREAM" in sql else sql.replace("TABLE", "STREAM", 1)
        assert rule_of(bench.run(other, atomic=atomic).error) == "SOURCE_KIND_DIFFERS", other
        assert bench.state() == before


def test_a_statement_of_either_kind_is_refused_for_none() -> None:
    """STREAMING TABLE says neither kind."""
    bench = Bench(is_async=False)
    for sql in STATEMENTS:
        if sql.startswith(("ALTER", "DROP STREAM", "DROP TABLE")):
            either = sql.replace("STREAM" if "STREAM" in sql else "TABLE", "STREAMING TABLE", 1)
            assert bench.run(either, dry_run=True).error is None, either
    bench.close()


UNCHANGED = {
    "ALTER TABLE t SET PROTECTED = FALSE": "Table t unchanged",
    "ALTER STREAM n SET COMMENT = ''": "Stream n unchanged",
    "ALTER STREAM n REFRESH SCHEMA": "Stream n unchanged",
    "CREATE STREAM IF NOT EXISTS n (v INT) WITH (KAFKA_TOPIC = 'n', VALUE_FORMAT = 'AVRO')": "Stream n unchanged",
    "CREATE TYPE IF NOT EXISTS Spare AS INT": "Type Spare unchanged",
    "DROP TYPE IF EXISTS Nothing": "Type Nothing does not exist",
    "DROP STREAM IF EXISTS nothing": "nothing does not exist",
}


@pytest.mark.parametrize("atomic", [False, True], ids=["one by one", "one commit"])
def test_a_statement_without_effect_says_so_in_a_dry_run_too(bench: Bench, *, atomic: bool) -> None:
    for sql, message in UNCHANGED.items():
        before = bench.state()
        for dry_run in (True, False):
            outcome = bench.run(sql, dry_run=dry_run, atomic=atomic)
            assert (outcome.error, [one.message for one in outcome.results]) == (None, [message]), sql
        assert bench.state() == before, sql


@pytest.mark.parametrize("atomic", [False, True], ids=["one by one", "one commit"])
def test_a_dry_run_is_no_repetition_of_a_script_with_its_id(bench: Bench, *, atomic: bool) -> None:
    create = "CREATE STREAM c (v INT) WITH (KAFKA_TOPIC = 'c', VALUE_FORMAT = 'AVRO')"
    bench.metastore.call = CallOptions(command_id="c1")
    for _ in range(2):
        assert bench.run(create, atomic=atomic).results[0].message == "Stream c created"
    assert rule_of(bench.run(create, atomic=atomic, dry_run=True).error) == "COMMAND_ID_USED"


def test_what_is_expected_is_about_one_statement_that_can_expect_it() -> None:
    expected = m.ExpectedSource(1, 1)
    for sql, (name, _) in STATEMENTS.items():
        creates = sql.startswith(("CREATE STREAM", "CREATE OR REPLACE STREAM"))
        if name or creates:
            assert len(parse_statements(sql, {}, expected).statements) == 1
        else:
            with pytest.raises(Refusal, match="can't expect"):
                parse_statements(sql, {}, expected)
    for several in ("DROP STREAM a; DROP STREAM b", "-- nothing"):
        with pytest.raises(Refusal, match="is about one statement"):
            parse_statements(several, {}, expected)


@pytest.mark.parametrize("atomic", [False, True], ids=["one by one", "one commit"])
def test_variables_of_a_caller_stand_in_statements(bench: Bench, *, atomic: bool) -> None:
    variables = {"name": "n"}
    sql = "ALTER STREAM ${name} SET COMMENT = '${name}${name}'"
    for method in ("run", "run_one") if not atomic else ("run",):
        options = {"atomic": True} if atomic else {}
        done = bench.wait(getattr(bench.metastore, method)(sql, variables=variables, **options))
        assert (done if method == "run_one" else done[0]).name == "n"
    assert bench.row("n").comment == "nn"


@pytest.mark.parametrize("first", [0, 1, 12])
def test_a_statement_that_comes_again_has_the_place_that_it_had_in_its_script(first: int) -> None:
    bench = Bench(is_async=True)
    script = parse_statements(";".join(f"CREATE TYPE c{place} AS INT" for place in range(first + 1)), {})
    bench.metastore.call = CallOptions(command_id="c1")
    assert bench.wait(bench.metastore.run_parsed_script(script)).error is None
    last = replace(script, statements=script.statements[-1:])
    again = bench.wait(bench.metastore.run_parsed_script(last, first=first))
    assert (again.error, [one.message for one in again.results]) == (None, [f"Type c{first} created"])
    bench.close()
