"""Work on large texts, on a thread of its own: the event loop answers others meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Protocol, TypeVar

from treaty.core.limits import LOOP_BYTES

T = TypeVar("T")

_THREAD = ThreadPoolExecutor(1, "treaty-large")
"""One for the process: large texts wait for each other, and no other request waits for them."""


class RunLargeWork(Protocol):
    """Runs work where no other request waits for it."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]:
        """Return or raise what the work does."""
        ...


async def run_on_thread(work: Callable[[], T]) -> T:
    """Run work on the thread, after what came before it."""
    return await asyncio.get_running_loop().run_in_executor(_THREAD, copy_context().run, work)


async def run_here(work: Callable[[], T]) -> T:
    """Run work in this turn of the event loop, as where a seed determines everything."""
    return work()


async def run_by_size(size: int, work: Callable[[], T], run_large: RunLargeWork = run_on_thread) -> T:
    """Run work in this turn, or by `run_large` if so many bytes are too many for one."""
    return work() if size <= LOOP_BYTES else await run_large(work)
