"""Growth: what a request costs among many contexts, versions, deleted versions and subjects, against few.

New subjects are registered at running servers too, 16 at once on SQLite, over logs that were filled below the law: there the beats
of a server count, and garbage collection. A server with few rows holds them in dictionaries, one with more than the limit LEAST on
a segment; each is compared with its like, and the step between the two is told.

For the rest two registries run embedded in one process, one with few and one with many; they take turns, CPU of the whole process counts,
and the round that took least: other programs only add to it. Among subjects the work is counted besides: calls of functions of
Python and of C, the same number in each run. Time grows more than work, because what is in memory is in no cache.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

from benchmarks import register, world
from benchmarks.load import Server, different, request, treaty
from benchmarks.row import Row, against
from treaty.assemble import connect, open_node
from treaty.client.connection import Connection
from treaty.core.limits import OUTCOMES
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteVersion, GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound
from treaty.node.node import Node

CONTEXTS = (1, 10_000)
VERSIONS = (10, 2_000)
SUBJECTS = (100, 100_000)
SERVED = ((1_000, 2_500), (4_500, 100_000))
"""Subjects of running servers: in dictionaries, up to just below the change to a segment, and on a segment, from just above it.
A subject has five rows, those of all rounds among them, and from 20,000 rows on (LEAST) a server writes a state file."""
SERVED_ROUND = 192
SERVED_ROUNDS = 7
SERVED_GOAL = 1.15
SERVED_NAME = "register a new subject at a server, 16 at once on SQLite"
WATCHED = 200
"""Registrations whose calls are counted."""
TURNS = 4_000
STEP = 100
"""Turns that are measured together."""
ROUND = 200
ROUNDS = 9
GOAL = 1.1
TURNS_GOAL = 1.2
FRESH = count(10_000_000)

Work = Callable[[Connection], object]


def text(number: int) -> str:
    """A schema that any other one can follow under BACKWARD."""
    fields = [{"name": f"f{n}", "type": ["null", "string"], "default": None} for n in range(8)]
    return json.dumps({"type": "record", "name": "Event", "doc": f"number {number}", "fields": fields})


def run() -> list[Row]:
    """Measure all kinds of growth on the memory log."""
    return [
        *among(CONTEXTS, "contexts", fill_contexts, CONTEXT_WORK),
        *among(VERSIONS, "versions", fill_versions, VERSION_WORK),
        *turns(),
        *calls(),
        *served(),
    ]


def served() -> list[Row]:
    """CPU of running servers for a new subject: many subjects against few, in dictionaries and on segments."""
    figures: list[Row] = []
    least: list[float] = []
    for sizes, how in zip(SERVED, ("in dictionaries", "on a segment"), strict=True):
        with tempfile.TemporaryDirectory(prefix="treaty-growth-") as folder:
            few, many = measure_served([filled(Path(folder), size, state=how != "in dictionaries") for size in sizes])
        name = f"{SERVED_NAME}, {how}: {sizes[1]:,} subjects against {sizes[0]:,}"
        figures.append(against(name, many, few, unit="us CPU", goal=SERVED_GOAL))
        least += (few, many)
    name = f"{SERVED_NAME}: {SERVED[1][0]:,} on a segment against {SERVED[0][1]:,} in dictionaries"
    return [
        *figures,
        against(name, least[2], least[1], unit="us CPU", limit="rows of a segment are looked up in its blocks"),
    ]


def filled(folder: Path, size: int, *, state: bool) -> str:
    """A log of so many subjects with a version each, with a state file or without."""
    url = f"sqlite://{folder / f'{size}.db'}"
    asyncio.run(world.fill(url, size, versions=1))
    if state:
        world.wait_for("log", "state", url)
    return url


def measure_served(urls: list[str]) -> list[float]:
    """Microseconds of CPU of a server for each registration; the servers take turns, and the least of the rounds counts."""
    with ExitStack() as stack:
        servers = [stack.enter_context(treaty(url)) for url in urls]
        spent: list[list[float]] = [[] for _ in servers]
        for turn in range(SERVED_ROUNDS):
            for server, some in zip(servers, spent, strict=True):
                some.append(cost_served(server, turn))
        return [min(some) for some in spent]


def cost_served(server: Server, turn: int) -> float:
    """One round: new subjects, each with a schema of its own."""
    posts = [
        request("POST", f"/subjects/{name}/versions", json.dumps({"schema": schema}).encode())
        for name, schema in register.texts(20_000_000 + turn * SERVED_ROUND, SERVED_ROUND)
    ]
    return different(server, posts, register.TOGETHER)[0] * 1000


def among(
    sizes: tuple[int, int], what: str, fill: Callable[[Connection, int], None], work: dict[str, Work]
) -> Iterator[Row]:
    """The cost of some work among few and among many."""
    with ExitStack() as stack:
        few, many = (stack.enter_context(connect("memory:")) for _ in sizes)
        for connection, size in zip((few, many), sizes, strict=True):
            fill(connection, size)
        for name, do in work.items():
            spent: dict[int, list[float]] = {0: [], 1: []}
            for turn in range(ROUNDS):
                for at in (0, 1) if turn % 2 else (1, 0):
                    spent[at].append(cost(do, (few, many)[at]))
            least = [min(spent[at]) for at in (0, 1)]
            yield against(
                f"{name}: {sizes[1]:,} {what} against {sizes[0]:,}", least[1], least[0], unit="us CPU", goal=GOAL
            )


def cost(do: Work, connection: Connection) -> float:
    """Microseconds of CPU for one request."""
    before = time.process_time()
    for _ in range(ROUND):
        do(connection)
    return (time.process_time() - before) / ROUND * 1e6


def fill_contexts(connection: Connection, size: int) -> None:
    """One subject in the default context, and one in each other context."""
    connection.register("here", text(0))
    for number in range(size):
        connection.register(f":.c{number}:away", text(0))


def fill_versions(connection: Connection, size: int) -> None:
    """One subject with so many versions."""
    for number in range(size):
        connection.register("here", text(number))


def missing(connection: Connection, request: GetVersion | ListVersions) -> None:
    """Ask for what is nowhere."""
    try:
        connection.ask(request)
    except NotFound:
        return
    raise AssertionError(request)


NOBODY = subject_of("nobody")
CONTEXT_WORK: dict[str, Work] = {
    "look-up, hit": lambda it: it.lookup("here", text(0)),
    "version of no subject": lambda it: missing(it, GetVersion(NOBODY, 1)),
    "versions of no subject": lambda it: missing(it, ListVersions(NOBODY)),
    "schema by id with a subject": lambda it: it.ask(GetSchema(1, NOBODY)),
}
VERSION_WORK: dict[str, Work] = {
    "latest version": lambda it: it.ask(GetVersion(subject_of("here"), -1)),
    "version by number": lambda it: it.ask(GetVersion(subject_of("here"), 5)),
    "register under BACKWARD": lambda it: it.register("here", text(next(FRESH))),
}


def turns() -> Iterator[Row]:
    """A subject is registered and softly deleted, again and again: the same schema, or each time another one."""
    for name, of in (("the same schema", lambda _: 0), ("another schema each time", lambda turn: turn)):
        with connect("memory:") as connection:
            spent = []
            for start in range(0, TURNS + 10 * STEP, STEP):
                before = time.process_time()
                for turn in range(start, start + STEP):
                    version = connection.register("here", text(of(turn))).version
                    connection.ask(DeleteVersion(subject_of("here"), version.number))
                spent.append((time.process_time() - before) / STEP * 1e6)
        first, last = min(spent[1:11]), min(spent[-10:])
        yield against(
            f"register and delete softly, {name}: turn {TURNS:,} against the first",
            last,
            first,
            unit="us CPU",
            goal=TURNS_GOAL,
        )


def calls() -> Iterator[Row]:
    """Calls of functions for a new subject among few and among many, each after so many commits that outcomes go."""
    few, many = (asyncio.run(count_calls(size)) for size in SUBJECTS)
    name = f"register a new subject: {SUBJECTS[1]:,} subjects against {SUBJECTS[0]:,}"
    yield against(name, many, few, unit="calls", goal=GOAL)


async def count_calls(size: int) -> float:
    """Calls of functions of Python and of C for one registration among so many subjects."""
    called = 0

    def watch(_: object, event: str, __: object) -> None:
        nonlocal called
        called += event in {"call", "c_call"}

    async with open_node("memory:") as node:
        await register.fill_together(node, register.texts(0, size))
        await commit_often(node)
        pairs = register.texts(size, WATCHED)
        sys.setprofile(watch)
        for pair in pairs:
            await register.fill_together(node, [pair])
        sys.setprofile(None)
    return called / WATCHED


async def commit_often(node: Node) -> None:
    """Make as many commits as there are outcomes kept: from then on each commit drops one."""
    for turn in range(OUTCOMES):
        await node.ask(SetConfig(Scope(), Config(level=("FULL", "BACKWARD")[turn % 2])))
