"""What goes into a decision and what comes out of one."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from treaty.core.access.rights import Access
from treaty.core.requests import Request
from treaty.core.schema_engine import Question
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import OutcomeKey

A = TypeVar("A")
R = TypeVar("R", bound=Request[Any], covariant=True)


@dataclass(frozen=True, slots=True)
class Command(Generic[R]):
    """A request as it arrived: `command_id` makes it this command and no other, `time` (ms since the epoch) and
    `principal` come with it, because the law has neither a clock nor a door. Nothing is done that `access`
    does not allow, and a query shows no more than it lets be read (None: there are no rights here).
    """

    request: R
    command_id: str
    time: int
    principal: str = ""
    access: Access | None = None
    again: bool = False
    """Whether it may be under way elsewhere too."""

    @property
    def outcome_key(self) -> OutcomeKey:
        """The key of its outcome: a command id is its principal's own, and says nothing of another one's command."""
        return OutcomeKey(self.principal, self.command_id)


@dataclass(frozen=True, slots=True)
class Decision(Generic[A]):
    """The law says yes: the rows of the commit (none: nothing to write), and the answer once they are durable.

    `repeated` marks an answer taken from the `outcome` table: this command was decided before.
    """

    rows: tuple[Row, ...]
    answer: A
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """The law can't say yet: have these questions answered, then decide again."""

    questions: tuple[Question, ...]


PausingWork = Generator[None, None, A]
"""Work that may take long, and pauses: what it reads must not change before it returns."""


def finish_work(work: PausingWork[A]) -> A:
    """Do work without a pause."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: A = end.value
            return result
