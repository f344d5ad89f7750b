"""Hot reads beside a bare protocol: CPU of the server process for each GET, exactly as Confluent's Python client asks.

The bare server is an `asyncio.Protocol` that parses the same bytes with httptools, looks the URL up in a dictionary and
writes the same answer; it has no headers to read, no timers, no metrics. Both run under uvloop, one after the other in
turns; the least of several rounds counts, because other programs share the machine.
"""

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import httptools
import uvloop

from benchmarks.row import Row, against

HEADERS = (
    "Host: 127.0.0.1:8081\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\n"
    "User-Agent: python-httpx2/2.16.2\r\nAccept: application/vnd.schemaregistry.v1+json, "
    "application/vnd.schemaregistry+json, application/json\r\nConfluent-Client-Version: python/2.16.0\r\n\r\n"
)
"""As recorded from confluent-kafka 2.16.0."""
TARGETS = {
    "GET /schemas/ids/1": "/schemas/ids/1",
    "GET /schemas/ids/1?subject=": "/schemas/ids/1?subject=flights-value",
}
CONNECTIONS = 16
REQUESTS = 48_000
ROUNDS = 3
GOAL = 1.15
FIELDS = [{"name": f"field_{n}", "type": ["null", "string"], "default": None, "doc": f"Field {n}"} for n in range(15)]
SCHEMA = json.dumps({"type": "record", "name": "Flight", "namespace": "org.example", "fields": FIELDS})


def run() -> list[Row]:
    """Measure all targets: microseconds of server CPU for one request, beside the bare server's."""
    with tempfile.TemporaryDirectory() as folder, treaty(Path(folder)) as (server, port):
        register(port)
        rows = []
        for name, target in TARGETS.items():
            request = f"GET {target} HTTP/1.1\r\n{HEADERS}".encode()
            answer = ask(port, request)
            ask(port, request)
            with bare(Path(folder), {target: answer}) as (rival, other):
                rounds = [(load(server, port, request), load(rival, other, request)) for _ in range(ROUNDS)]
            best, least = min(ours for ours, _ in rounds), min(theirs for _, theirs in rounds)
            rows.append(against(name, best, least, unit="us CPU", goal=GOAL))
        return rows


def main() -> None:
    """Print the figures."""
    for row in run():
        print(f"{row.name:<32} {row.value:6.2f} {row.unit}, bare protocol {row.baseline:6.2f}, ratio {row.ratio:.2f}")


# --------------------------------------------------------------------------------------------------------- servers


@contextmanager
def treaty(folder: Path) -> Iterator[tuple[int, int]]:
    """Run the real server over a fresh SQLite log; yields its process id and port."""
    command = ["-m", "treaty.cli.main", "serve", "--log", f"sqlite://{folder}/registry.db"]
    with _process(command) as found:
        yield found


@contextmanager
def bare(folder: Path, answers: dict[str, bytes]) -> Iterator[tuple[int, int]]:
    """Run the bare server with these answers; yields its process id and port."""
    file = folder / "answers.json"
    file.write_text(json.dumps({target: answer.decode("latin-1") for target, answer in answers.items()}))
    with _process(["-m", "benchmarks.hot_get", "bare", str(file)]) as found:
        yield found


@contextmanager
def _process(command: list[str]) -> Iterator[tuple[int, int]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, *command, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        _wait(port, process)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if process.poll() is not None:
                message = f"the server ended with {process.returncode}"
                raise RuntimeError(message) from None
            time.sleep(0.1)
        else:
            return
    message = "the server did not start"
    raise RuntimeError(message)


class Bare(asyncio.Protocol):
    """The least that can answer."""

    answers: dict[bytes, bytes]
    url: bytes

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast("asyncio.Transport", transport)
        self.parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        """Parse."""
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        """Keep the URL."""
        self.url = url

    def on_message_complete(self) -> None:
        """Answer."""
        self.transport.write(self.answers[self.url])


async def serve_bare(answers: dict[str, str], port: int) -> None:
    """Serve answers until the process is ended."""
    Bare.answers = {key.encode(): value.encode("latin-1") for key, value in answers.items()}
    server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", port)
    await server.serve_forever()


# ------------------------------------------------------------------------------------------------------------ load


def register(port: int) -> None:
    """Post the schema that is read afterwards."""
    body = json.dumps({"schema": SCHEMA})
    head = "POST /subjects/flights-value/versions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
    answer = ask(port, f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    assert answer.startswith(b"HTTP/1.1 200"), answer


def ask(port: int, request: bytes) -> bytes:
    """Send one request and read its answer."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65_536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(65_536)
        return head + b"\r\n\r\n" + body


def load(pid: int, port: int, request: bytes) -> float:
    """Send `REQUESTS` requests over `CONNECTIONS` connections; return the server's CPU in microseconds for each."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
    size = len(ask(port, request))
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    before = cpu(pid)
    for _ in range(REQUESTS // CONNECTIONS):
        for connection in connections:
            connection.sendall(request)
        for connection in connections:
            left = size
            while left:
                left -= len(connection.recv(left))
    spent = cpu(pid) - before
    for connection in connections:
        connection.close()
    return spent / REQUESTS * 1e6


def cpu(pid: int) -> float:
    """CPU seconds that all threads of a process have used."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


if __name__ == "__main__":
    if sys.argv[1:2] == ["bare"]:
        uvloop.run(serve_bare(json.loads(Path(sys.argv[2]).read_text()), int(sys.argv[4])))
    else:
        main()
