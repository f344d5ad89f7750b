"""Planted: every other time an answer that writes nothing is given from the tables as they are, without a look at the tip."""

from collections.abc import Iterable
from itertools import count

from treaty.core.state.view import Tables
from treaty.node import writer
from treaty.node.batch import CommitBatch, Decide
from treaty.node.batch import build as original
from treaty.node.queued_command import QueuedCommand

LAWS = {"1"}
PLACE, NAME = writer, "build"
times = count()
"""Were it so each time, whoever asks again at once after a refusal would do so for ever in one moment."""


def planted(batch: Iterable[QueuedCommand], tables: Tables, decide: Decide, done: int, _: object) -> CommitBatch:
    return original(batch, tables, decide, 10**9 if next(times) % 2 else done)
