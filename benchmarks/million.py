"""A million schemas: how long a node takes to be there, how much memory it has, and what a registration costs then.

Texts of about 500 bytes, made of names and words from a vocabulary of 20,000, in 50,000 subjects of 20 versions each. The
log is filled below the law, with the rows that registrations would have made. ``TREATY_SCHEMAS`` takes another count.
"""

import asyncio
import itertools
import json
import os
import random
import sqlite3
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from benchmarks.load import Server, ask, request, treaty
from benchmarks.register import schema
from benchmarks.row import Row, against
from treaty.core.identity import guid, plain_lookup_digest
from treaty.core.names import Subject
from treaty.core.policy import LATEST
from treaty.core.state import values
from treaty.core.state.commit import START, Commit, make_append
from treaty.core.state.root import RowDigests
from treaty.core.state.rows import EncodedRow, encode_row
from treaty.core.state.rows import Row as TableRow
from treaty.core.state.state_tables import ids_key, ordinals_key, types_key
from treaty.log.sqlite.log import SqliteLog
from treaty.log.urls import open_log

COUNT = int(os.environ.get("TREATY_SCHEMAS", "1_000_000"))
FEW = 100
VERSIONS = 20
BATCH = 20_000
REGISTERED = 200
TRANSITIVE = 100
POLICY = values.PolicyValue(backward=LATEST)


def run() -> list[Row]:
    """Fill a log, then start servers on it."""
    with tempfile.TemporaryDirectory(prefix="treaty-million-") as folder:
        many, few = Path(folder, "many.db"), Path(folder, "few.db")
        asyncio.run(fill(f"sqlite://{few}", FEW))
        asyncio.run(fill(f"sqlite://{many}", COUNT))
        name = f"{COUNT:,} schemas"
        with treaty("memory:") as empty:
            idle = spent(empty.pid)
        cost = [*written(many)]
        cost = [*without(many, idle, name), *cost]
        wait_for("log", "state", f"sqlite://{many}")
        return [*cost, *stood(many, few, idle, name), transitive()]


def spent(pid: int) -> float:
    """CPU seconds of a process, of its threads that have ended and of processes that it started and that have ended."""
    told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, told[11:15])) / os.sysconf("SC_CLK_TCK")


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


def wait_for(*words: str) -> tuple[float, float]:
    """Run a command; return its CPU seconds and the most memory it had, in megabytes."""
    with subprocess.Popen([sys.executable, "-m", "treaty.cli.main", *words], stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


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
    told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in told.splitlines()[1:]}
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
            one = json.loads(schema(0))
            one["fields"][number % 15]["doc"] = f"version {number}"
            body = json.dumps({"schema": json.dumps(one)}).encode()
            before = server.cpu()
            answer = ask(server.port, request("POST", "/subjects/grown/versions", body))
            assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
            spent += server.cpu() - before if number >= TRANSITIVE else 0
        return Row("register under FULL_TRANSITIVE with 100 versions of 15 fields", spent * 100, "ms", goal=10)


async def fill(url: str, count: int, above: int = 0, versions: int = VERSIONS) -> None:
    """Write the rows of so many schemas into a log that has those with ids up to `above`, so many of them in each subject."""
    log = await open_log(url)
    assert isinstance(log, SqliteLog)
    delta = await log.read(START)
    here, digests, batch = (
        delta.tip,
        RowDigests(delta.rows),
        [encode_row(TableRow("context", (".",), values.Context()))],
    )
    for row in itertools.chain(rows(count, above, versions), (None,)):
        if row is not None:
            batch.append(row)
        if row is None or len(batch) >= BATCH:
            digests.put(batch)
            append = make_append(here, os.urandom(16), (Commit(here.sequence + 1, tuple(batch)),), digests.roots)
            await log.append(append)
            here, batch = append.position, []
    await log.close()


def rows(count: int, above: int = 0, versions: int = VERSIONS) -> Iterator[EncodedRow]:
    """Yield the rows of schemas and versions, and of their counters."""
    chance = random.Random(20 + above)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 10))) for _ in range(20_000)]
    for number in range(above, above + count):
        ordinal, group = number % versions, number // versions
        name = words[group % len(words)].capitalize()
        fields = ",".join(_field(chance, words) for _ in range(6))
        text = f'{{"type":"record","name":"{name}","namespace":"org.{name.lower()}","fields":[{fields}]}}'
        known = guid(text, (), None, None), plain_lookup_digest("AVRO", text)
        stored = values.Schema(known[0], "AVRO", text, known[1], type_name=f"org.{name.lower()}.{name}")
        yield encode_row(TableRow("schema", (".", number + 1), stored))
        subject = f"{name.lower()}-{group}-value"
        made = 1_760_000_000_000 + number * 37
        version = values.Version(ordinal + 1, number + 1, "AVRO", stored.type_name, ordinal, policy=POLICY, time=made)
        yield encode_row(TableRow("version", (".", subject, 1, ordinal), version))
        if ordinal == 0:
            last = values.Counter(min(versions, above + count - number) - 1)
            yield encode_row(TableRow("subject", (".", subject), values.SubjectValue(1)))
            yield encode_row(TableRow("counter", ordinals_key(Subject(".", subject), 1), last))
            yield encode_row(TableRow("counter", types_key(Subject(".", subject), 1, "AVRO", stored.type_name), last))
    yield encode_row(TableRow("counter", ids_key("."), values.Counter(above + count)))


def _field(chance: random.Random, words: list[str]) -> str:
    kind = chance.choice(("string", "int", "long", "double", "boolean"))
    one, two, *doc = chance.choices(words, k=5)
    return f'{{"name":"{one}_{two}","type":"{kind}","doc":"{" ".join(doc)}"}}'
