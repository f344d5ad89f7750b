"""Hostile lengths in the engine that reads with fastavro: a bad row each, in little time and little memory."""

import tracemalloc
from typing import Any

import pytest

from tests.frames import frame, header, record
from tests.shapes import envelope_of
from treaty.core.limits import AVRO_FREE_VALUES, AVRO_NESTING
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.avro.envelope import encode_branch
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.planner import compose
from treaty.plan.registered_schema import RegisteredSchema

HUGE, HALF = b"\xfe\xff\xff\xff\x0f", b"\xfe\xff\xff\xff\x0e"
EMPTY = {"type": "record", "name": "Empty", "fields": [{"name": "none", "type": "null"}]}
BARE = {"type": "fixed", "name": "Bare", "size": 0}
TREE = record(("next", ["null", "shop.Order"], None))


def listed(items: Any) -> str:
    return record(("list", {"type": "array", "items": items}))


@pytest.mark.parametrize(
    ("text", "payload"),
    [
        (listed("long"), HUGE),
        (listed("null"), HUGE + b"\0"),
        (listed("null"), b"\xff\xff\xff\xff\x0f\2\0"),
        (listed("null"), encode_branch(2 * AVRO_FREE_VALUES) + b"\0"),
        (listed(EMPTY), HUGE + b"\0"),
        (listed(BARE), HUGE + b"\0"),
        (listed(["null", {"type": "array", "items": "null"}]), b"\4\2" + HUGE + b"\0\0"),
        (record(("m", {"type": "map", "values": "null"})), HUGE),
        (record(("m", {"type": "map", "values": "null"})), b"\2\0" + b"\xff" * 9 + b"\x01\2"),
        (record(("s", "string")), HALF + b"x"),
        (record(("s", "bytes")), HALF + b"x"),
        (record(("s", "string")), b"\1"),
        (TREE, b"\2" * 100_000 + b"\0"),
    ],
    ids=[
        "items", "nulls", "nulls in a sized block", "nulls cut off", "empty records", "fixed of no bytes", "nulls inside a choice",
        "entries", "least entries", "text", "bytes", "a negative text", "nesting",
    ],
)  # fmt: skip
def test_a_hostile_length_is_a_bad_row(text: str, payload: bytes) -> None:
    plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(text))], parse_avro(text))
    decode = envelope_of(plan)
    tracemalloc.start()

    found = decode(header(1) + payload)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is None
    assert peak < 64_000_000


def test_the_least_number_of_entries_is_none_to_java() -> None:
    """Its negative has no 64 bits, and the 32 that the library keeps of it are 0."""
    text = record(("m", {"type": "map", "values": "null"}))
    plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(text))], parse_avro(text))
    assert envelope_of(plan)(header(1) + b"\xff" * 9 + b"\x01\2") == {"m": []}


def test_many_nulls_within_the_limit_are_read() -> None:
    text = listed("null")
    plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(text))], parse_avro(text))
    assert envelope_of(plan)(frame(1, text, {"list": [None] * 1000}))["list"] == [None] * 1000


def test_records_nest_to_a_limit() -> None:
    plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(TREE))], parse_avro(TREE))
    decode = envelope_of(plan)
    assert decode(header(1) + b"\2" * (AVRO_NESTING - 1) + b"\0") is not None
    assert decode(header(1) + b"\2" * AVRO_NESTING + b"\0") is None


def test_nulls_in_many_lists_are_counted_together() -> None:
    text = listed({"type": "array", "items": "null"})
    plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(text))], parse_avro(text))
    some = encode_branch(AVRO_FREE_VALUES // 2)
    assert envelope_of(plan)(header(1) + b"\2" + some + b"\0\0") is not None
    assert envelope_of(plan)(header(1) + b"\6" + (some + b"\0") * 3 + b"\0") is None


def test_a_payload_that_is_cut_anywhere_is_a_bad_row() -> None:
    text = record(
        ("u", ["null", "string"]), ("e", {"type": "enum", "name": "E", "symbols": ["A"]}), ("m", {"type": "map", "values": "double"}),
        ("f", {"type": "fixed", "name": "F", "size": 3}), ("b", "boolean"), ("x", "float"), ("n", "long"), ("r", "bytes"),
        ("none", {"type": "array", "items": "null"}),
    )  # fmt: skip
    value = {
        "u": "é",
        "e": "A",
        "m": {"k": 0.5},
        "f": b"abc",
        "b": True,
        "x": 0.5,
        "n": -(2**63),
        "r": b"12",
        "none": [None],
    }
    plan = compose([RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(text))], parse_avro(text))
    decode, sent = envelope_of(plan), frame(1, text, value)
    assert decode(sent) == {**value, "m": [("k", 0.5)]}
    assert not any(decode(sent[:cut]) for cut in range(len(sent)))
