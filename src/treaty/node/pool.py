"""The pool of the schema service: processes, which can be killed, or a thread."""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Protocol

from treaty.core import limits
from treaty.core.finding import Diagnostic
from treaty.core.policy import name_of_validator
from treaty.core.refusals import Unavailable
from treaty.core.schema_engine import (
    Answer,
    DescribeValidators,
    InspectionResult,
    InspectSchema,
    Question,
    ValidatorsDescribed,
)
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.formats.validators.inspection import REMEDY, use_watcher
from treaty.formats.validators.registry import find_validators

NICENESS = 5
"""Niceness of pool processes, so that the event loop has priority."""
JOIN_SECONDS = 2.0
"""Seconds to wait for a killed process."""
WATCH_SECONDS = 0.5
"""Seconds between two looks at what a thread does in which a plug-in validator may work."""


class ValidatorOverdueError(Exception):
    """A plug-in validator has taken more than VALIDATOR_SECONDS, and its work was stopped."""

    def __init__(self, validator: str) -> None:
        """Keep the validator as the policy names it."""
        super().__init__(validator)
        self.validator = validator


class AnswerPool(Protocol):
    """Answers questions outside of the event loop."""

    async def answer(self, question: Question) -> Answer:
        """Answer a question. Cancellation returns immediately and stops the work of a process.

        Raises `ValidatorOverdueError`.
        """
        ...

    def close(self) -> None:
        """Stop processes and threads, even busy ones."""
        ...


async def answer_in_time(pool: AnswerPool, question: Question) -> Answer:
    """Answer a question. A validator that is overdue has found a fault, and the others are asked without it."""
    try:
        return await pool.answer(question)
    except ValidatorOverdueError as overdue:
        if not isinstance(question, InspectSchema | DescribeValidators):
            raise
        text = overdue.validator
    message = f"the validator takes more than {limits.VALIDATOR_SECONDS:g} seconds, the limit VALIDATOR_SECONDS"
    fault = Diagnostic(name_of_validator(text), "", message, REMEDY)
    other_validators = tuple(validator for validator in question.validators if validator != text)
    rest = await answer_in_time(pool, replace(question, validators=other_validators))
    assert isinstance(rest, InspectionResult | ValidatorsDescribed)
    return replace(rest, faults=(fault, *rest.faults), is_timed=True)


# ---------------------------------------------------------------------------------------------------------- processes


def answer_questions(connection: Connection) -> None:
    """The main function of a pool process: answers questions until the connection closes.

    Before the answer to a question come texts: each names the plug-in validator that begins, an empty one says that it has ended.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends this process
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    _end_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while True:
            question = connection.recv()
            try:
                with use_watcher(connection.send):
                    reply: tuple[Answer | None, Exception | None] = _parser(tuple(sys.path)).answer(question), None
            except Exception as error:  # noqa: BLE001 - whatever a format raises belongs to who asked
                reply = None, _make_portable(error)
            connection.send(reply)


def _make_portable(error: Exception) -> Exception:
    """Return an error that can be pickled: a built-in one, or its message."""
    return error if type(error).__module__ == "builtins" else RuntimeError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """Let a thread wait for the end of the server process, even by a kill, and end this pool process then, whatever it does."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@dataclass(slots=True, eq=False)
class AnswerProcess:
    """One process, started on the thread that first uses it, and killed from the event loop."""

    process: SpawnProcess | None = None
    connection: Connection | None = None
    ended: bool = False

    def ask(self, question: Question) -> Answer:
        """Answer a question, blocking. Raises `EOFError` or `OSError` if the process dies, and `ValidatorOverdueError`."""
        if self.process is None:
            self._start()
        if self.ended:
            self.end()  # while it was being started
        assert self.connection is not None
        try:
            self.connection.send(question)
            answer, error = self._receive(self.connection)
        except BaseException:
            self.end()
            self._join()
            raise
        if error is not None:
            raise error
        given_answer: Answer = answer
        return given_answer

    def _receive(self, connection: Connection) -> tuple[Answer, Exception | None]:
        """Wait for an answer. A text before it names the validator that begins, or is empty when it has ended (`answer_questions`);
        from a name on, the next message must come within VALIDATOR_SECONDS.
        """
        validator = ""
        while True:
            if validator and not connection.poll(limits.VALIDATOR_SECONDS):
                raise ValidatorOverdueError(validator)
            message = connection.recv()
            if not isinstance(message, str):
                answer: tuple[Answer, Exception | None] = message
                return answer
            validator = message

    def _start(self) -> None:
        context = get_context("spawn")
        own_end, child_end = context.Pipe()
        self.connection = own_end
        process = context.Process(target=answer_questions, args=(child_end,), name="treaty-pool", daemon=True)
        process.start()
        self.process = process
        child_end.close()

    def end(self) -> None:
        """Kill the process without waiting."""
        self.ended = True
        if self.process is not None:
            self.process.kill()

    def _join(self) -> None:
        """Wait for a killed process."""
        if self.process is not None:
            self.process.join(JOIN_SECONDS)
        if self.connection is not None:
            self.connection.close()

    def close(self) -> None:
        """End an idle process."""
        self.end()
        self._join()


