"""The longest turn of a server's event loop: CPU of its thread between two looks at its sockets, while it answers one request.

Nobody else is answered meanwhile, so this is what one client can cost all others. Every route of the server is asked, with 100,000
subjects; then pairs of schemas that are made to cost much are registered and compared, and harmless ones between them, which must
be accepted. The server is the real one, on a loop of asyncio whose selector notes the time.
"""

import asyncio
import base64
import json
import mmap
import os
import random
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hostile import CostlyPair, costly_pairs, harmless_pairs
from benchmarks.load import request
from benchmarks.row import Row
from benchmarks.world import fill
from treaty.api.confluent.routes import TABLE
from treaty.api.http_server import ListenerSettings
from treaty.assemble.runtime import state_path
from treaty.assemble.server import serve
from treaty.core.limits import OPAQUE_BYTES

SUBJECTS = int(os.environ.get("TREATY_SUBJECTS", "100_000"))
GOAL = 20.0
"""Milliseconds that a turn may take."""
ROUNDS = 3
"""Times that a route is asked: the first answer may have read what was never read before, and that counts too."""
SLOW_SECONDS = 5.0
"""A route that took longer is not asked again."""
WAIT_SECONDS = 120
FULL = json.dumps({"compatibility": "FULL"}).encode()
_TURN = struct.Struct("d")


class TimingSelector(selectors.DefaultSelector):
    """Notes the longest turn between two looks, in a file that another process reads and sets back."""

    def __init__(self, board: mmap.mmap) -> None:
        """Note nothing before the first look."""
        super().__init__()
        self._board = board
        self._began = time.thread_time()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Look at the sockets."""
        turn = time.thread_time() - self._began
        if turn > _TURN.unpack_from(self._board)[0]:
            _TURN.pack_into(self._board, 0, turn)
        events = super().select(timeout)
        self._began = time.thread_time()
        return events


@contextmanager
def board_of(path: Path) -> Iterator[mmap.mmap]:
    """A file of one number."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), _TURN.size) as board:
        yield board


def run_server(log: str, port: int, path: Path) -> None:
    """Serve a log on a loop that notes its turns."""
    listening = socket.create_server(("127.0.0.1", port))
    with board_of(path) as board:
        loop = lambda: asyncio.SelectorEventLoop(TimingSelector(board))  # noqa: E731 (a factory of loops)
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(serve(log, ListenerSettings(listening), state=state_path(log)))


