"""The question queue: questions about schemas wait for a worker. Commands precede checks, principals take turns,
abandoned work is stopped.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import field
from typing import TypeVar

from treaty.core.limits import POOL_BYTES, POOL_BYTES_EACH, POOL_DECISIONS, POOL_DECISIONS_EACH
from treaty.core.refusals import Unavailable
from treaty.core.schema_engine import Answer, Question
from treaty.light_dataclass import dataclass

N = TypeVar("N", bound=Hashable)

RETRY_SECONDS = 60.0
"""The longest `Retry-After`, in seconds."""
WEIGHT_OF_LAST = 0.2
"""Weight of the last question in the moving average of durations."""

AnswerQuestion = Callable[[Question], Awaitable[Answer]]
"""Answers a question without blocking the event loop. Cancellation stops the work."""


@dataclass(frozen=True, slots=True)
class QuestionSource:
    """The source of a question: its principal, and whether it is for a command (`writes`)."""

    principal: str = ""
    writes: bool = False


NOBODY = QuestionSource()


@dataclass(slots=True, eq=False)
class QueuedQuestion:
    """One question, shared by all that wait for its answer."""

    key: Hashable
    question: Question
    answered: asyncio.Future[Answer]
    sources: Counter[QuestionSource] = field(default_factory=Counter)
    """Waiting sources, with counts."""
    task: asyncio.Task[None] | None = None
    """The work, once it has begun."""
    began: float = 0.0
    runs_for: QuestionSource = NOBODY
    """The source whose turn it used."""
    has_yielded: bool = False
    """Its work was stopped once for a command of another principal, which happens only once."""


def _may_yield(entry: QueuedQuestion) -> bool:
    """Return whether the work may be stopped for a command, and restarted later."""
    return not (entry.runs_for.writes or entry.has_yielded or any(source.writes for source in entry.sources))


class QuestionQueue:
    """Questions of all decisions of a node.

    At most `workers` are answered at a time. With several workers one is reserved for commands. If a principal occupies
    all workers and another principal's command arrives, one of the first one's checks returns to the queue. An
    abandoned question is removed from the queue, or its work is stopped.
    """

    def __init__(self, answer: AnswerQuestion, workers: int = 1) -> None:
        """Start empty."""
        self._answer = answer
        self._workers = workers
        self._most = max(1, workers - 1)
        """The most workers for the commands of one principal, or for all checks."""
        self._open: dict[Hashable, QueuedQuestion] = {}
        self._queues: OrderedDict[QuestionSource, dict[QueuedQuestion, None]] = OrderedDict()
        """Waiting questions by source, the next source first."""
        self._running: dict[asyncio.Task[None], QueuedQuestion] = {}
        self._decisions: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._seconds = 0.1
        """Moving average of the duration of a question."""

    def __len__(self) -> int:
        """Return the number of unanswered questions."""
        return len(self._open)

    @property
    def running(self) -> int:
        """The number of questions in work."""
        return len(self._running)

    @property
    def retry_after(self) -> float:
        """The estimated seconds until all waiting questions are answered; at least one."""
        now = asyncio.get_running_loop().time()
        oldest = max((now - entry.began for entry in self._running.values()), default=0.0)
        waiting = len(self._open) - len(self._running)
        return min(RETRY_SECONDS, max(1.0, waiting * self._seconds / self._workers + oldest))

    async def answer(
        self, questions: Sequence[tuple[Hashable, Question]], source: QuestionSource, size: int = 0
    ) -> list[Answer]:
        """Answer the questions of a decision, by key; `size` is the number of characters that they parse.

        Raises `Unavailable` if too many wait, and what the work raises. Equal open questions are shared.
        """
        who = source.principal
        self._refuse_full(who)
        self._decisions[who] += 1
        self._bytes[who] += size
        entries = [self._join(key, question, source) for key, question in questions]
        self._start()
        try:
            return [await asyncio.shield(entry.answered) for entry in entries]
        finally:
            for entry in entries:
                self._leave(entry, source)
            _lower(self._decisions, who, 1)
            _lower(self._bytes, who, size)

    def _refuse_full(self, principal: str) -> None:
        """Raise `Unavailable` past a limit. A decision larger than a limit on characters may wait if no other does."""
        counts = (
            (
                "POOL_DECISIONS_EACH",
                self._decisions[principal],
                POOL_DECISIONS_EACH,
                "decisions of this principal wait",
            ),
            ("POOL_DECISIONS", self._decisions.total(), POOL_DECISIONS, "decisions wait"),
            ("POOL_BYTES_EACH", self._bytes[principal], POOL_BYTES_EACH, "characters of this principal's schemas wait"),
            ("POOL_BYTES", self._bytes.total(), POOL_BYTES, "characters of schemas wait"),
        )
        for limit, count, maximum, what in counts:
            if count >= maximum:
                message = f"{count} {what} to be read and compared (limit {limit}); nothing was written"
                raise Unavailable(message, self.retry_after)

    def _join(self, key: Hashable, question: Question, source: QuestionSource) -> QueuedQuestion:
        entry = self._open.get(key)
        if entry is None:
            entry = QueuedQuestion(key, question, asyncio.get_running_loop().create_future())
            self._open[key] = entry
        entry.sources[source] += 1
        if entry.task is None:
            self._queues.setdefault(source, {})[entry] = None
        return entry

    def _leave(self, entry: QueuedQuestion, source: QuestionSource) -> None:
        """Remove a waiting decision: after the last one of a source its turn, after the last one of all the work."""
        _lower(entry.sources, source, 1)
        if source not in entry.sources:
            self._dequeue(entry, source)
        if not entry.sources and not entry.answered.done():
            self._close(entry)
            if entry.task is not None:
                entry.task.cancel()

    # ---------------------------------------------------------------------------------------------------- working

    def _start(self) -> None:
        """Start questions while workers are free."""
        while len(self._running) < self._workers and (source := self._next_source()) is not None:
            entry = next(iter(self._queues[source]))
            for waiting in entry.sources:
                self._dequeue(entry, waiting)
            if source in self._queues:
                self._queues.move_to_end(source)
            entry.runs_for, entry.began = source, asyncio.get_running_loop().time()
            entry.task = asyncio.create_task(self._work(entry), name="question")
            self._running[entry.task] = entry
            entry.task.add_done_callback(self._finish)
        self._preempt_check()

    def _next_source(self) -> QuestionSource | None:
        """Return the next source: commands first, and of each kind the one that has waited longest."""
        running = [entry.runs_for for entry in self._running.values()]
        busy = Counter(source.principal for source in running)
        commands = Counter(source.principal for source in running if source.writes)
        checks = sum(not source.writes for source in running)
        for source in self._queues:
            if source.writes and commands[source.principal] < self._most:
                return source
        if checks >= self._most:
            return None
        return next(
            (source for source in self._queues if not source.writes and busy[source.principal] < self._most), None
        )

    def _preempt_check(self) -> None:
        """Return a check to the queue if one principal occupies all workers and another one's command waits.

        A check returns at most once, and not if a command waits for its answer too.
        """
        principals = {entry.runs_for.principal for entry in self._running.values()}
        if self._workers == 1 or len(self._running) < self._workers or len(principals) != 1:
            return
        if not any(source.writes and source.principal not in principals for source in self._queues):
            return
        if any(entry.task is not task for task, entry in self._running.items()):
            return  # one has gone back, and its worker will be free in a moment
        running = next((pair for pair in self._running.items() if _may_yield(pair[1])), None)
        if running is None:
            return
        task, entry = running
        entry.task, entry.has_yielded = None, True
        for source in entry.sources:
            self._queues.setdefault(source, {})[entry] = None
        task.cancel()

    async def _work(self, entry: QueuedQuestion) -> None:
        try:
            answer = await self._answer(entry.question)
        except Exception as error:  # noqa: BLE001 - whatever a format or the pool raises belongs to those who asked
            self._close(entry)
            if not entry.answered.done():
                entry.answered.set_exception(error)
                entry.answered.exception()  # seen, even if all who waited have left
        else:
            self._close(entry)
            if not entry.answered.done():
                entry.answered.set_result(answer)

    def _finish(self, task: asyncio.Task[None]) -> None:
        entry = self._running.pop(task)
        if entry.task is task:  # else it went back to the queue, and took no time that says anything
            took = asyncio.get_running_loop().time() - entry.began
            self._seconds += WEIGHT_OF_LAST * (took - self._seconds)
        self._start()

    def _close(self, entry: QueuedQuestion) -> None:
        """Stop sharing a question: the same question is then answered again."""
        if self._open.get(entry.key) is entry:
            del self._open[entry.key]

    def _dequeue(self, entry: QueuedQuestion, source: QuestionSource) -> None:
        queue = self._queues.get(source)
        if queue is not None:
            queue.pop(entry, None)
            if not queue:
                del self._queues[source]

    async def close(self) -> None:
        """Stop all work and fail all that wait."""
        self._queues.clear()
        for entry in list(self._open.values()):
            if not entry.answered.done():
                entry.answered.set_exception(Unavailable("this node stops; nothing was written"))
                entry.answered.exception()
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _lower(counts: Counter[N], name: N, by: int) -> None:
    """Decrement a count, and remove it at zero."""
    counts[name] -= by
    if counts[name] <= 0:
        del counts[name]
