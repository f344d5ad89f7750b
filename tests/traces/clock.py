"""The event loop of a trace: time passes only when everybody waits, timers are traced, and work on threads is done in its turn."""

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any

from tests.simulation.clock import VirtualLoop


class TracedLoop(VirtualLoop):
    """A loop that tells of each round, each timer and each work for a thread. `tell` hears of them, `look` comes after each round."""

    def __init__(self) -> None:
        super().__init__()
        self.tell: Callable[[str], None] = lambda _: None
        self.look: Callable[[], None] = lambda: None
        self._silent = False

    def _run_once(self) -> None:
        super()._run_once()  # type: ignore[misc]  # that of BaseEventLoop
        self.look()

    def pass_time(self, seconds: float) -> None:
        """Let time pass in the middle of a turn, as work does that blocks."""
        self._selector.now += seconds

    async def pause(self, seconds: float) -> None:
        """Wait without a word: so long do others take."""
        future: asyncio.Future[None] = self.create_future()
        self._silent = True
        handle = self.call_later(seconds, _end, future)
        self._silent = False
        try:
            await future
        finally:
            self._silent = True
            handle.cancel()
            self._silent = False

    def call_at(  # type: ignore[override]  # the types of a callback's arguments are nobody's concern here
        self, when: float, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        if not self._silent:
            self.tell(f"timer for {when:.3f}")
        return super().call_at(when, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        if not self._silent and handle._scheduled:  # type: ignore[attr-defined]  # one that has not come yet
            self.tell(f"timer for {handle.when():.3f} is off")
        super()._timer_handle_cancelled(handle)  # type: ignore[misc]

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        """Do work of a thread between two turns: the loop is as free as it is with a thread, and the order is always the same."""
        future: asyncio.Future[Any] = self.create_future()
        self.tell(f"thread {name_of_work(func, *args)}")

        def work() -> None:
            if future.done():
                return
            try:
                future.set_result(func(*args))
            except BaseException as error:  # noqa: BLE001 - whoever waits for the thread hears of it
                future.set_exception(error)
            self.tell("thread ends")

        self.call_soon(work)
        return future


def _end(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def name_of_work(func: Any, *args: Any) -> str:
    """The name of a function, out of what carries it to a thread."""
    while hasattr(func, "func") or (getattr(func, "__name__", "") == "run" and args):
        func, args = (func.func, func.args) if hasattr(func, "func") else (args[0], args[1:])
    return getattr(func, "__name__", type(func).__name__).strip("<>")
