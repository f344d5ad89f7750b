"""Plans that were extended while their registry changed are read by Spark as by Arrow."""

import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.edges import make_plain
from tests.frames import header
from tests.living_plans import STEPS, LivingPlan, live
from tests.plan_worlds import SHAPES, PlanWorld
from treaty import arrow
from treaty.assemble import connect
from treaty.spark import Names, decode

pytestmark = pytest.mark.jvm
A_JOB = 12
"""Plans that one frame has a column of."""


def grow_plans(seed: int) -> list[tuple[LivingPlan, list[bytes]]]:
    """The plans of a random world in the end, and a frame of each schema that it ever had."""
    dice = random.Random(seed)
    steps = [(dice.choice(STEPS), dice.randrange(12), dice.randrange(12)) for _ in range(9)]
    with connect("memory:") as registry:
        world = PlanWorld(registry, [*SHAPES][seed % len(SHAPES)], (".", ".shop")[seed % 2])
        plans = live(world, steps)
    return [(one, [header(at) + shape.payload for at, shape in world.sent.items()]) for one in plans]


@pytest.mark.parametrize("jobs", [range(1), pytest.param(range(1, 20), marks=pytest.mark.soak)], ids=str)
def test_plans_that_grew_are_read_by_spark_as_by_arrow(
    spark: SparkSession, jobs: range, figure: Callable[[str], None]
) -> None:
    good = 0
    for job in jobs:
        cases = [case for seed in range(100 * job, 100 * job + A_JOB) for case in grow_plans(seed)][:A_JOB]
        most = max(len(frames) for _, frames in cases)
        rows = [(at, *(frames[at] if at < len(frames) else None for _, frames in cases)) for at in range(most)]
        source = spark.createDataFrame(rows, ", ".join(("at INT", *(f"v{at} BINARY" for at in range(len(cases))))))
        for at, (living, _) in enumerate(cases):
            source = decode(source, living.plan, column=f"v{at}", names=Names(f"r{at}", f"e{at}")).drop(f"v{at}")
        table = source.toArrow().sort_by("at")
        for at, (living, frames) in enumerate(cases):
            ours = arrow.decode(pa.array(frames, pa.binary()), living.plan)
            for place, row in enumerate(ours.to_pylist()):
                error = table[f"e{at}"][place].as_py()
                assert (error and error["code"]) == (row["error"] and row["error"]["code"]), (job, at, place)
                assert make_plain(table[f"r{at}"][place]) == make_plain(ours["record"][place]), (job, at, place)
                good += error is None
    figure(f"{good} rows of plans that grew, alike on Spark")
    assert good > len(jobs) * A_JOB
