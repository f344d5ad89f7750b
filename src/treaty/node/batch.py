"""A commit batch: commands decided one after the other, each on an overlay of those before, and sent as one append; and
which commit is too large for one.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field
from enum import Enum
from functools import partial
from typing import Any

from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.limits import CHAIN_BYTES, COMMIT_BYTES
from treaty.core.refusals import Refusal, TooLarge
from treaty.core.schema import InEventLoop, LargeTextError
from treaty.core.schema_engine import Answer, Question, SchemaEngine
from treaty.core.state.codec import dumps_in_steps
from treaty.core.state.commit import Commit, Position
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import OUTCOME
from treaty.core.state.view import Overlay, Tables, View
from treaty.light_dataclass import dataclass
from treaty.node.follower import Follower
from treaty.node.large_work import RunLargeWork
from treaty.node.queued_command import DecisionResult, QueuedCommand, SequenceExceededError
from treaty.node.schema_service import SchemaSession, SessionEngine, answered_engine
from treaty.node.status import NodeCounts

Decide = Callable[[View, Command[Any], SchemaEngine], Decision[Any] | Refusal | OpenQuestions]


class MemberReason(Enum):
    """Why a command waits for the append of a batch."""

    WRITES = "it has a commit in the append"
    FOLLOWS = "its result writes nothing, and is valid if the append is accepted: it was decided on its base, or on its commits"
    UNPROVEN = "its result writes nothing, and is valid once the log is past what another node may write"


Member = tuple[QueuedCommand, DecisionResult, MemberReason]


@dataclass(slots=True)
class CommitBatch:
    """Results on one base. Deciding never awaits, so the base cannot change meanwhile."""

    base: Position
    commits: list[Commit] = field(default_factory=list)
    rows: list[tuple[EncodedRow, Row]] = field(default_factory=list)
    """All rows of the commits, with what was encoded."""
    members: list[Member] = field(default_factory=list)
    """Commands that wait for the append, in the order of their decisions."""
    proven: list[tuple[QueuedCommand, DecisionResult]] = field(default_factory=list)
    """Results that are valid already."""
    asking: list[tuple[QueuedCommand, tuple[Question, ...]]] = field(default_factory=list)
    """Commands that wait for answers of the schema service."""
    left: list[QueuedCommand] = field(default_factory=list)
    """Commands for which the batch had no room."""
    bytes: int = 0

    @property
    def last(self) -> int:
        """Sequence of its last commit."""
        return self.base.sequence + len(self.commits)

    @property
    def first_writer(self) -> QueuedCommand | None:
        """The member with the first commit; None if all are empty."""
        return next((command for command, _, reason in self.members if reason is MemberReason.WRITES), None)

    @property
    def commands(self) -> list[QueuedCommand]:
        """All members."""
        return [command for command, _, _ in self.members]


@dataclass(frozen=True, slots=True)
class PreparedDecision:
    """The result of a large command, and its encoded rows, which know their digests."""

    result: DecisionResult | OpenQuestions
    rows: tuple[EncodedRow, ...] = ()


def prepare(command: QueuedCommand, tables: Tables, decide: Decide) -> PreparedDecision | None:
    """Decide a large command on tables that do not change meanwhile, on any thread; None if that fails.

    Its questions about schemas go to the pool.
    """
    try:
        result = decide(Overlay(tables), command.command, answered_engine(command.session))
        rows = result.rows if isinstance(result, Decision) else ()
        encoded = tuple(encode_row(row, dumps_in_steps) for row in rows)
    except Exception:  # noqa: BLE001 - it fails again where it is answered
        return None
    for encoded_row in encoded:
        hash(encoded_row), encoded_row.digest
    return PreparedDecision(result, encoded)


def build(
    commands: Iterable[QueuedCommand],
    tables: Tables,
    decide: Decide,
    completed_read: int,
    enough: Callable[[], bool] = lambda: False,
    *,
    prepared: PreparedDecision | None = None,
) -> CommitBatch:
    """Decide commands on the current tables, until it is `enough`, or one is large. `completed_read` is the number of the last
    completed read of the tip. What is `prepared` is the only command's, on these tables.
    """
    batch, overlay = CommitBatch(tables.position), Overlay(tables)
    waiting = iter(commands)
    open_until = 0
    for command in waiting:
        command.refuse_elsewhere(tables.position)
        if command.is_over:
            continue
        result: DecisionResult | OpenQuestions | None = None
        if prepared is None and not batch.commits:
            result = command.known_result(batch.base)
        if result is None:
            view = overlay if batch.commits else tables
            result = _decide_one(view, command, decide) if prepared is None else prepared.result
        if result is None:
            if command.is_large and not command.is_over:
                batch.left = [command, *waiting]
        elif isinstance(result, OpenQuestions):
            batch.asking.append((command, result.questions))
        elif isinstance(result, Exception) or not result.rows:
            open_until = max(open_until, _add_without_rows(batch, command, result, completed_read))
        elif not _add_commit(batch, overlay, command, result, None if prepared is None else prepared.rows):
            batch.left = [command, *waiting]
        if enough():
            batch.left += waiting
    for sequence in range(batch.last + 1, open_until + 1):
        batch.commits.append(Commit(sequence, ()))
    return batch


async def answer_from_outcome(
    follower: Follower, command: QueuedCommand, decide: Decide, counts: NodeCounts, run_large: RunLargeWork
) -> bool:
    """Answer a command whose outcome is in the tables; return False without an outcome. An exception fails only this
    command. A large one is compared with its outcome on a thread.
    """
    if not follower.tables.has(OUTCOME, command.command.outcome_key):
        return False
    result = None if command.is_large else _decide_one(follower.tables, command, decide)
    if command.is_large:
        async with follower.pause():
            if command.is_over or not follower.tables.has(OUTCOME, command.command.outcome_key):
                return command.is_over
            prepared = await run_large(partial(prepare, command, follower.tables, decide))
            result = _decide_one(follower.tables, command, decide) if prepared is None else prepared.result
    if result is not None:
        assert not isinstance(result, OpenQuestions)
        counts.count_result(result)
        command.answer(result, follower.position)
    return True


def _decide_one(view: View, command: QueuedCommand, decide: Decide) -> DecisionResult | OpenQuestions | None:
    """Decide a command; return None if it turns out to be large, or if that failed, which fails only this command."""
    try:
        if command.is_large:
            return decide(view, command.command, command.session)
        with InEventLoop():
            return decide(view, command.command, command.session)
    except LargeTextError:
        command.is_large = True
        return None
    except Exception as error:  # noqa: BLE001 - a fault in one command's law must not take the others with it
        command.fail(error)
        return None


def _add_without_rows(batch: CommitBatch, command: QueuedCommand, result: DecisionResult, completed_read: int) -> int:
    """Add a result that writes nothing. Returns the sequence that the append must pass for it, or 0."""
    repeated = isinstance(result, Decision) and result.repeated
    if command.open_until > batch.last and not repeated:
        batch.members.append((command, result, MemberReason.UNPROVEN))
        return command.open_until
    if not batch.commits:
        if command.barrier <= completed_read:
            batch.proven.append((command, result))
            return 0
        command.keep_result(batch.base, result)
    batch.members.append((command, result, MemberReason.FOLLOWS))
    return 0


def _add_commit(
    batch: CommitBatch,
    overlay: Overlay,
    command: QueuedCommand,
    decision: Decision[Any],
    encoded: tuple[EncodedRow, ...] | None,
) -> bool:
    """Add a commit, of rows that may be `encoded` already; return False if it must wait for the next batch."""
    if encoded is None:
        encoded = tuple(encode_row(row) for row in decision.rows)
    size = sum(len(row.table) + len(row.key) + len(row.value or "") for row in encoded)
    if size > COMMIT_BYTES:
        command.fail(
            TooLarge.of(
                "COMMIT_BYTES",
                f"The commit of this command would have {size} bytes",
                new=f"{size} bytes",
                allowed=f"at most {COMMIT_BYTES} bytes; send less at once",
            )
        )
        return True
    if batch.commits and batch.bytes + size > CHAIN_BYTES:
        return False
    sequence = batch.last + 1
    if command.max_sequence and sequence > command.max_sequence:
        command.fail(SequenceExceededError("too late"))
        return True
    batch.commits.append(Commit(sequence, encoded, command.command.command_id, command.command.time))
    batch.rows.extend(zip(encoded, decision.rows, strict=True))
    batch.members.append((command, decision, MemberReason.WRITES))
    batch.bytes += size
    overlay.put(decision.rows)
    return True


# ---------------------------------------------------------------------------------------------------- reading ahead


class _FirstQuestionError(Exception):
    """The first question was asked."""


def _first_question_engine(session: SchemaSession) -> SessionEngine:
    """Return an engine that answers only the first question of a decision, which parses the text."""

    def ask(question: Question) -> Answer | None:
        session.ask(question)  # the answer is kept; the decision is made later
        raise _FirstQuestionError

    return SessionEngine(session, ask)


def read_ahead(commands: Iterable[QueuedCommand], tables: Tables, decide: Decide) -> None:
    """Parse the texts of new commands before the log is locked, so that no node waits for a parser. Decides nothing and
    reports no fault.
    """
    for command in commands:
        if not command.is_over and not command.session.pinned:
            with suppress(Exception), InEventLoop():  # the decision meets it again
                decide(tables, command.command, _first_question_engine(command.session))
