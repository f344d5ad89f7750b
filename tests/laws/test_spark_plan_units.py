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
    """What is read of one column of a choice whose first two members are fixed types that hold 70: a value of each, or the code of the error."""
    texts = [record(("x", branches)) for branches in (old, new)]
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope("*"), Config(level="NONE")))
        subject = subject_of("orders-value")
        ids = [registry.ask(Register(subject, Draft(text))).answer.version.schema_id for text in texts]
        plan = make_plan(registry, "orders-value", engine="fastavro")
    places = [at for at, branch in enumerate(old) if isinstance(branch, dict)]
    frames = [b"\0" + ids[0].to_bytes(4, "big") + bytes([2 * place]) + (70).to_bytes(5, "big") for place in places]
    rows = decode(pa.array(frames, pa.binary()), plan).to_pylist()
    return [row["error"]["code"] if row["error"] else row["record"]["x"] for row in rows]


SEVEN = Decimal("7.00")


@pytest.mark.parametrize("scale", [1, 2], ids=["another scale", "the same scale"])
@pytest.mark.parametrize("other", ["string", "null"])
@pytest.mark.parametrize(
    ("writers", "name", "aliases", "read"),
    [
        ("AB", "D", ["A", "B"], [True, False]),
        ("BA", "D", ["A", "B"], [True, False]),
        ("AD", "D", ["A"], [False, True]),
        ("DA", "D", ["A"], [True, False]),
        ("A", "D", ["A", "B"], [True]),
    ],
    ids=["by two aliases", "in the other order", "by its name, behind an alias", "by its name", "alone"],
)
def test_of_two_types_of_a_choice_that_are_one_to_the_reader_one_is_read(
    writers: str, name: str, aliases: list[str], read: list[bool], other: str, scale: int
) -> None:
    """Java's library refuses a choice of two types of one name, and with it the rows of all versions of the plan."""
    old: list[Any] = [fixed(f"shop.{one}", 9 + scale, scale) for one in writers]
    new = {**fixed(f"shop.{name}", 11, 2), "aliases": aliases}
    seven = SEVEN if scale == 1 else Decimal("0.70")
    value = seven if other == "null" else {"member0": None, "member1": seven}
    found = decode_sevens([other, *old], [other, new])
    assert found == [value if is_read else "RESOLUTION" for is_read in read]


def test_two_fixed_types_of_one_scale_are_read_as_two_of_another() -> None:
    """They were one hidden branch, and the versions were refused."""
    found = decode_sevens(
        ["null", fixed("a.A", 10, 1), fixed("a.B", 10, 1)], ["null", fixed("b.A", 11, 2), fixed("b.B", 11, 2)]
    )
    assert found == [{"member0": SEVEN, "member1": None}, {"member0": None, "member1": SEVEN}]


@pytest.mark.parametrize("default", [None, 5000])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_default_is_not_lost_where_another_record_has_the_field_in_another_unit(
    order: tuple[int, int], default: int | None
) -> None:
    """Two records of a version are one to the reader, and one of them lacks a field: its rows had null there."""
    seconds = {"name": "id", "type": "int"}
    parts = [("p.Part", [seconds, {"name": "at", "type": MILLIS}]), ("q.Part", [seconds])]
    old = [{"type": "record", "name": parts[at][0], "fields": parts[at][1]} for at in order]
    at = {"name": "at", "type": MICROS if default else ["null", MICROS], "default": default}
    said = refusals(record(("x", old)), record(("x", {"type": "record", "name": "p.Part", "fields": [seconds, at]})))
    assert len(said) == (1 if default else 0)
    assert all("two places of the writer differ in how p.Part.at is to be read" in one for one in said)


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
