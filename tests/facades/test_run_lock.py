"""A checkpoint belongs to one process at a time, and to nobody once that is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from treaty.spark.pipelines.run_lock import LOCK, CheckpointInUseError, lock_checkpoint

HOLD = """
import sys
from treaty.spark.pipelines.run_lock import CheckpointInUseError, lock_checkpoint
try:
    with lock_checkpoint(sys.argv[1]):
        print("runs", flush=True)
        sys.stdin.read()
except CheckpointInUseError as error:
    print(error, flush=True)
"""


def start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_another_process_is_named_and_one_that_was_killed_is_in_nobodys_way(tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoints" / "orders"
    with start(checkpoint) as holder:
        assert first_line(holder) == "runs"
        with pytest.raises(CheckpointInUseError) as refused, lock_checkpoint(f"file://{checkpoint}"):
            pytest.fail("two processes run with one checkpoint")
        holder.kill()
    assert str(refused.value).startswith(f"process {holder.pid} on ")
    assert f"runs with the checkpoint file://{checkpoint} now: stop it first" in str(refused.value)
    with lock_checkpoint(str(checkpoint)):
        assert (checkpoint / LOCK).exists()


def test_a_refusal_of_spark_in_the_same_process_lets_nothing_go(tmp_path: Path) -> None:
    """Whether two queries of one process may be is left to Spark."""
    with lock_checkpoint(str(tmp_path)):
        with lock_checkpoint(f"{tmp_path}/../{tmp_path.name}"):
            pass
        with start(tmp_path) as other:
            assert "stop it first" in first_line(other)
    with start(tmp_path) as free:
        assert first_line(free) == "runs"
        free.kill()


@pytest.mark.parametrize("place", ["s3a://bucket/checkpoint", "hdfs:///checkpoint", "/proc/no/such/place"])
def test_a_place_that_has_no_locks_keeps_nobody_out(place: str) -> None:
    with lock_checkpoint(place), lock_checkpoint(place):
        pass
