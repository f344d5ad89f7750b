"""What backends need to keep calls apart: a thread for blocking work in order, and who in this process holds a log's lock."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import SimpleQueue
from typing import TypeVar

from treaty.log.log import LogUnavailableError

T = TypeVar("T")

Job = Callable[[], None]


class SerialExecutor:
    """Work is done to its end even where the one who asked for it has gone: a transaction is never left half done.

    Half the CPU of an executor per piece of work, which is most of what a look at the tip costs.
    """

    def __init__(self, name: str) -> None:
        """Start the thread, for the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._closed = False
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def submit(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Have work done after all that was asked for before; raises `LogUnavailableError` after `close`."""
        if self._closed:
            raise LogUnavailableError("this log was closed")
        future: asyncio.Future[T] = self._loop.create_future()

        def job() -> None:
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
                self._deliver(_set_error, future, error)
            else:
                self._deliver(_set_result, future, result)

        self._jobs.put(job)
        return future

    def _deliver(self, what: Callable[..., None], future: "asyncio.Future[T]", result: object) -> None:
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


def _set_result(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _set_error(future: "asyncio.Future[T]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)


_OWNERS: ContextVar[tuple[object, ...]] = ContextVar("log_lock_owner", default=())


class LockOwner:
    """At most one holder at a time; somebody else has seen to that."""

    def __init__(self) -> None:
        """Nobody holds it."""
        self._owner: object = None

    @property
    def is_current_task(self) -> bool:
        """Whether the running task acts for the holder."""
        return self._owner is not None and self._owner in _OWNERS.get()

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Hold it while the block runs."""
        before = _OWNERS.get()
        self._owner = object()
        _OWNERS.set((*before, self._owner))
        try:
            yield
        finally:
            self._owner = None
            _OWNERS.set(before)
