"""Random pairs of a writer and a reader on Spark itself: each row is what fastavro makes of it, and what has a byte too many is told."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.frames import frame, resolved
from tests.pairs import doubled, narrowed, pair, planned, planned_in_part, refusals, renamed
from tests.shapes import shape_of
from tests.shares import REST
from treaty.arrow import decode as decode_to_arrow
from treaty.plan.avro.flat import parse_avro
from treaty.plan.value import DecodePlan
from treaty.spark import Names, decode

pytestmark = pytest.mark.jvm

A_JOB, ROWS = 10, 6
FIRST = 10_000
"""The first seed; the planner's own tests have those from 0 on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A pair that can be read: its frames, and what fastavro makes of each."""

    seed: int
    told: str
    plan: DecodePlan
    frames: list[bytes]
    expected: list[Any]


def asked(seed: int) -> Asked | None:
    writer, reader, values = pair(seed, ROWS)
    plan = planned(seed, writer, reader)
    if plan is None:
        return None
    target = parse_avro(reader)
    shape = shape_of(target.root, target.names)
    frames = [frame(1, writer, value) for value in values]
    made = [shape(resolved(sent, writer, reader)) for sent in frames]
    return Asked(seed, f"seed {seed}: {writer} read as {reader}", plan, frames, made)


@pytest.mark.parametrize("count", [A_JOB, pytest.param(4 * A_JOB, marks=REST)])
def test_sampled_pairs_are_read_as_fastavro_resolves_them(
    spark: SparkSession, count: int, figure: Callable[[str], None]
) -> None:
    """Each pair has columns of its own, so that a few jobs read them all."""
    pairs = list(itertools.islice((one for seed in itertools.count(FIRST) if (one := asked(seed))), count))
    for first in range(0, count, A_JOB):
        some = pairs[first : first + A_JOB]
        # The last row has the frames of the first, each with a byte behind it.
        rows = [*zip(*(one.frames for one in some), strict=True), tuple(one.frames[0] + b"\0" for one in some)]
        source = spark.createDataFrame(
            [(at, *row) for at, row in enumerate(rows)], ", ".join(("at INT", *(f"v{one.seed} BINARY" for one in some)))
        )
        for one in some:
            names = Names(record=f"r{one.seed}", error=f"e{one.seed}")
            source = decode(source, one.plan, column=f"v{one.seed}", names=names).drop(f"v{one.seed}")
        found = sorted(source.toArrow().to_pylist(), key=lambda row: int(row["at"]))
        for one in some:
            errors = [row[f"e{one.seed}"] and row[f"e{one.seed}"]["code"] for row in found]
            assert errors == [*[None] * ROWS, "TRAILING"], one.told
            assert [row[f"r{one.seed}"] for row in found] == [*one.expected, None], one.told
    unions = sum(len(one.plan.writers) > 1 for one in pairs)
    figure(
        f"{len(pairs)} pairs of seeds {FIRST} to {pairs[-1].seed}, {unions} of them in a union: {len(pairs) * ROWS} rows as fastavro has them"
    )


def test_rows_that_a_reader_does_not_take_are_the_same_on_both_engines(
    spark: SparkSession, figure: Callable[[str], None]
) -> None:
    """Readers that take some values of a writer: Spark's rows, codes and messages are Arrow's, for whole frames and for those that are cut."""
    writer, reader, branches, _ = renamed()
    named = 0, writer, reader, [{"u": branch} for branch in branches]
    made = itertools.chain([named], ((seed, *narrowed(seed, ROWS)) for seed in itertools.count(FIRST)))
    plans = ((seed, planned_in_part(seed, writer, reader), writer, values) for seed, writer, reader, values in made)
    in_part = (one for one in plans if one[1] is not None and 1 in refusals(one[1]))
    counts: Counter[str] = Counter()
    source, expected = None, {}
    for seed, plan, writer, values in itertools.islice(in_part, A_JOB + 1):
        assert plan is not None
        whole = [frame(1, writer, value) for value in values]
        frames = [*whole, *(one[:-1] for one in whole), *(one + b"\0" for one in whole)]
        rows = spark.createDataFrame(
            [(f"{seed} {at}", one) for at, one in enumerate(frames)], "at STRING, value BINARY"
        )
        part = decode(rows, plan).select("at", F.to_json("record").alias("record"), "error.code", "error.message")
        source = part if source is None else source.unionAll(part)
        for at, row in enumerate(decode_to_arrow(pa.array(frames, pa.binary()), plan).to_pylist()):
            error = row["error"] or {"code": None, "message": None}
            expected[f"{seed} {at}"] = (row["record"] is not None, error["code"], error["message"])
            counts[error["code"] or "read"] += 1
    assert source is not None
    found = {row["at"]: (row["record"] is not None, row["code"], row["message"]) for row in source.collect()}
    assert found == expected
    figure(f"{A_JOB + 1} pairs that are read in part: {dict(counts)}")
    assert min(counts[one] for one in ("read", "RESOLUTION", "MALFORMED", "TRAILING")) > 0


def test_types_of_a_writer_that_are_one_to_the_reader_go_where_arrow_has_them(spark: SparkSession) -> None:
    writer, reader, values, _ = doubled()
    plan = planned_in_part(0, writer, reader)
    assert plan is not None
    frames = [frame(1, writer, value) for value in values]
    rows = spark.createDataFrame([*enumerate(frames)], "at INT, value BINARY")
    found = decode(rows, plan).select("at", "record", "error.code").sort("at").toArrow().to_pylist()
    expected = decode_to_arrow(pa.array(frames, pa.binary()), plan).to_pylist()
    assert [row["record"] for row in found] == [row["record"] for row in expected]
    assert [row["code"] for row in found] == [row["error"] and row["error"]["code"] for row in expected]
