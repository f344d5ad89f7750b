"""Requests served, and the longest turn of the event loop, while hostile clients are at work, beside the quiet server.

The server is the real one with passwords and 10,000 subjects, on a loop of asyncio whose selector notes the time. Clients that behave
read by id, read the latest version, look up and register, on eight connections; one more logs in with a password that the server has
not seen, as often as it can. Hostile clients come from other addresses of this machine, in a process of their own. A turn is CPU of
the loop's thread; requests for each second also depend on what else the machine does, and hostile clients take their share of it.
"""

import argparse
import asyncio
import base64
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.abusers import ABUSERS, AUTHORIZATION
from benchmarks.http import posted
from benchmarks.loop import TimingSelector, board_of
from benchmarks.register import schema
from benchmarks.row import Row
from benchmarks.world import fill
from treaty.api.auth.passwords import password_line
from treaty.api.http_server import ListenerSettings
from treaty.api.protection import ProtectionSettings
from treaty.assemble.runtime import state_path
from treaty.assemble.server import serve

SUBJECTS = int(os.environ.get("TREATY_SUBJECTS", "10_000"))
SECONDS = float(os.environ.get("TREATY_SECONDS", "12"))
"""How long each kind of hostile clients is at work."""
REST_SECONDS = 3.0
"""Between two kinds."""
CONNECTIONS = 8
USERS = 2_000
"""Users who log in once each."""
COST = 10
"""Cost of passwords, the usual one."""
RIGHTS = """
[basic]
file = "passwords"
[[rule]]
who = "user:*"
may = "admin"
contexts = "*"
"""
GOAL = 20.0
"""Milliseconds that a turn may take."""


@dataclass
class Figures:
    """What came of one kind: requests answered with 200, how long each took, and logins, in so many seconds."""

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)
    failed: int = 0
    logins: int = 0
    logins_failed: int = 0
    turn: float = 0.0
    memory: float = 0.0

    @property
    def rate(self) -> float:
        """Requests answered for each second."""
        return len(self.waits) / self.seconds

    def waited(self, share: float) -> float:
        """Milliseconds that all but the slowest waited at most."""
        ordered = sorted(self.waits) or [float("nan")]
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


# ------------------------------------------------------------------------------------------------------- the server


