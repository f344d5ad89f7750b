"""Starting a server on a filled log: CPU and time to its first answer, and the memory that it then has.

`python -m benchmarks million` says more about one very large SQLite log; texts and rows are the same here.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import world
from benchmarks.load import Server, ask, request, treaty
from benchmarks.log.places import VISIT, Place, peering
from benchmarks.row import Row
from treaty.core.state import values
from treaty.core.state.commit import START, Commit, Position, RowDigests, make_append
from treaty.core.state.rows import EncodedRow, encode_row
from treaty.core.state.rows import Row as TableRow
from treaty.log.log import AppendResult, Log
from treaty.log.urls import open_log

CPU_GOAL, STATE_GOAL, MEMORY_GOAL = 5.0, 0.3, 300.0
"""Those of a million schemas."""
BATCH = 700_000
"""Bytes in one append."""
TRIES = 10
"""Times that one is offered."""


def rows(place: Place, folder: Path, sizes: Sequence[int]) -> Iterator[Row]:
    """The figures of one log, size by size."""
    with treaty("memory:") as empty:
        idle = empty.cpu()
    for size in sizes:
        url, state = place.log(f"filled{size}"), folder / f"state{size}"
        asyncio.run(fill(url, size))
        known = peering(str(folder), url) if place.nodes == "server" else ()
        if place.packed:
            treaty_log("compact", url=url)
        name = f"{place.title}: {size:,} schemas, start"
        yield from started(f"{name} {place.packed or 'without a state file'}", url, size, idle, CPU_GOAL, *known)
        treaty_log("state", "--file", str(state), url=url)
        if place.aided:
            yield from started(f"{name} {place.aided}", url, size, idle, CPU_GOAL, *known)
        with_state = ("--state-file", str(state))
        yield from started(f"{name} with a state file", url, size, idle, STATE_GOAL, *known, *with_state)


def started(name: str, url: str, size: int, idle: float, goal: float, *options: str) -> Iterator[Row]:
    """One start."""
    with treaty(url, *options) as server:
        answered(server, size)
        yield Row(
            f"{name}: CPU over an empty server", server.cpu() - idle, "s", goal=goal, limit="rows copied and found"
        )
        yield Row(f"{name}: until the first answer", server.began, "s", limit="the interpreter's start, then the rows")
        yield Row(f"{name}: memory", server.memory(), "MB", goal=MEMORY_GOAL, limit="rows and their indexes")


def answered(server: Server, size: int) -> None:
    """Ask for one schema."""
    answer = ask(server.port, request("GET", f"/schemas/ids/{size // 2}"))
    assert answer.startswith(b"HTTP/1.1 200"), answer[:300]


def treaty_log(*words: str, url: str) -> None:
    """Look after a log."""
    command = [sys.executable, "-m", "treaty.cli.main", "log", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "TREATY_LOG": url})


async def fill(url: str, size: int) -> None:
    """Write the rows of so many schemas into an empty log, below the law."""
    log = await open_log(url, VISIT)
    here, digests = (await log.read(START)).tip, RowDigests()
    batch, filled = [encode_row(TableRow("context", (".",), values.Context()))], 0
    for row in world.rows(size):
        batch.append(row)
        filled += len(row.key) + len(row.value or "") + 100
        if filled >= BATCH:
            here, batch, filled = await _append(log, here, digests, batch), [], 0
    await _append(log, here, digests, batch)
    await log.close()


async def _append(log: Log, here: Position, digests: RowDigests, batch: list[EncodedRow]) -> Position:
    """Write some rows, whatever the log puts between (an `any` log names its folds in appends of its own)."""
    digests.put(batch)
    for _ in range(TRIES):
        append = make_append(here, os.urandom(16), (Commit(here.sequence + 1, tuple(batch)),), digests.roots)
        if await log.append(append) is AppendResult.ACCEPTED:
            return append.position
        # Where its fate is open, the same rows may come twice, and mean the same.
        here = (await log.read(here)).tip
    raise RuntimeError(f"an append was not accepted {TRIES} times")
