"""A destination of records in memory."""

from collections.abc import Sequence

from treaty.client.kafka.producer import OutgoingRecord
from treaty.core.sources import Source


class KeptRecords:
    """Keeps the records of INSERT, UPDATE and DELETE."""

    def __init__(self) -> None:
        self.records: list[OutgoingRecord] = []

    def write(self, source: Source, records: Sequence[OutgoingRecord]) -> str:
        self.records.extend(records)
        return f"{len(records)} records"

    def close(self) -> None:
        """Keep all."""
