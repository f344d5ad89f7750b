"""Decode frames of two schema versions, and some damaged ones, into one table.

    python examples/spark_batch.py

A good row has the columns of both versions. A bad row has an error code and a message; it does not fail the job.
"""

import treaty
from treaty import AvroSerializer
from treaty.spark import decode, explain, make_plan, session

V1 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"},
  {"name": "who", "type": "string"}]}"""
V2 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"},
  {"name": "who", "type": "string"},
  {"name": "note", "type": "string", "default": ""}]}"""

DAMAGED = [
    b"\0\0\0\0\x01" + b"\x02\x06an",  # schema id 1, then a record whose text has two of its three letters
    b"\0\0\0\0\x01" + b"\x02\x06ann!",  # a byte after the end of the record
    b"hello",  # no frame: the first byte is not 0
]


def main() -> None:
    """Write frames, make a plan, decode."""
    with treaty.connect("memory:") as registry, session() as spark:
        # 1. A producer writes an order under each version. The serializers register the versions of orders-value.
        first = AvroSerializer(registry, V1)({"id": 1, "who": "ann"}, "orders").data
        second = AvroSerializer(registry, V2)({"id": 2**40, "who": "bob", "note": "gift"}, "orders").data
        values = [first, second, *DAMAGED, None]
        frames = spark.createDataFrame([(value,) for value in values], "value BINARY")

        # 2. The plan says how each version becomes a row with the columns of all versions.
        plan = make_plan(registry, "orders-value", reader="union")
        print(explain(plan, spark))

        # 3. decode() adds the columns record and error. A null value has neither.
        decode(frames, plan).select("record", "error.code", "error.message").show(truncate=False)


if __name__ == "__main__":
    main()
