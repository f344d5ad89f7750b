"""The order in which passwords are checked, whose place a full queue gives away, and how wrong ones are forgotten."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import permutations

import pytest

from tests.facades.doors import Clock
from treaty.api.auth.password_queue import DELAY_SECONDS, FAILURE_SECONDS, LONGEST_DELAY, PasswordQueue
from treaty.core.limits import PASSWORD_FAILURES
from treaty.core.refusals import Unavailable

FORGIVEN = FAILURE_SECONDS / PASSWORD_FAILURES
"""Seconds in which one wrong password is forgotten."""
BAD, WORSE, BUSY, CALM = "198.51.100.1", "198.51.100.2", "192.0.2.1", "192.0.2.2"
RANKED = (
    ("trusted of a guesser", BAD, False, True),
    ("known", CALM, True, False),
    ("known later", CALM, True, False),
    ("known, busy", BUSY, True, False),
    ("known of a guesser", BAD, True, False),
    ("known of another guesser", WORSE, True, False),
    ("unknown", CALM, False, False),
)
"""Name, address, whether it is known and was right before: the next one first."""


async def without_pause(_seconds: float) -> None:
    await asyncio.sleep(0)


def queue_of(clock: Clock, most: int = 64, most_each: int = 4) -> PasswordQueue:
    return PasswordQueue(0, clock, without_pause, most=most, most_each=most_each)


def fail(queue: PasswordQueue, address: str, count: int) -> None:
    for _ in range(count):
        queue.running += 1
        queue.at_work[address] += 1
        queue.end_turn(address, is_right=False)


def play(story: Callable[[Clock], Awaitable[None]]) -> None:
    asyncio.run(story(Clock()))  # type: ignore[arg-type]  # a coroutine function


async def wait(queue: PasswordQueue, *named: tuple[str, str, bool, bool]) -> dict[str, "asyncio.Task[None]"]:
    tasks: dict[str, asyncio.Task[None]] = {}
    for name, address, known, trusted in named:
        turn = queue.wait_for_turn(name, address, is_known=known, is_trusted=trusted)
        tasks[name] = asyncio.ensure_future(turn)
        await asyncio.sleep(0)
    return tasks


@pytest.mark.parametrize("order", [*[*permutations(range(1, 5))][::3], (4, 3, 2, 1)])
def test_the_next_password_is_the_one_that_ranks_first(order: tuple[int, ...]) -> None:
    async def story(clock: Clock) -> None:
        queue = queue_of(clock)
        fail(queue, BAD, 2)
        fail(queue, WORSE, 3)
        queue.at_work[BUSY] = 1
        middle = [RANKED[place] for place in order if place != 2]
        waiting = [RANKED[6], *middle, RANKED[2], RANKED[5], RANKED[0]]
        tasks = await wait(queue, *waiting)
        said: list[str] = []
        for _ in waiting:
            queue.threads = queue.running + 1
            queue._start()
            await asyncio.sleep(0)
            said += [name for name, task in tasks.items() if task.done() and name not in said]
            queue.at_work[CALM] = 0
        assert said == [name for name, *_ in RANKED]

    play(story)


@pytest.mark.parametrize("place", range(len(RANKED)))
def test_a_full_queue_gives_the_last_place_to_whoever_ranks_before_it(place: int) -> None:
    async def story(clock: Clock) -> None:
        queue = queue_of(clock, most=len(RANKED) - 1)
        fail(queue, BAD, 2)
        fail(queue, WORSE, 3)
        queue.at_work[BUSY] = 1
        tasks = await wait(queue, *(one for at, one in enumerate(RANKED) if at != place), RANKED[place])
        for _ in range(3):
            await asyncio.sleep(0)
        refused = [name for name, task in tasks.items() if task.done() and isinstance(task.exception(), Unavailable)]
        assert refused == [RANKED[-1][0]]
        assert len(queue.waiting) == queue.most
        for task in tasks.values():
            task.cancel()

    play(story)


@pytest.mark.parametrize(
    ("failures", "same_address", "same_user", "address", "refused"),
    [
        (0, True, True, BAD, 1),
        (0, False, True, BAD, 1),
        (0, True, False, BAD, 0),
        (PASSWORD_FAILURES - 1, True, False, BAD, 0),
        (PASSWORD_FAILURES, True, False, BAD, 1),
        (PASSWORD_FAILURES + 1, True, False, BAD, 1),
        (PASSWORD_FAILURES + 1, False, False, BAD, 0),
        (PASSWORD_FAILURES + 1, True, False, "", 0),
    ],
)
@pytest.mark.parametrize("trusted", [False, True])
def test_one_user_and_one_address_of_guesses_have_few_places(
    failures: int, address: str, refused: int, *, same_address: bool, same_user: bool, trusted: bool
) -> None:
    """An address only after so many wrong passwords, of which the last one is being forgotten already; what is unknown is none."""

    async def story(clock: Clock) -> None:
        queue = queue_of(clock, most_each=3)
        fail(queue, address, failures)
        clock.now += FORGIVEN / 2
        named = [
            (
                "user" if same_user else f"user{at}",
                address if same_address or not at else f"{address}{at}",
                True,
                trusted,
            )
            for at in range(4)
        ]
        tasks = [(await wait(queue, one)).popitem()[1] for one in named]
        for _ in range(3):
            await asyncio.sleep(0)
        assert sum(task.done() for task in tasks) == (0 if trusted else refused)
        for task in tasks:
            task.cancel()

    play(story)


@pytest.mark.parametrize("count", [1, PASSWORD_FAILURES, PASSWORD_FAILURES + 1, PASSWORD_FAILURES * 8])
def test_wrong_passwords_are_forgotten_one_after_the_other(count: int) -> None:
    """And delay the next check of their address by how many there are past the limit, and by no more than the longest delay."""

    async def story(clock: Clock) -> None:
        queue = queue_of(clock)
        start = clock.now
        fail(queue, BAD, count)
        fail(queue, "", count)
        assert queue._count_failures("") == 0.0
        over = count - PASSWORD_FAILURES
        delay = min(LONGEST_DELAY, over * DELAY_SECONDS)
        assert queue.later.get(BAD, start) - start == pytest.approx(delay if over > 0 else 0.0)
        for forgotten in range(count):
            clock.now = start + forgotten * FORGIVEN
            assert queue._count_failures(BAD) == pytest.approx(count - forgotten)
        clock.now = start + count * FORGIVEN
        assert queue._count_failures(BAD) == 0.0
        fail(queue, WORSE, PASSWORD_FAILURES + 1)
        assert [*queue.later] == [WORSE], "an address whose delay is over is forgotten"

    play(story)


def test_who_gives_up_leaves_no_place_and_no_thread_behind() -> None:
    async def story(clock: Clock) -> None:
        queue = queue_of(clock)
        tasks = await wait(queue, *RANKED[:3])
        for _, task in zip(range(2), tasks.values(), strict=False):
            task.cancel()
        await asyncio.sleep(0)
        assert [one.name for one in queue.waiting] == [RANKED[2][0]]
        queue.threads = 1
        queue._start()
        last = tasks[RANKED[2][0]]
        last.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (queue.running, dict(queue.at_work), queue.waiting) == (0, {}, [])

    play(story)
