"""All rows of paged queries, as exchanges: there are no more than SOURCES."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from treaty.client.exchanges import Exchange, request_answer
from treaty.core.limits import SOURCES
from treaty.core.messages.metastore import DroppedListed, ListDropped, ListSources, ListTypes
from treaty.core.requests import Request
from treaty.core.sources import Source, StoredType

T = TypeVar("T")


def list_sources(kind: str = "", *, queries: bool = False) -> Exchange[tuple[Source, ...]]:
    """Return the sources of a kind (empty: both), by key."""
    return (yield from _all_pages(ListSources(kind, queries), lambda page: page.sources))


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
    while page.last and len(rows) < SOURCES:
        page = yield from request_answer(replace(request, after=page.last))  # type: ignore[type-var]  # a request is frozen
        rows.extend(rows_of(page))
    return tuple(rows)
