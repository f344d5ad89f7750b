"""Pages over many schemas: CPU and bytes of the first page of each kind and of ten pages each, against few schemas.

Also searches, what pages and index cost the rest, and how fast the index was built. The log is that of `world`;
``TREATY_SCHEMAS`` takes another count. A server whose pages and search are switched off, and
that was asked for the same by its API, is the baseline of hot reads and of memory.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple
from urllib.parse import quote

from benchmarks.load import Server, ask, request, treaty
from benchmarks.million import COUNT
from benchmarks.row import Row, against
from benchmarks.search import list_searches
from benchmarks.world import VERSIONS, copy_world

FEW = 1_000
REPEATED = 40
TURNS = 5
ASKED = 20
"""Requests for each of the ten pages whose 99th percentile is looked at."""
READS = 2_000
STREAMS = 60
OFF = ("--no-pages", "--no-search")
INDEX_SECONDS = 1_800
SQL = "CREATE STREAM bench_{} (a BIGINT, b STRING) WITH (TOPIC='bench-{}', VALUE_FORMAT='AVRO');"


class SeenPages(NamedTuple):
    """Milliseconds of CPU and bytes of the first page of each kind, and the 99th percentile over requests for ten pages."""

    first: Mapping[str, tuple[float, int]]
    tail: float


def run() -> list[Row]:
    """Make two registries, and look at every kind of page over each."""
    with tempfile.TemporaryDirectory(prefix="treaty-pages-") as folder:
        many, few = Path(folder, "many.db"), Path(folder, "few.db")
        costs = copy_world(COUNT, many)
        copy_world(FEW, few)
        name = f"{COUNT:,} schemas"
        rows = [
            Row(f"{name}: index built, for each second of CPU", COUNT / costs["seconds"], "schemas", goal=10_000, rising=True),
            Row(f"{name}: bytes of the index for each", costs["bytes"] / COUNT, "B"),
            Row(f"{name}: building the index, memory at most", costs["megabytes"], "MB"),
            *list_searches(Path(f"{many}-state-index"), name),
        ]  # fmt: skip
        small, large = look_at(few), look_at(many)
        for kind, (cost, size) in large.first.items():
            beside = small.first[kind][0]
            rows.append(against(f"first page of {kind}, {name} against {FEW:,}, CPU", cost, beside, unit="ms"))
            rows.append(Row(f"first page of {kind}, CPU", cost, "ms", goal=10.0))
            rows.append(Row(f"first page of {kind}, bytes", size / 1000, "kB", goal=200.0))
        words = f"99th percentile of {10 * ASKED} requests for ten pages, {name} against {FEW:,}, CPU"
        rows.append(against(words, large.tail, small.tail, unit="ms", goal=3.0))
        return [*rows, *list_costs_beside(many)]


def addresses(subject: str) -> Mapping[str, str]:
    """Return an address of each kind of page by its name."""
    name = quote(subject, safe="")
    return {
        "home": "", "subjects": "subjects", "subjects of a format": "subjects?format=json", "a subject": f"subject?name={name}",
        "a schema": f"schema?subject={name}", "a comparison": f"compare?right={name}@2", "a graph": f"graph?subject={name}",
        "a form to try": f"try?subject={name}", "a deletion": f"delete?name={name}", "sources": "sources", "queries": "queries",
        "a source": "source?name=bench_1", "changes": "changes?days=7", "search by field": "search?q=field:*a_*", "search by word": "search?q=value",
        "search by two letters": "search?q=xy", "node": "node",
    }  # fmt: skip


TEN = (
    "home", "subjects", "a subject", "a schema", "a comparison", "a graph", "a deletion", "sources", "changes", "search by field",
)  # fmt: skip
"""The ten pages whose requests are looked at one after the other; those of a subject are asked for another one each time."""


def look_at(path: Path) -> SeenPages:
    """Look at every kind of page of a registry."""
    seen: dict[str, tuple[float, int]] = {}
    with treaty(f"sqlite://{path}", *OFF) as server:
        sql = " ".join(SQL.format(number, number) for number in range(STREAMS))
        answer = ask(server.port, request("POST", "/metastore/v1/statements", json.dumps({"sql": sql}).encode()))
        assert answer.startswith(b"HTTP/1.1 200"), answer[:500]
    with treaty(f"sqlite://{path}") as server:
        sequence = wait_for_index(server)
        subjects = list_names(server)
        for name, address in addresses(subjects[0]).items():
            first = ask(server.port, request("GET", f"/ui/{address}"))
            assert first.startswith(b"HTTP/1.1 200"), (name, first[:500], sequence)
            costs = []
            for _ in range(TURNS):
                before = server.cpu()
                for _ in range(REPEATED // TURNS):
                    ask(server.port, request("GET", f"/ui/{address}"))
                costs.append((server.cpu() - before) / (REPEATED // TURNS) * 1000)
            seen[name] = median(costs), len(body(first))
        return SeenPages(seen, find_tail(server, subjects))


def list_names(server: Server) -> list[str]:
    """Return the names of some subjects of a registry from all over it."""
    chance, names = random.Random(7), list[str]()
    for _ in range(ASKED):
        letters = "".join(chance.choices("abcdefghijklmnopqrst", k=2))
        answer = ask(server.port, request("GET", f"/subjects?limit=5&subjectPrefix={letters}"))
        names += [name for name in json.loads(body(answer)) if not name.startswith("bench_")]
    return names


def find_tail(server: Server, subjects: Sequence[str]) -> float:
    """Return the 99th percentile of the CPU of requests for ten pages, in milliseconds."""
    costs = []
    for number in range(ASKED):
        pages = addresses(subjects[number % len(subjects)])
        for name in TEN:
            before = server.cpu()
            ask(server.port, request("GET", f"/ui/{pages[name]}"))
            costs.append((server.cpu() - before) * 1000)
    return quantiles(costs, n=100)[-1]


def body(answer: bytes) -> bytes:
    """Return the body of an answer."""
    return answer.partition(b"\r\n\r\n")[2]


def wait_for_index(server: Server) -> int:
    """Wait until the index is built and the server rests; return the sequence that it is of."""
    began = time.monotonic()
    while time.monotonic() - began < INDEX_SECONDS:
        answer = ask(server.port, request("GET", "/treaty/v1/search?q=value"))
        if answer.startswith(b"HTTP/1.1 200"):
            return int(json.loads(body(answer))["sequence"])
        time.sleep(0.5)
    message = "the search index was not built"
    raise RuntimeError(message)


def list_costs_beside(path: Path) -> Iterator[Row]:
    """Read schemas hot, and look at memory, with pages and index and without, in turns."""
    costs: dict[bool, list[float]] = {True: [], False: []}
    with treaty(f"sqlite://{path}") as on, treaty(f"sqlite://{path}", *OFF) as off:
        wait_for_index(on)
        subjects = list_names(on)
        for address in addresses(subjects[0]).values():
            ask(on.port, request("GET", f"/ui/{address}"))
        for address in list_api_addresses(list_names(off)[0], COUNT):
            ask(off.port, request("GET", address))
        for turn in range(2 * TURNS):
            server = (on, off)[turn % 2]
            costs[server is on].append(read_hot(server))
        with_pages, without = list_sizes(on.pid), list_sizes(off.pid)
    name = "hot read with pages and index, against without, CPU"
    yield against(name, median(costs[True]), median(costs[False]), unit="us", goal=1.15)
    for words, size in with_pages.items():
        name = f"memory {words} with pages and index, {COUNT:,} schemas, against without"
        yield against(name, size, without[words], unit="MB", goal=1.3 if words in LIMITED_MEMORY else None)


def list_api_addresses(subject: str, highest_id: int) -> list[str]:
    """Return addresses of the API that read what the pages of `addresses` read: what a server maps of its state file depends on that."""
    name = quote(subject, safe="")
    versions = [f"/subjects/{name}/versions/{number}" for number in range(1, VERSIONS + 1)]
    latest = [f"/schemas/ids/{highest_id - number}/versions" for number in range(REPEATED)]
    return ["/schemas?latestOnly=true&limit=200", *versions, *latest]


LIMITED_MEMORY = ("of its own", "in all")
"""The kinds of memory that have a goal."""


def list_sizes(pid: int) -> Mapping[str, float]:
    """Return the megabytes of a process: of its own, in pages of files, which the system takes back at will, and in all."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in text.splitlines()[1:]}
    return {
        "of its own": sizes["Anonymous"],
        "in pages of files": sizes["Rss"] - sizes["Anonymous"],
        "in all": sizes["Rss"],
    }


def read_hot(server: Server) -> float:
    """Return microseconds of CPU for the read of a schema by its id."""
    chance, before = random.Random(7), server.cpu()
    for _ in range(READS):
        ask(server.port, request("GET", f"/schemas/ids/{chance.randint(1, 200)}"))
    return (server.cpu() - before) / READS * 1_000_000
