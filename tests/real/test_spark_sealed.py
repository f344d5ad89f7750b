"""Payloads with some bytes more or less than a record has: Spark reads most without an envelope, and refuses the same as Arrow."""

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.frames import frame, record
from treaty import arrow
from treaty.core.names import DEFAULT_CONTEXT
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.merge import merge
from treaty.plan.avro.planner import compose
from treaty.plan.registered_schema import RegisteredSchema
from treaty.spark import DecodePlan, Names, decode

pytestmark = pytest.mark.jvm

ODD = [0, 1, 2, 0x3F, 0x40, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF]
"""Bytes that begin, continue or end a varint, or are the number of a type in a union."""
SEALED: dict[str, tuple[tuple[Any, ...], ...]] = {
    "a text is last": (("sure", "long"), ("may", ["null", "string"], None)),
    "a number is last": (("may", ["null", "string"], None), ("sure", "long")),
    "a list is last": (("may", ["null", "double"], None), ("sure", {"type": "array", "items": "string"})),
    "all may be null": (("may", ["null", "string"], None), ("too", ["null", "long"], None)),
    "the first that is never null is a record": (
        ("may", ["null", "string"], None),
        ("sure", {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": ["null", "string"]}]}),
    ),
}
"""Fields of records: those with a field that is never null are read without an envelope."""


def planned(*texts: str) -> DecodePlan:
    schemas = [parse_avro(one) for one in texts]
    known = [RegisteredSchema(place + 1, DEFAULT_CONTEXT, place + 1, "AVRO", one) for place, one in enumerate(schemas)]
    return compose(known, merge(schemas))


def stored(folder: Path, columns: list[list[bytes | None]], spark: SparkSession) -> DataFrame:
    """A frame with a column for each list, and the places of rows."""
    values = {f"v{at}": pa.array(one, pa.binary()) for at, one in enumerate(columns)}
    pq.write_table(pa.table({"at": range(len(columns[0])), **values}), folder / "rows.parquet")
    return spark.read.parquet(str(folder / "rows.parquet"))


def test_a_payload_with_any_bytes_more_or_less_is_no_record(spark: SparkSession, tmp_path: Path) -> None:
    """Bytes that are behind a record or missing, above all those that a varint of what stands behind the payload may swallow."""
    texts = {"may": "text", "too": 7, "sure": 300}
    sure: dict[str, Any] = {"a list is last": ["a", "b"], "the first that is never null is a record": {"x": "y"}}
    cases = []
    for name, fields in SEALED.items():
        writer = record(*fields)
        values = {**texts, "sure": sure.get(name, 300)}
        row: dict[str, Any] = {field[0]: values[field[0]] for field in fields}
        row |= {"may": 1.5} if name == "a list is last" else {}
        whole = frame(1, writer, row)
        more = [bytes(one) for size in (1, 2) for one in itertools.product(ODD, repeat=size)]
        more += [bytes([one] * 3) + bytes([last]) for one in (0x80, 0xFF) for last in (0, 1, 0x7F)]
        frames = [whole, *(whole + one for one in more), *(whole[:end] for end in range(5, len(whole)))]
        frames += [frame(1, writer, {**row, "may": None}) for _ in range("may" in row)]
        wider = record(*fields, ("late", ["null", "long"], None))
        cases += [(planned(*some), frames) for some in ((writer,), (writer, wider))]
    most = max(len(frames) for _, frames in cases)
    source = stored(tmp_path, [[*frames, *[None] * (most - len(frames))] for _, frames in cases], spark)
    for at, (plan, _) in enumerate(cases):
        source = decode(source, plan, column=f"v{at}", names=Names(f"r{at}", f"e{at}"))
    theirs = source.toArrow().sort_by("at")
    for at, (plan, frames) in enumerate(cases):
        ours = arrow.decode(pa.array(frames, pa.binary()), plan)
        for part in ("record", "error"):
            wrong = [
                (value[5:].hex(), left, right)
                for left, right, value in zip(
                    ours[part].to_pylist(), theirs[f"{part[0]}{at}"].to_pylist(), frames, strict=False
                )
                if left != right
            ]
            assert wrong == [], f"{plan.reader}: {wrong[:3]}"
        assert len(frames) - ours["record"].null_count == 2, "the whole payload, and the one with a null"
