"""Is there an order in which one registry, doing one thing at a time, would have answered just so?

Each subject is checked on its own, which is enough: what is linearizable for each object is so for all of them
(Herlihy and Wing, 1990). The search is theirs, with states that were seen before left out (Lowe, 2017).
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from tests.real.linear.history import Operation

State = tuple[tuple[int, str, bool], ...]
"""Versions of a subject: number, text, and whether it is live; ascending by number."""
STEPS = 2_000_000
"""Steps after which a search is given up; a history that takes so many says nothing."""


def broken(done: Iterable[Operation]) -> dict[str, list[Operation]]:
    """Return the subjects whose histories no order explains, and their operations."""
    by_subject: dict[str, list[Operation]] = defaultdict(list)
    for one in done:
        by_subject[one.subject].append(one)
    return {subject: some for subject, some in by_subject.items() if not linearizable(some)}


def linearizable(some: list[Operation]) -> bool:
    """Tell whether the operations of one subject have such an order."""
    work = sorted(some, key=lambda one: one.begun)
    needed = sum(1 << place for place, one in enumerate(work) if not one.open)
    seen: set[tuple[int, State]] = set()
    stack: list[tuple[int, State]] = [(0, ())]
    for _ in range(STEPS):
        if not stack:
            return False
        taken, state = stack.pop()
        if taken & needed == needed:
            return True
        for place, one in _next(work, taken):
            result, after = step(state, one.name, one.argument)
            if one.open or result == one.result:
                follow = taken | 1 << place, after
                if follow not in seen:
                    seen.add(follow)
                    stack.append(follow)
    raise AssertionError(f"no verdict on {len(work)} operations after {STEPS} steps")


def _next(work: list[Operation], taken: int) -> list[tuple[int, Operation]]:
    """The operations that may come next: those that began before any other that is left had ended."""
    left = [(place, one) for place, one in enumerate(work) if not taken >> place & 1]
    first = min(one.ended for _, one in left)
    return [(place, one) for place, one in left if one.begun <= first]


def step(state: State, name: str, argument: Any) -> tuple[Any, State]:
    """Return what one registry answers, and the state after it: the rules for subjects and deletes, in small."""
    match name:
        case "register":
            return _register(state, argument)
        case "versions":
            live = [number for number, _, alive in state if alive]
            return (live or "SubjectNotFound"), state
        case "latest":
            live_ones = [[number, text] for number, text, alive in state if alive]
            return (live_ones[-1] if live_ones else "SubjectNotFound"), state
        case "delete":
            return _delete(state, argument)
        case "purge":
            return _purge(state, argument)
    raise ValueError(name)


def _register(state: State, text: str) -> tuple[Any, State]:
    for number, known, alive in state:
        if alive and known == text:
            return number, state
    number = max((number for number, _, _ in state), default=0) + 1
    kept = tuple(one for one in state if one[1] != text)  # a softly deleted one of the same schema goes
    return number, (*kept, (number, text, True))


def _delete(state: State, number: int) -> tuple[Any, State]:
    for known, text, alive in state:
        if known == number and alive:
            after = tuple((n, t, a and n != number) for n, t, a in state)
            return number, after
        if known == number:
            return "AlreadyDeleted", state
        del text
    return ("VersionNotFound" if state else "SubjectNotFound"), state


def _purge(state: State, number: int) -> tuple[Any, State]:
    for known, _, alive in state:
        if known == number and alive:
            return "NotDeletedFirst", state
        if known == number:
            return number, tuple(one for one in state if one[0] != number)
    return ("VersionNotFound" if state else "SubjectNotFound"), state
