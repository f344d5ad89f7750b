"""Bad rows that come back: a producer was ahead of the registry; once its schema is there, its rows move into the table."""

import sys
from pathlib import Path

import treaty
from treaty import AvroSerializer
from treaty.spark import Pipeline, replay, session, start

V1 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}'
V2 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}, {"name": "note", "type": "string", "default": ""}]}'


def main(folder: Path) -> None:
    """Stream a frame of an id that nobody registered, register it, and replay."""
    log = f"sqlite://{folder.resolve()}/registry.db"
    with treaty.connect(log) as registry, session() as spark:
        good = AvroSerializer(registry, V1)({"id": 1}, "orders").data or b""
        ahead = b"\0\0\0\0\x02" + b"\x04" + b"\x08gift"  # id 2, which the next version will get
        spark.createDataFrame([(good,), (ahead,)], "value BINARY").write.mode("overwrite").parquet(f"{folder}/events")
        events = spark.readStream.schema("value BINARY").parquet(f"{folder}/events")
        orders = Pipeline("orders-value", f"{folder}/good", f"{folder}/bad", f"{folder}/checkpoint")
        start(orders, events, registry, available=True).awaitTermination()
        spark.read.format("delta").load(f"{folder}/bad").select("code", "message").show(truncate=False)

        registry.register("orders-value", V2)
        found = replay(orders, registry, spark)
        print(f"{found.passed} of {found.rows} bad rows are good now")
        spark.read.format("delta").load(f"{folder}/good").orderBy("id").show()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
