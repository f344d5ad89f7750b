"""Stream frames into two Delta tables that grow with the schema.

    python examples/spark_stream.py [FOLDER]

Good rows go to one table, bad rows to the other. Run it again in the same folder, after a crash too: the stream continues, and
every row is in one table, once.
"""

import sys
from pathlib import Path

import treaty
from treaty import AvroSerializer
from treaty.spark import BatchEvent, Pipeline, session, start

V1 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"}]}"""
V2 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"},
  {"name": "note", "type": "string", "default": ""}]}"""


def print_step(step: BatchEvent) -> None:
    """Print what the stream has just done: "good" when the good rows of a batch are committed, "bad" when the bad ones are."""
    print(f"batch {step.batch}: {step.name}")


def main(folder: Path) -> None:
    """Stream an order of version 1, then one of version 2."""
    with treaty.connect(f"sqlite://{folder.resolve()}/registry.db") as registry, session() as spark:
        orders = Pipeline("orders-value", f"{folder}/good", f"{folder}/bad", f"{folder}/checkpoint")
        for number, (schema, record) in enumerate([(V1, {"id": 1}), (V2, {"id": 2**40, "note": "gift"})]):
            # 1. A producer writes an order, and the same once more without its last byte. Files take the place of a topic.
            frame = AvroSerializer(registry, schema)(record, "orders").data or b""
            rows = spark.createDataFrame([(frame,), (frame[:-1],)], "value BINARY")
            rows.coalesce(1).write.mode("overwrite").parquet(f"{folder}/events/part={number}")

            # 2. The stream reads what is new and stops: available=True. It finds the id of version 2 by itself.
            events = spark.readStream.schema("value BINARY").parquet(f"{folder}/events")
            start(orders, events, registry, on_event=print_step, available=True).awaitTermination()

        # 3. The table of good rows has the column of version 2. The other one has a code for each bad row.
        spark.read.format("delta").load(f"{folder}/good").orderBy("id").show()
        spark.read.format("delta").load(f"{folder}/bad").select("code", "schema_id").orderBy("schema_id").show()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
