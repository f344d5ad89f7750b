"""Decoding 1, 5 and 50 mixed ids in Spark, against Spark's own `from_avro` of the same records in one schema."""

import io
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from benchmarks.row import Row, against
from treaty.assemble import connect
from treaty.core.answers import Config
from treaty.core.names import subject_of
from treaty.core.registry import Registry
from treaty.core.requests import Register, Scope, SetConfig
from treaty.core.schema import Draft
from treaty.spark import decode, make_plan, session

ROWS = 2_000_000
FILES = 2
COPIES = 10
"""Encoding in Python is slow, and planning a job costs a fixed part of a second: each file is linked this many times."""
REPEATS = 3
COUNTS = (1, 5, 50)
SUBJECT = "orders-value"


def schema(version: int) -> str:
    """Version n of an order of a dozen fields; every fifth one adds a field, so that each writer is resolved."""
    item = {
        "type": "record",
        "name": "Item",
        "fields": [
            {"name": "sku", "type": "string"},
            {"name": "quantity", "type": "long" if version >= 3 else "int"},
            {"name": "price", "type": "double"},
        ],
    }
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "string"},
        {"name": "customer", "type": "long"},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID", "SENT"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "channel", "type": "string"},
        {"name": "coupon", "type": ["null", "string"], "default": None},
        {"name": "score", "type": ["null", "double"], "default": None},
        {"name": "gift", "type": "boolean"},
        {"name": "items", "type": {"type": "array", "items": item}},
    ]
    fields += [{"name": f"extra_{n}", "type": "string", "default": "x"} for n in range(version // 25 + (version >= 2))]
    return json.dumps(
        {"type": "record", "name": "Order", "namespace": "shop", "doc": f"version {version}", "fields": fields}
    )


def record(dice: random.Random, version: int) -> dict[str, Any]:
    """An order of about 160 bytes."""
    made = {
        "id": f"{dice.getrandbits(128):032x}",
        "customer": dice.randrange(10**9),
        "state": dice.choice(["NEW", "PAID", "SENT"]),
        "at": 1_700_000_000_000_000 + dice.randrange(10**12),
        "day": dice.randrange(20_000),
        "total": dice.randrange(10**9).to_bytes(5, "big"),
        "channel": dice.choice(["web", "app", "shop"]),
        "coupon": dice.choice([None, "SUMMER"]),
        "score": dice.choice([None, 0.75]),
        "gift": dice.random() < 0.5,
        "items": [
            {"sku": f"{dice.randrange(10**8):08d}", "quantity": dice.randrange(9), "price": dice.random()}
            for _ in range(dice.randrange(5))
        ],
    }
    return made | {f"extra_{n}": "some" for n in range(version // 25 + (version >= 2))}


def write(folder: Path, ids: list[int], texts: list[str], *, alone: bool) -> None:
    """Frames of mixed ids, row by row; or (`alone`) the same records all in the last schema."""
    dice, mix = random.Random(1), random.Random(2)
    encoders = [fastavro.parse_schema(json.loads(text)) for text in texts]
    folder.mkdir(parents=True)
    for file in range(FILES):
        values = []
        for _ in range(ROWS // FILES // COPIES):
            place = mix.randrange(len(ids))
            row = record(dice, place + 1)
            used = len(ids) - 1 if alone else place
            out = io.BytesIO()
            out.write(b"\0" + ids[used].to_bytes(4, "big"))
            full = row if used == place else {**{f"extra_{n}": "x" for n in range(10)}, **row}
            fastavro.schemaless_writer(out, encoders[used], full)
            values.append(out.getvalue())
        target = folder / f"{file}.parquet"
        pq.write_table(pa.table({"value": pa.array(values, pa.binary())}), target, compression="none")
        for copy in range(1, COPIES):
            (folder / f"{file}-{copy}.parquet").hardlink_to(target)


def busy() -> float:
    """CPU seconds of this process and all below it, the ended ones included."""
    ticks, parents = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat[1])
            ticks[int(entry.name)] = sum(map(int, stat[11:15]))
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(ticks.get(pid, 0) for pid in mine) / os.sysconf("SC_CLK_TCK")


def cost(work: Callable[[], DataFrame]) -> float:
    """Microseconds of CPU per row of one run into nowhere."""
    before = busy()
    work().write.format("noop").mode("overwrite").save()
    return (busy() - before) / ROWS * 1e6


def measured(works: dict[str, Callable[[], DataFrame]]) -> dict[str, float]:
    """The least cost of each, taken in turns so that all meet the same machine; two turns go by to warm up."""
    costs: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(REPEATS + 2):
        for name, work in works.items():
            found = cost(work)
            if turn >= 2:
                costs[name].append(found)
    return {name: min(found) for name, found in costs.items()}


def run() -> list[Row]:
    """The rows of the table."""
    spark = session("treaty benchmark", master="local[2]", memory="3g")
    with tempfile.TemporaryDirectory() as folder, connect("memory:") as registry:
        rows = [one for count in COUNTS for one in compared(spark, registry, Path(folder), count)]
    spark.stop()
    return rows


def compared(spark: SparkSession, registry: Registry, folder: Path, count: int) -> Iterator[Row]:
    """Decoding `count` mixed ids beside the baseline."""
    subject = f"{SUBJECT}-{count}"
    registry.ask(SetConfig(Scope(), Config(level="NONE")))
    texts = [schema(version + 1) for version in range(count)]
    ids = [registry.ask(Register(subject_of(subject), Draft(text))).answer.version.schema_id for text in texts]
    mixed, alone = folder / f"mixed-{count}", folder / f"alone-{count}"
    write(mixed, ids, texts, alone=False)
    write(alone, ids, texts, alone=True)
    plan = make_plan(registry, subject)
    options = {"mode": "PERMISSIVE"}

    def ours() -> DataFrame:
        return decode(spark.read.parquet(str(mixed)), plan).select("record", "error")

    def theirs() -> DataFrame:
        payload = F.substring("value", 6, 1 << 30)
        return spark.read.parquet(str(alone)).select(from_avro(payload, plan.reader, options))

    found = measured({"ours": ours, "theirs": theirs})
    goal = 1.1 if count == 1 else 1.35
    word = "id" if count == 1 else "mixed ids"
    yield against(
        f"Spark decode, {count} {word}, error column included",
        found["ours"],
        found["theirs"],
        unit="µs CPU/row",
        goal=goal,
    )


if __name__ == "__main__":
    for line in run():
        print(line)
