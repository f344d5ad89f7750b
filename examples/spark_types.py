"""Decode a topic with records of several types.

    python examples/spark_types.py

Orders and payments are in one topic, each under a subject of its own: shop-shop.Order and shop-shop.Pay.
"""

import treaty
from treaty import AvroSerializer, SerializerSettings
from treaty.client.serializers.subject_names import topic_record_name
from treaty.spark import from_registry, session

ORDER = """{"type": "record", "name": "Order", "namespace": "shop", "fields": [
  {"name": "id", "type": "long"},
  {"name": "who", "type": "string"}]}"""
PAY = """{"type": "record", "name": "Pay", "namespace": "shop", "fields": [
  {"name": "id", "type": "long"},
  {"name": "cents", "type": "int"}]}"""


def main() -> None:
    """Write a record of each type, and decode them in two ways."""
    with treaty.connect("memory:") as registry, session() as spark:
        # 1. With this strategy the subject is the topic's name and the record's: TOPIC-NAMESPACE.NAME.
        settings = SerializerSettings(name_strategy=topic_record_name)
        order = AvroSerializer(registry, ORDER, settings)({"id": 1, "who": "ann"}, "shop").data
        pay = AvroSerializer(registry, PAY, settings)({"id": 1, "cents": 950}, "shop").data
        frames = spark.createDataFrame([(order,), (pay,)], "value BINARY")

        # 2. reader="types": a column for each type. reader="wide": the columns of all types side by side.
        for reader in ("types", "wide"):
            from_registry(frames, registry, "shop-*", reader=reader, flatten=True).drop("value", "error").show()


if __name__ == "__main__":
    main()
