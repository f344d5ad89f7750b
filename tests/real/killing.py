"""Drivers of streams that are killed with SIGKILL, each in a session of its own with its JVM."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.costs import note_killed

ROOT = Path(__file__).parents[2]


def started(driver: str, root: Path, *words: str) -> "subprocess.Popen[str]":
    """A program of the tests, which tells every step of a batch on a line, and at last that it has ended."""
    command = [sys.executable, "-m", driver, str(root), *words]
    with (root / "driver.log").open("a") as log:
        # A session of its own: the driver and its JVM are killed at one stroke.
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT, start_new_session=True
        )


def killed(driver: str, root: Path, steps: int, seconds: float, formats: Sequence[str] = ()) -> list[str]:
    """One life: the steps that were told until the driver was killed, so many seconds after so many of them, or ended.

    Where formats of tables are named, it has streams into these, and only the steps of the first one count.
    """
    process = started(driver, root, *formats)
    assert process.stdout is not None
    told: list[str] = []
    try:
        for line in process.stdout:
            told.append(line.strip())
            if sum(one.startswith(tuple(formats[:1] or [""])) for one in told) >= steps or told[-1] == "ended":
                break
        time.sleep(seconds)
    finally:
        note_killed(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        told += [line.strip() for line in process.stdout]
        process.stdout.close()
        process.wait()
    assert told, (root / "driver.log").read_text("utf-8")[-3000:]
    return told


def read(driver: str, root: Path, formats: Sequence[str] = ()) -> Any:
    """What the tables hold once all there is has been read, as the driver writes it down; those of formats, if named."""
    output, _ = started(driver, root, *formats, "--read").communicate()
    assert output.endswith("ended\n"), (root / "driver.log").read_text("utf-8")[-3000:]
    return json.loads((root / "held.json").read_text("utf-8"))
