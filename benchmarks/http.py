"""The server over HTTP, side by side with others and with itself: CPU of the server process for each request.

Hot reads are asked exactly as Confluent's Python client asks, beside a bare protocol and a plain Starlette application.
Registration, lookup and checks are measured on a server with many subjects beside one with 100, in turns. Each subject
has one schema of 15 fields of its own. Servers are filled by a node in this process, 256 registrations at a time, before
they start. What is looked up and checked is of the same 100 subjects in both, so that both have read it before; what a
schema costs that was not read before is a line of its own. The least of several rounds counts, because other programs share the machine.
"""

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.load import Server, ask, different, request, same, treaty
from benchmarks.register import schema, texts
from benchmarks.rivals import rival
from benchmarks.row import Row, against
from treaty.assemble import open_node
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft

HEADERS = (
    "Host: 127.0.0.1:8081\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\n"
    "User-Agent: python-httpx2/2.16.2\r\nAccept: application/vnd.schemaregistry.v1+json, "
    "application/vnd.schemaregistry+json, application/json\r\nConfluent-Client-Version: python/2.16.0\r\n\r\n"
)
"""As recorded from confluent-kafka 2.16.0."""
TARGETS = ("/schemas/ids/1", "/schemas/ids/1?subject=flights-value")
HOT_REQUESTS = 48_000
HOT_ROUNDS = 3
HOT_GOAL = 1.15

FEW = 100
MANY = 10_000
AT_ONCE = 256
CONNECTIONS = 16
CLIENTS = 64
ROUND = 160
ROUNDS = 5
FLAT = 1.1
FRESH = 10_000_000
"""The first number of a schema that nobody has."""


def run() -> list[Row]:
    """Hot reads, and 10,000 subjects against 100."""
    return [*hot(), *scale(MANY)]


# ------------------------------------------------------------------------------------------------------- hot reads


def hot() -> list[Row]:
    """Microseconds of server CPU for one hot read, beside the rivals'."""
    rows = []
    with tempfile.TemporaryDirectory() as name, treaty(f"sqlite://{name}/registry.db") as server:
        folder = Path(name)
        ask(server.port, posted("/subjects/flights-value/versions", schema(0)))
        questions = {target: f"GET {target} HTTP/1.1\r\n{HEADERS}".encode() for target in TARGETS}
        answers = {target: warm(server, data) for target, data in questions.items()}
        with rival("bare", folder, answers) as bare, rival("starlette", folder, answers) as starlette:
            for target, data in questions.items():
                rounds = [[_hot(server_of, data) for server_of in (server, bare, starlette)] for _ in range(HOT_ROUNDS)]
                ours, least, plain = (min(each) for each in zip(*rounds, strict=True))
                rows.append(
                    against(f"GET {target}, against a bare protocol", ours, least, unit="us CPU", goal=HOT_GOAL)
                )
                rows.append(against(f"GET {target}, against plain Starlette", ours, plain, unit="us CPU"))
    return rows


def warm(server: Server, data: bytes) -> bytes:
    """Ask twice: the first answer is made, the second comes from memory, as all others will."""
    ask(server.port, data)
    return ask(server.port, data)


def _hot(server: Server, data: bytes) -> float:
    return same(server, data, count=HOT_REQUESTS, connections=CONNECTIONS)


def posted(target: str, text: str) -> bytes:
    """A request with a schema in its body."""
    return request("POST", target, json.dumps({"schema": text}).encode())


# ----------------------------------------------------------------------------------------------------------- scale


