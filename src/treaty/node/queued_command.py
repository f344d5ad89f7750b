"""A command in a node, from its arrival to its answer: its state, and all transitions of that state.

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
from dataclasses import field
from typing import Any, ClassVar, TypeVar

from treaty.core.command import Command, Decision
from treaty.core.limits import HANDED_WITHIN, OUTCOMES
from treaty.core.refusals import Invalid, OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import Reply
from treaty.core.state.commit import Position, PositionToken
from treaty.core.state.state_tables import OUTCOME
from treaty.core.state.view import Tables
from treaty.light_dataclass import dataclass
from treaty.node.schema_service import SchemaSession
from treaty.wire.peer.message import ForwardedCommand

DecisionResult = Decision[Any] | Refusal


class NotLeaderError(Exception):
    """This node does not decide the forwarded command; `address` is that of the leader, or empty."""

    def __init__(self, address: str) -> None:
        """Keep the address."""
        super().__init__(f"this node does not decide now; {address or 'no leader is known'}")
        self.address = address


class SequenceExceededError(Exception):
    """The log is past the last sequence at which the forwarded command may be decided."""


@dataclass(frozen=True, slots=True)
class UnseenCommit:
    """A commit of the command may be in the log, or may still arrive, at a sequence above `after` and up to `until`."""

    after: int
    until: int
    own_until: int = 0
    """The end of an append of this node with unknown result, sent before it lost the log (0: none)."""

    @classmethod
    def of_peer(cls, until: int) -> "UnseenCommit":
        """Return the commit that another node may write up to this sequence."""
        return cls(until - HANDED_WITHIN, until)

    def is_forgotten(self, sequence: int) -> bool:
        """Return whether its outcome may have expired in tables at a sequence."""
        return sequence > self.after + OUTCOMES


# ------------------------------------------------------------------------------------------------------------- states


@dataclass(frozen=True, slots=True)
class WaitingState:
    """In the queue, or in the batch being decided."""

    unseen: UnseenCommit | None = None
    """A commit that another node or a new owner of the log may still write."""
    result: tuple[Position, DecisionResult] | None = field(default=None, repr=False)
    """A result that writes nothing, with its position: valid while the tables stay there."""


@dataclass(frozen=True, slots=True)
class DeferredState:
    """Deferred, while the schema service answers its questions."""

    task: asyncio.Task[None]
    unseen: UnseenCommit | None


@dataclass(frozen=True, slots=True)
class SentState:
    """Its commit is in an append of this node in flight. All commands of the append share this object."""

    unseen: UnseenCommit
    before: UnseenCommit | None = None
    """The commit that was possible before."""


@dataclass(frozen=True, slots=True)
class ForwardedState:
    """Forwarded to another node."""

    unseen: UnseenCommit | None
    """Set when it leaves this node."""
    before: UnseenCommit | None


@dataclass(frozen=True, slots=True)
class DoneState:
    """Answered, or its caller has gone."""

    unseen: ClassVar[None] = None


CommandState = WaitingState | DeferredState | SentState | ForwardedState | DoneState
S = TypeVar("S", SentState, DeferredState, ForwardedState)
WAITING, DONE = WaitingState(), DoneState()


@dataclass(slots=True, eq=False)
class QueuedCommand:
    """A command. `barrier` is the number of the first look at the tip that started after its arrival.

    Before that look, or a later one, has completed, a refusal or an answer without rows is not valid: it may depend on
    a state older than the command.
    """

    command: Command[Any]
    barrier: int
    session: SchemaSession
    answered: asyncio.Future[Reply[Any]]
    deadline: float = math.inf
    """Its deadline; loop time."""
    request_id: str = ""
    after: PositionToken | None = None
    """The position token that its state must include."""
    from_peer: bool = False
    """Whether another node forwarded it, so that it is not forwarded again."""
    max_sequence: int = 0
    """The highest sequence of its commit; 0 for any."""
    state: CommandState = WAITING
    is_large: bool = False
    """Whether the event loop is not to decide it: its texts are large."""
    forward_attempts: int = 0
    """The number of returns from other nodes without an answer."""

    @classmethod
    def of_peer(
        cls,
        forwarded: ForwardedCommand,
        barrier: int,
        session: SchemaSession,
        answered: asyncio.Future[Reply[Any]],
        deadline: float,
    ) -> "QueuedCommand":
        """Return a command that another node forwarded; a third node may have it, too."""
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
        """Whether it is answered, or its caller has gone."""
        return self.answered.done()

    def may_land_later(self, tables: Tables) -> bool:
        """Return whether an append of this node with it may still be accepted, although another node owns the log."""
        unseen = self.state.unseen
        return unseen is not None and unseen.own_until > tables.sequence

    def is_forgotten(self, tables: Tables) -> bool:
        """Return whether the outcome of a commit of it may have expired in these tables."""
        unseen = self.state.unseen
        return unseen is not None and unseen.is_forgotten(tables.sequence)

    @property
    def open_until(self) -> int:
        """Return the last sequence at which another node or an earlier append may have its commit; 0 if there is none."""
        unseen = self.state.unseen
        return 0 if unseen is None else unseen.until

    def may_be_in_log(self, tables: Tables) -> bool:
        """Return whether a commit of it may be in the log or may still arrive, by these tables."""
        unseen = self.state.unseen
        if unseen is None:
            return False
        if isinstance(self.state, SentState) or tables.sequence < unseen.until or unseen.is_forgotten(tables.sequence):
            return True
        return tables.has(OUTCOME, self.command.outcome_key)

    def known_result(self, base: Position) -> DecisionResult | None:
        """Return its result on a position, if known and without rows."""
        state = self.state
        if isinstance(state, WaitingState) and state.result is not None and state.result[0] == base:
            return state.result[1]
        return None

    # ------------------------------------------------------------------------------------------------- transitions

    def keep_result(self, base: Position, result: DecisionResult) -> None:
        """Keep a result without rows; it is valid once `base` is known to be new enough."""
        if not self.is_over:
            assert isinstance(self.state, WaitingState)
            self.state = WaitingState(self.state.unseen, (base, result))

    def defer(self, task: asyncio.Task[None]) -> None:
        """Defer it until a task has ended."""
        assert isinstance(self.state, WaitingState)
        self.state = DeferredState(task, self.state.unseen)

    def resume(self) -> None:
        """Return it to the queue after the task."""
        if (state := self._expect(DeferredState)) is not None:
            self.state = WaitingState(state.unseen)

    def send(self, append: SentState) -> None:
        """Note that its commit is sent in an append."""
        assert isinstance(self.state, WaitingState)
        before = self.state.unseen
        self.state = append if before is None else SentState(append.unseen, before)

    def return_to_line(self) -> None:
        """Return it to the queue: its append was rejected, or it was in none."""
        if not isinstance(self.state, WaitingState) and (state := self._expect(SentState)) is not None:
            self.state = WaitingState(state.before)

    def leave_to_owner(self) -> None:
        """Note that another node owns the log: the append may be accepted until that node is past it."""
        if (state := self._expect(SentState)) is not None:
            until = state.unseen.until
            last = until if state.before is None else max(until, state.before.until)
            self.state = WaitingState(UnseenCommit(state.unseen.after, last, until))

    def forward(self) -> None:
        """Prepare it for another node."""
        assert isinstance(self.state, WaitingState)
        self.state = ForwardedState(self.state.unseen, self.state.unseen)

    def depart(self, sequence: int, last: int) -> bool:
        """Send it to another node, which decides it up to a sequence; return False if its caller has gone."""
        if self.is_over or (state := self._expect(ForwardedState)) is None:
            return False  # its client was told that it has no effect
        before = state.before
        self.state = ForwardedState(UnseenCommit(sequence, last if before is None else max(before.until, last)), before)
        return True

    def stay(self) -> None:
        """Note that the node has not accepted it and will not."""
        if (state := self._expect(ForwardedState)) is not None:
            self.state = ForwardedState(state.before, state.before)

    def come_back(self) -> None:
        """Return it to the queue; that node may still execute it."""
        if (state := self._expect(ForwardedState)) is not None:
            self.state = WaitingState(state.unseen)

    def finish(self) -> None:
        """Note that its caller has gone."""
        if isinstance(self.state, DeferredState):
            self.state.task.cancel()
        self.state = DONE

    def _expect(self, kind: type[S]) -> S | None:
        """Return the state before a transition; None if the command is done."""
        if isinstance(self.state, DoneState):
            return None
        assert isinstance(self.state, kind), f"{self.state} is not {kind.__name__}"
        return self.state

    # ------------------------------------------------------------------------------------------------------- answers

    def refuse_elsewhere(self, position: Position) -> None:
        """Fail it if the log was replaced by another one."""
        if self.after is None or not self.after.sequence or self.after.identity == position.token.identity:
            return
        other = "the log was replaced by another one; nothing was written"
        self.fail(Unavailable(other) if self.from_peer else refuse_token(self.after, position))

    def answer(self, result: DecisionResult, position: Position) -> None:
        """Answer it, with the token of a position at which the answer is durable."""
        if self.is_over:
            return
        if isinstance(result, Refusal):
            self.answered.set_exception(result)
        else:
            self.answered.set_result(Reply(result.answer, position.token))

    def fail(self, error: Exception) -> None:
        """Fail it."""
        if not self.is_over:
            self.answered.set_exception(error)

    def fail_unwritten(self, tables: Tables, error: Exception) -> None:
        """Fail it with an error that says it has no effect, or with `OutcomeUnknown` where it may be in the log."""
        self.fail(OutcomeUnknown(self.command.command_id) if self.may_be_in_log(tables) else error)

    def expire(self, tables: Tables, why: str = "", retry_after: float = 1.0) -> None:
        """Fail it at its deadline; `why` it was not decided, if known, and the seconds before a retry."""
        because = f"{why}; " if why else ""
        reason = f"{because}the command was not written in time, and has no effect"
        self.fail_unwritten(tables, Unavailable(reason, retry_after))


def refuse_token(token: PositionToken, position: Position) -> Invalid:
    """Return the refusal of a token that is not a position of the history at `position`."""
    return Invalid.of(
        "TOKEN",
        "The token is of another log, or of a history that this log does not have",
        path="Treaty-Position",
        old=str(position.token),
        new=str(token),
        allowed="a token that this registry gave; leave it out to read what is there now",
    )
