"""One part of the comparison, in a process of its own: prints its figures as one line of JSON.

It is run by its path, with the checkout to be measured on PYTHONPATH: `treaty`, and the benchmarks that fill logs and
make requests, are those of that checkout. What is measured, and how, is said here and is the same for both.

Where instructions are counted, a thousand of them stand for a microsecond of CPU: the measured process runs under
callgrind, which writes to a file what it has counted whenever it is asked to.
"""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import treaty
from benchmarks import http, load, million, register
from treaty.assemble import connect

try:
    from benchmarks.pages import OFF
except ImportError:  # a checkout of before there were pages
    OFF = ()  # type: ignore[assignment]
try:
    from treaty.core.messages.schemas import GetSchema
    from treaty.core.messages.settings import Config
except ImportError:  # a checkout of before requests were declared by area
    from treaty.core.answers import Config  # type: ignore[import-not-found,no-redef]
    from treaty.core.requests import GetSchema  # type: ignore[import-not-found,no-redef]
try:
    from treaty.core.registry import CallOptions
except ImportError:  # a checkout of before the class had this name
    from treaty.core.registry import Call as CallOptions  # type: ignore[attr-defined,no-redef]

CONNECTIONS = 16
HOT_SHARE = 40
"""Hot reads for each other operation: they cost that much less."""
ROUNDS = 3
"""Rounds in each process: what else the machine does only adds to them."""
FRESH = 10_000_000
"""The first number of a schema that nobody has."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How much is measured: operations for each figure, subjects that are there before, schemas of a large log."""

    count: int
    subjects: int
    size: int
    folder: str
    """Where the large logs of this checkout lie, filled by the part ``fill``."""
    callgrind: str = ""
    """The program that runs Python under callgrind; empty where CPU is measured, not instructions."""

    @property
    def unit(self) -> str:
        """The unit of what an operation takes."""
        return "k instructions" if self.callgrind else "us CPU"

    def spent(self) -> float:
        """Return the seconds of CPU, or thousands of millions of instructions, that this process has used."""
        return _callgrind(os.getpid(), self.callgrind).spent() if self.callgrind else time.process_time()

    @property
    def rounds(self) -> list[range]:
        """Numbers of operations, round by round; the round that took least counts."""
        return [range(FRESH + turn * self.count, FRESH + (turn + 1) * self.count) for turn in range(ROUNDS)]

    @property
    def plain(self) -> str:
        """The path of a log without a state file and without a fold."""
        return f"{self.folder}/plain/log.db"

    @property
    def aided(self) -> str:
        """The path of a log with a state file beside it."""
        return f"{self.folder}/aided/log.db"


class _Callgrind:
    """Counts the instructions of a process that runs under callgrind, from now on."""

    def __init__(self, pid: int, folder: Path) -> None:
        self._pid, self._folder = pid, folder
        self._own = self._total = 0
        self._control("--instr=on")
        for _ in range(2):
            spent = self._dump()
        self._own = spent if pid == os.getpid() else 0

    def spent(self) -> float:
        """Return thousands of millions of instructions; without what a process spends on asking about itself."""
        self._total += self._dump() - self._own
        return self._total / 1e9

    def _dump(self) -> int:
        """Return the instructions since the dump before."""
        self._control("--dump")
        (dump,) = self._folder.glob(f"{self._pid}.*")
        with dump.open("rb") as file:
            file.seek(-100, os.SEEK_END)
            counted = int(file.read().rpartition(b"totals: ")[2].split()[0])
        dump.unlink()
        return counted

    def _control(self, command: str) -> None:
        subprocess.run(["callgrind_control", command, str(self._pid)], check=True, capture_output=True)


@cache
def _callgrind(pid: int, program: str) -> _Callgrind:
    return _Callgrind(pid, Path(program).parent)


Figures = Mapping[str, tuple[float, str]]
"""By name: a value and its unit."""


def subject(number: int) -> str:
    """The name that the benchmarks give to a subject."""
    return f"events-{number}-value"


Pairs = list[tuple[str, str]]
"""Subjects and texts."""


def file(asked: Asked) -> Figures:
    """The registry in this process, over a SQLite file."""
    with tempfile.TemporaryDirectory() as folder:
        return inside(asked, f"sqlite://{folder}/registry.db")


