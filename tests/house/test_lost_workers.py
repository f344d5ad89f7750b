"""A run whose worker ends fails, also if that worker had no test yet."""

import subprocess
import sys
from pathlib import Path

import pytest

KILLS = """
import os

def pytest_collection_modifyitems():
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        os._exit(3)
"""


@pytest.mark.parametrize("mode", ["load", "loadgroup"])
def test_a_worker_that_ends_while_it_collects_fails_the_run(tmp_path: Path, mode: str) -> None:
    (tmp_path / "conftest.py").write_text(KILLS)
    (tmp_path / "test_it.py").write_text("def test_it():\n    pass\n")
    words = ["-n", "2", "--dist", mode, "--max-worker-restart=0", "-p", "tests.lost_workers", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *words, "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "worker gw0 ended: " in done.stdout
