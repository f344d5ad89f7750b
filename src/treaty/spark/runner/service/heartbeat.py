"""Who is alive: a file of each runner in the shared root, written every two seconds and watched by the others."""

import json
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from time import monotonic, time
from typing import Any
from urllib.parse import quote

from treaty.spark.runner.service.shared_files import SharedFiles

BEAT_SECONDS = 2.0
"""Seconds between two writes of a runner's file."""
STALE_SECONDS = 15.0
"""Seconds without a change, by the clock of who looks, after which a runner counts as gone."""
LOST_SECONDS = 10.0
"""Seconds without a write after which a runner stops its queries: before others take them."""
Clock = Callable[[], float]


def file_of(name: str) -> str:
    """Return the name of the file of a runner below the root."""
    return f"runners/{quote(name, safe='')}.json"


def place_of_process() -> str:
    """Return a name of this machine, its start and its process namespace; empty where that is not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip()
        return f"{platform.node()} {boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 (no file)
    except OSError:
        return ""


def read_beat(files: SharedFiles, name: str) -> Mapping[str, Any] | None:
    """Return what the file of a runner says; None where there is none, or half a one."""
    try:
        beat = json.loads(files.read(file_of(name)))
    except (OSError, ValueError):
        return None
    return beat if isinstance(beat, dict) else None


def has_process_ended(beat: Mapping[str, Any] | None) -> bool:
    """Whether the process that wrote a file has surely ended: it was one of this machine, and it is there no more."""
    if (
        beat is None
        or not beat.get("place")
        or beat["place"] != place_of_process()
        or beat.get("process") == os.getpid()
    ):
        return False
    try:
        os.kill(int(beat["process"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, TypeError, KeyError, OverflowError):  # the file is not what a runner writes
        return False
    return False


class RunnerHeartbeat:
    """Writes the file of a runner until it is closed, and then takes it away. `facts` go into it."""

    def __init__(self, files: SharedFiles, name: str, facts: Mapping[str, Any], clock: Clock = monotonic) -> None:
        """Write the file once, and start the thread. Raises `OSError`."""
        self._files, self._file, self._clock = files, file_of(name), clock
        self._facts = {"name": name, "place": place_of_process(), "process": os.getpid(), **facts}
        self._count = 0
        self._was_silent = False
        self._ending = Event()
        self.error = ""
        """Why the file could not be written the last time; empty where it was."""
        self._written = clock()
        self._write()
        self._thread = Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()

    @property
    def is_silent(self) -> bool:
        """Whether it was written so long ago that others may soon take this runner for gone."""
        return self._clock() - self._written > LOST_SECONDS

    @property
    def is_lost(self) -> bool:
        """Whether it is silent, or was so since the lease was taken: others may have decided to end that lease."""
        return self._was_silent or self.is_silent

    def renew(self, facts: Mapping[str, Any]) -> None:
        """Continue with the facts of another lease."""
        self._facts |= facts
        self._was_silent = False

    def close(self) -> None:
        """Write no more, and remove the file."""
        self._ending.set()
        self._thread.join()
        with suppress(OSError):
            self._files.remove(self._file)

    def _beat(self) -> None:
        while not self._ending.wait(BEAT_SECONDS):
            try:
                self._write()
            except OSError as error:
                self.error = str(error)

    def _write(self) -> None:
        began = self._clock()
        self._count += 1
        self._files.write(self._file, json.dumps({**self._facts, "count": self._count, "time": int(time() * 1_000)}))
        self._was_silent |= self.is_silent  # before it is written again: a process that was frozen learns it here
        self._written, self.error = began, ""


@dataclass(slots=True)
class HeartbeatWatch:
    """Watches the files of other runners by a clock of its own, whose time is not compared with theirs."""

    files: SharedFiles
    clock: Clock = monotonic
    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)

    def is_stale(self, name: str, holder: str) -> bool:
        """Look at a runner's file; return whether its holder is gone: nothing changed for `STALE_SECONDS`, or its process has ended."""
        beat = read_beat(self.files, name)
        if beat is not None and beat.get("holder") == holder and has_process_ended(beat):
            return True
        mark = f"{holder} {json.dumps(beat)}"
        last = self._seen.get(name)
        now = self.clock()
        if last is None or last[0] != mark:
            self._seen[name] = (mark, now)
            return False
        return now - last[1] > STALE_SECONDS

    def forget_all_but(self, names: set[str]) -> None:
        """Keep nothing of runners that are there no more."""
        for name in self._seen.keys() - names:
            del self._seen[name]
