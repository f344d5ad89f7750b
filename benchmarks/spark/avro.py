"""Avro: mixed ids, bad rows, with and without the error column, beside Spark's own `from_avro` of the same records in one schema."""

from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from benchmarks.row import Row, against_turns
from benchmarks.spark.meter import measured
from benchmarks.spark.orders import RARE, Mix, avro_of, put, schema, write
from treaty.core.registry import Registry
from treaty.spark import DecodePlan, Names, decode, make_plan
from treaty.spark import from_avro as from_registry_column

COUNTS = (1, 5, 20, 50, 100, 300, 500)
GOALS = {1: 1.1, 5: 1.35, 20: 1.35, 50: 1.35, 100: 1.5}
"""Of the design; for more ids it has none."""
COLUMN_GOAL = 1.9
SHARES = (0.001, 0.01, 0.05)
MIXED = 20
"""Ids among which the error column and bad rows are measured, and that have nearly all rows where most ids are rare."""
LIMITS = {
    "ids": "Avro's resolution of each writer in turn, the tail that proves the row whole, and the branch's number before it",
    "rare": "as of the usual ids: a second pass for rare ones would save the difference to their row, and read the input twice",
    "one": "texts in lists are tested for UTF-8 (0.2), and the tail proves the row whole; the baseline takes damaged rows for good ones",
    "column": "Spark interprets the functions of lists, by which one expression decodes a row once and tests it",
    "variant": "each record is decoded as its own type, and Spark writes names and values of its VARIANT",
    "bad": "an exception of Avro's per row that is cut short",
}


def _baseline(frame: DataFrame, plan: DecodePlan) -> DataFrame:
    return frame.select(from_avro(F.substring("value", 6, 1 << 30), plan.reader, {"mode": "PERMISSIVE"}))


def rows(ids: int, spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """The figures of so many mixed ids."""
    subject = f"orders-{ids}-value"
    texts = [schema(version + 1) for version in range(ids)]
    numbers = put(registry, subject, "AVRO", texts)
    shares, many = SHARES if ids == MIXED else (), ids == max(COUNTS)
    files = {"mixed": Mix(numbers, avro_of(texts)), "alone": Mix(numbers, avro_of(texts), alone=True)}
    files |= {"rare": Mix(numbers, avro_of(texts), usual=MIXED)} if many else {}
    files |= {f"{share:.1%}": Mix(numbers, avro_of(texts), bad=share) for share in shares}
    places = {name: write(folder / f"{ids}-{name}", mix, count) for name, mix in files.items()}
    plan = make_plan(registry, subject)

    def ours(name: str, names: Names = Names()) -> Callable[[], DataFrame]:  # noqa: B008 - a frozen value
        columns = [name for name in (names.record, names.error) if name]
        return lambda: decode(spark.read.parquet(str(places[name])), plan, names=names).select(*columns)

    works = {"theirs": lambda: _baseline(spark.read.parquet(str(places["alone"])), plan), "mixed": ours("mixed")}
    if shares:
        works["no error"] = ours("mixed", Names(error=""))
        variants = make_plan(registry, subject, reader="variant")
        works["variant"] = lambda: decode(spark.read.parquet(str(places["mixed"])), variants).select("record", "error")
        works |= {f"{share:.1%}": ours(f"{share:.1%}") for share in shares}
    if ids == 1:
        column = from_registry_column("value", None, {"mode": "PERMISSIVE"}, subject, registry)
        works["column"] = lambda: spark.read.parquet(str(places["mixed"])).select(column)
    if many:
        works["rare"] = ours("rare")
    costs = measured(works, count)
    what = "1 id" if ids == 1 else f"{ids} mixed ids"
    goal = GOALS.get(ids)

    def row(name: str, sentence: str, limit: str, goal: float | None = None) -> Row:
        title = f"Avro, {what}, {sentence}"
        return against_turns(title, costs[name], costs["theirs"], unit="µs CPU/row", goal=goal, limit=LIMITS[limit])

    yield row("mixed", "error column included", "one" if ids == 1 else "ids", goal)
    if ids == 1:
        yield row("column", "the column of from_avro, bad rows null", "column", COLUMN_GOAL)
    if shares:
        yield row("no error", "no error column", "ids")
        yield row("variant", "as VARIANT, error column included", "variant")
        for share in shares:
            yield row(f"{share:.1%}", f"{share:.1%} bad rows, error column included", "bad")
    if many:
        yield row("rare", f"of which {MIXED} have all rows but {RARE:.1%}, error column included", "rare")
