"""Payloads with a seal behind them: a whole one is read, one with any bytes more or less is refused, and no plan is sealed that needs its envelope."""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.frames import frame, record
from treaty.arrow.avro.program import compile_reader
from treaty.core.names import DEFAULT_CONTEXT
from treaty.formats.avro.model import AvroFixed, AvroRecord, AvroReference, AvroSchema, AvroType, AvroUnion
from treaty.plan.avro.envelope import make_ending
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import merge
from treaty.plan.avro.planner import compose
from treaty.plan.avro.sealed import ENDLESS, SealedSchemas, seal_schemas
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.registered_schema import RegisteredSchema

ENDINGS = [make_ending("a plan", key=b"a secret"), b"\1" * 8, bytes(range(1, 17, 2))]
ODD = [0, 1, 2, 0x3F, 0x40, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF]
"""Bytes that begin, continue or end a varint, or are the number of a type in a union."""
NOTE, COUNT = ("note", ["null", "string"], None), ("count", "long")
MILLIS, MICROS = ({"type": "long", "logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros"))
KIND = {"type": "enum", "name": "Kind", "symbols": ["A"]}
INNER = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": ["null", "int"]}]}


def planned(*texts: str) -> AvroFormatPlan:
    schemas = [parse_avro(text) for text in texts]
    known = [RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", one) for place, one in enumerate(schemas)]
    recipe = compose(known, merge(schemas), 1).recipe
    assert isinstance(recipe, AvroFormatPlan)
    return recipe


def open_sealed(sealed: SealedSchemas, branch: int) -> Callable[[bytes], Any]:
    """What reads frames with the seal behind them; it raises an error for those that it refuses."""
    writer, reader = parse_avro(sealed.writer), parse_avro(sealed.reader)
    root = writer.root.branches[branch] if isinstance(writer.root, AvroUnion) else writer.root
    read = compile_reader(replace(writer, root=root), reader)
    return lambda framed: read(framed + sealed.seal)


READ: dict[str, tuple[str, dict[str, Any]]] = {
    "a number is last": (record(NOTE, COUNT), {"note": "text", "count": 300}),
    "a text is last": (record(COUNT, NOTE), {"count": 7, "note": "text"}),
    "a list is last": (record(COUNT, ("list", {"type": "array", "items": "string"})), {"count": 7, "list": ["a", "b"]}),
    "a map is last": (record(COUNT, ("map", {"type": "map", "values": "long"})), {"count": 7, "map": {"k": 2}}),
    "a choice is last": (record(COUNT, ("choice", ["null", "double", "string"])), {"count": 7, "choice": None}),
}


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another version"])
@pytest.mark.parametrize("name", READ)
def test_a_payload_with_any_bytes_more_or_less_is_refused(name: str, *, beside: bool) -> None:
    text, row = READ[name]
    wider = json.loads(text)
    wider["fields"].insert(0, {"name": "late", "type": "int", "default": 5})
    recipe = planned(*([json.dumps(wider)] if beside else []), text)
    whole = frame(1, text, row)
    more = [bytes([one]) for one in ODD] + [bytes(one) for one in itertools.product((1, 0x7F, 0x80, 0xFF), ODD)]
    more += [bytes([one] * 3) + bytes([last]) for one in (0x80, 0xFF) for last in (0, 1, 0x7F)]
    damaged = [*(whole + one for one in more), *(whole[:end] for end in range(5, len(whole)))]
    for ending in ENDINGS:
        sealed = seal_schemas(recipe, ending)
        assert sealed is not None
        read = open_sealed(sealed, int(beside))
        values, end = read(whole)
        assert end == len(whole) + len(sealed.seal)
        assert values[sealed.sure] is not None
        values = {one: dict(value) if one == "map" else value for one, value in values.items()}
        assert values == ({"late": 5} if beside else {}) | row
        for framed in damaged:
            with pytest.raises((ValueError, LookupError)):
                read(framed)


SURE: dict[str, tuple[list[str], str | None]] = {
    "the first that is never null": ([record(NOTE, COUNT, ("more", "int"))], "count"),
    "all may be null": ([record(NOTE)], None),
    "null alone": ([record(("none", "null"))], None),
    "a logical type": ([record(("day", {"type": "int", "logicalType": "date"}))], None),
    "a record": ([record(("part", INNER))], "part"),
    "an enum": ([record(("kind", KIND))], "kind"),
    "a named type by its name": ([record(NOTE, ("list", {"type": "array", "items": KIND}), ("kind", "Kind"))], "list"),
    "only a named type by its name": ([record(("list", ["null", KIND], None), ("kind", "Kind"))], None),
    "no record": (['"long"'], None),
    "a unit that is converted": ([record(COUNT, ("at", MILLIS)), record(COUNT, ("at", MICROS))], None),
    "a choice beyond the depth": ([record(COUNT, ("next", ["null", "string", "int", "shop.Order"]))], None),
}


@pytest.mark.parametrize("name", SURE)
def test_a_plan_is_sealed_where_a_column_says_that_a_row_was_read(name: str) -> None:
    texts, column = SURE[name]
    sealed = seal_schemas(planned(*texts), ENDINGS[0])
    assert (sealed.sure if sealed else None) == column


def count_bytes(schema: AvroSchema, node: AvroType, sizes: dict[str, int]) -> int:
    """The bytes of a type that always has as many."""
    assert isinstance(node, AvroReference)
    if node.full not in sizes:
        named = schema.names[node.full]
        if isinstance(named, AvroFixed):
            assert named.size <= 2**16, "a reader for Java may be given a limit for the bytes of a fixed"
            sizes[node.full] = named.size
        else:
            assert isinstance(named, AvroRecord)
            sizes[node.full] = sum(count_bytes(schema, field.type, sizes) for field in named.fields)
    return sizes[node.full]


@pytest.mark.parametrize("ending", [ENDINGS[0], ENDINGS[2]])
def test_what_a_damaged_payload_meets_is_longer_than_any_array_of_java(ending: bytes) -> None:
    sealed = seal_schemas(planned(READ["a text is last"][0]), ending)
    assert sealed is not None
    schema = parse_avro(sealed.writer)
    assert count_bytes(schema, AvroReference(ENDLESS), {}) == 2**31
