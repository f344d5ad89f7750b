"""Wrong passwords by the thousand: who guesses waits behind who knows, and nobody else pays for it."""

import asyncio
import base64
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import bcrypt
import pytest

from tests.facades.doors import Clock, write_passwords
from treaty.api.auth.basic import BasicSettings, basic
from treaty.api.auth.method import (
    AuthenticatedPrincipal,
    AuthenticationFailure,
    AuthenticationMethod,
    RequestCredentials,
)
from treaty.api.auth.password_queue import FAILURE_SECONDS, LONGEST_DELAY, REFUSAL_SECONDS, REFUSALS_HELD, PasswordQueue
from treaty.core.limits import PASSWORD_CHECKS, PASSWORD_CHECKS_EACH, PASSWORD_FAILURES
from treaty.core.refusals import Unavailable

Story = Callable[[AuthenticationMethod, Clock], Awaitable[None]]


def shown(name: str, password: str = "secret", address: str = "192.0.2.1") -> RequestCredentials:
    word = base64.b64encode(f"{name}:{password}".encode())
    return RequestCredentials(b"Basic " + word, address=address)


@pytest.fixture
def passwords(tmp_path: Path) -> Path:
    return write_passwords(tmp_path / "p", **{f"user{number}": "secret" for number in range(20)})


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Each check takes 20 ms, as at a usual cost; what was asked in this order."""
    asked: list[bytes] = []
    real = bcrypt.checkpw

    def check(password: bytes, hash_: bytes) -> bool:
        asked.append(password)
        time.sleep(0.02)
        return real(password, hash_)

    monkeypatch.setattr(bcrypt, "checkpw", check)
    return asked


@pytest.fixture
def gate(slow: list[bytes], monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """No check begins before this is set: until then the queue is as it was filled, on a busy machine too."""
    opened, check = threading.Event(), bcrypt.checkpw

    def wait(password: bytes, hash_: bytes) -> bool:
        opened.wait(30.0)
        return check(password, hash_)

    monkeypatch.setattr(bcrypt, "checkpw", wait)
    return opened


def play(file: Path, story: Story) -> None:
    async def run() -> None:
        clock = Clock()
        users = basic(BasicSettings(file, remember=100), clock)
        try:
            await story(users, clock)
        finally:
            users.close()

    asyncio.run(run())


async def begin(
    users: AuthenticationMethod, *all_shown: RequestCredentials
) -> list["asyncio.Future[AuthenticatedPrincipal | AuthenticationFailure]"]:
    begun: list[asyncio.Future[AuthenticatedPrincipal | AuthenticationFailure]] = [
        asyncio.ensure_future(users.check(one)) for one in all_shown
    ]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return begun


def guesses(count: int, address: str = "198.51.100.1", name: str = "user1") -> list[RequestCredentials]:
    return [shown(name, f"guess {address} {number}", address) for number in range(count)]


def test_one_address_has_few_that_wait_and_the_rest_is_told_to_come_again(passwords: Path, slow: list[bytes]) -> None:
    async def story(users: AuthenticationMethod, _clock: Clock) -> None:
        for number in range(PASSWORD_FAILURES):
            await users.check(shown("user1", f"before {number}", "198.51.100.1"))
        names = [f"user{number % 20}" for number in range(40)]
        many = [shown(name, f"wrong {number}", "198.51.100.1") for number, name in enumerate(names)]
        guessing = await begin(users, *many)
        await asyncio.wait(guessing, timeout=REFUSAL_SECONDS + 1.0)  # all others are put off: the clock stands still
        for one in guessing:
            one.cancel()
        told = await asyncio.gather(*guessing, return_exceptions=True)
        refused = [one for one in told if isinstance(one, Unavailable)]
        assert len(refused) == 40 - 2 - PASSWORD_CHECKS_EACH, "two run, and as many wait as may"
        assert "limit PASSWORD_CHECKS_EACH" in str(refused[0])
        assert refused[0].retry_after == LONGEST_DELAY

    play(passwords, story)


def test_all_users_of_one_address_come_in_at_once(passwords: Path, slow: list[bytes]) -> None:
    """They may stand behind one proxy, and log in at one time: after a restart of the server, say."""

    async def story(users: AuthenticationMethod, _clock: Clock) -> None:
        coming = await begin(users, *(shown(f"user{number}", address="192.0.2.1") for number in range(20)))
        assert await asyncio.gather(*coming) == [
            AuthenticatedPrincipal(f"user:user{n}", (), 1_100.0) for n in range(20)
        ]

    play(passwords, story)


def test_who_guesses_from_many_addresses_keeps_no_user_out(passwords: Path, slow: list[bytes]) -> None:
    """All slots of one name and of the queue are taken by guesses; each user comes in, at once and with one try."""

    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        for number in range(PASSWORD_FAILURES):  # they have been at it for a while
            for crowd in range(5):
                await users.check(shown("user1", f"before {number}", f"198.51.100.{crowd}"))
        slow.clear()
        crowd_guesses = [
            one for crowd in range(100) for one in guesses(2, f"198.51.100.{crowd % 5}", f"user{crowd % 20}")
        ]
        guessing = await begin(users, *crowd_guesses)
        coming = await begin(users, *(shown(f"user{number}", address=f"192.0.2.{number}") for number in range(20)))
        assert await asyncio.gather(*coming) == [
            AuthenticatedPrincipal(f"user:user{n}", (), 1_100.0) for n in range(20)
        ]
        first = slow.index(b"secret")
        assert slow[first : first + 20] == [b"secret"] * 20, "no guess had a turn before them"
        for one in guessing:
            one.cancel()
        await asyncio.gather(*guessing, return_exceptions=True)

    play(passwords, story)


def test_known_users_come_before_unknown_ones_and_take_their_place_in_a_full_queue(
    passwords: Path, slow: list[bytes], gate: threading.Event
) -> None:
    async def story(users: AuthenticationMethod, _clock: Clock) -> None:
        strangers = [shown(f"stranger{n}", f"guess {n}", f"198.51.100.{n}") for n in range(PASSWORD_CHECKS + 2)]
        guessing = await begin(users, *strangers)
        one_more = (await begin(users, shown("nobody", "guess", "203.0.113.9")))[0]
        (coming,) = await begin(users, shown("user3"))
        gate.set()
        assert await coming == AuthenticatedPrincipal("user:user3", (), 1_100.0)
        assert slow.index(b"secret") <= 6
        with pytest.raises(Unavailable, match=r"limit PASSWORD_CHECKS\)"):
            await one_more
        told = await asyncio.gather(*guessing, return_exceptions=True)
        assert [type(one) for one in told].count(Unavailable) == 1
        assert [type(one) for one in told].count(AuthenticationFailure) == PASSWORD_CHECKS + 1

    play(passwords, story)


def test_credentials_that_were_right_come_first_even_from_the_address_of_guesses(
    passwords: Path, slow: list[bytes]
) -> None:
    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        address = "198.51.100.1"
        assert isinstance(await users.check(shown("user1", address=address)), AuthenticatedPrincipal)
        for number in range(PASSWORD_FAILURES + 10):
            await users.check(shown("user1", f"wrong {number}", address))
            clock.now += 1.0 if number >= PASSWORD_FAILURES else 0.0
        clock.now += 1_000.0  # what was right is no longer remembered
        for number in range(PASSWORD_FAILURES + 2):
            await users.check(shown("user1", f"wrong again {number}", address))
            clock.now += 0.3 if number >= PASSWORD_FAILURES else 0.0
        clock.now -= 0.25  # the address is put off
        slow.clear()
        guessing = await begin(users, *guesses(PASSWORD_CHECKS_EACH, address))
        (again,) = await begin(users, shown("user1", address=address))
        assert isinstance(await again, AuthenticatedPrincipal)
        assert slow == [b"secret"], "it was checked, while all guesses from there are put off"
        for one in guessing:
            one.cancel()
        await asyncio.gather(*guessing, return_exceptions=True)

    play(passwords, story)


def test_an_address_with_many_wrong_passwords_is_put_off_and_forgiven() -> None:
    async def story() -> None:
        clock, slept = Clock(), list[float]()

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            clock.now += seconds

        queue = PasswordQueue(2, clock, sleep)

        async def guess() -> float:
            began = clock.now
            await queue.wait_for_turn("u", "a", is_known=True, is_trusted=False)
            queue.end_turn("a", is_right=False)
            return clock.now - began

        waits = [await guess() for _ in range(PASSWORD_FAILURES + 80)]
        assert waits[: PASSWORD_FAILURES + 1] == [0.0] * (PASSWORD_FAILURES + 1)
        assert waits[PASSWORD_FAILURES + 1 :] == sorted(waits[PASSWORD_FAILURES + 1 :])
        assert 3.0 < waits[-1] <= LONGEST_DELAY
        assert max(slept) <= 1.0
        await queue.wait_for_turn("u", "b", is_known=True, is_trusted=False)
        queue.end_turn("b", is_right=True)
        before = clock.now
        clock.now += 10 * FAILURE_SECONDS
        assert await guess() == 0.0, "who stops is forgiven"
        assert clock.now == before + 10 * FAILURE_SECONDS
        assert (queue.running, queue.waiting, dict(queue.at_work)) == (0, [], {})

    asyncio.run(story())


def test_who_gives_up_waiting_gives_the_place_back() -> None:
    async def story() -> None:
        queue = PasswordQueue(1, Clock())
        await queue.wait_for_turn("u", "a", is_known=True, is_trusted=False)
        waits = [
            asyncio.create_task(queue.wait_for_turn(f"u{n}", f"a{n}", is_known=True, is_trusted=False))
            for n in range(3)
        ]
        await asyncio.sleep(0)
        waits[0].cancel()
        await asyncio.gather(waits[0], return_exceptions=True)
        assert len(queue.waiting) == 2
        queue.end_turn("a")
        waits[1].cancel()  # it has its turn, and has not heard of it
        await asyncio.gather(waits[1], return_exceptions=True)
        await waits[2]
        queue.end_turn("a2", is_right=True)
        assert (queue.running, queue.waiting, dict(queue.at_work)) == (0, [], {})

    asyncio.run(story())


def test_refusals_for_want_of_room_are_held_back_as_many_as_may_be() -> None:
    async def story() -> None:
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            await asyncio.sleep(0.05)

        queue = PasswordQueue(0, Clock(), sleep)
        count = REFUSALS_HELD + 40
        waits = [
            asyncio.ensure_future(queue.wait_for_turn("u", "a", is_known=True, is_trusted=False)) for _ in range(count)
        ]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert queue.held == REFUSALS_HELD
        assert sum(one.done() for one in waits) == count - PASSWORD_CHECKS_EACH - REFUSALS_HELD
        await asyncio.sleep(0.2)
        assert (queue.held, slept) == (0, [REFUSAL_SECONDS] * REFUSALS_HELD)
        for one in waits:
            one.cancel()
        told = await asyncio.gather(*waits, return_exceptions=True)
        assert sum(isinstance(one, Unavailable) for one in told) == count - PASSWORD_CHECKS_EACH
        assert queue.waiting == []

    asyncio.run(story())
