"""Pages over many schemas: CPU and bytes of the first page of each kind, against few schemas; what pages and index cost the rest.

The log is that of `million`; ``TREATY_SCHEMAS`` takes another count. A server whose pages and search are switched off is the
baseline of hot reads and of memory.
"""

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from benchmarks.load import Server, ask, request, treaty
from benchmarks.million import COUNT, fill, memory, spent, wait_for
from benchmarks.row import Row, against

FEW = 1_000
REPEATED = 40
TURNS = 5
READS = 2_000
STREAMS = 60
OFF = ("--no-pages", "--no-search")
INDEX_SECONDS = 1_800
SQL = "CREATE STREAM bench_{} (a BIGINT, b STRING) WITH (TOPIC='bench-{}', VALUE_FORMAT='AVRO');"


def run() -> list[Row]:
    """Fill two logs, and look at every kind of page over each."""
    with tempfile.TemporaryDirectory(prefix="treaty-pages-") as folder:
        many, few = Path(folder, "many.db"), Path(folder, "few.db")
        for path, count in ((few, FEW), (many, COUNT)):
            asyncio.run(fill(f"sqlite://{path}", count))
            wait_for("log", "state", f"sqlite://{path}")
        small, _ = look_at(few)
        large, built = look_at(many)
        rows = [
            Row(
                f"index over {COUNT:,} schemas, beside the server, for each second of CPU",
                built,
                "schemas",
                rising=True,
            )
        ]
        for name, (cost, size) in large.items():
            rows.append(
                against(
                    f"first page of {name}, {COUNT:,} schemas against {FEW:,}, CPU",
                    cost,
                    small[name][0],
                    unit="ms",
                    goal=3.0,
                )
            )
            rows.append(Row(f"first page of {name}, CPU", cost, "ms", goal=10.0))
            rows.append(Row(f"first page of {name}, bytes", size / 1000, "kB", goal=200.0))
        return [*rows, *beside(many)]


def addresses(subject: str) -> Mapping[str, str]:
    """Return an address of each kind of page by its name."""
    return {
        "home": "", "subjects": "subjects", "subjects of a format": "subjects?format=json", "a subject": f"subject?name={subject}",
        "a schema": f"schema?subject={subject}", "a comparison": f"compare?right={subject}@2", "a graph": f"graph?subject={subject}",
        "a form to try": f"try?subject={subject}", "a deletion": f"delete?name={subject}", "sources": "sources", "queries": "queries",
        "a source": "source?name=bench_1", "changes": "changes?days=7", "search by field": "search?q=field:*a_*", "search by word": "search?q=value",
        "node": "node",
    }  # fmt: skip


def look_at(path: Path) -> tuple[Mapping[str, tuple[float, int]], float]:
    """Return milliseconds of CPU and bytes of each kind of page, and how many schemas a second of CPU put into the index."""
    seen: dict[str, tuple[float, int]] = {}
    with treaty(f"sqlite://{path}", *OFF) as server:
        ask(server.port, request("GET", "/subjects?limit=1"))
        without = spent(server.pid)
        sql = " ".join(SQL.format(number, number) for number in range(STREAMS))
        answer = ask(server.port, request("POST", "/metastore/v1/statements", json.dumps({"sql": sql}).encode()))
        assert answer.startswith(b"HTTP/1.1 200"), answer[:500]
    with treaty(f"sqlite://{path}") as server:
        sequence = wait_for_index(server)
        rate = (COUNT if path.name == "many.db" else FEW) / max(0.01, spent(server.pid) - without)
        listed = json.loads(body(ask(server.port, request("GET", "/subjects?limit=200"))))
        subject = next(name for name in listed if not name.startswith("bench_"))
        for name, address in addresses(subject).items():
            first = ask(server.port, request("GET", f"/ui/{address}"))
            assert first.startswith(b"HTTP/1.1 200"), (name, first[:500], sequence)
            costs = []
            for _ in range(TURNS):
                before = server.cpu()
                for _ in range(REPEATED // TURNS):
                    ask(server.port, request("GET", f"/ui/{address}"))
                costs.append((server.cpu() - before) / (REPEATED // TURNS) * 1000)
            seen[name] = median(costs), len(body(first))
    return seen, rate


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


def beside(path: Path) -> Iterator[Row]:
    """Read schemas hot, and look at memory, with pages and index and without, in turns."""
    costs: dict[bool, list[float]] = {True: [], False: []}
    sizes: dict[bool, float] = {}
    with treaty(f"sqlite://{path}") as on, treaty(f"sqlite://{path}", *OFF) as off:
        wait_for_index(on)
        for address in addresses("x").values():
            ask(on.port, request("GET", f"/ui/{address}"))
        for turn in range(2 * TURNS):
            server = (on, off)[turn % 2]
            costs[server is on].append(read_hot(server))
        sizes = {True: memory(on.pid)[0], False: memory(off.pid)[0]}
    yield against(
        "hot read with pages and index, against without, CPU",
        median(costs[True]),
        median(costs[False]),
        unit="us",
        goal=1.15,
    )
    yield against(
        f"memory with pages and index, {COUNT:,} schemas, against without",
        sizes[True],
        sizes[False],
        unit="MB",
        goal=1.3,
    )


def read_hot(server: Server) -> float:
    """Return microseconds of CPU for the read of a schema by its id."""
    chance, before = random.Random(7), server.cpu()
    for _ in range(READS):
        ask(server.port, request("GET", f"/schemas/ids/{chance.randint(1, 200)}"))
    return (server.cpu() - before) / READS * 1_000_000
