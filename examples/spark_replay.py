"""Move bad rows into the table once they can be decoded.

    python examples/spark_replay.py [FOLDER]

A producer writes with a schema that is not in the registry yet, so its row is bad: UNKNOWN_ID. When the schema is registered,
replay() decodes the stored bytes again.
"""

import sys
from pathlib import Path

import treaty
from treaty import AvroSerializer
from treaty.spark import Pipeline, replay, session, start

V1 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"}]}"""
V2 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"},
  {"name": "note", "type": "string", "default": ""}]}"""

EARLY = b"\0\0\0\0\x02" + b"\x04" + b"\x08gift"
"""A frame with the id that V2 will get: a zero, id 2, the int 2, and a text of four letters."""


def main(folder: Path) -> None:
    """Stream a good and an early frame, register the schema of the early one, and replay."""
    with treaty.connect(f"sqlite://{folder.resolve()}/registry.db") as registry, session() as spark:
        # 1. Files take the place of a topic.
        good = AvroSerializer(registry, V1)({"id": 1}, "orders").data
        spark.createDataFrame([(good,), (EARLY,)], "value BINARY").write.mode("overwrite").parquet(f"{folder}/events")
        events = spark.readStream.schema("value BINARY").parquet(f"{folder}/events")

        # 2. The stream writes one row to each of its two tables.
        orders = Pipeline("orders-value", f"{folder}/good", f"{folder}/bad", f"{folder}/checkpoint")
        start(orders, events, registry, available=True).awaitTermination()
        spark.read.format("delta").load(f"{folder}/bad").select("code", "message").show(truncate=False)

        # 3. The schema arrives, and the bad row moves into the table of good rows.
        registry.register("orders-value", V2)
        result = replay(orders, registry, spark)
        print(f"{result.passed} of {result.rows} bad rows are good now")
        spark.read.format("delta").load(f"{folder}/good").orderBy("id").show()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
