"""Two versions of a schema in one column, decoded into one table shape; what is damaged comes out with its reason."""

import treaty
from treaty import AvroSerializer
from treaty.spark import decode, explain, make_plan, session

V1 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}, {"name": "who", "type": "string"}]}'
V2 = V1.replace('"int"', '"long"').replace(
    '"who", "type": "string"}', '"who", "type": "string"}, {"name": "note", "type": "string", "default": ""}'
)


def main() -> None:
    """Decode a handful of frames."""
    with treaty.connect("memory:") as registry, session() as spark:
        old, new = AvroSerializer(registry, V1), AvroSerializer(registry, V2)
        first = old({"id": 1, "who": "ann"}, "orders").data or b""
        second = new({"id": 2**40, "who": "bob", "note": "gift"}, "orders").data or b""
        values = [first, second, first[:-1], second + b"!", b"hello", None]
        frames = spark.createDataFrame([(one,) for one in values], "value BINARY")

        plan = make_plan(registry, "orders-value", reader="union")
        print(explain(plan, spark))
        decode(frames, plan).select("record", "error.code", "error.message").show(truncate=False)


if __name__ == "__main__":
    main()
