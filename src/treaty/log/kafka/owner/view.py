"""What the records of the topic add up to: the rows, and the place that they show. Pure."""

from treaty.core.commit import START, Position
from treaty.core.limits import APPENDS_KEPT, WINDOW_BYTES
from treaty.log.kafka.link import Batch
from treaty.log.kafka.owner.forms import MARK, Mark, MarkError, OtherMarkError, read_mark
from treaty.log.kafka.owner.unmarked import Watch
from treaty.log.kafka.owner.window import Window

AFTER = 2
"""Offsets from a mark to the first one that may hold something new: its own, and the marker of its commit."""


class GapError(Exception):
    """What was read next does not follow what was read before: compaction was quicker, or history is another one."""


class ForkError(Exception):
    """The topic contradicts itself, or is nobody's log; the message says how."""


class View:
    """Follows the records of one topic, in order, as a reader sees them who sees only committed ones.

    It shows nothing but ends of transactions. While it loads it takes gaps for what they are, the work of compaction, and
    must not be shown before it has come to the end. Afterwards it takes nothing but whole transactions, each on the
    one before: `rows` of the mark, no more and no less. A lagging reader could otherwise see a transaction by half,
    because the broker may take away what a later transaction replaces before it takes away the earlier one's mark.
    """

    def __init__(self, offset: int = 0, *, kept: int = APPENDS_KEPT, bytes_kept: int = WINDOW_BYTES) -> None:
        """Begin to load at an offset, which has to be the first one."""
        self.offset = offset
        """Where to read on."""
        self.loading = True
        self.position: Position = START
        """The last end of a transaction."""
        self.window = Window(START, kept, bytes_kept)
        self.whole: dict[bytes, bytes | None] | None = {}
        """The last value of every key, as long as somebody may need it."""
        self._open: dict[bytes, bytes | None] = {}
        """Records after the last mark."""
        self._count = 0
        self._marked = -1
        """Offset of the last mark."""
        self.watch: Watch | None = None
        """Told of all records, where somebody looks for those that belong to no transaction."""
        self.run = offset
        """From here on up to the last mark every transaction was read whole, each on the one before."""

    @classmethod
    def after(cls, place: Position, marked: int, *, kept: int = APPENDS_KEPT, bytes_kept: int = WINDOW_BYTES) -> "View":
        """Begin at the mark of a place, for somebody who has the rows there. It takes nothing but whole transactions, from
        the first one on; it is no good until it is `proven`.
        """
        view = cls(marked, kept=kept, bytes_kept=bytes_kept)
        view.loading, view.position, view.whole = False, place, None
        view.window.begin(place)
        return view

    @property
    def proven(self) -> bool:
        """Whether a mark was read: that of the place where it began, or of a whole transaction on it."""
        return self._marked >= 0

    @property
    def marked(self) -> int:
        """Offset of the mark of the place that it shows."""
        return self._marked

    @property
    def end(self) -> int:
        """The offset at which the next record is written at the latest, if nothing was written that was not read."""
        return max(self.offset, self._behind)

    @property
    def _behind(self) -> int:
        """The first offset that may hold something behind the last mark."""
        return self._marked + AFTER if self.proven else 0

    def covers(self, end: int) -> bool:
        """Whether surely no mark is missing before an offset: the last one stands there, and the marker of its commit.

        Otherwise some may have been there that compaction took away, since later ones replace them; who asks for the end
        again learns of these.
        """
        return end <= self._behind

    def feed(self, batch: Batch) -> None:
        """Take records that follow those taken before. Raises `GapError`; while loading `ForkError`
        or `OtherMarkError`. Then it is void.
        """
        for record in batch.records:
            if record.offset < self.offset:
                continue
            key = record.key or b""
            if key == MARK:
                self._end(record.value, record.offset)
            else:
                if self.watch is not None:
                    self.watch.record(key, record.value)
                self._open.pop(key, None)
                self._open[key] = record.value
                self._count += 1
        self.offset = max(self.offset, batch.next)

    def loaded(self) -> None:
        """The end was reached: from here on, only what follows exactly. Raises `ForkError` where rows have no mark."""
        if self.position == START and self._open:
            raise ForkError("it has records, but none says where a log ends")
        self.loading = False

    def _end(self, value: bytes | None, offset: int) -> None:
        try:
            mark = read_mark(value)
        except MarkError as error:
            if self.loading and isinstance(error, OtherMarkError):
                raise
            raise (ForkError if self.loading else GapError)(str(error)) from error
        if not self.loading and not self.proven and mark.position.agrees(self.position) and not self._count:
            self._marked = offset
            return
        follows = self._follows(mark) and self._is_whole(mark)
        if not follows and not self.loading:
            message = f"sequence {mark.first} does not follow {self.position.sequence}, or has not all its rows"
            raise GapError(message)
        if self.loading:
            self._refuse_fork(mark)
        if self.watch is not None:
            self.watch.mark(mark.rows, self.whole or {}, follows=self._follows(mark))
        self.position, self._marked = mark.position, offset
        if follows:
            self.window.add(mark.position, self._open)
        else:
            self.window.begin(mark.position)
            self.run = offset + 1
        if self.whole is not None:
            self.whole.update(self._open)
        self._open = {}
        self._count = 0

    def _is_whole(self, mark: Mark) -> bool:
        """Whether all rows of the transaction came, and nothing else."""
        return len(self._open) == self._count == mark.rows

    def _follows(self, mark: Mark) -> bool:
        here = self.position
        if mark.parent != here.digest or mark.first != here.sequence + 1:
            return False
        return here == START or mark.identity == here.identity

    def _refuse_fork(self, mark: Mark) -> None:
        """Compaction takes marks away, but never makes two of them contradict each other."""
        here = self.position
        if here == START:
            return
        if mark.identity != here.identity:
            raise ForkError(f"sequence {mark.last} is of another log than sequence {here.sequence}")
        if mark.first <= here.sequence or (mark.first == here.sequence + 1 and mark.parent != here.digest):
            raise ForkError(f"sequence {mark.first} was written by somebody who had not read sequence {here.sequence}")
