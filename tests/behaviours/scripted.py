"""A real HTTP server on loopback that answers by a script: one step for each request, in order.

It is a server of another kind: it has no native API, and says so by itself. What it is asked there is counted aside.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from treaty.wire.native import PATH


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with this status, body and headers. `body` is JSON unless it is bytes."""

    status: int
    body: Any = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Hang:
    """Cut the connection without an answer, after reading the request."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived; names of headers in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    peer: int
    """Port of the client: one for each connection."""


@dataclass(slots=True)
class Script:
    """The steps to come and the requests seen; the last step repeats for ever."""

    steps: list[Say | Hang | Callable[[Seen], Say | Hang]]
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    native: bool = False
    """Whether requests at the path of Treaty's native API are steps of the script as well."""
    refused: list[Seen] = field(default_factory=list)
    """Requests at that path otherwise."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def step(self, seen: Seen) -> Say | Hang:
        with self.lock:
            if not self.native and seen.target.endswith(PATH):
                self.refused.append(seen)
                return Say(404, b"<html>nothing here</html>")
            self.seen.append(seen)
            step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        return step(seen) if callable(step) else step


@contextmanager
def scripted(*steps: Say | Hang | Callable[[Seen], Say | Hang], native: bool = False) -> Iterator[Script]:
    """Serve a script on a free port of loopback for the time of the block."""
    script = Script(list(steps), native=native)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            step = script.step(Seen(self.command, self.path, headers, body, self.client_address[1]))
            self.close_connection = isinstance(step, Hang)
            if isinstance(step, Hang):
                return
            content = step.body if isinstance(step.body, bytes) else json.dumps(step.body).encode()
            self.send_response(step.status)
            for name, value in step.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 (the names it asks for)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name it has there)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
