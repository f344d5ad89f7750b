"""The steps of the page on repairing a log, run in their order in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "repair.md").read_text("utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.slow
def test_the_steps_do_what_the_page_says(tmp_path: Path) -> None:
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", "set -eu\n" + "echo ----\n".join(BLOCKS)],
        cwd=tmp_path, env={**os.environ, "PATH": tools}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    _, looked, restored, accepted = done.stdout.split("----\n")

    assert "STATE_ROOT schema []: its rows add" in looked
    assert "exit code 1" in looked
    named = looked[looked.index("1 row differs from monday.dump") :]
    assert 'schema [".",2]' in named
    assert "losers" in named.partition("there:")[0]
    assert "users" in named.partition("there:")[2]
    assert "2 rows" not in restored
    assert "sound" in restored
    before, after = accepted.split("the state is accepted;")
    assert "they were changed outside the log" in before
    assert "exit code 1" in before
    assert "0 unreadable rows left" in after
    assert "changed outside the log" not in after
