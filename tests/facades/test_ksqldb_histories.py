"""Histories of ksqlDB's commands: a plan and a statement without one come to the same, and so do commands that come together and one by one."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from treaty import connect
from treaty.core.refusals import Invalid
from treaty.core.registry import run_exchange
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.metastore.execution.pages import list_sources, list_types
from treaty.metastore.ksqldb.commands import CommandRecord, CommandState, take_all
from treaty.metastore.ksqldb.formats import refuse_formats
from treaty.metastore.ksqldb.importer import CommandImport, import_state
from treaty.metastore.ksqldb.sent_text import translate_text
from treaty.metastore.ksqldb.statements import list_objects

KEYS = {"STREAM": "KEY", "TABLE": "PRIMARY KEY"}


def record_of(statement: str, plan: dict[str, Any] | None = None) -> CommandRecord:
    command: dict[str, Any] = {"statement": statement, "version": 18}
    if plan is not None:
        command["plan"] = {"@type": "ksqlPlanV1", "statementText": statement, **plan}
    return CommandRecord(0, b'"a/key"', json.dumps(command).encode())


def create(name: str, schema: str = "`V` INTEGER", kind: str = "Stream", **members: Any) -> CommandRecord:
    formats = {"keyFormat": {"format": "KAFKA"}, "valueFormat": {"format": "AVRO"}}
    ddl = {
        "@type": f"create{kind}V1",
        "sourceName": f"`{name}`",
        "schema": schema,
        "topicName": name.lower(),
        "formats": formats,
    }
    return record_of(f"CREATE {name}", {"ddlCommand": ddl | members})


def query(name: str, query_id: str) -> CommandRecord:
    """A command that makes a stream by a query."""
    text = f"CREATE STREAM {name} AS SELECT V FROM X EMIT CHANGES;"
    ddl = json.loads(create(name).value or b"")["plan"]["ddlCommand"]
    return record_of(text, {"ddlCommand": ddl, "queryPlan": {"sink": f"`{name}`", "queryId": query_id}})


def insert(name: str, query_id: str) -> CommandRecord:
    return record_of(
        f"INSERT INTO {name} SELECT V FROM X;",
        {"ddlCommand": None, "queryPlan": {"sink": f"`{name}`", "queryId": query_id}},
    )


def drop(name: str) -> CommandRecord:
    return record_of(f"DROP STREAM {name};", {"ddlCommand": {"@type": "dropSourceV1", "sourceName": f"`{name}`"}})


def type_of(name: str, definition: str | None) -> CommandRecord:
    ddl = (
        {"@type": "dropTypeV1", "typeName": name}
        if definition is None
        else {"@type": "registerTypeV1", "typeName": name, "type": definition}
    )
    return record_of("a type", {"ddlCommand": ddl})


def end(query_id: str) -> CommandRecord:
    return record_of(f"TERMINATE {query_id};")


# ------------------------------------------------------------------------------------------ plans and plain statements

AVRO = {"keyFormat": {"format": "KAFKA"}, "valueFormat": {"format": "AVRO"}}
WITH = "KAFKA_TOPIC='a', VALUE_FORMAT='AVRO'"


def with_value(**properties: str) -> dict[str, Any]:
    return {"formats": AVRO | {"valueFormat": {"format": "AVRO", "properties": properties}}}


def with_key(**properties: str) -> dict[str, Any]:
    return {"formats": AVRO | {"keyFormat": {"format": "AVRO", "properties": properties}}}


TWINS: dict[str, dict[str, Any]] = {
    WITH: {},
    "kafka_topic='a', value_format='avro'": {},
    "KAFKA_TOPIC='a', FORMAT='AVRO'": with_key(),
    f"{WITH}, KEY_FORMAT='AVRO', KEY_SCHEMA_FULL_NAME='x.K'": with_key(fullSchemaName="x.K"),
    f"{WITH}, KEY_FORMAT='AVRO', KEY_SCHEMA_ID=4": with_key(schemaId="4"),
    f"{WITH}, KEY_FORMAT='AVRO', KEY_PROTOBUF_NULLABLE_REPRESENTATION='WRAPPER'": with_key(nullableRepresentation="WRAPPER"),
    f"{WITH}, VALUE_SCHEMA_FULL_NAME='x.V'": with_value(fullSchemaName="x.V"),
    f"{WITH}, VALUE_AVRO_SCHEMA_FULL_NAME='x.V'": with_value(fullSchemaName="x.V"),
    f"{WITH}, VALUE_SCHEMA_ID=4": with_value(schemaId="4"),
    f"{WITH}, VALUE_PROTOBUF_NULLABLE_REPRESENTATION='OPTIONAL'": with_value(nullableRepresentation="OPTIONAL"),
    f"{WITH}, WRAP_SINGLE_VALUE=false": {"formats": AVRO | {"valueFeatures": ["UNWRAP_SINGLES"]}},
    f"{WITH}, WRAP_SINGLE_VALUE=true": {},
    f"{WITH}, TIMESTAMP='v'": {"timestampColumn": {"column": "V"}},
    f"{WITH}, TIMESTAMP='`v`'": {"timestampColumn": {"column": "v"}},
    f"{WITH}, TIMESTAMP='v', TIMESTAMP_FORMAT='yyyy'": {"timestampColumn": {"column": "V", "format": "yyyy"}},
    f"{WITH}, WINDOW_TYPE='SESSION'": {"windowInfo": {"type": "SESSION"}},
}  # fmt: skip


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
@pytest.mark.parametrize("words", TWINS)
def test_a_statement_without_a_plan_says_what_its_plan_says(words: str, kind: str) -> None:
    plain = take_all([record_of(f"CREATE {kind} a (k INT {KEYS[kind]}, v STRUCT<x INT, y STRING>) WITH ({words});")])
    members = {"formats": AVRO} | TWINS[words]
    schema = f"K INT {KEYS[kind]}, V STRUCT<X INT, Y STRING>"
    planned = take_all([create("A", schema, kind.title(), **members)])
    assert (plain.passed, planned.passed) == ([], [])
    left, right = (replace(state.sources["A"], statement="", infers_key=False) for state in (plain, planned))
    assert left == right


CHANGES = {
    "ALTER STREAM a ADD w INT;": {"@type": "alterSourceV1", "sourceName": "`A`", "newColumns": ["W INT"]},
    "ALTER STREAM a ADD COLUMN w INT, ADD COLUMN x DECIMAL(3, 1), ADD y STRUCT<a INT, b INT>;": {
        "@type": "alterSourceV1", "sourceName": "`A`", "newColumns": ["W INT", "X DECIMAL(3, 1)", "Y STRUCT<A INT, B INT>"],
    },
    "DROP STREAM a;": {"@type": "dropSourceV1", "sourceName": "`A`"},
    "DROP STREAM IF EXISTS a DELETE TOPIC;": {"@type": "dropSourceV1", "sourceName": "`A`"},
    "CREATE STREAM IF NOT EXISTS a (w INT) WITH (KAFKA_TOPIC='other', VALUE_FORMAT='AVRO');": {
        "@type": "createStreamV1", "sourceName": "`A`", "schema": "W INT", "topicName": "other", "formats": AVRO, "ifNotExists": True,
    },
    "CREATE OR REPLACE STREAM a (w INT) WITH (KAFKA_TOPIC='other', VALUE_FORMAT='AVRO');": {
        "@type": "createStreamV1", "sourceName": "`A`", "schema": "W INT", "topicName": "other", "formats": AVRO,
    },
    "CREATE TYPE t AS STRUCT<a INT, b ARRAY<INT>>;": {"@type": "registerTypeV1", "typeName": "T", "type": "STRUCT<A INT, B ARRAY<INT>>"},
}  # fmt: skip


@pytest.mark.parametrize("statement", CHANGES)
def test_a_change_without_a_plan_does_what_its_plan_does(statement: str) -> None:
    states = [
        take_all([create("A"), one])
        for one in (record_of(statement), record_of("a change", {"ddlCommand": CHANGES[statement]}))
    ]
    assert [state.passed for state in states] == [[], []]
    left, right = (
        (
            {
                name: replace(one, statement="", infers_key=False, columns=" ".join(one.columns.split()))
                for name, one in state.sources.items()
            },
            state.types,
            state.gone,
        )
        for state in states
    )
    assert left == right
    assert [replace(one, query=None) for one in list_objects(states[0])] == [
        replace(one, query=None) for one in list_objects(states[1])
    ]


def test_columns_that_a_plan_adds_are_all_added() -> None:
    columns = [{"name": "W", "type": "INTEGER"}, {"name": "x y", "type": "STRING"}]
    state = take_all(
        [
            create("A"),
            record_of("ALTER", {"ddlCommand": {"@type": "alterSourceV1", "sourceName": "`A`", "newColumns": columns}}),
        ]
    )
    assert state.sources["A"].columns == "`V` INTEGER, `W` INTEGER, `x y` STRING"


FORMATS = ("AVRO", "PROTOBUF", "JSON_SR", "JSON", "DELIMITED", "KAFKA", "NONE", "PROTOBUF_NOSR")


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "words",
    [
        "FORMAT = '{}'",
        "VALUE_FORMAT='{}'",
        "KEY_FORMAT='{}', VALUE_FORMAT='AVRO'",
        "'key_format' = '{}', value_format = 'avro'",
    ],
)
def test_a_server_refuses_the_formats_that_an_import_does_not_take(format_: str, words: str) -> None:
    text = f"create stream a (k INT KEY, v INT) with (kafka_topic = 'a', {words.format(format_.lower())})"
    (imported,) = list_objects(take_all([record_of(text)]))
    (sent,) = translate_text(text)[1]
    if imported.reason:
        with pytest.raises(Invalid, match=f"_FORMAT = '{format_}'|FORMAT = '{format_}'"):
            refuse_formats(sent)
    else:
        refuse_formats(sent)


# ----------------------------------------------------------------------------------------------- commands one by one


def draw_records(seed: int) -> list[CommandRecord]:
    """Commands about a few names as ksqlDB lets them be: nothing is there twice, and nothing gets another kind while it is there."""
    draw, records, state = random.Random(seed), list[CommandRecord](), CommandState()
    for number in range(14):
        name, type_name = draw.choice("ABC"), draw.choice(("TA", "TB"))
        schema = draw.choice(("`V` INTEGER", "`V` INTEGER, `W` STRING", "`K` INTEGER {}KEY, `V` INTEGER"))
        kind = state.sources[name].kind.title() if name in state.sources else draw.choice(("Stream", "Stream", "Table"))
        schema = schema.format("") if kind == "Stream" else "`K` INTEGER PRIMARY KEY, `V` INTEGER"
        ways = [
            create(name, schema, kind),
            create(name, schema, kind, ifNotExists=True),
            end(draw.choice(list_ids(state))),
        ]
        ways += [drop(name)] * 2 * (name in state.sources)
        ways += [insert(name, f"INSERTQUERY_{number}"), query(name, f"CSAS_{name}_{number}")] * (
            kind == "Stream" and name in state.sources
        )
        ways.append(type_of(type_name, None if type_name in state.types else draw.choice(("INTEGER", "STRING"))))
        records.append(draw.choice(ways))
        state.take(records[-1])
    return records


def list_ids(state: CommandState) -> list[str]:
    """The ids of the queries that run, in both cases, and ALL."""
    ids = [*state.inserts, *(one.query_id for one in state.sources.values() if one.query)]
    return ["ALL", *ids, *map(str.lower, ids)]


@pytest.mark.parametrize("seed", range(24))
def test_what_is_left_of_commands_hangs_together(seed: int) -> None:
    state, kinds = CommandState(), dict[str, str]()
    for record in draw_records(seed):
        state.take(record)
        there = {name: one.kind for name, one in state.sources.items()} | dict.fromkeys(state.types, "TYPE")
        assert not there.keys() & state.gone.keys()
        assert {sink for sink, _ in state.inserts.values()} <= set(state.sources)
        assert all(kinds[name] == kind for name, kind in state.gone.items() if name in kinds)
        assert kinds.keys() <= there.keys() | state.gone.keys()
        kinds |= there
        if b"TERMINATE" in (record.value or b""):
            word = json.loads(record.value or b"")["statement"].split()[1].rstrip(";").upper()
            left = {one.query_id.upper() for one in state.sources.values() if one.query} | {
                one.upper() for one in state.inserts
            }
            assert left == set() if word == "ALL" else word not in left


def rows_of(metastore: Metastore) -> tuple[list[Any], list[Any]]:
    sources: tuple[Source, ...] = run_exchange(metastore.registry, list_sources())
    types = run_exchange(metastore.registry, list_types())
    return [(one.name, one.kind, one.place, one.columns, one.comment, one.imported) for one in sources], [
        (one.name, one.definition) for one in types
    ]


@pytest.mark.parametrize("seed", range(6))
def test_commands_that_are_imported_as_they_come_leave_what_one_import_of_all_leaves(seed: int) -> None:
    """Before each run a dry one writes nothing, and says what the run does."""
    state, records = CommandState(), draw_records(seed + 100)
    with connect("memory:") as connection, connect("memory:") as other:
        metastores = [Metastore(one.registry) for one in (connection, other)]
        for one in (connection, other):
            one.set_level("", "NONE")
        running = CommandImport(metastores[0])
        for record in records:
            state.take(record)
            before = rows_of(metastores[0])
            dry = import_state(metastores[0], state, dry_run=True)
            assert rows_of(metastores[0]) == before
            done = running.run(state)
            assert [(one.kind, one.name, one.outcome) for one in dry.lines] == [
                (one.kind, one.name, one.outcome) for one in done.lines
            ]
            again = import_state(metastores[0], state)
            assert {one.outcome for one in again.lines} <= {"unchanged"}
        import_state(metastores[1], state)
        assert rows_of(metastores[0]) == rows_of(metastores[1])


def test_what_an_import_says_of_an_object_is_in_its_notes() -> None:
    """A column that says NOT NULL over a schema that takes null."""
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        metastore.run("CREATE STREAM mine (V INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')")
        (line,) = import_state(metastore, take_all([create("A", "`V` INTEGER NOT NULL")])).lines
        assert [note for note in line.notes if "NOT NULL" in note] != []


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_type_that_was_dropped_and_created_since_the_last_import_is_the_new_one(*, dry_run: bool) -> None:
    """Unless something uses it: then the reason is said."""
    commands = [type_of("T", "INTEGER"), type_of("T", None), type_of("T", "STRING")]
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        import_state(metastore, take_all(commands[:1]))
        metastore.run("CREATE STREAM s (v T) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
        (line,) = import_state(metastore, take_all(commands), dry_run=dry_run).lines
        assert line.outcome == "not taken"
        assert "used by" in line.reason
        metastore.run("DROP STREAM s")
        (line,) = import_state(metastore, take_all(commands), dry_run=dry_run).lines
        assert (line.outcome, rows_of(metastore)[1]) == ("changed", [("T", "INT" if dry_run else "STRING")])
