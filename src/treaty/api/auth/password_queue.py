"""The queue of password checks: wrong passwords of one address do not delay other clients.

Order: credentials that were correct before, known users before unknown ones, addresses with fewer wrong passwords
first. A client that guesses waits behind others, and is rejected first when the queue is full.
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
"""Seconds in which an address may have `PASSWORD_FAILURES` wrong passwords without delay."""
DELAY_SECONDS = 0.1
"""Seconds by which each failure past `PASSWORD_FAILURES` delays the next check of its address."""
LONGEST_DELAY = 5.0
REFUSAL_SECONDS = 1.0
"""Seconds by which a rejection at a full queue is delayed, so that immediate retries do not keep the server busy."""
REFUSALS_HELD = 256
"""The most delayed rejections; further ones are sent immediately."""
WAKE_SECONDS = 1.0
"""The longest sleep of the queue while all waiting addresses are delayed, in seconds."""


@dataclass(eq=False, slots=True)
class PasswordCheck:
    """A waiting check: user, address, and the future of its turn.

    `is_trusted`: these credentials were correct before; `is_known`: the user exists.
    """

    name: str
    address: str
    is_known: bool
    is_trusted: bool
    number: int
    turn: "asyncio.Future[None]"


@dataclass(slots=True)
class PasswordQueue:
    """Waiting and running checks. `clock` is in monotonic seconds."""

    threads: int
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    most: int = PASSWORD_CHECKS
    most_each: int = PASSWORD_CHECKS_EACH
    waiting: list[PasswordCheck] = field(default_factory=list)
    running: int = 0
    at_work: Counter[str] = field(default_factory=Counter)
    """Running checks by address."""
    held: int = 0
    """Delayed rejections."""
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    failures: CredentialCache[tuple[float, float]] = field(init=False)
    """Wrong passwords by address, with the time of the last; the count decays."""
    later: dict[str, float] = field(default_factory=dict)
    """The next turn of delayed addresses."""
    waker: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        """Start without failures."""
        self.failures = CredentialCache(self.clock)

    async def wait_for_turn(self, name: str, address: str, *, is_known: bool, is_trusted: bool) -> None:
        """Wait for the turn of a check; call `end_turn` after it. Raises `Unavailable` if the queue is full."""
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
        """Queue a check; raises `Unavailable` if the queue is full.

        Many users may share the address of a proxy: an address has few places only after many wrong passwords.
        """
        if not check.is_trusted:
            neighbours = [queued for queued in self.waiting if check.address and queued.address == check.address]
            if self._count_failures(check.address) > PASSWORD_FAILURES - 1:  # the last one is being forgotten
                self._make_room(check, neighbours, "PASSWORD_CHECKS_EACH")
            same_user = [queued for queued in self.waiting if queued.name == check.name]
            self._make_room(check, same_user, "PASSWORD_CHECKS_EACH")
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
        """Note the result of a check (None: none), and start the next one."""
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
            self.later = {address: until for address, until in self.later.items() if until > now}
            self.later[address] = now + min(LONGEST_DELAY, (count - PASSWORD_FAILURES) * DELAY_SECONDS)

    def _count_failures(self, address: str) -> float:
        """Return the current count of wrong passwords of an address."""
        failures = self.failures.get(address.encode())
        if failures is None:
            return 0.0
        count, when = failures
        return max(0.0, count - (self.clock() - when) * PASSWORD_FAILURES / FAILURE_SECONDS)

    def _rank(self, check: PasswordCheck) -> tuple[bool, bool, int, int, int]:
        """Return the rank of a check: the smallest is next, the largest is rejected first."""
        busy = self.at_work.get(check.address, 0)
        failures = int(self._count_failures(check.address))
        return not check.is_trusted, not check.is_known, failures, busy, check.number

    def _make_room(self, check: PasswordCheck, crowd: list[PasswordCheck], limit: str) -> None:
        """Reject the last check of a full queue for one that ranks before it; raises `Unavailable` if there is none."""
        if len(crowd) < (self.most if limit == "PASSWORD_CHECKS" else self.most_each):
            return
        last = max(crowd, key=self._rank)
        refusal = Unavailable(f"too many password checks wait (limit {limit}); retry later", LONGEST_DELAY)
        if self._rank(last) < self._rank(check):
            raise refusal
        self.waiting.remove(last)
        if not last.turn.done():
            last.turn.set_exception(refusal)

    def _start(self) -> None:
        """Start checks while threads are free, and wait for delayed addresses."""
        while self.running < self.threads:
            now = self.clock()
            alive = [check for check in self.waiting if not check.turn.done()]
            ready = [check for check in alive if check.is_trusted or self.later.get(check.address, 0.0) <= now]
            if not ready:
                break
            check = min(ready, key=self._rank)
            self.waiting.remove(check)
            self.running += 1
            self.at_work[check.address] += 1
            check.turn.set_result(None)
        if self.waiting and self.running < self.threads and self.waker is None:
            left = min(self.later.get(check.address, 0.0) for check in self.waiting) - self.clock()
            self.waker = asyncio.create_task(self._wake(min(max(0.0, left), WAKE_SECONDS)))

    async def _wake(self, seconds: float) -> None:
        """Continue at the turn of the first delayed address."""
        await self.sleep(seconds)
        self.waker = None
        self._start()

    def close(self) -> None:
        """Stop waiting for delayed addresses."""
        if self.waker is not None:
            self.waker.cancel()
