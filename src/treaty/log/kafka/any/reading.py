"""What one reader has made of the partition: its history, the last appends at hand, and the folds on their way. No I/O."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from zlib import crc32

from treaty.core.commit import ENVELOPE_FORMAT, START, Commit, EnvelopeError, Position, Prefix, read_append, undamaged
from treaty.core.limits import APPENDS_KEPT, WINDOW_BYTES
from treaty.core.rows import Encoded, decode_row
from treaty.core.values import SnapshotPointer
from treaty.log.kafka.any.chunks import AID, FORMAT, Chunk, FoldError, WrongFoldError, rows_of
from treaty.log.kafka.any.records import Found, Odd
from treaty.log.kafka.any.rule import History, Verdict
from treaty.log.kafka.any.spool import Payload
from treaty.log.log import AppendResult, LogDamagedError, NewerLogFormatError, OlderLogFormatError

FOLD = "snapshot"
"""The state table whose rows name folds."""
NEWEST = ("newest",)
_TRACE = b'"snapshot"'
"""What an append that names a fold has in its bytes."""


class LostError(Exception):
    """What was read is not the history that the log shows now: read everything anew. The message says what was seen."""


class FoldDroppedError(Exception):
    """The fold that a reader begins at can't be used: read everything anew without it. The message says why."""

    def __init__(self, told: bytes, why: str) -> None:
        """Keep its digest."""
        super().__init__(why)
        self.told = told


@dataclass(slots=True)
class Held:
    """A valid append at hand: the place before it, where it stood, and its bytes or, once read, its commits."""

    before: Position
    after: Position
    offset: int
    size: int
    value: Payload
    commits: tuple[Commit, ...] | None = None

    def rows(self, *, once: bool = False) -> Iterable[Encoded]:
        """Its rows in their order. Raises `LogDamagedError`. They are not kept where they are wanted `once`."""
        commits = self.commits
        if commits is None:
            try:
                commits = read_append(bytes(self.value)).commits
            except (EnvelopeError, ValueError) as error:
                raise LogDamagedError(f"offset {self.offset}: {error}; restore the log from a dump") from error
            if not once:
                self.commits, self.value = commits, b""
        return (row for commit in commits for row in commit.rows)


@dataclass(slots=True)
class Seen:
    """Records that were read, counted since the reader began or, where it says so, since the last fold."""

    aliens: int = 0
    losers: int = 0
    records: int = 0
    """Since the last fold."""
    bytes: int = 0
    """Since the last fold."""
    total: int = 0
    """Bytes of all records but chunks."""


