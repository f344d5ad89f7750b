"""The queue of passwords that wait to be checked: wrong ones from one address cost others nothing.

First come credentials that were right before, then known users before unknown ones, addresses with fewer wrong passwords before
those with more. So who guesses waits behind who knows, and where the queue is full goes first.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from treaty.api.auth.credential_cache import CredentialCache
from treaty.core.limits import PASSWORD_CHECKS, PASSWORD_CHECKS_EACH, PASSWORD_FAILURES
from treaty.core.refusals import Unavailable

FAILURE_SECONDS = 60.0
"""Seconds in which an address may have as many wrong passwords as `PASSWORD_FAILURES` says, over and over."""
DELAY_SECONDS = 0.1
"""By how much each failure past `PASSWORD_FAILURES` delays the next check of its address."""
LONGEST_DELAY = 5.0
REFUSAL_SECONDS = 1.0
"""How long a refusal for want of room is held back, so that a client that tries again at once does not keep the server busy."""
REFUSALS_HELD = 256
"""Refusals that are held back at once; further ones are sent at once, so that they do not fill the server."""
WAKE_SECONDS = 1.0
"""After this at most the queue looks again whose turn it is, where all who wait are put off."""


@dataclass(eq=False, slots=True)
class PasswordCheck:
    """A password that waits: whose it should be, where it came from, and what finishes when its turn comes.

    `is_trusted` says that these very credentials were right before, `is_known` that there is such a user.
    """

    name: str
    address: str
    is_known: bool
    is_trusted: bool
    number: int
    turn: "asyncio.Future[None]"


@dataclass(slots=True)
class PasswordQueue:
    """Checks that wait, and those that run. `clock` is in monotonic seconds, `sleep` waits as long."""

    threads: int
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    most: int = PASSWORD_CHECKS
    most_each: int = PASSWORD_CHECKS_EACH
    waiting: list[PasswordCheck] = field(default_factory=list)
    running: int = 0
    at_work: Counter[str] = field(default_factory=Counter)
    """Checks that run, by address."""
    held: int = 0
    """Refusals that are held back."""
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    failures: CredentialCache[tuple[float, float]] = field(init=False)
    """How many wrong passwords an address has had, and when that was; they are forgotten one by one."""
    later: dict[str, float] = field(default_factory=dict)
    """When an address has its next turn, where that is put off."""
    waker: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        """Begin without failures."""
        self.failures = CredentialCache(self.clock)

    async def wait_for_turn(self, name: str, address: str, *, is_known: bool, is_trusted: bool) -> None:
        """Return when a password is to be checked; call `end_turn` after it. Raises `Unavailable` where there is no room."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        check = PasswordCheck(name, address, is_known, is_trusted, next(self.numbers), turn)
        try:
            self._admit(check)
        except Unavailable:
            await self._delay_refusal()
            raise
        self._start()
        try:
            await turn
        except asyncio.CancelledError:
            if check in self.waiting:
                self.waiting.remove(check)
            elif turn.done() and not turn.cancelled() and turn.exception() is None:
                self.end_turn(address)
            raise

    def _admit(self, check: PasswordCheck) -> None:
        """Put a password in the queue; raises `Unavailable` where there is no room.

        Many users may come from one address, a proxy's: it has few places only once it has had many wrong passwords.
        """
        if not check.is_trusted:
            neighbours = [one for one in self.waiting if check.address and one.address == check.address]
            if self._count_failures(check.address) > PASSWORD_FAILURES - 1:  # the last one is being forgotten
                self._make_room(check, neighbours, "PASSWORD_CHECKS_EACH")
            self._make_room(check, [one for one in self.waiting if one.name == check.name], "PASSWORD_CHECKS_EACH")
        self._make_room(check, self.waiting, "PASSWORD_CHECKS")
        self.waiting.append(check)

    async def _delay_refusal(self) -> None:
        if self.held < REFUSALS_HELD:
            self.held += 1
            try:
                await self.sleep(REFUSAL_SECONDS)
            finally:
                self.held -= 1

    def end_turn(self, address: str, *, is_right: bool | None = None) -> None:
        """Note what came of a check (None: nothing), and let the next one run."""
        self.running -= 1
        self.at_work[address] -= 1
        if not self.at_work[address]:
            del self.at_work[address]
        if is_right is False and address:
            self._note_failure(address)
        self._start()

    def _note_failure(self, address: str) -> None:
        now, count = self.clock(), self._count_failures(address) + 1
        self.failures.put(address.encode(), (count, now), now + FAILURE_SECONDS * count / PASSWORD_FAILURES)
        if count > PASSWORD_FAILURES:
            self.later = {one: until for one, until in self.later.items() if until > now}
            self.later[address] = now + min(LONGEST_DELAY, (count - PASSWORD_FAILURES) * DELAY_SECONDS)

    def _count_failures(self, address: str) -> float:
        """How many wrong passwords an address has had that are not forgotten."""
        known = self.failures.get(address.encode())
        if known is None:
            return 0.0
        count, when = known
        return max(0.0, count - (self.clock() - when) * PASSWORD_FAILURES / FAILURE_SECONDS)

    def _rank(self, check: PasswordCheck) -> tuple[bool, bool, int, int, int]:
        """The smallest one has the next turn, the largest one goes first where there is no room."""
        busy = self.at_work.get(check.address, 0)
        failures = int(self._count_failures(check.address))
        return not check.is_trusted, not check.is_known, failures, busy, check.number

    def _make_room(self, check: PasswordCheck, crowd: list[PasswordCheck], limit: str) -> None:
        """Send the last one of a crowd away for one that ranks before it; raises `Unavailable` where there is none."""
        if len(crowd) < (self.most if limit == "PASSWORD_CHECKS" else self.most_each):
            return
        last = max(crowd, key=self._rank)
        refusal = Unavailable(f"too many passwords wait to be checked (limit {limit}); come again", LONGEST_DELAY)
        if self._rank(last) < self._rank(check):
            raise refusal
        self.waiting.remove(last)
        if not last.turn.done():
            last.turn.set_exception(refusal)

    def _start(self) -> None:
        """Give turns while threads are free; addresses that are put off are waited for."""
        while self.running < self.threads:
            now = self.clock()
            alive = [one for one in self.waiting if not one.turn.done()]
            ready = [one for one in alive if one.is_trusted or self.later.get(one.address, 0.0) <= now]
            if not ready:
                break
            check = min(ready, key=self._rank)
            self.waiting.remove(check)
            self.running += 1
            self.at_work[check.address] += 1
            check.turn.set_result(None)
        if self.waiting and self.running < self.threads and self.waker is None:
            left = min(self.later.get(one.address, 0.0) for one in self.waiting) - self.clock()
            self.waker = asyncio.create_task(self._wake(min(max(0.0, left), WAKE_SECONDS)))

    async def _wake(self, seconds: float) -> None:
        """Start again when the first address that is put off has its turn."""
        await self.sleep(seconds)
        self.waker = None
        self._start()

    def close(self) -> None:
        """Give no more turns to those that are put off."""
        if self.waker is not None:
            self.waker.cancel()
