"""Reading a whole partition: every record from the first one to the end, and where in it to begin."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from treaty.core.commit import EnvelopeError, Prefix, read_append
from treaty.log.kafka.any import aid
from treaty.log.kafka.any.beginning import Named, beginning
from treaty.log.kafka.any.chunks import AID, Chunk, whole
from treaty.log.kafka.any.journal import Journal
from treaty.log.kafka.any.reading import FOLD, LostError, Reading, folds_named
from treaty.log.kafka.any.records import ADDRESS, Found, claim_of
from treaty.log.kafka.link import Batch, CutAwayError, Link
from treaty.log.log import LogDamagedError, LogUnavailableError

FETCH_SECONDS = 5.0
"""How long a fetch waits for records that must be there."""
TRIES = 5
"""Times that a scan begins anew because the front was cut away meanwhile."""
_TRACE = b'"' + FOLD.encode() + b'"'


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


async def scan(link: Link, kept: int, window: int, *, at_least: int = 0) -> Scanned:
    """Read everything up to the end as it is now, or up to an offset where that is further.

    Raises `LogUnavailableError`; `LogDamagedError` where what is there is no whole log, with the remedy.
    """
    for _ in range(TRIES):
        ends = await link.ends()
        try:
            records = await _all(link, ends.first, max(ends.end, at_least))
        except CutAwayError:
            continue
        following = ends.first if records.next is None else records.next
        return Scanned(_read(ends.first, records, kept, window), ends.first, max(following, ends.end))
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


def _read(first: int, records: Journal, kept: int, window: int) -> Reading:
    """Choose a beginning, and read on from there."""
    gathered: defaultdict[bytes, list[Chunk]] = defaultdict(list)
    named: dict[int, bytes] = {}
    for one in records:
        if isinstance(one.claim, Chunk):
            gathered[one.claim.told].append(one.claim)
        elif isinstance(one.claim, Prefix) and (told := _names(bytes(one.value))):
            named[one.offset] = told
    aids = [gathered.pop(told) for told in [*gathered] if gathered[told][0].format == AID]
    folds = {told: whole(chunks) for told, chunks in gathered.items()}
    places = {told: chunks[0].place for told, chunks in folds.items() if chunks}
    begin = beginning(first, _Appends(records, named), places)
    if begin is None:
        raise LogDamagedError(
            f"the front of the log is missing: it begins at offset {first}, and no whole fold stands for what was there. "
            "Restore the newest dump into a new topic, or bring the records back; see docs/log.md"
        )
    place, told = begin
    reading = Reading.at(place, folds.get(told, ()), kept, window)
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


def _names(value: bytes) -> bytes:
    """Digest of the fold that an append names; b"" where it names none."""
    if _TRACE not in value:
        return b""
    try:
        rows = (row for commit in read_append(value).commits for row in commit.rows)
        return next((bytes.fromhex(fold.snapshot_digest) for fold in folds_named(rows)), b"")
    except (EnvelopeError, ValueError):
        return b""
