"""The process that plans bodies: a program with a JVM of its own, which answers lines of JSON and may end at any time.

``python -m treaty.spark.planner.service.process FOLDER`` keeps its views in a folder, reads questions from standard input and writes an answer to standard output for each. Its first
line says that it is ready, or why it can't be. It ends with its input.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from pyspark import SparkContext

from treaty.core.limits import PLANNER_HEAP
from treaty.core.sources import SourceColumn
from treaty.core.state.codec import decode_message, dumps, encode_message
from treaty.spark.planner.bodies import BodyPlanner
from treaty.spark.planner.questions import BodyRefusedError, QueryBody, ReadableSource
from treaty.spark.planner.settings import PINNED, PRINTED, RESTRICTED
from treaty.spark.session import QUICK_START, session

JAVA = f"{QUICK_START} -XX:+ExitOnOutOfMemoryError"
"""Options of the JVM: it ends where its heap does, instead of trying again and again."""
JVM_SECONDS = 2
"""Seconds that a JVM has to end which gives no answer any more."""
HEAP_ENDED, SIGNALLED = 3, 128
"""Exit codes: the JVM ended where its heap did, as the option above has it; it was killed."""
BARE = {"spark.jars.packages": "", "spark.jars.excludes": "", "spark.sql.extensions": ""}
"""A planner needs no packages: its parser is Spark's own, and nothing is fetched."""

FIRST = QueryBody(
    "first",
    "TABLE",
    "SELECT name, count(*) AS n FROM STREAM a WHERE id > 0 GROUP BY name",
    (ReadableSource("a", "STREAM", 0, (SourceColumn("id", "BIGINT"), SourceColumn("name", "STRING"))),),
)
"""The first body loads classes of Spark for seconds; it is planned before the process is ready."""


def main() -> None:
    """Answer questions until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the JVM and libraries print is no answer
    lines: SimpleQueue[str] = SimpleQueue()
    Thread(target=_read_lines, args=(lines,), daemon=True).start()
    try:
        planner = _start(Path(sys.argv[1]))
    except Exception as error:  # noqa: BLE001 (whatever it is, the program that started this one has to say it)
        _say(answers, {"failed": str(error)})
        return
    _say(answers, {"ready": True})
    for line in _list_lines(lines):
        _say(answers, _answer(planner, json.loads(line)))


def _start(root: Path) -> BodyPlanner:
    settings = {**BARE, **dict(PINNED), **RESTRICTED, **PRINTED, "spark.sql.warehouse.dir": str(root / "warehouse")}
    spark = session(
        "treaty planner",
        master="local[1]",
        memory=f"{PLANNER_HEAP}m",
        delta=False,
        java_options=JAVA,
        settings=settings,
    )
    spark.sparkContext.setLogLevel("OFF")
    planner = BodyPlanner(spark, root)
    planner.plan(FIRST)
    return planner


def _read_lines(lines: "SimpleQueue[str]") -> None:
    """Pass lines on as they come. At the end of the input the process ends, whatever the JVM is at: no program waits for its answer."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _list_lines(lines: "SimpleQueue[str]") -> Iterator[str]:
    while True:
        yield lines.get()


def _answer(planner: BodyPlanner, question: Any) -> Any:
    try:
        if "reads" in question:
            return {"names": list(planner.list_reads(question["reads"]))}
        return {"plan": encode_message(planner.plan(decode_message(QueryBody, question["plan"])))}
    except BodyRefusedError as no:
        return {"refused": [no.code, no.message, no.hint, no.start, no.end]}
    except Exception as error:  # noqa: BLE001 (a fault of the planner is no fault of the body, and is reported as what it is)
        _end_with_jvm()
        return {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"}


def _end_with_jvm() -> None:
    """End this process where the JVM has ended, with its exit code."""
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 (pyspark has no other word for it)
    if process is None:
        return
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(JVM_SECONDS)
        os._exit(code if 0 < code < SIGNALLED else SIGNALLED)


def _say(answers: IO[str], answer: Any) -> None:
    answers.write(dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
