"""Orders and payments in one topic: a column for each type, or all their columns side by side."""

import treaty
from treaty import AvroSerializer, SerializerSettings
from treaty.client.serializers.subject_names import topic_record_name
from treaty.spark import from_registry, session

ORDER = '{"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "long"}, {"name": "who", "type": "string"}]}'
PAY = '{"type": "record", "name": "Pay", "namespace": "shop", "fields": [{"name": "id", "type": "long"}, {"name": "cents", "type": "int"}]}'


def main() -> None:
    """Decode both ways."""
    with treaty.connect("memory:") as registry, session() as spark:
        settings = SerializerSettings(name_strategy=topic_record_name)
        order = AvroSerializer(registry, ORDER, settings)({"id": 1, "who": "ann"}, "shop").data
        pay = AvroSerializer(registry, PAY, settings)({"id": 1, "cents": 950}, "shop").data
        frames = spark.createDataFrame([(order,), (pay,)], "value BINARY")
        for reader in ("types", "wide"):
            from_registry(frames, registry, "shop-*", reader=reader, flatten=True).drop("value", "error").show()


if __name__ == "__main__":
    main()
