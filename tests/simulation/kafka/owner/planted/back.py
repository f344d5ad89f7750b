"""Planted: a load passes over marks of which no rows are left, so that the sequence goes back when tombstones have expired."""

from treaty.log.kafka.owner.view import View

LAWS = {"log", "3", "1", "root"}
PLACE, NAME = View, "_end"
original = View._end


def planted(self: View, value: bytes | None, offset: int) -> None:
    if not self.loading or self._open:
        original(self, value, offset)
