"""Planted: a load passes over marks of which no rows are left, so that the sequence goes back when tombstones have expired."""

from treaty.log.kafka.single_writer.state import CompactedState

LAWS = {"log", "3", "1", "root"}
PLACE, NAME = CompactedState, "_add_end_record"
original = CompactedState._add_end_record


def planted(self: CompactedState, value: bytes | None, offset: int) -> None:
    if not self.loading or self._pending:
        original(self, value, offset)
