"""`treaty sql` in a terminal: CPU of one statement from the start of the program to its end, and the completion of a name."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping

from benchmarks.load import treaty
from benchmarks.metastore import fill
from benchmarks.row import Row
from treaty.assemble import connect
from treaty.cli.metastore.completion import SourceNames, SqlCompleter
from treaty.cli.metastore.registry_session import RegistrySession
from treaty.core.registry import run_exchange

SOURCES = 10_000
STARTS = 7
START_GOAL = 0.35
"""Seconds of CPU."""
NOT_COMPILED = "the same where nothing was compiled"
LIBRARIES = "all modules of the program, of its libraries and of Python's are compiled at each start"
COMPLETION_GOAL = 50.0
"""Milliseconds."""
BEGINNINGS = ("s", "q12", "s9998", "nothing", "")


def run() -> list[Row]:
    """Measure all parts."""
    return [*starts(), *completions()]


def starts() -> Iterator[Row]:
    """CPU of the program that lists the streams of an empty registry: over a log, and over a server.

    The program is compiled as pip leaves it, whatever this shell says about it: what a machine that keeps nothing takes is a line of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = f"sqlite://{folder}/registry.db"
        compiled = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        sources = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": f"{folder}/nothing"}
        start(log, compiled)
        yield Row("treaty sql -e over a SQLite file", least(log, compiled), "s CPU", goal=START_GOAL)
        yield Row(f"{NOT_COMPILED}, over a SQLite file", least(log, sources), "s CPU", limit=LIBRARIES)
        with treaty(log) as server:
            url = f"http://127.0.0.1:{server.port}"
            yield Row("treaty sql -e over a server", least(url, compiled), "s CPU", goal=START_GOAL)
            yield Row(f"{NOT_COMPILED}, over a server", least(url, sources), "s CPU", limit=LIBRARIES)


def least(url: str, environment: Mapping[str, str]) -> float:
    """Seconds of CPU of the quickest of some programs: others beside it make one slower, and never quicker."""
    return min(start(url, environment) for _ in range(STARTS))


def start(url: str, environment: Mapping[str, str]) -> float:
    """Seconds of CPU of one program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "treaty.cli.main", "sql", "--registry", url, "-e", "SHOW STREAMS"]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def completions() -> Iterator[Row]:
    """Time of the slowest completion of a name among many sources, and of loading the names, which a thread does."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite://{folder}/registry.db"
        with connect(url) as it:
            run_exchange(it.registry, fill(SOURCES))
        session = RegistrySession(url)
        try:
            names = SourceNames(session)
            began = time.perf_counter()
            names.load()
            names.wait()
            yield Row(f"names of {SOURCES:,} sources loaded, on a thread", (time.perf_counter() - began) * 1e3, "ms")
            completer = SqlCompleter(names)
            spent = [complete(completer, beginning) for beginning in BEGINNINGS for _ in range(STARTS)]
            yield Row(f"a name completed among {SOURCES:,} sources", max(spent), "ms", goal=COMPLETION_GOAL)
        finally:
            session.close()


def complete(completer: SqlCompleter, beginning: str) -> float:
    """Milliseconds of one completion."""
    began = time.perf_counter()
    completer.find("DESCRIBE ", beginning)
    return (time.perf_counter() - began) * 1e3
