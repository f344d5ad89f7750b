"""Temporary folders: they go with their program, also where it is killed or never gets ready."""

import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from treaty.spark.locked_temporary_folder import LockedTemporaryFolder
from treaty.spark.planner.questions import PlannerEndedError
from treaty.spark.planner.service import supervisor
from treaty.spark.planner.service.supervisor import PlannerProcess

PREFIX = "treaty-some-"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def list_folders(parent: Path) -> list[str]:
    return sorted(one.name for one in parent.iterdir())


def test_a_folder_goes_with_its_program_or_with_the_next_one(temporary: Path) -> None:
    lines = (
        "import sys, tempfile",
        "from treaty.spark.locked_temporary_folder import LockedTemporaryFolder",
        f"tempfile.tempdir = {str(temporary)!r}",
        f"held = LockedTemporaryFolder({PREFIX!r})",
        "print(held.path, flush=True)",
        "sys.stdin.read()",
    )
    program = [sys.executable, "-c", "\n".join(lines)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        left = Path(other.stdout.readline().strip())
        (left / "rows").mkdir()
        with closing(LockedTemporaryFolder(PREFIX)) as held:
            assert list_folders(temporary) == sorted((held.path.name, left.name)), "its program runs"
        other.kill()
        other.wait()
        with closing(LockedTemporaryFolder("treaty-other-")):
            assert left.exists()
        with closing(LockedTemporaryFolder(PREFIX)):
            assert not left.exists()
    assert list_folders(temporary) == []


def test_a_planner_that_cannot_start_leaves_no_folder(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "PROGRAM", (str(temporary / "nothing"),))
    planner = PlannerProcess()
    for _ in range(2):
        with pytest.raises(PlannerEndedError, match="the planner does not start"):
            planner.start()
    assert list_folders(temporary) == []
    assert planner.folder == Path()
