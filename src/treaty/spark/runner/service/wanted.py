"""What a runner shall run: the parts of the feed, with what they read, as values that can be compared."""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.core.limits import SOURCES_PAGE
from treaty.core.messages.metastore.query_feed import AssignedPart, FedQuery, FedRunner, ListQueries
from treaty.core.messages.metastore.sources import ListSources
from treaty.core.registry import Registry
from treaty.core.sources import BAD, QUERY, Source
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.assignment import PartKey


@dataclass(frozen=True, slots=True)
class WantedPart:
    """A part as it shall run: its source, what it reads, and who has it."""

    source: Source
    part: str = QUERY
    upstreams: tuple[Source, ...] = ()
    assigned: AssignedPart | None = None

    @property
    def key(self) -> PartKey:
        """The key of the part."""
        return PartKey(self.source.generation, self.part)

    @property
    def definition(self) -> tuple[object, ...]:
        """What a run depends on: where it differs, the run ends and another one starts."""
        source, query = self.source, self.source.query
        running = (query.began, query.plan) if query is not None else (source.columns,)
        upstreams = tuple((one.generation, one.revision, one.place, one.cluster) for one in self.upstreams)
        place = (source.connector, source.cluster, source.place, source.key, source.value, source.once)
        return (*running, *place, source.properties, upstreams)


@dataclass(frozen=True, slots=True)
class QuerySnapshot:
    """What the feed says at one time: the parts that are run, and the runners."""

    token: str
    parts: Mapping[PartKey, WantedPart]
    runners: tuple[FedRunner, ...] = ()


def read_snapshot(registry: Registry, token: str = "", wait: int = 0) -> QuerySnapshot | None:
    """Return what shall run once it is something else than at `token`; None where it is the same after `wait` seconds."""
    while True:
        first = registry.ask(ListQueries(token, wait)).answer
        if not first.changed:
            return None
        queries, last, is_whole = list(first.queries), first.last, True
        while last and is_whole:
            page = registry.ask(ListQueries(after=last)).answer
            is_whole = page.token == first.token
            queries += page.queries
            last = page.last
        if is_whole:
            return QuerySnapshot(first.token, _list_parts(registry, queries), first.runners)
        token, wait = "", 0  # it changed between two pages


def _list_parts(registry: Registry, queries: list[FedQuery]) -> dict[PartKey, WantedPart]:
    sources = _read_sources(registry) if queries else {}
    parts: dict[PartKey, WantedPart] = {}
    for fed in queries:
        query = fed.source.query
        part = QUERY if query is not None else BAD
        names = [read.source for read in query.plan.reads] if query is not None else [fed.source.origin]
        reads = (sources.get(key_of_name(name)) for name in names)
        upstreams = tuple(one for one in reads if one is not None)
        assigned = next((one for one in fed.assigned if one.part == part), None)
        wanted_part = WantedPart(fed.source, part, upstreams, assigned)
        parts[wanted_part.key] = wanted_part
    return parts


def _read_sources(registry: Registry) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    after = ""
    while True:
        page = registry.ask(ListSources(after=after, limit=SOURCES_PAGE)).answer
        sources |= {key_of_name(one.name): one for one in page.sources}
        after = page.last
        if not after:
            return sources
