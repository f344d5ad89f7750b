"""A copy of a log's file made while a server writes: whole, at one place of the history, and never a log by itself."""

import json
import sqlite3
import threading
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.real.running import Running, serving
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.log.log import LogDamagedError
from treaty.log.maintenance.backup import PAGES_AT_ONCE, read_backup, write_backup


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["log", *words])


def schema_of(number: int) -> str:
    return json.dumps({"type": "enum", "name": "E", "symbols": [f"S{number}_{n}" for n in range(200)]})


@pytest.mark.slow
def test_a_copy_made_under_load_is_one_state_and_becomes_a_log_of_its_own(tmp_path: Path) -> None:
    path, url = tmp_path / "log.db", f"sqlite://{tmp_path}/log.db"
    places: list[int] = []
    done, more = threading.Event(), threading.Semaphore(0)

    def write(server: Running) -> None:
        number = 0
        while not done.is_set():
            register(server, f"s{number}", schema_of(number))
            more.release()
            number += 1

    with serving(tmp_path, "--log", url) as server:
        for number in range(150):
            register(server, f"first{number}", schema_of(1_000 + number))
        writer = threading.Thread(target=write, args=(server,))
        writer.start()
        try:
            for number in range(3):
                while more.acquire(blocking=False):
                    continue
                assert more.acquire(timeout=60), "something is written between two copies"
                told = run("backup", url, str(tmp_path / f"copy{number}.db"), "--json")
                assert told.exit_code == 0, told.output
                places.append(json.loads(told.stdout)["sequence"])
        finally:
            done.set()
            writer.join()
        assert sorted(set(places)) == places, "each copy is of a later state"
        assert (tmp_path / "copy0.db").stat().st_mode & 0o777 == 0o600
        sequence = server.get("/readyz")["sequence"]
    for number, place in enumerate(places):
        copy = tmp_path / f"copy{number}.db"
        verdict = json.loads(run("verify", str(copy), "--json").stdout)
        assert (verdict["sound"], verdict["logs"][0]["sequence"]) == (True, place)
        refused = run("info", f"sqlite://{copy}")
        assert (refused.exit_code, "is a backup, not a log" in refused.output) == (2, True)
    assert not list(tmp_path.glob("*.part*"))
    assert not list(tmp_path.glob("copy*-wal"))
    assert places[-1] <= sequence
    _restored(tmp_path / "copy2.db", path, tmp_path / "new.db", places[-1])


def _restored(copy: Path, old: Path, new: Path, place: int) -> None:
    assert run("restore", str(copy), f"sqlite://{new}", "--gap", "50").exit_code == 0
    before, after = (json.loads(run("info", f"sqlite://{one}", "--json").stdout) for one in (old, new))
    assert after["identity"] != before["identity"]
    assert after["log_origin"]["origin"]["sequence"] == place
    with connect(f"sqlite://{new}") as registry, connect(f"sqlite://{old}") as original:
        highest = max(one.schema_id for one in original.schemas(limit=10_000))
        assert registry.version("first7").schema_id == original.version("first7").schema_id
        assert registry.register("later", '"string"').version.schema_id > min(highest, place) + 49


def register(server: Running, subject: str, text: str) -> None:
    body = json.dumps({"schema": text}).encode()
    request = urllib.request.Request(
        f"{server.base}/subjects/{subject}/versions", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.db"
    with connect(f"sqlite://{path}") as registry:
        for number in range(1_200):
            registry.register("s", json.dumps({"type": "enum", "name": "E", "symbols": [f"A{number}"]}))
            registry.set_level("s", "NONE")
    return path


def test_how_far_a_copy_is_is_told(log: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    write_backup(log, tmp_path / "copy.db", lambda done, of: told.append((done, of)))
    with closing(sqlite3.connect(log)) as file:
        pages = file.execute("pragma page_count").fetchone()[0]
    assert told[-1] == (pages, pages)
    assert len(told) == -(-pages // PAGES_AT_ONCE)


def test_a_damaged_log_gives_no_copy_and_the_last_one_stays(log: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    write_backup(log, copy, lambda _, __: None)
    before = copy.read_bytes()
    with closing(sqlite3.connect(log)) as file:
        file.execute("pragma wal_checkpoint(truncate)")
    with log.open("r+b") as damaged:
        damaged.seek(4_096 * 5)
        damaged.write(b"\xa5" * 4_096 * 3)
    with pytest.raises(LogDamagedError, match="damaged"):
        write_backup(log, copy, lambda _, __: None)
    assert copy.read_bytes() == before
    assert not list(tmp_path.glob("*.part*"))


def test_what_is_no_file_of_a_log_is_not_copied(log: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert "treaty log dump" in run("backup", "postgresql://u:secret@nowhere/x", str(copy)).output
    assert "secret" not in run("backup", "postgresql://u:secret@nowhere/x", str(copy)).output
    assert "no such file" in run("backup", f"sqlite://{tmp_path}/none.db", str(copy)).output
    assert run("backup", f"sqlite://{log}", str(copy)).exit_code == 0
    assert "is a backup, not a log" in run("backup", f"sqlite://{copy}", str(tmp_path / "again.db")).output
    assert "not a log" in run("restore", str(log), f"sqlite://{tmp_path}/new.db").output, "a log is no backup"


def test_an_empty_file_is_no_backup(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(LogDamagedError, match="is empty, not a backup"):
        read_backup(tmp_path / "empty.db")
