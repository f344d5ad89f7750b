"""Registration: CPU of one new schema of 15 fields, in a registry of 20,000 subjects against one of 100.

A registry runs embedded in a process of its own, so the figure is everything: the caller, the hop to the node's thread,
parsing, the law, the log. Two such processes, one with few subjects and one with many, take turns; the least of several
rounds counts, because other programs share the machine. A third figure is of many requests at once on the node's own
loop: then one append carries several commits, and their fsync is shared.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.row import Row, against
from treaty.assemble import connect, open_node
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.node.node import Node

FEW = 100
MANY = 20_000
ROUND = 200
TOGETHER = 16
ROUNDS = 7
RATIO_GOAL = 1.1
CPU_GOAL = 0.5
"""Milliseconds of CPU for one registration."""

KINDS = ("long", "string", "double", "int", "boolean")


def schema(number: int) -> str:
    """Return a schema of 15 fields that differs from all others."""
    fields: list[dict[str, object]] = [
        {
            "name": f"field_{n}",
            "type": ["null", KINDS[n % len(KINDS)]],
            "default": None,
            "doc": f"Field {n} of {number}",
        }
        for n in range(15)
    ]
    return json.dumps({"type": "record", "name": f"Event{number}", "namespace": "org.example", "fields": fields})


def texts(first: int, count: int) -> list[tuple[str, str]]:
    """Return subjects and schemas, made before the clock runs."""
    return [(f"events-{number}-value", schema(number)) for number in range(first, first + count)]


def fill(connection: Connection, pairs: list[tuple[str, str]]) -> None:
    """Register each schema under its subject."""
    for subject, text in pairs:
        connection.register(subject, text)


def serve_rounds(url: str, subjects: int) -> None:
    """Be one of the two processes: fill a registry, then measure a round for every line that comes in."""
    with connect(url) as connection:
        fill(connection, texts(0, subjects))
        print("ready", flush=True)
        for start, _ in enumerate(sys.stdin):
            pairs = texts(MANY + start * ROUND, ROUND)
            before = time.process_time()
            fill(connection, pairs)
            print((time.process_time() - before) / ROUND * 1000, flush=True)


async def serve_together(url: str, subjects: int) -> None:
    """The same on the node's own loop, with `TOGETHER` requests at a time, as a server has them."""
    async with open_node(url) as node:
        await fill_together(node, texts(0, subjects))
        print("ready", flush=True)
        for start, _ in enumerate(sys.stdin):
            pairs = texts(MANY + start * ROUND, ROUND)
            before = time.process_time()
            await fill_together(node, pairs)
            print((time.process_time() - before) / ROUND * 1000, flush=True)


async def fill_together(node: Node, pairs: list[tuple[str, str]]) -> None:
    """Register each schema under its subject, `TOGETHER` at a time."""
    for start in range(0, len(pairs), TOGETHER):
        some = pairs[start : start + TOGETHER]
        await asyncio.gather(*(node.ask(Register(subject_of(name), Draft(text))) for name, text in some))


class Other:
    """A registry in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        """Talk to a process that runs `serve_rounds`."""
        self.process = process

    def said(self) -> str:
        """Return its next line."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def round(self) -> float:
        """Return the milliseconds of CPU (all threads) that one registration took in one more round."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.said())


@contextmanager
def other(url: str, subjects: int, how: str = "alone") -> Iterator[Other]:
    """Run a filled registry while the block runs."""
    command = [sys.executable, "-m", "benchmarks.register", url, str(subjects), how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        other_process = Other(process)
        assert other_process.said() == "ready"
        try:
            yield other_process
        finally:
            assert process.stdin is not None
            process.stdin.close()


def measure(urls: tuple[str, str]) -> tuple[float, float]:
    """Return the cost with few subjects and with many, measured in turns."""
    with other(urls[0], FEW) as small, other(urls[1], MANY) as large:
        rounds = [(small.round(), large.round()) for _ in range(ROUNDS)]
        return min(few for few, _ in rounds), min(many for _, many in rounds)


def measure_together(url: str) -> float:
    """Return the cost with many subjects and many requests at once."""
    with other(url, MANY, "together") as registry:
        return min(registry.round() for _ in range(ROUNDS))


def run() -> list[Row]:
    """Measure on the memory log and on the default one."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        files = (f"sqlite://{Path(folder) / 'few.db'}", f"sqlite://{Path(folder) / 'many.db'}")
        for name, urls in (("memory", ("memory:", "memory:")), ("sqlite", files)):
            few, many = measure(urls)
            rows.append(against(f"{name}: {MANY} subjects against {FEW}", many, few, unit="ms CPU", goal=RATIO_GOAL))
            rows.append(Row(f"{name}: {MANY} subjects, one caller", many, "ms CPU", goal=CPU_GOAL))
            both = measure_together(urls[1].replace("many.db", "together.db"))
            rows.append(Row(f"{name}: {MANY} subjects, {TOGETHER} requests at once", both, "ms CPU", goal=CPU_GOAL))
    return rows


if __name__ == "__main__":
    if sys.argv[3] == "together":
        asyncio.run(serve_together(sys.argv[1], int(sys.argv[2])))
    else:
        serve_rounds(sys.argv[1], int(sys.argv[2]))
