"""The demo as a person runs it: a server, a job that is killed between two commits, a query that is killed, replaced and rolled back, and a page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.small import WORDS
from tests.shares import REST

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.jvm, pytest.mark.slow, *REST]


@pytest.mark.timeout(1_200)
def test_a_small_demo_proves_its_counts_across_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    words = [sys.executable, "-m", "examples.demo", "--rows", "3000", "--folder", str(folder)]
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{WORDS} {os.environ['PYSPARK_SUBMIT_ARGS']}"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=1_180)
    log = (folder / "job.log").read_text()[-3000:] if (folder / "job.log").exists() else ""
    assert done.returncode == 0, done.stdout + done.stderr + log
    for told in (
        "SIGKILL",
        "continues from its checkpoint",
        "proved",
        "version 4 was refused",
        "3,000 events",
        "joined with weather",
        "weather 283 =",
        "SIGKILL of the runner in mid batch",
        "3 times",
    ):
        assert told in done.stdout
    page = (folder / "report.html").read_text()
    assert page.count("<svg") >= 5
    assert "http" not in page.replace("http-equiv", "")
    assert "widened" in page
    assert "Endeavor Air" in page
    assert page.count("<mark class=new>equal</mark>") == 3
    assert not list(folder.glob("*.db-wal"))
