"""Planted: an answer that writes nothing waits until a look finds nothing new, which under steady writes is never."""

from collections.abc import Callable, Iterable

from treaty.core.state.view import Tables
from treaty.node import writer
from treaty.node.batch import CommitBatch, Decide, PreparedDecision
from treaty.node.batch import build as original
from treaty.node.queued_command import QueuedCommand

LAWS = {"6"}
PLACE, NAME = writer, "build"


def planted(
    commands: Iterable[QueuedCommand],
    tables: Tables,
    decide: Decide,
    done: int,
    enough: Callable[[], bool] = lambda: False,
    *,
    prepared: PreparedDecision | None = None,
) -> CommitBatch:
    waiting = list(commands)
    unmoved = all(one.known_result(tables.position) is not None for one in waiting)
    return original(waiting, tables, decide, done if unmoved else 0, enough, prepared=prepared)
