"""`StagedView`: a view with the rows that a command has come to so far, for commands of several steps."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from treaty.core.command import Command
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.overlay import Overlay
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import TABLES
from treaty.core.state.table import Key
from treaty.core.state.view import View


@dataclass(slots=True)
class StagedView:
    """A view with the rows that a command has come to so far."""

    base: View
    command: Command[Any]
    engine: SchemaEngine
    operation: str
    """The name of the command's operation."""
    rehearsal: bool = False
    """Whether nothing of it is to be written."""
    view: Overlay = field(init=False)
    made: dict[tuple[str, Key], Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Show just the base."""
        self.view = Overlay(self.base)

    def put(self, rows: Iterable[Row]) -> None:
        """Add rows; the last one with a key counts."""
        rows = tuple(rows)
        self.view.put(rows, 0)
        for row in rows:
            self.made.pop((row.table, row.key), None)
            self.made[row.table, row.key] = row

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows; what came and went again is not among them."""
        return tuple(
            row
            for row in self.made.values()
            if row.value is not None or self.base.get(TABLES[row.table], row.key) is not None
        )
