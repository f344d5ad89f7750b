"""The Spark process of the demo: runs the streaming job, prints each step on stdout, and reads commands from stdin.

Each line of output is a JSON object with a member ``step``. After ``good`` the job waits for a line ``go``: at this
point the first of the two tables is committed. A line ``stop`` ends the stream; then the job prints ``dimensions``
(three more topics read to their ends), ``figures`` and ``proof``. After these it carries out statements of the metastore:
each line is one, as JSON, and an empty one ends the job.
"""

import json
import queue
import sys
import threading
from pathlib import Path
from typing import Any

from examples.demo.dimensions import DIMENSIONS
from examples.demo.join import list_airlines
from examples.demo.paths import DemoPaths
from examples.demo.proof import check_tables, read_figures
from examples.demo.queries.statements import carry_out
from examples.demo.streams import dimensions, run
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
    spark = session("treaty demo", java_options=QUICK_START)
    _send_step("ready")
    registry = connect(url)
    query = run(spark, registry, places, watch)
    while words.empty():
        query.awaitTermination(_WAIT_SECONDS)  # raises what the stream died of
    words.get()
    query.stop()
    read = dimensions(spark, registry, places.root)
    _send_step("dimensions", rows=read)
    proofs = {
        dimension.name: check_tables(spark, DemoPaths(places.root, dimension.name), read[dimension.name])
        for dimension in DIMENSIONS
    }
    _send_step("figures", **read_figures(spark, places), airlines=list_airlines(spark, places.root), dimensions=proofs)
    _send_step("proof", **check_tables(spark, places, total))
    carry_out(spark, registry.registry, places.root, lambda: json.loads(words.get()), _send_step)
    registry.close()
    spark.stop()


def _send_step(step: str, **facts: Any) -> None:
    print(json.dumps({"step": step, **facts}, default=str), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