@dataclass(slots=True)
class ProcessPool:
    """A pool of processes, started on demand. A process whose question is abandoned is killed and replaced."""

    _idle: list[AnswerProcess] = field(default_factory=list)
    _busy: set[AnswerProcess] = field(default_factory=set)
    _threads: ThreadPoolExecutor | None = None
    """Threads that send a question to a process and wait for the answer."""

    async def answer(self, question: Question) -> Answer:
        """Answer a question. Raises `Unavailable` if the process died, and `ValidatorOverdueError`."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(thread_name_prefix="treaty-pool")
        process = self._idle.pop() if self._idle else AnswerProcess()
        self._busy.add(process)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, process.ask, question)
        except (EOFError, OSError):
            process.end()
            raise Unavailable("the process that was reading this schema died; nothing was written") from None
        except asyncio.CancelledError:
            process.end()
            raise
        finally:
            self._busy.discard(process)
            if not process.ended:
                self._idle.append(process)

    def close(self) -> None:
        """Kill all processes."""
        for busy in self._busy:
            busy.end()  # the thread that waits for it cleans up
        for idle in self._idle:
            idle.close()
        self._idle.clear()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None


# ------------------------------------------------------------------------------------------------------------ a thread


def names_plugins(question: Question) -> bool:
    """Return whether a question names a plug-in validator, which may work without an end."""
    if not isinstance(question, InspectSchema | DescribeValidators):
        return False
    validators = find_validators()
    return any(validators.is_plugin(name_of_validator(validator)) for validator in question.validators)


class _StoppedError(BaseException):
    """Ends the work of a thread between two steps of its Python code."""


@dataclass(slots=True, eq=False)
class ThreadWork:
    """A question that a thread answers, and the plug-in validator that works in it: from when on it is looked at."""

    question: Question
    thread: int = 0
    validator: str = ""
    since: float = 0.0
    is_abandoned: bool = False
    """No question waits for the answer any more, so no validator begins."""

    def run(self) -> Answer:
        """Answer the question in this thread."""
        self.thread = threading.get_ident()
        with use_watcher(self._note):
            return answer_in_thread(self.question)

    def _note(self, validator: str) -> None:
        self.since, self.validator = time.monotonic(), validator
        if self.is_abandoned:
            raise _StoppedError

    def is_overdue(self) -> bool:
        """Return whether a validator has taken too long."""
        return bool(self.validator) and time.monotonic() - self.since > limits.VALIDATOR_SECONDS

    def stop(self) -> None:
        """Raise an error in the thread. Code that is not Python's ends by itself or never."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(_StoppedError))


@dataclass(slots=True)
class ThreadPool:
    """One thread, for an embedded node. The result of abandoned work is dropped; only the work of validators is stopped."""

    make: Callable[[], ThreadPoolExecutor] = lambda: ThreadPoolExecutor(1, "treaty-engine")
    _thread: ThreadPoolExecutor | None = None

    async def answer(self, question: Question) -> Answer:
        """Answer a question. Raises `ValidatorOverdueError`."""
        if self._thread is None:
            self._thread = self.make()
        work, seconds = ThreadWork(question), WATCH_SECONDS if names_plugins(question) else None
        answered = asyncio.get_running_loop().run_in_executor(self._thread, work.run)
        try:
            while not answered.done():
                await asyncio.wait({answered}, timeout=seconds)
                if not answered.done() and work.is_overdue():
                    raise ValidatorOverdueError(work.validator)
            return answered.result()
        finally:
            if not answered.done():
                answered.cancel()
                work.is_abandoned = True
                if work.validator:
                    self._replace(work)

    def _replace(self, work: ThreadWork) -> None:
        """Let another thread answer the questions to come, with a parser of its own."""
        work.stop()
        self.close()
        _parser.cache_clear()

    def close(self) -> None:
        """Stop the thread after its current work."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None


@lru_cache(maxsize=1)
def _parser(path: tuple[str, ...]) -> FormatEngine:
    """The parser of the pool thread, which shares no model with the event loop's. It knows the plug-ins of packages on a path."""
    del path
    return FormatEngine(find_formats())


def answer_in_thread(question: Question) -> Answer:
    """Answer a question with the parser of the pool."""
    return _parser(tuple(sys.path)).answer(question)
