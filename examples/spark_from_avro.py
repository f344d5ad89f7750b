"""From the recipe that cuts five bytes off to one column that knows every version, in the signature of Databricks' function."""

from pyspark.sql import functions as F

import treaty
from treaty import AvroSerializer
from treaty.spark import from_avro, session, to_avro

V1 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}'
V2 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": ""}]}'


def main() -> None:
    """Decode frames of two versions and a damaged one, which becomes null; write them all under the latest version."""
    with treaty.connect("memory:") as registry, session() as spark:
        old = AvroSerializer(registry, V1)({"id": 1}, "orders").data
        new = AvroSerializer(registry, V2)({"id": 2**40, "note": "gift"}, "orders").data
        frames = spark.createDataFrame([(old,), (new,), (b"\0broken",)], "value BINARY")
        # before: from_avro(F.expr("substring(value, 6)"), V2), which reads rows of V1 as if they were of V2
        order = from_avro("value", subject="orders-value", registry=registry, options={"mode": "PERMISSIVE"})
        orders = frames.select(order.alias("order"))
        orders.select("order.*").show()
        orders.select(to_avro("order", F.lit("orders-value"), registry).alias("value")).show()


if __name__ == "__main__":
    main()
