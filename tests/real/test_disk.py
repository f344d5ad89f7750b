"""A disk that is full and a file that is damaged, under living servers: what was acknowledged stays, and reads go on."""

import http.client
import json
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.real.disks import Disk, bounded_files, small_disk
from tests.real.running import Running, serving
from tests.real.test_server import eventually

Asked = tuple[int, Any, float]
"""Status, body, and the seconds of ``Retry-After`` (0 without)."""


def ask(server: Running, path: str, schema: str = "") -> Asked:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with closing(connection):
        method = "POST" if schema else "GET"
        body = json.dumps({"schema": schema}) if schema else None
        connection.request(method, path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), float(answer.headers.get("retry-after", 0))


def schema_of(name: str) -> str:
    """A schema of some 10 kB, as it is registered under a name."""
    if name == "after":
        return '"string"'
    symbols = [f"{name}_{n:08}" for n in range(600)]
    return json.dumps({"type": "enum", "name": "E", "symbols": symbols}, separators=(",", ":"))


def fill(server: Running, kept: dict[str, int], crowd: int = 4, called: str = "s") -> list[Asked]:
    """Have several clients register until each is refused; what was acknowledged goes into `kept`."""
    refused: list[Asked] = []

    def write(worker: int) -> None:
        for number in range(2_000):
            name = f"{called}{worker}_{number}"
            answer = ask(server, f"/subjects/{name}/versions", schema_of(name))
            if answer[0] != 200:
                refused.append(answer)
                return
            kept[name] = answer[1]["id"]

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(crowd)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refused


def all_there(server: Running, kept: dict[str, int]) -> None:
    assert set(kept) <= set(ask(server, "/subjects")[1])
    for name, number in kept.items():
        assert ask(server, f"/subjects/{name}/versions/latest")[1]["id"] == number
        assert ask(server, f"/schemas/ids/{number}")[1]["schema"] == schema_of(name)


@pytest.mark.slow
@pytest.mark.parametrize("small", [small_disk, bounded_files])
def test_a_full_disk_is_told_reads_go_on_and_writes_go_on_when_there_is_room(
    tmp_path: Path, small: Callable[[Path], AbstractContextManager[Disk]], figure: Callable[[str], None]
) -> None:
    kept: dict[str, int] = {}
    with small(tmp_path) as disk, serving(tmp_path, "--log", f"sqlite://{disk.folder}/log.db") as server:
        disk.begin(server)
        refused = fill(server, kept)
        assert len(kept) > 20
        assert len(refused) == 4
        # Room may be found once more, where the store tidied up after it was refused; then that is used up too.
        refused += fill(server, kept, 2, "later")
        # A write that the disk breaks off inside a commit may be there: who sent it is told that, all others "surely not".
        assert small is bounded_files or {status for status, _, _ in refused} == {503}, refused
        assert {status for status, _, _ in refused} <= {503, 504}, refused
        assert {status for status, _, _ in refused} & {503}, refused
        for status, body, again in (one for one in refused if one[0] == 503):
            assert (status, body.get("error_code")) == (503, 503), body
            assert again >= 1
            assert f"{disk.folder}/log.db" in body["message"]
            assert ("free space" in body["message"]) or small is bounded_files, body
        assert ask(server, "/healthz")[0] == 200
        assert ask(server, "/readyz")[:1] == (200,), "it can be read"
        told = ask(server, "/readyz")[1]
        assert (told["status"], f"{disk.folder}/log.db" in told["reason"]) == ("read-only", True)
        assert ask(server, "/readyz/writes")[0] == 503
        assert f"{disk.folder}/log.db" in server.get("/status")["node"]["refusing"]
        eventually("its metric says so", lambda: 'treaty_read_only{worker="0"} 1.0' in server.text("/metrics"))
        all_there(server, kept)
        disk.grow()
        began = time.monotonic()
        eventually("it writes again", lambda: ask(server, "/subjects/after/versions", '"string"')[0] == 200)
        figure(f"{len(kept)} writes before the disk was full; {time.monotonic() - began:.1f} s to the next one")
        assert ask(server, "/readyz/writes")[1]["status"] == "ready"
        assert server.get("/status")["node"]["refusing"] == ""
        eventually("its metric says so", lambda: 'treaty_read_only{worker="0"} 0.0' in server.text("/metrics"))
        eventually("its log says so", lambda: "writes are accepted again" in server.said.read_text())
        assert server.said.read_text().count("writes are rejected: ") == server.said.read_text().count("accepted again")
        kept["after"] = ask(server, "/subjects/after/versions/latest")[1]["id"]
        assert server.said.read_text().count("new log: ") == 1
        server.kill()
        with serving(tmp_path, "--log", f"sqlite://{disk.folder}/log.db") as again_started:
            all_there(again_started, kept)
            assert "new log: " not in again_started.said.read_text()


def _scribble(path: Path) -> None:
    """Damage everything but the file's head, as a broken disk or a stranger's program does."""
    with path.open("r+b") as file:
        size = file.seek(0, 2)
        file.seek(4_096)
        file.write(b"\xa5" * (size - 4_096))


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(8_192)


@pytest.mark.slow
@pytest.mark.parametrize("harm", [_scribble, _cut])
def test_a_file_damaged_under_a_living_server_is_told_and_restored(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path, dump, mended = tmp_path / "log.db", tmp_path / "saved.dump.zst", tmp_path / "mended.db"
    kept: dict[str, int] = {}
    with serving(tmp_path, "--log", f"sqlite://{path}") as server:
        for number in range(40):
            name = f"s{number}"
            kept[name] = ask(server, f"/subjects/{name}/versions", schema_of(name))[1]["id"]
        log_command(0, "dump", f"sqlite://{path}", str(dump))
        with closing(sqlite3.connect(path)) as file:
            file.execute("pragma wal_checkpoint(truncate)")
        harm(path)
        status, body, again = ask(server, "/subjects/more/versions", schema_of("more"))
        assert (status, again >= 1) == (503, True), body
        assert "damaged" in body["message"], body
        assert f"{path} is damaged" in body["message"]
        assert "restore a backup" in body["message"]
        assert ask(server, "/subjects/later/versions", '"string"')[0] == 503
        for number in kept.values():
            assert ask(server, f"/schemas/ids/{number}")[0] == 200
        assert ask(server, "/subjects?consistency=eventual")[1] == sorted(kept)
        told = ask(server, "/readyz/writes")
        assert (told[0], "damaged" in told[1]["reason"]) == (503, True)
        node = server.get("/status")["node"]
        assert f"{path} is damaged" in node["read_only"]
    assert f"{path} is damaged" in log_command(2, "verify", f"sqlite://{path}")
    log_command(0, "restore", str(dump), f"sqlite://{mended}")
    log_command(0, "verify", f"sqlite://{mended}")
    with serving(tmp_path, "--log", f"sqlite://{mended}") as server:
        all_there(server, kept)
        assert ask(server, "/subjects/more/versions", schema_of("more"))[0] == 200


def log_command(code: int, *words: str) -> str:
    """Run `treaty log …`; returns what it printed, on either side."""
    command = [sys.executable, "-m", "treaty.cli.main", "log", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
