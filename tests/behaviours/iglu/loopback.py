"""Iglu registries over HTTP on loopback: a server whose answers are bytes, and that may hang, stop half-way or send slowly."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Reply = Callable[[socket.socket], None]
"""What is done with a connection after a request was read from it."""


def respond(status: int, body: bytes = b"", *headers: str) -> Reply:
    """Answer with a status, headers and a body."""
    lines = [f"HTTP/1.1 {status} Any", f"Content-Length: {len(body)}", *headers, "", ""]
    content = "\r\n".join(lines).encode() + body
    return lambda connection: connection.sendall(content)


def send_half(body: bytes) -> Reply:
    """Promise twice as many bytes as are sent, and close."""
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {2 * len(body)}\r\n\r\n".encode()

    def reply(connection: socket.socket) -> None:
        connection.sendall(head + body)
        connection.shutdown(socket.SHUT_RDWR)

    return reply


def hang(connection: socket.socket) -> None:
    """Send nothing until the client gives up."""
    connection.recv(1)


def drip(content: bytes) -> Reply:
    """Send a byte every 20 ms, until the client gives up."""

    def reply(connection: socket.socket) -> None:
        for byte in content:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)

    return reply


@dataclass
class LoopbackRegistry:
    """A server with a reply for each path; other paths are answered by 404."""

    replies: dict[str, Reply] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0
    delay: float = 0.0
    tls: ssl.SSLContext | None = None

    @property
    def base(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    def serve(self, connection: socket.socket) -> None:
        try:
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as file:
                while line := file.readline():
                    headers = {}
                    while (head := file.readline().strip()) != b"":
                        name, _, value = head.decode().partition(":")
                        headers[name.lower()] = value.strip()
                    path = line.split()[1].decode()
                    self.requests.append((path, headers))
                    time.sleep(self.delay)
                    self.replies.get(path, respond(404))(connection)
        except (OSError, IndexError, ValueError):  # the client gave up, or speaks TLS
            return


@contextmanager
def run_registry(
    replies: dict[str, Reply] | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[LoopbackRegistry]:
    """Run a server with replies by path, over TLS if a context is given."""
    registry = LoopbackRegistry(replies or {}, tls=tls)
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        registry.port = listener.getsockname()[1]

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                thread = threading.Thread(target=registry.serve, args=(connection,), daemon=True)
                thread.start()
                threads.append(thread)

        acceptor = threading.Thread(target=accept, daemon=True)
        acceptor.start()
        try:
            yield registry
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join(5)
            for thread in threads:
                thread.join(5)
