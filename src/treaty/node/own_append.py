"""`OwnAppend`: what a node knows of its append in flight, so that it need not work it out again from the log."""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.state.commit import Append, Position
from treaty.core.state.rows import EncodedRow, Row
from treaty.log.log import LogDelta


@dataclass(frozen=True, slots=True)
class OwnAppend:
    """An append that this node has sent, and its rows as they were before they were encoded."""

    base: Position
    """The position of the tables on which it was decided."""
    append: Append
    decoded: Mapping[EncodedRow, Row]

    def is_all_of(self, delta: LogDelta, before: Position) -> bool:
        """Return whether a read from the position `before` returned just this append, with no row changed."""
        return before.agrees(self.base) and delta.tip.agrees(self.append.position) and delta.rows == self.append.rows
