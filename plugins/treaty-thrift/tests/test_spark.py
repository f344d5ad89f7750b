"""Thrift on Spark: workers read rows of two versions as one table, and bad rows have their code."""

import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from treaty.assemble import connect
from treaty.client.serializers.payloads import PayloadSerializer
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan
from treaty.spark import decode, explain

# Spark's bridge leaves its sockets to the garbage collector.
pytestmark = [pytest.mark.jvm, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

SOURCES = Path(__file__).parents[1] / "src"
HEAD = "enum Kind {{ NEW, OLD }} struct Line {{ 1: required string sku, 2: optional i32 count }} struct Order {{ {} }}"
OLD = HEAD.format("1: required i64 id, 2: optional list<Line> lines, 3: optional map<string, double> taxes")
NEW = OLD.replace(" taxes }", " taxes, 4: optional Kind kind = Kind.NEW }")


def pack(folder: Path, plugin: Path) -> str:
    """The plug-in as one ZIP file, as `sc.addPyFile` gives it to workers."""
    path = folder / "treaty_thrift.zip"
    with zipfile.ZipFile(path, "w") as file:
        for root in (SOURCES, plugin):
            for one in sorted(root.rglob("*")):
                if one.is_file() and one.suffix != ".pyc":
                    file.write(one, one.relative_to(root))
    return str(path)


def test_workers_read_both_protocols_of_two_versions(spark: SparkSession, plugin: Path, tmp_path: Path) -> None:
    spark.sparkContext.addPyFile(pack(tmp_path, plugin))
    with connect("memory:") as registry:
        for encoding in ("binary", "compact"):
            old = PayloadSerializer(registry, Draft(OLD, "THRIFT"), encoding=encoding)
            new = PayloadSerializer(registry, Draft(NEW, "THRIFT"), encoding=encoding)
            values = [
                old({"id": 1, "lines": [{"sku": "a", "count": 2}, {"sku": "b"}], "taxes": {"x": 0.5}}, "orders").data,
                new({"id": 2, "kind": "OLD"}, "orders").data,
            ]
            assert values[0] is not None
            values += [values[0][:-1], values[0] + b"x", b"\0\0\0\0\x63", None]
            path = tmp_path / f"{encoding}.parquet"
            numbers = pa.array(range(len(values)), pa.int64())
            pq.write_table(pa.table({"at": numbers, "value": pa.array(values, pa.binary())}), path)
            plan = make_plan(registry, "orders-value", encoding=encoding)
            found = decode(spark.read.parquet(str(path)), plan).orderBy("at").collect()

            rows = [row.asDict(recursive=True) for row in found]
            assert [row["record"] for row in rows[:2]] == [
                {
                    "id": 1,
                    "lines": [{"sku": "a", "count": 2}, {"sku": "b", "count": None}],
                    "taxes": {"x": 0.5},
                    "kind": "NEW",
                },
                {"id": 2, "lines": None, "taxes": None, "kind": "OLD"},
            ]
            assert [row["error"] and row["error"]["code"] for row in rows[2:]] == [
                "MALFORMED", "TRAILING", "UNKNOWN_ID", None,
            ]  # fmt: skip
            assert f"  encoding {encoding}" in explain(plan, spark)
