"""The two processes that the demo starts: the registry's server, and the Spark job, which it kills once."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from treaty.core.messages.listings import ListSubjects
from treaty.core.refusals import Unavailable
from treaty.core.registry import Registry

_PATIENCE_SECONDS = 30.0


@dataclass(slots=True)
class ChildProcess:
    """A process in its own process group, so that a signal reaches its JVM too."""

    popen: subprocess.Popen[str]

    def kill(self) -> None:
        """Send SIGKILL to the whole group; no process can clean up."""
        os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()

    def stop(self) -> None:
        """Send SIGTERM, and SIGKILL if the process does not end."""
        if self.popen.poll() is None:
            os.killpg(self.popen.pid, signal.SIGTERM)
            try:
                self.popen.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def send(self, word: str) -> None:
        """Write a line to its stdin."""
        assert self.popen.stdin is not None, "the job is started with a pipe"
        self.popen.stdin.write(f"{word}\n")
        self.popen.stdin.flush()

    def steps(self) -> Iterator[dict[str, Any]]:
        """Yield the steps of the job until its stdout ends. Other lines, such as those of the JVM, are ignored."""
        assert self.popen.stdout is not None, "the job is started with a pipe"
        for line in self.popen.stdout:
            if line.startswith('{"step"'):
                step: dict[str, Any] = json.loads(line)
                yield step


def find_free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_server(log: str, port: int, output: IO[str]) -> ChildProcess:
    """Start `treaty serve` on a log."""
    words = [sys.executable, "-m", "treaty.cli.main", "serve", "--log", log, "--port", str(port)]
    # The words are our own program and its options.
    return ChildProcess(subprocess.Popen(words, stdout=output, stderr=output, text=True, start_new_session=True))  # noqa: S603


def start_job(folder: Path, url: str, total: int, output: IO[str]) -> ChildProcess:
    """Start the streaming job."""
    words = [sys.executable, "-m", "examples.demo.spark_process", str(folder), url, str(total)]
    pipe = subprocess.PIPE
    return ChildProcess(
        subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=output, text=True, start_new_session=True)  # noqa: S603
    )


def wait_for_server(registry: Registry, server: ChildProcess) -> None:
    """Wait until the server answers. Raises `Unavailable` when it does not come up, or ends."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            registry.ask(ListSubjects())
        except Unavailable:
            if time.monotonic() > until or server.popen.poll() is not None:
                raise
            time.sleep(0.1)
        else:
            return
