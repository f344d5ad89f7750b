"""`treaty metastore import`: command topics of ksqlDB, made by hand from its published format, and what they come to."""

import json
from pathlib import Path
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner, Result

from tests.planning import SelectPlanner
from treaty import connect
from treaty.cli.main import group
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore.sources import CreateType, DescribeSource
from treaty.core.messages.request import Request
from treaty.core.refusals import Forbidden, NotPermitted
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.ksqldb.commands import CommandRecord, CommandState, read_backup, take_all
from treaty.metastore.ksqldb.importer import CommandImport, import_state
from treaty.metastore.ksqldb.statements import list_objects
from treaty.metastore.ksqldb.suggestions import suggest_body

A = TypeVar("A")
CASES = Path(__file__).parents[1] / "cases" / "ksqldb"


def run(*words: str, url: str) -> Result:
    return CliRunner().invoke(group, ["metastore", "import", *words, "--registry", url])


def command(ddl: dict[str, Any], version: int = 18) -> CommandRecord:
    plan = {"@type": "ksqlPlanV1", "statementText": "a statement", "ddlCommand": ddl}
    return CommandRecord(
        0, b'"a/key"', json.dumps({"statement": "a statement", "plan": plan, "version": version}).encode()
    )


def stream(name: str, schema: str) -> CommandRecord:
    formats = {"keyFormat": {"format": "KAFKA"}, "valueFormat": {"format": "AVRO"}}
    return command(
        {
            "@type": "createStreamV1",
            "sourceName": f"`{name}`",
            "schema": schema,
            "topicName": name.lower(),
            "formats": formats,
        }
    )


def outcome_of(case: Path, url: str) -> dict[str, Any]:
    """What a backup comes to: the report of a first import, and the rows."""
    first = run("--from", str(case), "--json", url=url)
    assert first.exit_code == 1, first.output
    report = json.loads(first.stdout)
    with connect(url) as connection:
        metastore = Metastore(connection.registry)
        rows = metastore.run("SELECT name, kind, place, key_format, value_format, comment FROM treaty.sources")[0]
        types = metastore.run("SHOW TYPES")[0]
        queries = metastore.run("SHOW QUERIES")[0]
    return {
        "outcomes": {line["name"]: line["outcome"] for line in report["lines"]},
        "passed": [[one["place"], one["reason"].partition(":")[0]] for one in report["passed"]],
        "queries": {one["query_id"]: [one["state"], one["suggestion"], *one["notes"]] for one in report["queries"]},
        "paused": [[row[0], row[2]] for row in queries.rows],
        "sources": [list(row) for row in rows.rows],
        "types": [list(row) for row in types.rows],
    }


