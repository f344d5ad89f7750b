"""Planted: every other time an answer that writes nothing is given from the tables as they are, without a look at the tip."""

from collections.abc import Iterable
from itertools import count

from treaty.core.view import Tables
from treaty.node import writer
from treaty.node.chain import Chain, Decide
from treaty.node.chain import build as original
from treaty.node.pending import Pending

LAWS = {"1"}
PLACE, NAME = writer, "build"
times = count()
"""Were it so each time, whoever asks again at once after a refusal would do so for ever in one moment."""


def planted(batch: Iterable[Pending], tables: Tables, decide: Decide, done: int, _: object) -> Chain:
    return original(batch, tables, decide, 10**9 if next(times) % 2 else done)