@dataclass(frozen=True)
class WatchedServer:
    """A server whose turns are noted."""

    port: int
    pid: int
    board: Path

    def memory(self) -> float:
        """Megabytes of memory that it holds now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def run_server(folder: Path, port: int) -> None:
    """Serve what is in a folder."""
    log = f"sqlite://{folder}/registry.db"
    bound = socket.create_server(("127.0.0.1", port), backlog=2_048)
    listening = socket.socket(fileno=bound.detach())  # it says that it speaks TCP, so asyncio sends without delay
    protection = ProtectionSettings(folder / "rights.toml")
    with board_of(folder / "turns") as board:
        loop = lambda: asyncio.SelectorEventLoop(TimingSelector(board))  # noqa: E731 (a factory of loops)
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(serve(log, ListenerSettings(listening), protection=protection, state=state_path(log)))


@contextmanager
def watched_server() -> Iterator[WatchedServer]:
    """A server with subjects and users."""
    with tempfile.TemporaryDirectory(prefix="treaty-abuse-") as name:
        folder = Path(name)
        asyncio.run(fill(f"sqlite://{folder}/registry.db", SUBJECTS, versions=1))
        line = password_line("user", "secret", COST).partition(":")[2]
        passwords = folder / "passwords"
        passwords.touch(0o600)
        passwords.write_text("".join(f"{user}:{line}\n" for user in ("user", *(f"user{n}" for n in range(USERS)))))
        (folder / "rights.toml").write_text(RIGHTS)
        (folder / "turns").write_bytes(bytes(8))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        words = (sys.executable, "-m", "benchmarks.abuse", "serve", str(folder), str(port))
        with (folder / "server.txt").open("wb") as said:
            running = subprocess.Popen(words, stderr=said)
        try:
            server = WatchedServer(port, running.pid, folder / "turns")
            asyncio.run(_ready(server, running))
            yield server
        finally:
            running.terminate()
            running.wait()


async def _ready(server: WatchedServer, running: "subprocess.Popen[bytes]") -> None:
    for _ in range(3_000):
        try:
            if (await Client(server.port).ask("GET", "/readyz"))[0] == 200:
                return
        except OSError:
            assert running.poll() is None, "the server ended"
        await asyncio.sleep(0.1)
    raise RuntimeError("the server did not start")


# ------------------------------------------------------------------------------------------- clients that behave


@dataclass
class Client:
    """One connection of a client, opened again where it was closed."""

    port: int
    user: str = "user"
    source: str = "127.0.0.1"
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, target: str, body: bytes = b"") -> tuple[int, bytes]:
        """Return status and body; 0 where the connection was closed."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.source, 0))
        reader, writer = self.streams
        word = base64.b64encode(f"{self.user}:secret".encode()).decode()
        length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        writer.write(
            f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{AUTHORIZATION}{word}\r\n{length}\r\n".encode() + body
        )
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length: ")[2].split()[0])
            answer = await reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.close()
            return 0, b""
        if b"connection: close" in head.lower():
            self.close()
        return int(head.split(b" ", 2)[1]), answer

    def close(self) -> None:
        """Close the connection."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


FRESH = itertools.count(10_000_000)
NAMES = itertools.cycle(range(USERS))


async def behave(client: Client, subject: str, end: float, figures: Figures) -> None:
    """Read, look up and register, one after the other, until it is time."""
    text = json.loads((await client.ask("GET", f"/subjects/{subject}/versions/latest"))[1])["schema"]
    number = 0
    while time.monotonic() < end:
        number += 1
        wanted: list[tuple[str, str, bytes]] = [
            ("GET", "/schemas/ids/1", b""),
            ("GET", f"/subjects/{subject}/versions/latest", b""),
            ("GET", "/schemas/ids/2", b""),
            ("POST", f"/subjects/{subject}", json.dumps({"schema": text}).encode()),
        ]
        if number % 20 == 0:
            fresh = next(FRESH)
            body = posted("/", schema(fresh)).partition(b"\r\n\r\n")[2]
            wanted = [("POST", f"/subjects/fresh-{fresh}/versions", body)]
        for method, target, body in wanted:
            began = time.monotonic()
            status, _ = await client.ask(method, target, body)
            if status == 200:
                figures.waits.append(time.monotonic() - began)
            else:
                figures.failed += 1
                await asyncio.sleep(0.05)
    client.close()


async def log_in(port: int, end: float, figures: Figures) -> None:
    """Log in with a password that the server has not seen, again and again."""
    while time.monotonic() < end:
        client = Client(port, f"user{next(NAMES)}", "127.0.0.200")
        status, _ = await client.ask("GET", "/schemas/ids/1")
        client.close()
        if status == 200:
            figures.logins += 1
        else:
            figures.logins_failed += 1
        await asyncio.sleep(0.2)


async def measure(server: WatchedServer, subject: str) -> Figures:
    """Let clients that behave work for a while."""
    figures = Figures()
    with board_of(server.board) as board:
        board[:] = bytes(len(board))
        began = time.monotonic()
        end = began + SECONDS
        clients = [Client(server.port) for _ in range(CONNECTIONS)]
        work: list[Awaitable[None]] = [behave(client, subject, end, figures) for client in clients]
        await asyncio.gather(*work, log_in(server.port, end, figures))
        figures.seconds = time.monotonic() - began
        figures.turn = memoryview(board).cast("d")[0] * 1000
    figures.memory = server.memory()
    return figures


# ------------------------------------------------------------------------------------------------------ the table


def figures_of(server: WatchedServer, kinds: Iterable[str] = ABUSERS) -> Iterator[tuple[str, Figures]]:
    """The quiet server, then each kind of hostile clients."""
    subject: str = json.loads(asyncio.run(_asked(server, "/subjects?limit=1")))[0]
    asyncio.run(measure(server, subject))  # what is read for the first time is read now
    yield "quiet", asyncio.run(measure(server, subject))
    for kind in kinds:
        words = (sys.executable, "-m", "benchmarks.abusers", kind, str(server.port))
        abusers = subprocess.Popen(words)
        try:
            time.sleep(ABUSERS[kind].settle)
            yield kind, asyncio.run(measure(server, subject))
        finally:
            abusers.terminate()
            abusers.wait()
        time.sleep(REST_SECONDS)


async def _asked(server: WatchedServer, target: str) -> bytes:
    client = Client(server.port)
    status, answer = await client.ask("GET", target)
    assert status == 200, answer
    client.close()
    return answer


def table(by_kind: dict[str, Figures]) -> str:
    """The figures as Markdown, for the page on operating a server."""
    lines = [
        "| clients beside | requests served each second | waited, half and 99 of 100 | refused | new logins | longest turn | memory |"
    ]
    lines.append("|---|---|---|---|---|---|---|")
    for kind, figures in by_kind.items():
        waits = f"{figures.waited(0.5):.1f} / {figures.waited(0.99):.0f} ms"
        logins = f"{figures.logins} of {figures.logins + figures.logins_failed}"
        about = "none: quiet" if kind == "quiet" else ABUSERS[kind].about
        turn, memory = f"{figures.turn:.1f} ms", f"{figures.memory:.0f} MB"
        lines.append(f"| {about} | {figures.rate:.0f} | {waits} | {figures.failed} | {logins} | {turn} | {memory} |")
    return "\n".join(lines) + "\n"


def run(kinds: Iterable[str] = ABUSERS) -> list[Row]:
    """Rows for the results; the table goes to stderr."""
    with watched_server() as server:
        by_kind = {}
        for kind, figures in figures_of(server, kinds):
            by_kind[kind] = figures
            print(table({kind: figures}).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(by_kind), file=sys.stderr)
    rows = []
    for kind, figures in by_kind.items():
        rows.append(
            Row(
                f"{kind}: requests served",
                figures.rate,
                "per second",
                by_kind["quiet"].rate,
                figures.rate / by_kind["quiet"].rate,
            )
        )
        rows.append(Row(f"{kind}: longest turn of the loop", figures.turn, "ms CPU", goal=GOAL))
        logins = figures.logins + figures.logins_failed
        rows.append(
            Row(f"{kind}: new logins that came in", figures.logins / max(1, logins) * 100, "%", goal=100, rising=True)
        )
        rows.append(Row(f"{kind}: memory", figures.memory, "MB"))
    return rows


def main() -> None:
    """Print the table for some kinds of hostile clients or for all; ``serve`` is for the benchmark itself."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.abuse", description=__doc__)
    kinds = ", ".join(ABUSERS)
    parser.add_argument(
        "kind", nargs="*", help=f"hostile clients to measure beside the quiet server: {kinds} (default: all, 2 minutes)"
    )
    asked = parser.parse_args()
    unknown = sorted(set(asked.kind) - set(ABUSERS))
    if unknown:
        parser.error(f"no hostile clients are called {', '.join(unknown)}; there are {kinds}")
    run(asked.kind or ABUSERS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        run_server(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
