"""Errors of commands: a sentence on stderr, or with --json a JSON object on stdout, and an exit code."""

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import FrameType
from typing import Any

import click

from treaty.cli.terminal import screen
from treaty.core.urls import UrlError
from treaty.distribution import MissingExtraError, find_extra, install_command

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 plus the number of the signal."""
STOP_SECONDS = 0.5
"""Seconds between Ctrl-C and the line `stopping…`."""
MISSING_EXTRA = "EXTRA_MISSING"
"""The rule of the error where a library is missing that an extra brings."""
USAGE, ABORTED, UNWRITABLE, UNUSABLE = "USAGE", "ABORTED", "OUTPUT_UNWRITABLE", "UNUSABLE"
"""Rules of errors of the command line itself."""

_DISK = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT})


class ReportedError(click.ClickException):
    """An error with a rule and further members for its JSON form."""

    def __init__(self, message: str, rule: str = UNUSABLE, **facts: Any) -> None:
        """Keep the members of the JSON form."""
        super().__init__(message)
        self.rule = rule
        self.facts = {name: fact for name, fact in facts.items() if fact}


class LibraryMissingError(ReportedError):
    """The command needs a library that an extra brings, and it is not installed."""

    exit_code = 2


class BadUrlError(ReportedError):
    """A URL of an option or variable can't be read."""

    exit_code = 2


class StoppedError(click.Abort):
    """A command was aborted or interrupted after a part of its work; `facts` are further members of its JSON form."""

    def __init__(self, **facts: Any) -> None:
        """Keep the members of the JSON form."""
        super().__init__()
        self.facts = facts


def wants_json(words: Sequence[str]) -> bool:
    """Return whether a command line, even an invalid one, asks for JSON."""
    options = list(words[: words.index("--")] if "--" in words else words)
    pairs = pairwise(options)
    return bool({"--json", "--output-format=json"} & {*options}) or ("--output-format", "json") in pairs


@contextmanager
def exit_with_error(words: Sequence[str]) -> Iterator[None]:
    """Print an error of the block as text or JSON, depending on the command line `words`, and exit with its code."""
    try:
        with report_missing_extra(), report_bad_url():
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
            facts = abort.facts if isinstance(abort, StoppedError) else {}
            click.echo(screen.json_text({"error": {"rule": ABORTED, "message": message, **facts}}))
        click.echo(message, err=True)
        sys.exit(INTERRUPTED if is_interrupt else 1)
    except OSError as error:
        if error.errno not in _DISK or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is buffered cannot be written either
        click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
        sys.exit(2)


@contextmanager
def report_missing_extra() -> Iterator[None]:
    """Report the import of an optional library that is not installed as an error with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = find_extra(error)
        if not extra:
            raise
        needs = f"this command needs the library {(error.name or '').partition('.')[0]}: {install_command(extra)}"
        message = str(error) if isinstance(error, MissingExtraError) else needs
        raise LibraryMissingError(message, MISSING_EXTRA, extra=extra) from error


@contextmanager
def report_bad_url() -> Iterator[None]:
    """Report a URL that can't be read, which an option or a variable gave, as an error with what one looks like."""
    try:
        yield
    except UrlError as error:
        raise BadUrlError(str(error)) from error


@contextmanager
def announce_stop() -> Iterator[None]:
    """Print ``stopping…`` if the program does not end soon after Ctrl-C in the block.

    The previous signal handler still ends the program. Has no effect outside of the main thread, which alone gets
    signals.
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


@contextmanager
def end_by_signal(ending: threading.Event, on_first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Set `ending` at the first SIGTERM or SIGINT in the block, then call `on_first`; a second one ends the program."""
    earlier: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def stop(number: int, _frame: FrameType | None) -> None:
        ending.set()
        on_first()
        signal.signal(number, earlier[number])

    for number in earlier:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def describe_error(error: click.ClickException) -> dict[str, Any]:
    """Return the JSON form of an error: rule, message and further members."""
    message = error.format_message()
    if isinstance(error, ReportedError):
        return {"rule": error.rule, "message": message, **error.facts}
    return {"rule": USAGE if isinstance(error, click.UsageError) else UNUSABLE, "message": message}
