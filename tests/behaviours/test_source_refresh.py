"""REFRESH SCHEMA of a source in a registry: what is read again, what is refused, and what is written."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.frames import record
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    CreateSource,
    DescribeSource,
    SourceColumnChange,
    SourceDefinition,
)
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.refusals import NotPermitted, SourceNotFound, SourceUsed
from treaty.core.registry import run_exchange
from treaty.core.schema import Draft
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourcePart, SourceRead
from treaty.metastore.columns.pins import find_pinned_version
from treaty.metastore.columns.source_refresh import pin_version, plan_refresh, refresh_source

LINE = {"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}, {"name": "n", "type": "int"}]}
FIRST = record(
    ("id", "int"),
    ("note", ["null", "string"], None),
    {"name": "lines", "type": {"type": "array", "items": LINE}},
    name="Order",
)
COLUMNS = (
    SourceColumn("id", "INT", nullable=False),
    SourceColumn("note", "STRING"),
    SourceColumn("lines", "ARRAY<STRUCT<sku: STRING NOT NULL, n: INT NOT NULL>>", nullable=False),
)
OUTPUT = (SourceColumn("x", "INT"),)


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        found.ask(SetConfig(Scope(".", None), Config(level="NONE")))
        found.ask(Register(subject_of("t-value"), Draft(FIRST)))
        pin = pin_version(run_exchange(found, find_pinned_version(subject_of("t-value"))))
        definition = SourceDefinition(
            "orders", "STREAM", "CREATE …", COLUMNS, value=SourcePart("AVRO", pin=pin), place="t"
        )
        found.ask(CreateSource(definition))
        yield found


def read(registry: Connection, name: str) -> Source:
    return registry.ask(DescribeSource(name)).answer.source


def add_reader(registry: Connection, name: str, *columns: str) -> None:
    source = read(registry, "orders")
    reads = SourceRead("orders", source.generation, columns=columns, value=source.value.pin if source.value else None)
    query = QueryPlan("SELECT …", (reads,))
    registry.ask(
        CreateSource(SourceDefinition(name, "STREAM", "CREATE …", OUTPUT, connector="delta", place=name, query=query))
    )


def evolve(registry: Connection, *fields: object) -> None:
    registry.ask(Register(subject_of("t-value"), Draft(record(*fields, name="Order"))))


LINES = {"name": "lines", "type": {"type": "array", "items": LINE}}


def test_the_same_version_changes_nothing(registry: Connection) -> None:
    before = read(registry, "orders")
    stored, effect = run_exchange(registry, refresh_source("ORDERS"))
    assert (stored.revision, effect.effects) == (before.revision, ())
    assert read(registry, "orders") == before


def test_a_refresh_takes_the_new_version_and_its_columns(registry: Connection) -> None:
    add_reader(registry, "daily", "id")
    evolve(registry, {"name": "id", "type": "int", "doc": "number"}, ("at", ["null", "long"], None), LINES)
    dry, effect = run_exchange(registry, refresh_source("orders", dry_run=True))
    assert (
        effect.explain() == "         the comment of id changes\n         note STRING goes\n         at BIGINT is new"
    )
    assert [one.name for one in read(registry, "orders").columns] == ["id", "note", "lines"]
    stored, again = run_exchange(registry, refresh_source("orders", "ALTER STREAM orders REFRESH SCHEMA"))
    assert (again, stored.revision) == (effect, dry.revision)
    source = read(registry, "orders")
    assert source.columns == (replace(COLUMNS[0], comment="number"), COLUMNS[2], SourceColumn("at", "BIGINT"))
    assert source.value is not None
    assert source.value.pin == pin_version(run_exchange(registry, find_pinned_version(subject_of("t-value"))))
    assert run_exchange(registry, plan_refresh("orders")).change is None


def test_a_column_that_is_read_is_not_taken_away(registry: Connection) -> None:
    add_reader(registry, "daily", "id", "lines.element.sku")
    evolve(registry, ("id", "long"), ("note", ["null", "string"], None), LINES)
    before = read(registry, "orders")
    with pytest.raises(
        SourceUsed,
        match="the schema of orders can't be refreshed: daily reads id: id is BIGINT from now on, and was INT",
    ):
        run_exchange(registry, refresh_source("orders"))
    assert read(registry, "orders") == before


def test_a_struct_that_is_read_in_part_may_grow_and_lose_what_is_not_read(registry: Connection) -> None:
    add_reader(registry, "daily", "lines.element.sku")
    line = {
        **LINE,
        "fields": [{"name": "extra", "type": "int", "doc": "new"}, {"name": "sku", "type": ["null", "string"]}],
    }
    evolve(
        registry,
        ("id", "int"),
        ("note", ["null", "string"], None),
        {"name": "lines", "type": {"type": "array", "items": line}},
    )
    _, effect = run_exchange(registry, refresh_source("orders"))
    assert [(one.kind, one.path) for one in effect.effects] == [
        ("nullable", "lines.element.sku"), ("gone", "lines.element.n"), ("added", "lines.element.extra"),
    ]  # fmt: skip
    kind = "ARRAY<STRUCT<extra: INT NOT NULL COMMENT 'new', sku: STRING>>"
    assert read(registry, "orders").columns[2] == replace(COLUMNS[2], type=kind)


@pytest.mark.parametrize("path", ["lines.element.n", "lines", "`lines", "LINES.element", "lines.element.N"])
def test_the_law_refuses_a_change_of_what_is_read_however_the_path_is_written(registry: Connection, path: str) -> None:
    add_reader(registry, "daily", path)
    columns = (SourceColumnChange("set", replace(COLUMNS[2], type="ARRAY<STRUCT<sku: STRING>>")),)
    with pytest.raises(SourceUsed, match="The column lines is read by daily"):
        registry.ask(ChangeSource("orders", columns=columns))


@pytest.mark.parametrize("path", ["lines.element.sku", "id", "`lines.element.n`", "note.lines"])
def test_the_law_takes_a_change_of_what_is_not_read(registry: Connection, path: str) -> None:
    add_reader(registry, "daily", path)
    columns = (SourceColumnChange("set", replace(COLUMNS[2], type="ARRAY<STRUCT<sku: STRING>>")),)
    assert registry.ask(ChangeSource("orders", columns=columns)).answer.replaced


def test_a_reader_without_leaf_columns_reads_them_all(registry: Connection) -> None:
    add_reader(registry, "everything")
    evolve(registry, ("id", "int"), LINES)
    with pytest.raises(SourceUsed, match="everything reads note: note STRING goes"):
        run_exchange(registry, refresh_source("orders"))


def test_the_source_itself_needs_what_its_properties_name(registry: Connection) -> None:
    definition = SourceDefinition(
        "dated", "TABLE", "CREATE …", (SourceColumn("k", "STRING", role="key"), *COLUMNS), SourcePart("KAFKA", "none"),
        read(registry, "orders").value, place="t", timestamp="note", properties=(("DEDUPLICATE", "id, k"),),
    )  # fmt: skip
    registry.ask(CreateSource(definition))
    evolve(registry, ("id", "long"), LINES)
    effect = run_exchange(registry, plan_refresh("dated")).effect
    assert [(one.path, [read.reader for read in one.reads]) for one in effect.refused] == [
        ("id", ["DEDUPLICATE"]),
        ("note", ["TIMESTAMP"]),
    ]


def test_columns_of_a_query_and_of_no_source_are_not_refreshed(registry: Connection) -> None:
    add_reader(registry, "daily", "id")
    with pytest.raises(NotPermitted, match="the columns of daily are those of its query"):
        run_exchange(registry, refresh_source("daily"))
    with pytest.raises(SourceNotFound):
        run_exchange(registry, refresh_source("nothing"))
