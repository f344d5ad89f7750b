"""Decode with from_avro in the signature of Databricks' function.

    python examples/spark_from_avro.py

Spark's own from_avro needs the header cut off and one schema for all rows. This one reads the id of each frame, and decodes
each row with the schema that it was written with.
"""

from pyspark.sql import functions as F

import treaty
from treaty import AvroSerializer
from treaty.spark import from_avro, session, to_avro

V1 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"}]}"""
V2 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"},
  {"name": "note", "type": "string", "default": ""}]}"""


def main() -> None:
    """Decode a column, and encode it again."""
    with treaty.connect("memory:") as registry, session() as spark:
        # 1. Frames of two versions, and bytes that are none.
        old = AvroSerializer(registry, V1)({"id": 1}, "orders").data
        new = AvroSerializer(registry, V2)({"id": 2**40, "note": "gift"}, "orders").data
        frames = spark.createDataFrame([(old,), (new,), (b"\0broken",)], "value BINARY")

        # 2. Before: from_avro(F.expr("substring(value, 6)"), V2), which reads rows of V1 as if they were of V2.
        #    PERMISSIVE: bytes that cannot be decoded become null. FAILFAST, the default, fails the job.
        order = from_avro("value", subject="orders-value", registry=registry, options={"mode": "PERMISSIVE"})
        orders = frames.select(order.alias("order"))
        orders.select("order.*").show()

        # 3. And back, under the latest version of the subject.
        orders.select(to_avro("order", F.lit("orders-value"), registry).alias("value")).show()


if __name__ == "__main__":
    main()
