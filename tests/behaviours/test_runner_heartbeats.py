"""Files that say which runners are alive, by the clock of who looks."""

from pathlib import Path

from treaty.spark.runner.service.heartbeat import (
    LOST_SECONDS,
    STALE_SECONDS,
    HeartbeatWatch,
    RunnerHeartbeat,
    file_of,
    has_process_ended,
)
from treaty.spark.runner.service.shared_files import LocalFiles


def test_a_runner_is_stale_by_the_clock_of_who_looks(tmp_path: Path) -> None:
    now = [1_000.0]
    watch = HeartbeatWatch(LocalFiles(tmp_path), lambda: now[0])
    beat = RunnerHeartbeat(LocalFiles(tmp_path), "a b/c", {"holder": "h1"})
    beat.close()  # from here on its file is written by hand
    file = tmp_path / file_of("a b/c")
    assert not file.exists()
    assert not watch.is_stale("a b/c", "h1")
    for count in range(3):
        now[0] += STALE_SECONDS - 1
        file.write_text(f'{{"holder": "h1", "count": {count}}}')
        assert not watch.is_stale("a b/c", "h1")
    now[0] += STALE_SECONDS - 1
    assert not watch.is_stale("a b/c", "h1")
    now[0] += 2
    assert watch.is_stale("a b/c", "h1")
    assert not watch.is_stale("a b/c", "h2"), "another holder has its time from now on"


def test_a_runner_stops_before_others_take_its_parts() -> None:
    assert LOST_SECONDS < STALE_SECONDS


def test_a_process_of_this_machine_that_has_ended_is_known_at_once(tmp_path: Path) -> None:
    beat = RunnerHeartbeat(LocalFiles(tmp_path), "a", {"holder": "h1"})
    try:
        assert not has_process_ended({"place": "elsewhere", "process": 1})
        assert not has_process_ended(None)
        assert not beat.is_lost
    finally:
        beat.close()
