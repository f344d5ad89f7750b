"""A part of a source in a process of its own (`--isolate`): with a driver and a JVM that end no other, and are started again when they end."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import _exit as exit_at_once
from subprocess import PIPE, Popen
from threading import Event, Lock, Thread
from time import monotonic, time
from typing import IO

from treaty.core.state.codec import decode_message, dumps, encode_message
from treaty.metastore.execution.assignment import PartKey
from treaty.spark.runner.service.failures import pause_after
from treaty.spark.runner.service.heartbeat import LOST_SECONDS
from treaty.spark.runner.service.part_status import PartStatus
from treaty.spark.runner.service.states import ENDED, RETRYING
from treaty.spark.runner.service.wanted import WantedPart

END, BEAT = "end", "beat"
"""What a runner writes into the process of a part: to end once the batch is finished, and that its lease is alive."""
RUNS_AGAIN = 60.0
"""Seconds after which a process that ends is the first one again, for the pause before the next."""


class PartProcess:
    """Keeps the process of one part running. It follows the registry itself; `change` says that the part is still wanted, `end` that it is not."""

    def __init__(
        self,
        part: WantedPart,
        command: Sequence[str],
        on_state: Callable[[PartStatus], None],
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process, and a thread that reads what it says. `variables` are those of its environment; None: of this program's."""
        query = part.source.query
        self.status = PartStatus(
            part.source.name, part.part, part.source.generation, query.began if query is not None else 0
        )
        self._command, self._on_state, self._variables = command, on_state, variables
        self._process: Popen[str] | None = None
        self._ending, self._lock = Event(), Lock()
        self._thread = Thread(target=self._work, name=f"process of {part.source.name}", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the part runs, or may run again."""
        return self._thread.is_alive()

    def change(self, part: WantedPart) -> None:
        """Say that the runner has its lease and wants the part. A renamed source has its new name in the status."""
        self.status = replace(self.status, name=part.source.name)
        self.say_alive()

    def say_alive(self) -> None:
        """Say that the runner has its lease."""
        self._say(BEAT)

    def end(self) -> None:
        """End the part once its batch is finished."""
        self._ending.set()
        self._say(END)

    def join(self, seconds: float) -> bool:
        """Wait until the part has ended, so many seconds at most, and end its process then; return whether it had ended."""
        self._thread.join(max(0.0, seconds))
        has_ended = not self._thread.is_alive()
        if not has_ended and self._process is not None:
            self._process.kill()
        return has_ended

    def _say(self, word: str) -> None:
        with self._lock, suppress(OSError, ValueError):  # a process that has ended reads nothing
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(f"{word}\n")
                self._process.stdin.flush()

    def _work(self) -> None:
        attempts = 0
        while not self._ending.is_set():
            began = monotonic()
            try:
                reason = _describe_end(self._run())
            except Exception as error:  # noqa: BLE001 (without this thread the part would never be started again)
                reason = f"its process could not be run: {type(error).__name__}: {error}"
            if self._ending.is_set():
                break
            attempts = 1 if monotonic() - began > RUNS_AGAIN else attempts + 1
            seconds = pause_after(attempts)
            self._note(
                replace(
                    self.status, state=RETRYING, reason=reason, remedy="", attempts=attempts, last_error=reason,
                    last_error_time=_now(), next_attempt=_now() + int(seconds * 1_000),
                )
            )  # fmt: skip
            self._ending.wait(seconds)
        self._note(replace(self.status, state=ENDED, reason="", remedy=""))

    def _run(self) -> int:
        """Start the process, read what it says until it ends, and return its exit code. Raises `OSError` where it can't be started."""
        process = Popen(self._command, stdin=PIPE, stdout=PIPE, text=True, env=self._variables)  # noqa: S603 (this program itself)
        with self._lock:
            self._process = process
        try:
            self._say(END if self._ending.is_set() else BEAT)
            assert process.stdout is not None, "it is a pipe"
            for line in process.stdout:
                if (status := parse_status(line)) is not None:
                    self._note(replace(status, name=self.status.name))
        except BaseException:
            process.kill()  # it is not to run beside the next one
            raise
        finally:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with self._lock, suppress(OSError):  # what it did not read any more is flushed here
                    if pipe is not None:
                        pipe.close()
        return process.returncode

    def _note(self, status: PartStatus) -> None:
        before, self.status = self.status, status
        if (before.state, before.reason) != (status.state, status.reason):
            with suppress(OSError):  # who listens may be gone
                self._on_state(status)


class RunnerWords:
    """What the process of a part hears of its runner: that it shall end, and when it last heard that the lease is alive.

    Once the runner is gone, the process ends at once, with its JVM.
    """

    def __init__(self, words: IO[str]) -> None:
        """Read in a thread."""
        self.ending = Event()
        self._heard = monotonic()
        Thread(target=self._read, args=(words,), name="words of the runner", daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether the runner was heard of so lately that it still has its lease."""
        return monotonic() - self._heard < LOST_SECONDS

    def _read(self, words: IO[str]) -> None:
        for word in words:
            self._heard = monotonic()
            if word.strip() == END:
                self.ending.set()
        exit_at_once(1)


@contextmanager
def saying_status(read: Callable[[], PartStatus | None], seconds: float = 0.5) -> Iterator[None]:
    """Print each other status of a part while the block runs, as lines for the runner."""
    over = Event()

    def say() -> None:
        last: PartStatus | None = None
        while True:
            is_over = over.wait(seconds)
            status = read()
            if status is not None and status != last:
                last = status
                with suppress(OSError):
                    sys.stdout.write(print_status(status))
                    sys.stdout.flush()
            if is_over:
                return

    thread = Thread(target=say, name="status of the part", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def print_status(status: PartStatus) -> str:
    """Return a status as a line for the runner."""
    return f"{dumps(encode_message(status))}\n"


def parse_status(line: str) -> PartStatus | None:
    """Return the status in a line of `print_status`; None for any other line."""
    with suppress(ValueError, TypeError, LookupError, AttributeError):
        return decode_message(PartStatus, json.loads(line))
    return None


def parse_key(text: str) -> PartKey:
    """Return the key of a part from GENERATION/PART. Raises `ValueError`."""
    generation, _, part = text.partition("/")
    return PartKey(int(generation), part)


def _describe_end(code: int) -> str:
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return f"its process has ended {how}; its standard error says why"


def _now() -> int:
    return int(time() * 1_000)
