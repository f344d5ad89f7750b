"""The tail: one task that reads the partition on and on, and tells all who wait for an offset, a place or a chunk."""

import asyncio
import logging
from collections.abc import Callable

from treaty.core.commit import Position
from treaty.log.kafka.any.reading import FoldDroppedError, LostError, Reading
from treaty.log.kafka.any.scan import Scanned, found, scan
from treaty.log.kafka.link import CutAwayError, Link
from treaty.log.log import LogDamagedError, LogUnavailableError

log = logging.getLogger("treaty.log")

POLL_SECONDS = 10.0
"""How long one fetch waits for records."""
PAUSE = 0.2
"""Seconds between two tries to reach the partition."""
DAMAGED_PAUSE = 5.0
"""The same where what was read can't go on."""
SHORT = 10
"""Times that the partition may end before what was read from it, before that counts as lost and all is read anew."""


class Tail:
    """Reads as far as there is anything. Who waits gets the trouble that the reading ran into after they came."""

    def __init__(self, link: Link, kept: int, window: int) -> None:
        """Read nothing until `begun`."""
        self._link = link
        self._kept, self._window = kept, window
        self._scanned: Scanned | None = None
        self._next = 0
        self._short = 0
        self._task: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self._news: asyncio.Future[None] | None = None
        self._damage: LogDamagedError | None = None
        self._without: dict[bytes, str] = {}
        """Folds that were found to be no good, and why."""
        self.anew = 0
        """How often everything was read anew because the history was another one."""

    @property
    def reading(self) -> Reading:
        """What has been read; after `begun`."""
        assert self._scanned is not None
        return self._scanned.reading

    @property
    def foreign_records(self) -> int:
        """Records without the magic among those that were read."""
        return 0 if self._scanned is None else self._scanned.reading.seen.aliens

    @property
    def next(self) -> int:
        """The offset to be read next."""
        return self._next

    async def begun(self) -> None:
        """Read everything once, and have the tail followed from there."""
        if self._scanned is None:
            async with self._beginning:
                if self._scanned is None:
                    self._set(await self.scan())
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="kafka tail")

    def _set(self, scanned: Scanned) -> None:
        flying = {} if self._scanned is None else self.reading.flying
        fates = {} if self._scanned is None else self.reading.fates
        self._scanned, self._next = scanned, scanned.next
        scanned.reading.flying, scanned.reading.fates = flying, fates

    # ---------------------------------------------------------------------------------------------------- waiting

    async def until(self, done: Callable[[], bool]) -> None:
        """Return when something holds. Raises what the reading runs into meanwhile."""
        while not done():
            if self._damage is not None:
                raise type(self._damage)(*self._damage.args)
            if self._news is None:
                self._news = asyncio.get_running_loop().create_future()
                self._news.add_done_callback(_heard)
            await asyncio.shield(self._news)

    async def at_offset(self, offset: int) -> None:
        """Return when everything before an offset has been read."""
        await self.until(lambda: self._next >= offset)

    async def past(self, place: Position, timeout: float) -> None:
        """Return when the tip is not a place any more, at the latest after some seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self.until(lambda: self.reading.tip != place)
        except TimeoutError:
            pass

    def _tell(self, trouble: Exception | None = None) -> None:
        news, self._news = self._news, None
        if news is not None and not news.done():
            if trouble is None:
                news.set_result(None)
            else:
                news.set_exception(trouble)

    # ---------------------------------------------------------------------------------------------------- reading on

    async def _run(self) -> None:
        """Read on, for ever."""
        while True:
            try:
                await self._step()
                self._damage = None
            except LogUnavailableError as error:
                self._tell(error)
                await asyncio.sleep(PAUSE)
            except LogDamagedError as error:
                self._damage = error
                self._tell(error)
                await asyncio.sleep(DAMAGED_PAUSE)
            except Exception as error:  # noqa: BLE001 - those who wait have to hear of it, whatever it is
                self._tell(error)
                await asyncio.sleep(DAMAGED_PAUSE)

    async def _step(self) -> None:
        try:
            at = self._next
            batch = await self._link.fetch(at, POLL_SECONDS)
            if self._next != at:
                return  # everything was read anew meanwhile
            for one in found(batch):
                self.reading.take(one)
                self._next = one.offset + 1
            self._next = max(self._next, batch.next)
            self._short = 0
        except CutAwayError:
            await self._again()
        except LostError:
            await self._anew()
        self._tell()

    async def _again(self) -> None:
        """The next offset is not there: a fold has cut it away, or the partition has lost its end.

        A leader that was just elected may not know of the end yet; so that is waited for.
        """
        ends = await self._link.ends()
        if ends.end < self._next and self._short < SHORT:
            self._short += 1
            raise LogUnavailableError(f"the partition ends at offset {ends.end}, and {self._next} was read from it")
        await self._anew()

    async def _anew(self) -> None:
        self.anew += 1
        self._set(await self.scan())
        self._short = 0

    async def scan(self, *, at_least: int = 0) -> Scanned:
        """Read the whole partition, without the folds that are no good."""
        return await scan(self._link, self._kept, self._window, at_least=at_least, without=self._without)

    async def drop(self, error: FoldDroppedError) -> None:
        """Leave a fold aside from now on, and read everything anew if that began at it.

        Raises `LogUnavailableError`, and `LogDamagedError` where nothing else stands for what the fold stood for.
        """
        self._without[error.told] = str(error)
        log.warning("%s; it is left aside", error)
        async with self._beginning:
            self._set(await self.scan(at_least=self._next))
        self._tell()

    async def close(self) -> None:
        """Read no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._tell(LogUnavailableError("this log was closed"))


def _heard(future: asyncio.Future[None]) -> None:
    """Trouble that nobody waits for any more is no news."""
    if not future.cancelled():
        future.exception()
