"""Frames to Arrow without Spark, beside the loop that one would write: a library's call for each row, and one array of the rows."""

import io
import json
import time
from collections.abc import Callable, Mapping, Sequence

import fastavro
import pyarrow as pa

from benchmarks.row import Row, against
from benchmarks.spark.orders import avro_of, document, documents_of, put, schema
from treaty.arrow import decode, make_plan
from treaty.arrow.types import kind_of
from treaty.assemble import connect
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.registry import Registry

ROWS = 50_000
REPEATS = 5
IDS = 5
BAD = 100
"""One of so many rows is cut short where bad rows are measured."""


def run() -> list[Row]:
    """The rows of the table."""
    with connect("memory:") as registry:
        registry.ask(SetConfig(Scope(), Config(level="NONE")))
        return [*_avro(registry, 1), *_avro(registry, IDS), *_json(registry)]


def _avro(registry: Registry, ids: int) -> list[Row]:
    texts = [schema(version + 1) for version in range(ids)]
    subject = f"arrow-{ids}-value"
    frames = _frames(put(registry, subject, "AVRO", texts), avro_of(texts))
    plan = make_plan(registry, subject, engine="fastavro")
    parsed = {writer.schema_id: fastavro.parse_schema(json.loads(writer.text)) for writer in plan.writers}
    reader = fastavro.parse_schema(json.loads(plan.reader)) if ids > 1 else None

    def loop() -> pa.Array:
        rows = [
            fastavro.schemaless_reader(io.BytesIO(frame[5:]), parsed[int.from_bytes(frame[1:5], "big")], reader)
            for frame in frames
        ]
        return pa.array(rows, kind_of(plan))

    values = pa.array(frames, pa.binary())
    costs = _measured({"loop": loop, "ours": lambda: decode(values, plan)})
    what = "1 id" if ids == 1 else f"{ids} mixed ids"
    return [
        against(
            f"Avro to Arrow, {what}, error column included", costs["ours"], costs["loop"], unit="µs CPU/row", goal=1.0
        )
    ]


def _json(registry: Registry) -> list[Row]:
    texts = [document(version) for version in range(IDS)]
    frames = _frames(put(registry, "arrow-json-value", "JSON", texts), documents_of(texts))
    plan = make_plan(registry, "arrow-json-value", reader="union")
    checked = make_plan(registry, "arrow-json-value", reader="union", validate=True)
    values = pa.array(frames, pa.binary())
    damaged = pa.array([frame if at % BAD else frame[:-1] for at, frame in enumerate(frames)], pa.binary())
    costs = _measured({
        "loop": lambda: pa.array([json.loads(frame[5:]) for frame in frames], kind_of(plan)),
        "": lambda: decode(values, plan),
        ", validated": lambda: decode(values, checked),
        f", {1 / BAD:.0%} bad rows": lambda: decode(damaged, plan),
    })  # fmt: skip
    return [
        against(
            f"JSON to Arrow, {IDS} mixed ids{what}, error column included", costs[what], costs["loop"], unit="µs CPU/row",
            goal=None if what else 1.0,
        )
        for what in costs
        if what != "loop"
    ]  # fmt: skip


def _frames(ids: Sequence[int], encode: Callable[[int, int], bytes]) -> list[bytes]:
    places = (at % len(ids) for at in range(ROWS))
    return [b"\0" + ids[place].to_bytes(4, "big") + encode(place, place) for place in places]


def _measured(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The least microseconds of CPU per row of each, taken in turns; the first turn warms up."""
    costs: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(REPEATS + 1):
        for name, work in works.items():
            before = time.process_time()
            work()
            if turn:
                costs[name].append((time.process_time() - before) / ROWS * 1e6)
    return {name: min(spent) for name, spent in costs.items()}
