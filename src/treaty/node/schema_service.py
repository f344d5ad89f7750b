"""The schema service: answers to questions about schemas, at once when small, in a pool when large, and remembered by meaning."""

import asyncio
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context, parent_process

from treaty.core.finding import Diagnostic, Finding
from treaty.core.limits import DECISION_ANSWERS, DECISION_ROUNDS, INLINE_BYTES, MEMO_BYTES
from treaty.core.refusals import TooLarge, Unavailable
from treaty.core.schema_engine import (
    Answer,
    CompareSchemas,
    ComparisonResult,
    FindTags,
    InspectionResult,
    InspectSchema,
    InvalidText,
    ParsedSchema,
    ParseSchema,
    Question,
    RetaggedSchema,
    RetagSchema,
    TagsFound,
)
from treaty.formats.answer import Parser
from treaty.formats.memo import weight as reach
from treaty.formats.table import table

Key = tuple[str, bytes, bytes, tuple[str, ...]]
"""What an answer depends on, and nothing else: digests of meanings. Never a guid: it covers a reference's subject and
number, not what stands there."""

ENTRY_BYTES = 400
"""What remembering an answer costs beside its texts."""

Run = Callable[[tuple[Question, ...]], Awaitable[tuple[Answer, ...]]]
"""Answers large questions without stopping the event loop."""


def key_of(question: Question) -> Key:
    """The memo's key of a question."""
    match question:
        case ParseSchema(meaning, strict, normalize):
            return (f"parse {strict} {normalize}", meaning.digest, b"", ())
        case CompareSchemas(reader, writer, policy):
            return (policy, reader.digest, writer.digest, ())
        case InspectSchema(meaning, validators):
            return ("inspect", meaning.digest, b"", validators)
        case FindTags(meaning):
            return ("tags", meaning.digest, b"", ())
        case RetagSchema(meaning, add, remove, lenient):
            edit = hashlib.sha256(repr((add, remove, lenient)).encode("utf-8", "backslashreplace"))
            return ("retag", meaning.digest, edit.digest(), ())


def weight(question: Question) -> int:
    """Characters of text that answering a question reads."""
    if isinstance(question, CompareSchemas):
        return reach(question.reader) + reach(question.writer)
    return reach(question.meaning)


def _size(answer: Answer) -> int:
    match answer:
        case ParsedSchema():
            return ENTRY_BYTES + len(answer.canonical)
        case InvalidText() | InspectionResult():
            return ENTRY_BYTES + sum(_fault_size(one) for one in answer.faults)
        case ComparisonResult():
            return ENTRY_BYTES + sum(_finding_size(one) for one in answer.findings)
        case TagsFound():
            return ENTRY_BYTES + sum(ENTRY_BYTES + len(one.path) + sum(map(len, one.tags)) for one in answer.tagged)
        case RetaggedSchema():
            return ENTRY_BYTES + len(answer.text)


def _fault_size(one: Diagnostic) -> int:
    return ENTRY_BYTES + len(one.path) + len(one.message) + len(one.expected)


def _finding_size(one: Finding) -> int:
    texts = (one.path, one.sentence, one.detail, one.writer, one.reader, one.remedy)
    return ENTRY_BYTES + sum(map(len, texts))


