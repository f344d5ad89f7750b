"""Decode plans whose reader has other units than its writers: one conversion serves all values of a column, or the writer is refused."""

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import record
from treaty.arrow import decode
from treaty.assemble import connect
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.schema import Draft
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.planner import compose
from treaty.plan.decode_plans import make_plan
from treaty.plan.registered_schema import RegisteredSchema

MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}


def refusals(old: Any, new: Any) -> list[str]:
    """What is said of a writer that this reader does not read."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in (old, new)]
    known = [
        RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", parse_avro(text))
        for place, text in enumerate(texts)
    ]
    return [one.message for one in compose(known, parse_avro(texts[1])).rejected]


def fixed(name: str, precision: int, scale: int) -> dict[str, Any]:
    """A decimal in five bytes."""
    props = {"logicalType": "decimal", "precision": precision, "scale": scale}
    return {"type": "fixed", "name": name, "size": 5, **props}


def decode_sevens(old: list[Any], new: list[Any]) -> list[Any]:
    """What is read of one column of a choice whose first two members are fixed types that hold 70: a value of each."""
    texts = [record(("x", branches)) for branches in (old, new)]
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        subject = subject_of("orders-value")
        ids = [registry.ask(Register(subject, Draft(text))).answer.version.schema_id for text in texts]
        plan = make_plan(registry, "orders-value", engine="fastavro")
    frames = [b"\0" + ids[0].to_bytes(4, "big") + branch + (70).to_bytes(5, "big") for branch in (b"\x02", b"\x04")]
    found = decode(pa.array(frames, pa.binary()), plan, flatten=True)
    assert found["error"].to_pylist() == [None, None]
    values: list[Any] = found["x"].to_pylist()
    return values


@pytest.mark.parametrize("other", ["string", "null"])
def test_two_fixed_types_of_one_scale_are_read_as_one_of_another(other: str) -> None:
    """Rows of the first were malformed."""
    both = {**fixed("D", 11, 2), "aliases": ["A", "B"]}
    found = decode_sevens([other, fixed("A", 10, 1), fixed("B", 10, 1)], [other, both])
    values = [one["member1"] if other == "string" else one for one in found]
    assert values == [Decimal("7.00"), Decimal("7.00")]


def test_two_fixed_types_of_one_scale_are_read_as_two_of_another() -> None:
    """They were one hidden branch, and the versions were refused."""
    found = decode_sevens(
        ["null", fixed("a.A", 10, 1), fixed("a.B", 10, 1)], ["null", fixed("b.A", 11, 2), fixed("b.B", 11, 2)]
    )
    seven = Decimal("7.00")
    assert found == [{"member0": seven, "member1": None}, {"member0": None, "member1": seven}]


def test_units_that_no_column_could_tell_apart_are_refused() -> None:
    """They came out a thousandfold wrong."""
    nanos, time = {"type": "long", "logicalType": "timestamp-nanos"}, {"type": "int", "logicalType": "time-millis"}
    micros_of_day = {"type": "long", "logicalType": "time-micros"}
    (said,) = refusals(MICROS, MILLIS)
    assert "at the root: timestamp-micros becomes timestamp-millis in fields of records only" in said
    assert len(refusals({"type": "array", "items": MICROS}, {"type": "array", "items": nanos})) == 1
    assert len(refusals(["string", MICROS], ["string", nanos])) == 1
    (said,) = refusals(record(("x", ["int", MICROS])), record(("x", ["int", MILLIS])))
    assert "at /x: a column of int and long does not say which of them a number was" in said
    (said,) = refusals(record(("x", [time, micros_of_day])), record(("x", micros_of_day)))
    assert "at /x: two types of the writer are one to the reader, but not in the same unit" in said
    tenths, hundredths, both = fixed("A", 10, 1), fixed("B", 11, 2), {**fixed("D", 11, 2), "aliases": ["A", "B"]}
    for reader in (both, ["string", both]):
        (said,) = refusals(record(("x", [tenths, hundredths])), record(("x", reader)))
        assert "at /x: two types of the writer are one to the reader, but not in the same unit" in said
    for kind in (["int", MILLIS], [time, micros_of_day], {"type": "array", "items": MILLIS}):
        assert refusals(kind, kind) == []
    assert refusals(record(("x", [time, MICROS])), record(("x", [time, MICROS, "string"]))) == []
