"""Payloads below 1 kB that claim very many values: none takes 100 MB, by the client or on Arrow."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from tests.frames import header
from tests.small_payloads import MOST_BYTES, measure
from treaty import arrow
from treaty.core.names import DEFAULT_CONTEXT
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import BadPayloadError
from treaty.plan.options import DecodeOptions
from treaty.plan.planners import find_planner
from treaty.plan.registered_schema import RegisteredSchema
from treaty_thrift.format import FORMAT

ITEMS = b"\x0f\0\1"
"""The head of a list in field 1, by the binary protocol."""


def wide(count: int, field: str = "optional i64 f@") -> str:
    """A file whose last record has a list of records of so many fields."""
    fields = ", ".join(f"{at}: {field.replace('@', str(at))}" for at in range(1, count + 1))
    return f"struct B {{ {fields} }}\nstruct A {{ 1: list<B> b }}"


def items(type_: int, count: int, item: bytes) -> bytes:
    """A record with one list in field 1."""
    return ITEMS + bytes([type_]) + count.to_bytes(4, "big") + item * count + b"\0"


EMPTY = items(12, 900, b"\0")
NUMBERS = ", ".join(["1"] * 5_000)
CELLS: Mapping[str, tuple[str, bytes]] = {
    "empty wide records": (wide(5_000), EMPTY),
    "records with a long text as default": (wide(1, f'string f@ = "{"x" * 120_000}"'), EMPTY),
    "records with many texts as defaults": (wide(500, f'string f@ = "{"x" * 500}"'), EMPTY),
    "records with a large list as default": (wide(1, f"list<i32> f@ = [{NUMBERS}]"), EMPTY),
    "empty records": (wide(1), EMPTY),
    "a claim of many items": (wide(1), ITEMS + b"\x0c\x7f\xff\xff\xff"),
    "records inside records": ("struct A { 1: optional A a }", b"\x0c\0\1" * 240 + b"\0" * 241),
    "a map of wide records": (
        wide(5_000).replace("list<B>", "map<i8, B>"),
        b"\x0d\0\1\x03\x0c" + (127).to_bytes(4, "big") + b"".join(bytes([at, 0]) for at in range(127)) + b"\0",
    ),
}
READERS = ("client", "arrow")


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("by", READERS)
def test_a_small_thrift_payload_takes_little(plugin: None, by: str, name: str) -> None:
    text, payload = CELLS[name]
    assert len(payload) < 1_000
    schema = FORMAT.parse(ResolvedSchema("THRIFT", text), True)
    read_payload = FORMAT.payloads["binary"].read(schema, schema)
    known = [RegisteredSchema(1, DEFAULT_CONTEXT, 1, "THRIFT", schema, meaning=ResolvedSchema("THRIFT", text))]
    planner = find_planner("THRIFT")
    plan = planner.compose(known, schema, DecodeOptions())

    def read(data: bytes) -> object:
        if by == "arrow":
            return arrow.decode(pa.array([header(1) + data], pa.binary()), plan)
        try:
            return read_payload(data)
        except BadPayloadError as bad:
            return str(bad)

    read(b"\0")
    _, peak = measure(lambda: read(payload))
    assert peak < MOST_BYTES


def test_records_that_lack_many_fields_are_read_where_they_have_bytes_for_them() -> None:
    schema = FORMAT.parse(ResolvedSchema("THRIFT", wide(30)), True)
    value = FORMAT.payloads["binary"].read(schema, schema)(items(12, 10_000, b"\x0a\0\1" + b"\0" * 9))
    assert len(value["b"]) == 10_000
    assert value["b"][-1]["f1"] == 0


def test_each_record_has_a_default_of_its_own() -> None:
    schema = FORMAT.parse(ResolvedSchema("THRIFT", wide(1, "list<i32> f@ = [1]")), True)
    first, second = FORMAT.payloads["binary"].read(schema, schema)(items(12, 2, b"\0"))["b"]
    first["f1"].append(2)
    assert second["f1"] == [1]
