"""The bodies of `/treaty/v1/search`: a page of hits, with facets."""

from msgspec import Struct

from treaty.core.limits import SEARCH_PAGE
from treaty.core.messages.search import SearchResults
from treaty.core.refusals import Invalid

PATH = "/treaty/v1/search"
USUAL_PAGE = 20
"""Hits of a page, where the request says nothing."""


class HitBody(Struct, rename={"schema_type": "schemaType"}):
    """A subject with the version that fits, or a source or query (`kind`). `fields` are those that were asked for."""

    kind: str
    name: str
    version: int | None = None
    id: int | None = None
    schema_type: str | None = None
    fields: list[str] = []


class SearchBody(Struct):
    """A page of hits. `count` is the number of all hits, at least that if `more`. `facets` count them by value; `next` is the
    `after` of the next page, `sequence` the position of the index.
    """

    hits: list[HitBody]
    count: int
    more: bool
    facets: dict[str, dict[str, int]]
    sequence: int
    next: str | None = None


def read_limit(text: str) -> int:
    """Read the number of hits of a page. Raises `Invalid`."""
    if not text:
        return USUAL_PAGE
    if text.isascii() and text.isdecimal() and len(text) <= 4 and 0 < int(text) <= SEARCH_PAGE:
        return int(text)
    message = f"{text[:50]!r} is no limit"
    raise Invalid.of("LIMIT", message, path="limit", new=text[:50], allowed=f"1 to {SEARCH_PAGE}")


def search_body(results: SearchResults) -> SearchBody:
    """Print an answer."""
    facets: dict[str, dict[str, int]] = {}
    for facet in results.facets:
        facets.setdefault(facet.facet, {})[facet.value] = facet.count
    hits = [
        HitBody(
            hit.kind,
            hit.name,
            hit.number or None,
            hit.schema_id if hit.schema_id >= 0 else None,
            hit.format or None,
            list(hit.fields),
        )
        for hit in results.hits
    ]
    return SearchBody(hits, results.count, results.more, facets, results.sequence, results.last or None)
