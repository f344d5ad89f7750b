"""An event loop without a clock, sockets or threads: time passes only when everybody waits."""

import asyncio
import contextvars
from collections.abc import Coroutine, Generator
from typing import Any

OWNER: contextvars.ContextVar[str] = contextvars.ContextVar("owner", default="")
"""Who a task belongs to: tasks inherit it, so that a crash can end everything that a node has started."""

STEPS = 400_000
"""Rounds of the loop after which a run counts as one that never ends."""


class Stuck(Exception):
    """Everybody waits for somebody, or nobody comes to an end."""


class _Selector:
    """Stands where a loop would wait for sockets; moves the clock instead."""

    def __init__(self) -> None:
        self.now = 0.0
        self.rounds = 0

    def select(self, timeout: float | None) -> list[Any]:
        self.rounds += 1
        if timeout is None:
            raise Stuck("everybody waits, and no timer is set")
        if self.rounds > STEPS:
            raise Stuck(f"no end after {STEPS} rounds, at {self.now:.3f} s")
        self.now += timeout
        return []

    def close(self) -> None:
        pass


class VirtualLoop(asyncio.BaseEventLoop):
    """A loop whose `time()` is what the timers say."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Selector()
        self._clock_resolution = 1e-9
        self.tasks: dict[str, dict[asyncio.Task[Any], None]] = {}
        """Unfinished tasks by owner, in the order in which they were made."""
        self.errors: list[str] = []
        self.set_task_factory(self._make_task)
        self.set_exception_handler(lambda _, context: self.errors.append(_told(context)))

    def time(self) -> float:
        return self._selector.now

    def _process_events(self, event_list: list[Any]) -> None:
        """There are no sockets."""

    def _write_to_self(self) -> None:
        """There are no other threads to wake this one."""

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **more: Any
    ) -> asyncio.Task[Any]:
        context = more.get("context")
        owner = OWNER.get() if context is None else context.get(OWNER, "")
        task = asyncio.Task(work, loop=loop, **more)
        mine = self.tasks.setdefault(owner, {})
        mine[task] = None
        task.add_done_callback(lambda done: mine.pop(done, None))
        return task


class Jobs:
    """Work that belongs to no node: it goes on when the node that asked for it is killed."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Task[Any], None] = {}

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Begin something."""
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self._running[task] = None
        task.add_done_callback(lambda done: self._running.pop(done, None))
        return task

    async def rest(self) -> None:
        """Return when nothing is on its way any more."""
        while self._running:
            await asyncio.wait(list(self._running))

    def strays(self, loop: VirtualLoop) -> list[str]:
        """Tasks of a loop that go on after everybody has ended: somebody is gone, and what he began was left running."""
        left = [task for tasks in loop.tasks.values() for task in tasks if task not in self._running]
        return [
            f"{getattr(task.get_coro(), '__qualname__', task)} was left running" for task in left if not task.done()
        ]


def _told(context: dict[str, Any]) -> str:
    return f"{context.get('message')}: {context.get('exception')!r}"


async def end(tasks: dict[asyncio.Task[Any], None]) -> None:
    """Cancel tasks until none of them is left, as a killed process would."""
    while tasks:
        for task in list(tasks):
            task.cancel()
        await asyncio.sleep(0)
