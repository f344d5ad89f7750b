"""The interface of the Kafka logs to one partition, implemented by real brokers and by models in tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from treaty.log.log import Leader, LogUnavailableError


@dataclass(frozen=True, slots=True)
class PartitionRecord:
    """One record as it lies in the partition. Markers of transactions and what was compacted away leave gaps."""

    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Records from an offset on, in order, and where to continue: `next` is past gaps at their end, where that is known."""

    records: tuple[PartitionRecord, ...]
    next: int


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """The first offset that is still there, and the offset after the last one that readers of this link may see."""

    first: int
    end: int


class OffsetOutOfRangeError(Exception):
    """The offset asked for is before the first one that is still there, or after the end: the log was cut or lost data."""


class PartitionClient(Protocol):
    """Reading from the partition, and producing to it outside transactions.

    All methods raise `LogUnavailableError` where the brokers can't be reached, `LogDamagedError` where the topic is
    gone, is another one than at the start, or has settings that lose data. Safe to call concurrently from one event
    loop.
    """

    @property
    def url(self) -> str:
        """URL of the log, without secrets."""
        ...

    async def send(
        self, value: bytes, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> int | None:
        """Produce one record, acknowledged by all replicas in sync; returns its offset, or None if that is unknown.

        Unknown: it may be there, may come later, or never. `LogUnavailableError` means that it surely was not sent.
        A record may land twice where the connection breaks, and the second time much later.
        """
        ...

    async def fetch_offset_range(self) -> OffsetRange:
        """Ask the leader of the partition, with a request that begins after this call."""
        ...

    async def fetch(self, offset: int, timeout: float) -> RecordBatch:
        """Return records from an offset on, as soon as there are any, at the latest after `timeout` seconds (then
        none).

        A gap up to the end is news too: after the last record of a transaction lies the marker of its commit, and who
        asks for that offset is sent on at once (no records, `next` past the marker) and does not wait for the next
        commit. Raises `OffsetOutOfRangeError` for an offset before the first or after the end.
        """
        ...

    async def delete_records(self, before: int) -> None:
        """Delete the prefix up to an offset, which itself stays; what is deleted already stays so."""
        ...

    async def size(self) -> int:
        """Bytes that the partition takes on its leader's disk; -1 where that is not known."""
        ...

    async def close(self) -> None:
        """Give back connections and threads."""
        ...


class ProducerFencedError(Exception):
    """Another node has taken the transactional id: nothing of this producer's open work will ever be seen."""


class HangingTransactionError(LogUnavailableError):
    """Something lies before a transaction that could not be read; the transaction was given up."""


class TransactionalProducer(Protocol):
    """A transactional producer; after `ProducerFencedError` it is dead until the next `fence`."""

    async def fence(self) -> None:
        """Take the transactional id: from now on no older owner can commit, and its open transaction is aborted.

        A transaction that was being committed is over too when this returns: `fetch_offset_range` shows its result.
        Raises `ProducerFencedError` where yet another node took the id meanwhile.
        """
        ...

    async def commit(self, records: Sequence[tuple[bytes, bytes | None]], at: int) -> bool:
        """Write records (key, value) as one transaction. True: committed. False: it may be, or may become so.

        The first record has to lie at the offset `at`, or before: else something lies between what was read and what is
        written, whatever brokers said of the end, and the transaction is aborted: `HangingTransactionError`.

        A committed one may be hidden for another moment: brokers acknowledge before the marker lies in the partition.
        After anything but True the producer is dead until the next `fence`.
        Raises `ProducerFencedError` or `LogUnavailableError` where it surely was not and never will be committed.
        """
        ...

    async def close(self) -> None:
        """Give the producer back."""
        ...


class OwnerElection(Protocol):
    """Membership in the group whose one partition says who is the owner. What it says may be stale: fencing decides."""

    async def leader(self) -> Leader | None:
        """Say who owns the log now, as far as this member knows; None while there is no owner or it is not known."""
        ...

    @property
    def generation(self) -> int:
        """Counts how often the assignment has changed: an owner that sees another number fences and reads again."""
        ...

    async def close(self) -> None:
        """Leave the group, so that another member can take over at once."""
        ...