@dataclass(slots=True)
class Reading:
    """One reader. `base` is where it began, `chunks` the fold there, until the state was given away and they are dropped.

    `fates` says what became of the attempts in `flying`, which are this node's own.
    """

    base: Position = START
    chunks: tuple[Chunk, ...] = ()
    kept: int = APPENDS_KEPT
    window: int = WINDOW_BYTES
    history: History = field(default_factory=History)
    held: deque[Held] = field(default_factory=deque)
    seen: Seen = field(default_factory=Seen)
    whole: bool = True
    """Whether what is held begins at the base."""
    given: bool = False
    """Whether the state was given to the node, so that it is time to let go of what is old."""
    flying: dict[bytes, tuple[Commit, ...]] = field(default_factory=dict)
    fates: dict[bytes, AppendResult] = field(default_factory=dict)
    address: str = ""
    """Of the node that won last."""
    winner: bytes = b""
    """Its attempt."""
    folds: dict[bytes, dict[int, int]] = field(default_factory=dict)
    """Chunks that were seen of folds that no append has named yet: by their numbers the CRC-32 of their payloads."""
    weight: int = 0
    """Bytes of the appends that are held."""
    aids: dict[int, tuple[Chunk, ...]] = field(default_factory=dict)
    """By their kinds the newest aids that were there at the beginning, until the state was given away."""
    aided: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Sequence of the newest aid of each kind, and the bytes of records that were read before it."""
    folded: tuple[int, int] = (0, 0)
    """Rows and bytes of the last fold, as far as they are known."""

    @staticmethod
    def at(base: Position, chunks: tuple[Chunk, ...], kept: int, window: int) -> "Reading":
        """Begin at a place: START, or that of a whole fold."""
        reading = Reading(base, chunks, kept, window, History.at(base) if chunks else History())
        if chunks:
            reading.folded = chunks[0].rows, sum(len(one.payload) for one in chunks)
        return reading

    @property
    def tip(self) -> Position:
        """The place after the last valid append that was read."""
        return self.history.tip

    # ---------------------------------------------------------------------------------------------------- taking

    def take(self, found: Found) -> None:
        """Take the next record. Raises `LostError`, or `LogDamagedError` where no reading anew will help."""
        claim = found.claim
        if not isinstance(claim, Chunk):
            self.seen.records += 1
            self.seen.bytes += len(found.value)
            self.seen.total += len(found.value)
        if claim is Odd.ALIEN:
            self.seen.aliens += 1
        elif isinstance(claim, Odd):
            raise LogDamagedError(
                f"the record at offset {found.offset} was cut short, or its first bytes were changed: restore the log from a dump"
            )
        elif isinstance(claim, Chunk) and claim.format == AID:
            if claim.index + 1 == claim.count:
                self.aided[claim.rows] = claim.place.sequence, self.seen.total
        elif isinstance(claim, Chunk):
            if claim.place.sequence > self.base.sequence:
                self.folds.setdefault(claim.told, {})[claim.index] = crc32(bytes(claim.payload))
        else:
            self._append(found, claim)

    def _append(self, found: Found, claim: Prefix) -> None:
        before = self.history.tip
        verdict = self.history.judge(claim)
        known = claim.format == ENVELOPE_FORMAT
        if known and not self._is_past(claim) and not undamaged(bytes(found.value)):
            raise LogDamagedError(
                f"the append at offset {found.offset}, sequence {claim.first}, is damaged: restore the log from a dump"
            )
        if verdict in {Verdict.NEWER, Verdict.OLDER}:
            raise other_format(
                f"the append at sequence {claim.first}", "envelope format", claim.format, ENVELOPE_FORMAT
            )
        if verdict is Verdict.MISSING:
            raise LostError(f"offset {found.offset} has sequence {claim.first}, and {before.sequence} was the last one")
        if verdict is Verdict.FORKED:
            raise LostError(f"offset {found.offset} was decided on another append at sequence {claim.first - 1}")
        if verdict is Verdict.LOSER:
            self.seen.losers += 1
            if claim.attempt in self.flying:
                self.fates.setdefault(claim.attempt, AppendResult.CONFLICT)
            return
        self.history.follow(claim)
        names_fold = _TRACE in bytes(found.value)
        self._hold(
            Held(before, claim.position, found.offset, len(found.value), found.value),
            claim.attempt,
            names_fold=names_fold,
        )
        self.address, self.winner = found.address, claim.attempt
        if names_fold:
            self._named(self.held[-1])
        self._trim()

    def _is_past(self, claim: Prefix) -> bool:
        """Whether a record may lie before the fold that was begun at, which stands for it whatever became of it."""
        base = self.base.sequence
        return base > 0 and self.tip.sequence == base and claim.last <= base

    def _hold(self, one: Held, attempt: bytes, *, names_fold: bool) -> None:
        own = self.flying.get(attempt)
        if own is not None:
            self.fates[attempt] = AppendResult.ACCEPTED
            if not names_fold:
                one.commits, one.value = own, b""
        self.held.append(one)
        self.weight += one.size

    def _named(self, one: Held) -> None:
        """A fold counts from here on: what was before its place need not be remembered."""
        for fold in folds_named(one.rows()):
            known = self.history.digest_at(fold.sequence)
            if fold.sequence <= self.history.oldest or known is None or known.hex() != fold.digest:
                continue  # an older one, or one of the log that this one was restored from
            self.folds.clear()
            self.history.forget(fold.sequence)
            self.seen.records = self.seen.bytes = 0
            self.aided = {kind: one for kind, one in self.aided.items() if one[0] >= fold.sequence}

    def _trim(self) -> None:
        if not self.given:
            return
        while len(self.held) > 1 and (len(self.held) > self.kept or self.weight > self.window):
            self.weight -= self.held.popleft().size
            self.whole = False

    # ---------------------------------------------------------------------------------------------------- giving

    def since(self, after: Position) -> list[Held] | None:
        """The appends after a place; None where it is none that is at hand."""
        if after.agrees(self.tip):
            return []
        found = []
        for one in reversed(self.held):
            found.append(one)
            if one.before.agrees(after):
                return found[::-1]
        return None

    def came_after(self, kind: int) -> float:
        """Bytes of records after the newest aid of a kind; infinite where there is none."""
        return self.seen.total - self.aided[kind][1] if kind in self.aided else inf

    def give(self) -> None:
        """The node has the state now: let go of the fold, and of appends beyond the limits."""
        self.given, self.aids = True, {}
        if self.chunks:
            self.chunks, self.whole = (), False
        self._trim()


def folds_named(rows: Iterable[Encoded]) -> list[SnapshotPointer]:
    """The folds that some rows name."""
    values = (decode_row(row).value for row in rows if row.table == FOLD)
    return [value for value in values if isinstance(value, SnapshotPointer)]


def changes(appends: Iterable[Held]) -> tuple[Encoded, ...]:
    """The last state of each row that some appends changed, tombstones among them."""
    return tuple({(row.table, row.key): row for one in appends for row in one.rows()}.values())


def state(chunks: Sequence[Chunk], appends: Iterable[Held]) -> tuple[Encoded, ...]:
    """The live rows after some appends on a fold. Raises `FoldDroppedError` and `LogDamagedError`."""
    rows: dict[tuple[str, str], Encoded] = {}
    try:
        if chunks:
            rows = {(row.table, row.key): row for row in rows_of(chunks)}
    except WrongFoldError as error:
        raise FoldDroppedError(chunks[0].told, str(error)) from error
    except FoldError as error:
        first = chunks[0]
        raise other_format(
            f"the snapshot at sequence {first.place.sequence}", "format", first.format, FORMAT
        ) from error
    for one in appends:
        for row in one.rows(once=True):
            if row.value is None:
                rows.pop((row.table, row.key), None)
            else:
                rows[row.table, row.key] = row
    return tuple(rows.values())


def other_format(what: str, name: str, found: int, known: int) -> LogDamagedError:
    """The error for something of another format than the one that this version reads."""
    if found > known:
        return NewerLogFormatError(
            f"of a newer version of Treaty than this node's: {what} has {name} {found}, known here is {known}; "
            "nothing is lost, upgrade this node"
        )
    return OlderLogFormatError(
        f"of an older format: {what} has {name} {found}, known here is {known}. Stop its nodes and carry it into a new log with "
        "`treaty log upgrade OLD NEW`"
    )
