"""Processes on one SQLite file: one history whoever writes, whoever dies, and however others hear of it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.behaviours.logs.backends import put, row, told
from treaty.core.state.commit import NO_DIGEST, START
from treaty.log.sqlite.log import SqliteLog

MEMBER = Path(__file__).parent / "log_member.py"
Said = dict[str, Any]


@contextmanager
def member(*words: object) -> Iterator["subprocess.Popen[str]"]:
    """A process of its own, killed with the block where it still runs."""
    with subprocess.Popen(
        [sys.executable, str(MEMBER), *map(str, words)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def hear(process: "subprocess.Popen[str]") -> Said:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.endswith("\n"), f"the process ended early, with {process.wait()}"
    said: Said = json.loads(line)
    return said


def heard(process: "subprocess.Popen[str]") -> list[Said]:
    """All that is still to be heard, to the end; a last line that was cut by a kill is none."""
    assert process.stdout is not None
    lines = process.stdout.read().splitlines(keepends=True)
    process.wait(60)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def run(*words: object) -> list[Said]:
    with member(*words) as process:
        said = heard(process)
        assert process.returncode == 0
        return said


def appends(said: list[Said]) -> list[Said]:
    return [one for one in said if "key" in one]


def one_history(told_of: list[Said]) -> None:
    """All appends follow each other without a gap, each on the digest of the one before."""
    ordered = sorted(told_of, key=lambda one: one["first"])
    assert ordered[0]["parent"] == NO_DIGEST.hex()
    for before, after in pairwise(ordered):
        assert after["first"] == before["last"] + 1
        assert after["parent"] == before["digest"]


async def keys(path: Path) -> set[str]:
    log = await SqliteLog.open(str(path))
    rows = (await log.read(START)).rows
    await log.close()
    return {json.loads(row.key)[0] for row in rows if row.table == "own"}


@told
async def test_four_processes_write_one_history_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with ExitStack() as stack:
        processes = [stack.enter_context(member("write", path, name, 40)) for name in "abcd"]
        said = [heard(process) for process in processes]
        assert [process.returncode for process in processes] == [0] * 4
    written = [one for some in said for one in appends(some)]
    assert len(written) == 160
    one_history(written)
    assert await keys(path) == {one["key"] for one in written}


@told
async def test_a_process_killed_in_the_middle_takes_nothing_with_it(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    written: list[Said] = []
    with member("write", path, "steady", 100_000) as steady:
        hear(steady)
        for round_ in range(6):
            with member("write", path, f"victim{round_}", 100_000) as victim:
                hear(victim)
                written += [hear(victim) for _ in range(3 + 4 * round_)]
                victim.send_signal(signal.SIGKILL)
                written += appends(heard(victim))
            written += [hear(steady) for _ in range(3)]
        steady.send_signal(signal.SIGKILL)
        written += appends(heard(steady))
    after = appends(run("write", path, "after", 3))
    there = await keys(path)
    assert {one["key"] for one in [*written, *after]} <= there
    unheard = there - {one["key"] for one in [*written, *after]}
    assert len(unheard) <= 7  # at most the one append that each killed process had not told of
    ends = {one["last"]: one["digest"] for one in written}
    assert len(ends) == len(written)
    with sqlite3.connect(path) as file:
        history = file.execute("select last, first, digest from log_append order by last").fetchall()
        assert file.execute("pragma integrity_check").fetchall() == [("ok",)]
    file.close()
    assert [first for _, first, _ in history] == [1, *[last + 1 for last, _, _ in history[:-1]]]
    assert {last: digest.hex() for last, _, digest in history}.items() >= ends.items()


@pytest.mark.parametrize("how", ["hints", "polling"])
def test_a_process_hears_what_another_writes(tmp_path: Path, how: str) -> None:
    path = tmp_path / "log.db"
    with member("follow", path, how, 45) as follower:
        assert hear(follower) == {"ready": True}
        written = appends(run("write", path, "w", 23))
        seen = heard(follower)
        assert follower.returncode == 0
    ends = {one["last"]: one["digest"] for one in written}
    assert seen[-1]["tip"] >= 45
    assert [one["tip"] for one in seen] == sorted({one["tip"] for one in seen})
    assert all(ends[one["tip"]] == one["digest"] for one in seen)


@told
async def test_each_single_append_is_heard_by_hints_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with member("follow", path, "hints", 8) as follower:
        assert hear(follower) == {"ready": True}
        log = await SqliteLog.open(str(path))
        for number in range(8):
            place = await put(log, row("a", str(number)))
            assert hear(follower) == {"tip": place.sequence, "digest": place.digest.hex(), "rows": 1}
        await log.close()


def test_a_write_that_the_disk_refuses_leaves_nothing_and_the_next_one_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    run("write", path, "before", 3)
    refused, same, again = run("limited", path, 20_000)
    assert refused == {"fate": "unknown"}
    assert same == {"same": True}
    assert again == {"fate": "accepted"}


def _no_writing_in_the_folder(folder: Path) -> None:
    folder.chmod(0o555)


def _no_reading_of_the_file(folder: Path) -> None:
    (folder / "log.db").chmod(0o000)
    folder.chmod(0o755)


def _no_file_in_a_folder_without_writing(folder: Path) -> None:
    for one in folder.iterdir():
        one.unlink()
    folder.chmod(0o555)


@pytest.mark.parametrize(
    "shut", [_no_writing_in_the_folder, _no_reading_of_the_file, _no_file_in_a_folder_without_writing]
)
def test_who_has_no_rights_is_told_so(tmp_path_factory: pytest.TempPathFactory, shut: Callable[[Path], None]) -> None:
    top = tmp_path_factory.getbasetemp()
    folder = Path(os.path.realpath(top.parents[1])) / f"treaty-rights-{os.getpid()}-{shut.__name__}"
    folder.mkdir()
    try:
        run("write", folder / "log.db", "before", 1)
        (folder / "log.db").chmod(0o644)
        shut(folder)
        (said,) = run("reach", folder / "log.db")
        assert said["trouble"] == "LogUnavailableError"
        assert str(folder / "log.db") in said["message"]
        assert "this user" in said["message"]
    finally:
        folder.chmod(0o755)
        for one in folder.iterdir():
            one.unlink()
        folder.rmdir()
