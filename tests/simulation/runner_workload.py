"""What runners ask: leases that others hold, parts that others have, and what was dropped meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.simulation import planning_workload as planning
from tests.simulation.asker import Asker
from tests.simulation.judging.model.metastore.state import key_of, part_of, runners, sources
from tests.simulation.metastore_workload import Made, SourceAsker
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.request import Request
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead

NAMES = ("r1", "r1", "r2", "r3")
HOLDERS = ("h1", "h2", "h3")
ROOTS = {"h1": "", "h2": "shared", "h3": "shared"}
"""The root of each holder; who is at another address may have another one."""
OTHER_ROOT = "elsewhere"


def name_of(ask: SourceAsker) -> str:
    """Mostly a runner that has a lease."""
    there = list(runners(ask.past()))
    return ask.chance.choice(there if there and ask.often(0.9) else NAMES)


def epoch_of(ask: SourceAsker, name: str) -> int:
    """Mostly the epoch that the lease has, or had when the runner looked."""
    there = runners(ask.past()).get(name)
    epoch = 1 if there is None else there.epoch
    return epoch + ask.chance.choice([-1, 1]) if ask.often(0.04) else epoch


def acquire_runner(ask: SourceAsker) -> Request[Any]:
    """A lease as it is begun, as it is kept, or as it is taken from who is gone."""
    name = ask.chance.choice(NAMES) if ask.often(0.98) else ask.chance.choice(["", "r\n"])
    address = ask.chance.choice(["", "http://r", "http://r:1"]) if ask.often(0.5) else ""
    epoch = epoch_of(ask, name) if ask.often(0.5) else 0
    holder = ask.chance.choice(HOLDERS)
    return r.AcquireRunner(name, holder, address, epoch, OTHER_ROOT if address == "http://r:1" else ROOTS[holder])


def release_runner(ask: SourceAsker) -> Request[Any]:
    name = name_of(ask)
    return r.ReleaseRunner(name, epoch_of(ask, name))


def create_query(ask: SourceAsker) -> Request[Any]:
    """A source that runs: a query over what is there, or a stream with its bad rows."""
    there, name, columns = sources(ask.past()), ask.name(), (SourceColumn("id", "INT"),)
    reads = [
        SourceRead(key, one.generation, revision=one.revision) for key, one in there.items() if key != key_of(name)
    ]
    plan = QueryPlan("SELECT 1", (ask.chance.choice(reads),)) if reads and ask.often(0.8) else None
    return m.CreateSource(
        m.SourceDefinition(name, "STREAM", "CREATE", columns, connector="delta", query=plan, bad_rows=plan is None)
    )


def part(ask: SourceAsker) -> r.QueryPart:
    """A part that runs, mostly; at times what does not, or another generation of it."""
    there = [(key, one) for key, one in sources(ask.past()).items() if part_of(one) or ask.often(0.05)]
    if not there or ask.often(0.02):
        return r.QueryPart(ask.name(), ask.chance.randint(1, 9), "query" if ask.often(0.9) else "half")
    key, source = ask.chance.choice(there)
    generation = source.generation + 1 if ask.often(0.03) else source.generation
    return r.QueryPart(key, generation, part_of(source) if ask.often(0.97) else "bad")


def assign_queries(ask: SourceAsker) -> Request[Any]:
    name = name_of(ask)
    take = tuple(part(ask) for _ in range(ask.chance.choice([0, 1, 1, 1, 2])))
    release = tuple(part(ask) for _ in range(ask.chance.choice([0, 0, 1, 2])))
    return r.AssignQueries(name, epoch_of(ask, name), take, release)


OF_RUNNERS: Sequence[tuple[float, type, Made]] = (
    (12, m.CreateSource, create_query),
    (10, r.AcquireRunner, acquire_runner),
    (35, r.AssignQueries, assign_queries),
    (2, r.ReleaseRunner, release_runner),
)
COMMANDS: Sequence[tuple[float, type, Made]] = (*planning.COMMANDS, *OF_RUNNERS)
"""What writes: how often, and what."""
QUERIES: Sequence[tuple[float, type, Made]] = (
    *planning.QUERIES,
    (4, ListQueries, lambda ask: ListQueries(limit=ask.chance.choice([0, 1, 1_000]))),
)
GENERATORS: Mapping[type, Callable[[Asker], Any]] = {
    **planning.GENERATORS,
    r.AcquireRunner: lambda ask: acquire_runner(_asker(ask)),
    r.AssignQueries: lambda ask: assign_queries(_asker(ask)),
    r.ReleaseRunner: lambda ask: release_runner(_asker(ask)),
}
"""Kinds of requests of sources, types and runners, for who knows nothing of what is there."""


def _asker(ask: Asker) -> SourceAsker:
    return SourceAsker(ask.chance)
