"""Step budgets: work on schemas is counted in steps and stops at the budget."""

from contextlib import AbstractContextManager
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
    budget = _CURRENT.get(None)
    return StepBudget(_ENDLESS, "none") if budget is None else budget


def spend(steps: int) -> None:
    """Count steps of the work that is being done; raises `StepsError` where its budget is spent."""
    budget = _CURRENT.get(None)
    if budget is not None:
        budget.spend(steps)


class _CurrentBudget:
    """The work inside is counted on a budget, and then on the one around it, if that pays for it."""

    __slots__ = ("_budget", "_outer", "_token")

    def __init__(self, budget: StepBudget, outer: StepBudget | None = None) -> None:
        self._budget, self._outer = budget, outer

    def __enter__(self) -> StepBudget:
        self._token = _CURRENT.set(self._budget)
        return self._budget

    def __exit__(self, *_: object) -> None:
        _CURRENT.reset(self._token)
        if self._outer is not None:
            self._outer.spent += self._budget.spent


def use_budget(budget: StepBudget) -> AbstractContextManager[StepBudget]:
    """Count the work inside on this budget alone."""
    return _CurrentBudget(budget)


def limit_steps(steps: int, limit: str) -> AbstractContextManager[StepBudget]:
    """Allow the work inside so many steps, and no more than the work around it has left, which pays for them."""
    outer = current_budget()
    left = outer.left
    inner = StepBudget(steps, limit) if steps < left else StepBudget(left, outer.limit)
    return _CurrentBudget(inner, outer)
