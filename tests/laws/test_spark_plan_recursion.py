"""Decode plans of records that contain themselves: they are opened to a depth, and what lies deeper is left out."""

from collections.abc import Iterator

import pytest

from tests.frames import frame, record
from tests.shapes import envelope_of
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.formats.avro.model import AvroPrimitive, AvroRecord, AvroSchema, AvroUnion, Field, NamedType
from treaty.formats.avro.model import AvroReference as Use
from treaty.plan.avro.bounds import find_bounded, find_circular
from treaty.plan.avro.columns import columns
from treaty.plan.avro.flat import parse_avro
from treaty.plan.decode_plans import make_plan


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as found:
        yield found


def test_recursion_is_opened_to_a_depth(registry: Connection) -> None:
    tree = record(
        ("n", "int"), ("left", ["null", "shop.Order"], None), ("all", {"type": "array", "items": "shop.Order"})
    )
    opened = find_bounded(parse_avro(tree), 2)
    inner = "STRUCT<`n`: INT>"
    assert dict(columns(opened)) == {"n": "INT", "left": inner, "all": f"ARRAY<{inner}>"}
    schema_id = registry.register("orders-value", tree).version.schema_id
    leaf: dict[str, object] = {"n": 3, "left": None, "all": []}
    decode = envelope_of(make_plan(registry, "orders-value", depth=2))
    value = frame(schema_id, tree, {"n": 1, "left": {"n": 2, "left": leaf, "all": [leaf]}, "all": [leaf]})
    assert decode(value) == {"n": 1, "left": {"n": 2}, "all": [{"n": 3}]}


def test_a_record_between_recursive_ones_is_opened_at_each_level_anew(registry: Connection) -> None:
    tree = {
        "type": "record",
        "name": "Tree",
        "fields": [{"name": "n", "type": "int"}, {"name": "sub", "type": ["null", "Tree"]}],
    }
    box = {"type": "record", "name": "Box", "fields": [{"name": "inside", "type": tree}]}
    order = record(("next", ["null", "shop.Order"], None), ("box", box))
    schema_id = registry.register("orders-value", order).version.schema_id
    decode = envelope_of(make_plan(registry, "orders-value", depth=3))
    filled = {"inside": {"n": 1, "sub": {"n": 2, "sub": None}}}
    value = frame(schema_id, order, {"next": {"next": None, "box": filled}, "box": filled})
    assert decode(value) == {
        "next": {"next": None, "box": {"inside": {"n": 1}}},
        "box": {"inside": {"n": 1, "sub": {"n": 2}}},
    }


def test_the_records_of_a_ring_are_found_and_no_others() -> None:
    """A chain of thousands of records leads into a ring, with another ring aside."""
    to = {place: place + 1 for place in range(5000)} | {5000: 5001, 5001: 5002, 5002: 5000, 6000: 6000}
    names: dict[str, NamedType] = {
        f"L{place}": AvroRecord(f"L{place}", (Field("next", AvroUnion((AvroPrimitive("null"), Use(f"L{after}")))),))
        for place, after in to.items()
    }
    assert find_circular(AvroSchema(Use("L0"), names)) == {"L5000", "L5001", "L5002", "L6000"}


def test_units_are_compared_in_a_choice_of_numbers_that_the_depth_leaves(registry: Connection) -> None:
    """The column of `int` and `long` has no unit, so milliseconds beside microseconds would be other numbers."""
    old, new = (
        record(("at", ["null", "int", {"type": "long", "logicalType": f"timestamp-{unit}"}, "shop.Order"], None))
        for unit in ("millis", "micros")
    )
    ids = [registry.register("orders-value", text).version.schema_id for text in (old, new)]
    plan = make_plan(registry, "orders-value", reader=ids[1], depth=1)
    assert dict(plan.columns) == {"at": "BIGINT"}
    assert [one.schema_id for one in plan.rejected] == ids[:1]
    assert "a column of int and long does not say which of them" in str(plan.rejected)
