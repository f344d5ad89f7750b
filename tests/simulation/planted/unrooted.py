"""Planted: an append states the root of the rows before it."""

from collections.abc import Iterable

from treaty.core.state.root import RootedTables
from treaty.core.state.rows import EncodedRow
from treaty.core.state.table import Key
from treaty.node import writer

LAWS = {"root"}
PLACE, NAME = writer, "roots_with"


def planted(tables: RootedTables, rows: Iterable[tuple[EncodedRow, Key]]) -> dict[str, int]:
    return dict(tables.roots)