def inside(asked: Asked, log: str = "memory:") -> Figures:
    """The registry in this process, over a log in memory: all that a command costs beside HTTP and the disk."""
    with connect(log) as registry:
        register.fill(registry, register.texts(0, asked.subjects))
        registry.set_config("", Config(level="BACKWARD"))

        def known(number: int) -> tuple[str, str]:
            return subject(number % asked.subjects), register.schema(number % asked.subjects)

        def added(number: int) -> tuple[str, str]:
            return subject(number % asked.subjects), http.evolved(number % asked.subjects, number)

        def fresh(number: int) -> tuple[str, str]:
            return subject(number), register.schema(number)

        def spent(work: Callable[[Pairs], object], pair: Callable[[int], tuple[str, str]]) -> tuple[float, str]:
            rounds = []
            for numbers in asked.rounds:
                pairs = [pair(number) for number in numbers]
                begun = asked.spent()
                work(pairs)
                rounds.append(asked.spent() - begun)
            return min(rounds) / asked.count * 1e6, asked.unit

        return {
            "look-up": spent(lambda pairs: [registry.lookup(*pair) for pair in pairs], known),
            "latest version": spent(lambda pairs: [registry.version(name) for name, _ in pairs], known),
            "version by number": spent(lambda pairs: [registry.version(name, 1) for name, _ in pairs], known),
            "schema by id": spent(lambda pairs: [registry.ask(GetSchema(1)) for _ in pairs], known),
            "commit of one setting": spent(
                lambda pairs: [registry.set_config(name, Config(level="FULL")) for name, _ in pairs], fresh
            ),
            "register a new subject": spent(lambda pairs: register.fill(registry, pairs), fresh),
            f"register into {asked.subjects:,} subjects, BACKWARD": spent(
                lambda pairs: register.fill(registry, pairs), added
            ),
        }


def server(asked: Asked) -> Figures:
    """A server over a SQLite file, asked over HTTP: CPU of the server for each request. The index of pages, which is filled beside them, is off."""

    def by_number(there: int, _fresh: int) -> bytes:
        return load.request("GET", f"/subjects/{subject(there)}/versions/1")

    kinds: dict[str, Callable[[int, int], bytes]] = {
        "look-up": http.lookup,
        "latest version": http.latest,
        "register a new subject": http.registration,
        f"register into {asked.subjects:,} subjects, BACKWARD": http.evolution,
    }
    with tempfile.TemporaryDirectory() as folder:
        log = f"sqlite://{folder}/registry.db"
        http.fill(log, asked.subjects)
        if asked.callgrind:
            sys.executable = asked.callgrind
            load.Server.cpu = lambda server: _callgrind(server.pid, asked.callgrind).spent()  # type: ignore[assignment,method-assign]
        with load.treaty(log, *OFF) as server:
            load.ask(server.port, load.request("PUT", "/config", b'{"compatibility":"BACKWARD"}'))
            third = asked.subjects // ROUNDS
            first = [_asked(server, by_number, range(turn * third, (turn + 1) * third)) for turn in range(ROUNDS)]
            figures = {"version by number, asked for the first time": (min(first), asked.unit)}
            hot = f"GET /schemas/ids/1 HTTP/1.1\r\n{http.HEADERS}".encode()
            for name, data in (("schema by id", hot), ("version by number", by_number(0, 0))):
                http.warm(server, data)
                count = asked.count * HOT_SHARE
                reads = [load.same(server, data, count=count, connections=CONNECTIONS) for _ in range(ROUNDS)]
                figures[f"hot read, {name}"] = (min(reads), asked.unit)
            for name, make in kinds.items():
                rounds = [_asked(server, make, numbers, asked.subjects) for numbers in asked.rounds]
                figures[name] = (min(rounds), asked.unit)
    return figures


def _asked(server: load.Server, make: Callable[[int, int], bytes], numbers: range, subjects: int = FRESH) -> float:
    """Microseconds of CPU, or thousands of instructions, for each of some requests."""
    return load.different(server, [make(number % subjects, number) for number in numbers], CONNECTIONS)[0] * 1000


