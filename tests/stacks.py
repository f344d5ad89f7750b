"""Where a test hangs: the stacks of this process and of every JVM under it, printed at half of the time that a test has.

A limit that runs out interrupts Python alone. Where Spark waits, for a worker or for an answer, only its own threads say.
"""

import faulthandler
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TextIO

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from tests.costs import descendants

PAUSE = 5.0
"""Seconds between two looks at the test that runs."""
SECONDS = 60
"""How long a JVM may take to tell its stacks."""


class Watch(threading.Thread):
    """Looks at the tests of this process, one after the other."""

    def __init__(self, output: TextIO) -> None:
        super().__init__(name="watch of tests that hang", daemon=True)
        self.test, self.until, self.output = "", 0.0, output

    def run(self) -> None:
        """Tell the stacks of each test that takes too long, once."""
        told = ""
        while True:
            time.sleep(PAUSE)
            test = self.test
            if test and test != told and time.monotonic() > self.until:
                told = test
                for line in tell(test, self.output):
                    print(line, file=self.output, flush=True)


def tell(test: str, output: TextIO) -> Iterable[str]:
    """Print the stacks of this process, and yield those of the JVMs under it."""
    yield f"\n== {test} has taken half of its time; where it is:"
    faulthandler.dump_traceback(output)
    for pid in descendants():
        try:
            yield from stacks(pid)
        except (OSError, subprocess.SubprocessError) as error:  # it has ended, or it is the one that hangs
            yield f"-- {pid} says nothing: {error}"


def stacks(pid: int) -> Iterable[str]:
    """What a process is, and the stacks of its threads where it is a JVM."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    yield f"-- {pid}: {' '.join(word.decode(errors='replace')[:60] for word in (words[0], *words[-4:]))}"
    ask = shutil.which("jcmd")
    if words[0].endswith(b"java") and ask:
        done = subprocess.run([ask, str(pid), "Thread.print"], capture_output=True, timeout=SECONDS, check=False)
        yield done.stdout.decode(errors="replace")


def pytest_sessionstart(session: pytest.Session) -> None:
    """What is printed goes where pytest captures nothing: a test that never ends has no captured output."""
    output = os.dup(session.config.stash[fault_handler_stderr_fd_key])
    session.config.stash[WATCH] = Watch(os.fdopen(output, "w"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Only tests with a JVM are watched; the others hang in Python, whose stack the limit shows."""
    if not item.get_closest_marker("jvm"):
        return (yield)
    watch, own = item.config.stash[WATCH], item.get_closest_marker("timeout")
    limit = float(own.args[0]) if own else item.config.getoption("timeout") or 0.0
    if not limit:
        return (yield)
    if watch.ident is None:
        watch.start()
    watch.until, watch.test = time.monotonic() + limit / 2, item.nodeid
    try:
        return (yield)
    finally:
        watch.test = ""


WATCH = pytest.StashKey[Watch]()
