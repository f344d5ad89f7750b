"""Run a pipeline that a TOML file describes, with the commands of `treaty pipeline`.

    python examples/spark_pipeline.py [FOLDER]

The program writes three frames, one of them damaged, and then runs the commands that you would type in a shell.
"""

import sys
from pathlib import Path

import treaty
from treaty import AvroSerializer
from treaty.cli.main import group
from treaty.spark import session

ORDER = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"}]}"""


def run_command(*words: str) -> None:
    """Print a command line and run it. In this process, it uses the Spark session that runs already."""
    print("$ treaty", *words)
    try:
        group.main(list(words))
    except SystemExit as end:  # a command ends with its exit code
        print(f"(exit code {end.code or 0})")


def main(folder: Path) -> None:
    """Write frames and a description, and run the pipeline."""
    # 1. The description: examples/pipeline.toml with this folder in place of FOLDER.
    description = folder / "orders.toml"
    template = Path(__file__).with_name("pipeline.toml").read_text("utf-8")
    description.write_text(template.replace("FOLDER", str(folder)), encoding="utf-8")

    # 2. Frames in files, which take the place of a topic. The third record is cut short.
    with treaty.connect(f"sqlite://{folder}/registry.db") as registry, session() as spark:
        write = AvroSerializer(registry, ORDER)
        good = [write({"id": number}, "orders").data for number in (1, 2)]
        rows = [(good[0],), (good[1],), (b"\0\0\0\0\x01",)]
        spark.createDataFrame(rows, "value BINARY").write.mode("overwrite").parquet(f"{folder}/events")

        # 3. What will be done, do it, how far it is, and decode its bad rows again.
        for command in ("plan", "run", "status", "replay"):
            run_command("pipeline", command, str(description))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
