"""Protobuf in whole columns: what ptars reads is what Protobuf's own runtime reads, of any file and of any bytes."""

import json
import random
import sys
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import struct_pb2
from google.protobuf.message_factory import GetMessageClass

from tests.frames import header
from tests.messages import filled, proto, spoilt, strange
from treaty.arrow.decoded import DecodedBatch, RowResult, read_by_row
from treaty.arrow.protobuf.batches import make_batch_reader
from treaty.arrow.protobuf.rows import decoder_of, message_of
from treaty.arrow.types import kind_of
from treaty.formats.protobuf.protojson import print_protojson
from treaty.plan.options import DecodeOptions
from treaty.plan.protobuf.planner import compose
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.registry_queries import parse_text
from treaty.plan.value import DecodePlan

FILES = 60
SHORT = header(7) + b"\0"


def planned(text: str, *, defaults: bool = False) -> DecodePlan:
    schema = parse_text("PROTOBUF", text)
    return compose([RegisteredSchema(7, "s", 1, "PROTOBUF", schema)], schema, DecodeOptions(2, defaults=defaults))


def rows_of(batch: DecodedBatch) -> list[tuple[Any, Any, Any]]:
    parts = (batch.record.to_pylist(), batch.code.to_pylist(), batch.said.to_pylist())
    return [(_sorted(record), code, said) for record, code, said in zip(*parts, strict=True)]


def _sorted(value: Any) -> Any:
    """Entries of maps in one order; NaN and the sign of zero told apart by their texts."""
    if isinstance(value, dict):
        return {name: _sorted(member) for name, member in value.items()}
    if isinstance(value, list):
        elements = [_sorted(element) for element in value]
        return sorted(elements, key=repr) if elements and isinstance(elements[0], tuple) else elements
    if isinstance(value, tuple):
        return tuple(_sorted(element) for element in value)
    return repr(value) if isinstance(value, float) else value


def timeless(kind: pa.DataType) -> pa.DataType:
    """The type with whole numbers for instants, of which Python has not all."""
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([kind.field(at).with_type(timeless(kind.field(at).type)) for at in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field, kind.item_field.with_type(timeless(kind.item_type)))
    return pa.list_(kind.value_field.with_type(timeless(kind.value_type))) if pa.types.is_list(kind) else kind


def never(value: bytes | None) -> RowResult:
    raise AssertionError(f"read row by row: {value!r}")


@pytest.mark.parametrize("wish", ["", "defaults"])
def test_messages_are_read_in_columns_alone(wish: str) -> None:
    count = 0
    for seed in range(FILES):
        dice = random.Random(seed)
        plan = planned(proto(dice), defaults=bool(wish))
        assert plan.engine == "ptars"
        kind = timeless(kind_of(plan))
        message_class = GetMessageClass(message_of(plan.recipe)[0])  # type: ignore[arg-type]  # a plan for Protobuf
        frames = pa.array(
            [SHORT + filled(dice, message_class()).SerializePartialToString() for _ in range(20)], pa.binary()
        )
        slow = read_by_row(decoder_of(plan, kind), kind)(frames)
        there = frames.filter(slow.record.is_valid())
        batches = make_batch_reader(plan, kind).__self__  # type: ignore[attr-defined]  # a method of the reader
        batch = replace(batches, row=never).read(there)
        assert rows_of(batch) == rows_of(read_by_row(decoder_of(plan, kind), kind)(there)), seed
        assert rows_of(make_batch_reader(plan, kind)(frames)) == rows_of(slow), seed
        count += len(there)
    assert count > 0.7 * 20 * FILES


def test_any_bytes_are_read_alike() -> None:
    bad = 0
    for seed in range(FILES):
        dice = random.Random(seed)
        plan = planned(proto(dice, groups=seed % 5 == 0))
        kind = timeless(kind_of(plan))
        descriptor, _ = message_of(plan.recipe)  # type: ignore[arg-type]  # a plan for Protobuf
        payloads = [strange(dice, descriptor) for _ in range(60)]
        values = [payload if dice.random() < 0.8 else spoilt(dice, payload) for payload in payloads]
        fronts = [
            dice.choice((SHORT, SHORT, header(7) + b"\2\0", header(7) + b"\2\x63", header(8), header(7)))
            for _ in values
        ]
        frames = pa.array(
            [front + payload for front, payload in zip(fronts, values, strict=True)] + [None, b"", b"\1"], pa.binary()
        )
        slow = read_by_row(decoder_of(plan, kind), kind)(frames)
        assert rows_of(make_batch_reader(plan, kind)(frames)) == rows_of(slow), (
            seed,
            proto(random.Random(seed), groups=seed % 5 == 0),
        )
        bad += slow.record.null_count
    assert bad > FILES


DEMANDING = """syntax = "proto2"; message Order {
  optional string name = 1; repeated Line lines = 2; map<string, Line> by = 3; optional Deep deep = 4;
  message Deep { optional Line line = 1; }
  message Line { required int32 n = 1; optional Line next = 2; }
}"""
EXTENDED = """syntax = "proto2"; message Order { optional string name = 1; extensions 100 to 200; }
message Line { required int32 n = 1; } extend Order { optional Line line = 100; }"""


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        (DEMANDING, b"\x12\0"),
        (DEMANDING, b"\x1a\x05\x0a\x01k\x12\0"),
        (DEMANDING, b"\x22\x02\x0a\0"),
        (DEMANDING, b"\x12\x04\x08\x01\x12\0"),
        (EXTENDED, b"\xa2\x06\0"),
    ],
    ids=["in a list", "in a map", "in a message", "in its own kind", "in an extension"],
)
def test_a_required_field_that_is_missing_is_told_wherever_it_is(text: str, lacking: bytes) -> None:
    plan = planned(text)
    kind = kind_of(plan)
    assert plan.engine == "ptars"
    whole = SHORT + b"\x0a\x01a"
    batch = make_batch_reader(plan, kind)(pa.array([whole, SHORT + lacking, whole], pa.binary()))

    assert batch.code.to_pylist() == [None, "INVALID", None]
    assert "required" in batch.said[1].as_py()


def test_a_machine_without_ptars_reads_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned('syntax = "proto3"; message M { int32 n = 1; }')
    kind = kind_of(plan)
    frames = pa.array([SHORT + b"\x08\x07", SHORT + b"\x08"], pa.binary())
    expected = [({"n": 7}, None, None), (None, "MALFORMED", None)]
    assert rows_of(make_batch_reader(plan, kind)(frames)) == expected
    monkeypatch.setitem(sys.modules, "ptars._lib", None)
    assert not hasattr(make_batch_reader(plan, kind), "__self__")
    assert rows_of(make_batch_reader(plan, kind)(frames)) == expected


def test_the_names_of_a_struct_are_sorted_as_each_process_has_its_own_order() -> None:
    sent = struct_pb2.Struct()
    sent.update(
        {name: {"b": 1, "a": [{"y": 1, "x": 2}]} for name in ["zebra", "apple", "m", "k", "b", "q", "w", "e", "r", "t"]}
    )
    pairs = json.loads(print_protojson(sent), object_pairs_hook=tuple)
    assert [name for name, _ in pairs] == sorted(sent.fields)
    assert pairs[0][1] == (("a", [(("x", 2.0), ("y", 1.0))]), ("b", 1.0))
