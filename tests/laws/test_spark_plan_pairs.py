"""Random pairs of a writer and a reader: a plan reads each row as fastavro resolves it by itself, and what it could not read it refuses."""

from collections.abc import Callable

import pytest

from tests.frames import frame, resolved
from tests.pairs import pair, planned
from tests.shapes import shape_of
from treaty.arrow.avro.rows import make_decoder
from treaty.plan.avro.flat import parse_avro
from treaty.spark.engines.repaired_records import read_avro_part

PAIRS = 600


@pytest.mark.parametrize("first", range(0, PAIRS, 200))
def test_a_plan_reads_as_fastavro_resolves(first: int, figure: Callable[[str], None]) -> None:
    read = rows = 0
    for seed in range(first, first + 200):
        writer, reader, values = pair(seed, 4)
        plan = planned(seed, writer, reader)
        if plan is None:
            continue
        read += 1
        decode, recipe, target = make_decoder(plan), read_avro_part(plan), parse_avro(reader)
        shape = shape_of(target.root, target.names)
        for value in values:
            sent = frame(1, writer, value)
            expected = shape(resolved(sent, writer, reader))
            found, code = decode(sent) or ({}, "no frame of the plan")
            got = code or (found[recipe.whole] if recipe.whole else found)
            assert got == expected, f"seed {seed}: {writer} read as {reader}: {value}"
            assert decode(sent + b"\0") == (None, "TRAILING"), f"seed {seed}"
            rows += 1
    figure(f"pairs from {first}: {read} of 200 can be read, {rows} rows")
    assert read > 100