@pytest.mark.parametrize("case", sorted(CASES.glob("*.backup")), ids=lambda case: case.stem)
def test_a_golden_command_topic_comes_to_its_rows_and_a_second_run_writes_nothing(case: Path, tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    assert outcome_of(case, url) == json.loads(case.with_suffix(".json").read_text("utf-8"))
    with connect(url) as connection:
        before = Metastore(connection.registry).run("SHOW STREAMS")[0]
    again = run("--from", str(case), "--json", url=url)
    assert {line["outcome"] for line in json.loads(again.stdout)["lines"]} <= {"unchanged", "not taken"}
    with connect(url) as connection:
        shown = Metastore(connection.registry).run("SHOW STREAMS")[0]
    assert shown.sequence == before.sequence, "the second run has made no commit"


def test_a_dry_run_reports_and_writes_nothing(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    done = run("--from", str(CASES / "mixed.backup"), "--dry-run", url=url)
    assert (done.exit_code, "STREAM  ORDERS" in done.output) == (1, True)
    with connect(url) as connection:
        assert Metastore(connection.registry).run("SHOW STREAMS; SHOW TABLES; SHOW TYPES")[0].rows == ()


def test_what_ksqldb_drops_goes_and_what_no_import_has_made_stays() -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        metastore.run("CREATE STREAM mine (v INT) WITH (KAFKA_TOPIC = 'mine', VALUE_FORMAT = 'AVRO')")
        state = take_all([stream("A", "`V` INTEGER"), stream("B", "`V` INTEGER"), stream("MINE", "`W` STRING")])
        report = import_state(metastore, state)
        assert [(line.name, line.outcome) for line in report.lines] == [
            ("A", "taken"),
            ("B", "taken"),
            ("MINE", "not taken"),
        ]
        for name in ("A", "MINE"):
            state.take(command({"@type": "dropSourceV1", "sourceName": f"`{name}`"}))
        state.take(stream("B", "`V` INTEGER, `W` STRING"))
        report = import_state(metastore, state)
        assert [(line.name, line.outcome) for line in report.lines] == [("A", "dropped"), ("B", "changed")]
        names = [row[0] for row in metastore.run("SHOW STREAMS")[0].rows]
        assert names == ["B", "mine"]
        columns = metastore.registry.ask(DescribeSource("b")).answer.source.columns
        assert [one.name for one in columns] == ["V", "W"]


@pytest.mark.parametrize("version", range(1, 19))
def test_every_version_of_a_command_is_read(version: int) -> None:
    record = stream("A", "`V` INTEGER")
    value = {**json.loads(record.value or b""), "version": version}
    state = take_all([CommandRecord(0, record.key, json.dumps(value).encode())])
    assert (list(state.sources), state.passed) == (["A"], [])


@pytest.mark.parametrize(
    "value",
    [None, b"", b"{", b"[]", b"null", b"\xff", b'{"statement": 1}', b'{"version": "18", "statement": ""}', b'{"version": 19}',
     b'{"plan": {"ddlCommand": {"@type": "createStreamV1"}}}', b'{"plan": {"ddlCommand": {"@type": "nothing"}}}', b"[" * 100_000],
)  # fmt: skip
def test_a_damaged_record_is_passed_over_with_its_reason(value: bytes | None) -> None:
    state = CommandState()
    state.take(CommandRecord(7, b"key", value))
    state.take(stream("A", "`V` INTEGER"))
    assert [(one.place, bool(one.reason)) for one in state.passed] == [(7, True)]
    assert list(state.sources) == ["A"]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("CREATE STREAM x AS SELECT a FROM s WHERE a > 1 EMIT CHANGES;", "SELECT a FROM STREAM s WHERE a > 1"),
        ("CREATE STREAM x AS SELECT CAST(a AS VARCHAR) b FROM s s1;", "SELECT CAST(a AS STRING) b FROM STREAM s s1"),
        (
            "CREATE TABLE x AS SELECT k, COUNT(*) FROM s GROUP BY k EMIT CHANGES;",
            "SELECT k, COUNT(*) FROM STREAM s GROUP BY k",
        ),
        (
            "CREATE STREAM x AS SELECT s.a, t->b FROM s JOIN t ON s.k = t.k;",
            "SELECT s.a, t.b FROM STREAM s JOIN t ON s.k = t.k",
        ),
    ],
)
def test_a_query_has_a_statement_to_begin_with(text: str, body: str) -> None:
    assert suggest_body(text, {"S"}).body == body


def test_commas_in_quotes_end_no_column_and_what_follows_a_type_is_kept() -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        schema = (
            "`K, \"1` BIGINT NOT NULL KEY COMMENT 'a key, one', `H` BYTES HEADER('x, it''s'), "
            "`V` STRUCT<`a` INTEGER, `c` STRING> COMMENT 'it''s, too', `W` STRING NOT NULL"
        )
        report = import_state(metastore, take_all([stream("COMMAS", schema)]))
        assert [(line.name, line.outcome) for line in report.lines] == [("COMMAS", "taken")], report.lines
        columns = metastore.registry.ask(DescribeSource("commas")).answer.source.columns
    assert [(one.name, one.role, one.nullable, one.comment, one.header) for one in columns] == [
        ('K, "1', "key", False, "a key, one", ""),
        ("V", "value", True, "it's, too", ""),
        ("W", "value", False, "", ""),
        ("H", "header", True, "", "x, it's"),
    ]


