"""Questions about pairs that lead to other pairs, in circles too: answered to the greatest fixpoint, without recursion.

A pair that is met again while it is being answered counts as compatible. What was concluded from that is forgotten
when it turns out to be wrong, and asked again.
"""

from collections.abc import Callable, Generator, Hashable
from typing import NamedTuple

from treaty.formats.budget import current_budget
from treaty.formats.jsonschema.compare.differences import DifferenceReport


class PairQuestion(NamedTuple):
    """A pair to compare. `deeper` says that it is about a value inside the one that the asking pair is about."""

    pair: Hashable
    deeper: bool = True


Task = Generator[PairQuestion, DifferenceReport, DifferenceReport]
"""Answers one question: yields those that it leads to, is sent their answers, returns its own."""


_QUESTION = 20
"""Steps that a question costs beside what its task counts itself."""
_LOOKUP = 2
"""Steps that it costs to look whether a question has its answer already."""


class _Frame:
    """A question that is being answered.

    `low` is the position, in the list of open questions, of the outermost one whose answer was assumed; `depth` counts the values
    that the question lies inside of, and `begun` what was concluded without proof before it.
    """

    __slots__ = ("begun", "depth", "low", "pair", "task")

    def __init__(self, pair: Hashable, task: Task, depth: int, position: int, begun: int) -> None:
        self.pair = pair
        self.task = task
        self.depth = depth
        self.low = position
        self.begun = begun


class FixpointSolver:
    """Asks `begin` for the task of every pair that is met and puts the answers together.

    `assumed` is the answer of a pair that is met again further in, `circular` that of a pair that leads to itself
    about the very same value, which proves nothing.
    """

    def __init__(
        self, begin: Callable[[Hashable], Task], assumed: DifferenceReport, circular: DifferenceReport
    ) -> None:
        self._begin = begin
        self._assumed = assumed
        self._circular = circular
        self._budget = current_budget()
        self._known: dict[Hashable, DifferenceReport] = {}
        self._low: dict[Hashable, int] = {}
        self._order: list[Hashable] = []
        self._open: dict[Hashable, int] = {}
        self._frames: list[_Frame] = []

    def answer(self, pair: Hashable) -> DifferenceReport:
        """The answer to one question and to all that it leads to; raises `StepsError` where the budget is spent."""
        self._push(pair, 0)
        report: DifferenceReport | None = (
            None  # the answer to what the innermost task has yielded; a new task is begun by None
        )
        while self._frames:
            frame = self._frames[-1]
            try:
                question = frame.task.send(report)  # type: ignore[arg-type]
            except StopIteration as stop:
                report = stop.value
                self._close(frame, stop.value)
                continue
            self._budget.spend(_LOOKUP)
            report = self._get_cached(frame, question)
            if report is None:
                self._push(question.pair, frame.depth + question.deeper)
        assert report is not None
        return report

    def _push(self, pair: Hashable, depth: int) -> None:
        self._budget.spend(_QUESTION)
        position = len(self._frames)
        self._open[pair] = position
        self._frames.append(_Frame(pair, self._begin(pair), depth, position, len(self._order)))

    def _get_cached(self, frame: _Frame, question: PairQuestion) -> DifferenceReport | None:
        position = self._open.get(question.pair)
        if position is not None:
            if frame.depth + question.deeper == self._frames[position].depth:
                return self._circular
            frame.low = min(frame.low, position)
            return self._assumed
        report = self._known.get(question.pair)
        if report is not None and not report.harms:
            frame.low = min(frame.low, self._low.get(question.pair, frame.low))
        return report

    def _close(self, frame: _Frame, report: DifferenceReport) -> None:
        self._frames.pop()
        del self._open[frame.pair]
        position = len(self._frames)
        self._known[frame.pair] = report
        since = self._order[frame.begun :]
        self._budget.spend(len(since) >> 2)
        if report.harms:
            # What concluded from it, or from something that may depend on it, has to be asked again.
            for pair in since:
                if pair in self._low:
                    del self._low[pair], self._known[pair]
            del self._order[frame.begun :]
        elif frame.low >= position:
            unproven = []
            for pair in since:
                if self._low.get(pair, position) >= position:
                    self._low.pop(pair, None)
                else:
                    unproven.append(pair)
            self._order[frame.begun :] = unproven
        else:
            self._low[frame.pair] = frame.low
            self._order.append(frame.pair)
            if self._frames:
                outer = self._frames[-1]
                outer.low = min(outer.low, frame.low)