def fill(log: str, subjects: int) -> None:
    """Fill a log with subjects that have one schema each, as many registrations at a time as one append takes."""

    async def work() -> None:
        async with open_node(log) as node:
            pairs = texts(0, subjects)
            for start in range(0, subjects, AT_ONCE):
                some = pairs[start : start + AT_ONCE]
                await asyncio.gather(*(node.ask(Register(subject_of(name), Draft(text))) for name, text in some))

    began = time.monotonic()
    asyncio.run(work())
    print(f"   {subjects} subjects filled in {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)


@contextmanager
def filled(subjects: int) -> Iterator[Server]:
    """A server with that many subjects."""
    with tempfile.TemporaryDirectory() as folder:
        log = f"sqlite://{folder}/registry.db"
        fill(log, subjects)
        with treaty(log) as server:
            yield server


Make = Callable[[int, int], bytes]
"""A request by the number of a subject that is there, and a number that nobody has."""


def registration(_there: int, fresh: int) -> bytes:
    """A new subject with a new schema."""
    return posted(f"/subjects/events-{fresh}-value/versions", schema(fresh))


def evolution(there: int, fresh: int) -> bytes:
    """A new version of a subject that is there."""
    return posted(f"/subjects/events-{there}-value/versions", evolved(there, fresh))


def lookup(there: int, _fresh: int) -> bytes:
    """The version that a schema is."""
    return posted(f"/subjects/events-{there}-value", schema(there))


def check(there: int, fresh: int) -> bytes:
    """Would a new version be taken?"""
    return posted(f"/compatibility/subjects/events-{there}-value/versions/latest", evolved(there, fresh))


def latest(there: int, _fresh: int) -> bytes:
    """The latest version of a subject."""
    return request("GET", f"/subjects/events-{there}-value/versions/latest")


def evolved(there: int, fresh: int) -> str:
    """A subject's schema with one more field."""
    stored = json.loads(schema(there))
    stored["fields"].append({"name": f"more_{fresh}", "type": ["null", "string"], "default": None})
    return json.dumps(stored)


KINDS: dict[str, Make] = {
    "register a new subject": registration,
    "look a schema up": lookup,
    "check compatibility": check,
    "latest version": latest,
    "register a new version": evolution,
}
"""What is measured, in this order: the last one changes what the others find."""


def scale(many: int) -> list[Row]:
    """A server with many subjects beside one with few, in turns; then 64 clients, and lists, on the large one."""
    rows: list[Row] = []
    with filled(FEW) as small, filled(many) as large:
        for name, make in KINDS.items():
            rounds = []
            for turn in range(ROUNDS):
                first = FRESH + len(rows) * 1_000_000 + turn * ROUND
                rounds.append((_round(small, FEW, first, make), _round(large, FEW, first, make)))
            few, much = (min(each) for each in zip(*rounds, strict=True))
            rows.append(against(f"{name}, {many:,} subjects against {FEW}", much, few, unit="ms CPU", goal=FLAT))
        cold = min(_round(large, many, turn, lookup) for turn in range(ROUNDS))
        rows.append(Row(f"look up any schema of {many:,} subjects", cold, "ms CPU"))
        pages = [(_page(small), _page(large)) for _ in range(ROUNDS)]
        few, much = (min(each) for each in zip(*pages, strict=True))
        rows.append(against(f"100 subjects of {many:,}, against of {FEW}", much, few, unit="ms CPU", goal=FLAT))
        rows += [*together(large, many), *lists(large, many)]
    return rows


def _round(server: Server, subjects: int, first: int, make: Make) -> float:
    draw = random.Random(first)
    requests = [make(draw.randrange(subjects), first + number) for number in range(ROUND)]
    return different(server, requests, CONNECTIONS)[0]


def _page(server: Server) -> float:
    return different(server, [request("GET", "/subjects?limit=100&offset=0")] * ROUND, CONNECTIONS)[0]


def together(server: Server, many: int) -> list[Row]:
    """64 clients that register at once, each answer durable before it is given."""
    figures = []
    for turn in range(ROUNDS):
        first = FRESH + 50_000_000 + turn * 10 * CLIENTS
        figures.append(different(server, [registration(0, first + n) for n in range(10 * CLIENTS)], CLIENTS))
    cpu, wall = (min(each) for each in zip(*figures, strict=True))
    name = f"{CLIENTS} clients register at once on SQLite, {many:,} subjects"
    return [Row(name, cpu, "ms CPU"), Row(f"{name}: registrations", 1000 / wall, "per second")]


def lists(server: Server, many: int) -> list[Row]:
    """All names at once; and what the server takes for so many."""
    figures = [different(server, [request("GET", "/subjects")] * 4, 1) for _ in range(ROUNDS)]
    cpu, wall = (min(each) for each in zip(*figures, strict=True))
    return [
        Row(f"list all of {many:,} subjects", cpu, "ms CPU"),
        Row(f"list all of {many:,} subjects: waited", wall, "ms"),
        Row(f"server with {many:,} subjects: memory", server.memory(), "MB"),
        Row(f"server with {many:,} subjects: start", server.began, "s"),
    ]


if __name__ == "__main__":
    for row in scale(int(sys.argv[1])) if len(sys.argv) > 1 else run():
        print(f"{row.name:<60} {row.value:10.3f} {row.unit} {row.baseline or 0:10.3f} {row.ratio or 0:6.2f}")