def test_what_a_record_holds_is_no_statement() -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        metastore.run("CREATE STREAM victim (v INT) WITH (KAFKA_TOPIC = 'victim', VALUE_FORMAT = 'AVRO')")
        wrong = "INT; DROP STREAM victim; CREATE TYPE zz AS INT"
        quoted = stream("Q", "`V` INTEGER")
        value = (quoted.value or b"").replace(b'"topicName": "q"', b'"topicName": "t\', VALUE_SUBJECT=\'other"')
        state = take_all([
            command({"@type": "registerTypeV1", "typeName": "BAD", "type": wrong}),
            stream("HEAD", "`V` INTEGER) WITH (KAFKA_TOPIC = 'x', VALUE_FORMAT = 'AVRO') --"),
            CommandRecord(2, quoted.key, value),
            stream("TAIL", "`H` BYTES HEADER('x'); DROP STREAM victim"),
            stream("FINE", "`V` INTEGER, `H` BYTES HEADER('x')"),
        ])  # fmt: skip
        report = import_state(metastore, state)
        outcomes = {line.name: line.outcome for line in report.lines}
        assert outcomes == {"BAD": "not taken", "HEAD": "not taken", "Q": "taken", "TAIL": "not taken", "FINE": "taken"}
        assert metastore.registry.ask(DescribeSource("fine")).answer.source.columns[-1].header == "x"
        assert [row[0] for row in metastore.run("SHOW STREAMS")[0].rows] == ["FINE", "Q", "victim"]
        assert metastore.registry.ask(DescribeSource("q")).answer.source.place == "t', VALUE_SUBJECT='other"


def test_a_line_that_nests_too_deeply_and_half_a_character_are_passed_over(tmp_path: Path) -> None:
    good = stream("A", "`V` INTEGER").value or b""
    half = good.replace(b'"topicName": "a"', b'"topicName": "\\ud800"')
    backup = tmp_path / "a.backup"
    backup.write_bytes(b"\n".join([b"[" * 200_000, b'"\\ud800":' + good, b'"k":' + half]))
    state = take_all(read_backup(backup))
    assert ([one.place for one in state.passed], list(state.sources)) == ([1, 3], ["A"])


class CountingRegistry:
    """A registry that counts what it is asked."""

    def __init__(self, registry: Registry) -> None:
        self.registry, self.asked = registry, 0

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        self.asked += 1
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


def test_a_command_that_comes_costs_the_same_among_many_sources_as_among_few() -> None:
    """While a topic is followed only what a command changes is asked about; what could not be taken is tried again."""
    with connect("memory:") as connection:
        counting = CountingRegistry(connection.registry)
        followed, state = CommandImport(Metastore(counting)), CommandState()
        asked = []
        for number in range(40):
            before = counting.asked
            state.take(stream(f"S{number}", "`V` INTEGER"))
            lines = followed.run(state).lines
            assert [line.outcome for line in lines] == ["unchanged"] * number + ["taken"]
            asked.append(counting.asked - before)
        assert asked == asked[:1] * 40
        state.take(command({"@type": "dropSourceV1", "sourceName": "`S7`"}))
        assert [line.name for line in followed.run(state).lines if line.outcome == "dropped"] == ["S7"]
        state.take(stream("S7", "`V` INTEGER"))
        assert [line.name for line in followed.run(state).lines if line.outcome == "taken"] == ["S7"]
        state.take(stream("LATE", "`V` LATER"))
        assert [line.outcome for line in followed.run(state).lines][-1] == "not taken"
        Metastore(connection.registry).run("CREATE TYPE later AS INT")
        assert [line.outcome for line in followed.run(state).lines][-1] == "taken"


def plain(statement: str) -> CommandRecord:
    return CommandRecord(0, b"key", json.dumps({"statement": statement, "version": 1}).encode())


PLAIN = (
    "CREATE TYPE place AS STRUCT<city VARCHAR, zip INTEGER>;",
    "create stream Orders (id BIGINT key, item varchar, `at` TIMESTAMP, total DECIMAL(9, 2), home place) with (kafka_topic='orders', value_format='avro', timestamp='`at`');",
    "CREATE SOURCE TABLE \"users\" (rowkey VARCHAR KEY, name VARCHAR) WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON_SR', KEY='name');",
    "ALTER STREAM orders ADD COLUMN note VARCHAR, ADD price DECIMAL(4, 1);",
    "CREATE STREAM inferred WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='AVRO');",
    "CREATE STREAM lines (line VARCHAR) WITH (KAFKA_TOPIC='lines', VALUE_FORMAT='DELIMITED');",
    "CREATE STREAM gone (a INT) WITH (KAFKA_TOPIC='gone', VALUE_FORMAT='AVRO');",
    "DROP STREAM IF EXISTS gone DELETE TOPIC;",
    "CREATE TABLE hours (k VARCHAR PRIMARY KEY, n INT) WITH (KAFKA_TOPIC='hours', VALUE_FORMAT='AVRO', WINDOW_TYPE='SESSION');",
    "CREATE STREAM big AS SELECT id FROM orders WHERE total > 100;",
    "CREATE STREAM ended AS SELECT id FROM orders;",
    "DROP STREAM ended;",
    "CREATE STREAM open (a INT;",
    "CREATE TABLE",
    "ALTER STREAM orders DROP COLUMN item;",
)


