"""A command that waits to be decided, written and answered."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from treaty.core.command import Command, Decision
from treaty.core.commit import Position
from treaty.core.refusals import OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import Reply
from treaty.node.grammar import Sitting

Verdict = Decision[Any] | Refusal


@dataclass(slots=True, eq=False)
class Pending:
    """One command. `look` is the number of the first look that began after it arrived.

    Until that look (or a later one) has ended, a refusal or an answer that writes nothing proves nothing: the reason
    may have been gone before the command arrived.
    """

    command: Command[Any]
    look: int
    sitting: Sitting
    answered: asyncio.Future[Reply[Any]]
    sent: bool = False
    """In an append whose fate is not settled: past its deadline the outcome is unknown, otherwise nothing was left."""
    rounds: int = 0
    guess: tuple[Position, Verdict] | None = field(default=None, repr=False)
    """A verdict that wrote nothing, and the place it was decided on: good as long as the tables stay there."""

    @property
    def over(self) -> bool:
        """Whether it was answered, or nobody waits any more."""
        return self.answered.done()

    def tell(self, verdict: Verdict, position: Position) -> None:
        """Answer, with the token of a place where the answer is durable."""
        if self.over:
            return
        if isinstance(verdict, Refusal):
            self.answered.set_exception(verdict)
        else:
            self.answered.set_result(Reply(verdict.answer, position.token))

    def fail(self, error: Exception) -> None:
        """Answer with an error."""
        if not self.over:
            self.answered.set_exception(error)

    def expire(self) -> None:
        """The deadline has come."""
        if self.sent:
            self.fail(OutcomeUnknown(self.command.command_id))
        else:
            self.fail(Unavailable("the command was not written in time; it has left nothing"))
