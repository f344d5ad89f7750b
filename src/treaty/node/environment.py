"""The environment of a node as a value: clocks, randomness, sleep."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from treaty.light_dataclass import dataclass
from treaty.node.large_work import RunLargeWork, run_here, run_on_thread


@dataclass(frozen=True, slots=True)
class Environment:
    """Clocks, randomness and sleep; a simulation passes its own, so that a seed determines everything.

    `now` is monotonic seconds, `wall` milliseconds since the epoch, `random` gives that many bytes. Timers are those of
    the running event loop, whose clock must be the same as `now`. `run_large` runs work on large texts.
    """

    now: Callable[[], float]
    wall: Callable[[], int]
    random: Callable[[int], bytes]
    sleep: Callable[[float], Awaitable[None]]
    run_large: RunLargeWork = run_here


def real_environment() -> Environment:
    """Return the clocks and the randomness of this machine."""
    return Environment(time.monotonic, lambda: time.time_ns() // 1_000_000, os.urandom, asyncio.sleep, run_on_thread)


def trim_memory() -> None:
    """Return freed memory to the operating system, with glibc, which would keep what a start needed. Takes a moment, on
    any thread.
    """
    with suppress(AttributeError, OSError, TypeError):
        import ctypes  # noqa: PLC0415 (once in the life of a server)

        ctypes.CDLL(None).malloc_trim(0)
