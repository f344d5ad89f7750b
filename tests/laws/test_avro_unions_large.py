"""Large unions of Avro: the work to match two of them grows with their branches, not with the square of these."""

import json
from functools import partial
from typing import Any

import pytest

from tests.instruction_counts import count_instructions
from treaty.arrow.avro.primitives import WrongBytesError
from treaty.arrow.avro.program import compile_reader
from treaty.formats.avro.model import AvroRecord, AvroUnion
from treaty.formats.avro.resolution import AvroResolution
from treaty.plan.avro.chances import takes_some
from treaty.plan.avro.fitted_writer import fit_writer
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import merge

Json = Any


def record_of(branches: list[Json]) -> Json:
    return {"type": "record", "name": "Top", "fields": [{"name": "u", "type": branches}]}


def records(count: int, space: str) -> list[Json]:
    fields = [{"name": "a", "type": "int"}]
    return [{"type": "record", "name": f"{space}R{at}", "fields": fields} for at in range(count)]


def fixed(count: int, space: str) -> list[Json]:
    return [{"type": "fixed", "name": f"{space}F{at}", "size": 1} for at in range(count)]


def aliases(count: int, space: str) -> list[Json]:
    return [
        {"type": "enum", "name": f"x.{space}N{at}", "symbols": ["A"], "aliases": [f"a.R{at}", f"R{at}"]}
        for at in range(count)
    ]


def match(writer: list[Json], reader: list[Json]) -> list[int | None]:
    old, new = (parse_avro(json.dumps(record_of(side))) for side in (writer, reader))
    unions = [
        schema.names["Top"].fields[0].type for schema in (old, new) if isinstance(schema.names["Top"], AvroRecord)
    ]
    assert isinstance(unions[1], AvroUnion)
    return AvroResolution(old, new).find_places(unions[0], unions[1])


def enums(count: int, space: str) -> list[Json]:
    return [{"type": "enum", "name": f"{space}R{at}", "symbols": ["A"]} for at in range(count)]


@pytest.mark.parametrize("make", [records, fixed])
@pytest.mark.parametrize("space", ["a.", "b."])
def test_matching_twice_the_branches_takes_twice_the_work(make: Any, space: str) -> None:
    few, twice = (
        count_instructions(partial(match, make(count, "a."), make(count, space)), "formats/avro/resolution")
        for count in (100, 200)
    )

    assert twice < 2.2 * few
    assert match(make(200, "a."), make(200, space)[::-1]) == list(range(200))[::-1]


def test_branches_are_matched_by_aliases_and_kinds() -> None:
    assert match(enums(50, "a."), aliases(50, "b.")) == list(range(50))
    assert match(enums(50, "a."), fixed(50, "a.")) == [None] * 50
    assert match(["int", "string", "boolean"], ["null", "bytes", "double"]) == [2, 1, None]


def ladder(depth: int, space: str) -> Json:
    """Records that hold the next one twice."""
    record: Json = {"type": "record", "name": f"{space}R{depth}", "fields": [{"name": "a", "type": "int"}]}
    for at in reversed(range(depth)):
        fields = [{"name": "a", "type": record}, {"name": "b", "type": f"{space}R{at + 1}"}]
        record = {"type": "record", "name": f"{space}R{at}", "fields": fields}
    return record


def test_two_ladders_of_records_are_compared_once_for_each_step() -> None:
    few, more = (
        count_instructions(
            partial(match, ["null", ladder(at, "a.")], ["null", ladder(at, "b.")]), "formats/avro/resolution"
        )
        for at in (6, 12)
    )

    assert more < 2.5 * few


def decimals(count: int, space: str) -> list[Json]:
    """Fixed types of 8 bytes; those of another namespace hold a decimal with another scale."""
    more = {"logicalType": "decimal", "precision": 10, "scale": len(space) - 1}
    return [{"type": "fixed", "name": f"{space}F{at}", "size": 8, **more} for at in range(count)]


def renamed(count: int, space: str) -> list[Json]:
    """Records that need one field more than all others do, whose names tell the space and whose fields do not."""
    shared, name = {"name": "id", "type": "int"}, space.strip(".")
    fields = [[shared, {"name": f"f{at}", "type": "int"}] for at in range(count)]
    return [{"type": "record", "name": f"{name}{at}", "fields": members} for at, members in enumerate(fields)]


def plan(older: list[Json], newer: list[Json]) -> None:
    old, new = (parse_avro(json.dumps(record_of(side))) for side in (older, newer))
    merged = merge([old, new])
    fit_writer(old, merged, "w")
    takes_some(merged, new, ())


@pytest.mark.parametrize("make", [records, aliases, decimals, renamed])
@pytest.mark.parametrize("space", ["a.", "bb."])
def test_planning_for_twice_the_branches_takes_twice_the_work(make: Any, space: str) -> None:
    few, twice = (
        count_instructions(partial(plan, make(count, "a."), make(count, space)), "plan/avro") for count in (40, 80)
    )

    assert twice < 2.2 * few


@pytest.mark.parametrize("make", [records, fixed])
def test_a_union_of_3000_branches_is_read(make: Any) -> None:
    """Python nests no thousand `elif`, and a struct of 3,000 members is not written out 3,000 times."""
    schema = parse_avro(json.dumps(record_of(make(3_000, "a."))))
    read = compile_reader(schema, schema)

    for at, index in ((0, b"\0"), (1_500, b"\xb8\x17"), (2_999, b"\xee\x2e")):
        (value, end) = read(index + b"\x02")
        assert [name for name, member in value["u"].items() if member is not None] == [f"member{at}"]
        assert len(value["u"]) == 3_000
        assert end == len(index) + 1
    for index in (b"\x01", b"\xf0\x2e"):  # -1 and 3,000
        with pytest.raises(WrongBytesError):
            read(index + b"\x02")
