"""ADD COLUMN: the schema has the column too, or the column is refused."""

import json
from collections.abc import Iterator

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.refusals import Refusal
from treaty.core.sources import Source
from treaty.metastore.metastore import Metastore

STREAM = "CREATE STREAM s (k STRING KEY, v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = '{}', KEY_FORMAT = '{}')"


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


def run(registry: Connection, sql: str, *, dry_run: bool = False) -> str:
    """The message of the last statement, or the rule that refuses it and its message."""
    try:
        return Metastore(registry.registry).run(sql, dry_run=dry_run)[-1].message
    except Refusal as refusal:
        return f"{refusal.reason.rule}: {refusal.reason.message}"


def describe(registry: Connection) -> Source:
    return registry.ask(m.DescribeSource("s")).answer.source


def columns(registry: Connection) -> list[tuple[str, str, str]]:
    return [(one.name, one.type, one.role) for one in describe(registry).columns]


@pytest.mark.parametrize("format_", ["AVRO", "JSON", "PROTOBUF"])
def test_an_added_column_is_in_a_new_version_of_the_schema(registry: Connection, format_: str) -> None:
    run(registry, STREAM.format(format_, "KAFKA"))
    before = registry.ask(m.ListSources()).token.sequence
    assert (
        run(registry, "ALTER STREAM s ADD COLUMN w ARRAY<DATE> COMMENT 'days'", dry_run=True)
        == "Stream s would be changed"
    )
    assert registry.version("s-value").number == 1
    result = Metastore(registry.registry).run("ALTER STREAM s ADD COLUMN w ARRAY<DATE> COMMENT 'days'")[0]
    assert result.sequence == before + 1, "source and schema are one commit"
    version = registry.version("s-value")
    assert (version.number, "w" in version.text) == (2, True)
    source = describe(registry)
    assert source.value is not None
    assert source.value.pin is not None
    assert (source.value.pin.ordinal, source.value.pin.schema_id, source.revision) == (
        version.ordinal,
        version.schema_id,
        2,
    )
    assert columns(registry)[-1] == ("w", "ARRAY<DATE>", "value")
    assert source.columns[-1].comment == "days"
    assert run(registry, "ALTER STREAM s REFRESH SCHEMA") == "Stream s unchanged"


@pytest.mark.parametrize(
    ("format_", "column", "refused"),
    [
        ("PROTOBUF", "w ARRAY<ARRAY<INT>>", "COLUMN_TYPE: the column w is ARRAY<ARRAY<INT>>, and PROTOBUF has no array whose items are arrays"),
        ("AVRO", "w MAP<INT, INT>", "COLUMN_TYPE: the column w.key is INT, and that is no key of a map in AVRO"),
        ("JSON", "w TIMESTAMP_NTZ", "COLUMN_TYPE: the column w is TIMESTAMP_NTZ, and JSON has no such type"),
        ("AVRO", "v BIGINT", "COLUMN_TWICE"),
        ("AVRO", "w Nothing", "TYPE_NOT_FOUND"),
        ("AVRO", "w INT NOT NULL", "READER_FIELD_MISSING_DEFAULT_VALUE"),
        ("AVRO", "w INT HEADER('h')", "HEADER_COLUMN"),
        ("AVRO", "k2 INT KEY", "KEY_COLUMN: the key of s has no schema that could hold k2"),
    ],
)  # fmt: skip
def test_a_column_that_the_schema_can_not_have_is_refused(
    registry: Connection, format_: str, column: str, refused: str
) -> None:
    run(registry, STREAM.format(format_, "KAFKA"))
    before = describe(registry)
    assert run(registry, f"ALTER STREAM s ADD COLUMN {column}").startswith(refused)
    assert describe(registry) == before
    assert len(registry.versions("s-value")) == 1


def test_a_column_of_the_key_is_in_the_schema_of_keys(registry: Connection) -> None:
    registry.ask(SetConfig(Scope(".", None), Config(level="NONE")))
    run(registry, STREAM.format("AVRO", "AVRO"))
    assert run(registry, "ALTER STREAM s ADD COLUMN (k2 INT KEY, w INT)") == "Stream s changed"
    fields = {
        part: [one["name"] for one in json.loads(registry.version(f"s-{part}").text)["fields"]]
        for part in ("key", "value")
    }
    assert fields == {"key": ["k", "k2"], "value": ["v", "w"]}


def test_a_column_that_the_newest_version_has_already_takes_that_version(registry: Connection) -> None:
    run(registry, STREAM.format("AVRO", "KAFKA"))
    text = registry.version("s-value").text.replace("]}", ',{"name":"w","type":["null","int"],"default":null}]}', 1)
    registry.register("s-value", text)
    assert run(registry, "ALTER STREAM s ADD COLUMN w INT") == "Stream s changed"
    assert len(registry.versions("s-value")) == 2
    assert run(registry, "ALTER STREAM s ADD COLUMN x INT").endswith("changed")


def test_columns_of_lakes_and_headers_stand_in_no_schema(registry: Connection) -> None:
    run(registry, STREAM.format("AVRO", "KAFKA"))
    assert run(registry, "ALTER STREAM s ADD COLUMN h BINARY HEADER('h')") == "Stream s changed"
    assert len(registry.versions("s-value")) == 1
    run(registry, "DROP STREAM s; CREATE STREAM s (k INT) WITH (CONNECTOR = 'delta', PATH = 's')")
    assert run(registry, "ALTER STREAM s ADD COLUMN w TIMESTAMP_NTZ") == "Stream s changed"
