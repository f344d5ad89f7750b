"""A stream of files into two Delta tables from end to end, and the check of a candidate against data that are there."""

from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from benchmarks.row import Row, against
from benchmarks.spark.meter import nowhere, spent
from benchmarks.spark.orders import Mix, avro_of, put, schema, write
from treaty.core.registry import Registry
from treaty.spark import Pipeline, check_history, make_plan, start

IDS = 20
TURNS = 3
"""The first one warms up."""


def rows(spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """Both figures."""
    texts = [schema(version + 1) for version in range(IDS)]
    numbers = put(registry, "flow-value", "AVRO", texts)
    mixed = write(folder / "flow", Mix(numbers, avro_of(texts)), count)
    alone = write(folder / "flow-alone", Mix(numbers, avro_of(texts), alone=True), count)
    plan = make_plan(registry, "flow-value")
    payload, permissive = F.substring("value", 6, 1 << 30), {"mode": "PERMISSIVE"}

    def ours(turn: int) -> None:
        place = folder / f"ours-{turn}"
        tables = Pipeline("flow-value", f"{place}/good", f"{place}/bad", f"{place}/checkpoint", reader="latest")
        source = spark.readStream.schema("value BINARY").option("maxFilesPerTrigger", 5).parquet(str(mixed))
        start(tables, source, registry, available=True).awaitTermination()

    def theirs(turn: int) -> None:
        place = folder / f"theirs-{turn}"
        source = spark.readStream.schema("value BINARY").option("maxFilesPerTrigger", 5).parquet(str(alone))
        frame = source.select(from_avro(payload, plan.reader, permissive).alias("r")).select("r.*")
        writer = frame.writeStream.format("delta").option("checkpointLocation", f"{place}/checkpoint")
        writer.trigger(availableNow=True).start(f"{place}/good").awaitTermination()

    costs: dict[str, list[float]] = {"ours": [], "theirs": [], "history": [], "read": []}
    candidate = schema(IDS + 1)
    for turn in range(TURNS):
        costs["theirs"].append(spent(lambda turn=turn: theirs(turn)))  # type: ignore[misc] # a default binds the loop's value
        costs["ours"].append(spent(lambda turn=turn: ours(turn)))  # type: ignore[misc] # as above
        data = spark.read.parquet(str(mixed))
        costs["history"].append(spent(lambda data=data: check_history(candidate, data, registry, "flow-value")))  # type: ignore[misc] # as above
        costs["read"].append(
            spent(lambda: nowhere(spark.read.parquet(str(alone)).select(from_avro(payload, plan.reader, permissive))))
        )
    best = {name: min(spent[1:]) for name, spent in costs.items()}
    yield against(
        f"A stream of {IDS} mixed ids into tables of good and bad rows, from end to end", count / best["ours"], count / best["theirs"],
        unit="rows/CPU s", rising=True,
        limit="rows are read and decoded twice, for the two tables; the baseline writes one and takes damaged rows for good ones",
    )  # fmt: skip
    yield against(
        f"History check of a candidate against {IDS} mixed ids", best["history"] / count * 1e6, best["read"] / count * 1e6, unit="µs CPU/row",
        limit="every field of every row is looked at for nulls, beside decoding",
    )  # fmt: skip
