"""Readers that take some values of a writer: each row is read or refused as fastavro reads or refuses it, by itself."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from fastavro._read_common import SchemaResolutionError

from tests.frames import frame, resolved
from tests.pairs import doubled, narrowed, planned_in_part, refusals, renamed
from treaty.arrow import decode

PAIRS = 600


def has_empty(value: Any) -> bool:
    """Whether a value has an empty list or map somewhere."""
    if isinstance(value, dict):
        return not value or any(map(has_empty, value.values()))
    return isinstance(value, list) and (not value or any(map(has_empty, value)))


@pytest.mark.parametrize(
    ("first", "last"), [(0, PAIRS), pytest.param(PAIRS, 40 * PAIRS, marks=pytest.mark.soak)], ids=["some", "many"]
)
def test_rows_are_refused_one_by_one_as_fastavro_refuses_them(
    first: int, last: int, figure: Callable[[str], None]
) -> None:
    pairs = read = refused = 0
    for seed in range(first, last):
        writer, reader, values = narrowed(seed, 6)
        plan = planned_in_part(seed, writer, reader)
        if plan is None or 1 not in refusals(plan):
            continue
        pairs += 1
        for value in values:
            sent = frame(1, writer, value)
            (row,) = decode(pa.array([sent, sent[:-1]]), plan).to_pylist()[:1]
            code = row["error"]["code"] if row["error"] else ""
            try:
                resolved(sent, writer, reader)
            except SchemaResolutionError:
                if not code and has_empty(value):
                    continue  # fastavro compares the items of a list that has none; Java's library does not
                assert code == "RESOLUTION", f"seed {seed}: {writer} read as {reader}: {value}"
                assert row["error"]["message"] == refusals(plan)[1]
                refused += 1
            else:
                assert code == "", f"seed {seed}: {writer} read as {reader}: {value}"
                read += 1
    figure(f"{pairs} pairs are read in part: {read} rows read, {refused} refused")
    assert min(pairs, read, refused) > 10


def test_a_fixed_or_an_enum_of_another_name_is_refused_as_java_refuses_it() -> None:
    """In a type of a writer's union, where the comparison leaves it to the values."""
    writer, reader, values, read = renamed()
    plan = planned_in_part(0, writer, reader)
    assert plan is not None
    found = decode(pa.array([frame(1, writer, {"u": value}) for value in values]), plan).to_pylist()
    codes = [row["error"] and row["error"]["code"] for row in found]
    assert codes == [None if one else "RESOLUTION" for one in read]


def test_types_of_a_writer_that_are_one_to_the_reader_are_read() -> None:
    writer, reader, values, read = doubled()
    plan = planned_in_part(0, writer, reader)
    assert plan is not None
    found = decode(pa.array([frame(1, writer, value) for value in values]), plan).to_pylist()
    assert [row["error"] and row["error"]["code"] for row in found] == [None if one else "RESOLUTION" for one in read]
    branches = {"Bank": "member0", "Card": "member1", "x.Card": "member1"}  # the first with the fields, or the name
    for row, value in zip(found, values, strict=True):
        if row["record"]:
            other = "member0" if branches[value["u"][0]] == "member1" else "member1"
            assert row["record"] == {"u": {branches[value["u"][0]]: {"c": 7}, other: None}, "e": "S", "f": b"ab"}
