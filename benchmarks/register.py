"""Registration: CPU of one new schema of 15 fields, in a registry of 20,000 subjects against one of 100.

The node runs inside this process, so the figure is everything: parsing, the law, the log. Each round registers a schema
that was never seen under a subject of its own; the least of several rounds counts, because other programs share the
machine.
"""

import json
import tempfile
import time
from pathlib import Path

from benchmarks.row import Row, against
from treaty.assemble import connect
from treaty.client.connection import Connection

FEW = 100
MANY = 20_000
ROUND = 200
ROUNDS = 5
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


def fill(connection: Connection, start: int, end: int) -> None:
    """Register schemas `start` to `end`, each under a subject of its own."""
    for number in range(start, end):
        connection.register(f"events-{number}-value", schema(number))


def cost(connection: Connection, start: int) -> float:
    """Return the least milliseconds of CPU (all threads of the process) for one registration."""
    rounds = []
    for each in range(ROUNDS):
        first = start + each * ROUND
        before = time.process_time()
        fill(connection, first, first + ROUND)
        rounds.append((time.process_time() - before) / ROUND * 1000)
    return min(rounds)


def measure(url: str) -> tuple[float, float]:
    """Return the cost with few subjects and with many, in one registry that grows."""
    with connect(url) as connection:
        fill(connection, 0, FEW)
        few = cost(connection, FEW)
        fill(connection, FEW + ROUND * ROUNDS, MANY)
        return few, cost(connection, MANY)


def run() -> list[Row]:
    """Measure on the memory log and on the default one."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, url in (("memory", "memory:"), ("sqlite", f"sqlite:///{Path(folder) / 'log.db'}")):
            few, many = measure(url)
            rows.append(against(f"register, {name}: {MANY} subjects", many, few, unit="ms CPU", goal=RATIO_GOAL))
            rows.append(Row(f"register, {name}: {MANY} subjects, in all", many, "ms CPU", goal=CPU_GOAL))
    return rows
