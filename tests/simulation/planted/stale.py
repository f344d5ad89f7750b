"""Planted: an answer that writes nothing is given from the tables as they are, without a look at the tip."""

from collections.abc import Iterable

from treaty.core.view import Tables
from treaty.node import writer
from treaty.node.chain import Chain, Decide
from treaty.node.chain import build as original
from treaty.node.pending import Pending

LAWS = {"1"}
PLACE, NAME = writer, "build"


def planted(batch: Iterable[Pending], tables: Tables, decide: Decide, done: int, _: object) -> Chain:
    return original(batch, tables, decide, 10**9)
