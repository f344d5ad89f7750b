"""`OwnAppend`: what a node knows of its append in flight, so that it need not work it out again from the log."""

from collections.abc import Iterable, Mapping

from treaty.core.state.commit import Append, Position
from treaty.core.state.rows import DecodedRow, EncodedRow, Row
from treaty.light_dataclass import dataclass
from treaty.log.log import LogDelta


def last_rows(rows: Iterable[tuple[EncodedRow, Row]]) -> tuple[DecodedRow, ...]:
    """Return the last state of each row, in the order of `Append.rows`."""
    return tuple({(row.table, row.key): (encoded, row, True) for encoded, row in rows}.values())


@dataclass(frozen=True, slots=True)
class OwnAppend:
    """An append that this node has sent, and its rows before and after they were encoded."""

    base: Position
    """The position of the tables on which it was decided."""
    append: Append
    rows: tuple[DecodedRow, ...]
    """The last state of each row."""

    def is_all_of(self, delta: LogDelta, before: Position) -> bool:
        """Return whether a read from the position `before` returned just this append, with no row changed."""
        return (
            before.agrees(self.base)
            and delta.tip.agrees(self.append.position)
            and delta.rows == tuple([encoded for encoded, _, _ in self.rows])
        )

    def by_encoded(self) -> Mapping[EncodedRow, Row]:
        """Return the rows by their encoded form."""
        return {encoded: row for encoded, row, _ in self.rows}
