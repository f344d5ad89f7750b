"""A planner process from outside: it is started when it is needed, asked, and ended where it takes too long; another one is started then."""

import json
import os
import selectors
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import IO, Any

from treaty.core.limits import PLAN_SECONDS, PLANNER_HEAP
from treaty.core.state.codec import decode_message, dumps, encode_message
from treaty.spark.locked_temporary_folder import LockedTemporaryFolder
from treaty.spark.planner.questions import BodyPlan, BodyRefusedError, PlannerEndedError, QueryBody

START_SECONDS = 120
"""Seconds in which a planner is ready; a busy machine needs a few of them."""
LOOK_SECONDS = 0.5
"""Seconds after which a wait looks whether the program is to end."""
PREFIX = "treaty-planner-"
"""How the folders of planners begin."""
PROGRAM = (sys.executable, "-m", "treaty.spark.planner.service.process")
HEAP_ENDED, SIGNALLED = 3, 128
"""Exit codes of the process: its JVM ended where its heap did, or was killed."""
_AGAIN = "the same statement once more; `treaty planner -v` prints what the planner says of the fault"
_SMALLER = "a smaller query; several queries, each reading the one before"


class PlannerProcess:
    """A planner in a process of its own, used by one thread at a time. Its methods are those of `BodyPlanner`.

    A body that takes longer than PLAN_SECONDS, or more memory than PLANNER_HEAP megabytes, is refused (PLAN_TOO_COSTLY); the process is
    ended, and the next body gets a new one. `ending` gives up what it is at. `verbose` passes on what the JVM prints.
    """

    def __init__(self, ending: Event | None = None, *, seconds: float = PLAN_SECONDS, verbose: bool = False) -> None:
        """Start nothing yet."""
        self.ending = ending or Event()
        self.seconds = seconds
        self._verbose = verbose
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: LockedTemporaryFolder | None = None
        self._rest = b""
        self.starts = 0

    def start(self) -> None:
        """Start the process, unless it runs. Raises `PlannerEndedError` where it does not get ready."""
        with self._lock:
            self._start()

    def list_reads(self, body: str) -> tuple[str, ...]:
        """Return the names that a body reads. Raises `BodyRefusedError` and `PlannerEndedError`."""
        return tuple(self._ask({"reads": body})["names"])

    def plan(self, query: QueryBody) -> BodyPlan:
        """Return the plan of a body. Raises `BodyRefusedError` and `PlannerEndedError`."""
        return decode_message(BodyPlan, self._ask({"plan": encode_message(query)})["plan"])

    def close(self) -> None:
        """End the process, with its JVM."""
        with self._lock:
            self._end()

    @property
    def pid(self) -> int:
        """The id of the process; 0 while none runs."""
        return self._process.pid if self._process is not None else 0

    @property
    def folder(self) -> Path:
        """The folder of the process; empty while none runs."""
        return self._folder.path if self._folder is not None else Path()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._end()
        self.starts += 1
        try:
            self._folder = LockedTemporaryFolder(PREFIX)
            self._process = subprocess.Popen(  # noqa: S603 (a program of Treaty's own)
                (*PROGRAM, str(self._folder.path)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if self._verbose else subprocess.DEVNULL,
                start_new_session=True,  # so that the JVM ends with it, and no Ctrl-C of the terminal reaches it first
            )
            answer = self._read_answer(START_SECONDS)
        except OSError as error:  # no folder, or no process
            self._end()
            message = f"the planner does not start: {error}. It needs room for a process, and in the temporary folder"
            raise PlannerEndedError(message) from error
        except BaseException:
            self._end()
            raise
        if answer is None or "ready" not in answer:
            self._end()
            reason = "it ended, or was not ready in time" if answer is None else str(answer.get("failed"))
            message = f"the planner does not start: {reason}. Planning needs Spark and a JDK 17: pip install 'treaty-registry[spark]'"
            raise PlannerEndedError(message)

    def _ask(self, question: Any) -> Any:
        with self._lock:
            self._start()
            process = self._process
            assert process is not None and process.stdin is not None  # noqa: PT018
            try:
                process.stdin.write(f"{dumps(question)}\n".encode())
                process.stdin.flush()
                answer = self._read_answer(self.seconds)
            except BaseException as error:
                self._end()
                if isinstance(error, BrokenPipeError):
                    raise PlannerEndedError("the planner has ended; it is started again for the next query") from error
                raise
            if answer is None:
                code = process.poll()
                self._end()
                raise _explain_end(code, self.seconds)
            if "error" in answer:
                message = (
                    f"planning the query failed, by a fault of the planner and not of the query: {answer['error']}"
                )
                raise BodyRefusedError("PLANNER_FAILED", message, _AGAIN)
            if "refused" in answer:
                code, message, hint, start, end = answer["refused"]
                raise BodyRefusedError(code, message, hint, start, end)
            return answer

    def _read_answer(self, seconds: float) -> Any:
        """The next line of the process as JSON; None where it has ended, or says nothing in time."""
        assert self._process is not None and self._process.stdout is not None  # noqa: PT018
        stream: IO[bytes] = self._process.stdout
        deadline = monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = deadline - monotonic()
                if self.ending.is_set():
                    raise PlannerEndedError("the planner was stopped; another one plans the query")
                if left <= 0:
                    return None
                if not selector.select(min(left, LOOK_SECONDS)):
                    continue
                read = os.read(stream.fileno(), 65_536)
                if not read:
                    self._process.wait()
                    return None
                self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line.decode())

    def _end(self) -> None:
        process, self._process, self._rest = self._process, None, b""
        folder, self._folder = self._folder, None
        try:
            if process is not None:
                _kill(process)
        finally:
            if folder is not None:
                folder.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process with its JVM, which is of its process group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # what it did not read any more is flushed here
                stream.close()


def _explain_end(code: int | None, seconds: float) -> BodyRefusedError:
    """The refusal of a body whose process gave no answer: it did not end (None), or ended with a code."""
    if code is None:
        reason = f"takes longer than {seconds:g} seconds (PLAN_SECONDS)"
    elif code == HEAP_ENDED:
        reason = f"takes more memory than {PLANNER_HEAP} MB (PLANNER_HEAP)"
    elif code in {SIGNALLED, -signal.SIGKILL}:
        reason = "takes more memory than this machine has, or its process was killed"
    else:
        message = f"the planner ended while it planned the query, with the exit code {code}, and is started anew"
        return BodyRefusedError("PLANNER_FAILED", message, _AGAIN)
    return BodyRefusedError("PLAN_TOO_COSTLY", f"planning the query {reason}, and was given up", _SMALLER)
