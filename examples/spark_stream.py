"""A stream of frames into two Delta tables that grow with the schema, while it runs: python spark_stream.py [FOLDER].

Run it again in the same folder, after a crash too: every row is in one table, once.
"""

import sys
from pathlib import Path

import treaty
from treaty import AvroSerializer
from treaty.spark import BatchEvent, Pipeline, session, start

V1 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}'
V2 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": ""}]}'


def tell(step: BatchEvent) -> None:
    """Say what a batch has just done."""
    print(f"batch {step.batch}: {step.name}")


def main(folder: Path) -> None:
    """Write two batches of frames, each under a newer version, and stream each into the tables."""
    with treaty.connect(f"sqlite://{folder.resolve()}/registry.db") as registry, session() as spark:
        orders = Pipeline("orders-value", f"{folder}/good", f"{folder}/bad", f"{folder}/checkpoint")
        for number, (schema, record) in enumerate([(V1, {"id": 1}), (V2, {"id": 2**40, "note": "gift"})]):
            frame = AvroSerializer(registry, schema)(record, "orders").data or b""
            rows = spark.createDataFrame([(frame,), (frame[:-1],)], "value BINARY")
            rows.coalesce(1).write.mode("overwrite").parquet(f"{folder}/events/part={number}")
            events = spark.readStream.schema("value BINARY").parquet(f"{folder}/events")
            start(orders, events, registry, on_event=tell, available=True).awaitTermination()
        spark.read.format("delta").load(f"{folder}/good").orderBy("id").show()
        spark.read.format("delta").load(f"{folder}/bad").select("code", "schema_id").orderBy("schema_id").show()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
