"""Records of a scan in their order: the first ones in memory, the others in a file, because a log may be very long."""

from array import array
from collections.abc import Iterator
from dataclasses import replace

from treaty.core import limits
from treaty.core.commit import Prefix, read_prefix
from treaty.log.kafka.any.chunks import Chunk
from treaty.log.kafka.any.records import Found, Odd
from treaty.log.kafka.any.spool import Kept, Spool

_HEAD = 256
"""Bytes of an append that are read to learn what it claims."""
_OVERHEAD = 512
"""Bytes of memory that a record takes beside its value, about: the objects that say where it stood and what it claims."""
_CLAIMS = (None, Odd.ALIEN, Odd.DAMAGED)
"""What a record in the file claims; None stands for an append, which says itself what it claims."""


class Journal:
    """Records that can be gone through again and again.

    At most SCAN_BYTES of memory are taken by records, unless no file can be written. Of a record that lies in the file
    only a few numbers are in memory; its value is a `Kept`, whose bytes are read where they are asked for.
    """

    def __init__(self) -> None:
        """Hold nothing."""
        self.in_memory = 0
        """Bytes of memory that records take."""
        self.next: int | None = None
        """The offset after the last record."""
        self._spool = Spool()
        self._count = 0
        self._found: dict[int, Found] = {}
        """Records in memory, by their place."""
        self._from = 0
        """The place from which on the following have an entry for each record."""
        self._offsets, self._starts, self._sizes, self._senders = array("Q"), array("Q"), array("Q"), array("Q")
        self._claims = bytearray()
        self._addresses: dict[str, int] = {}

    def __len__(self) -> int:
        """How many records there are."""
        return self._count

    @property
    def in_file(self) -> int:
        """How many of them lie in the file."""
        return self._count - len(self._found)

    def add(self, found: Found) -> None:
        """Add the next record."""
        chunk = found.claim if isinstance(found.claim, Chunk) else None
        payload = found.value if chunk is None else chunk.payload
        full = self.in_memory + len(payload) + _OVERHEAD > limits.SCAN_BYTES
        if chunk is not None or full:
            payload = self._spool.keep(bytes(payload), least=0 if full else None)
        if isinstance(payload, bytes):
            self.in_memory += len(payload) + _OVERHEAD
        if chunk is None and isinstance(payload, Kept):
            claim = 0 if isinstance(found.claim, Prefix) else _CLAIMS.index(found.claim)
            sender = self._addresses.setdefault(found.address, len(self._addresses))
            self._enter(found.offset, payload.start, payload.size, sender, claim)
        else:
            self._found[self._count] = found if chunk is None else replace(found, claim=replace(chunk, payload=payload))
            if self._claims:
                self._enter(0, 0, 0, 0, 0)
        self.next = found.offset + 1
        self._count += 1

    def _enter(self, offset: int, start: int, size: int, sender: int, claim: int) -> None:
        if not self._claims:
            self._from = self._count
        self._offsets.append(offset)
        self._starts.append(start)
        self._sizes.append(size)
        self._senders.append(sender)
        self._claims.append(claim)

    def __iter__(self) -> Iterator[Found]:
        """The records in their order. Raises `OSError` where the file can't be read."""
        addresses = [*self._addresses]
        for place in range(self._count):
            found = self._found.get(place)
            if found is None:
                at = place - self._from
                value = self._spool.at(self._starts[at], self._sizes[at])
                claim = _CLAIMS[self._claims[at]] or read_prefix(value.piece(_HEAD))
                found = Found(self._offsets[at], claim, value, addresses[self._senders[at]])
            yield found
