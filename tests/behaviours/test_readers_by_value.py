"""A reader that takes some values of a version and not others: rows fail one by one, and those that fit are read."""

import json
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import frame, record
from treaty.arrow import decode, make_plan
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.plan.errors import PlanError
from treaty.plan.value import DecodePlan

ABC: dict[str, Any] = {"type": "enum", "name": "Letter", "symbols": ["A", "B", "C"]}
AB: dict[str, Any] = ABC | {"symbols": ["A", "B"]}
INSIDE = {"type": "record", "name": "Inside", "fields": [{"name": "x", "type": "int"}]}


def put(registry: Connection, *fields: Any) -> tuple[int, str]:
    text = record(("id", "int"), *fields)
    return registry.ask(Register(subject_of("s"), Draft(text))).answer.version.schema_id, text


CHANGES: dict[str, tuple[Any, Any, list[Any], list[Any]]] = {
    "a symbol goes": (ABC, AB, ["A", "B"], ["C"]),
    "a symbol goes inside a list": ({"type": "array", "items": ABC}, {"type": "array", "items": AB}, [[], ["B"]], [["A", "C"]]),
    "null goes": (["null", "int"], "int", [5], [None]),
    "a branch goes": (["null", "string", "int"], ["null", "string"], [None, "x"], [7]),
    "a record of a map needs a field": (
        {"type": "map", "values": INSIDE},
        {"type": "map", "values": INSIDE | {"fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "int"}]}},
        [{}],
        [{"k": {"x": 1}}],
    ),
}  # fmt: skip
"""What the type was and becomes, values that fit and values that do not."""


@pytest.mark.parametrize("change", CHANGES)
def test_the_rows_that_fit_are_read_and_the_others_say_why(registry: Connection, change: str) -> None:
    old, new, fine, lost = CHANGES[change]
    schema_id, text = put(registry, ("v", old))
    put(registry, ("v", new))
    plan = make_plan(registry, "s")
    values = [frame(schema_id, text, {"id": at, "v": value}) for at, value in enumerate([*fine, *lost])]
    found = decode(pa.array([*values, values[0][:-1], values[0] + b"x"]), plan)
    rows = found.to_pylist()
    assert [row["record"]["id"] for row in rows if row["record"]] == list(range(len(fine)))
    codes = [row["error"]["code"] if row["error"] else "" for row in rows]
    assert codes == [""] * len(fine) + ["RESOLUTION"] * len(lost) + ["MALFORMED", "TRAILING"]
    (message, *_) = [row["error"]["message"] for row in rows if row["error"]]
    assert f"this row of id {schema_id} (s version 1) has a value that the reader does not take: " in message
    assert DecodePlan.from_json(plan.to_json()) == plan


def test_a_text_that_is_none_is_damage_and_no_matter_of_the_reader(registry: Connection) -> None:
    schema_id, text = put(registry, ("v", ABC), ("note", "string"))
    put(registry, ("v", AB), ("note", "string"))
    value = frame(schema_id, text, {"id": 1, "v": "A", "note": "x"})
    (row,) = decode(pa.array([value[:-1] + b"\xff"]), make_plan(registry, "s")).to_pylist()
    assert row["error"]["code"] == "MALFORMED"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("long", "int"),
        (AB, ABC | {"symbols": ["D"]}),
        (["null", "string"], "int"),
        (INSIDE, INSIDE | {"fields": [{"name": "y", "type": "int"}]}),
        ({"type": "fixed", "name": "F", "size": 2}, {"type": "fixed", "name": "F", "size": 3}),
    ],
    ids=json.dumps,
)
def test_a_version_of_which_no_value_fits_is_refused_as_a_whole(registry: Connection, old: Any, new: Any) -> None:
    schema_id, _ = put(registry, ("v", old))
    put(registry, ("v", new))
    plan = make_plan(registry, "s")
    assert [(one.schema_id, one.code) for one in plan.rejected] == [(schema_id, "RESOLUTION")]
    assert "cannot be read" in plan.rejected[0].message
    with pytest.raises(PlanError) as caught:
        make_plan(registry, "s", reader=record(("id", "int"), ("needed", "string")))
    assert {one.schema_id for one in caught.value.rejected} == plan.known


def test_a_version_without_a_part_in_the_union_stays_out_of_it(registry: Connection) -> None:
    """Though the union would take those of its rows that have no value of the type in question."""
    put(registry, ("v", ["null", "string"]))
    schema_id, text = put(registry, ("v", ["null", {"type": "array", "items": "int"}]))
    plan = make_plan(registry, "s", reader="union")
    if plan.rejected:
        rows = decode(pa.array([frame(schema_id, text, {"id": 1, "v": None})]), plan).to_pylist()
        assert [row["error"]["code"] for row in rows] == ["RESOLUTION"]
    assert {one.schema_id for one in plan.writers}.isdisjoint({one.schema_id for one in plan.rejected})