def test_statements_without_a_plan_are_read_as_they_stand() -> None:
    """Old versions of ksqlDB wrote no plans: what a statement says is taken, and what it leaves to a plan is said."""
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        state = take_all(map(plain, PLAIN))
        lines = {line.name: line.reason.partition(":")[0] for line in import_state(metastore, state).lines}
        orders, users, inferred = (
            connection.ask(DescribeSource(name)).answer.source for name in ("ORDERS", "users", "INFERRED")
        )
    assert state.passed == []
    assert lines == dict.fromkeys(("PLACE", "ORDERS", "users", "INFERRED"), "") | {
        "LINES": "its values are DELIMITED, which has no schema",
        "HOURS": "its keys have a window, which ksqlDB's own serializers write",
        PLAIN[9][:60]: "a query without a plan, from which its columns would be known",
        PLAIN[12]: "the brackets of its columns do not end",
        PLAIN[13]: "the end stands where a name is expected",
        PLAIN[14]: "DROP stands where ADD is expected",
    }
    assert [(one.name, one.type, one.role) for one in orders.columns] == [
        ("ID", "BIGINT", "key"), ("ITEM", "STRING", "value"), ("at", "TIMESTAMP", "value"), ("TOTAL", "DECIMAL(9, 2)", "value"),
        ("HOME", "PLACE", "value"), ("NOTE", "STRING", "value"), ("PRICE", "DECIMAL(4, 1)", "value"),
    ]  # fmt: skip
    assert orders.timestamp == "at"
    assert [(users.kind, one.name, one.role) for one in users.columns] == [
        ("TABLE", "ROWKEY", "key"),
        ("TABLE", "NAME", "value"),
    ]
    assert [one.name for one in inferred.columns] == ["ITEM", "at", "TOTAL", "HOME", "NOTE", "PRICE"]


def test_a_key_whose_columns_a_plain_statement_leaves_out_is_that_of_the_topic() -> None:
    statement = "CREATE STREAM sent (v INT) WITH (KAFKA_TOPIC='t', KEY_FORMAT='{}', VALUE_FORMAT='AVRO');"
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        metastore.run(
            "CREATE STREAM t (k STRUCT<id: INT> KEY, V INT) WITH (KAFKA_TOPIC = 't', KEY_FORMAT = 'AVRO', VALUE_FORMAT = 'AVRO')"
        )
        roles = {}
        for format_ in ("AVRO", "KAFKA"):
            report = import_state(metastore, take_all([plain(statement.format(format_))]))
            assert [line.reason for line in report.lines] == [""]
            columns = connection.ask(DescribeSource("SENT")).answer.source.columns
            roles[format_] = [(one.name, one.role) for one in columns]
            metastore.run("DROP STREAM SENT")
    assert roles == {"AVRO": [("k", "key"), ("V", "value")], "KAFKA": [("V", "value")]}


PLANNED_PROPERTIES = {
    "@type": "createStreamV1", "sourceName": "`S`", "schema": "`AT` STRING", "topicName": "t",
    "timestampColumn": {"column": "AT", "format": "yyyy-MM-dd HH:mm:ss"},
    "formats": {
        "keyFormat": {"format": "KAFKA"}, "keyFeatures": [], "valueFeatures": ["UNWRAP_SINGLES"],
        "valueFormat": {"format": "AVRO", "properties": {"schemaId": "7", "fullSchemaName": "shop.At"}},
    },
}  # fmt: skip
PLAIN_PROPERTIES = (
    "CREATE STREAM S (at VARCHAR) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='AVRO', TIMESTAMP='at', TIMESTAMP_FORMAT='yyyy-MM-dd HH:mm:ss', "
    "WRAP_SINGLE_VALUE=false, VALUE_SCHEMA_ID=7, VALUE_AVRO_SCHEMA_FULL_NAME='shop.At');"
)


