"""Columns of a table whose rows stay keep their types, whichever query writes the next ones."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.behaviours.test_query_changes import COLUMNS, assess, create, other_state, plan
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.refusals import NotPermitted
from treaty.metastore import Metastore


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        create_stream = "CREATE STREAM f (carrier STRING, delay INT) WITH (KAFKA_TOPIC = 'f', VALUE_FORMAT = 'AVRO')"
        Metastore(connection.registry).run(create_stream)
        yield connection


@pytest.mark.parametrize("connector", ["delta", "iceberg"])
def test_a_column_of_a_table_keeps_its_type_while_its_rows_stay(registry: Connection, connector: str) -> None:
    """Spark would append until the first batch fails for good, or turn a number into a text that no reader expects."""
    query = plan(registry)
    create(registry, query, connector=connector)
    name, old_type = COLUMNS[-1].name, COLUMNS[-1].type
    retyped = (*COLUMNS[:-1], replace(COLUMNS[-1], type="STRUCT<a: INT, b: STRING>"))
    other = replace(query, body="SELECT 2")
    with pytest.raises(NotPermitted, match=f"the type of {name}: {old_type} → STRUCT") as refused:
        create(registry, other, retyped, connector=connector)
    assert refused.value.reason.rule == "QUERY_STATE"
    for changed in (other, other_state(query)):
        with pytest.raises(NotPermitted, match=rf"its column {name} is {old_type}") as refused:
            create(registry, changed, retyped, connector=connector, on_change="EMPTY")
        assert refused.value.reason.rule == "QUERY_COLUMNS"
    if connector == "delta":
        create(registry, other, retyped, on_change="BACKFILL")
        commented = (*COLUMNS[:-1], replace(retyped[-1], type="STRUCT<a: INT COMMENT 'x', b: STRING>"))
        assert assess(registry, replace(query, body="SELECT 3"), commented).kind == "compatible"
        grown = (*COLUMNS[:-1], replace(retyped[-1], type="STRUCT<a: INT, b: STRING, c: INT>"))
        assert assess(registry, replace(query, body="SELECT 3"), grown).kind == "stateful change"
