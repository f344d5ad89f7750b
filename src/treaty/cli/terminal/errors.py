"""How the program ends with an error: a sentence on stderr, for --json a JSON object on stdout, and an exit code."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import FrameType
from typing import Any

import click

from treaty.cli.terminal import screen

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it: 128 and the number of the signal."""
STOP_SECONDS = 0.5
"""Seconds after Ctrl-C from which on a program says that it is stopping."""
USAGE, ABORTED, UNWRITABLE, UNUSABLE = "USAGE", "ABORTED", "OUTPUT_UNWRITABLE", "UNUSABLE"
"""Rules of errors that no registry sends."""

_DISK = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT})


class ReportedError(click.ClickException):
    """An error with a rule and further members for its JSON form."""

    def __init__(self, message: str, rule: str = UNUSABLE, **facts: Any) -> None:
        """Keep what the JSON form has beside the message."""
        super().__init__(message)
        self.rule = rule
        self.facts = {name: fact for name, fact in facts.items() if fact}


def wants_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON; it may be one that cannot be parsed."""
    options = list(words[: words.index("--")] if "--" in words else words)
    pairs = pairwise(options)
    return bool({"--json", "--output-format=json"} & {*options}) or ("--output-format", "json") in pairs


@contextmanager
def exit_with_error(words: Sequence[str]) -> Iterator[None]:
    """Print an error of the block as the command line `words` asks for, and exit with its code."""
    try:
        yield
    except click.ClickException as error:
        if wants_json(words):
            click.echo(screen.json_text({"error": describe_error(error)}))
        error.show()
        sys.exit(error.exit_code)
    except click.Abort as abort:
        is_interrupt = isinstance(abort.__cause__, KeyboardInterrupt)
        message = "Interrupted." if is_interrupt else "Aborted."
        if wants_json(words):
            click.echo(screen.json_text({"error": {"rule": ABORTED, "message": message}}))
        click.echo(message, err=True)
        sys.exit(INTERRUPTED if is_interrupt else 1)
    except OSError as error:
        if error.errno not in _DISK or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered cannot be written either
        click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
        sys.exit(2)


@contextmanager
def announce_stop() -> Iterator[None]:
    """While the block runs, Ctrl-C prints ``stopping…`` where the program needs more than a moment to end.

    The handler that was there before still ends the program. Outside the main thread, which alone gets signals, nothing is done.
    """
    earlier = signal.getsignal(signal.SIGINT)
    if not callable(earlier) or threading.current_thread() is not threading.main_thread():
        yield
        return
    end, notice = earlier, threading.Timer(STOP_SECONDS, click.echo, ["stopping…"], {"err": True})
    notice.daemon = True

    def stop(number: int, frame: FrameType | None) -> None:
        if not notice.is_alive() and not notice.finished.is_set():
            notice.start()
        end(number, frame)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        notice.cancel()
        if signal.getsignal(signal.SIGINT) is stop:
            signal.signal(signal.SIGINT, earlier)


def describe_error(error: click.ClickException) -> dict[str, Any]:
    """The members of an error's JSON form: rule, message, and what else is known."""
    message = error.format_message()
    if isinstance(error, ReportedError):
        return {"rule": error.rule, "message": message, **error.facts}
    return {"rule": USAGE if isinstance(error, click.UsageError) else UNUSABLE, "message": message}
