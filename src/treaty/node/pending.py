"""A command that waits to be decided, written and answered."""

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any

from treaty.core.command import Command, Decision
from treaty.core.commit import Position
from treaty.core.refusals import Invalid, OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import Reply, Token
from treaty.node.grammar import Sitting

Verdict = Decision[Any] | Refusal


class MovedError(Exception):
    """A command that another node handed over is not for this one; `address` is who might decide it, or empty."""

    def __init__(self, address: str) -> None:
        """Keep the address."""
        super().__init__(f"this node does not decide now; {address or 'nobody knows who does'}")
        self.address = address


class LateError(Exception):
    """The log was past the last sequence at which a command that another node handed over may be decided."""


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
    deadline: float = math.inf
    """When it is told that time is over; loop time."""
    taken: bool = False
    """Another node handed it over, and will not have it passed on."""
    last: int = 0
    """The highest sequence that its commit may have here, 0 for any."""
    own: int = 0
    """An append of this node that ends here has it and may still land: the node lost the log before it knew (0: none)."""
    elsewhere: int = 0
    """It may be with another node, which decides it up to this sequence (0: it is not). Before the log is there, only
    its outcome proves anything.
    """
    journeys: int = 0
    """How often it came back from other nodes without an answer."""
    request_id: str = ""
    after: Token | None = None
    """A place that the state must have passed on which it is decided."""

    @property
    def over(self) -> bool:
        """Whether it was answered, or nobody waits any more."""
        return self.answered.done()

    def refuse_elsewhere(self, here: Position) -> None:
        """Send it away where another log was put in the place of the one that it counts on."""
        if self.after is None or not self.after.sequence or self.after.identity == here.token.identity:
            return
        other = "another log was put in the place of the one that the command counts on; it has left nothing"
        self.fail(Unavailable(other) if self.taken else foreign(self.after, here))

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

    def expire(self, why: str = "") -> None:
        """The deadline has come; `why` it was not decided, if that is known."""
        if self.sent:
            self.fail(OutcomeUnknown(self.command.command_id))
        else:
            because = f"{why}; " if why else ""
            self.fail(Unavailable(f"{because}the command was not written in time; it has left nothing"))


def foreign(token: Token, here: Position) -> Invalid:
    """The refusal of a token that leads to no place of the history that is at `here`."""
    return Invalid.of(
        "TOKEN",
        "The token is of another log, or of a history that this log does not have",
        path="Treaty-Sequence",
        old=str(here.token),
        new=str(token),
        allowed="a token that this registry gave; leave it out to read what is there now",
    )
