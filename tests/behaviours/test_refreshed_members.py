"""REFRESH SCHEMA and ADD COLUMN keep what a source says of its halves: message, framing, user types, files of a schema, references, aliases."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import ChangeSource, CreateSource, DescribeSource, SourceDefinition
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid
from treaty.core.registry import run_exchange
from treaty.core.schema import Draft, Reference
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead
from treaty.core.state.columns import Column, Columns, Scalar
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.columns.pins import find_pinned_version
from treaty.metastore.columns.sides import SettledSide, refuse_shared_names
from treaty.metastore.columns.source_refresh import plan_refresh
from treaty.metastore.metastore import Metastore

TWO = 'syntax = "proto3"; package shop; message A {{ int32 {0} = 1; }} message B {{ string {1} = 1; {2} }}'
OUTPUT = (SourceColumn("x", "INT"),)


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        connection.ask(SetConfig(Scope(".", None), Config(level="NONE")))
        yield connection


def run(registry: Connection, sql: str) -> str:
    return Metastore(registry.registry).run(sql)[-1].message


def read(registry: Connection, name: str = "s") -> Source:
    return registry.ask(DescribeSource(name)).answer.source


def register(registry: Connection, subject: str, draft: Draft) -> None:
    registry.ask(Register(subject_of(subject), draft))


def effects(registry: Connection, name: str = "s") -> list[tuple[str, str, str]]:
    return [(one.kind, one.path, one.new) for one in run_exchange(registry, plan_refresh(name)).effect.effects]


@pytest.mark.parametrize("framing", ["prefix", "header", "version"])
def test_a_refresh_keeps_all_of_a_half_but_its_pin(registry: Connection, framing: str) -> None:
    """The second message of the file, whose columns and former names are other ones than those of the first."""
    register(registry, "s-value", Draft(TWO.format("a", "b", ""), "PROTOBUF"))
    run(
        registry,
        f"CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'PROTOBUF', VALUE_SCHEMA_FULL_NAME = 'B', FRAMING = '{framing}')",
    )
    before = read(registry)
    register(registry, "s-value", Draft(TWO.format("now_a", "now_b", "int32 n = 2;"), "PROTOBUF"))
    assert effects(registry) == [("renamed", "b", "now_b"), ("added", "n", "INT NOT NULL")]
    run(registry, "ALTER STREAM s REFRESH SCHEMA")
    after = read(registry)
    assert after.value is not None
    assert before.value is not None
    assert (before.value.full_name, before.value.framing) == ("B", framing)
    assert replace(after.value, pin=None) == replace(before.value, pin=None)
    assert after.value.pin != before.value.pin
    assert [one.name for one in after.columns] == ["now_b", "n"]


@pytest.mark.parametrize(
    ("members", "needed"),
    [
        ({"timestamp": "at"}, ("TIMESTAMP", "at")),
        ({"properties": (("WATERMARK", "at DELAY 5 MINUTES"),)}, ("WATERMARK", "at")),
        ({"properties": (("WATERMARK", "`At` DELAY 5 MINUTES"),)}, ("WATERMARK", "at")),
        ({"properties": (("DEDUPLICATE", "note, `AT`"),)}, ("DEDUPLICATE", "at")),
        ({"properties": (("PARTITIONS", "at"),)}, None),
    ],
)
def test_what_the_source_itself_needs_is_not_taken_away(
    registry: Connection, members: dict[str, object], needed: tuple[str, str] | None
) -> None:
    run(registry, "CREATE STREAM first (at TIMESTAMP, note STRING) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    source = read(registry, "first")
    definition = SourceDefinition("s", "STREAM", "CREATE …", source.columns, value=source.value, place="s", **members)  # type: ignore[arg-type]  # members by name
    registry.ask(CreateSource(definition))
    register(registry, "s-value", Draft('{"type": "record", "name": "S", "fields": [{"name": "note", "type": ["null", "string"]}]}'))  # fmt: skip
    effect = run_exchange(registry, plan_refresh("s")).effect
    refused = [(read.reader, one.path) for one in effect.refused for read in one.reads]
    assert refused == ([needed] if needed else [])


@pytest.mark.parametrize("name", ["orders", "Orders", "`Two Words`"])
def test_a_reader_is_asked_for_its_columns_however_the_source_is_spelled(registry: Connection, name: str) -> None:
    """A read has the key of the name."""
    run(registry, f"CREATE STREAM {name} (a INT, b INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    source = read(registry, name.strip("`"))
    assert source.value is not None
    reads = (SourceRead(key_of_name(source.name), source.generation, columns=("b",), value=source.value.pin),)
    reader = SourceDefinition(
        "r", "STREAM", "CREATE …", OUTPUT, connector="delta", place="r", query=QueryPlan("SELECT 1", reads)
    )
    registry.ask(CreateSource(reader))
    register(registry, "s-value", Draft('{"type": "record", "name": "S", "fields": [{"name": "x", "type": "int"}]}'))
    refused = run_exchange(registry, plan_refresh(source.name)).effect.refused
    assert [(one.path, one.reads[0].reader) for one in refused] == [("b", "r")]


@pytest.mark.parametrize("change", ["comment", "null"])
def test_a_user_type_stays_the_type_of_a_column_whose_comment_or_null_changes(
    registry: Connection, change: str
) -> None:
    run(
        registry,
        "CREATE TYPE Price AS STRUCT<amount: BIGINT, unit: STRING>;"
        "CREATE STREAM s (p Price NOT NULL, q ARRAY<Price>) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')",
    )
    types = [one.type for one in read(registry).columns]
    schema = json.loads(registry.version("s-value").text)
    if change == "comment":
        schema["fields"][0]["doc"] = "net"
    else:
        schema["fields"][0]["type"] = ["null", schema["fields"][0]["type"]]
    register(registry, "s-value", Draft(json.dumps(schema)))
    assert {kind for kind, *_ in effects(registry)} == {"comment" if change == "comment" else "nullable"}
    run(registry, "ALTER STREAM s REFRESH SCHEMA")
    after = read(registry)
    assert [one.type for one in after.columns] == types
    assert (after.columns[0].comment, after.columns[0].nullable) == (("net", False) if change == "comment" else ("", True))  # fmt: skip


# ------------------------------------------------------------------------------------------------------- subjects and files


@pytest.mark.parametrize("columns", ["", "(v INT)", "(v INT, w INT)"])
def test_a_source_over_an_alias_is_bound_to_the_subject_behind_it(registry: Connection, columns: str) -> None:
    run(registry, "CREATE STREAM first (v INT) WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'AVRO')")
    registry.set_config("nick", Config(alias="orders-value"))
    run(registry, f"CREATE STREAM s {columns} WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO', SUBJECT = 'nick')")
    value = read(registry).value
    assert value is not None
    assert value.pin is not None
    assert value.pin.subject == "orders-value"
    assert value.pin.ordinal == (1 if "w" in columns else 0)
    assert run(registry, "ALTER STREAM s ADD COLUMN x INT") == "Stream s changed"
    assert len(registry.versions("orders-value")) == value.pin.ordinal + 2


def imported(name: str) -> Draft:
    """A schema whose imported file came with it, and is in no subject."""
    text = 'syntax = "proto3"; import "inner.proto"; message S { int32 a = 1; d.Inner i = 2; }'
    inner = f'syntax = "proto3"; package d; message Inner {{ int32 {name} = 1; }}'
    return Draft(text, "PROTOBUF", imports=(("inner.proto", inner),))


def test_files_that_came_with_a_schema_are_read_wherever_it_is(registry: Connection) -> None:
    register(registry, "s-value", imported("was"))
    run(registry, "CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'PROTOBUF')")
    assert [one.type for one in read(registry).columns] == ["INT", "STRUCT<was: INT NOT NULL>"]
    register(registry, "s-value", imported("now"))
    assert effects(registry) == [("renamed", "i.was", "now")]
    version = run_exchange(registry, find_pinned_version(subject_of("s-value")))
    assert [one.name for one in version.schema.bindings] == ["inner.proto"]


def test_columns_are_added_to_the_message_that_the_source_names(registry: Connection) -> None:
    register(registry, "s-value", Draft(TWO.format("a", "b", ""), "PROTOBUF"))
    run(
        registry,
        "CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'PROTOBUF', VALUE_SCHEMA_FULL_NAME = 'B');"
        "ALTER STREAM s ADD COLUMN n INT",
    )
    after = registry.version("s-value").text.partition("message B")[2]
    assert " n = 2" in after
    assert [one.name for one in read(registry).columns] == ["b", "n"]
    assert run(registry, "ALTER STREAM s REFRESH SCHEMA") == "Stream s unchanged"


@pytest.mark.parametrize("form", ["WRAPPER", "OPTIONAL"])
def test_an_added_column_says_null_as_the_source_says_it(registry: Connection, form: str) -> None:
    run(
        registry,
        f"CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'PROTOBUF', VALUE_PROTOBUF_NULLABLE_REPRESENTATION = '{form}');"
        "ALTER STREAM s ADD COLUMN n INT",
    )
    text = registry.version("s-value").text
    assert [text.count("Int32Value "), text.count("optional int32")] == ([2, 0] if form == "WRAPPER" else [0, 2])


@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF"])
def test_a_grown_schema_refers_to_what_the_version_before_refers_to(registry: Connection, format_: str) -> None:
    inner, outer, name = {
        "AVRO": (
            '{"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]}',
            '{"type": "record", "name": "S", "fields": [{"name": "i", "type": "Inner"}]}',
            "Inner",
        ),
        "PROTOBUF": (
            'syntax = "proto3"; package d; message Inner { int32 x = 1; }',
            'syntax = "proto3"; import "inner.proto"; message S { d.Inner i = 1; }',
            "inner.proto",
        ),
    }[format_]
    register(registry, "inner", Draft(inner, format_))
    references = (Reference(name, "inner", 1),)
    register(registry, "s-value", Draft(outer, format_, references))
    run(registry, f"CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = '{format_}')")
    assert run(registry, "ALTER STREAM s ADD COLUMN n INT") == "Stream s changed"
    grown = registry.version("s-value")
    assert (grown.number, grown.references) == (2, references)
    assert [one.name for one in read(registry).columns] == ["i", "n"]


def test_a_column_of_headers_is_called_as_no_other_also_where_keys_are_not_read() -> None:
    value = SettledSide("value", "AVRO", (Column("a", Scalar("int32")),), Columns(()))
    for key in ((), (Column("k", Scalar("int32")),)):
        with pytest.raises(Invalid, match="a and A differ in case alone"):
            refuse_shared_names(SettledSide("key", "NONE", key), value, [Column("A", Scalar("binary"))])
    with pytest.raises(Invalid, match="h is there twice"):
        refuse_shared_names(SettledSide("key", "NONE"), value, [Column("h", Scalar("binary"))] * 2)


def test_a_change_that_was_planned_on_an_older_row_is_not_made(registry: Connection) -> None:
    """Between the plan of a refresh and its command the source may be another one."""
    run(registry, "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    register(registry, "s-value", Draft('{"type": "record", "name": "S", "fields": [{"name": "x", "type": "int"}]}'))
    change = run_exchange(registry, plan_refresh("s")).change
    assert isinstance(change, ChangeSource)
    assert change.expected is not None
    assert (change.expected.generation, change.expected.revision) == (read(registry).generation, 1)
