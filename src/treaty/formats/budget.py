"""Step budgets: work on schemas is counted in steps and stops at the budget."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from treaty.core.limits import INLINE_STEPS

_ENDLESS = 1 << 62


class StepsError(Exception):
    """Work takes more steps than it may. `limit` is the name of what was spent."""

    def __init__(self, limit: str, message: str) -> None:
        """Say which limit it was, and in words how much it allows."""
        super().__init__(message)
        self.limit = limit
        self.message = message


class StepBudget:
    """Steps that work may take, and those that it took. A step is about a microsecond of one core.

    What a step is counted for does not depend on the machine, so the same work ends at the same place everywhere.
    """

    __slots__ = ("limit", "spent", "steps")

    def __init__(self, steps: int = INLINE_STEPS, limit: str = "INLINE_STEPS") -> None:
        """Allow this many steps, which is the limit of this name."""
        self.steps = steps
        self.limit = limit
        self.spent = 0

    @property
    def left(self) -> int:
        """Steps that may still be taken."""
        return max(self.steps - self.spent, 0)

    def spend(self, steps: int) -> None:
        """Count steps; raises `StepsError` where there are more than may be."""
        self.spent += steps
        if self.spent > self.steps:
            raise StepsError(self.limit, f"{self.steps} steps, the limit {self.limit}")


_CURRENT: ContextVar[StepBudget] = ContextVar("steps")


def current_budget() -> StepBudget:
    """The budget of the work that is being done; one without an end where none is set."""
    found = _CURRENT.get(None)
    return StepBudget(_ENDLESS, "none") if found is None else found


def spend(steps: int) -> None:
    """Count steps of the work that is being done; raises `StepsError` where its budget is spent."""
    found = _CURRENT.get(None)
    if found is not None:
        found.spend(steps)


@contextmanager
def use_budget(budget: StepBudget) -> Iterator[StepBudget]:
    """Count the work inside on this budget alone."""
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)


@contextmanager
def limit_steps(steps: int, limit: str) -> Iterator[StepBudget]:
    """Allow the work inside so many steps, and no more than the work around it has left, which pays for them."""
    outer = current_budget()
    inner = StepBudget(steps, limit) if steps < outer.left else StepBudget(outer.left, outer.limit)
    try:
        with use_budget(inner):
            yield inner
    finally:
        outer.spent += inner.spent
