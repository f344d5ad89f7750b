"""One row per key: Debezium's change events become a table as the database has it; late events and replays change nothing."""

import json
import sys
from pathlib import Path
from typing import Any

import treaty
from treaty import JsonSerializer
from treaty.spark import DEBEZIUM, KeyedTableOptions, Pipeline, session, start

ROW = {"type": ["object", "null"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
EVENT = json.dumps(
    {
        "type": "object",
        "properties": {"before": ROW, "after": ROW, "op": {"type": "string"}, "rev": {"type": "integer"}},
    }
)


def change(op: str, rev: int, before: Any, after: Any) -> dict[str, Any]:
    """A change event as a connector writes it."""
    return {"op": op, "rev": rev, "before": before, "after": after}


def main(folder: Path) -> None:
    """Insert two rows, rename one, delete the other; the rename's predecessor comes late."""
    ann, bob, anne = {"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}, {"id": 1, "name": "anne"}
    events = [
        change("c", 1, None, ann),
        change("c", 2, None, bob),
        change("u", 4, ann, anne),
        change("d", 5, bob, None),
        change("u", 3, ann, ann),  # late: revision 4 has been seen
    ]
    with treaty.connect("memory:") as registry, session() as spark:
        write = JsonSerializer(registry, EVENT)
        rows = [(offset, write(event, "people").data) for offset, event in enumerate(events)]
        spark.createDataFrame(rows, "offset LONG, value BINARY").write.mode("overwrite").parquet(f"{folder}/events")
        stream = spark.readStream.schema("offset LONG, value BINARY").parquet(f"{folder}/events")
        people = Pipeline(
            "people-value",
            f"{folder}/people",
            f"{folder}/people_bad",
            f"{folder}/checkpoint",
            keyed=KeyedTableOptions(("id",), version="rev", envelope=DEBEZIUM),
        )
        start(people, stream, registry, available=True).awaitTermination()
        spark.read.format("delta").load(f"{folder}/people").select("id", "name").show()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
