"""Protobuf, JSON and the way back, beside a job that only carries the same rows through Python workers (`mapInArrow`)."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from benchmarks.row import Row, against_turns
from benchmarks.spark.meter import Work, measured
from benchmarks.spark.orders import Mix, avro_of, document, documents_of, messages_of, proto, put, schema, write
from treaty.core.registry import Registry
from treaty.spark import (
    DecodePlan,
    DeriveOptions,
    EncodeOptions,
    EncodePlan,
    decode,
    encode,
    make_encode_plan,
    make_plan,
)
from treaty.spark.encoding.sources import columns_of

IDS = 5
LIMITS = {
    "PROTOBUF": "Google's runtime judges whole batches, ptars makes columns of them, and the JVM takes them over",
    "JSON": "pyarrow reads every byte, and names stand in every row; the JVM takes the columns over",
    "JSON, validated": "as without validation, and a search for null and for numbers that the validator refuses; the proof itself takes next to nothing",
    "JSON by from_json": "`from_json` reads every byte, and names stand in every row: it takes 2.1 of the baseline, and 2.7 with what tells damaged payloads apart",
    "encode": "`to_avro` alone, of columns that fit, takes 0.5 of the baseline; the rest is the check of each field that may not fit",
    "Protobuf": "the rows are carried to Python workers, where ptars writes whole batches",
    "JSON text": "`to_json`; names stand in every row",
    "JSON text, validated": "each document is read again in Python, for the validator",
}
GOALS = {"PROTOBUF": 2.9, "JSON": 2.5, "JSON, validated": 3.2, "encode": 0.5}

WISHES = {
    "Protobuf": EncodeOptions(derive=DeriveOptions("PROTOBUF"), register=True),
    "JSON text": EncodeOptions(derive=DeriveOptions("JSON"), register=True),
    "JSON text, validated": EncodeOptions(derive=DeriveOptions("JSON"), register=True, validate=True),
}
"""Other ways to write the rows of the table, under schemas that are derived from it."""


def through(frame: DataFrame) -> DataFrame:
    """The same rows, carried to Python workers and back."""

    def same(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    return frame.mapInArrow(same, frame.schema)


FORMATS = {"PROTOBUF": (proto, messages_of), "JSON": (document, documents_of)}
"""What are decoded here: how their schemas and records are made."""


def decoded(name: str, spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """The figure of one format."""
    schema_of, encoder = FORMATS[name]
    texts, subject = [schema_of(number) for number in range(IDS)], f"{name.lower()}-value"
    place = write(folder / name, Mix(put(registry, subject, name, texts), encoder(texts)), count)
    plans = {name: make_plan(registry, subject, reader="union")}
    if name == "JSON":
        plans["JSON, validated"] = make_plan(registry, subject, reader="union", validate=True)
        plans["JSON by from_json"] = make_plan(registry, subject, reader="union", engine="spark")
    costs = measured(_works(spark, place, plans), count)
    for key in plans:
        title = f"{'Protobuf' if key == 'PROTOBUF' else key}, {IDS} mixed ids, error column included"
        yield against_turns(
            title, costs[key], costs["through"], unit="µs CPU/row", goal=GOALS.get(key), limit=LIMITS[key],
        )  # fmt: skip


def _works(spark: SparkSession, place: Path, plans: Mapping[str, DecodePlan]) -> dict[str, Work]:
    def frame() -> DataFrame:
        return spark.read.parquet(str(place))

    def decoding(plan: DecodePlan) -> Work:
        return lambda: decode(frame(), plan).select("record", "error")

    return {"through": lambda: through(frame()), **{name: decoding(plan) for name, plan in plans.items()}}


def encoded(spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """Rows that lie in a table, as frames of every format."""
    text = schema(1)
    frames = write(folder / "encode", Mix(put(registry, "encode-value", "AVRO", [text]), avro_of([text])), count)
    decoded = decode(spark.read.parquet(str(frames)), make_plan(registry, "encode-value"), flatten=True).drop(
        "value", "error"
    )
    decoded.write.parquet(str(folder / "table"))

    def table() -> DataFrame:
        return spark.read.parquet(str(folder / "table"))

    def writing(plan: EncodePlan) -> Work:
        return lambda: encode(table(), plan).select("value", "error")

    columns = columns_of(table().schema)
    plans = {"Avro": make_encode_plan(registry, "encode-value", columns)}
    for name, wish in WISHES.items():
        plans[name] = make_encode_plan(registry, f"encode {name}", columns, wish)
    works = {"through": lambda: through(table()), **{name: writing(plan) for name, plan in plans.items()}}
    costs = measured(works, count)
    for name in plans:
        key = "encode" if name == "Avro" else name
        yield against_turns(
            f"Encode {name}, error column included", costs[name], costs["through"], unit="µs CPU/row",
            goal=GOALS.get(key), limit=LIMITS[key],
        )  # fmt: skip
