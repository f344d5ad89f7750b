"""Defaults on Spark: whatever type of a union a default is of, Spark's rows are Arrow's."""

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.default_histories import default_history
from treaty import arrow
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.avro import planner
from treaty.plan.avro.flat import parse_avro
from treaty.plan.registered_schema import RegisteredSchema
from treaty.spark import DecodePlan, decode

pytestmark = pytest.mark.jvm
PACK = 20
"""Histories that are one job."""


def make_plan(texts: Iterable[str], reader: str = "union") -> DecodePlan:
    known = [RegisteredSchema(at, DEFAULT_CONTEXT, at, "AVRO", parse_avro(text)) for at, text in enumerate(texts, 1)]
    if reader == "latest":
        return planner.compose(known, known[-1].schema)
    merged, losers = planner.union(known)
    lost = {one.schema_id for one in losers}
    made = planner.compose([one for one in known if one.schema_id not in lost], merged)
    return replace(made, rejected=(*losers, *made.rejected))


def read_by_spark(spark: SparkSession, plans: list[DecodePlan], frames: list[list[bytes]]) -> list[list[Any]]:
    """The records or codes of each plan's frames, all by one job."""
    rows = [(plan, at, bytearray(one)) for plan, some in enumerate(frames) for at, one in enumerate(some)]
    sent = spark.createDataFrame(rows, "plan INT, at INT, value BINARY")
    some = [_decode(sent.where(F.col("plan") == at), plan) for at, plan in enumerate(plans)]
    found = reduce(DataFrame.unionAll, some).collect()
    made: list[list[Any]] = [[None] * len(one) for one in frames]
    for row in found:
        made[row["plan"]][row["at"]] = row["code"] or json.loads(row["text"])
    return made


def _decode(sent: DataFrame, plan: DecodePlan) -> DataFrame:
    text = F.to_json(F.struct("record"), {"ignoreNullFields": "false"})
    return decode(sent, plan).select("plan", "at", F.col("error.code").alias("code"), text.alias("text"))


def read_by_arrow(plan: DecodePlan, frames: list[bytes]) -> list[Any]:
    """The records or codes of frames, as JSON has them."""
    found = arrow.decode(pa.array(frames, pa.binary()), replace(plan, engine="fastavro")).to_pylist()
    return [one["error"]["code"] if one["error"] else {"record": _as_json(one["record"])} for one in found]


def _as_json(value: Any) -> Any:
    match value:
        case dict():
            return {name: _as_json(one) for name, one in value.items()}
        case list() if value and isinstance(value[0], tuple):
            return {key: _as_json(one) for key, one in value}
        case list():
            return [_as_json(one) for one in value]
        case bytes():
            return base64.b64encode(value).decode()
    return value


def drop_empty_maps(value: Any) -> Any:
    """Arrow gives an empty map as an empty list, as it gives an empty list."""
    if isinstance(value, dict):
        return {name: drop_empty_maps(one) for name, one in value.items()} or []
    return [drop_empty_maps(one) for one in value] if isinstance(value, list) else value


def compare(spark: SparkSession, seeds: Iterable[int], reader: str) -> tuple[int, int]:
    """Hold Spark's rows against Arrow's; the rows, and those that are bad to both."""
    histories = [default_history(seed) for seed in seeds]
    plans = [make_plan(texts, reader) for texts, _ in histories]
    frames = [some for _, some in histories]
    rows = bad = 0
    for seed, plan, some, found in zip(seeds, plans, frames, read_by_spark(spark, plans, frames), strict=True):
        for at, (mine, theirs) in enumerate(zip(found, read_by_arrow(plan, some), strict=True)):
            assert drop_empty_maps(mine) == drop_empty_maps(theirs), f"seed {seed}, reader {reader}, frame {at}"
            rows, bad = rows + 1, bad + isinstance(mine, str)
    return rows, bad


SOAK = [(first, reader) for first in range(PACK, 1_000 + PACK, 100) for reader in ("union", "latest")]


@pytest.mark.parametrize(
    ("first", "reader"), [(0, "union"), *(pytest.param(*one, marks=pytest.mark.soak) for one in [(0, "latest"), *SOAK])]
)
def test_spark_reads_random_defaults_as_arrow_does(
    spark: SparkSession, first: int, reader: str, figure: Callable[[str], None]
) -> None:
    parts = range(first, first + (100 if first else PACK), PACK)
    found = [compare(spark, range(part, part + PACK), reader) for part in parts]
    rows, bad = (sum(some) for some in zip(*found, strict=True))
    figure(f"histories of defaults from {first}, {reader}: {rows} rows, {bad} of them bad to both")
    assert bad < rows / 5
