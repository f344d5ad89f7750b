"""The metastore: statements among 10,000 sources against 100, CASCADE by length, statements beside registrations, the parser by size.

Two registries run embedded in one process, one with few sources and one with many; they take turns, and the round that took least
counts. Calls are those of functions of Python and of C, the same number in each run.
"""

import asyncio
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count

from benchmarks.growth import text
from benchmarks.load import Server, ask, request, treaty
from benchmarks.row import Row, against
from treaty.assemble import connect, open_node
from treaty.client.async_connection import run_exchange_async
from treaty.client.connection import Connection
from treaty.core.messages.metastore import sources as m
from treaty.core.registry import Exchange, request_answer, run_exchange
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead
from treaty.metastore.metastore import Metastore
from treaty.metastore.sql.script import parse_script

SIZES = (100, 10_000)
"""Sources; a fifth as many types, and half of the sources have a query."""
GOAL = 1.2
ROUND = 100
ROUNDS = 5
COUNTED = 50
CASCADES = (50, 500)
TWICE = 2.0
START_GOAL = 1.2
"""Seconds of CPU."""
PARSED = (10_000, 1_000_000)
PARSE_GOAL = 1.3
FRESH = count(1_000_000)
COLUMNS = (SourceColumn("k", "STRING", nullable=False, role="key"), SourceColumn("v", "INT"))

Work = Callable[[], Exchange[object]]


def run() -> list[Row]:
    """Measure all parts."""
    return [*among(), *starts(), *cascades(), *beside_registration(), *beside_requests(), *parsing()]


def definition(name: str, *reads: Source) -> m.SourceDefinition:
    """A stream over a topic of its own, with a query where it reads others."""
    plan = tuple(SourceRead(read.name, read.generation, read.name) for read in reads)
    query = QueryPlan("SELECT k, v FROM x", plan) if plan else None
    return m.SourceDefinition(name, "STREAM", f"CREATE STREAM {name}", COLUMNS, place=name, query=query)


def create(name: str, *reads: Source) -> Exchange[Source]:
    """Create a stream and return its row."""
    yield from request_answer(m.CreateSource(definition(name, *reads)))
    return (yield from request_answer(m.DescribeSource(name))).source


