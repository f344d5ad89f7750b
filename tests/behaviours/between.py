"""A stretch of network before a server, on loopback, that can be cut, hang, and lose answers."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

Way = Literal["pass", "hang", "deaf"]
"""Pass everything on; take requests and never answer; pass requests on, wait for the answer, and lose it."""


@dataclass
class Between:
    """A relay of connections. `way` may be changed while it runs; it counts for chunks that come later."""

    port: int
    way: Way = "pass"
    connections: int = 0
    lost: int = 0
    """Answers that were lost."""
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    open: list[socket.socket] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.open.append(near)
            threading.Thread(target=self.relay, args=(near,), daemon=True).start()

    def relay(self, near: socket.socket) -> None:
        """One connection: each chunk of a request is passed on, and what comes back within it."""
        with contextlib.suppress(OSError), near, socket.create_connection(("127.0.0.1", self.port)) as far:
            self.open.append(far)
            back = threading.Thread(target=self.answers, args=(far, near), daemon=True)
            back.start()
            while chunk := near.recv(65536):
                if self.way != "hang":
                    far.sendall(chunk)
            far.shutdown(socket.SHUT_WR)
            back.join()

    def answers(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while chunk := far.recv(65536):
                if self.way == "deaf":
                    self.lost += 1
                    break
                near.sendall(chunk)
            near.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        """Refuse connections from now on, and end those there are."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)  # a thread that accepts would keep it open
        self.listener.close()
        self.drop()

    def drop(self) -> None:
        """End the connections that there are."""
        for each in list(self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def between(url: str) -> Iterator[Between]:
    """Relay to a server while the block runs."""
    made = Between(urlsplit(url).port or 80)
    thread = threading.Thread(target=made.accept)
    thread.start()
    try:
        yield made
    finally:
        made.cut()
        thread.join()
