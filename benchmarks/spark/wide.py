"""Wide records of many versions, each a nullable field wider than the one before, beside Spark's own functions.

Spark gives whole-stage code up above 100 fields (``spark.sql.codegen.maxFields``), and the JVM compiles no method of more
than 8,000 bytes: the widths lie on both sides of either.
"""

import io
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import fastavro
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from benchmarks.row import Row, against_turns
from benchmarks.spark.meter import measured
from benchmarks.spark.orders import Mix, put, write
from treaty.core.registry import Registry
from treaty.spark import DecodePlan, decode, make_plan

WIDTHS, VERSIONS = (20, 61, 99, 101, 200, 500), (1, 20, 50, 100)
GOAL = 1.6
SHARE_OF_FIELDS = 61
"""Fields of a record of which as many are decoded as there are rows as asked for; there are fewer rows of wider ones."""
LIMIT = "the record is written once more than by the baseline, and all texts are tested for UTF-8"
Cell = tuple[int, int]
"""Fields and versions."""
VALUES: dict[str, Callable[[random.Random], Any]] = {
    "string": lambda dice: f"{dice.getrandbits(48):012x}",
    "long": lambda dice: dice.randrange(10**9),
    "double": random.Random.random,
}
KINDS = tuple(VALUES)


def schema(width: int) -> str:
    """A record of so many fields; all may be null but the first."""
    fields: list[dict[str, Any]] = [{"name": f"f{at}", "type": KINDS[at % 3]} for at in range(1)]
    fields += [{"name": f"f{at}", "type": ["null", KINDS[at % 3]], "default": None} for at in range(1, width)]
    return json.dumps({"type": "record", "name": "Wide", "namespace": "shop", "fields": fields})


def avro_of(texts: Sequence[str]) -> Callable[[int, int], bytes]:
    """Encodes a record of a version in a schema of the list; half of what may be null is null."""
    dice, parsed = random.Random(1), [fastavro.parse_schema(json.loads(text)) for text in texts]
    widths = [len(json.loads(text)["fields"]) for text in texts]

    def encode(place: int, used: int) -> bytes:
        row = {f"f{at}": VALUES[KINDS[at % 3]](dice) for at in range(widths[place]) if at < 1 or dice.random() < 0.5}
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed[used], row)
        return out.getvalue()

    return encode


def rows(width: int, spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """The figures of one width, by number of versions."""
    for versions in VERSIONS:
        if versions <= width:
            yield _row((width, versions), spark, registry, folder, count)


def _row(cell: Cell, spark: SparkSession, registry: Registry, folder: Path, count: int) -> Row:
    width, versions = cell
    count = min(count, count * SHARE_OF_FIELDS // width)
    subject = f"wide-{width}-{versions}-value"
    texts = [schema(width - versions + place) for place in range(1, versions + 1)]
    numbers = put(registry, subject, "AVRO", texts)
    mixed = write(folder / f"{subject}-mixed", Mix(numbers, avro_of(texts)), count)
    alone = write(folder / f"{subject}-alone", Mix(numbers, avro_of(texts), alone=True), count)
    plan = make_plan(registry, subject)
    works = {"theirs": lambda: _theirs(spark, alone, plan), "ours": lambda: _ours(spark, mixed, plan)}
    costs = measured(works, count)
    title = f"Avro, {width} fields, {versions} versions, error column included"
    return against_turns(title, costs["ours"], costs["theirs"], unit="µs CPU/row", goal=GOAL, limit=LIMIT)


def _theirs(spark: SparkSession, place: Path, plan: DecodePlan) -> DataFrame:
    payload = F.substring("value", 6, 1 << 30)
    return spark.read.parquet(str(place)).select(from_avro(payload, plan.reader, {"mode": "PERMISSIVE"}))


def _ours(spark: SparkSession, place: Path, plan: DecodePlan) -> DataFrame:
    return decode(spark.read.parquet(str(place)), plan).select("record", "error")
