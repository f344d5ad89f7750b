"""The last appends and their records, as far back as each of them was read whole."""

from collections import deque
from collections.abc import Mapping

from treaty.core.commit import Position

Records = Mapping[bytes, bytes | None]
"""Last value by key; None takes the row away."""


class Window:
    """A run of appends, each on the one before. At most `kept` of them, and about `bytes_kept` bytes of records."""

    def __init__(self, base: Position, kept: int, bytes_kept: int) -> None:
        """Know nothing but the place where the run begins."""
        self._kept = kept
        self._bytes_kept = bytes_kept
        self._bytes = 0
        self._run: deque[tuple[Position, Records, int]] = deque()
        self._base = base

    def __len__(self) -> int:
        """Places that are known."""
        return len(self._run)

    @property
    def oldest(self) -> Position:
        """The first place from which on everything is known."""
        return self._base

    def begin(self, base: Position) -> None:
        """Forget the run; a new one begins at a place."""
        self._run.clear()
        self._bytes = 0
        self._base = base

    def add(self, position: Position, records: Records) -> None:
        """Remember an append that follows the last one."""
        size = sum(len(key) + len(value or b"") for key, value in records.items())
        self._run.append((position, records, size))
        self._bytes += size
        while len(self._run) > self._kept or (self._bytes > self._bytes_kept and len(self._run) > 1):
            self._base, _, gone = self._run.popleft()
            self._bytes -= gone

    def since(self, after: Position) -> Records | None:
        """Return what changed after a place, in the last state; None where the place is not in the run."""
        found: list[Records] = []
        for position, records, _ in reversed(self._run):
            if position.agrees(after):
                break
            found.append(records)
        else:
            if not after.agrees(self._base):
                return None
        last: dict[bytes, bytes | None] = {}
        for records in reversed(found):
            last.update(records)
        return last

    def knows(self, place: Position) -> bool:
        """Tell whether an append that ended at a place is in the run."""
        for position, _, _ in reversed(self._run):
            if position.sequence <= place.sequence:
                return position.agrees(place)
        return False
