"""Spark's own engines give the rows and codes of Arrow: of any schema, at the edges of types, in any zone of the session, damaged frames too."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.edges import FORMATS, make_case, make_plain
from tests.recursive_unions import recursive_history, recursive_plan
from treaty.arrow.readers import reader_of
from treaty.arrow.types import kind_of
from treaty.plan.value import DecodePlan
from treaty.spark import Names, decode

pytestmark = pytest.mark.jvm

A_JOB, A_SHARE, ROWS = 20, 14, 8
"""Schemas that one frame has a column of, those of them in `make test`, and frames of each."""
ZONE, SENSITIVE = "spark.sql.session.timeZone", "spark.sql.caseSensitive"
ZONES = ("America/New_York", "Asia/Kolkata", "Pacific/Apia", "UTC", "-18:00")


@pytest.fixture
def changed(spark: SparkSession) -> Iterator[Callable[[str, str], None]]:
    """Sets settings of the session for one test."""
    before = {name: spark.conf.get(name) for name in (ZONE, SENSITIVE)}
    yield spark.conf.set
    for name, value in before.items():
        spark.conf.set(name, str(value))


@pytest.mark.parametrize(
    "jobs", [range(1), pytest.param(range(1, 51), marks=[pytest.mark.soak, pytest.mark.timeout(7200)])], ids=str
)
def test_rows_and_codes_are_those_of_arrow(
    spark: SparkSession, changed: Callable[[str, str], None], jobs: range, figure: Callable[[str], None]
) -> None:
    codes: Counter[str] = Counter()
    for job in jobs:
        dice = random.Random(job)
        changed(ZONE, dice.choice(ZONES))
        changed(SENSITIVE, dice.choice(("true", "false")))
        cases = [make_spark_case(job * A_JOB + at) for at in range(A_JOB if len(jobs) > 1 else A_SHARE)]
        kinds = ", ".join(("at INT", *(f"v{at} BINARY" for at in range(len(cases)))))
        rows = zip(*(frames for _, frames in cases), strict=True)
        source = spark.createDataFrame([(at, *row) for at, row in enumerate(rows)], kinds)
        for at, (plan, _) in enumerate(cases):
            source = decode(source, plan, column=f"v{at}", names=Names(f"r{at}", f"e{at}")).drop(f"v{at}")
        table = source.toArrow().sort_by("at")
        for at, (plan, frames) in enumerate(cases):
            ours = reader_of(plan, kind_of(plan))(pa.array(frames, pa.binary()))
            errors = [one and one["code"] for one in table[f"e{at}"].to_pylist()]
            codes.update(one or "" for one in errors)
            for place, (record, error) in enumerate(zip(table[f"r{at}"], errors, strict=True)):
                told = (job, at, plan.format, frames[place])
                assert error == ours.code[place].as_py(), told
                assert make_plain(record) == make_plain(ours.record[place]), told
    figure(f"{len(jobs) * len(cases)} schemas on Spark: {dict(codes)}")
    assert min(codes[one] for one in ("", "MALFORMED", "INVALID", "TRAILING")) > 0


def make_spark_case(seed: int) -> tuple[DecodePlan, list[bytes]]:
    """A plan for an engine of Spark's own; every tenth is Protobuf, which has none."""
    dice = random.Random(100_000 + seed)
    format_ = FORMATS[2] if seed % 10 == 9 else FORMATS[seed % 2]
    plan, frames = make_case(format_, dice, ROWS)
    return (plan if format_ == "PROTOBUF" else replace(plan, engine="spark")), frames


def test_values_beyond_the_depth_are_left_out_of_unions_on_spark_too(spark: SparkSession) -> None:
    cases = [recursive_history(seed) for seed in range(6)]
    rows = zip(*(one.frames[-5:] for one in cases), strict=True)
    kinds = ", ".join(("at INT", *(f"v{at} BINARY" for at in range(len(cases)))))
    source = spark.createDataFrame([(at, *row) for at, row in enumerate(rows)], kinds)
    for at, case in enumerate(cases):
        plan = replace(recursive_plan(case, "union"), engine="spark")
        source = decode(source, plan, column=f"v{at}", names=Names(f"r{at}", f"e{at}")).drop(f"v{at}")
    table = source.toArrow().sort_by("at")
    for at, case in enumerate(cases):
        assert table[f"e{at}"].null_count == len(table), at
        assert [one.as_py() for one in table[f"r{at}"]] == case.records[-5:], at
