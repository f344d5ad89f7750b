"""Sources and named types of the metastore, with their queries: lists, and a page for each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from treaty.core.column_types.tokens import print_name
from treaty.core.messages.metastore.query_feed import FedQuery, FedRunner, ListQueries
from treaty.core.messages.metastore.sources import (
    DescribeSource,
    DescribeType,
    ListDependents,
    ListDropped,
    ListSources,
    ListTypes,
)
from treaty.core.messages.names import SEQUENCE, GetNamedVersion
from treaty.core.refusals import Denied, NotFound, NotOffered, Refusal
from treaty.core.sources import BAD, QUERY, RUNNING, Incarnation, Source, SourcePart
from treaty.core.state.metastore.keys import key_of_name
from treaty.web.pages.column_readers import find_column_readers, key_before
from treaty.web.pages.page import ROWS, PageError, PageRequest, WebPage
from treaty.web.pages.part_rates import PartRates, Rates, ask_rates
from treaty.web.pages.subject import pin_place
from treaty.web.pages.templates import link_to, link_to_use, mark_all_unseen, status_link
from treaty.web.schemas.texts import show_text

KINDS = ("", "STREAM", "TABLE")
NO_RATES: Rates = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RunState:
    """How a part of a source is run, as far as rows say: a word for it, why, and the address of its runner's status."""

    part: str
    word: str
    health: str
    """good, warn or bad."""
    reason: str
    address: str = ""
    rates: PartRates | None = None
    """Numbers of the runner, if it answers."""


def list_states(fed: FedQuery, runners: Mapping[str, FedRunner], rates: Rates = NO_RATES) -> list[RunState]:
    """Return how the parts of a source are run: its query, and the bad rows of the source that it has them of."""
    source, assigned = fed.source, {one.part: one for one in fed.assigned}
    parts = (QUERY,) if source.query is not None else (BAD,)
    states: list[RunState] = []
    for part in dict.fromkeys((*parts, *assigned)):
        place = assigned.get(part)
        runner = runners.get(place.runner) if place else None
        address = status_link(runner.address) if runner else ""
        if source.query is not None and source.desired != RUNNING:
            reason = f"RESUME {print_name(source.name)} continues it where it stopped."
            states.append(RunState(part, source.desired.lower(), "warn", reason, address))
        elif place is None:
            states.append(RunState(part, "waiting", "warn", "No runner has it; one takes it when it is started."))
        elif runner is None:
            reason = f"Runner {place.runner} is gone; another one takes it when it is started."
            states.append(RunState(part, "lost", "bad", reason))
        else:
            numbers = rates.get((source.generation, part))
            states.append(RunState(part, "running", "good", f"Runner {place.runner} has it.", address, numbers))
    return states


def find_runners(queries: Iterable[FedQuery], runners: Mapping[str, FedRunner]) -> list[FedRunner]:
    """Return the runners that have parts of some queries."""
    names = dict.fromkeys(place.runner for fed in queries for place in fed.assigned)
    return [runners[name] for name in names if name in runners]


async def show_queries(request: PageRequest) -> WebPage:
    """Show a page of queries and of streams of bad rows: how each is run, why, and by which runner."""
    feed = await request.ask(ListQueries(after=request.raw("after"), limit=ROWS))
    first = feed if not request.raw("after") else await request.ask(ListQueries(limit=1))
    runners = {runner.name: runner for runner in first.runners}
    rates = await ask_rates(request, find_runners(feed.queries, runners))
    values = {
        "queries": [(fed.source, list_states(fed, runners, rates)) for fed in feed.queries],
        "runners": [(one, status_link(one.address)) for one in first.runners],
        "next_page": link_to("queries", after=feed.last) if feed.last else "",
        "first_page": "queries" if request.raw("after") else "",
    }
    return WebPage("queries.html", "Queries", values, "queries")