def fill(asked: Asked) -> Figures:
    """Fill the large logs; not a figure of its own, because the rows are written below the law."""
    for path in (asked.plain, asked.aided):
        Path(path).parent.mkdir(parents=True)
    from benchmarks import world  # noqa: PLC0415 (a checkout of before has none, and its other parts are measured)

    asyncio.run(world.fill(f"sqlite://{asked.plain}", asked.size))
    shutil.copy(asked.plain, asked.aided)
    world.wait_for("log", "state", f"sqlite://{asked.aided}")
    return {}


def start(asked: Asked) -> Figures:
    """A start from all rows of a log, in this process: CPU until the first answer, and memory then."""
    begun = time.process_time()
    _started(asked)
    spent = time.process_time() - begun
    pss, rss = _shared(os.getpid()), million.memory(os.getpid())[0]
    return {
        "without a state file, until the first answer": (spent, "s CPU"),
        "without a state file: memory (RSS)": (rss, "MB"),
        "without a state file: memory (PSS)": (pss, "MB"),
    }


def _started(asked: Asked) -> None:
    """Start on the log without a state file, ask for one schema and leave; what it took stays for the caller to count."""
    _OPEN.append(connect(f"sqlite://{asked.plain}"))
    _OPEN[0].ask(GetSchema(asked.size // 2), CallOptions(timeout=float(load.WAIT_SECONDS)))


_OPEN: list[Any] = []
"""Registries that stay open until the process ends, so that their memory can be counted."""


class _Rows(sqlite3.Cursor):
    """A cursor that counts the rows that are read from it."""

    read = 0

    def _counted(self, rows: list[Any]) -> list[Any]:
        _Rows.read += len(rows)
        return rows

    def __next__(self) -> Any:
        return self._counted([super().__next__()])[0]

    def fetchone(self) -> Any:
        row = super().fetchone()
        self._counted([] if row is None else [row])
        return row

    def fetchmany(self, *size: Any, **more: Any) -> list[Any]:
        return self._counted(super().fetchmany(*size, **more))

    def fetchall(self) -> list[Any]:
        return self._counted(super().fetchall())


class _File(sqlite3.Connection):
    """A connection whose statements are read through such cursors."""

    def execute(self, *words: Any) -> sqlite3.Cursor:
        return super().cursor(_Rows).execute(*words)


def rows(asked: Asked) -> Figures:
    """The same start, with the rows counted that SQLite hands over. Counting costs CPU, so nothing else is measured."""
    plain = sqlite3.connect

    def counting(*words: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = plain(*words, factory=_File, **options)
        return connection

    sqlite3.connect = counting  # type: ignore[assignment]
    _started(asked)
    return {"without a state file: rows read": (float(_Rows.read), "rows")}


def memory(asked: Asked) -> Figures:
    """A server that stands on a state file: CPU of its start, and memory after it has read up to 20,000 ids."""
    with load.treaty(f"sqlite://{asked.aided}") as server:
        answer = load.ask(server.port, load.request("GET", f"/schemas/ids/{asked.size // 2}"))
        assert answer.startswith(b"HTTP/1.1 200"), answer[:300]
        spent = million.spent(server.pid)
        load.ask(server.port, load.request("GET", "/subjects?limit=100"))
        million.touch(server)
        rss, private = million.memory(server.pid)
        pss = _shared(server.pid)
    return {
        "server with a state file: start": (spent, "s CPU"),
        "server with a state file: memory (RSS)": (rss, "MB"),
        "server with a state file: memory (PSS)": (pss, "MB"),
        "server with a state file: private memory": (private, "MB"),
    }


def _shared(pid: int) -> float:
    """Megabytes of a process, with its share of pages that others have too."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("\nPss:")[2].split()[0]) / 1024


PARTS: Mapping[str, Callable[[Asked], Figures]] = {
    "inside": inside,
    "file": file,
    "server": server,
    "fill": fill,
    "start": start,
    "rows": rows,
    "memory": memory,
}


if __name__ == "__main__":
    part, options, checkout = sys.argv[1:]
    assert Path(treaty.__file__).is_relative_to(checkout), f"{treaty.__file__} is not of {checkout}"
    costs = PARTS[part](Asked(**json.loads(options)))
    for registry in _OPEN:
        registry.close()
    print(json.dumps(costs))