@dataclass(frozen=True, slots=True)
class TimedServer:
    """A server whose turns are noted."""

    port: int
    board: mmap.mmap

    def ask(self, method: str, target: str, body: bytes = b"") -> tuple[int, float, float]:
        """Return the status of an answer, the milliseconds of the longest turn until it was there, and the seconds it took."""
        _TURN.pack_into(self.board, 0, 0.0)
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_SECONDS) as connection:
            connection.sendall(request(method, target, body).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            first = connection.recv(262_144)
            while connection.recv(262_144):
                pass
        took = time.monotonic() - began
        turn: float = _TURN.unpack_from(self.board)[0]
        return int(first.split(b" ", 2)[1]), turn * 1000, took

    def post(self, target: str, pair: CostlyPair, text: str) -> tuple[int, float, float]:
        """The same for a text in a body."""
        return self.ask("POST", target, json.dumps({"schema": text, "schemaType": pair.format}).encode())


@contextmanager
def timed_server(subjects: int) -> Iterator[TimedServer]:
    """A server with so many subjects."""
    with tempfile.TemporaryDirectory(prefix="treaty-loop-") as folder:
        log, path = f"sqlite://{folder}/registry.db", Path(folder, "turns")
        path.write_bytes(_TURN.pack(0.0))
        asyncio.run(fill(log, subjects, versions=1))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        words = (sys.executable, "-m", "benchmarks.loop", log, str(port), str(path))
        running = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        try:
            with board_of(path) as board:
                server = TimedServer(port, board)
                _wait(server, running)
                yield server
        finally:
            running.terminate()
            running.wait()


def _wait(server: TimedServer, running: "subprocess.Popen[bytes]") -> None:
    for _ in range(6_000):
        try:
            if server.ask("GET", "/readyz")[0] == 200:
                return
        except OSError:
            assert running.poll() is None, "the server ended"
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


# ------------------------------------------------------------------------------------------------------------- routes


ROUTE_REQUESTS: tuple[tuple[str, str, str, bytes], ...] = (
    ("/schemas/ids/{}", "GET", "/schemas/ids/7?fetchMaxId=true", b""),
    ("/schemas/ids/{}/schema", "GET", "/schemas/ids/9/schema", b""),
    ("/schemas/ids/{}/subjects", "GET", "/schemas/ids/7/subjects", b""),
    ("/schemas/ids/{}/versions", "GET", "/schemas/ids/7/versions", b""),
    ("/schemas/guids/{}", "GET", "/schemas/guids/GUID", b""),
    ("/schemas/guids/{}/ids", "GET", "/schemas/guids/GUID/ids", b""),
    ("/schemas/types", "GET", "/schemas/types", b""),
    ("/subjects/{}", "POST", "/subjects/SUBJECT", b"DRAFT"),
    ("/subjects/{}/versions", "GET", "/subjects/SUBJECT/versions", b""),
    ("/subjects/{}/versions", "POST", "/subjects/SUBJECT/versions", b"OTHER"),
    ("/subjects/{}/metadata", "GET", "/subjects/SUBJECT/metadata?key=a&value=b", b""),
    ("/subjects/{}/versions/{}", "GET", "/subjects/SUBJECT/versions/latest", b""),
    ("/subjects/{}/versions/{}/tags", "POST", "/subjects/SUBJECT/versions/1/tags", b'{"newVersion":9}'),
    ("/subjects/{}/versions/{}/schema", "GET", "/subjects/SUBJECT/versions/1/schema", b""),
    ("/subjects/{}/versions/{}/referencedby", "GET", "/subjects/SUBJECT/versions/1/referencedby", b""),
    ("/compatibility/subjects/{}/versions", "POST", "/compatibility/subjects/SUBJECT/versions", b"DRAFT"),
    ("/compatibility/subjects/{}/versions/{}", "POST", "/compatibility/subjects/SUBJECT/versions/latest", b"DRAFT"),
    ("/config", "GET", "/config", b""),
    ("/config", "PUT", "/config", b'{"compatibility":"FULL"}'),
    ("/config", "DELETE", "/config", b""),
    ("/config/{}", "PUT", "/config/SUBJECT", b'{"compatibility":"BACKWARD"}'),
    ("/config/{}", "GET", "/config/SUBJECT", b""),
    ("/config/{}", "DELETE", "/config/SUBJECT", b""),
    ("/mode", "GET", "/mode", b""),
    ("/mode", "PUT", "/mode", b'{"mode":"READWRITE"}'),
    ("/mode", "DELETE", "/mode", b""),
    ("/mode/{}", "PUT", "/mode/SUBJECT", b'{"mode":"READWRITE"}'),
    ("/mode/{}", "GET", "/mode/SUBJECT", b""),
    ("/mode/{}", "DELETE", "/mode/SUBJECT", b""),
    ("/contexts", "GET", "/contexts", b""),
    ("/treaty/contexts/{}", "PUT", "/treaty/contexts/.more", b""),
    ("/contexts/{}", "DELETE", "/contexts/.more", b""),
    ("/associations", "POST", "/associations", b"LINK"),
    ("/associations/subjects/{}", "GET", "/associations/subjects/SUBJECT", b""),
    ("/associations/resources/{}", "GET", "/associations/resources/r1", b""),
    ("/associations/resources/{}/{}", "GET", "/associations/resources/n/t", b""),
    ("/associations/resources/{}", "PUT", "/associations/resources/r1", b"LINK"),
    ("/associations:batchGet", "POST", "/associations:batchGet", b'{"resources":[]}'),
    ("/associations:batchMutate", "POST", "/associations:batchMutate", b'{"requests":[]}'),
    ("/associations/resources/{}", "DELETE", "/associations/resources/r1", b""),
    ("/", "GET", "/", b""),
    ("/", "POST", "/", b"{}"),
    ("/v1/metadata/id", "GET", "/v1/metadata/id", b""),
    ("/v1/metadata/version", "GET", "/v1/metadata/version", b""),
    ("/v1/metadata/deployment", "GET", "/v1/metadata/deployment", b""),
    ("/treaty/settings", "GET", "/treaty/settings", b""),
    ("/treaty/outcome/{}", "GET", "/treaty/outcome/none", b""),
    ("/subjects/{}/versions/{}", "DELETE", "/subjects/SUBJECT/versions/2", b""),
    ("/subjects/{}", "DELETE", "/subjects/SUBJECT", b""),
    ("pages", "GET", "/status", b""),
    ("pages", "GET", "/metrics", b""),
    ("pages", "GET", "/docs", b""),
    ("pages", "GET", "/openapi.json", b""),
    ("ask", "POST", "/treaty/v1/ask", b'{"operation":"list-subjects","request":{}}'),
)
"""Requests of every route: its path, and method, target and body. Words in capitals stand for what is there."""
WHOLE_LISTS = (
    "/subjects", "/subjects?deleted=true", "/subjects?deletedOnly=true", "/subjects?subjectPrefix=z", "/subjects?offset=90000",
    "/schemas", "/schemas?latestOnly=true", "/schemas?subjectPrefix=:*:&offset=90000", "/schemas?ruleType=ENCRYPT",
    "/schemas?lifecycle=STRONG", "/schemas?deleted=true",
)  # fmt: skip


def route_requests(subject: str, guid: str, text: str) -> Iterator[tuple[str, str, str, bytes]]:
    """Requests of every route about a subject that is there; large lists in all their forms."""
    more = text.replace('"fields":[', '"fields":[{"name":"zz","type":"int","default":1},', 1)
    link = {
        "resourceName": "t",
        "resourceNamespace": "n",
        "resourceId": "r1",
        "resourceType": "topic",
        "associations": [{"subject": subject, "associationType": "value", "lifecycle": "WEAK"}],
    }
    bodies = {
        b"DRAFT": json.dumps({"schema": text}).encode(),
        b"OTHER": json.dumps({"schema": more}).encode(),
        b"LINK": json.dumps(link).encode(),
    }
    for target in WHOLE_LISTS:
        yield target.partition("?")[0], "GET", target, b""
    for path, method, target, body in ROUTE_REQUESTS:
        yield path, method, target.replace("SUBJECT", subject).replace("GUID", guid), bodies.get(body, body)


def routes(server: TimedServer) -> Iterator[Row]:
    """Ask all routes; yield the worst of each that takes more than a fifth of the goal, and the worst of all."""
    first = _body(server, "/schemas?limit=1")[0]
    asked: dict[str, float] = {}
    for path, method, target, body in route_requests(first["subject"], first.get("guid", ""), first["schema"]):
        for _ in range(ROUNDS if method == "GET" else 1):
            status, turn, took = server.ask(method, target, body)
            assert status in range(200, 500) or status == 503, f"{method} {target}: {status}"
            shown = target if path in {"/subjects", "/schemas", "pages", "ask"} else path
            asked[f"{method} {shown}"] = max(turn, asked.get(f"{method} {shown}", 0.0))
            if took > SLOW_SECONDS:
                break
    missing = {f"{m} {p}" for p, ms in TABLE.items() for m in ms if p not in {"/subjects", "/schemas"}} - asked.keys()
    assert not missing, f"no request asks {missing}"
    for name, turn in sorted(asked.items(), key=lambda entry: -entry[1]):
        if turn > GOAL / 5:
            yield Row(name, turn, "ms CPU", goal=GOAL)
    yield Row(
        f"the longest turn of {len(asked)} routes, {SUBJECTS:,} subjects", max(asked.values()), "ms CPU", goal=GOAL
    )


def _body(server: TimedServer, target: str) -> list[dict[str, str]]:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(request("GET", target).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        data = b"".join(iter(lambda: connection.recv(262_144), b""))
    rows: list[dict[str, str]] = json.loads(data.partition(b"\r\n\r\n")[2])
    return rows


# ----------------------------------------------------------------------------------------------------------- schemas


def schemas(server: TimedServer) -> Iterator[Row]:
    """Register and compare pairs that are made to cost much; then harmless ones, which must be accepted."""
    server.ask("PUT", "/config", FULL)
    turns: dict[str, float] = {}
    longest, refused, answered = 0.0, [], 0
    pairs = list(costly_pairs())
    for number, pair in enumerate([*pairs, *harmless_pairs()]):
        subject = f"/subjects/pair-{number}/versions"
        if pair.harmless:
            server.ask("PUT", f"/config/pair-{number}", b'{"compatibility":"BACKWARD"}')
        results = [
            server.post(subject, pair, pair.old),
            server.post(f"/compatibility{subject}/latest", pair, pair.new),
            server.post(subject, pair, pair.new),
        ]
        assert all(status not in {0, 500} for status, _, _ in results), f"{pair.name}: {results}"
        turns[pair.name] = max(turn for _, turn, _ in results)
        longest = max(longest, *(took for _, _, took in results))
        answered += sum(status != 503 for status, _, _ in results)
        if pair.harmless and any(status != 200 for status, _, _ in results):
            refused.append(f"{pair.name}: {[status for status, _, _ in results]}")
        print(
            f"   {pair.format} {pair.name}: {[(s, round(t, 1), round(w, 2)) for s, t, w in results]}", file=sys.stderr
        )
    for name in refused:
        print(f"   refused: {name}", file=sys.stderr)
    for name, turn in sorted(turns.items(), key=lambda entry: -entry[1])[:5]:
        yield Row(f"schemas: {name}", turn, "ms CPU", goal=GOAL)
    yield Row(f"the longest turn over {len(pairs)} costly pairs of schemas", max(turns.values()), "ms CPU", goal=GOAL)
    yield Row("the longest wait for an answer about one of these schemas", longest, "s", goal=30)
    yield Row("answers of those requests that were not 503", answered / len(turns) / 3 * 100, "%")
    yield Row("harmless schemas refused", float(len(refused)), "", goal=0)


# ---------------------------------------------------------------------------------------------------- opaque schemas


def opaque(server: TimedServer) -> Iterator[Row]:
    """Add the largest schemas without a format, and read them by every API: bytes that are no text, and a text to be escaped."""
    kind = {"serializationFormat": "Custom", "fullTypeName": "XML"}
    settings = {"serializationFormat": kind, "compatibility": {"policy": "AllowAny"}, "allowMultipleTypes": True}
    reply = server.ask("POST", "/v1/groups", json.dumps({"groupName": "large", "groupProperties": settings}).encode())
    assert reply[0] == 201, reply
    turns: dict[str, float] = {}
    for at, data in enumerate(
        (random.Random(8).randbytes(OPAQUE_BYTES), (b'say "a"\n, ' * OPAQUE_BYTES)[:OPAQUE_BYTES])
    ):
        sent = base64.b64encode(data).decode()
        body = json.dumps({"type": "T", "serializationFormat": kind, "schemaData": sent, "properties": {}}).encode()
        asked = (
            ("add", "POST", "/v1/groups/large/schemas", body),
            ("add again", "POST", "/v1/groups/large/schemas", body),
            ("find", "POST", "/v1/groups/large/schemas/versions/find", body),
            ("validate", "POST", "/v1/groups/large/schemas/versions/validate", b'{"schemaInfo":' + body + b"}"),
            ("read by Pravega's API", "GET", f"/v1/groups/large/schemas/schema/{at}", b""),
            ("list by Pravega's API", "GET", "/v1/groups/large/schemas", b""),
            ("read by Confluent's API", "GET", f"/subjects/large/versions/{at + 1}", b""),
            ("read by schema-repo's API", "GET", f"/schema-repo/large/id/{at}", b""),
            ("export", "POST", "/treaty/v1/ask", b'{"operation":"export-versions","request":{}}'),
        )
        for name, method, target, sent_body in asked:
            status, turn, took = server.ask(method, target, sent_body)
            print(f"   {name}: {status} {turn:.1f} ms CPU, {took:.2f} s", file=sys.stderr)
            assert status in {200, 201}, (name, status)
            turns[name] = max(turn, turns.get(name, 0.0))
    for name, turn in sorted(turns.items(), key=lambda entry: -entry[1]):
        yield Row(f"8 MiB without a format: {name}", turn, "ms CPU", goal=GOAL)


def run() -> list[Row]:
    """Routes with very many subjects, then schemas."""
    with timed_server(SUBJECTS) as server:
        return [*routes(server), *schemas(server), *opaque(server)]


if __name__ == "__main__":
    run_server(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
