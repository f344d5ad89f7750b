"""A load program: requests over many connections from this process, CPU and memory of another one."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WAIT_SECONDS = 600
"""How long a server may take to start: with 100,000 subjects it reads them all first."""


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    pid: int
    port: int
    began: float
    """Seconds that it took until it answered."""

    def cpu(self) -> float:
        """CPU seconds that all its threads have used, as the operating system counts them."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def memory(self) -> float:
        """Megabytes of memory that it holds now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@contextmanager
def treaty(log: str, *options: str) -> Iterator[Server]:
    """Run the real server over a log."""
    with process("-m", "treaty.cli.main", "serve", "--log", log, *options) as server:
        yield server


@contextmanager
def process(*arguments: str) -> Iterator[Server]:
    """Run a program of Python that listens on ``--port`` while the block runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.monotonic()
    running = subprocess.Popen([sys.executable, *arguments, "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        _wait(port, running)
        yield Server(running.pid, port, time.monotonic() - began)
    finally:
        running.terminate()
        running.wait()


def _wait(port: int, running: "subprocess.Popen[bytes]") -> None:
    """Wait until it answers a request that needs its whole log, or any other."""
    for _ in range(WAIT_SECONDS * 10):
        try:
            answer = ask(port, request("GET", "/readyz"))
        except OSError:
            if running.poll() is not None:
                message = f"the server ended with {running.returncode}"
                raise RuntimeError(message) from None
        else:
            if not answer.startswith(b"HTTP/1.1 503"):
                return
        time.sleep(0.1)
    message = "the server did not start"
    raise RuntimeError(message)


def request(method: str, target: str, body: bytes = b"") -> bytes:
    """One request as a client of Confluent's sends it."""
    length = f"Content-Type: application/vnd.schemaregistry.v1+json\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n{length}\r\n".encode() + body


def ask(port: int, data: bytes) -> bytes:
    """Send one request over a connection of its own and read its answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as connection:
        connection.sendall(data)
        return read(connection)


def read(connection: socket.socket) -> bytes:
    """Read one answer."""
    data = b""
    while b"\r\n\r\n" not in data:
        got = connection.recv(262_144)
        if not got:
            message = "the server closed the connection"
            raise ConnectionResetError(message)
        data += got
    head, _, body = data.partition(b"\r\n\r\n")
    left = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]) - len(body)
    parts = [data]
    while left > 0:
        parts.append(connection.recv(262_144))
        left -= len(parts[-1])
    return b"".join(parts)


@contextmanager
def connected(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Connections to a server while the block runs."""
    sockets = [socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) for _ in range(count)]
    for connection in sockets:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    yield sockets
    for connection in sockets:
        connection.close()


def same(server: Server, data: bytes, *, count: int, connections: int) -> float:
    """Send one request many times; return the server's CPU microseconds for each."""
    size = len(ask(server.port, data))
    ask(server.port, data)
    with connected(server.port, connections) as sockets:
        for connection in sockets:
            connection.sendall(data)
            size = len(read(connection))
        before = server.cpu()
        for _ in range(count // connections):
            for connection in sockets:
                connection.sendall(data)
            for connection in sockets:
                left = size
                while left:
                    left -= len(connection.recv(left))
        return (server.cpu() - before) / (count // connections * connections) * 1e6


def different(server: Server, requests: Sequence[bytes], connections: int) -> tuple[float, float]:
    """Send requests once each, `connections` at a time; return the server's CPU and the wall milliseconds for each.

    Raises `RuntimeError` where one is not answered with 200 or 201.
    """
    with connected(server.port, connections) as sockets:
        before, began = server.cpu(), time.perf_counter()
        for start in range(0, len(requests), connections):
            some = requests[start : start + connections]
            for connection, data in zip(sockets, some, strict=False):
                connection.sendall(data)
            for connection, data in zip(sockets, some, strict=False):
                answer = read(connection)
                if not answer.startswith(b"HTTP/1.1 20"):
                    message = f"{data[:200]!r} was answered with {answer[:400]!r}"
                    raise RuntimeError(message)
        spent, took = server.cpu() - before, time.perf_counter() - began
    return spent / len(requests) * 1000, took / len(requests) * 1000
