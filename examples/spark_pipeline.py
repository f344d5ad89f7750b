"""A pipeline as a TOML file: planned, run, asked how it is, and its bad rows replayed: python spark_pipeline.py [FOLDER]."""

import sys
from pathlib import Path

import treaty
from treaty import AvroSerializer
from treaty.cli.main import group
from treaty.spark import session

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'


def main(folder: Path) -> None:
    """Write three frames, one of them damaged, and run the commands that a shell would run."""
    text = Path(__file__).with_name("pipeline.toml").read_text("utf-8").replace("FOLDER", str(folder))
    (folder / "orders.toml").write_text(text, encoding="utf-8")
    with treaty.connect(f"sqlite://{folder}/registry.db") as registry, session() as spark:
        write = AvroSerializer(registry, ORDER)
        frames = [write({"id": number}, "orders").data or b"" for number in (1, 2, 3)]
        rows = [(frames[0],), (frames[1],), (frames[2][:-1],)]
        spark.createDataFrame(rows, "value BINARY").write.mode("overwrite").parquet(f"{folder}/events")
        for command in ("plan", "run", "status", "replay"):
            print(f"$ treaty pipeline {command} orders.toml")
            try:
                group.main(["pipeline", command, str(folder / "orders.toml")])
            except SystemExit as ended:
                print(f"(exit code {ended.code or 0})")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
