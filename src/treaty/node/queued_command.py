"""A command in a node, from its arrival to its answer: one value says where it is, and all changes of that value are here.

```
           defer             send
 deferred <─────── waiting ─────────────────────> sent            from each of them: finish ──> done
        ─────────>  │   ^  <─────────────────────
          resume    │   │     return_to_line, leave_to_owner
            forward │   │ come_back
                    v   │
                 forwarded ── depart, stay
```
"""

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from treaty.core.command import Command, Decision
from treaty.core.limits import HANDED_WITHIN, OUTCOMES
from treaty.core.refusals import Invalid, OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import Reply
from treaty.core.state.commit import Position, PositionToken
from treaty.core.state.state_tables import OUTCOME
from treaty.core.state.view import Tables
from treaty.node.schema_service import SchemaSession
from treaty.wire.peer.message import ForwardedCommand

DecisionResult = Decision[Any] | Refusal


class NotLeaderError(Exception):
    """A command that another node forwarded is not for this one; `address` is the node that might decide it, or empty."""

    def __init__(self, address: str) -> None:
        """Keep the address."""
        super().__init__(f"this node does not decide now; {address or 'no leader is known'}")
        self.address = address


class SequenceExceededError(Exception):
    """The log was past the last sequence at which a command that another node forwarded may be decided."""


@dataclass(frozen=True, slots=True)
class UnseenCommit:
    """A commit of a command that may be in the log, or may still come, at a sequence above `after` and up to `until`."""

    after: int
    until: int
    own_until: int = 0
    """The end of an append of this node which may be that commit: the node lost the log before it knew (0: none)."""

    @classmethod
    def of_peer(cls, until: int) -> "UnseenCommit":
        """Return what another node may write that was told this last sequence."""
        return cls(until - HANDED_WITHIN, until)

    def is_forgotten(self, sequence: int) -> bool:
        """Return whether tables at a sequence may not have its outcome any more."""
        return sequence > self.after + OUTCOMES


# ------------------------------------------------------------------------------------------------------------- states


@dataclass(frozen=True, slots=True)
class WaitingState:
    """In line, or in the batch that is being decided."""

    unseen: UnseenCommit | None = None
    """What is still open of the time before, and lies with another node or a new owner of the log."""
    result: tuple[Position, DecisionResult] | None = field(default=None, repr=False)
    """A result that writes nothing, and the position it was decided on: good as long as the tables stay there."""


@dataclass(frozen=True, slots=True)
class DeferredState:
    """Out of the line, while a format answers questions about its schemas."""

    task: asyncio.Task[None]
    unseen: UnseenCommit | None


@dataclass(frozen=True, slots=True)
class SentState:
    """Its commit is in an append of this node whose result is not known. One value serves all commands of an append."""

    unseen: UnseenCommit
    before: UnseenCommit | None = None
    """What was open before."""


@dataclass(frozen=True, slots=True)
class ForwardedState:
    """On its way to another node, or there."""

    unseen: UnseenCommit | None
    """From the moment that it leaves."""
    before: UnseenCommit | None


@dataclass(frozen=True, slots=True)
class DoneState:
    """Answered, or nobody waits any more."""

    unseen: ClassVar[None] = None


CommandState = WaitingState | DeferredState | SentState | ForwardedState | DoneState
S = TypeVar("S", SentState, DeferredState, ForwardedState)
WAITING, DONE = WaitingState(), DoneState()


