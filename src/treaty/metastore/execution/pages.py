"""All rows of paged queries, as exchanges: the limits SOURCES and TYPES bound their pages."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, TypeVar

from treaty.core.messages.metastore.query_feed import FedQuery, FedRunner, ListQueries
from treaty.core.messages.metastore.sources import Dependent, DroppedListed, ListDropped, ListSources, ListTypes
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import QUERY, Source, StoredType
from treaty.core.state.metastore.keys import key_of_name

T = TypeVar("T")


def list_sources(kind: str = "", *, queries: bool = False) -> Exchange[tuple[Source, ...]]:
    """Return the sources of a kind (empty: both), by key."""
    return (yield from _all_pages(ListSources(kind, queries), lambda page: page.sources))


def list_upstreams() -> Exchange[tuple[tuple[str, str, Dependent], ...]]:
    """Return who needs what, as far as the caller may see it: name and kind of the user, and what it needs."""
    request = ListSources(upstreams=True)
    edges = [
        (dependent.needs, "SOURCE", dependent)
        for dependent in (yield from _all_pages(request, lambda page: page.upstreams))
    ]
    types = yield from list_types()
    names = {key_of_name(type_.name): type_.name for type_ in types}
    edges += [
        (type_.name, "TYPE", Dependent("TYPE", names.get(used, used), type_.name, "refuses"))
        for type_ in types
        for used in type_.types
    ]
    return tuple(edges)


NO_RUNNER = "NO RUNNER"
"""The state of a query that should run, and that no runner has."""


def list_running() -> Exchange[Collection[str] | None]:
    """Return the keys of the sources whose query a runner with a lease has; None where that is not for the caller to see."""
    try:
        queries, runners = yield from list_fed_queries()
    except Refusal:
        return None
    return {
        key_of_name(fed.source.name)
        for fed in queries
        if any(part.part == QUERY and part.runner in runners for part in fed.assigned)
    }


def list_fed_queries() -> Exchange[tuple[tuple[FedQuery, ...], dict[str, FedRunner]]]:
    """Return all that is run, by key, and the runners by name."""
    first = yield from request_answer(ListQueries())
    more = (yield from _all_pages(ListQueries(after=first.last), lambda page: page.queries)) if first.last else ()
    return (*first.queries, *more), {one.name: one for one in first.runners}


def list_types() -> Exchange[tuple[StoredType, ...]]:
    """Return all types, by key."""
    return (yield from _all_pages(ListTypes(), lambda page: page.types))


def list_dropped() -> Exchange[tuple[DroppedListed, ...]]:
    """Return all dropped sources, by key."""
    return (yield from _all_pages(ListDropped(), lambda page: page.sources))


def _all_pages(request: Request[Any], rows_of: Callable[[Any], tuple[T, ...]]) -> Exchange[tuple[T, ...]]:
    rows: list[T] = []
    page = yield from request_answer(request)
    rows.extend(rows_of(page))
    while page.last:
        page = yield from request_answer(replace(request, after=page.last))  # type: ignore[type-var]  # a request is frozen
        rows.extend(rows_of(page))
    return tuple(rows)
