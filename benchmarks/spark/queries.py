"""A query of the runner from files into a Delta table, beside the same body by hand: with `treaty.spark`, and with Spark's own `from_avro`."""

from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from benchmarks.row import Row, against_turns
from benchmarks.spark.meter import spent
from benchmarks.spark.orders import Mix, avro_of, put, schema, write
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.registry import Registry
from treaty.metastore import Metastore, PlanningOptions
from treaty.spark import decode, make_plan
from treaty.spark.lake import delta
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.service.statements import StatementPlanner
from treaty.spark.planner.settings import PINNED
from treaty.spark.runner.query_start import QueryStarter

COUNTS = (1, 5)
TURNS, WARM = 6, 2
HAND_GOAL, SPARK_GOAL = 1.10, 1.30
BODY = "SELECT id, customer, state, at, channel, score, gift, items FROM {} WHERE customer % 10 > 0"
FILES = "CREATE STREAM {0} WITH (CONNECTOR = 'files', PATH = '{1}', SUBJECT = '{2}', KEY_FORMAT = 'NONE')"
QUERY = "CREATE STREAM {0} WITH (CONNECTOR = 'delta', PATH = 'tables/{0}') AS {1}"
LIMIT = "bad rows are counted by code and the rows that come out too, each frame is tested, and the batch is looked up in its table"


def rows(ids: int, spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """The figures of so many mixed ids. All three write one batch, by the same append of a table, in sessions with the same settings."""
    subject, name = f"queried-{ids}-value", f"orders{ids}"
    texts = [schema(version + 1) for version in range(ids)]
    numbers = put(registry, subject, "AVRO", texts)
    mixed = write(folder / f"{name}-mixed", Mix(numbers, avro_of(texts)), count)
    alone = write(folder / f"{name}-alone", Mix(numbers, avro_of(texts), alone=True), count)
    planning = PlanningOptions(StatementPlanner(BodyPlanner(spark, folder / f"views-{ids}")))
    metastore = Metastore(registry, planning=planning)
    metastore.run(FILES.format(name, mixed.name, subject))
    plan = make_plan(registry, subject)
    starter = QueryStarter(spark, registry, folder, str(folder / "checkpoints"))

    def run_query(turn: int) -> None:
        starter.start(registry.ask(DescribeSource(f"query{ids}_{turn}")).answer.source).awaitTermination()

    def run_treaty(turn: int) -> None:
        def decoded(source: DataFrame) -> DataFrame:
            return decode(source, plan).where("error IS NULL").select("record.*")

        run_by_hand(spark, mixed, decoded, folder / f"treaty{ids}-{turn}")

    def run_spark(turn: int) -> None:
        column = from_avro(F.substring("value", 6, 1 << 30), plan.reader, {"mode": "PERMISSIVE"})
        run_by_hand(
            spark, alone, lambda source: source.select(column.alias("r")).select("r.*"), folder / f"spark{ids}-{turn}"
        )

    works = {"query": run_query, "treaty": run_treaty, "spark": run_spark}
    costs: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(TURNS):
        metastore.run(QUERY.format(f"query{ids}_{turn}", BODY.format(f"STREAM {name}")))
        for kind, work in works.items():
            seconds = spent(lambda work=work, turn=turn: work(turn))  # type: ignore[misc] # a default binds the loop's value
            if turn >= WARM:
                costs[kind].append(seconds / count * 1e6)
    what = "1 id" if ids == 1 else f"{ids} mixed ids"
    for sentence, baseline, goal in (
        ("against the same body by hand with treaty.spark", "treaty", HAND_GOAL),
        ("against from_avro of Spark with one schema", "spark", SPARK_GOAL),
    ):
        title = f"A query of the runner into a Delta table, {what}, {sentence}"
        yield against_turns(title, costs["query"], costs[baseline], unit="µs CPU/row", goal=goal, limit=LIMIT)


def run_by_hand(spark: SparkSession, files: Path, decoded: Callable[[DataFrame], DataFrame], target: Path) -> None:
    """Run the body over frames that are decoded otherwise, and append its rows once to a table, as the runner does."""
    session = spark.newSession()
    for setting, value in PINNED:
        session.conf.set(setting, value)
    decoded(session.readStream.schema("value BINARY").parquet(str(files))).createOrReplaceTempView("orders")

    def append(batch: DataFrame, number: int) -> None:
        delta.append(batch, LakeTable(str(target / "rows")), WriteId(target.name, number))

    writer = session.sql(BODY.format("orders")).writeStream.option("checkpointLocation", str(target / "checkpoint"))
    writer.trigger(availableNow=True).foreachBatch(append).start().awaitTermination()
