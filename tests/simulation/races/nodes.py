"""Two nodes over one small log: each reads, decides and appends step by step, and an append that comes second is decided anew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.simulation.judging.broken import Broken
from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.commits import Digests, take_commit
from tests.simulation.judging.model.deciding import decide as model_decides
from tests.simulation.judging.model.metastore.integrity import find_faults
from tests.simulation.judging.model.past import Past
from tests.simulation.texts import Truth
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.state.commit import START, Commit, Position, make_append
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
from treaty.core.state.tables import DictTables

Answered = Any
"""An answer or a refusal."""
ROOTS: dict[str, int] = {}
EPOCH = 1_700_000_000_000


@dataclass(slots=True)
class SmallLog:
    """Commits in their order. What each comes to is held against the model, and against the integrity of sources."""

    commits: list[Commit] = field(default_factory=list)
    past: Past = field(default_factory=Past)
    digests: Digests = field(default_factory=Digests)

    def append(self, base: int, asking: Asking, decided: Sequence[Row]) -> bool:
        """Add a commit that was decided on the last one; False where another came first."""
        if base != len(self.commits):
            return False
        rows = tuple(map(encode_row, decided))
        commit = Commit(base + 1, rows, asking.command_id, asking.time)
        try:
            self.past, _ = take_commit(self.past, [asking], commit, tuple(map(decode_row, rows)), self.digests)
        except Broken as broken:
            pytest.fail(str(broken))
        fault = next(find_faults(self.past), "")
        assert not fault, f"after {asking.request} {fault}"
        self.commits.append(commit)
        return True


@dataclass(slots=True)
class SmallNode:
    """A node with commands to do. `answers` are what became of those that are done."""

    name: str
    log: SmallLog
    commands: Sequence[Request[Any]]
    tables: DictTables = field(default_factory=DictTables)
    answers: list[Answered] = field(default_factory=list)
    decided: Decision[Any] | Refusal | None = None

    @property
    def is_done(self) -> bool:
        return len(self.answers) == len(self.commands)

    def step(self) -> None:
        """Read what is new and decide; or append what was decided."""
        if self.decided is None:
            self.catch_up()
            self.decided = self._decide()
        else:
            self._settle(self.decided)
            self.decided = None

    def _asking(self) -> Asking:
        return Asking(self.commands[len(self.answers)], f"{self.name}{len(self.answers)}", EPOCH + len(self.answers))

    def catch_up(self) -> None:
        """Read what is new."""
        for commit in self.log.commits[self.tables.sequence :]:
            self.tables.apply(commit.rows, _place(commit))

    def _decide(self) -> Decision[Any] | Refusal:
        asking = self._asking()
        verdict = decide(self.tables, Command(asking.request, asking.command_id, asking.time), Truth())
        assert isinstance(verdict, Decision | Refusal), verdict
        return verdict

    def _settle(self, decided: Decision[Any] | Refusal) -> None:
        """Append; what writes nothing counts if nobody has written since."""
        asking, base = self._asking(), self.tables.sequence
        if isinstance(decided, Decision) and decided.rows:
            if self.log.append(base, asking, decided.rows):
                self.answers.append(decided.answer)
        elif base == len(self.log.commits):
            _compare(self.log.past, asking, decided)
            self.answers.append(decided if isinstance(decided, Refusal) else decided.answer)


def _place(commit: Commit) -> Position:
    rows: tuple[EncodedRow, ...] = ()
    append = make_append(START, commit.sequence.to_bytes(16, "big"), (Commit(1, rows),), ROOTS)
    return Position(append.identity, commit.sequence, commit.sequence.to_bytes(32, "big"))


def _compare(past: Past, asking: Asking, decided: Decision[Any] | Refusal) -> None:
    """What writes nothing is what the model says on the last state."""
    verdict = model_decides(past, asking)
    if isinstance(decided, Refusal):
        assert not isinstance(verdict, Yes), (asking.request, decided.reason, verdict)
        assert verdict.fits(decided), (asking.request, decided.reason, verdict)
    else:
        assert isinstance(verdict, Yes), (asking.request, verdict)
        assert not verdict.events, (asking.request, verdict)


def run_alone(log: SmallLog, request: Request[Any]) -> Answered:
    """Have one node do it."""
    node = SmallNode(f"alone {len(log.commits)}/", log, [request])
    while not node.is_done:
        node.step()
    return node.answers[0]


def play(
    begin: SmallLog, programs: Sequence[Sequence[Request[Any]]]
) -> Iterator[tuple[SmallLog, list[list[Answered]]]]:
    """Every way in which the steps of nodes can lie between each other, each played from the beginning."""
    schedules: list[tuple[int, ...]] = [()]
    while schedules:
        schedule = schedules.pop()
        log = SmallLog(list(begin.commits), begin.past, begin.digests)
        nodes = [SmallNode(f"n{at}/", log, commands) for at, commands in enumerate(programs)]
        for at in schedule:
            nodes[at].step()
        waiting = [at for at, node in enumerate(nodes) if not node.is_done]
        if waiting:
            schedules += [(*schedule, at) for at in waiting]
        else:
            yield log, [node.answers for node in nodes]
