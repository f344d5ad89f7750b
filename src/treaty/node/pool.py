"""Desks over the installed formats: small questions answered in the event loop, large ones in a pool."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process

from treaty.core.grammar import Answer, Question
from treaty.core.refusals import Unavailable
from treaty.formats.answer import Parser
from treaty.formats.table import table
from treaty.node.grammar import Desk


def thread_desk() -> Desk:
    """A desk with one thread for large questions: right for a node inside somebody else's program."""
    return _desk(lambda: ThreadPoolExecutor(1, "treaty-grammar"))


def process_desk(processes: int = 1) -> Desk:
    """A desk with processes for large questions: right for a server, whose loop must not share its interpreter.

    The processes are started when they are first needed.
    """
    return _desk(lambda: ProcessPoolExecutor(processes, get_context("spawn"), initializer=_end_with_parent))


def _end_with_parent() -> None:
    """Have this process of the pool end when the server is gone: one that was killed has told nobody."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@dataclass(slots=True)
class Pool:
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


def _desk(make: Callable[[], Executor]) -> Desk:
    formats, pool = table(), Pool(make)
    return Desk(formats.names, Parser(formats).answer, pool.run, close=pool.close, validators=formats.validators)


@cache
def _parser() -> Parser:
    """The parser of this process's pool side: it shares no model with the event loop's, which runs beside it."""
    return Parser(table())


def answer_all(questions: tuple[Question, ...]) -> tuple[Answer, ...]:
    """Answer questions, in a process or thread of a pool."""
    return tuple(_parser().answer(question) for question in questions)
