"""Planted: an append states the root of the rows before it."""

from collections.abc import Iterable

from treaty.core.root import Rooted
from treaty.core.rows import Encoded, Key
from treaty.node import writer

LAWS = {"root"}
PLACE, NAME = writer, "roots_with"


def planted(tables: Rooted, rows: Iterable[tuple[Encoded, Key]]) -> dict[str, int]:
    return dict(tables.roots)
