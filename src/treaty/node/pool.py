"""Where questions about schemas are answered beside the event loop: in processes that can be ended, or in a thread."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Protocol

from treaty.core.refusals import Unavailable
from treaty.core.schema_engine import Answer, Question
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats

NICENESS = 5
"""What processes of the pool add to theirs, so that the event loop goes first where both want a core."""
JOIN_SECONDS = 2.0
"""How long a process that was killed is waited for."""


class AnswerPool(Protocol):
    """Answers questions beside the event loop."""

    async def answer(self, question: Question) -> Answer:
        """Answer a question. Who is cancelled here waits for nothing, and a process ends its work."""
        ...

    def close(self) -> None:
        """Give processes and threads back, whatever they do."""
        ...


# ---------------------------------------------------------------------------------------------------------- processes


def answer_questions(connection: Connection) -> None:
    """Answer questions in a process of the pool, one after the other, until there is nobody to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends this process
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    _end_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while True:
            question = connection.recv()
            try:
                told: tuple[Answer | None, Exception | None] = _parser().answer(question), None
            except Exception as error:  # noqa: BLE001 - whatever a format raises belongs to who asked
                told = None, _portable(error)
            connection.send(told)


def _portable(error: Exception) -> Exception:
    """Return an error that another process can read: one of Python's own, or its sentence."""
    return error if type(error).__module__ == "builtins" else RuntimeError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """Have this process of the pool end when the server is gone: one that was killed has told nobody."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@dataclass(slots=True, eq=False)
class AnswerProcess:
    """One process. It is started in the thread that first asks it, and is killed from the event loop."""

    process: SpawnProcess | None = None
    connection: Connection | None = None
    ended: bool = False

    def ask(self, question: Question) -> Answer:
        """Have a question answered, blocking. Raises `EOFError` or `OSError` where the process dies over it."""
        if self.process is None:
            self._start()
        if self.ended:
            self.end()  # while it was being started
        assert self.connection is not None
        try:
            self.connection.send(question)
            answer, error = self.connection.recv()
        except BaseException:
            self.end()
            self._join()
            raise
        if error is not None:
            raise error
        found: Answer = answer
        return found

    def _start(self) -> None:
        context = get_context("spawn")
        here, there = context.Pipe()
        self.connection = here
        process = context.Process(target=answer_questions, args=(there,), name="treaty-pool", daemon=True)
        process.start()
        self.process = process
        there.close()

    def end(self) -> None:
        """Kill the process, whatever it does. Waits for nothing."""
        self.ended = True
        if self.process is not None:
            self.process.kill()

    def _join(self) -> None:
        """Wait for a process that was killed, so that nothing of it is left."""
        if self.process is not None:
            self.process.join(JOIN_SECONDS)
        if self.connection is not None:
            self.connection.close()

    def close(self) -> None:
        """End a process that nobody asks."""
        self.end()
        self._join()


@dataclass(slots=True)
class ProcessPool:
    """Processes, each made when it is needed. One whose question nobody waits for any more is killed, and made anew."""

    _idle: list[AnswerProcess] = field(default_factory=list)
    _busy: set[AnswerProcess] = field(default_factory=set)
    _threads: ThreadPoolExecutor | None = None
    """A thread for each process that is asked: it sends the question and waits for the answer."""

    async def answer(self, question: Question) -> Answer:
        """Answer a question. Raises `Unavailable` where the process died over it."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(thread_name_prefix="treaty-pool")
        mine = self._idle.pop() if self._idle else AnswerProcess()
        self._busy.add(mine)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, mine.ask, question)
        except (EOFError, OSError):
            mine.end()
            raise Unavailable("the process that was reading this schema died; nothing was written") from None
        except asyncio.CancelledError:
            mine.end()
            raise
        finally:
            self._busy.discard(mine)
            if not mine.ended:
                self._idle.append(mine)

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


@dataclass(slots=True)
class ThreadPool:
    """One thread, for a node inside somebody else's program. It can't be ended: what nobody waits for is only forgotten."""

    make: Callable[[], ThreadPoolExecutor] = lambda: ThreadPoolExecutor(1, "treaty-engine")
    _thread: ThreadPoolExecutor | None = None

    async def answer(self, question: Question) -> Answer:
        """Answer a question."""
        if self._thread is None:
            self._thread = self.make()
        return await asyncio.get_running_loop().run_in_executor(self._thread, answer_in_thread, question)

    def close(self) -> None:
        """Give the thread back when it has ended what it does."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None


@cache
def _parser() -> FormatEngine:
    """The parser of this process's pool side: it shares no model with the event loop's, which runs beside it."""
    return FormatEngine(find_formats())


def answer_in_thread(question: Question) -> Answer:
    """Answer a question with the parser of the pool."""
    return _parser().answer(question)
