"""A line on stderr while a statement takes long, drawn again on a terminal, and what remains where Ctrl-C ends the wait."""

import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import click

from treaty.cli.metastore.planner_choice import AUTO, LOCAL, PlannerChoice, describe_planner_wait

FIRST_SECONDS = 1.0
"""Seconds after which the line appears."""
QUERY = re.compile(
    r"\bcreate\b.*\bas\s+(?:select|from|with|\()|\bexplain\s+(?:select|from|with|\()", re.IGNORECASE | re.DOTALL
)
"""A text that may have a query, which a planner plans."""
_COMPARE = re.compile(r"\breplace\s+compare\b", re.IGNORECASE)
READS = re.compile(r"^\s*print\b|;\s*print\b|\bfrom\s+(?:stream|table)\b", re.IGNORECASE)
"""A text that may read records, which are printed as they come, or rows of a table."""
READS_TABLE = re.compile(r"\bfrom\s+table\b", re.IGNORECASE)
"""A text that may read rows of a table."""
_CHANGE = re.compile(
    r"\b(?:create|alter|drop|undrop|pause|resume|rollback|reset|refresh|insert|update|delete)\b", re.IGNORECASE
)


class WaitNotice:
    """The line, from its beginning until `stop`. A terminal has it with its seconds; elsewhere it comes once."""

    def __init__(self, what: str) -> None:
        """Begin to wait for something; for nothing, an empty text, there is no line."""
        self._done = threading.Event()
        show = self._count if sys.stderr.isatty() else self._say_once
        self._watch = threading.Thread(target=show, args=(what,), daemon=True)
        if what:
            self._watch.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the line away: an answer is there, or a question is asked."""
        self._done.set()
        if self._watch.is_alive():
            self._watch.join()

    def _say_once(self, what: str) -> None:
        if not self._done.wait(FIRST_SECONDS):
            sys.stderr.write(f"{what}\n")
            sys.stderr.flush()

    def _count(self, what: str) -> None:
        began, is_drawn = time.monotonic(), False
        while not self._done.wait(FIRST_SECONDS):
            sys.stderr.write(f"\r{what}, {time.monotonic() - began:.0f} s")
            sys.stderr.flush()
            is_drawn = True
        if is_drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def begin_wait(text: str, *, planner: PlannerChoice = AUTO) -> WaitNotice:
    """Begin to wait for a script, on a terminal, and elsewhere for queries alone; `planner` says what plans its queries."""
    is_wanted = QUERY.search(text) or (sys.stderr.isatty() and not READS.search(text))
    return WaitNotice(describe_wait(text, planner=planner) if is_wanted else "")


@contextmanager
def show_wait(text: str, *, planner: PlannerChoice = AUTO) -> Iterator[WaitNotice]:
    """Show what the block waits for, with its seconds: ``planning, 3 s``. Ctrl-C says what may still happen."""
    notice = begin_wait(text, planner=planner)
    try:
        yield notice
    except (KeyboardInterrupt, click.Abort) as stop:
        notice.stop()
        if isinstance(stop, KeyboardInterrupt) or isinstance(stop.__cause__, KeyboardInterrupt):
            click.echo(describe_rest(text), err=True)
        raise
    finally:
        notice.stop()


def describe_wait(text: str, *, planner: PlannerChoice = AUTO) -> str:
    """Return what a script waits for: its plan or a planner, where it has a query, else the registry."""
    if not QUERY.search(text):
        return "running"
    if planner == LOCAL and _COMPARE.search(text):
        return "planning, and running both queries"
    return describe_planner_wait(planner)


def describe_rest(text: str) -> str:
    """Return what remains of a script after Ctrl-C."""
    if QUERY.search(text):
        return "The source is there once it is planned, or never. SHOW QUERIES says whether it is; DROP takes it away."
    if _CHANGE.search(text):
        return "The registry may still carry out what it has: SHOW STREAMS, TABLES and TYPES say what is there."
    return "Nothing was to be changed, and nothing remains."
