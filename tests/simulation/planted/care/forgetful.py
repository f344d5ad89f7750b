"""Planted: compaction takes tombstones away and forgets no places, so that followers miss what was deleted."""

from tests.simulation.disk import Disk

LAWS = {"log", "root"}
EVENTS = {"compacted"}
PLACE, NAME = Disk, "compact"


def planted(self: Disk, keep: int) -> None:
    for one in [one for one, (_, row) in self.rows.items() if row.value is None]:
        del self.rows[one]
