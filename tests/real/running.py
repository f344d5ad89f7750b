"""A real server in a process of its own, on loopback and a free port."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START_SECONDS = 60


@dataclass
class Running:
    """A server process. `base` is its URL, `said` what it printed on stderr."""

    process: "subprocess.Popen[bytes]"
    said: Path
    base: str = ""
    seen: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.base + path, timeout=30) as answer:
            return json.loads(answer.read())

    def text(self, path: str) -> str:
        with urllib.request.urlopen(self.base + path, timeout=30) as answer:
            return str(answer.read().decode())

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def start(folder: Path, *options: str, port: int = 0, patience: float = 0.0, prefix: Sequence[str] = ()) -> Running:
    """Start `treaty serve` and wait until it answers; at once it can look at its log, or within seconds of `patience`.

    `prefix` is a command that runs it.
    """
    said = folder / f"stderr-{time.monotonic_ns()}.txt"
    command = [*prefix, sys.executable, "-m", "treaty.cli.main", "serve", "--port", str(port), *options]
    with said.open("wb") as file:
        process = subprocess.Popen(
            command,
            stderr=file,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": ""},
        )
    running = Running(process, said)
    try:
        _heard(running)
        _looked(running, patience)
    except BaseException:
        running.kill()
        raise
    return running


def _heard(running: Running) -> None:
    """Return when a server says where it serves."""
    for _ in range(START_SECONDS * 20):
        found = re.search(r"serving +(http://\S+)", running.said.read_text())
        if found:
            running.base = found[1]
            return
        assert running.process.poll() is None, running.said.read_text()
        time.sleep(0.05)
    raise AssertionError(f"no word after {START_SECONDS} s: {running.said.read_text()}")


def _looked(running: Running, patience: float) -> None:
    """Return when a server can look at its log, which somebody may hold or harm while it starts."""
    end = time.monotonic() + patience
    while not (told := _told(running))[0]:
        assert time.monotonic() < end, told[1]
        time.sleep(0.05)


def _told(running: Running) -> tuple[bool, str]:
    """Whether a server can look at its log, and what it says."""
    try:
        answer = running.get("/readyz")
    except urllib.error.HTTPError as error:
        with error:
            return False, error.read().decode()
    return answer["status"] in {"ready", "read-only"}, str(answer)


@contextmanager
def serving(folder: Path, *options: str, port: int = 0, prefix: Sequence[str] = ()) -> Iterator[Running]:
    """Run a server while the block runs."""
    server = start(folder, *options, port=port, prefix=prefix)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
