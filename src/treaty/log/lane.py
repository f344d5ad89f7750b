"""`Lane`: one thread on which blocking work is done in turn, so that the event loop never waits for a disk."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

from treaty.log.log import LogUnavailableError

T = TypeVar("T")

Job = Callable[[], None]


class Lane:
    """Work is done to its end even where the one who asked for it has gone: a transaction is never left half done.

    Half the CPU of an executor per piece of work, which is most of what a look at the tip costs.
    """

    def __init__(self, name: str) -> None:
        """Start the thread, for the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._closed = False
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def do(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Have work done after all that was asked for before; raises `LogUnavailableError` after `close`."""
        if self._closed:
            raise LogUnavailableError("this log was closed")
        future: asyncio.Future[T] = self._loop.create_future()

        def job() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
                self._tell(_fail, future, error)
            else:
                self._tell(_end, future, result)

        self._jobs.put(job)
        return future

    def _tell(self, what: Callable[..., None], future: "asyncio.Future[T]", result: object) -> None:
        with suppress(RuntimeError):  # the loop is gone, and with it everybody who could listen
            self._loop.call_soon_threadsafe(what, future, result)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

    def close(self) -> None:
        """Take no more work; the thread ends when what it has is done."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)


def _end(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[T]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