@dataclass(slots=True, eq=False)
class QueuedCommand:
    """One command. `barrier` is the number of the first look at the tip that began after it arrived.

    Until that look (or a later one) has ended, a refusal or an answer that writes nothing proves nothing: the reason
    may have been gone before the command arrived.
    """

    command: Command[Any]
    barrier: int
    session: SchemaSession
    answered: asyncio.Future[Reply[Any]]
    deadline: float = math.inf
    """When it is told that time is over; loop time."""
    request_id: str = ""
    after: PositionToken | None = None
    """A position that the state must have passed on which it is decided."""
    from_peer: bool = False
    """Another node forwarded it, and will not have it passed on."""
    max_sequence: int = 0
    """The highest sequence that its commit may have here, 0 for any."""
    state: CommandState = WAITING
    forward_attempts: int = 0
    """How often it came back from other nodes without an answer."""

    @classmethod
    def of_peer(
        cls,
        forwarded: ForwardedCommand,
        barrier: int,
        session: SchemaSession,
        answered: asyncio.Future[Reply[Any]],
        deadline: float,
    ) -> "QueuedCommand":
        """Return the command that another node forwarded; a third node may have it, too."""
        return cls(
            forwarded.command,
            barrier,
            session,
            answered,
            deadline,
            after=forwarded.place,
            from_peer=True,
            max_sequence=forwarded.last,
            state=WaitingState(UnseenCommit.of_peer(forwarded.elsewhere)) if forwarded.elsewhere else WAITING,
        )

    @property
    def is_over(self) -> bool:
        """Whether it was answered, or nobody waits any more."""
        return self.answered.done()

    def may_land_later(self, tables: Tables) -> bool:
        """Return whether an append of this node may still land with it, though another node owns the log."""
        unseen = self.state.unseen
        return unseen is not None and unseen.own_until > tables.sequence

    def is_forgotten(self, tables: Tables) -> bool:
        """Return whether these tables may not have the outcome of a commit of it any more."""
        unseen = self.state.unseen
        return unseen is not None and unseen.is_forgotten(tables.sequence)

    @property
    def open_until(self) -> int:
        """The last sequence at which another node, or an earlier append, may have its commit; 0 where there is none."""
        unseen = self.state.unseen
        return 0 if unseen is None else unseen.until

    def may_be_in_log(self, tables: Tables) -> bool:
        """Return whether a commit of it may be in the log, or may still come, as far as these tables show."""
        unseen = self.state.unseen
        if unseen is None:
            return False
        if isinstance(self.state, SentState) or tables.sequence < unseen.until or unseen.is_forgotten(tables.sequence):
            return True
        return tables.has(OUTCOME, self.command.outcome_key)

    def known_result(self, base: Position) -> DecisionResult | None:
        """Return its result on a position, where that is known and writes nothing."""
        state = self.state
        if isinstance(state, WaitingState) and state.result is not None and state.result[0] == base:
            return state.result[1]
        return None

    # ------------------------------------------------------------------------------------------------- transitions

    def keep_result(self, base: Position, result: DecisionResult) -> None:
        """Remember a result that writes nothing; it counts once the node knows that `base` is new enough."""
        if not self.is_over:
            assert isinstance(self.state, WaitingState)
            self.state = WaitingState(self.state.unseen, (base, result))

    def defer(self, task: asyncio.Task[None]) -> None:
        """Let others go ahead until a task has ended."""
        assert isinstance(self.state, WaitingState)
        self.state = DeferredState(task, self.state.unseen)

    def resume(self) -> None:
        """The task has ended: it is in line again."""
        if (state := self._expect(DeferredState)) is not None:
            self.state = WaitingState(state.unseen)

    def send(self, append: SentState) -> None:
        """Its commit leaves this node in an append, and may land."""
        assert isinstance(self.state, WaitingState)
        before = self.state.unseen
        self.state = append if before is None else SentState(append.unseen, before)

    def return_to_line(self) -> None:
        """Its append surely left nothing, or it was in none."""
        if not isinstance(self.state, WaitingState) and (state := self._expect(SentState)) is not None:
            self.state = WaitingState(state.before)

    def leave_to_owner(self) -> None:
        """Another node owns the log: the append may land until that one is past it."""
        if (state := self._expect(SentState)) is not None:
            until = state.unseen.until
            last = until if state.before is None else max(until, state.before.until)
            self.state = WaitingState(UnseenCommit(state.unseen.after, last, until))

    def forward(self) -> None:
        """It is to go to another node."""
        assert isinstance(self.state, WaitingState)
        self.state = ForwardedState(self.state.unseen, self.state.unseen)

    def depart(self, here: int, last: int) -> bool:
        """It leaves for another node, which decides it up to a sequence; False where nobody waits any more."""
        if self.is_over or (state := self._expect(ForwardedState)) is None:
            return False  # it was told that it has left nothing
        before = state.before
        self.state = ForwardedState(UnseenCommit(here, last if before is None else max(before.until, last)), before)
        return True

    def stay(self) -> None:
        """That node has not taken it, and will not."""
        if (state := self._expect(ForwardedState)) is not None:
            self.state = ForwardedState(state.before, state.before)

    def come_back(self) -> None:
        """It is in line again; that node may have it all the same."""
        if (state := self._expect(ForwardedState)) is not None:
            self.state = WaitingState(state.unseen)

    def finish(self) -> None:
        """Nobody waits any more."""
        if isinstance(self.state, DeferredState):
            self.state.task.cancel()
        self.state = DONE

    def _expect(self, kind: type[S]) -> S | None:
        """Return the state that a transition begins at; None where the command is done meanwhile."""
        if isinstance(self.state, DoneState):
            return None
        assert isinstance(self.state, kind), f"{self.state} is not {kind.__name__}"
        return self.state

    # ------------------------------------------------------------------------------------------------------- answers

    def refuse_elsewhere(self, here: Position) -> None:
        """Send it away where another log was put in the place of the one that it counts on."""
        if self.after is None or not self.after.sequence or self.after.identity == here.token.identity:
            return
        other = "another log was put in the place of the one that the command counts on; it has left nothing"
        self.fail(Unavailable(other) if self.from_peer else refuse_token(self.after, here))

    def answer(self, result: DecisionResult, position: Position) -> None:
        """Answer, with the token of a position where the answer is durable."""
        if self.is_over:
            return
        if isinstance(result, Refusal):
            self.answered.set_exception(result)
        else:
            self.answered.set_result(Reply(result.answer, position.token))

    def fail(self, error: Exception) -> None:
        """Answer with an error."""
        if not self.is_over:
            self.answered.set_exception(error)

    def expire(self, tables: Tables, why: str = "", retry_after: float = 1.0) -> None:
        """The deadline has come; `why` it was not decided, if that is known, and when asking again makes sense."""
        if self.may_be_in_log(tables):
            self.fail(OutcomeUnknown(self.command.command_id))
        else:
            because = f"{why}; " if why else ""
            reason = f"{because}the command was not written in time; it has left nothing"
            self.fail(Unavailable(reason, retry_after))


def refuse_token(token: PositionToken, here: Position) -> Invalid:
    """Return the refusal of a token that leads to no position of the history that is at `here`."""
    return Invalid.of(
        "TOKEN",
        "The token is of another log, or of a history that this log does not have",
        path="Treaty-Position",
        old=str(here.token),
        new=str(token),
        allowed="a token that this registry gave; leave it out to read what is there now",
    )
