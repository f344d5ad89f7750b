"""What is durable in a simulated log, and a record of everything that ever became so."""

import asyncio
from collections.abc import Callable, Mapping

from tests.simulation.clock import Jobs
from treaty.core.state.commit import START, Append, Position
from treaty.core.state.rows import EncodedRow
from treaty.log.log import AppendResult, LogDelta


class Disk:
    """The last state of every row, tombstones within a horizon, and the appends with their places.

    `remembered` is how many appends a follower may be behind before it has to read everything anew.
    """

    def __init__(self, remembered: int, jobs: Jobs | None = None) -> None:
        self.remembered = remembered
        self.jobs = jobs or Jobs()
        self.tip = START
        self.appends: list[Append] = []
        self.rows: dict[tuple[str, str], tuple[int, EncodedRow]] = {}
        self.lock = asyncio.Lock()
        self.landed: Callable[[Append], None] = lambda _: None
        """Called for every append, the moment it is durable."""
        self.forgotten = 0
        """Appends that were compacted away: who is behind them reads everything anew."""
        self.life = 0
        """Raised when the database is put back: what was on its way before is gone."""
        self._news = asyncio.Event()

    def take(self, append: Append) -> AppendResult:
        """Append if the parent is the tip; the whole law of the log."""
        if append.parent != self.tip.digest or append.first != self.tip.sequence + 1:
            return AppendResult.CONFLICT
        if self.tip != START and append.identity != self.tip.identity:
            return AppendResult.CONFLICT
        for commit in append.commits:
            for row in commit.rows:
                self.rows[row.table, row.key] = (commit.sequence, row)
        self.tip = append.position
        self.appends.append(append)
        self.landed(append)
        self._news.set()
        self._news = asyncio.Event()
        return AppendResult.ACCEPTED

    def _place(self, after: Position) -> int | None:
        """How many appends there were at a place, if that place is in the remembered history."""
        if after.agrees(self.tip):
            return len(self.appends)
        oldest = max(self.forgotten, len(self.appends) - self.remembered)
        for place in range(len(self.appends), oldest, -1):
            if self.appends[place - 1].position.agrees(after):
                return place
        return None

    def since_by_append(self, after: Position) -> LogDelta:
        """What a log that keeps appends says (the memory log)."""
        place = self._place(after)
        if place is None:
            return self._everything()
        changed = {(r.table, r.key): r for one in self.appends[place:] for c in one.commits for r in c.rows}
        return LogDelta(self.tip, tuple(changed.values()))

    def since_by_row(self, after: Position) -> LogDelta:
        """What a log that keeps rows with the sequence of their last change says (SQL)."""
        if self._place(after) is None:
            return self._everything()
        changed = [row for sequence, row in self.rows.values() if sequence > after.sequence]
        return LogDelta(self.tip, tuple(sorted(changed, key=lambda row: (row.table, row.key))))

    def _everything(self) -> LogDelta:
        return LogDelta(self.tip, tuple(row for _, row in self.rows.values() if row.value is not None), reload=True)

    def compact(self, keep: int) -> None:
        """Forget all places but the last `keep`, and the tombstones that only those before them need."""
        self.forgotten = max(self.forgotten, len(self.appends) - keep)
        horizon = self.appends[self.forgotten - 1].last if self.forgotten else 0
        dead = [one for one, (at, row) in self.rows.items() if row.value is None and at <= horizon]
        for one in dead:
            del self.rows[one]

    def put_back(self, place: Position, texts: Mapping[tuple[str, str], str] | None = None) -> None:
        """Be as at an earlier place, as after a fail-over that lost the last commits; connections break.

        `texts` are those of all rows there, where some were changed past the log and accepted.
        """
        kept = [one for one in self.appends if one.last <= place.sequence]
        self.appends, self.rows, self.tip = [], {}, START
        self.forgotten = min(self.forgotten, len(kept))
        self.life += 1
        told, self.landed = self.landed, lambda _: None
        for append in kept:
            self.take(append)
        self.landed = told
        for (table, key), (at, row) in self.rows.items():
            if texts is not None and row.value != texts.get((table, key)):
                self.rows[table, key] = (at, EncodedRow(table, key, texts[table, key]))
        self._news.set()
        self._news = asyncio.Event()

    async def news(self, after: Position) -> None:
        """Return when the tip is not `after`."""
        while self.tip == after:
            await self._news.wait()
