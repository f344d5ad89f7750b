"""Thrift on Spark: workers read rows of two versions as one table, and bad rows have their code."""

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.assemble import connect
from treaty.client.serializers.payloads import PayloadDeserializer, PayloadSerializer
from treaty.core.schema import Draft
from treaty.plan.decode_plans import make_plan
from treaty.plan.encoding.options import EncodeOptions
from treaty.spark import decode, explain, register_functions, to_registry
from treaty.spark.datasource.options import read_options
from treaty.spark.pipelines.planner import make_planner
from treaty.spark.pipelines.route import TopicRoute
from treaty.spark.pipelines.value import Pipeline

# Spark's bridge leaves its sockets to the garbage collector.
pytestmark = [pytest.mark.jvm, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

SOURCES = Path(__file__).parents[1] / "src"
HEAD = "enum Kind {{ NEW, OLD }} struct Line {{ 1: required string sku, 2: optional i32 count }} struct Order {{ {} }}"
OLD = HEAD.format("1: required i64 id, 2: optional list<Line> lines, 3: optional map<string, double> taxes")
NEW = OLD.replace(" taxes }", " taxes, 4: optional Kind kind = Kind.NEW }")


def pack(folder: Path, plugin: Path) -> str:
    """The plug-in as one ZIP file, as `sc.addPyFile` gives it to workers; a session takes each name once."""
    path = folder / f"{folder.name}.zip"
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


ITEM = "struct Key { 1: optional i8 k } struct Item { 1: required string sku, 2: optional map<Key, i32> sizes }"


def test_rows_are_encoded_and_read_back_several_types_are_told_apart_and_sql_has_functions(
    spark: SparkSession, plugin: Path, tmp_path: Path
) -> None:
    spark.sparkContext.addPyFile(pack(tmp_path, plugin))
    with connect("memory:") as registry:
        registry.register("shop-order", Draft(NEW, "THRIFT"))
        registry.register("shop-item", Draft(ITEM, "THRIFT"))
        options = EncodeOptions(encoding="compact")
        rows = spark.sql(
            "SELECT 1 AS id, array(named_struct('count', 2, 'sku', 'a')) AS lines, map('x', 0.5D) AS taxes, 'OLD' AS kind "
            "UNION ALL SELECT 2, null, null, null UNION ALL SELECT 3, null, null, 'NONE'"
        ).coalesce(1)
        orders = to_registry(rows, registry, "shop-order", options).collect()
        expected = {"id": 1, "lines": [{"sku": "a", "count": 2}], "taxes": {"x": 0.5}, "kind": "OLD"}
        read = PayloadDeserializer(registry, "THRIFT", encoding="compact")
        assert read(bytes(orders[0]["value"]), "", "value") == expected
        assert orders[2]["value"] is None
        assert orders[2]["error"]["message"].startswith("at /kind: 'NONE' is no symbol")
        items = spark.sql("SELECT 'b' AS sku, array(named_struct('key', named_struct('k', 1), 'value', 300)) AS sizes")
        sent = [
            *(one["value"] for one in orders[:2]),
            *(one["value"] for one in to_registry(items, registry, "shop-item", options).collect()),
        ]

        frame = spark.createDataFrame([(at, bytes(one)) for at, one in enumerate(sent)], "at INT, value BINARY")
        mixed = make_plan(registry, "shop-*", reader="types", encoding="compact")
        found = [row["record"].asDict(recursive=True) for row in decode(frame, mixed).orderBy("at").collect()]
        item = {"sku": "b", "sizes": [{"key": {"k": 1}, "value": 300}]}
        assert found[0] == {"record_type": "Order", "Order": expected, "Item": None}
        assert found[1]["Order"] == {"id": 2, "lines": None, "taxes": None, "kind": "NEW"}
        assert found[2] == {"record_type": "Item", "Order": None, "Item": item}
        variant = make_plan(registry, "shop-*", reader="variant", encoding="compact")
        told = decode(frame, variant).orderBy("at").select("record.record_type", F.to_json("record.record")).collect()
        assert (told[2][0], json.loads(told[2][1])) == ("Item", item)

        pipeline = Pipeline("shop-order", "good", "bad", "checkpoint", encoding="compact")
        planned = make_planner(TopicRoute(pipeline), registry, spark).plan()
        assert planned == make_plan(registry, "shop-order", reader="union", encoding="compact", case_sensitive=False)
        given = {"registry": "http://localhost:9", "path": "x", "subject": "shop-order", "encoding": "compact"}
        assert read_options(given).choices == {"encoding": "compact"}

        subjects = {"order": "shop-order"}
        assert register_functions(spark, registry, subjects, encoding="compact") == ("frame_id", "decode_order")
        frame.createOrReplaceTempView("frames")
        asked = spark.sql(
            "SELECT decode_order(value).record.lines[0].sku, decode_order(value).error.code FROM frames ORDER BY at"
        )
        assert [tuple(row) for row in asked.collect()] == [("a", None), (None, None), (None, "UNKNOWN_ID")]
