"""Following: what a node spends on commits of others, against what deciding and encoding them cost.

A registry in memory takes new schemas of 15 fields, one append each; the time in which it decides them and makes their appends is
counted. The rows of the same appends are then put into the tables of a node that follows, each checked against its state root.
Both are CPU of one process, in turns, and of each the least counts: other programs only add to it. The garbage collector is set as
a server sets it.
"""

import gc
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from benchmarks import register
from benchmarks.row import Row, against
from treaty.assemble import connect
from treaty.assemble.server import GARBAGE
from treaty.core.state.commit import Append, make_append
from treaty.core.state.rows import EncodedRow
from treaty.node import writer
from treaty.node.batch import build
from treaty.node.segment.layered import LayeredTables

REGISTRATIONS = 5_000
TURNS = 5
GOAL = 0.2


def run() -> list[Row]:
    """Measure both on the memory log."""
    decided, followed, before = [], [], gc.get_threshold()
    gc.set_threshold(*GARBAGE)
    for _ in range(TURNS):
        seconds, appends = decide()
        decided.append(seconds)
        followed.append(follow(appends))
    gc.set_threshold(*before)
    name = f"commits of others, {REGISTRATIONS:,} registrations: read, checked and put into tables"
    return [against(name, min(followed) * 1e6, min(decided) * 1e6, unit="us CPU", goal=GOAL)]


def decide() -> tuple[float, list[Append]]:
    """Register; return the seconds of CPU for each registration in which it was decided and encoded, and the appends."""
    seconds, appends = [0.0], list[Append]()

    def timed(work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            begun = time.process_time()
            result = work(*args, **options)
            seconds[0] += time.process_time() - begun
            if isinstance(result, Append):
                appends.append(result)
            return result

        return call

    with (
        patch.object(writer, "build", timed(build)),
        patch.object(writer, "make_append", timed(make_append)),
        connect("memory:") as registry,
    ):
        register.fill(registry, register.texts(0, REGISTRATIONS))
    return seconds[0] / REGISTRATIONS, appends


def follow(appends: list[Append]) -> float:
    """Put appends into empty tables, as they come from a log; return the seconds of CPU for each registration."""
    received = [
        ([EncodedRow(row.table, row.key, row.value) for row in append.rows], append.position) for append in appends
    ]
    tables, begun = LayeredTables(), time.process_time()
    for rows, position in received:
        assert tables.advance(rows, position)
    return (time.process_time() - begun) / REGISTRATIONS
