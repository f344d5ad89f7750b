"""Reading a whole partition: every record from the first one to the end, and where in it to begin."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from treaty.core.commit import ENVELOPE_FORMAT, START, Prefix
from treaty.core.values import SnapshotPointer
from treaty.log.kafka.any import aid
from treaty.log.kafka.any.beginning import Candidates, Named, beginning, candidates, pointer_in, stated_roots
from treaty.log.kafka.any.chunks import AID, FORMAT, Chunk
from treaty.log.kafka.any.journal import Journal
from treaty.log.kafka.any.reading import LostError, Reading, other_format
from treaty.log.kafka.any.records import ADDRESS, Found, claim_of
from treaty.log.kafka.link import Batch, CutAwayError, Link
from treaty.log.log import LogDamagedError, LogUnavailableError

log = logging.getLogger("treaty.log")

FETCH_SECONDS = 5.0
"""How long a fetch waits for records that must be there."""
TRIES = 5
"""Times that a scan begins anew because the front was cut away meanwhile."""
NONE: Mapping[bytes, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Scanned:
    """A reader that has read everything, the first offset that was there, and the offset to go on at."""

    reading: Reading
    first: int
    next: int


def found(batch: Batch) -> Iterator[Found]:
    """What the records of a batch claim to be."""
    for record in batch.records:
        address = next((value for name, value in record.headers if name == ADDRESS), b"")
        claim, value = claim_of(record.value), record.value or b""
        yield Found(
            record.offset, claim, b"" if isinstance(claim, Chunk) else value, address.decode("utf-8", "replace")
        )


async def scan(
    link: Link, kept: int, window: int, *, at_least: int = 0, without: Mapping[bytes, str] = NONE
) -> Scanned:
    """Read everything up to the end as it is now, or up to an offset where that is further.

    `without` are digests of folds that are no good, with the reason; the next best beginning is taken.
    Raises `LogUnavailableError`; `LogDamagedError` where what is there is no whole log, with the remedy.
    """
    for _ in range(TRIES):
        ends = await link.ends()
        try:
            records = await _all(link, ends.first, max(ends.end, at_least))
        except CutAwayError:
            continue
        following = ends.first if records.next is None else records.next
        return Scanned(_read(ends.first, records, kept, window, without), ends.first, max(following, ends.end))
    raise LogUnavailableError("the front of the log was cut away again and again while it was read")


async def _all(link: Link, first: int, end: int) -> Journal:
    offset, journal = first, Journal()
    while offset < end:
        batch = await link.fetch(offset, FETCH_SECONDS)
        if batch.next <= offset:
            raise LogUnavailableError(f"the log ends at offset {end}, and offset {offset} does not come")
        offset = batch.next
        for one in found(batch):
            journal.add(one)
    return journal


@dataclass(frozen=True, slots=True)
class _Appends:
    """What the choice of a beginning sees of a journal, as often as it goes through it."""

    journal: Journal
    named: dict[int, bytes]
    """Digests of the folds that appends name, by their offsets."""

    def __iter__(self) -> Iterator[Named]:
        for one in self.journal:
            if isinstance(one.claim, Prefix):
                yield Named(one.claim, self.named.get(one.offset, b""))


def _read(first: int, records: Journal, kept: int, window: int, without: Mapping[bytes, str]) -> Reading:
    """Choose a beginning, and read on from there."""
    gathered: defaultdict[bytes, list[Chunk]] = defaultdict(list)
    named: dict[int, SnapshotPointer] = {}
    for one in records:
        if isinstance(one.claim, Chunk):
            gathered[one.claim.told].append(one.claim)
        elif isinstance(one.claim, Prefix) and (pointer := pointer_in(one.value, one.claim)):
            named[one.offset] = pointer
    aids = [gathered.pop(told) for told in [*gathered] if gathered[told][0].format == AID]
    appends = ((one.claim, one.value) for one in records if isinstance(one.claim, Prefix))
    stated = stated_roots(appends, (chunks[0].place for chunks in gathered.values()))
    found = candidates(gathered, named.values(), stated, without)
    told = {offset: bytes.fromhex(pointer.snapshot_digest) for offset, pointer in named.items()}
    begin = beginning(first, _Appends(records, told), found.places)
    if begin is None:
        raise _without_front(first, records, gathered, found)
    place, digest = begin
    for sentence in found.newer_than(place):
        log.warning("%s", sentence)
    reading = Reading.at(place, found.folds.get(digest, ()), kept, window)
    try:
        for one in records:
            reading.take(one)
    except LostError as error:
        raise LogDamagedError(
            f"the log has lost appends, or holds two histories: {error}. Writes have stopped. Dump what a node still "
            "knows or take the newest dump, and restore it into a new topic; see docs/log.md"
        ) from error
    reading.aids = aid.newest(aids, reading.history)
    reading.aided = {kind: one for kind, one in reading.aided.items() if kind in reading.aids}
    return reading


def _without_front(
    first: int, records: Journal, gathered: Mapping[bytes, list[Chunk]], found: Candidates
) -> LogDamagedError:
    """Why nothing can be begun at: another format, or folds that are no good or not there."""
    for chunks in gathered.values():
        if chunks[0].format < FORMAT:
            return other_format(
                f"the snapshot at sequence {chunks[0].place.sequence}", "format", chunks[0].format, FORMAT
            )
    for one in records:
        if isinstance(one.claim, Prefix) and one.claim.format < ENVELOPE_FORMAT:
            return other_format(
                f"the append at sequence {one.claim.first}", "envelope format", one.claim.format, ENVELOPE_FORMAT
            )
    why = "".join(f" ({sentence})" for sentence in found.newer_than(START))
    return LogDamagedError(
        f"the front of the log is missing: it begins at offset {first}, and no whole snapshot stands for what was there{why}. "
        "Restore the newest dump into a new topic, or bring the records back; see docs/log.md"
    )
