"""The input and the results of a decision."""

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
    """A request with its circumstances.

    `command_id` is the idempotency key; `time` (ms since the epoch) and `principal` are inputs, because handlers have
    neither clock nor authentication. `access` limits what is done and shown (None: no rights are configured).
    """

    request: R
    command_id: str
    time: int
    principal: str = ""
    access: Access | None = None
    again: bool = False
    """Whether another node may be executing it too."""

    @property
    def outcome_key(self) -> OutcomeKey:
        """The key of its outcome; command ids are separate for each principal."""
        return OutcomeKey(self.principal, self.command_id)


@dataclass(frozen=True, slots=True)
class Decision(Generic[A]):
    """A request is accepted: the rows of the commit (empty: nothing to write), and the answer, valid once they are
    durable.

    `repeated`: the answer is from the `outcome` table, because the command was decided before.
    """

    rows: tuple[Row, ...]
    answer: A
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """A decision needs answers to these questions first; then decide again."""

    questions: tuple[Question, ...]


PausingWork = Generator[None, None, A]
"""Long work as a generator with pauses; what it reads must not change before it returns."""


def finish_work(work: PausingWork[A]) -> A:
    """Run work to its end without pauses."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: A = end.value
            return result
