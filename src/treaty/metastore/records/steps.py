"""Steps of statements that this program carries out itself, and sends to no registry; and where they write records."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from treaty.core.messages.request import Request
from treaty.core.sources import Source
from treaty.light_dataclass import dataclass

if TYPE_CHECKING:
    from treaty.client.kafka.producer import OutgoingRecord

A = TypeVar("A")


class StatementStep(Request[A]):
    """A request that is not sent to a registry: it runs beside the destination of the statement's records."""

    __slots__ = ()

    def run(self, destination: Any) -> A:
        """Do the step."""
        raise NotImplementedError


class RecordDestination(Protocol):
    """Writes the records of a source."""

    def write(self, source: Source, records: "Sequence[OutgoingRecord]") -> str:
        """Write records and return where they are, in words. Blocks for `INSERT_SECONDS` at most, and a little.

        Raises `Unavailable` or `Refusal` where nothing was written, and `RecordsUncertainError` where some may have been.
        """
        ...

    def close(self) -> None:
        """Close connections."""


@dataclass(frozen=True, slots=True)
class PauseStep(StatementStep[None]):
    """A step of a statement that waits for some seconds."""

    seconds: float

    def run(self, destination: object) -> None:
        """Wait."""
        del destination
        time.sleep(self.seconds)


@dataclass(frozen=True, slots=True)
class WriteRecords(StatementStep[str]):
    """A step of a statement that writes records; `encode` returns them or refuses a value."""

    source: Source
    encode: "Callable[[], Sequence[OutgoingRecord]]"
    dry_run: bool = False

    def run(self, destination: RecordDestination) -> str:
        """Encode all records, then write them; return where they are, in words."""
        records = self.encode()
        if self.dry_run:
            return f"{len(records)} record{'s' * (len(records) != 1)} would be written to {self.source.place}"
        return destination.write(self.source, records)
