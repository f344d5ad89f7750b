"""A chain in the making: commands decided one after the other, each on an overlay of those before it."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from treaty.core.command import Command, Decision, Needs
from treaty.core.commit import Commit, Position
from treaty.core.grammar import Answer, Grammar, Question
from treaty.core.limits import CHAIN_BYTES, COMMIT_BYTES
from treaty.core.overlay import Overlay
from treaty.core.refusals import Refusal, TooLarge
from treaty.core.rows import Encoded, Row, encode_row
from treaty.core.view import Tables, View
from treaty.node.grammar import Sitting
from treaty.node.pending import LateError, Pending, Verdict

Decide = Callable[[View, Command[Any], Grammar], Decision[Any] | Refusal | Needs]


@dataclass(slots=True)
class Chain:
    """Verdicts on one base. Deciding never waits, so the base cannot change underneath."""

    base: Position
    commits: list[Commit] = field(default_factory=list)
    rows: dict[Encoded, Row] = field(default_factory=dict)
    writers: list[tuple[Pending, Verdict]] = field(default_factory=list)
    """Commands with a commit in the chain, in its order."""
    riders: list[tuple[Pending, Verdict]] = field(default_factory=list)
    """Verdicts that write nothing and hold if the chain lands: they were decided on its base, or on its commits."""
    ready: list[tuple[Pending, Verdict]] = field(default_factory=list)
    """Verdicts that hold already."""
    open: list[tuple[Pending, tuple[Question, ...]]] = field(default_factory=list)
    """Commands that wait for a format's answers."""
    left: list[Pending] = field(default_factory=list)
    """Commands that did not fit."""
    held: list[Pending] = field(default_factory=list)
    """Commands whose verdict writes nothing and does not count yet: another node may have them and decide them, up to
    a sequence that the log has not passed. The chain passes it, with empty commits.
    """
    bytes: int = 0

    @property
    def last(self) -> int:
        """Sequence of its last commit."""
        return self.base.sequence + len(self.commits)

    @property
    def members(self) -> list[Pending]:
        """All that wait for its end."""
        return [*(pending for pending, _ in (*self.writers, *self.riders)), *self.held]


def never() -> bool:
    """It is never enough."""
    return False


def build(
    batch: Iterable[Pending], tables: Tables, decide: Decide, done: int, enough: Callable[[], bool] = never
) -> Chain:
    """Decide a batch on the tables as they are, until it is `enough`. `done` is the number of the last ended look."""
    chain, overlay = Chain(tables.position), Overlay(tables)
    waiting = iter(batch)
    for pending in waiting:
        pending.refuse_elsewhere(tables.position)
        if pending.over:
            continue
        verdict = _verdict(chain, overlay, pending, decide)
        if isinstance(verdict, Needs):
            chain.open.append((pending, verdict.questions))
        elif isinstance(verdict, Exception) or not verdict.rows:
            _without_rows(chain, pending, verdict, done)
        elif not _add(chain, overlay, pending, verdict):
            chain.left = [pending, *waiting]
        if enough():
            chain.left += waiting
    for sequence in range(chain.last + 1, max((one.elsewhere for one in chain.held), default=0) + 1):
        chain.commits.append(Commit(sequence, ()))
    return chain


def repeated(tables: Tables, pending: Pending, decide: Decide) -> Verdict | None:
    """The verdict on a command whose outcome is in the tables; None where that failed, which is told to it alone."""
    try:
        verdict = decide(tables, pending.command, pending.sitting)
    except Exception as error:  # noqa: BLE001 - a fault in one command's law must not take the others with it
        pending.fail(error)
        return None
    assert not isinstance(verdict, Needs)
    return verdict


def _verdict(chain: Chain, overlay: Overlay, pending: Pending, decide: Decide) -> Verdict | Needs:
    if pending.guess is not None and not chain.commits and pending.guess[0] == chain.base:
        return pending.guess[1]
    try:
        return decide(overlay, pending.command, pending.sitting)
    except Exception as error:  # noqa: BLE001 - a fault in one command's law must not take the others with it
        pending.fail(error)
        return Decision((), None)


def _without_rows(chain: Chain, pending: Pending, verdict: Verdict, done: int) -> None:
    repeated = isinstance(verdict, Decision) and verdict.repeated
    if pending.elsewhere > chain.last and not repeated and not pending.over:
        chain.held.append(pending)
        return
    if not chain.commits:
        if pending.look <= done:
            chain.ready.append((pending, verdict))
            return
        pending.guess = (chain.base, verdict)
    chain.riders.append((pending, verdict))


def _add(chain: Chain, overlay: Overlay, pending: Pending, decision: Decision[Any]) -> bool:
    """Put a commit into the chain; False where it must wait for the next one."""
    encoded = tuple(encode_row(row) for row in decision.rows)
    size = sum(len(one.table) + len(one.key) + len(one.value or "") for one in encoded)
    if size > COMMIT_BYTES:
        pending.fail(
            TooLarge.of(
                "COMMIT_BYTES",
                f"The commit of this command would have {size} bytes",
                new=f"{size} bytes",
                allowed=f"at most {COMMIT_BYTES} bytes; send less at once",
            )
        )
        return True
    if chain.commits and chain.bytes + size > CHAIN_BYTES:
        return False
    sequence = chain.last + 1
    if pending.last and sequence > pending.last:
        pending.fail(LateError("too late"))
        return True
    chain.commits.append(Commit(sequence, encoded, pending.command.command_id, pending.command.time))
    chain.rows.update(zip(encoded, decision.rows, strict=True))
    chain.writers.append((pending, decision))
    chain.bytes += size
    overlay.put(decision.rows)
    return True


# ---------------------------------------------------------------------------------------------------- reading ahead


class _EnoughError(Exception):
    """The first question was asked."""


@dataclass(frozen=True, slots=True)
class _First:
    """A `Grammar` that answers the first question of a decision, which is about the text, and ends it."""

    sitting: Sitting

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the formats with a plug-in here."""
        return self.sitting.formats

    @property
    def validators(self) -> frozenset[str]:
        """Names of the validators that are here."""
        return self.sitting.validators

    def ask(self, question: Question) -> Answer | None:
        """Have the answer remembered; the decision is made later."""
        self.sitting.ask(question)
        raise _EnoughError


def read_ahead(batch: Iterable[Pending], tables: Tables, decide: Decide) -> None:
    """Read the texts of commands that were never decided yet, before the log is held, so that nobody waits for a parser with it.

    Nothing is decided, and no fault is told here.
    """
    for pending in batch:
        if not pending.over and not pending.sitting.pinned:
            with suppress(Exception):  # the decision meets it again
                decide(tables, pending.command, _First(pending.sitting))
