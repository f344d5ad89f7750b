"""Concurrency of backends: a serial executor for blocking work, and the holder of a log's lock in this process."""

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
    """Runs blocking work in order on a thread. Work runs to its end even if its caller is cancelled, so that no
    transaction is left open.

    It uses half the CPU of a `ThreadPoolExecutor` per call, which matters for reads of the tip.
    """

    def __init__(self, name: str) -> None:
        """Start the thread, for the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._closed = False
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def submit(self, work: Callable[[], T]) -> "asyncio.Future[T]":
        """Run work after all earlier work; raises `LogUnavailableError` after `close`."""
        if self._closed:
            raise LogUnavailableError("this log is closed")
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
    """The holder of the log lock in this process; the backend ensures that there is at most one."""

    def __init__(self) -> None:
        """Start without a holder."""
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
