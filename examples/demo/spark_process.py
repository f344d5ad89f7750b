"""The Spark process of the demo: runs the streaming job, prints each step on stdout, and reads commands from stdin.

Each line of output is a JSON object with a member ``step``. After ``ready`` the job waits for a line ``begin``, and after
``good`` for a line ``go``: at this point the first of the two tables is committed. A line ``stop`` ends the stream; then the
job prints ``dimensions``: three more topics, which were read beside it, are at their ends. Now it carries out statements of
the metastore, each a line of JSON, until an empty one. Meanwhile it reads all tables, and prints ``figures`` and ``proof``.
"""

import json
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from examples.demo.dimensions import DIMENSIONS
from examples.demo.events import SPARK_SETTINGS
from examples.demo.join import list_airlines
from examples.demo.paths import DemoPaths
from examples.demo.proof import check_tables, read_figures
from examples.demo.queries.statements import carry_out
from examples.demo.streams import finish_dimensions, run, start_dimensions
from treaty.assemble import connect
from treaty.spark.pipelines.value import BatchEvent
from treaty.spark.session import QUICK_START, session

_WAIT_SECONDS = 1


def main(folder: str, url: str, total: int) -> None:
    """Run the job in `folder` against the registry at `url` until a line `stop` is read."""
    words: queue.Queue[str] = queue.Queue()
    go = threading.Semaphore(0)

    def listen() -> None:
        for line in sys.stdin:
            if line.strip() == "go":
                go.release()
            else:
                words.put(line.strip())

    threading.Thread(target=listen, daemon=True).start()

    def watch(step: BatchEvent) -> None:
        writers = [[writer.schema_id, writer.version] for writer in step.plan.writers] if step.plan else []
        rejected = [[writer.schema_id, writer.code] for writer in step.plan.rejected] if step.plan else []
        _send_step(
            step.name, batch=step.batch, counts=dict(step.counts), seconds=step.seconds, ids=writers, rejected=rejected
        )
        if step.name == "good":
            go.acquire()

    places = DemoPaths(Path(folder))
    spark = session("treaty demo", java_options=QUICK_START, settings=SPARK_SETTINGS)
    _send_step("ready")
    words.get()
    registry = connect(url)
    query = run(spark, registry, places, watch)
    others = start_dimensions(spark, registry, places.root)
    while words.empty():
        query.awaitTermination(_WAIT_SECONDS)  # raises what the stream died of
    words.get()
    query.stop()
    read = finish_dimensions(spark, places.root, others)
    _send_step("dimensions", rows=read)
    with ThreadPoolExecutor() as pool:
        table_check = pool.submit(_check_tables, spark, places, read, total)
        carry_out(spark, registry.registry, places.root, lambda: json.loads(words.get()), _send_step)
        table_check.result()
    registry.close()
    spark.stop()


def _check_tables(spark: SparkSession, places: DemoPaths, read: dict[str, int], total: int) -> None:
    """Send the figures of all tables, and the proof. `read` has the number of events of each other topic."""
    with ThreadPoolExecutor() as pool:  # Spark would leave a core idle with a query at a time
        figures = pool.submit(read_figures, spark, places)
        airlines = pool.submit(list_airlines, spark, places.root)
        proofs = {
            dimension.name: check_tables(spark, DemoPaths(places.root, dimension.name), read[dimension.name])
            for dimension in DIMENSIONS
        }
        _send_step("figures", **figures.result(), airlines=airlines.result(), dimensions=proofs)
        _send_step("proof", **check_tables(spark, places, total))


def _send_step(step: str, **facts: Any) -> None:
    # As one write, which steps of another thread cannot come into.
    sys.stdout.write(f"{json.dumps({'step': step, **facts}, default=str)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
