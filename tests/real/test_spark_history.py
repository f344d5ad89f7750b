"""A candidate schema against the data that is there: what it reads, what it can't, and what it would lose."""

import json

import pytest
from pyspark.sql import SparkSession

from tests.frames import frame, header, record
from treaty.client.connection import Connection
from treaty.core.names import subject_of
from treaty.core.requests import Register
from treaty.core.schema import Draft
from treaty.spark import check_history

pytestmark = pytest.mark.jvm

V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))


def test_a_report_counts_by_id_and_reason_and_says_what_is_empty_and_what_is_lost(
    spark: SparkSession, registry: Connection
) -> None:
    one, two = (
        registry.ask(Register(subject_of("orders-value"), Draft(text))).answer.version.schema_id for text in (V1, V2)
    )
    values = [frame(one, V1, {"name": "a", "n": 1})] * 5 + [
        frame(two, V2, {"name": "b", "n": at * 2**30}) for at in range(4)
    ]
    values += [values[0][:-1], header(99) + b"x"]
    data = spark.createDataFrame([(value,) for value in [*values, None]], "value BINARY")

    wide = check_history(
        record(("name", "string"), ("n", "double"), ("more", ["null", "int"], None)), data, registry, "orders-value"
    )
    assert (wide.rows, wide.good, wide.deletes, wide.empty) == (12, 9, 1, ("more",))
    assert [(each.schema_id, each.code, each.rows) for each in wide.troubles] == [
        (one, "MALFORMED", 1),
        (99, "UNKNOWN_ID", 1),
    ]
    assert wide.troubles[0].samples == (values[0][:-1].hex(),)
    assert not wide.fine

    small = check_history(record(("name", "string"), ("n", "int")), data, registry, "orders-value")
    assert small.good == 5
    (refused,) = [each for each in small.troubles if each.code == "RESOLUTION"]
    assert (refused.schema_id, refused.rows) == (two, 4)
    (lost,) = small.narrowed
    assert (lost.field, lost.old, lost.new, lost.rows) == ("n", "bigint", "int", 2)
    assert json.loads(small.to_json())["narrowed"] == [{"field": "n", "old": "bigint", "new": "int", "rows": 2}]

    none = check_history(record(("other", "string")), data, registry, "orders-value")
    assert (none.good, none.troubles[0].code, none.troubles[0].rows) == (0, "RESOLUTION", 11)
    assert check_history(V2, data.filter("length(value) > 7"), registry, "orders-value").fine
