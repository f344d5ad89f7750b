"""Bodies whose change is called compatible, run one after the other on one checkpoint: from the swap on the rows are those of the new body alone."""

import random
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.query_bodies import make_body
from tests.real.test_query_states import choose_meaning, spell_body
from treaty.core.sources import QueryPlan
from treaty.spark.planner.bodies import BodyPlanner, open_session

pytestmark = pytest.mark.jvm
DDL = "id BIGINT, carrier STRING, delay INT, s STRUCT<a: BIGINT, b: STRING>"
STATELESS = (
    "SELECT id, upper(carrier) AS c FROM STREAM flights WHERE delay > {}",
    "SELECT s.b AS b, id + {} AS id FROM flights",
    "SELECT id, x FROM STREAM flights LATERAL VIEW explode(array(delay, {})) AS x",
)
CHEAP = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings for a few rows: one partition, and expressions that are interpreted instead of compiled for each query."""
BATCHES = 3
BatchRows = dict[int, list[str]]
"""The rows of each batch, printed and sorted."""


def write_batch(draw: random.Random, place: Path) -> None:
    rows = [
        {"id": draw.randint(0, 99), "carrier": draw.choice(("AA", "DL", "1", None)), "delay": draw.choice((None, 0, 1, 2, 3, 40)),
         "s": {"a": draw.randint(0, 3), "b": draw.choice("xyz")}}
        for _ in range(30)
    ]  # fmt: skip
    place.parent.mkdir(exist_ok=True)
    inner = pa.struct([("a", pa.int64()), ("b", pa.string())])
    schema = pa.schema([("id", pa.int64()), ("carrier", pa.string()), ("delay", pa.int32()), ("s", inner)])
    pq.write_table(pa.Table.from_pylist(rows, schema), place)


def run_plan(spark: SparkSession, plan: QueryPlan, folder: Path, checkpoint: Path) -> BatchRows:
    """The rows of each batch of a body over a folder, from where its checkpoint is; each file is a batch."""
    session = open_session(spark)
    for name, value in CHEAP.items():
        session.conf.set(name, value)
    stream = session.readStream.schema(DDL).option("maxFilesPerTrigger", 1).parquet(str(folder))
    stream.createOrReplaceTempView("flights")
    batches: BatchRows = {}

    def add(batch: Any, number: int) -> None:
        batches[number] = sorted(map(repr, batch.collect()))

    writer = session.sql(plan.body).writeStream.outputMode(plan.output_mode).trigger(availableNow=True)
    writer.option("checkpointLocation", str(checkpoint)).foreachBatch(add).start().awaitTermination()
    return batches


def draw_pair(draw: random.Random, planner: BodyPlanner) -> tuple[QueryPlan, QueryPlan]:
    """Two bodies with another text whose states are called the same."""
    for _ in count():
        if draw.random() < 0.2:
            texts = [draw.choice(STATELESS).format(draw.randint(0, 3)) for _ in range(2)]
            plans = [planner.plan(make_body(text, "STREAM")).plan for text in texts]
        else:
            chosen = choose_meaning(draw)
            plans = [planner.plan(make_body(spell_body(draw, chosen), "TABLE")).plan for _ in range(2)]
        if plans[0].body != plans[1].body and plans[0].fingerprint == plans[1].fingerprint:
            return plans[0], plans[1]
    raise AssertionError


@pytest.fixture(scope="module")
def planner(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> BodyPlanner:
    return BodyPlanner(spark, tmp_path_factory.mktemp("views"))


@pytest.mark.parametrize("seed", range(100))
def test_a_compatible_body_continues_as_if_it_had_always_been(
    spark: SparkSession, planner: BodyPlanner, tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    old, new = draw_pair(draw, planner)
    one = tmp_path / "one"
    write_batch(draw, one / "0.parquet")
    before = run_plan(spark, old, one, tmp_path / "swapped")
    for number in range(1, BATCHES):
        write_batch(draw, one / f"{number}.parquet")
    swapped = run_plan(spark, new, one, tmp_path / "swapped")
    alone = run_plan(spark, new, one, tmp_path / "fresh")
    assert [*before, *swapped] == [*alone] == [*range(BATCHES)]
    assert swapped == {number: alone[number] for number in swapped}, (seed, old.body, new.body)