@dataclass(slots=True)
class SchemaService:
    """Where all decisions of a node have their questions answered.

    `answer` answers one question, blocking; `run` answers many without blocking, for what is large. `memo_bytes` bounds
    what is remembered between decisions.
    """

    formats: tuple[str, ...]
    answer: Callable[[Question], Answer]
    run: Run
    inline_bytes: int = INLINE_BYTES
    memo_bytes: int = MEMO_BYTES
    release: Callable[[], None] = lambda: None
    """Gives back what `run` uses."""
    validators: Callable[[], frozenset[str]] = frozenset
    """Names of the validators here; a function, because all formats must be loaded to know them."""
    _memo: OrderedDict[Key, tuple[Answer, int]] = field(default_factory=OrderedDict, repr=False)
    _bytes: int = 0
    _open: dict[Key, asyncio.Future[Answer]] = field(default_factory=dict, repr=False)
    """Questions that are being answered: who asks one of them again waits for the same answer."""
    _running: dict[asyncio.Task[None], None] = field(default_factory=dict, repr=False)

    def open_session(self) -> "SchemaSession":
        """A engine for one decision, however often it is made anew."""
        return SchemaSession(self)

    async def answer_questions(self, session: "SchemaSession", questions: tuple[Question, ...]) -> None:
        """Have questions answered for a decision. Raises `TooLarge` past the limit of answers for one."""
        if len(session.pinned) + len(questions) > DECISION_ANSWERS:
            raise TooLarge.of(
                "DECISION_ANSWERS",
                f"This needs more than {DECISION_ANSWERS} comparisons of schemas",
                allowed=f"at most {DECISION_ANSWERS}; delete old versions, or use a level that is not transitive",
            )
        fresh: list[Question] = []
        waits: list[tuple[Key, asyncio.Future[Answer]]] = []
        for question in questions:
            key, known = key_of(question), self.recall(question)
            if known is not None:
                session.pinned[key] = known
                continue
            if key not in self._open:
                self._open[key] = asyncio.get_running_loop().create_future()
                fresh.append(question)
            waits.append((key, self._open[key]))
        if fresh:
            task = asyncio.create_task(self._have_answered(tuple(fresh)), name="questions")
            self._running[task] = None
            task.add_done_callback(lambda done: self._running.pop(done, None))
        for key, future in waits:
            session.pinned[key] = await asyncio.shield(future)

    async def _have_answered(self, questions: tuple[Question, ...]) -> None:
        """Answer for all who wait, also for those who come meanwhile; it goes on when the first one has left."""
        keys = [key_of(question) for question in questions]
        try:
            told = await self.run(questions)
        except Exception as error:  # noqa: BLE001 - whatever a format or the pool raises belongs to those who asked
            for key in keys:
                future = self._open.pop(key)
                future.set_exception(error)
                future.exception()  # seen, even if all who waited have left
        else:
            for question, key, answer in zip(questions, keys, told, strict=True):
                self.keep(question, answer)
                self._open.pop(key).set_result(answer)

    async def close(self) -> None:
        """Stop answering, and give back what `run` uses."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.release()

    def recall(self, question: Question) -> Answer | None:
        """An answer given before, if it is still remembered."""
        key = key_of(question)
        found = self._memo.get(key)
        if found is None:
            return None
        self._memo.move_to_end(key)
        return found[0]

    def keep(self, question: Question, answer: Answer) -> None:
        """Remember an answer; what was not used for longest is forgotten first."""
        key, size = key_of(question), _size(answer)
        if key in self._memo or size > self.memo_bytes:
            return
        self._memo[key] = (answer, size)
        self._bytes += size
        while self._bytes > self.memo_bytes:
            _, (_, gone) = self._memo.popitem(last=False)
            self._bytes -= gone


@dataclass(slots=True)
class SchemaSession:
    """The `SchemaEngine` of one decision: what was answered for it stays answered until it ends."""

    service: SchemaService
    pinned: dict[Key, Answer] = field(default_factory=dict)
    patient: bool = True
    """Whether large questions may wait; a decision that waited too often has them answered on the spot."""
    rounds: int = 0
    """How often the decision has waited for answers."""
    _read: int = 0

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the formats with a plug-in here."""
        return self.service.formats

    @property
    def validators(self) -> frozenset[str]:
        """Names of the validators that are here."""
        return self.service.validators()

    def defer(self) -> None:
        """The decision waits for answers, once more."""
        self.rounds += 1
        self.patient = self.rounds < DECISION_ROUNDS

    def ask(self, question: Question) -> Answer | None:
        """Return the answer if it is known or quickly found; what a decision reads on the spot is bounded."""
        answer = self.pinned.get(key_of(question)) or self.service.recall(question)
        if answer is None:
            size = weight(question)
            if self.patient and self._read + size > self.service.inline_bytes:
                return None
            self._read += size
            answer = self.service.answer(question)
            self.service.keep(question, answer)
        if len(self.pinned) < DECISION_ANSWERS:
            self.pinned[key_of(question)] = answer
        return answer


# ------------------------------------------------------------------------------------- services over the installed formats


def make_thread_service() -> SchemaService:
    """Return a service with one thread for large questions: right for a node inside somebody else's program."""
    return _make_service(lambda: ThreadPoolExecutor(1, "treaty-engine"))


def make_process_service(processes: int = 1) -> SchemaService:
    """Return a service with processes for large questions: right for a server, whose loop must not share its interpreter.

    The processes are started when they are first needed.
    """
    return _make_service(lambda: ProcessPoolExecutor(processes, get_context("spawn"), initializer=_end_with_parent))


def _end_with_parent() -> None:
    """Have this process of the pool end when the server is gone: one that was killed has told nobody."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@dataclass(slots=True)
class AnswerPool:
    """An executor that is made anew when it has broken."""

    make: Callable[[], Executor]
    executor: Executor | None = None

    async def run(self, questions: tuple[Question, ...]) -> tuple[Answer, ...]:
        """Answer questions away from the event loop. Raises `Unavailable` where a process died over them."""
        if self.executor is None:
            self.executor = self.make()
        mine = self.executor
        try:
            return await asyncio.get_running_loop().run_in_executor(mine, answer_all, questions)
        except BrokenExecutor:
            if self.executor is mine:
                self.close()
            raise Unavailable("the process that was reading this schema died; nothing was written") from None

    def close(self) -> None:
        """Give processes and threads back."""
        if self.executor is not None:
            self.executor.shutdown(wait=False, cancel_futures=True)
            self.executor = None


def _make_service(make: Callable[[], Executor]) -> SchemaService:
    formats, pool = table(), AnswerPool(make)
    return SchemaService(
        formats.names, Parser(formats).answer, pool.run, release=pool.close, validators=formats.validators
    )


@cache
def _parser() -> Parser:
    """The parser of this process's pool side: it shares no model with the event loop's, which runs beside it."""
    return Parser(table())


def answer_all(questions: tuple[Question, ...]) -> tuple[Answer, ...]:
    """Answer questions, in a process or thread of a pool."""
    return tuple(_parser().answer(question) for question in questions)
