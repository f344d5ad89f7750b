"""`treaty runner` as a process of its own, and what it prints."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.costs import note_killed
from tests.servers.small import SMALL
from treaty.spark.jars import JVM_OPTIONS
from treaty.spark.session import QUICK_START

Process = subprocess.Popen[str]


def print_command(root: str | Path, files: str | Path, url: str, *options: str) -> list[str]:
    """The command line of a runner on a small machine."""
    settings = {**SMALL, "spark.driver.extraJavaOptions": f"{JVM_OPTIONS} {QUICK_START}"}
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    return [
        sys.executable, "-m", "treaty.cli.main", "runner", "--json", "--root", str(root), "--files", str(files),
        "--registry", url, "--master", "local[2]", "--memory", "1g", *options, *words,
    ]  # fmt: skip


@contextmanager
def started(command: list[str], log: Path | None = None) -> Iterator[Process]:
    """A process with its group, which has ended after the block; what nobody reads goes into a log."""
    with ExitStack() as opened:
        output = opened.enter_context(log.open("a")) if log is not None else subprocess.PIPE
        process = subprocess.Popen(command, stdout=output, stderr=output, text=True, start_new_session=True)
        try:
            yield process
        finally:
            kill(process)
            process.communicate()


def kill(process: Process) -> None:
    """End a process and all that it has started by SIGKILL."""
    note_killed(process.pid)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def read_until_running(process: Process, *names: str) -> list[dict[str, Any]]:
    """The lines of a runner until these queries run."""
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[dict[str, Any]] = []
    states: dict[str, str] = {}
    for line in process.stdout:
        event = json.loads(line)
        lines.append(event)
        states[event.get("name", "")] = event.get("state", "")
        if all(states.get(name) == "RUNNING" for name in names):
            return lines
    raise AssertionError(process.stderr.read()[-3000:])
