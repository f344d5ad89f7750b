"""Planted: an answer that writes nothing waits until a look finds nothing new, which under steady writes is never."""

from collections.abc import Iterable

from treaty.core.view import Tables
from treaty.node import writer
from treaty.node.chain import Chain, Decide
from treaty.node.chain import build as original
from treaty.node.pending import Pending

LAWS = {"6"}
PLACE, NAME = writer, "build"


def planted(batch: Iterable[Pending], tables: Tables, decide: Decide, done: int, _: object) -> Chain:
    waiting = list(batch)
    unmoved = all(one.guess is not None and one.guess[0] == tables.position for one in waiting)
    return original(waiting, tables, decide, done if unmoved else 0)
