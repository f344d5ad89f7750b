"""A test that hangs tells where it is and what runs under it, also where a process has ended meanwhile."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import stacks

GONE = 2**22 + 1
"""No process has this number: Linux counts up to 2**22."""


def test_a_hanging_test_tells_its_stack_and_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "told"
    command = [sys.executable, "-c", "print(flush=True); input()", "is waiting"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # from now on the system tells its words
        monkeypatch.setattr(stacks, "descendants", lambda: [GONE, process.pid])
        with file.open("w") as output:
            told = [*stacks.tell("a test", output)]
        process.communicate(b"\n")
    assert "a test has taken half of its time" in told[0]
    assert told[1].startswith(f"-- {GONE} says nothing: ")
    assert told[2].startswith(f"-- {process.pid}: ")
    assert "is waiting" in told[2]
    assert "in test_a_hanging_test_tells_its_stack_and_its_processes" in file.read_text("utf-8")
