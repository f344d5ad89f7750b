"""Planted: every other time an answer that writes nothing is given from the tables as they are, without a look at the tip."""

from collections.abc import Callable, Iterable
from itertools import count

from treaty.core.state.view import Tables
from treaty.node import writer
from treaty.node.batch import CommitBatch, Decide, PreparedDecision
from treaty.node.batch import build as original
from treaty.node.queued_command import QueuedCommand

LAWS = {"1"}
PLACE, NAME = writer, "build"
times = count()
"""Were it so each time, whoever asks again at once after a refusal would do so for ever in one moment."""


def planted(
    commands: Iterable[QueuedCommand],
    tables: Tables,
    decide: Decide,
    done: int,
    enough: Callable[[], bool] = lambda: False,
    *,
    prepared: PreparedDecision | None = None,
) -> CommitBatch:
    return original(commands, tables, decide, 10**9 if next(times) % 2 else done, enough, prepared=prepared)
