"""Planted: an append states the root of the rows before it."""

from collections.abc import Iterable, Mapping

from treaty.core.root import Rooted
from treaty.core.rows import Encoded
from treaty.node import writer

LAWS = {"root"}
PLACE, NAME = writer, "roots_after"


def planted(tables: Rooted, rows: Iterable[Encoded]) -> Mapping[str, int]:
    return dict(tables.roots)
