"""Is there an order in which one registry, doing one thing at a time, would have answered just so?

Each subject is checked on its own, which is enough: what is linearizable for each object is so for all of them
(Herlihy and Wing, 1990). The search is theirs, with states that were seen before left out (Lowe, 2017).
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from tests.real.linear import statements
from tests.real.linear.history import Operation
from tests.real.linear.model import READS, State, step

STEPS = 2_000_000
"""Steps after which a search is given up; a history that takes so many says nothing."""


def broken(done: Iterable[Operation]) -> dict[str, list[Operation]]:
    """Return the subjects whose histories no order explains, and their operations."""
    by_subject: dict[str, list[Operation]] = defaultdict(list)
    for one in done:
        by_subject[one.subject].append(one)
    return {subject: some for subject, some in by_subject.items() if not linearizable(some)}


def linearizable(some: list[Operation]) -> bool:
    """Return whether the operations of one subject have such an order."""
    of_statements = bool(some) and statements.is_statement(some[0].subject)
    reads, rules, first = (
        (statements.READS, statements.step, statements.initial(some[0].subject))
        if of_statements
        else (READS, step, State())
    )
    work = sorted((one for one in some if not (one.open and one.name in reads)), key=lambda one: one.begun)
    needed = sum(1 << place for place, one in enumerate(work) if not one.open)
    seen: set[tuple[int, Any]] = set()
    stack: list[tuple[int, Any]] = [(0, first)]
    for _ in range(STEPS):
        if not stack:
            return False
        taken, state = stack.pop()
        if taken & needed == needed:
            return True
        for place, one in _next(work, taken):
            result, after = rules(state, one.name, one.argument)
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
