"""A server in production: its lines, its end, and hot reads for every kind of client over several workers."""

import gzip
import http.client
import json
import re
import signal
import socket
from pathlib import Path

import pytest

from tests.facades.doors import basic, write_passwords
from tests.real.running import Running, serving
from tests.real.test_server import _listens, eventually, post
from treaty.distribution import VERSION

RIGHTS = """
[basic]
file = "passwords"
[[rule]]
who = ["user:root"]
may = ["admin"]
[[rule]]
who = ["user:reader"]
may = ["read"]
subjects = ["orders-*"]
"""
V1 = "application/vnd.schemaregistry.v1+json"
ACCEPTS = {
    "*/*": V1,
    V1: V1,
    "application/vnd.schemaregistry+json": "application/vnd.schemaregistry+json",
    "application/json": "application/json",
    "text/html, image/gif, image/jpeg, */*; q=0.2": V1,
    "application/json, text/plain, */*": V1,
}
SYMBOLS = [f"SYMBOL_{number}" for number in range(2000)]


def lines(server: Running) -> list[dict[str, object]]:
    return [json.loads(line) for line in server.said.read_text().splitlines() if line.startswith("{")]


def test_one_line_for_each_request_as_json(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "memory:", "--log-format", "json", "--access-log") as server:
        post(server, "s", '"string"')
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for _ in range(3):
            connection.request("GET", "/schemas/ids/1?subject=s", headers={"X-Request-ID": "mine"})
            answer = connection.getresponse()
            assert (answer.read()[:1], answer.headers["x-request-id"]) == (b"{", "mine")
        connection.close()
        eventually("all are written", lambda: sum(one.get("request") == "mine" for one in lines(server)) == 3)
        (posted,) = [one for one in lines(server) if one.get("method") == "POST"]
        assert (posted["route"], posted["path"], posted["status"], posted["sequence"]) == (
            "/subjects/{}/versions",
            "/subjects/s/versions",
            200,
            1,
        )
        assert len(str(posted["request"])) == 36
        assert posted["logger"] == "treaty.access"


def test_lines_as_text(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "memory:", "--access-log") as server:
        server.get("/subjects?deleted=true")
        eventually("it is written", lambda: "GET /subjects 200" in server.said.read_text())
        line = next(line for line in server.said.read_text().splitlines() if "GET /subjects" in line)
        assert "GET /subjects 200 " in line
        assert " by - at 0 (request " in line


def test_status_says_what_there_is(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/r.db", "--workers", "2") as server:
        post(server, "s", '"string"')
        post(server, "s", '["null", "string"]')
        post(server, ":.x:t", '"string"')
        told = server.get("/status")
        node = told["node"]
        assert (told["server"]["version"], told["server"]["apiLevel"]) == (VERSION, "8.2.0")
        assert (node["kind"], len(node["identity"]) > 8, node["behind"]) == ("sqlite", True, 0)
        assert (node["quarantined"], node["quarantine"], node["state_file_age"]) == (0, [], None)

        def both_told() -> bool:
            shown = server.get("/status")
            seen = [one["sequence"] for one in shown["workers"].values()]
            kept = {"subjects": 2, "versions": 3, "schemas": 3, "contexts": 2}
            return seen == [3.0, 3.0] and shown["node"]["kept"] == kept

        eventually("both workers stand at the end of the log", both_told)
        page = server.text("/metrics")
        assert 'treaty_versions{worker="0"} 3.0' in page
        assert 'treaty_unreadable_rows{worker="1"} 0.0' in page
        assert "\ntreaty_commands_forwarded_total 0.0" in page, "what a node counts is one total of all workers"
        assert not re.search(r"^treaty_node_", page, re.MULTILINE)


@pytest.mark.parametrize("workers", [1, 2])
def test_it_drains(tmp_path: Path, workers: int) -> None:
    """Requests in flight are answered on SIGTERM, idle connections are closed, and new ones are refused."""
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/r.db", "--workers", str(workers)) as server:
        body = b'{"schema":"\\"string\\""}'
        head = b"POST /subjects/s%d/versions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        flying = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(8)]
        for number, connection in enumerate(flying):
            connection.sendall(head % (number, len(body)) + body[:5])
        idle = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        idle.request("GET", "/healthz")
        assert idle.getresponse().read() == b'{"status":"ok"}'

        def all_begun() -> bool:
            told = [one["inFlight"] or 0.0 for one in server.get("/status")["workers"].values()]
            return sum(told) >= len(flying)

        eventually("all requests are in flight", all_begun)
        server.process.send_signal(signal.SIGTERM)
        assert idle.sock.recv(65_536) == b""
        eventually("it stops listening", lambda: not _listens(server.port))
        for connection in flying:
            connection.sendall(body[5:])
        for connection in flying:
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
            connection.close()
        idle.close()
        assert server.process.wait(60) == 0


def ask(connection: http.client.HTTPConnection, headers: dict[str, str]) -> tuple[int, str, str, bytes]:
    connection.request("GET", "/schemas/ids/1?subject=orders-value", headers=headers)
    answer = connection.getresponse()
    data = answer.read()
    packed = answer.headers.get("content-encoding", "")
    return answer.status, answer.headers["content-type"], packed, gzip.decompress(data) if packed else data


def test_hot_reads_for_every_kind_of_client_with_rights_over_several_workers(tmp_path: Path) -> None:
    write_passwords(tmp_path / "passwords", root="secret", reader="secret", nobody="secret")
    (tmp_path / "rights.toml").write_text(RIGHTS)
    options = ("--log", f"sqlite://{tmp_path}/r.db", "--workers", "2", "--auth", str(tmp_path / "rights.toml"))
    with serving(tmp_path, *options) as server:
        text = json.dumps({"type": "enum", "name": "E", "symbols": SYMBOLS})
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", "/subjects/orders-value/versions", json.dumps({"schema": text}), {**basic("root")})
        assert connection.getresponse().read()
        connections = [http.client.HTTPConnection("127.0.0.1", server.port, timeout=60) for _ in range(8)]
        for turn in range(3):
            for accept, media in ACCEPTS.items():
                for encoding in ("identity", "gzip, deflate"):
                    for connected in connections:
                        sent = {"Accept": accept, "Accept-Encoding": encoding}
                        status, kind, packed, body = ask(connected, {**sent, **basic("reader")})
                        where = (turn, accept, encoding, status)
                        assert (status, kind, packed) == (200, media, "gzip" if "gzip" in encoding else ""), where
                        assert json.loads(body)["schema"].count("SYMBOL_") == len(SYMBOLS)
                    assert ask(connected, {**sent, **basic("nobody")})[0] == 403, where
                    assert ask(connected, {**sent, **basic("reader", "wrong")})[0] == 401, where
                    assert ask(connected, sent)[0] == 401, where

        def all_told() -> bool:  # the other worker tells its hits once a second
            connection.request("GET", "/metrics", headers=basic("root"))
            page = connection.getresponse().read().decode()
            hits = float(page.partition("\ntreaty_response_cache_hits_total ")[2].split()[0])
            return hits >= len(ACCEPTS) * 2 * len(connections) * 2

        eventually("from the second turn on all come from memory", all_told)
        for one in (connection, *connections):
            one.close()
