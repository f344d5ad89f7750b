"""`OwnAppend`: what a node knows of its append in flight, so that it need not work it out again from the log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from treaty.core.state.commit import Append, Position
from treaty.core.state.rows import DecodedRow, EncodedRow, Row
from treaty.log.log import LogDelta


def last_rows(rows: Iterable[tuple[EncodedRow, Row]]) -> tuple[DecodedRow, ...]:
    """Return rows that were encoded here in their last state, each once, in the order of `Append.rows`."""
    return tuple({(row.table, row.key): (encoded, row, True) for encoded, row in rows}.values())


@dataclass(frozen=True, slots=True)
class OwnAppend:
    """An append that this node has sent, and its rows in their last state as they were before they were encoded."""

    base: Position
    """The position of the tables on which it was decided."""
    append: Append
    rows: tuple[DecodedRow, ...]

    def is_all_of(self, delta: LogDelta, before: Position) -> bool:
        """Return whether a read from the position `before` returned just this append, with no row changed."""
        return (
            before.agrees(self.base)
            and delta.tip.agrees(self.append.position)
            and delta.rows == tuple([encoded for encoded, _, _ in self.rows])
        )

    @property
    def decoded(self) -> Mapping[EncodedRow, Row]:
        """What was encoded, by what it became."""
        return {encoded: row for encoded, row, _ in self.rows}