def fill(size: int) -> Exchange[None]:
    """Sources, half of them queries over the one before, and a fifth as many types."""
    for number in range(size // 5):
        yield from request_answer(m.CreateType(f"type{number}", "STRUCT<a: INT, b: STRING>"))
    for number in range(0, size, 2):
        source = yield from create(f"s{number}")
        yield from create(f"q{number}", source)


def create_and_drop() -> Exchange[None]:
    """Create a stream with three queries over it, and drop all four."""
    name = f"new{next(FRESH)}"
    source = yield from create(name)
    for part in range(3):
        yield from request_answer(m.CreateSource(definition(f"{name}_{part}", source)))
    digest = (yield from request_answer(m.DropSource(name, cascade=True))).digest
    yield from request_answer(m.DropSource(name, cascade=True, digest=digest))


WORK: dict[str, Work] = {
    "DESCRIBE": lambda: request_answer(m.DescribeSource("q50")),
    "CREATE": lambda: request_answer(m.CreateSource(definition(f"new{next(FRESH)}"))),
    "CREATE with 3 dependents and CASCADE": create_and_drop,
    "first page of SHOW, 50 rows": lambda: request_answer(m.ListSources(limit=50)),
}


def among() -> Iterator[Row]:
    """Each statement among few and many sources: calls, and CPU."""
    counted = [asyncio.run(count_calls(size)) for size in SIZES]
    with ExitStack() as stack:
        few, many = (stack.enter_context(connect("memory:")) for _ in SIZES)
        for connection, size in zip((few, many), SIZES, strict=True):
            run_exchange(connection.registry, fill(size))
        for name, work in WORK.items():
            label = f"{name}: {SIZES[1]:,} sources against {SIZES[0]:,}"
            yield against(label, counted[1][name], counted[0][name], unit="calls", goal=GOAL)
            spent: tuple[list[float], list[float]] = ([], [])
            for turn in range(ROUNDS):
                for at in (0, 1) if turn % 2 else (1, 0):
                    spent[at].append(cost(partial(carry_out, work), (few, many)[at]))
            yield against(label, min(spent[1]), min(spent[0]), unit="us CPU", goal=GOAL)


def carry_out(work: Work, it: Connection) -> object:
    """Do a piece of work at a registry."""
    return run_exchange(it.registry, work())


def cost(work: Callable[[Connection], object], it: Connection) -> float:
    """Microseconds of CPU for one piece of work."""
    before = time.process_time()
    for _ in range(ROUND):
        work(it)
    return (time.process_time() - before) / ROUND * 1e6


async def count_calls(size: int) -> dict[str, float]:
    """Calls of functions of Python and of C for each piece of work, at a node with so many sources."""
    called = 0

    def watch(_: object, event: str, __: object) -> None:
        nonlocal called
        called += event in {"call", "c_call"}

    async with open_node("memory:") as node:
        await run_exchange_async(node, fill(size))
        counted = {}
        for name, work in WORK.items():
            await run_exchange_async(node, work())
            called = 0
            sys.setprofile(watch)
            for _ in range(COUNTED):
                await run_exchange_async(node, work())
            sys.setprofile(None)
            counted[name] = called / COUNTED
    return counted


def cascades() -> Iterator[Row]:
    """CPU of CASCADE for each source that goes: a long chain against a short one."""
    gc.collect()
    spent = [min(cascade_cost(length) for _ in range(ROUNDS)) for length in CASCADES]
    name = f"CASCADE, for each source: a chain of {CASCADES[1]} against {CASCADES[0]}"
    yield against(name, spent[1], spent[0], unit="us CPU", goal=GOAL)


def cascade_cost(length: int) -> float:
    """Microseconds of CPU for each source of a chain that CASCADE drops."""
    with connect("memory:") as it:
        last = run_exchange(it.registry, create("c0"))
        for number in range(1, length):
            last = run_exchange(it.registry, create(f"c{number}", last))
        before = time.process_time()
        digest = it.ask(m.DropSource("c0", cascade=True)).answer.digest
        it.ask(m.DropSource("c0", cascade=True, digest=digest))
        return (time.process_time() - before) / length * 1e6


def beside_registration() -> Iterator[Row]:
    """A CREATE statement with the schema that it makes, beside the registration of that schema alone."""
    with connect("memory:") as it:
        metastore = Metastore(it.registry)

        def state(it: Connection) -> object:
            name = f"t{next(FRESH)}"
            columns = ", ".join(f"f{number} STRING" for number in range(8))
            return metastore.run(
                f"CREATE STREAM {name} ({columns}) WITH (KAFKA_TOPIC = '{name}', VALUE_FORMAT = 'AVRO')"
            )

        spent: tuple[list[float], list[float]] = ([], [])
        works: tuple[Callable[[Connection], object], ...] = (
            lambda it: it.register(f"r{next(FRESH)}", text(next(FRESH))),
            state,
        )
        for _ in range(ROUNDS):
            for at, work in enumerate(works):
                spent[at].append(cost(work, it))
    name = "CREATE STREAM of 8 columns beside the registration of a schema of 8 fields"
    yield against(name, min(spent[1]), min(spent[0]), unit="us CPU", goal=TWICE)


def beside_requests() -> Iterator[Row]:
    """The same two as users send them: CPU of a server over a SQLite file, for one request of each."""

    def registration(fresh: int) -> bytes:
        return request("POST", f"/subjects/r{fresh}/versions", json.dumps({"schema": text(fresh)}).encode())

    def statement(fresh: int) -> bytes:
        columns = ", ".join(f"f{number} STRING" for number in range(8))
        sql = f"CREATE STREAM t{fresh} ({columns}) WITH (KAFKA_TOPIC = 't{fresh}', VALUE_FORMAT = 'AVRO')"
        return request("POST", "/metastore/v1/statements", json.dumps({"sql": sql}).encode())

    with tempfile.TemporaryDirectory() as folder, treaty(f"sqlite://{folder}/registry.db") as server:
        spent: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for at, make in enumerate((registration, statement)):
                spent[at].append(requests_cost(server, [make(next(FRESH)) for _ in range(2 * ROUND)]))
    name = "the same two over HTTP, a server over a SQLite file"
    yield against(name, min(spent[1]), min(spent[0]), unit="us CPU", goal=TWICE)


def requests_cost(server: Server, requests: list[bytes]) -> float:
    """Microseconds of the server's CPU for one of these requests, sent one after the other."""
    before = server.cpu()
    for each in requests:
        ask(server.port, each)
    return (server.cpu() - before) / len(requests) * 1e6


def starts() -> Iterator[Row]:
    """CPU of a server until it answers: over a log with schemas and sources, beyond that over the same schemas and no source."""
    spent: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder:
        for with_sources in spent:
            with connect(f"sqlite://{folder}/{with_sources}.db") as it:
                for number in range(SIZES[1]):
                    it.register(f"t{number}-value", text(number))
                if with_sources:
                    run_exchange(it.registry, fill(SIZES[1]))
        for _ in range(ROUNDS):
            for with_sources, values in spent.items():
                with treaty(f"sqlite://{folder}/{with_sources}.db") as server:
                    values.append(server.cpu())
    name = f"start with {SIZES[1]:,} schemas and {SIZES[1]:,} sources: CPU beyond that with the schemas alone"
    yield Row(name, min(spent[True]) - min(spent[False]), "s CPU", goal=START_GOAL)


SHAPES: dict[str, Callable[[int], str]] = {
    "columns": lambda size: (
        f"CREATE STREAM s ({', '.join(f'c{n} INT' for n in range(min(1900, size // 10)))}) WITH (KAFKA_TOPIC = '{'t' * 50}')"
    ),
    "statements": lambda size: "SHOW STREAMS; " * min(900, size // 14),
    "a body": lambda size: f"CREATE STREAM s AS SELECT {', '.join(f'c{n}' for n in range(size // 8))} FROM STREAM x",
    "quotes": lambda size: f"CREATE STREAM s AS SELECT '{chr(39) * 2 * (size // 2)}' FROM x",
    "comments": lambda size: "/* " * (size // 3) + "SHOW STREAMS",
    "errors": lambda size: "SHO x; " * (size // 7),
    "brackets": lambda size: "SELECT " + "(" * size,
}


def parsing() -> Iterator[Row]:
    """CPU of the parser for each byte: large texts against small ones."""
    for name, shape in SHAPES.items():
        spent = []
        for size in PARSED:
            script, repeats = shape(size), max(1, PARSED[1] // size // 10)
            least = float("inf")
            for _ in range(3):
                before = time.process_time()
                for _ in range(repeats):
                    parse_script(script)
                least = min(least, (time.process_time() - before) / repeats)
            spent.append(least / len(script) * 1e9)
        label = f"parse {name}, for each byte: {PARSED[1]:,} bytes against {PARSED[0]:,}"
        yield against(label, spent[1], spent[0], unit="ns CPU", goal=PARSE_GOAL)