async def find_states(request: PageRequest, source: Source) -> list[RunState]:
    """Return how the parts of one source are run; none for one that is not run, and where the viewer may not see it."""
    if source.query is None and not source.origin:
        return []
    key = key_of_name(source.name)
    feed = await request.ask_or_none(ListQueries(after=key_before(source), limit=1), Denied, NotFound, NotOffered)
    first = await request.ask_or_none(ListQueries(limit=1), Denied, NotFound, NotOffered)
    runners = {runner.name: runner for runner in (first.runners if first else ())}
    queries = [fed for fed in (feed.queries if feed else ()) if key_of_name(fed.source.name) == key]
    rates = await ask_rates(request, find_runners(queries, runners))
    return [state for fed in queries for state in list_states(fed, runners, rates)]


def list_revisions(source: Source) -> tuple[Incarnation, ...]:
    """Return the query of a source and those before it, the newest first, as the row keeps them."""
    return () if source.query is None else (source.query, *source.previous)


async def show_sources(request: PageRequest) -> WebPage:
    """Show a page of streams and tables."""
    kind, queries = request.text("kind").upper(), bool(request.text("queries"))
    if kind not in KINDS:
        raise PageError(400, f"kind = {kind[:50]!r} is neither STREAM nor TABLE")
    listed = await request.ask(ListSources(kind, queries=queries, after=request.raw("after"), limit=ROWS))
    dropped = await request.ask_or_none(ListDropped(limit=ROWS), Refusal)
    members = {"kind": kind, "queries": "1" if queries else ""}
    values = {
        "sources": listed.sources,
        "dropped": dropped.sources if dropped and not request.raw("after") else (),
        "next_page": link_to("sources", **members, after=listed.last) if listed.last else "",
        "filter": members,
    }
    return WebPage("sources.html", "Sources", values, "sources")


async def show_source(request: PageRequest) -> WebPage:
    """Show a source: its columns, its query, what it reads and who reads it, its statement."""
    name = request.raw("name")
    described = await request.ask(DescribeSource(name))
    source = described.source
    dependents = await request.ask_or_none(ListDependents(name, "SOURCE", recursive=True), Refusal)
    values = {
        "source": source,
        "readers": described.readers,
        "hidden_readers": described.hidden_readers,
        "dependents": dependents.dependents if dependents else (),
        "upstreams": [(one, link_to_use(one.kind, one.name)) for one in (dependents.upstreams if dependents else ())],
        "statement": show_text("SQL", source.statement, mark_all_unseen),
        "pins": [
            (side, part, str(pin_place(part) or ""), await _find_pinned_number(request, part))
            for side, part in (("key", source.key), ("value", source.value))
            if part
        ],
        "states": await find_states(request, source),
        "bad_rows": [
            dependent.name
            for dependent in (dependents.dependents if dependents else ())
            if (dependent.effect, dependent.depth) == ("goes along", 1)
        ],
        "revisions": [
            (revision, show_text("SQL", revision.plan.body, mark_all_unseen)) for revision in list_revisions(source)
        ],
        "column_readers": await find_column_readers(request, [described]),
        "may_pause": request.viewer.may_source("pause", key_of_name(source.name)),
    }
    return WebPage("source.html", source.name, values, "sources")


async def _find_pinned_number(request: PageRequest, part: SourcePart) -> int:
    """Return the number of the version that a side of a source is bound to; 0 without a pin, and where the caller may not see it.

    A number is no ordinal + 1: an import gives versions the numbers that they had.
    """
    subject = pin_place(part)
    if part.pin is None or subject is None:
        return 0
    named = GetNamedVersion(subject, str(part.pin.ordinal + 1), SEQUENCE)
    version = await request.ask_or_none(named, Refusal)
    return version.number if version else 0


async def show_types(request: PageRequest) -> WebPage:
    """Show a page of named types."""
    listed = await request.ask(ListTypes(after=request.raw("after"), limit=ROWS))
    values = {"types": listed.types, "next_page": link_to("types", after=listed.last) if listed.last else ""}
    return WebPage("types.html", "Types", values, "types")


async def show_type(request: PageRequest) -> WebPage:
    """Show a named type and who uses it."""
    described = await request.ask(DescribeType(request.raw("name")))
    return WebPage("type.html", described.type.name, {"found": described, "type": described.type}, "types")
