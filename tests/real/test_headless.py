"""`treaty serve --apply`: a project that a server applies before it listens, also where it is killed or starts with others at once."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.costs import note_killed
from tests.real.running import start
from treaty import connect
from treaty.core.messages.metastore.sources import ListTypes
from treaty.core.registry import run_exchange
from treaty.metastore.project.export import export_objects
from treaty.metastore.project.files import ProjectFile

STREAM = "CREATE STREAM {create}s{0:02} (id BIGINT KEY, carrier STRING, at t) WITH (KAFKA_TOPIC = 's{0:02}', VALUE_FORMAT = 'AVRO');\n"
STREAMS = 40
SECONDS = 60


def write_project(folder: Path, streams: int = 3, create: str = "IF NOT EXISTS ") -> Path:
    project = folder / "sql"
    project.mkdir(exist_ok=True)
    project.joinpath("t.sql").write_text("CREATE TYPE t AS STRUCT<x INT>", "utf-8")
    for place in range(streams):
        project.joinpath(f"s{place}.sql").write_text(STREAM.format(place, create=create), "utf-8")
    return project


def exported(log: str) -> list[ProjectFile]:
    with connect(log) as connection:
        objects = run_exchange(connection.registry, export_objects())
        return [ProjectFile(one.path, one.text) for one in objects]


def sequence_of(log: str) -> int:
    with connect(log) as connection:
        return connection.ask(ListTypes()).token.sequence


def fail_to_start(log: str, project: Path, *options: str) -> tuple[int, str]:
    command = [
        sys.executable,
        "-m",
        "treaty.cli.main",
        "serve",
        "--port",
        "0",
        "--log",
        log,
        "--apply",
        str(project),
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    return done.returncode, done.stderr


def test_r42_r43_a_server_applies_its_project_and_a_second_start_writes_nothing(tmp_path: Path) -> None:
    """R42, R43 and R47: the file is applied after what is there, IF NOT EXISTS twice is once, and a changed file stops the start."""
    log = f"sqlite://{tmp_path / 'log.db'}"
    project = write_project(tmp_path)
    project.joinpath("q.sql").write_text("CREATE STREAM q AS SELECT * FROM s00", "utf-8")
    options = ("--log", log, "--apply", str(project), "--ddl", "off")
    first = start(tmp_path, *options)
    ready = first.get("/readyz")
    assert (ready["status"], [one["name"] for one in ready["open"]]) == ("ready", ["q"])
    answers = [post(first.base, sql) for sql in ("SHOW STREAMS", "DROP STREAM s01", "CREATE TYPE u AS INT")]
    assert [(answer.status_code, answer.json().get("code")) for answer in answers] == [
        (200, None),
        (403, "DDL_OFF"),
        (403, "DDL_OFF"),
    ]
    assert post(first.base, "DROP STREAM s01", dryRun=True).status_code == 200
    assert first.stop() == 0
    project.joinpath("q.sql").unlink()  # its query waits for a planner in a row
    before = sequence_of(log)
    second = start(tmp_path, *options, "--workers", "2")
    assert second.get("/readyz")["sequence"] == before
    second.stop()
    project.joinpath("s9.sql").write_text(STREAM.format(9, create=""), "utf-8")
    project.joinpath("s8.sql").write_text(
        "CREATE STREAM s08 (x INT) WITH (KAFKA_TOPIC = 's9', VALUE_FORMAT = 'AVRO', SUBJECT = 's00-value')", "utf-8"
    )
    write_project(tmp_path, 1, "").joinpath("s1.sql").write_text(
        STREAM.format(1, create="").replace("STRING", "STRING, gate INT"), "utf-8"
    )
    code, told = fail_to_start(log, project)
    assert code == 78
    assert f"STREAM s01 ({project / 's1.sql'}:1): PROJECT_DIFFERS" in told
    assert "    +   gate INT" in told
    assert [file.path for file in exported(log)] == ["types/t.sql", *(f"streams/s{place:02}.sql" for place in range(3))]


def post(base: str, sql: str, **members: Any) -> httpx2.Response:
    return httpx2.post(f"{base}/metastore/v1/statements", json={"sql": sql, **members})


def test_files_and_options_that_cannot_be_used_stop_the_start(tmp_path: Path) -> None:
    log = f"sqlite://{tmp_path / 'log.db'}"
    file = tmp_path / "x.sql"
    file.write_text("CREATE STREEM x;\nDROP STREAM y", "utf-8")
    code, told = fail_to_start(log, file)
    assert (code, "2:1: PROJECT_STATEMENT DROP STREAM is no part of a project" in told) == (78, True)
    assert fail_to_start(log, file, "--read-only")[0] == 2
    file.write_text("CREATE STREAM x WITH (KAFKA_TOPIC = '${topic}')", "utf-8")
    code, told = fail_to_start(log, file, "--var", "topic=nobody")
    assert (code, "SUBJECT_NOT_FOUND nobody-value has no schema here" in told) == (78, True)


def test_servers_that_start_at_once_agree(tmp_path: Path) -> None:
    log = f"sqlite://{tmp_path / 'log.db'}"
    project = write_project(tmp_path, STREAMS)
    command = [sys.executable, "-m", "treaty.cli.main", "serve", "--port", "0", "--log", log, "--apply", str(project)]
    said = [tmp_path / f"said-{place}" for place in range(2)]
    servers: list[subprocess.Popen[bytes]] = []
    for path in said:
        with path.open("wb") as file:
            servers.append(subprocess.Popen(command, stderr=file))
    try:
        deadline = time.monotonic() + SECONDS
        while not all("serving" in path.read_text("utf-8") for path in said) and time.monotonic() < deadline:
            assert all(server.poll() is None for server in servers), [path.read_text("utf-8") for path in said]
            time.sleep(0.05)
    finally:
        for server in servers:
            server.terminate()
            server.wait(SECONDS)
    assert all("serving" in path.read_text("utf-8") for path in said)
    assert len(exported(log)) == STREAMS + 1


def kill_starts(folder: Path, kills: int) -> None:
    """Start a server with a project again and again, kill it a moment later each time, and let the last one end its work."""
    log = f"sqlite://{folder / 'log.db'}"
    project = write_project(folder, STREAMS)
    command = [sys.executable, "-m", "treaty.cli.main", "serve", "--port", "0", "--log", log, "--apply", str(project)]
    said = folder / "said"
    for kill in range(kills):
        with said.open("wb") as file:
            server = subprocess.Popen(command, stderr=file)
        sizes = {size_of(folder)}
        deadline = time.monotonic() + SECONDS
        while len(sizes) < 3 + kill and not is_served(said) and time.monotonic() < deadline:
            assert server.poll() is None, said.read_text("utf-8")
            sizes.add(size_of(folder))
            time.sleep(0.002)
        note_killed(server.pid)
        server.kill()
        server.wait()
        assert len(exported(log)) in {0, STREAMS + 1}, "a commit is there whole or not at all"
    last = start(folder, "--log", log, "--apply", str(project))
    last.stop()
    other = f"sqlite://{folder / 'other.db'}"
    undisturbed = start(folder, "--log", other, "--apply", str(project))
    undisturbed.stop()
    assert exported(log) == exported(other)
    assert len(exported(log)) == STREAMS + 1


def is_served(said: Path) -> bool:
    return "serving" in said.read_text("utf-8")


def size_of(folder: Path) -> int:
    """Bytes of the log and of what SQLite has written beside it."""
    return sum(file.stat().st_size for file in folder.glob("log.db*"))


def test_a_server_that_is_killed_while_it_applies_continues_at_its_next_start(tmp_path: Path) -> None:
    kill_starts(tmp_path, 1)


@pytest.mark.soak
def test_a_server_that_is_killed_again_and_again_ends_its_project(tmp_path: Path) -> None:
    kill_starts(tmp_path, 30)
