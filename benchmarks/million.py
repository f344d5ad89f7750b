"""A million schemas: how long a node takes to be there, how much memory it has, and what a registration costs then.

The log is that of `world`. ``TREATY_SCHEMAS`` takes another count.
"""

import asyncio
import json
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.load import Server, ask, request, treaty
from benchmarks.register import schema
from benchmarks.row import Row, against
from benchmarks.world import copy_world, fill, wait_for

COUNT = int(os.environ.get("TREATY_SCHEMAS", "1_000_000"))
FEW = 100
REGISTERED = 200
TRANSITIVE = 100


def run() -> list[Row]:
    """Fill a log, then start servers on it."""
    with tempfile.TemporaryDirectory(prefix="treaty-million-") as folder:
        many, few = Path(folder, "many.db"), Path(folder, "few.db")
        asyncio.run(fill(f"sqlite://{few}", FEW))
        copy_world(COUNT, many, only_log=True)
        name = f"{COUNT:,} schemas"
        with treaty("memory:") as empty:
            idle = spent(empty.pid)
        cost = [*written(many)]
        cost = [*without(many, idle, name), *cost]
        wait_for("log", "state", f"sqlite://{many}")
        return [*cost, *stood(many, few, idle, name), transitive()]


def spent(pid: int) -> float:
    """CPU seconds of a process, of its threads that have ended and of processes that it started and that have ended."""
    members = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, members[11:15])) / os.sysconf("SC_CLK_TCK")


def without(path: Path, idle: float, name: str) -> Iterator[Row]:
    """Start without a state file: from the log's fold, and where there is none either from a file that is written first."""
    state = Path(f"{path}-state")
    for words, goal in (("", 5.0), (" nor a fold", None)):
        state.unlink(missing_ok=True)
        if goal is None:
            with closing(sqlite3.connect(path)) as file:
                file.execute("drop table if exists state_copy")
                file.commit()
        with treaty(f"sqlite://{path}") as server:
            answer = ask(server.port, request("GET", f"/schemas/ids/{COUNT // 2}"))
            assert answer.startswith(b"HTTP/1.1 200")
            cost = spent(server.pid) - idle
        yield Row(f"{name}: start without a state file{words}, CPU over an empty server", cost, "s", goal=goal)


def written(path: Path) -> Iterator[Row]:
    """Write the state file, and write it again when one schema in a hundred is new."""
    yield Row("the log, bytes for each schema", path.stat().st_size / COUNT, "B")
    for words in ("", " when a hundredth is new"):
        cost, peak = wait_for("log", "state", f"sqlite://{path}")
        yield Row(f"writing the state file{words}, CPU", cost, "s")
        yield Row(f"writing the state file{words}, memory at most", peak, "MB")
        if not words:
            yield Row("the state file, bytes for each schema", Path(f"{path}-state").stat().st_size / COUNT, "B")
            yield Row("the log with its fold, bytes for each schema", path.stat().st_size / COUNT, "B")
            asyncio.run(fill(f"sqlite://{path}", COUNT // 100, above=COUNT))


def stood(many: Path, few: Path, idle: float, name: str) -> Iterator[Row]:
    """Start with the state file: time, memory of one worker and of a further one, and what a registration costs."""
    with treaty(f"sqlite://{many}") as server:
        answer = ask(server.port, request("GET", f"/schemas/ids/{COUNT // 2}"))
        assert answer.startswith(b"HTTP/1.1 200")
        yield Row(f"{name}: start with a state file, CPU over an empty server", spent(server.pid) - idle, "s", goal=0.3)
        ask(server.port, request("GET", "/subjects?limit=100"))
        large = registered(server)
        touch(server)
        yield Row(f"{name}: memory of one worker, after reading 20,000 ids", memory(server.pid)[0], "MB", goal=300)
    with treaty(f"sqlite://{few}") as server:
        small = registered(server)
    yield against(f"register among {name}, against {FEW}", large, small, unit="ms", goal=1.2)
    with several(f"sqlite://{many}") as pids:
        most = max(memory(pid)[1] for pid in pids)
        yield Row(f"{name}: private memory of each of three workers", most, "MB", goal=60)


def registered(server: Server) -> float:
    """Milliseconds of CPU for one new schema of 15 fields, one after the other."""
    bodies = [json.dumps({"schema": schema(number)}).encode() for number in range(REGISTERED)]
    before = server.cpu()
    for number, body in enumerate(bodies):
        answer = ask(server.port, request("POST", f"/subjects/fresh-{number}-value/versions", body))
        assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
    return (server.cpu() - before) / REGISTERED * 1000


def touch(server: Server) -> None:
    """Read schemas all over the file."""
    chance = random.Random(7)
    for _ in range(min(20_000, COUNT)):
        ask(server.port, request("GET", f"/schemas/ids/{chance.randint(1, COUNT)}"))


def memory(pid: int) -> tuple[float, float]:
    """Megabytes that a process has in all, and for itself alone, without pages of files that others could share."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in text.splitlines()[1:]}
    return sizes["Rss"], sizes["Private_Dirty"]


@contextmanager
def several(url: str) -> Iterator[list[int]]:
    """Three workers, while the block runs; yields their process ids."""
    with treaty(url, "--workers", "3") as server:
        time.sleep(3)
        for _ in range(200):
            ask(server.port, request("GET", "/subjects/fresh-1-value/versions/latest"))
        yield [int(pid) for pid in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()]


def transitive() -> Row:
    """A subject with 100 versions under FULL_TRANSITIVE gets another one."""
    with tempfile.TemporaryDirectory() as folder, treaty(f"sqlite://{folder}/log.db") as server:
        ask(server.port, request("PUT", "/config/grown", b'{"compatibility":"FULL_TRANSITIVE"}'))
        spent = 0.0
        for number in range(TRANSITIVE + 10):
            document = json.loads(schema(0))
            document["fields"][number % 15]["doc"] = f"version {number}"
            body = json.dumps({"schema": json.dumps(document)}).encode()
            before = server.cpu()
            answer = ask(server.port, request("POST", "/subjects/grown/versions", body))
            assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
            spent += server.cpu() - before if number >= TRANSITIVE else 0
        return Row("register under FULL_TRANSITIVE with 100 versions of 15 fields", spent * 100, "ms", goal=10)
