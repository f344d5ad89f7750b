"""`treaty apply` as a process that is killed with SIGKILL after each statement in turn: what stays, and what the next one does."""

import json
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest

from tests.costs import note_killed
from tests.real.test_headless import exported, sequence_of, write_project
from treaty import connect
from treaty.cli.metastore.plan_output import DONE

STREAMS = 36
SECONDS = 120
PAUSES = (0.0, 0.004, 0.012, 0.03)
"""Seconds from the report of a statement to the kill, by turns: within the next statement, between two, or after several."""


def begin_apply(project: Path, log: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "treaty.cli.main", "apply", str(project), "--yes", "--registry", log]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def apply(project: Path, log: str, code: int = 0) -> str:
    process = begin_apply(project, log)
    told, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == code, told + errors
    return told


def kill_after_a_statement(project: Path, log: str, pause: float) -> None:
    """Begin to apply, and kill the process a moment after it has reported a statement."""
    process = begin_apply(project, log)
    assert process.stdout is not None
    told = []
    try:
        for line in process.stdout:
            told.append(line)
            if line.startswith(tuple(f"{word}: " for word in DONE.values())):
                sleep(pause)
                return
        assert process.stderr is not None
        raise AssertionError("".join(told[-20:]) + process.stderr.read())
    finally:
        note_killed(process.pid)
        process.kill()
        process.communicate()


def kill_applies(folder: Path, kills: int) -> None:
    """R42, R43, R44 and R47, by a folder that is applied again after each kill."""
    log, other = (f"sqlite://{folder / name}.db" for name in ("log", "other"))
    project = write_project(folder, max(STREAMS if kills > 3 else 0, kills + 2))
    apply(project, other)
    whole = exported(other)
    order = sorted(whole, key=lambda file: (not file.path.startswith("types/"), file.path))
    before = 0
    for kill in range(kills):
        kill_after_a_statement(project, log, PAUSES[kill % len(PAUSES)])
        there = exported(log)
        assert len(there) > before, "a statement that was reported stays"
        assert sorted(there, key=str) == sorted(order[: len(there)], key=str), (
            "a statement is there whole, and those before it"
        )
        before = len(there)
        if before == len(whole):
            break
    told = apply(project, log)
    assert "Applied: " in told or before == len(whole)
    assert exported(log) == whole
    end = sequence_of(log)
    assert "Nothing to do" in apply(project, log), "R42, R47: what is there is applied once"
    assert sequence_of(log) == end
    with connect(log) as connection:  # R44: a later version of a subject changes no column that is stored
        later = json.loads(connection.version("s00-value").text)
        later["fields"].append({"name": "gate", "type": ["null", "string"], "default": None})
        connection.register("s00-value", json.dumps(later))
    end = sequence_of(log)
    assert "Nothing to do" in apply(project, log)
    assert (sequence_of(log), exported(log)) == (end, whole)
    refuse_a_change(project, log)
    assert (sequence_of(log), exported(log)) == (end, whole)


def refuse_a_change(project: Path, log: str) -> None:
    """R43: a file that is changed as its readers can't follow stops the whole, with the difference; nothing else of it is applied."""
    project.joinpath("a.sql").write_text("CREATE TYPE another AS STRUCT<y INT>", "utf-8")
    project.joinpath("t.sql").write_text("CREATE TYPE t AS STRUCT<x STRING>", "utf-8")
    told = apply(project, log, code=1)
    assert "- CREATE TYPE t AS STRUCT<x: INT>" in told
    assert "+ CREATE TYPE t AS STRUCT<x: STRING>" in told
    assert "Nothing is written." in told


def test_an_apply_that_is_killed_after_a_statement_is_continued_by_the_next(tmp_path: Path) -> None:
    kill_applies(tmp_path, 3)


@pytest.mark.soak
def test_an_apply_that_is_killed_after_each_statement_in_turn_ends_its_folder(tmp_path: Path) -> None:
    kill_applies(tmp_path, STREAMS)