@pytest.mark.parametrize("record", [command(PLANNED_PROPERTIES), plain(PLAIN_PROPERTIES)], ids=["plan", "plain"])
def test_properties_of_a_source_are_taken_and_a_schema_id_that_is_left_out_is_noted(record: CommandRecord) -> None:
    (imported,) = list_objects(take_all([record]))
    assert "TIMESTAMP_FORMAT = 'yyyy-MM-dd HH:mm:ss'" in imported.statement
    assert "VALUE_SCHEMA_FULL_NAME = 'shop.At', " in imported.statement
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        notes = [import_state(metastore, take_all([record])).lines[0].notes for _ in range(2)]
        shown = str(metastore.run_one("SHOW CREATE STREAM S").rows[0][0])
    assert [note.partition(" of ")[0] for note in notes[0]] == ["VALUE_SCHEMA_ID = 7"]
    assert notes[1] == ()
    assert "TIMESTAMP_FORMAT = 'yyyy-MM-dd HH:mm:ss'" in shown
    assert "WRAP_SINGLE_VALUE = 'false'" in shown


QUERY = "CREATE STREAM BIG AS SELECT V FROM SMALL EMIT CHANGES;"


def query(name: str, text: str) -> CommandRecord:
    """A command that makes a stream by a query."""
    record = json.loads(stream(name, "`V` INTEGER").value or b"")
    record["plan"] |= {"statementText": text, "queryPlan": {"sink": f"`{name}`", "queryId": f"CSAS_{name}_1"}}
    return CommandRecord(1, b"key", json.dumps(record).encode())


def test_an_imported_query_is_paused_until_it_is_replaced_by_one_with_a_plan() -> None:
    """The row has its text and a statement to begin with; RESUME is refused with it, and the planned query stays PAUSED until then."""
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry, planning=PlanningOptions(SelectPlanner()))
        state = take_all([stream("SMALL", "`V` INTEGER"), query("BIG", QUERY)])
        import_state(metastore, state)
        source = connection.ask(DescribeSource("big")).answer.source
        assert source.imported is not None
        assert (source.imported.original, source.desired, source.query) == (QUERY, "PAUSED", None)
        (row,) = metastore.run("SHOW QUERIES")[0].rows
        assert row == ("BIG", "STREAM", "PAUSED", "not planned", None, QUERY)
        with pytest.raises(NotPermitted) as refused:
            metastore.run("RESUME big")
        assert refused.value.reason.rule == "QUERY_NOT_PLANNED"
        assert source.imported.suggestion in refused.value.reason.allowed
        assert metastore.run("PAUSE big")[0].message == "The query of BIG is paused"
        metastore.run(source.imported.suggestion)
        planned = connection.ask(DescribeSource("big")).answer.source
        assert (planned.imported, planned.desired, planned.query is not None) == (None, "PAUSED", True)
        report = import_state(metastore, state)
        assert [(line.name, line.outcome) for line in report.lines] == [("SMALL", "unchanged"), ("BIG", "ported")]
        assert [one.state for one in report.queries] == ["ported"]
        metastore.run("RESUME big")
        assert connection.ask(DescribeSource("big")).answer.source.desired == "RUNNING"


def test_a_query_that_ends_in_ksqldb_leaves_its_stream() -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        state = take_all([stream("SMALL", "`V` INTEGER"), query("BIG", QUERY)])
        import_state(metastore, state)
        state.take(CommandRecord(2, b"key", json.dumps({"statement": "TERMINATE CSAS_BIG_1;"}).encode()))
        assert [line.outcome for line in import_state(metastore, state).lines] == ["unchanged", "changed"]
        source = connection.ask(DescribeSource("big")).answer.source
        assert (source.imported, source.desired) == (None, "RUNNING")


def test_an_import_needs_a_permission_of_its_own() -> None:
    rule = AccessRule(("user:a",), with_included(("register",)), ("*",), sources=("*",))
    call = CallOptions(principal="user:a", access=Access((rule,)))
    with connect("memory:") as connection:
        connection.ask(CreateType("t", "INT"), call)
        with pytest.raises(Forbidden, match="import"):
            connection.ask(CreateType("u", "INT", importer=True), call)
