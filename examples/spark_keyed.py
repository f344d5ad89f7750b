"""Keep a table as its database has it, from Debezium's change events.

    python examples/spark_keyed.py [FOLDER]

The table has one row per key. An event that is older than the row changes nothing, and neither does an event that comes twice.
"""

import json
import sys
from pathlib import Path
from typing import Any

import treaty
from treaty import JsonSerializer
from treaty.spark import DEBEZIUM, KeyedTableOptions, Pipeline, session, start

ROW = {"type": ["object", "null"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
EVENT = {
    "type": "object",
    "properties": {"before": ROW, "after": ROW, "op": {"type": "string"}, "rev": {"type": "integer"}},
}


def change(op: str, rev: int, before: Any, after: Any) -> dict[str, Any]:
    """A change event as a connector writes it: c creates, u updates, d deletes; rev counts the changes."""
    return {"op": op, "rev": rev, "before": before, "after": after}


def main(folder: Path) -> None:
    """Write change events, and stream them into a table."""
    # 1. Two rows are inserted, the first is renamed, the second deleted. The last event is late: it was made before the rename.
    ann, bob, anne = {"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}, {"id": 1, "name": "anne"}
    events = [
        change("c", 1, None, ann),
        change("c", 2, None, bob),
        change("u", 4, ann, anne),
        change("d", 5, bob, None),
        change("u", 3, ann, ann),
    ]
    with treaty.connect("memory:") as registry, session() as spark:
        # 2. Files take the place of a topic here; spark.readStream.format("kafka") has the same columns.
        write = JsonSerializer(registry, json.dumps(EVENT))
        rows = [(offset, write(event, "people").data) for offset, event in enumerate(events)]
        spark.createDataFrame(rows, "offset LONG, value BINARY").write.mode("overwrite").parquet(f"{folder}/events")
        stream = spark.readStream.schema("offset LONG, value BINARY").parquet(f"{folder}/events")

        # 3. The key of a row is its id; of two events of a key, the one with the higher rev is newer.
        people = Pipeline(
            "people-value",
            f"{folder}/people",
            f"{folder}/people_bad",
            f"{folder}/checkpoint",
            keyed=KeyedTableOptions(("id",), version="rev", envelope=DEBEZIUM),
        )
        start(people, stream, registry, available=True).awaitTermination()

        # 4. One row is left: anne.
        spark.read.format("delta").load(f"{folder}/people").select("id", "name").show()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
