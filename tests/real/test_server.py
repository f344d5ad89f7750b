"""`treaty serve` as a person runs it: what it says, what it refuses, how it stops, and that it comes back."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real.running import Running, serving, start


def command(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "treaty.cli.main", "serve", *options],
        env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": ""},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


def post(server: Running, subject: str, text: str) -> dict[str, object]:
    body = json.dumps({"schema": text}).encode()
    request = urllib.request.Request(
        f"{server.base}/subjects/{subject}/versions", body, {"Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        found = json.loads(answer.read())
    assert isinstance(found, dict)
    return found


def eventually(what: str, said: Callable[[], bool]) -> None:
    """Wait until `said()` is true, as long as a test may take."""

    for _ in range(600):
        if said():
            return
        time.sleep(0.1)
    pytest.fail(f"it never happened: {what}")


def test_it_says_where_it_is_and_keeps_its_log_in_the_data_folder(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        said = server.said.read_text()
        file = tmp_path / ".local/share/treaty/registry.db"
        assert f"log      sqlite://{file}" in said
        assert f"kill {server.process.pid}" in said
        assert post(server, "s", '"string"')["id"] == 1
        assert server.get("/status")["node"]["sequence"] >= 1
        assert server.stop() == 0
        assert "stopping: requests that are being answered have 15 s to end" in server.said.read_text()
        assert file.exists()
    with serving(tmp_path) as again:
        assert again.get("/subjects/s/versions") == [1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--log", "oracle://x"], ["no log for 'oracle://x'", "sqlite"]),
        (["--log", "sqlite:relative.db"], ["sqlite:///absolute/path.db"]),
        (["--log", "sqlite:///proc/none/x.db"], ["/proc/none"]),
        (["--log", "memory:", "--workers", "2"], ["workers cannot share a log in memory"]),
        (["--port", "70000"], ["70000"]),
        (["--host", "203.0.113.7"], ["--host 127.0.0.1"]),
        (["--host", "no such host"], ["--host 127.0.0.1"]),
        (["--data-home", "/proc/nowhere"], ["/proc/nowhere/treaty", "--log sqlite:///absolute/path.db"]),
    ],
    ids=["scheme", "relative", "no folder", "memory shared", "port", "address", "name", "data folder"],
)
def test_what_it_cannot_do_it_says_with_the_remedy(tmp_path: Path, options: list[str], words: list[str]) -> None:
    ended = command(tmp_path, "--port", "0", *options)
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    for word in words:
        assert word in ended.stderr


def test_several_workers_say_what_is_wrong_once(tmp_path: Path) -> None:
    ended = command(tmp_path, "--workers", "3", "--log", "oracle://x", "--port", "0")
    assert ended.returncode == 78
    assert ended.stderr.count("no log for") == 1


def test_a_port_in_use_is_told_with_another_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = command(tmp_path, "--port", str(port), "--log", "memory:")
    assert f"cannot listen on 127.0.0.1 port {port}: the port is in use; try --port {port + 1}" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_running_request_is_answered_before_it_stops(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "memory:") as server:
        body = b'{"schema":"\\"string\\""}'
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            head = b"POST /subjects/s/versions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
            connection.sendall(head + body[:5])
            eventually("the request is in flight", lambda: server.get("/status")["worker"]["inFlight"] == 2)
            server.process.send_signal(signal.SIGTERM)
            eventually("it stops listening", lambda: not _listens(server.port))
            connection.sendall(body[5:])
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        assert server.process.wait(60) == 0


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def test_log_lines_as_json(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "memory:", "--log-format", "json", "--access-log") as server:
        server.get("/subjects")
        eventually("the request is logged", lambda: "GET /subjects" in server.said.read_text())
        lines = [line for line in server.said.read_text().splitlines() if line.startswith("{")]
        assert [json.loads(line)["level"] for line in lines]


def test_requests_are_not_logged_unless_asked(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "memory:") as server:
        server.get("/subjects")
        server.stop()
        assert "/subjects " not in server.said.read_text()


def test_several_workers_share_port_log_and_numbers(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/r.db", "--workers", "3") as server:
        registered = post(server, "s", '"string"')
        seen: set[int] = set()

        def all_seen() -> bool:
            status = server.get("/status")
            seen.add(status["worker"]["pid"])
            return len(seen) == 3

        eventually("every worker has answered", all_seen)
        for _ in range(30):
            assert server.get(f"/schemas/ids/{registered['id']}")["schema"] == '"string"'
        counted = _counted(server.text("/metrics"), "/schemas/ids/{}") + _hits(server.text("/metrics"))
        assert counted >= 30
        page = server.text("/metrics")
        assert {f'treaty_sequence{{worker="{n}"}}' in page for n in range(3)} == {True}


def _counted(page: str, route: str) -> float:
    found = re.search(
        rf'treaty_http_requests_total{{method="GET",route="{re.escape(route)}",status="200"}} (\S+)', page
    )
    return float(found[1]) if found else 0.0


def _hits(page: str) -> float:
    found = re.search(r"^treaty_response_cache_hits_total (\S+)", page, re.MULTILINE)
    return float(found[1]) if found else 0.0


def test_a_killed_worker_is_started_again(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/r.db", "--workers", "2") as server:
        victim = server.get("/status")["worker"]
        os.kill(victim["pid"], signal.SIGKILL)
        fresh: dict[int, int] = {}

        def came_back() -> bool:
            try:
                worker = server.get("/status")["worker"]
            except OSError:  # a connection that the dead worker had accepted
                return False
            fresh[worker["index"]] = worker["pid"]
            return bool(fresh.get(victim["index"], victim["pid"]) != victim["pid"])

        eventually("the worker is back", came_back)
        assert post(server, "s", '"string"')["id"] == 1
        page = server.text("/metrics")
        assert "treaty_starts_total 3.0" in page


def test_workers_go_when_their_parent_is_killed(tmp_path: Path) -> None:
    server = start(tmp_path, "--log", f"sqlite://{tmp_path}/r.db", "--workers", "2")
    port = server.port
    server.kill()
    eventually("nobody listens any more", lambda: not _listens(port))


def test_ipv6(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "memory:", "--host", "::1") as server:
        assert server.base.startswith("http://[::1]:")
        assert server.get("/subjects") == []


def test_a_killed_server_leaves_no_process_behind(tmp_path: Path) -> None:
    server = start(tmp_path, "--log", "memory:")
    fields = [{"name": f"field_{number}", "type": "int"} for number in range(5_000)]
    post(server, "large", json.dumps({"type": "record", "name": "Large", "fields": fields}))  # read in a pool's process
    threads = Path(f"/proc/{server.process.pid}/task").iterdir()  # a process of the pool is started by a thread
    children = [child for thread in threads for child in (thread / "children").read_text().split()]
    assert children
    server.kill()
    eventually("the pool is gone", lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def test_what_was_deleted_is_not_answered_from_memory(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "memory:") as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

        def ask(method: str, path: str) -> tuple[int, object]:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

        for turn in range(1, 31):
            post(server, "s", json.dumps({"type": "record", "name": f"R{turn}", "fields": []}))
            for _ in range(3):
                assert ask("GET", f"/subjects/s/versions/{turn}")[0] == 200
            assert ask("DELETE", f"/subjects/s/versions/{turn}") == (200, turn)
            assert ask("GET", f"/subjects/s/versions/{turn}")[0] == 404
        assert server.get("/status")["worker"]["hotHits"] >= 30
        connection.close()


def test_several_workers_stop_together(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/r.db", "--workers", "2") as server:
        post(server, "s", '"string"')
        assert server.stop() == 0
        assert not _listens(server.port)
        assert server.said.read_text().count("stopping: ") == 1
